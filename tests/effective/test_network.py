"""The effective network: moments, a known state at the horizon, and networks trained here."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import symreln as sr
from symreln.effective import network as effective
from symreln.effective.descent import Descent
from symreln.effective.gate_flows import gate_flows, state_lines
from symreln.effective.network import EffectiveNetwork, Way, effective_network
from symreln.laws.early_phase import EarlyMode, followed
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network
from tests.laws.test_early_phase import placed

XOR = np.array([[1.0, -1, 1, -1], [1, -1, -1, 1]]), np.array([[1.0, 1, -1, -1]])
SMALL = Descent(hidden=200, init_std=(1e-4, 1e-4), step=0.04, steps=1200)
NARROW = Descent(hidden=1000, init_std=(1e-6, 1e-6), step=0.04, steps=1500)


def hierarchy() -> tuple[np.ndarray, np.ndarray]:
    """Two items in two contexts: one gate, open on all samples, is the fastest."""
    x = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    return x, np.array([[1.0, 1, 1, 1], [1, 0, 1, 0], [1, 0, 0, 0]])


def trained(x: np.ndarray, y: np.ndarray, how: Descent, seeds: int) -> np.ndarray:
    """Train whole networks; return the mean loss."""
    settings = TrainingSettings(
        hidden=how.hidden,
        init_std=how.init_std,
        learning_rate=how.step,
        loss="mean",
        steps=how.steps,
    )
    return train_network(x, y, settings, seeds=seeds, rng=1000).mean_loss


def made(x: np.ndarray, y: np.ndarray, how: Descent, **changed: object) -> EffectiveNetwork:
    found = effective_network(x, y, how, **changed)
    assert found is not None
    return found


of_xor, of_hierarchy = cache(lambda: made(*XOR, SMALL)), cache(lambda: made(*hierarchy(), NARROW))


@pytest.mark.parametrize("hard", [True, False])
def test_the_prediction_is_that_of_trained_networks(hard):
    data = XOR if hard else hierarchy()
    found, losses = of_xor() if hard else made(*data, SMALL), trained(*data, SMALL, 12)
    assert losses[-1] < 0.5 * losses[0]  # they learn
    assert np.abs(found.losses - losses).max() < 0.03 * losses[0]
    assert found.count < SMALL.hidden / 2


def test_units_have_the_moments_of_their_gates():
    x, y = hierarchy()
    horizon = effective._horizon(x, y, SMALL, 0.002, np.random.default_rng(3))
    assert horizon is not None
    way = Way("moments", 0.97)
    units = effective._units(horizon, None, way, np.random.default_rng(4))
    whole = sum(group.moment for group in effective._grouped(horizon, way))
    assert np.allclose(units.T @ units, whole, rtol=0, atol=2e-4 * np.trace(whole))


def test_the_state_at_the_horizon_is_the_closed_form():
    # One gate open on all samples: κ H units grow along its leading mode, as in a linear network.
    x, y = hierarchy()
    how, found = NARROW, of_hierarchy()
    (group,) = found.groups
    assert (group.signs == 1).all()
    sigma = found.span.T @ y @ x.T / x.shape[1]
    u, s, vt = np.linalg.svd(sigma)
    leading = np.r_[vt[0], u[:, 0]] / np.sqrt(2)
    assert abs(group.direction @ leading) > 1 - 1e-4
    mode = EarlyMode(pathway=0, inputs=(0, 1, 2, 3), s=s[0], u=found.span @ u[:, :1], v=vt[:1].T)
    kappa = followed(
        [mode], [0], seed=0, inputs=x, targets=placed(y), gates=np.ones((1, 4)), step=0.01
    )[1][0].kappa
    strength = kappa * how.hidden * 1e-12 * (1 + how.step * s[0]) ** (2 * found.horizon)
    measured = np.square(found.units @ leading).sum(axis=1)
    assert measured.mean() == pytest.approx(strength, rel=0.08)  # units of a draw vary by a step


def test_what_is_known_of_its_errors():
    found = of_xor()
    again = made(*XOR, SMALL, draws=2, way=found.way)
    assert (again.drawn == found.drawn[:2]).all()
    half = made(*XOR, SMALL, epsilon=effective.EPSILON / 2, way=found.way)
    assert half.horizon < found.horizon
    assert np.abs(half.losses - found.losses).max() < 0.01 * found.losses[0]


def test_draws_in_which_no_unit_grows_keep_their_loss():
    # Half of the units of one dimension die at the start: of three all do in an eighth of networks.
    data, how = (np.array([[1.0, 2]]), np.array([[1.0, 2]])), replace(SMALL, hidden=3)
    found, losses = made(*data, how), trained(*data, how, 200)
    assert np.ptp(found.drawn, axis=1).min() == 0
    assert found.losses[-1] == pytest.approx(losses[-1], abs=0.2 * losses[0])
    assert found.horizon == found.looks[0].step < how.steps - 1


def test_units_that_have_not_turned_go_on_themselves():
    random = np.random.default_rng(0)
    x, y = random.random((20, 60)), np.eye(4)[random.integers(4, size=60)].T
    found = made(x, y, Descent(hidden=40, init_std=(0.05, 0.05), step=0.05, steps=200))
    assert found.way.name == "whole"
    assert found.count == 40
    assert all(changed > effective.REDUCED for *_, changed in found.tried)


def test_where_no_unit_grows_there_is_no_prediction():
    cube = np.array([[1.0 - 2 * (i >> k & 1) for i in range(8)] for k in range(3)])
    # Each half-space and its opposite see opposite parity: nothing drives a unit.
    assert effective_network(cube, cube.prod(axis=0)[None], SMALL) is None


def test_many_steps_of_a_small_network_take_minutes_too():
    few, many = (sr.load("xor", overrides=(f"network.steps={n}",)) for n in (2001, 1_000_000))
    assert not effective.takes_minutes(few)
    assert effective.takes_minutes(many)


def test_the_closed_form_of_the_state_is_where_units_are():
    x, y = hierarchy()
    closed, followed_units = made(x, y, NARROW, way=Way("closed form")), of_hierarchy()
    assert abs(closed.horizon - followed_units.horizon) < 0.02 * closed.horizon
    outputs = closed.units[0][:, 4:].T @ closed.units[0][:, :4] @ x
    whole = np.linalg.norm(closed.span.T @ y)
    assert np.linalg.norm(outputs) == pytest.approx(effective.EPSILON * whole, rel=0.1)
    assert np.abs(closed.losses - followed_units.losses).max() < 0.03 * closed.losses[0]


@pytest.mark.parametrize("delta", [0.0, 0.5, 1.0])
def test_several_gates_have_each_their_flow_and_share(delta):
    """Partial gates, gates of one sample, and these with gates of two, which are faster."""
    x = np.vstack([XOR[0], delta * XOR[1]])
    closed = made(x, XOR[1], SMALL, way=Way("closed form"), draws=8)
    every = made(x, XOR[1], SMALL, way=effective.WHOLE, draws=8)
    assert closed.count < 40
    assert np.abs(closed.losses - every.losses).max() < effective.REDUCED * every.losses[0]


def test_the_closed_form_is_taken_where_leading_directions_do_not_suffice(monkeypatch):
    monkeypatch.setattr(effective, "_WAYS", [w for w in effective._WAYS if w.name != "neurons"])
    found = made(*XOR, SMALL)
    assert found.way.name == "closed form"
    assert found.tried == (("closed form", found.count, pytest.approx(0, abs=effective.REDUCED)),)


@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_gates_are_those_on_which_units_settle(delta):
    """At Δ = 0 two samples are on the boundary of each, which grows by Σ without what they see."""
    x, (y,) = np.vstack([XOR[0], delta * XOR[1]]), XOR[1]
    expected = {tuple(np.sign(x[:, k] @ x).round()) for k in range(4)}
    turned = [np.r_[x[:, k] + 0.1, y[k]] for k in range(4)]
    flows = gate_flows(x, y[None], np.array(turned) / np.linalg.norm(turned, axis=1)[:, None])
    assert {tuple(signs) for signs, *_ in flows} == expected
    for _, rates, modes in flows:
        assert rates[-1] == pytest.approx(np.sqrt(2 + delta**2) / 4)
        assert np.linalg.norm(modes[:, -1]) == pytest.approx(1)


def test_units_of_a_partial_gate_stay_on_its_boundary():
    random = np.random.default_rng(3)
    x, y = random.standard_normal((3, 8)), random.standard_normal((1, 8))
    directions = random.standard_normal((60, 4))
    flows = gate_flows(x, y, directions / np.linalg.norm(directions, axis=1)[:, None])
    partial = [(signs == 0, modes) for signs, _, modes in flows if (signs == 0).any()]
    assert partial
    for edge, modes in partial:
        assert np.abs(modes[:3].T @ x[:, edge]).max() < 1e-9


def test_equal_leading_modes_have_no_closed_form():
    turned = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in (0.1, 0.4)]
    assert not gate_flows(*turned, np.array([[0.6, 0.4, 0.6, 0.4]]))


def test_every_line_of_it_holds():
    assert all(line.holds for line in state_lines())
