"""Families as they are shown: factored roots, sums over copies, JSON, document, terminal."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from click.testing import CliRunner

import symreln as sr
from symreln.claims.families.derive import derive_family_unchecked
from symreln.claims.families.domain import Domain, root_of
from symreln.claims.families.forms import stage_loss, sum_over_copies
from symreln.cli.main import cli
from symreln.exact.scalar import Scalar
from tests.families.examples import EXAMPLES, tables
from tests.unchecked import derive_unchecked

DOMAIN = Domain(names=("a", "n", "C", "u"), minimum={"n": 2, "C": 2}, copies="u", items="n")
SYMBOLS = {
    "a": sp.Symbol("a", real=True),
    **{name: sp.Symbol(name, integer=True, positive=True) for name in ("n", "C", "u")},
}
a, n, C, u = (DOMAIN.symbol(name) for name in DOMAIN.names)

ROOTS = [
    (n / u - 1) * (C + 1) / (C * n**2),
    12 * (C - 1) ** 2 / (5 * C**3),
    (a - 1) ** 2 * (n - u),
    (C * C - 2 * C + 1) * a**4,
    (a - C) ** 2 / (a * a + 1) ** 2,
    DOMAIN.number(0),
]


@pytest.mark.parametrize("value", ROOTS, ids=str)
def test_a_root_is_the_root(value: Scalar) -> None:
    root = root_of(value, DOMAIN, SYMBOLS)
    assert sp.simplify(root**2 - value.to_sympy(SYMBOLS)) == 0
    for point in ((-2, 8, 3, 2), (3, 16, 2, 4)):
        at = dict(zip((SYMBOLS[name] for name in DOMAIN.names), point, strict=True))
        assert root.subs(at) >= 0


SUMS = [u, n - u, u * (n / u - 1) / (C * n), (n - u) ** 2 / u**2, 1 / (u + n), u / u]


@pytest.mark.parametrize("value", SUMS, ids=str)
@pytest.mark.parametrize("items", [2, 4, 32])
def test_sums_over_copies_are_sums(value: Scalar, items: int) -> None:
    found = sum_over_copies(value, DOMAIN, SYMBOLS).subs(SYMBOLS["n"], items).doit()
    expected = sum(
        value.substitute({"n": Fraction(items), "u": Fraction(k)}).to_sympy(SYMBOLS)
        for k in DOMAIN.copy_numbers(items)
    )
    assert sp.simplify(found - expected) == 0


@pytest.mark.parametrize("items", [2, 4, 8])
def test_losses_for_every_size_are_those_at_a_size(items: int) -> None:
    spec = tables(items="n")
    family = derive_family_unchecked(sr.load(spec))
    spec["parameters"]["n"]["value"] = items
    special = derive_unchecked(sr.load(spec))
    at = {family.symbols["n"]: items, family.symbols["C"]: 3}
    for general, stage in zip(family.stages, special.stages, strict=True):
        for final, known in ((False, stage.initial_loss), (True, stage.final_loss)):
            found = stage_loss(family, general, final=final)
            assert found is not None
            assert sp.simplify(found.subs(at) - known.to_sympy()) == 0


def test_what_is_written_and_verified(tmp_path: Path) -> None:
    derivation = sr.derive(sr.load(EXAMPLES["tree, items too"]))
    derivation.save(tmp_path)
    found = json.loads((tmp_path / "derivation.json").read_text(encoding="utf-8"))["family"]
    assert found["proven"] is True
    assert [stage["level"] for stage in found["stages"]] == ["closed", "closed by symmetry"]
    assert [stage["closed_at"] for stage in found["stages"]] == [{}, {"C": [2]}]
    off = found["pathways"][1]["modes"][-1]
    assert off["d_eff"]["expr"] == "1/(C*n)"
    assert off["multiplicity"]["expr"] == "u"
    text = (tmp_path / "derivation.tex").read_text(encoding="utf-8")
    assert "For every number of contexts and items" in text
    assert "at $C = 2$ closed, because no two pathways couple there" in text
    runner = CliRunner()
    for target in (tmp_path, tmp_path / "certificate.json"):
        done = runner.invoke(cli, ["verify", str(target)])
        assert done.exit_code == 0, done.output
        assert "closed by symmetry (closed at C = 2), for n a power of 2" in done.output
    certificate = tmp_path / "certificate.json"
    changed = certificate.read_text(encoding="utf-8").replace('"1*C^1 + -1"', '"1*C^1"')
    certificate.write_text(changed, encoding="utf-8")
    assert runner.invoke(cli, ["verify", str(tmp_path)]).exit_code != 0


def first_page(text: str) -> str:
    return " ".join(text.split("{Result}")[1].split("\\section{")[0].split())


def test_the_first_page_begins_with_all_sizes_and_says_which_one_the_rest_is_for(tmp_path) -> None:
    derivation = sr.derive(sr.load("contextual-C"))
    found = first_page(derivation.to_latex())
    assert r"\textbf{For all} $n$ that are powers of 2, from 2 on and all $C \geq 2$" in found
    family, rest = found.split("All other sections, and what follows, are at $n = 8$, $C = 3$.")
    assert "sec:family" in family
    # A closed form a mode, by hand: the wavelets of the later pathways.
    *_, last = family.split(r"(t) &=")
    assert last.split("frac{")[1].startswith(r"\sqrt{\left(C - 1\right) \left(n - u\right)/(C u)}")
    assert family.count(r"(t) &=") == 4
    assert r"(t) &=" not in rest
    shown = CliRunner().invoke(cli, ["derive", "contextual-C", "--out", str(tmp_path)]).output
    assert shown.index("for every size: ") < shown.index("modes at n = 8, C = 3")
    assert "For all" not in first_page(sr.derive(sr.load("contextual-3")).to_latex())


@pytest.mark.parametrize("name", ["joint training", "no eigenbasis"])
def test_an_open_family_is_not_announced_as_the_answer(name: str) -> None:
    found = first_page(sr.derive(sr.load(EXAMPLES[name])).to_latex())
    assert "is not proven to close for every size" in found
    assert "_{\\mathrm{a}}(t)" not in found


@pytest.mark.parametrize("name", ["joint training", "no eigenbasis"])
def test_what_does_not_close_is_shown_as_open(name: str) -> None:
    derivation = sr.derive(sr.load(EXAMPLES[name]))
    text = derivation.to_latex()
    assert "not proven to close for every size" in text
    assert "t_{1/2}" not in text.split("For every number of contexts")[1].split("section")[0]


def test_what_is_no_family_is_shown_with_its_reason() -> None:
    spec = tables(pathways=[{"name": "first", "gate": "context == 1"}])
    derivation = sr.derive(sr.load(spec))
    assert "tells contexts apart" in derivation.to_latex()
