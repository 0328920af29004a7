"""What the reduced flow checks, and that it falls back where a check fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symreln.laws import modules as modules_module
from symreln.laws.modules import split, whole
from symreln.laws.reduced_flow import ModeProbe
from tests.laws.test_reduced_flow import (
    TIMES,
    assert_same_flow,
    contexts,
    equal_modes,
    full_flow,
    learned,
    reduced_flow,
)

# -- checks and fallbacks --------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["_traces_add_up", "_parts"])
def test_where_a_check_fails_the_whole_is_one_module(monkeypatch, broken):
    monkeypatch.setattr(modules_module, broken, lambda *_: None)
    found = assert_same_flow(contexts(4, 2, True))
    (module,) = found.modules
    assert module.copies == 1
    assert [r.shape[0] for r in module.features] == [4, 4, 4]


def test_copies_that_are_not_are_caught(monkeypatch):
    """Eigenspaces taken for copies without a test: ranks and traces refuse them."""

    def believe(_spinner, _p, clusters):
        for cluster in clusters:
            cluster.copies = True

    monkeypatch.setattr(modules_module, "_test_copies", believe)
    monkeypatch.setattr(modules_module, "GAP", 10.0)  # one eigenspace for everything
    found = assert_same_flow(contexts(4, 2, True))
    total = sum(module.copies * module.features[0].shape[0] for module in found.modules)
    assert total == 4


def test_words_tell_copies_from_equal_eigenvalues():
    """Vectors of one level of a hierarchy are copies, of two levels not, whatever a word says."""
    spinner = modules_module.SubspaceSearch(reduced_flow(contexts(4, 2, True)).data)
    last = np.array([[1.0, -1, 0, 0], [0, 0, 1, -1]]).T / np.sqrt(2)
    other = np.array([[1.0, 1, -1, -1]]).T / 2
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    clusters = [
        modules_module._Cluster(0.5, 0.5, basis @ turn, copies=False)
        for basis in (last, np.hstack([last[:, :1], other]))
    ]
    modules_module._test_copies(spinner, 0, clusters)
    assert [cluster.copies for cluster in clusters] == [True, False]


def test_modes_that_are_no_sum_of_copies_use_the_whole():
    network = contexts(4, 2, True)
    flow, full = reduced_flow(network), full_flow(network)
    # One of two equal vectors of the last level, and half of another.
    v = np.array([[1.0, -1.0, 0.0, 0.0]]).T / np.sqrt(2)
    sigma = learned(network, 0)
    s = float(np.linalg.norm(sigma @ v))
    probe = ModeProbe(pathway=0, s=s, v=v)
    found = flow.trajectory(TIMES, [probe])
    expected = full.trajectory(TIMES, [equal_modes(network, probe)])
    np.testing.assert_allclose(found.strengths, expected.strengths, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_modules_fill_the_data(seed):
    network = contexts(4, 3, bool(seed % 2), scale=1.0 + seed)
    data = reduced_flow(network).data
    parts, one = split(data), whole(data)
    for p in range(len(data.features)):
        rank = np.linalg.matrix_rank(data.features[p].toarray())
        assert sum(m.copies * m.features[p].shape[0] for m in parts.modules) == rank
        assert one.modules[0].features[p].shape[0] == rank
    for found in (parts, one):
        start = sum(m.copies * (0.5 * np.sum(m.targets**2) + m.floor) for m in found.modules)
        assert start + found.floor == pytest.approx(data.energy, rel=1e-13)


def test_outputs_that_no_input_explains_stay_in_the_loss():
    network = replace(contexts(4, 2, True), x=np.zeros((6, 8)))
    flow = reduced_flow(network)
    assert flow.rate == 0
    losses = flow.trajectory(TIMES).losses
    np.testing.assert_allclose(
        losses, network.loss([(np.zeros((1, w)), np.zeros((21, 1))) for w in (4, 6, 6)])
    )
