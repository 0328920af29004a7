"""Gates in time windows: planted drift, weights, and replays against other routes."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.gating.found_gates import (
    _weighted_rows,
    algorithm_one,
    window_looks,
    windowed_gates,
)
from symreln.gating.network_finders import _switching_pathways
from symreln.gating.replay import (
    GateSchedule,
    _quality_curve,
    _replayed,
    choose_windows,
    own_schedule,
    schedule_errors,
    window_schedule,
)
from symreln.train.network import GatedPathway
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_gdln
from symreln.train.weights import LayerWeights
from tests.gating.trained import planted, trained_network

EARLY = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], dtype=bool)
LATE = np.array([[0, 0, 1, 1], [1, 1, 0, 0]], dtype=bool)


def drifting(switch: int = 6, looks: int = 10, hidden: int = 8):
    """Half of the units switch all at once; heavy ones keep gates, light ones flicker."""
    kind = np.arange(hidden) % 2
    active = np.array([[(EARLY if look < switch else LATE)[kind] for look in range(looks)]])
    return planted(active, np.ones((1, looks, hidden)))


@pytest.mark.parametrize("switch", [1, 4, 9])
def test_a_window_starts_where_gates_change(switch: int) -> None:
    trained = drifting(switch)
    assert window_looks(trained, 2) == (0, switch)
    # More windows than changes are not made up.
    assert window_looks(trained, 5) == (0, switch)
    found = windowed_gates(trained, windows=2, clusters=2)
    assert found.starts == (0, switch + 1)  # looks are after updates 1, 2, …
    assert [sorted(each.gates.tolist()) for each in found.found] == [
        sorted(EARLY.tolist()),
        sorted(LATE.tolist()),
    ]
    schedule = window_schedule(trained, found)
    assert (schedule.gates[0, 0] == EARLY[np.arange(8) % 2]).all()
    assert (schedule.gates[1, 0] == LATE[np.arange(8) % 2]).all()


def test_what_changes_after_all_is_learned_gets_no_window() -> None:
    trained = drifting(4)
    losses = np.ones((1, 11))
    losses[:, 5:] = 0
    learned = planted(trained.active, trained.weights, losses)
    assert window_looks(learned, 2) == (0,)


def test_pathways_keep_their_place_and_switch() -> None:
    found = windowed_gates(drifting(5), windows=2, clusters=2)
    pathways = {each.gate: each.then for each in _switching_pathways(found)}
    assert pathways == {(1, 1, 0, 0): (), (1, 1, 1, 1): ((6, (0, 0, 1, 1)),)}


def test_clusters_of_the_same_gates_are_one_pathway() -> None:
    found = windowed_gates(drifting(5), windows=2, clusters=2)
    twice = replace(
        found,
        found=tuple(replace(each, centroids=each.centroids[[0, 1, 0]]) for each in found.found),
    )
    assert twice.clusters == 3
    assert len(_switching_pathways(twice)) == 2


def test_light_and_dead_units_do_not_count() -> None:
    random = np.random.default_rng(0)
    heavy = np.repeat(EARLY, 5, axis=0)
    light = random.random((30, 4)) < 0.5
    gates = np.concatenate([heavy, light, np.zeros((40, 4), dtype=bool)])
    active = np.broadcast_to(gates, (1, 6, 80, 4))
    weights = np.concatenate([np.ones(10), np.full(30, 1e-9), np.full(40, 5.0)])
    trained = planted(active, weights)
    found = windowed_gates(trained, windows=1, clusters=2)
    assert sorted(found.found[0].gates.tolist()) == sorted(EARLY.tolist())
    np.testing.assert_allclose(found.found[0].weights.sum(), 1, rtol=1e-6)
    # Algorithm 1 counts rows alone: half of them are dead here.
    assert [0, 0, 0, 0] in algorithm_one(trained, clusters=2).found[0].gates.astype(int).tolist()
    # Units that are dead stay closed, whatever gate would be nearest.
    assert not window_schedule(trained, found).gates[0, 0, 40:].any()


def test_rows_count_by_weight_in_each_network_and_look() -> None:
    gates = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
    active = np.broadcast_to(gates, (2, 3, 3, 4))
    # The second network is a thousand times as heavy; the dead unit's weight is no part of it.
    weights = np.array([1.0, 1000.0])[:, None, None] * np.array([3.0, 1.0, 9.0])
    found = _weighted_rows(planted(active, weights))
    counted = dict(zip(map(tuple, found.values.tolist()), found.weights.tolist(), strict=True))
    assert counted == {(1, 1, 1, 1): 4.5, (1, 1, 0, 0): 1.5}


def test_windows_without_enough_units_are_joined() -> None:
    kinds = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    active = np.broadcast_to(kinds, (1, 9, 3, 4)).copy()
    active[:, :3] = kinds[0]
    active[:, 6:] = kinds[[1, 1, 2]]
    trained = planted(active, np.ones(3))
    assert len(window_looks(trained, 4)) == 3
    found = windowed_gates(trained, windows=4, clusters=3)
    # One different unit up to look 3, three in between, two from look 6 on.
    assert found.windows == ((0, 9),)
    assert len(found.found[0].gates) == 3
    assert windowed_gates(trained, windows=4, clusters=2).windows == ((0, 6), (6, 9))
    with pytest.raises(InputError, match="K = 4 for 3 different"):
        windowed_gates(trained, windows=3, clusters=4)
    with pytest.raises(InputError, match="found 10 windows for 9 looks"):
        windowed_gates(trained, windows=10, clusters=2)


def test_own_gates_at_every_step_are_the_network() -> None:
    trained = trained_network()
    moves = (trained.active[:, 1:] != trained.active[:, :-1]).any(axis=(2, 3))
    assert moves.sum() > 10  # else this would be a test of a linear network
    schedule = GateSchedule(starts=trained.steps, gates=np.moveaxis(trained.active, 1, 0))
    np.testing.assert_allclose(_replayed(trained, schedule), trained.losses, rtol=1e-12)
    # Gates of the step before are not.
    late = GateSchedule(
        starts=trained.steps, gates=np.moveaxis(trained.active[:, [0, *range(39)]], 1, 0)
    )
    assert min(schedule_errors(trained, late).each) > 1e-6


def test_replay_is_the_gdln_of_its_gates() -> None:
    trained = trained_network()
    gates = np.array([[1, 1, 1, 1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1, 1]], dtype=bool)
    kind = np.arange(12) % 2
    first, second = gates[kind], gates[1 - kind]
    schedule = GateSchedule(
        starts=(0, 15), gates=np.broadcast_to(np.array([first, second])[:, None], (2, 2, 12, 9))
    )
    # The same by the other trainer: a pathway a kind, then again from the weights at the switch.
    start = {
        str(k): LayerWeights(
            w1=trained.initial.w1[:, kind == k], w2=trained.initial.w2[..., kind == k]
        )
        for k in (0, 1)
    }
    losses = []
    for steps, swapped in ((16, 0), (25, 1)):
        pathways = [
            GatedPathway(
                name=str(k), gate=gates[k ^ swapped], inputs=range(3), outputs=range(2), hidden=6
            )
            for k in (0, 1)
        ]
        settings = TrainingSettings(
            hidden=12, init_std=0.4, learning_rate=0.3, loss="mean", steps=steps
        )
        run = train_gdln(trained.inputs, trained.targets, pathways, settings, initial=start)
        start = {str(k): run.weights[k] for k in (0, 1)}
        losses.append(run.losses)
    wanted = np.concatenate([losses[0][:, :15], losses[1]], axis=1)
    np.testing.assert_allclose(_replayed(trained, schedule), wanted, rtol=1e-11)


def test_more_windows_of_own_gates_come_down_to_the_network() -> None:
    trained = trained_network()
    points = {
        point.windows: point.mean
        for point in _quality_curve(trained, trained, [(None, 1), (None, 40)])
    }
    assert points[1] > 10 * points[max(points)]
    schedule = own_schedule(trained, 40)
    assert len(schedule.starts) == max(points)
    assert schedule_errors(trained, schedule).mean == points[max(points)]


def test_curve_and_choice_are_errors_of_replays() -> None:
    trained = trained_network()
    points = _quality_curve(trained, trained, product((1, 3, 10_000), (1, 4, 10_000)))
    assert {point.clusters for point in points} == {1, 3}
    for point in points:
        made = windowed_gates(trained, windows=point.windows, clusters=point.clusters)
        if len(made.windows) == point.windows:
            errors = schedule_errors(trained, window_schedule(trained, made))
            assert point.each == errors.each
    best, errors = choose_windows(trained, trained, clusters=3)
    assert errors[len(best.windows)] == min(errors.values())
    assert min(errors) == 1
