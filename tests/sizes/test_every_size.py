"""Every size: formulas against ordinary derivations at many sizes, what is shown, forged claims."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from click.testing import CliRunner

import symreln as sr
from symreln.cli.main import cli
from symreln.errors import CertificateError
from symreln.exact.scalar import Scalar
from symreln.sizes.every_size import EverySize, _derive_every_size
from symreln.verdict.judge import Level
from symreln.verifier import verify
from tests.certificates import leaves, renewed
from tests.own_specs import CONTEXTS, SCALE, task
from tests.own_specs import OFF as OTHERS
from tests.unchecked import derive_unchecked

COMMON = {"name": "common", "gate": "all"}
OWN = OTHERS | {"name": "only_{context}", "gate": "context == {context}"}
#: Pathways of all kinds, alone and one after the other.
PATHWAYS = {
    "common": [COMMON],
    "others": [COMMON, OTHERS],
    "own": [COMMON, OWN],
    "own alone": [OWN | {"stage": 1}],
    "own after items": [COMMON | {"inputs": "items"}, OWN],
    "items, contexts, others": [
        COMMON | {"inputs": "items"},
        {"name": "contexts", "gate": "all", "inputs": "contexts", "stage": 2},
        OTHERS | {"stage": 3},
    ],
    "contexts, all": [COMMON | {"inputs": "contexts"}, {"name": "b", "gate": "all", "stage": 2}],
}


def tables(pathways: list[dict[str, Any]], C: Any = "C", n: Any = "n", **dataset: Any) -> Any:
    """A contextual spec whose sizes are symbols unless given as numbers."""
    sizes = {"C": (C, 3), "n": (n, 4)}
    free = {
        name: {"integer": True, "minimum": 2, "value": value}
        for name, (given, value) in sizes.items()
        if given == name
    }
    data = CONTEXTS | {"items": n, "contexts": C} | dataset
    network = {"init_std": "1/1000", "learning_rate": "1/1000"}
    return task(data, *pathways, parameters=SCALE | free, network=network)


@cache
def family(name: str) -> EverySize:
    found = _derive_every_size(sr.load(tables(PATHWAYS[name])))
    assert found is not None
    return found


def copied(values: dict[str, int], part: str) -> Iterator[dict[str, Fraction]]:
    """Yield the sizes with every number of wavelets of a size, or once of the root."""
    numbers = [1] if part == "root" else [2**k for k in range(values["n"].bit_length() - 1)]
    yield from ({k: Fraction(v) for k, v in {**values, "u": u}.items()} for u in numbers)


def at(value: Scalar, values: dict[str, Fraction]) -> sp.Expr:
    return value.substitute(values).to_sympy({"c": sp.Symbol("c", positive=True)})


SIZES = [(2, 2), (4, 4), (5, 2), (2, 8)]
CASES = [("others", 6, 4), ("own", 7, 2), *(("others", *size) for size in SIZES)]
CASES += [(name, *size) for name in PATHWAYS if name != "others" for size in SIZES[::2]]


@pytest.mark.parametrize(("name", "contexts", "items"), CASES)
def test_formulas_are_the_ordinary_derivation_at_sizes(
    name: str, contexts: int, items: int
) -> None:
    """s², d, d_eff, multiplicities, levels and losses, in c, at sizes that no proof has used."""
    values, general = {"C": contexts, "n": items}, family(name)
    special = derive_unchecked(sr.load(tables(PATHWAYS[name], contexts, items)))
    for mine, stage in zip(general.stages, special.stages, strict=True):
        expected: Counter[Any] = Counter()
        for mode in mine.modes:
            for here in copied(values, mode.part):
                found = mode.found
                many = at(found.multiplicity, here)
                expected[tuple(at(x, here) for x in (found.s_squared, found.d, found.d_eff))] += (
                    many
                )
        for p, pathway in enumerate(stage.pathways):
            modes: Counter[Any] = Counter()
            for a, each in enumerate(pathway.spectrum.classes):
                (s,), (d,) = each.eigenvalue, each.d
                if not s.is_zero:
                    (d_eff,) = stage.verdict.d_eff.get((p, a), each.d)
                    modes[tuple(at(x, {}) for x in (s, d, d_eff))] += each.multiplicity
            assert modes == expected
        closed = contexts == 2 and mine.closed_at == "C = 2"
        assert stage.verdict.level is (Level.CLOSED if closed else mine.level)
        for losses, known in ((mine.before, stage.initial_loss), (mine.after, stage.final_loss)):
            total = sum(
                at(loss, here)
                for part, loss in zip(("root", "wavelets"), losses, strict=True)
                for here in copied(values, part)
            )
            assert sp.simplify(total - known.to_sympy({})) == 0


# -- what is shown ---------------------------------------------------------------------------------


def first_page(derivation: sr.Derivation) -> str:
    return " ".join(derivation.to_latex().split("{Result}")[1].split("\\section{")[0].split())


def test_contextual_begins_with_all_sizes_in_closed_forms_by_hand(tmp_path: Path) -> None:
    derivation = sr.derive(sr.load("contextual-C"))
    found = first_page(derivation)
    assert r"\textbf{For all} $n$ that are powers of 2, from 2 on and all $C \geq 2$" in found
    every, rest = found.split("All other sections, and what follows, are at $n = 8$, $C = 3$.")
    assert "sec:family" in every
    assert "Verdict" not in every
    assert rest.lstrip().startswith("Verdict")
    *_, last = every.split(r"(t) &=")
    assert last.split("frac{")[1].startswith(r"\sqrt{\left(C - 1\right) \left(n - u\right)/(C u)}")
    assert every.count(r"(t) &=") == 4
    assert r"(t) &=" not in rest
    symbols = derivation.family.task.symbols
    c, n, C, u = (symbols[name] for name in ("c", "n", "C", "u"))
    squares = [mode.found.s_squared.to_sympy(symbols) for mode in derivation.family.modes]
    for square, by_hand in zip(
        squares,
        (
            (2 * n - 1) * (C + 1) * (C + n * c**2) / (n * C) ** 2,
            (2 * n - 1) * c**2 / (n * C**2),
            (n / u - 1) * (C + 1) / (C * n**2),
            (n / u - 1) * (C - 1) / (n**2 * C**3),
        ),
        strict=True,
    ):
        assert sp.simplify(square - by_hand) == 0
    run = CliRunner().invoke(cli, ["derive", "contextual-C", "--out", str(tmp_path)])
    shown = run.output
    assert "for every size: n a power of 2, at least 2, C >= 2; u = 1, 2, 4, ..., n/2" in shown
    assert shown.index("for every size: ") < shown.index("verdict at n = 8, C = 3: closed by")
    assert "off_{context}, wavelets: driven C times as fast until the half-time of common" in shown
    said = json.loads((tmp_path / "derivation.json").read_text(encoding="utf-8"))["family"]
    assert said["proven"] is True
    off = said["pathways"][1]
    assert (off["level"], off["closed_at"]) == ("closed by symmetry", "C = 2")
    assert off["initial_loss"] == said["pathways"][0]["final_loss"]
    assert off["final_loss"] == "0"
    (mode,) = off["modes"]
    assert (mode["d_eff"]["expr"], mode["multiplicity"]["expr"]) == ("1/(C*n)", "u")
    assert (mode["head_start"]["faster"], mode["head_start"]["driven_by"]["pathway"]) == (
        "C",
        "common",
    )
    done = CliRunner().invoke(cli, ["verify", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "closed by symmetry (closed at C = 2), for n a power of 2, at least 2" in done.output


def test_one_symbol_alone_is_every_size_too() -> None:
    text = first_page(sr.derive(sr.load(tables(PATHWAYS["others"], n=8))))
    assert r"\textbf{For all} $C \geq 2$:" in text
    assert "$u = 1, 2, 4$" in text
    derivation = sr.derive(sr.load(tables(PATHWAYS["others"], C=2)))
    assert [stage.level for stage in derivation.family.stages] == [Level.CLOSED, Level.CLOSED]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (tables(PATHWAYS["others"], n=8, structures="ring"), "all have the hierarchy"),
        (tables(PATHWAYS["others"], context_scale="c/C"), "scale of contexts depends on no size"),
        (tables([OTHERS | {"stage": 1}]), "do not close for every size"),
        (tables([COMMON, OTHERS | {"stage": 1}]), "every stage has one pathway"),
        (tables([COMMON | {"gate": "context == 1"}]), "no formulas are known for 'common'"),
        (tables([COMMON, OTHERS | {"inputs": "all"}]), "no formulas are known for 'off_{context}'"),
        (tables([COMMON, OTHERS | {"outputs": "common"}]), "outputs common"),
    ],
)
def test_what_is_not_covered_says_so_and_the_rest_stands(spec: Any, reason: str) -> None:
    derivation = sr.derive(sr.load(spec))
    assert derivation.stages
    assert not derivation.family.complete
    assert len(derivation.certificate["parts"]) == 1
    said = derivation.to_json()["family"]
    assert said["proven"] is False
    assert reason in said["reason"]
    page = first_page(derivation)
    assert "Nothing is said of every size" in page
    assert "For all" not in page


# -- forged certificates ---------------------------------------------------------------------------


@cache
def certificate(name: str) -> str:
    return json.dumps(sr.derive(sr.load(tables(PATHWAYS[name]))).certificate)


def variants(value: Any) -> list[Any]:
    if value is None:
        return ["0", []]
    if isinstance(value, int):
        return [value + 1, value - 1, value * 2, str(value)]
    if isinstance(value, str):
        bumped = re.sub(r"\d+", lambda found: str(int(found[0]) + 1), value, count=1)
        return [x for x in (bumped, f"2*{value}", "0", f"-{value}", None) if x != value]
    return [value[:-1], value[1:], [*value, *value[-1:]]] if isinstance(value, list) else [None]


@pytest.mark.parametrize("name", ["others"])
def test_no_change_of_one_field_is_accepted(name: str) -> None:
    """A larger least size is a weaker claim, as true; C = 2 is said of the range that holds it."""
    found = json.loads(certificate(name))
    assert verify(found)
    part, accepted = found["parts"][-1], []
    for path in leaves(part):
        holder = part
        for key in path[:-1]:
            holder = holder[key]
        kept = holder[path[-1]]
        for value in variants(copy.deepcopy(kept)):
            holder[path[-1]] = value
            try:
                verify(renewed(found))
                accepted.append((".".join(map(str, path)), value))
            except CertificateError:
                pass
        holder[path[-1]] = kept
    assert accepted == [("items.least", 4), ("contexts.least", 3)][: len(accepted)]


def test_what_is_left_out_or_said_of_another_dataset_is_refused() -> None:
    own = json.loads(certificate("others"))
    part = own["parts"][-1]
    without = [
        part | {"stages": part["stages"][:1]},
        part | {"items": part["items"] | {"at": 8}},
        part | {"contexts": part["contexts"] | {"at": 4}},
        part | {"items": {"symbol": None, "least": 4, "at": 8}},
        part | {"scale": "2*c^1"},
        json.loads(certificate("own"))["parts"][-1],
        json.loads(certificate("common"))["parts"][-1],
    ]
    for other in without:
        with pytest.raises(CertificateError):
            verify(renewed({**own, "parts": [own["parts"][0], other]}))
    alone = {**own, "parts": [part]}
    with pytest.raises(CertificateError):
        verify(renewed(alone))
    xor = json.loads(json.dumps(sr.derive(sr.load("xor")).certificate))
    with pytest.raises(CertificateError, match="of this dataset"):
        verify(renewed({**xor, "parts": [*xor["parts"], part]}))
