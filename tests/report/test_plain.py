"""The terminal's formulas, read back as formulas, are the proven ones."""

from __future__ import annotations

import pytest
import sympy as sp
from click.testing import CliRunner

from symreln.claims.pathway_orbits import mode_orbits
from symreln.cli.main import cli
from symreln.laws.law import HEAD_START, STRENGTH0, TIME_CONSTANT
from symreln.report.terminal import summary_of


def test_every_formula_of_the_terminal_is_the_proven_one(three):
    lines = [line.partition("(t) = ") for line in summary_of(three)["formulas"]]
    shown = {name.strip(): formula for name, equals, formula in lines if equals and "pi_" in name}
    t, c = sp.Symbol("t", nonnegative=True), sp.Symbol("c", positive=True)
    expected = {
        group.symbol(mode).replace("\\", "").translate({ord(x): None for x in "{}"}): mode
        for group in mode_orbits(three)
        for mode in group.learning
    }
    assert {name.replace("_", "") for name in shown} == {
        name.replace("_", "").replace(",", "") for name in expected
    }
    for name, mode in zip(shown, expected.values(), strict=True):
        text = shown[name].replace("π̃₀", "b").replace("π₀", "a").replace("τ", "T")
        a, b, time = sp.symbols("a b T", positive=True)
        found = sp.sympify(text, {"a": a, "b": b, "T": time, "t": t, "c": c})
        assert mode.strength is not None
        proven = mode.strength.expr.xreplace({STRENGTH0: a, HEAD_START: b, TIME_CONSTANT: time})
        values = {a: 0.01, b: 0.02, time: 3, c: 1.5}
        for moment in (0, 7, 100):
            ends = [
                float(
                    each.subs({s: moment for s in each.free_symbols if s.name == "t"}).subs(values)
                )
                for each in (found, proven)
            ]
            assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_the_loss_says_which_value_it_starts_from_and_can_reach(three):
    *_, loss = summary_of(three)["formulas"]
    assert loss.startswith("L(t) = 4 - ")
    assert loss.endswith("least-squares loss of the pathways: 0")


@pytest.mark.parametrize(
    ("name", "formats"),
    [("derivation.html", ["html"]), ("derivation.json", ["json"]), ("", ["tex"])],
)
def test_the_terminal_names_the_file_with_a_form_where_it_was_written(name, formats, tmp_path):
    asked = [word for each in formats for word in ("--format", each)]
    given = ["linear-hierarchy", "--set", "network.layers=3", "--out", str(tmp_path), *asked]
    shown = CliRunner().invoke(cli, ["derive", *given]).stdout
    assert "(t): an implicit solution" + (f", in {name}\n" if name else "\n") in shown
