"""The race against trained networks, what finite weights make of it, rivals and confusion."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from symreln.claims.integration import network_of
from symreln.cli.main import cli
from symreln.errors import InputError
from symreln.gating.confronted import (
    RacePoint,
    confront,
    confronted_points,
    seen_crossings,
)
from symreln.gating.confusion import confusion, predicted_classes
from symreln.gating.finite_start import finite_start
from symreln.gating.observed import nearest_observer, observe
from symreln.gating.race import race
from symreln.gating.race_pieces import Race
from symreln.gating.race_report import finding_table, unraced
from symreln.gating.rivals import (
    _order_text,
    _rival_pathways,
    _times_to,
    contest,
)
from symreln.gating.search import predicted_stages, search
from symreln.report.pages import markdown
from symreln.specs.model import Spec
from symreln.task_library.load import load


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
def test_networks_take_the_shares_that_are_predicted(xor: tuple[Spec, Race], value: str) -> None:
    """Nothing is fitted: κ of isolated units, width and initial scale say what networks take."""
    spec, found = xor
    point = confront(found, spec, Fraction(value), 20, 3)
    assert point.fastest_taken
    assert point.agrees, point.classes
    assert point.left < 1e-6
    assert point.half_time == pytest.approx(point.quarter, rel=0.03)
    # Units that have not grown show where single samples stop being self-consistent.
    assert (units_of(point, "1000") > 0.5) is (Fraction(value) ** 2 < 2)


def test_one_gate_is_a_sigmoid_of_its_own() -> None:
    """With one class stretched time and half-time have closed forms."""
    spec = load("xor", ["parameters.Delta.value=2"]).at_values()
    dataset, network = spec.dataset, network_of(spec)
    selected = search(dataset.inputs, dataset.targets)
    candidates, group = selected.candidates, selected.group
    found = finite_start(dataset, candidates, group, network)
    assert found is not None
    (one,) = found.classes
    assert found.shares == (1.0,)
    assert (one.s, one.d, one.size) == (pytest.approx(1.0), pytest.approx(2.0), 2)
    start = one.kappa * network.hidden * float(network.init_std) ** 2 / 2
    assert found.time == pytest.approx(np.log(one.s / one.d / start) / (2 * one.s))
    wanted = np.log(one.s / one.d / start - 1) / (2 * one.s)
    assert found.half_time == pytest.approx(wanted)


def test_layers_that_start_apart_and_weight_decay(xor: tuple[Spec, Race]) -> None:
    """κ is for the mean variance of both layers; with weight decay nothing is predicted."""
    _, found = xor
    apart = load("xor", ['network.init_std=["1/5000", "1/20000"]'])
    point = confront(found, apart, Fraction(9, 10), 20, 5)
    assert point.agrees, point.classes
    decaying = load("xor", ['network.weight_decay="1/1000"', "network.steps=300"])
    assert confront(found, decaying, Fraction(1), 1, 0).agrees is None


def test_nothing_is_predicted_where_the_residual_changes_shape() -> None:
    """Three contexts: the common gate alone does not reach the targets."""
    spec = load("contextual-3", ["dataset.items=2"]).at_values()
    dataset = spec.dataset
    selected = search(dataset.inputs, dataset.targets)
    candidates, group = selected.candidates, selected.group
    assert finite_start(dataset, candidates, group, network_of(spec)) is None


@pytest.mark.slow
def test_smaller_weights_move_the_seen_crossing_to_the_boundary(xor: tuple[Spec, Race]) -> None:
    spec, found = xor
    errors = []
    assert spec.network is not None
    for std in (Fraction(1, 10_000), Fraction(1, 10**12)):
        (one,) = seen_crossings(found, replace(spec, network=replace(spec.network, init_std=std)))
        errors.append(one.error)
    assert errors[0] > errors[1] > 0
    # The shift falls as one over the logarithm of the initial scale.
    logs = [np.log(200 * std**2 / 2) for std in (1e-4, 1e-12)]
    assert errors[0] / errors[1] == pytest.approx(logs[1] / logs[0], rel=0.25)


def test_the_linear_solution_is_named_and_impossible(xor: tuple[Spec, Race]) -> None:
    spec, found = xor
    (other,) = unraced(found, spec)
    assert (other.pattern, other.name, other.realisable) == ("1111", "all open", False)
    assert other.speed is not None
    assert other.speed.to_float({"Delta": Fraction(3)}) == pytest.approx(3.0)
    assert "no ReLU unit can have it" in markdown(finding_table(found, (other,), ()))


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


def test_rivals_are_what_they_are_called() -> None:
    spec = load("contextual-3", ["dataset.items=2"])
    kinds = _rival_pathways(spec.dataset, "context")
    assert {name: len(each) for name, each in kinds.items()} == {
        "modular": 3,
        "mixed": 4,
        "both": 7,
    }
    # Mixed is the ready-made spec's own, modular that of contextual-3-modular.
    assert [p.gate for p in kinds["mixed"]] == [p.gate for p in spec.pathways]
    assert [p.inputs for p in kinds["mixed"]] == [p.inputs for p in spec.pathways]
    modular = load("contextual-3-modular", ["dataset.items=2"])
    assert [p.gate for p in kinds["modular"]] == [p.gate for p in modular.pathways]


def test_theory_orders_rivals_as_training_does() -> None:
    keys = [
        "dataset.items=2",
        "network.steps=3000",
        "network.hidden=300",
        'network.init_std="1/20000"',
    ]
    found = contest(load("contextual-3", ['network.learning_rate="1/200"', *keys]), "context", 1, 1)
    names = [each.name for each in found.rivals]
    assert names == ["modular", "mixed", "both"]
    modular, mixed, _ = found.rivals
    assert modular.theory[0] is not None
    assert mixed.theory[0] is not None
    assert mixed.theory[0] < modular.theory[0]
    for each in found.rivals:
        assert np.array(each.theory, float) == pytest.approx(
            np.array(each.measured, float), rel=0.05
        )
        assert sum(each.shares.values()) == pytest.approx(1)
    # s = sqrt((2n - 1)(m + 1)(m + c²n))/(nC) at m = 1 and m = C, for every c.
    for rival, wanted in ((modular, 3 * 2 * (1 + 4.5)), (mixed, 3 * 4 * (3 + 4.5))):
        (scale,) = rival.fastest.free_symbols
        assert float(rival.fastest.subs(scale, 1.5)) == pytest.approx(wanted**0.5 / 6)
    assert "| 0.9 | mixed" in markdown(found.tables["rivals.md"])


def test_times_and_orders() -> None:
    assert _times_to(np.array([1.0, 0.9, 0.6, 0.05])) == (1, 3, 3, None)
    assert _order_text({"a": 5, "b": None, "c": 5, "d": 1}) == "d, a = c, b"


def test_confusion_follows_every_unit(xor: tuple[Spec, Race]) -> None:
    """At 9/10 both classes take half of the weight, each unit the gate predicted for it."""
    spec = load("xor", ['parameters.Delta.value="9/10"']).at_values()
    classes = predicted_classes(predicted_stages(spec.dataset))
    assert [(each.pattern, len(each.signs)) for each in classes] == [("1100", 2), ("1000", 4)]
    found = confusion(spec, classes, 4, 0)
    assert found.table.sum(axis=(1, 2)) == pytest.approx(1)
    assert found.hits[-1] > 0.98
    # Early on units show other gates (a column), while every unit has a prediction (a row).
    assert found.table[0][:, -1].sum() > 0.2 > 0.01 > found.table[0][-1].sum()
    assert found.table[-1].diagonal()[:2].min() > 0.3
    # Of random directions a class of n gates has the share of its cells.
    assert found.chance.sum() == pytest.approx(1)
    assert found.chance[-1] > 0.5
    assert found.overlap[-1] > 0.85
    assert "as predicted" in markdown(found.markdown)


@pytest.mark.slow
def test_race_over_a_parameter(tmp_path: Path) -> None:
    runner = CliRunner()
    few = ["--seeds", "1", "--points", "1", "--set", "network.hidden=200", "--out", str(tmp_path)]
    result = runner.invoke(cli, ["race", "xor", *few], catch_exceptions=False)
    assert "the finite-init error is" in result.output
    found = json.loads((tmp_path / "race.json").read_text())
    assert [point["fastest_taken"] for point in found["confronted"]["points"]] == [True] * 4
    assert found["candidates"][-1]["realisable"] is False
    assert "<svg" in (tmp_path / "race.svg").read_text()
    assert (tmp_path / "race.md").read_text().startswith("| Delta |")


def test_race_over_subsets(tmp_path: Path) -> None:
    runner = CliRunner()
    small = ["--set", "dataset.items=2", "--set", "network.steps=50", "--out", str(tmp_path)]
    arguments = ["race", "contextual-3", "--by", "context", "--seeds", "1", *small]
    result = runner.invoke(cli, arguments, catch_exceptions=False)
    assert "Of the m below 3" in result.output
    shares = json.loads((tmp_path / "subsets.json").read_text())["trained"]["shares"]
    assert np.sum(shares, axis=1) == pytest.approx(1)


def test_bad_input() -> None:
    runner = CliRunner()
    later = ["race", "contextual-3", "--set", "dataset.items=2", "--stage", "2", "--seeds", "1"]
    with pytest.raises(InputError, match="found --seeds 1 with --stage 2"):
        runner.invoke(cli, later, catch_exceptions=False)
    with pytest.raises(InputError, match="found --by colour"):
        runner.invoke(cli, ["race", "contextual-3", "--by", "colour"], catch_exceptions=False)
    linear = load("xor", ["network.activation=linear"]).at_values()
    with pytest.raises(InputError, match="a linear network has no gates"):
        observe(linear, seeds=1, steps=[0])
    with pytest.raises(InputError, match="a linear network has no gates"):
        confusion(linear, (), 1, 0)
