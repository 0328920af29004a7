"""``symreln gates`` and ``symreln race`` as a user calls them."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from symreln.base import progress
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.gating.consistent import GrowingGate
from symreln.gating.exact_finders import candidate_line
from symreln.gating.race import race
from symreln.gating.serialise import number_text
from symreln.task_library.load import load
from tests.app.command import command


def call(*arguments: str) -> str:
    found = command(*arguments)
    return found.out + found.err


def test_race_of_xor(tmp_path: Path) -> None:
    shown = call("race", "xor", "--set", "parameters.Delta.value=2", "--out", str(tmp_path))
    assert "Delta = sqrt(6)/3: the speeds of 1100, 1000 cross, the winner changes" in shown
    assert "\nfastest for 0 ≤ Delta < sqrt(6)/3: 1000\n" in shown
    assert "\nfastest for sqrt(6)/3 < Delta: 1100\n" in shown
    drawn = (tmp_path / "race.svg").read_text("utf-8")
    assert "<!-- all open, 1111: no ReLU unit can have it -->" in drawn
    found = json.loads((tmp_path / "race.json").read_text())
    assert found["format"] == "symreln-race/2"
    assert found["winner"] == ["1100"]
    kinds = [(b["value"]["expr"], b["kind"]) for b in found["boundaries"]]
    assert kinds == [("0", "existence"), ("sqrt(6)/3", "speed"), ("sqrt(2)", "existence")]
    speeds = {c["pattern"]: c["speed"]["decimal"] for c in found["candidates"]}
    assert speeds["1100"] == "1"


def test_gates_that_were_found_are_a_spec(tmp_path: Path) -> None:
    arguments = ["--set", "parameters.Delta.value=1", "--out", str(tmp_path)]
    call("gates", "xor", "--method", "self-consistent", *arguments)
    spec = load(str(tmp_path / "gates.toml"))
    assert [pathway.gate for pathway in spec.pathways] == [(1, 1, 0, 0), (0, 0, 1, 1)]
    original = load("xor", ["parameters.Delta.value=1"])
    assert (spec.dataset.inputs - original.dataset.inputs).is_zero
    assert (spec.dataset.targets - original.dataset.targets).is_zero
    assert spec.network == original.network
    assert spec.values == original.values


def test_all_gates_and_sampled_ones(tmp_path: Path) -> None:
    call("gates", "xor", "--method", "enumerate", "--out", str(tmp_path))
    found = json.loads((tmp_path / "gates.json").read_text())
    assert (found["count"], found["open"], found["symmetries"]) == (9, 4, 8)
    assert sum(kind["size"] for kind in found["kinds"]) == len(found["gates"]) == 9
    pathways = load(str(tmp_path / "gates.toml")).pathways
    opened = [gate for gate in found["gates"] if "1" in gate]
    assert [pathway.name for pathway in pathways] == [f"gate_{n + 1}" for n in range(len(opened))]
    assert len(opened) == 8
    few = ["--samples", "50", "--out", str(tmp_path), "--json"]
    sampled = json.loads(call("gates", "xor", "--method", "enumerate", *few))
    assert sampled["sampled"] is True
    assert sampled["draws"] == 50
    assert sampled["count"] == 4


def test_a_value_lies_in_one_piece() -> None:
    spec = load("xor")
    found = race(spec.dataset.inputs, spec.dataset.targets, spec.parameters[0].range)
    places = {
        value: [k for k, part in enumerate(found.pieces) if part.contains(Fraction(value))]
        for value in ("0", "1/2", "81/100", "82/100", "141/100", "142/100", "9")
    }
    assert places == {
        "0": [0],
        "1/2": [1],
        "81/100": [1],
        "82/100": [2],
        "141/100": [2],
        "142/100": [3],
        "9": [3],
    }


def test_bad_input(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path)]
    for option, value, said in (
        ("--over", "q", 'found no parameter "q"'),
        ("--over", "q", "one of these: Delta"),
        ("--stage", "2", "the last stage of the spec is 1"),
    ):
        found = command("race", "xor", option, value, *out)
        assert found.code == 2
        assert said in found.err


@pytest.mark.parametrize(
    ("inputs", "targets", "said"),
    [
        (
            "[[1, 1, 0], [0, 0, 1]]",
            "[[1, 1, 2]]",
            "earlier one: 1 of 3",
        ),
        (
            "[[0, 1, 1], [1, 0, 0]]",
            "[[2, 1, -1]]",
            "samples 1 and 2 (counted from 0)",
        ),
        ("[[1, 2, 0], [0, 0, 1]]", "[[0, 0, 0]]", "all targets are 0"),
        ("[[0, 0, 0]]", "[[1, 2, 3]]", "all inputs are 0"),
        ("[[1, 2, 0], [0, 1, 1]]", "[[1, 2, 3]]", ""),
    ],
)
def test_data_whose_gates_tell_little_apart(
    tmp_path: Path, inputs: str, targets: str, said: str
) -> None:
    given = tmp_path / "given.toml"
    table = '[[pathway]]\nname = "all"\ngate = "all"\n'
    given.write_text(f'title = "x"\n{table}[dataset]\nX = {inputs}\nY = {targets}\n')
    for method in ("enumerate", "self-consistent"):
        folder = tmp_path / method
        shown = call("gates", str(given), "--method", method, "--out", str(folder))
        assert said in shown
        assert ("note: " in shown) == bool(said)
        # A spec is written only where it has a pathway, so that derive takes it.
        written = folder / "gates.toml"
        assert not written.exists() or load(str(written)).pathways
        assert said != "all inputs are 0" or not written.exists()


def test_what_is_not_shown_is_counted(tmp_path: Path) -> None:
    shown = call("gates", "contextual-3", "--method", "enumerate", "--samples", "300",
                 "--out", str(tmp_path))  # fmt: skip
    found = json.loads((tmp_path / "gates.json").read_text())
    lines = [line for line in shown.splitlines() if " orbit of size " in line]
    assert f"{len(found['kinds']) - len(lines)} more kinds in gates.json" in shown
    assert "no gates.toml" in shown
    assert not (tmp_path / "gates.toml").exists()


BOTH = """
title = "A race of both kinds"
[dataset]
X = [[2, 0, 0, 2], [-2, 1, -1, -2]]
Y = [[-1, "-a", "-a-1", 2]]
[parameters.a]
minimum = -3
maximum = 3
value = 2
[[pathway]]
name = "all"
"""


def test_race_of_full_and_partial_gates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds in race.json, boundaries between them, a proven winner, and progress."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    given = tmp_path / "both.toml"
    given.write_text(BOTH)
    shown = call("race", str(given), "--out", str(tmp_path))
    assert "a_ = 1 + sqrt(2): the speeds of 0100, /01/ cross, the winner changes" in shown
    found = json.loads((tmp_path / "race.json").read_text())
    assert (found["winner"], found["winner_proven"]) == (["/01/"], True)
    kinds = {each["pattern"]: each["kind"] for each in found["candidates"]}
    assert kinds["/01/"] == kinds["1//1"] == "partial"
    assert kinds["0100"] == "full"
    for each in found["candidates"]:
        assert len(each["fractions"]) == (each["kind"] == "partial") * each["pattern"].count("/")
        assert all(0 <= float(number["decimal"]) <= 1 for number in each["fractions"])
    stages = call("gates", str(given), "--method", "self-consistent", "--out", str(tmp_path))
    assert (
        "stage 1: 1 fastest; all activity patterns searched: no gate grows faster than the first"
        in stages
    )
    assert "gates …" in stages  # progress
    gates = json.loads((tmp_path / "gates.json").read_text())
    assert gates["stages"][0]["winners"] == ["/01/"]
    assert gates["stages"][0]["winner_proven"] is True
    pathway = load(str(tmp_path / "gates.toml")).pathways[0]
    assert (pathway.gate, pathway.boundary) == ((0, 0, 1, 0), (0, 3))


def test_a_long_exact_number_is_shown_by_its_decimals() -> None:
    root = Scalar.of(Fraction(7432739684032619133, 2290253985265503399200) ** 2 * 73462)
    long = replace(AlgebraicNumber.rational(root), is_sqrt=True)
    third = AlgebraicNumber.rational(Scalar.of(Fraction(1, 3)))
    each = GrowingGate(signs=(1, 0), size=1, s=long, fractions=(third, long))
    assert candidate_line("1/", each) == (
        "1/  orbit of size 1  speed 0.879623  fractions 1/3, 0.879623"
    )
    a = Scalar.symbol("a", ("a",))
    symbolic = AlgebraicNumber.rational((a + 1) ** 5 / (a - 2) ** 3)
    assert number_text(symbolic) == symbolic.to_json({})["expr"]
