"""The race against trained networks."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.gating.confronted import RacePoint, confront, confronted_points
from symreln.gating.observed import nearest_observer, observe
from symreln.gating.race import race
from symreln.gating.race_pieces import Race
from symreln.gating.race_report import RaceReport, unraced
from symreln.specs.model import Spec
from symreln.task_library.load import load
from tests.app.command import command


def units_of(point: RacePoint, pattern: str) -> float:
    return next(each.units for each in point.classes if each.pattern == pattern)


@pytest.fixture(scope="module")
def xor() -> tuple[Spec, Race]:
    spec = load("xor")
    limits = spec.parameters[0].range
    return spec, race(spec.dataset.inputs, spec.dataset.targets, limits)


def test_points_lie_on_both_sides_of_every_boundary(xor: tuple[Spec, Race]) -> None:
    _, found = xor
    points = confronted_points(found, 2)
    ends = [float(mark.value) for mark in found.boundaries]
    for low, high in zip([0.0, *ends[1:]], [*ends[1:], 9.0], strict=True):
        assert sum(low < point < high for point in points) == 2
    assert points[0] == 0
    # The last interval has no end: it is drawn as wide as the one before it.
    low, high = found.ends(len(found.pieces) - 1)
    assert high - low == pytest.approx(2**0.5 - (2 / 3) ** 0.5)


@pytest.mark.parametrize("value", ["1/2", "9/10", "6/5", "3/2"])
def test_networks_take_the_shares_at_infinite_width(xor: tuple[Spec, Race], value: str) -> None:
    spec, found = xor
    point = confront(found, spec, Fraction(value), 20, 3)
    assert point.fastest_taken
    assert point.agrees, point.classes
    assert point.left < 1e-6
    # Units that have not grown show where single samples stop being self-consistent.
    assert (units_of(point, "1000") > 0.5) is (Fraction(value) ** 2 < 2)


def test_layers_that_start_apart_have_shares_too(xor: tuple[Spec, Race]) -> None:
    _, found = xor
    apart = load("xor", ['network.init_std=["1/5000", "1/20000"]'])
    point = confront(found, apart, Fraction(9, 10), 20, 5)
    assert point.agrees, point.classes


def test_the_linear_solution_is_named_and_impossible(xor: tuple[Spec, Race]) -> None:
    spec, found = xor
    (other,) = unraced(found, spec)
    assert (other.pattern, other.name, other.realisable) == ("1111", "all open", False)
    assert other.speed is not None
    assert other.speed.to_float({"Delta": Fraction(3)}) == pytest.approx(3.0)
    point = confront(found, spec, Fraction(1), 1, 0)
    report = RaceReport(race=found, spec=spec, learned=spec, beside=[other], points=[point])
    assert "no ReLU unit can have it" in report.tables["race.md"]


def test_units_are_counted_for_the_nearest_gate() -> None:
    x = np.eye(3)
    observe = nearest_observer(x, [[(1, -1, -1), (-1, 1, -1)], [(1, 1, -1)]])
    w = np.array([[[1.0, -1, -1], [-1, 2, -1], [2, 2, -1], [3, 1, 0], [1, 1, 1]]])
    found = observe(0, (w,))
    assert found[0, :, 0].tolist() == [0, 0, 1, 1, 1]
    assert found[0, :, 1] == pytest.approx([0, 0, 0, 0, 1 / 3])


def test_units_on_the_boundary_are_told_from_those_beside_it() -> None:
    x = np.eye(3)
    observe = nearest_observer(x, [[(1, 1, -1)], [(1, 0, -1)], [(1, -1, -1)]])
    w = np.array([[[2.0, 1, -1], [2, 1e-3, -1], [2, -1e-3, -1], [2, -1, -1]]])
    found = observe(0, (w,))
    assert found[0, :, 0].tolist() == [0, 1, 1, 2]


@pytest.mark.slow
def test_race_over_a_parameter(tmp_path: Path) -> None:
    few = ["--seeds", "1", "--points", "1", "--set", "network.hidden=200", "--out", str(tmp_path)]
    assert "1100  orbit of size 2" in command("race", "xor", *few).out
    found = json.loads((tmp_path / "race.json").read_text())
    assert [point["fastest_taken"] for point in found["confronted"]["points"]] == [True] * 4
    assert found["candidates"][-1]["realisable"] is False
    assert "<svg" in (tmp_path / "race.svg").read_text()
    report = (tmp_path / "race.md").read_text()
    assert "| Delta |" in report
    assert "| share as at infinite width |" in report


def test_bad_input() -> None:
    later = ["race", "contextual-3", "--set", "dataset.items=2", "--stage", "2", "--seeds", "1"]
    assert "found --seeds 1 with --stage 2" in command(*later).err
    assert "found --by colour" in command("race", "contextual-3", "--by", "colour").err
    linear = load("xor", ["network.activation=linear"]).at_values()
    with pytest.raises(InputError, match="a linear network has no gates"):
        observe(linear, seeds=1, steps=[0])
