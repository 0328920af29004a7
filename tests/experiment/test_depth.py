"""Distributions of deep networks: the tests against known samples, the command as a whole."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from symreln.calls.deep_networks import DepthAnswer
from symreln.lab.depth import DepthComparison
from symreln.lab.distributions import CrossingComparison, CurveTest
from symreln.task_library.load import load
from tests.cli.command import command

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


@pytest.mark.parametrize(
    "other",
    [samples(shift=30, key=1), samples(scale=150, key=1), 0.5 + 0.5 * samples(key=1)],
    ids=["later", "wider", "higher at the end"],
)
def test_other_distributions_are_told_apart(other):
    found = CurveTest.of(samples(), other)
    assert found.p < 0.01
    assert found.distance > 0.2


def test_intervals_hold_the_truth():
    one, other = samples(scale=40, key=3, count=200), samples(shift=-30, key=4, count=200)
    found = CrossingComparison.of(one, other, 0.5)
    assert found.shift.low < 30 < found.shift.high
    assert found.spread_ratio.low < 2 < found.spread_ratio.high
    assert found.shift.value == pytest.approx(30, abs=12)
    never = CrossingComparison.of(one, np.ones_like(other), 0.5)
    assert (never.shift, never.spread_ratio, never.distance) == (None, None, 1.0)
    same = CurveTest.of(one, one)
    assert 0.88 < same.inside < 1  # flat parts are inside as a whole
    assert same.p == 1.0


@pytest.fixture(scope="module")
def compared():
    return DepthComparison.of(load("depth", SMALL), seeds=5, rng=3)


def test_sentence_rows_and_json_say_what_was_found(compared):
    told = json.loads(json.dumps(DepthAnswer(found=compared).to_json(), allow_nan=False))
    assert told["differ"] == compared.differ
    table, sentence, *_ = DepthAnswer(found=replace(compared, switching=None)).lines()
    assert ("DIFFER" in sentence) == (told["curves"]["p"] < 0.05)
    assert f"{compared.curves.distance:.2f}" in sentence
    assert table.count("fixed") == len(told["crossings"]) > 0
    _, sentence, *_ = DepthAnswer(found=replace(compared, relu=compared.gdln)).lines()
    assert "cannot be distinguished" in sentence


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


def test_labels_of_pairs_are_exchanged_within_them():
    # Every curve of the second sample falls a step later than the one that it belongs to.
    steps, drops = np.arange(60), np.arange(8, 56, 6)
    one, other = ((steps < drops[:, None] + late).astype(float) for late in (0, 1))
    apart, paired = (CrossingComparison.of(one, other, 0.5, pairs=pairs) for pairs in (False, True))
    assert apart.distance == paired.distance == 1 / 8
    assert (apart.shift.value, paired.shift.value) == (-1, -1)
    # A pair is always in this order: its shift is known, but not that of other networks.
    assert (paired.shift.low, paired.shift.high) == (-1, -1)
    assert apart.shift.low < -1 < apart.shift.high
    # A shift of all, less than networks differ by, is told better by pairs.
    early, late = ((np.arange(60) < 8 + np.arange(40)[:, None] + k).astype(float) for k in (0, 8))
    apart, paired = (CurveTest.of(early, late, pairs=pairs) for pairs in (False, True))
    assert paired.p < apart.p / 2
