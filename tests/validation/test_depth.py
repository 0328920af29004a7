"""Distributions of deep networks: the tests against known samples, the command as a whole."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from symreln.errors import InputError, NotSupportedError
from symreln.lab.depth import compare_depth
from symreln.lab.depth_report import depth_rows, depth_sentences, depth_to_json
from symreln.lab.distributions import (
    compare_crossings,
    compare_curves,
    crossing_times,
    largest_gaps,
)
from symreln.task_library.load import load
from tests.app.command import command

SMALL = (
    "network.hidden=8",
    "network.init_std=1/20",
    "network.learning_rate=1/200",
    "network.steps=300",
)


def falling(times, steps=400, width=8.0):
    """Sigmoidal losses that fall from 1 to 0 around some times."""
    at = np.arange(steps)
    return 1 / (1 + np.exp((at - np.asarray(times)[:, None]) / width))


def samples(shift=0.0, scale=20.0, count=50, key=0):
    return falling(200 + shift + scale * np.random.default_rng(key).normal(size=count))


@pytest.mark.parametrize("ties", [False, True])
def test_gaps_are_those_of_scipy(ties):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(23, 6))
    values = np.round(values, 0) if ties else values
    labels = rng.permuted(np.tile(np.arange(23) < 10, (5, 1)), axis=1)
    found = largest_gaps(values, labels)
    for draw, mine in enumerate(labels):
        for moment in range(6):
            wanted = stats.ks_2samp(values[mine, moment], values[~mine, moment]).statistic
            assert found[draw, moment] == pytest.approx(wanted, abs=1e-12)


def test_crossings_are_the_first_step_below():
    losses = np.array([[4.0, 3.7, 3.5, 1.0], [2.0, 1.8, 1.9, 1.9], [1.0, 0.2, 1.0, 1.0]])
    assert crossing_times(losses, 0.9).tolist() == [2, np.inf, 1]


def test_p_of_one_level_is_that_of_the_exact_test():
    one, other = samples(count=30), samples(shift=8, count=30, key=1)
    found = compare_crossings(one, other, 0.5)
    exact = stats.ks_2samp(*found.times, method="exact")
    assert found.distance == pytest.approx(exact.statistic)
    assert found.p == pytest.approx(exact.pvalue, abs=0.03)  # 2000 draws: 3 times 0.01


@pytest.mark.parametrize(
    "other",
    [samples(shift=30, key=1), samples(scale=150, key=1), 0.5 + 0.5 * samples(key=1)],
    ids=["later", "wider", "higher at the end"],
)
def test_other_distributions_are_told_apart(other):
    found = compare_curves(samples(), other)
    assert found.p < 0.01
    assert found.distance > 0.2


def test_intervals_hold_the_truth():
    one, other = samples(scale=40, key=3, count=200), samples(shift=-30, key=4, count=200)
    found = compare_crossings(one, other, 0.5)
    assert found.shift.low < 30 < found.shift.high
    assert found.spread_ratio.low < 2 < found.spread_ratio.high
    assert found.shift.value == pytest.approx(30, abs=12)
    never = compare_crossings(one, np.ones_like(other), 0.5)
    assert (never.shift, never.spread_ratio, never.distance) == (None, None, 1.0)
    same = compare_curves(one, one)
    assert 0.88 < same.inside < 1  # flat parts are inside as a whole
    assert same.p == 1.0


@pytest.fixture(scope="module")
def compared():
    return compare_depth(load("depth", SMALL), seeds=5, rng=3)


def test_half_of_a_layer_is_a_gated_node(compared):
    assert compared.widths == (8, 8)
    assert compared.units == dict.fromkeys(("first", "common", "off_1", "off_2", "off_3"), 4)
    other = compare_depth(load("depth", SMALL), seeds=2, rng=3)
    # A seed is the same network however many there are.
    np.testing.assert_array_equal(other.relu.losses, compared.relu.losses[:2])


def test_sentence_rows_and_json_say_what_was_found(compared):
    told = json.loads(json.dumps(depth_to_json(compared), allow_nan=False))
    assert told["differ"] == compared.differ
    assert ("DIFFER" in depth_sentences(compared)[0]) == (told["curves"]["p"] < 0.05)
    assert f"{compared.curves.distance:.2f}" in depth_sentences(compared)[0]
    assert len(depth_rows(replace(compared, switching=None))) == len(told["crossings"]) > 0
    alike = replace(compared, relu=compared.gdln)
    assert "cannot be distinguished" in depth_sentences(alike)[0]


def test_nothing_learned_is_said(compared):
    assert not compared.uninformative
    assert "too little progress" not in depth_sentences(compared)[0]
    assert depth_to_json(compared)["not_tested"] is False
    found = compare_depth(load("depth", (*SMALL, "network.steps=20")), seeds=3, rng=3)
    assert found.uninformative
    assert depth_to_json(found)["not_tested"] is True
    assert depth_sentences(found)[0].startswith(
        "Training made too little progress to test the prediction: in 19 steps 3 ReLU networks"
    )


@pytest.mark.parametrize(
    ("name", "seeds", "changes", "error", "message"),
    [
        ("contextual-3", 3, (), NotSupportedError, "no nodes and edges"),
        ("depth", 1, SMALL, InputError, "Give at least 2"),
    ],
)
def test_what_cannot_be_compared_is_refused(name, seeds, changes, error, message):
    with pytest.raises(error, match=message):
        compare_depth(load(name, changes), seeds=seeds)


def test_the_command_writes_what_it_prints(tmp_path):
    asked = [part for change in SMALL for part in ("--set", change)]
    asked += ["--seeds", "3", "--out", str(tmp_path), "--quiet"]
    result = command("depth", *asked)
    assert "by their loss curves" in result.out
    assert (result.code, result.err) == (0, "")
    told = json.loads((tmp_path / "depth.json").read_text())
    assert (told["format"], told["seeds"]) == ("symreln-depth/2", 3)
    assert (tmp_path / "depth.svg").read_text().startswith("<?xml")
    with np.load(tmp_path / "curves.npz", allow_pickle=False) as curves:
        assert curves["relu"].shape == curves["gdln"].shape == (3, len(curves["steps"]))


def test_two_seeds_cannot_tell():
    found = compare_depth(load("depth", SMALL), seeds=2, rng=3)
    assert found.curves.least == 4
    # Exchanged labels of two and two: one way in three is as far apart as any can be.
    assert compare_curves(np.tile([1, 0.5, 0.1], (2, 1)), np.ones((2, 3))).p > 0.3
    assert (
        "as many of their gated network are TOO FEW to say whether they differ"
        in depth_sentences(found)[0]
    )
    assert "it takes 4 of each" in depth_sentences(found)[0]
    assert depth_to_json(found)["too_few_seeds"] is True
    assert compare_curves(np.ones((2, 3)), np.ones((2, 3)), pairs=True).least == 6


def test_labels_of_pairs_are_exchanged_within_them():
    # Every curve of the second sample falls a step later than the one that it belongs to.
    steps, drops = np.arange(60), np.arange(8, 56, 6)
    one, other = ((steps < drops[:, None] + late).astype(float) for late in (0, 1))
    apart, paired = (compare_crossings(one, other, 0.5, pairs=pairs) for pairs in (False, True))
    assert apart.distance == paired.distance == 1 / 8
    assert (apart.shift.value, paired.shift.value) == (-1, -1)
    # A pair is always in this order: its shift is known, but not that of other networks.
    assert (paired.shift.low, paired.shift.high) == (-1, -1)
    assert apart.shift.low < -1 < apart.shift.high
    # A shift of all, less than networks differ by, is told better by pairs.
    early, late = ((np.arange(60) < 8 + np.arange(40)[:, None] + k).astype(float) for k in (0, 8))
    apart, paired = (compare_curves(early, late, pairs=pairs) for pairs in (False, True))
    assert paired.p < apart.p / 2
