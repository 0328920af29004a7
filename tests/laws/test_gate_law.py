"""The law of gates: the linear motion of units, their shares, and the orders after the first."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from symreln.laws.gate_shares import LinearUnits, _DrawnUnits
from symreln.laws.ops import NUMPY
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced

LAWS = {
    "balanced": TwoLayer(s=0.7, d=0.3, strength0=1e-5, tau=50.0, ops=NUMPY),
    "in steps": TwoLayer(s=0.7, d=0.3, strength0=1e-5, tau=50.0, ops=NUMPY, stepwise=True),
    "decay": TwoLayerDecay(
        s=0.7, d=0.3, strength0=1e-5, tau=50.0, ops=NUMPY, weight_decay=np.float64(0.2)
    ),
    "unbalanced": Unbalanced(s=0.7, d=0.3, strength0=1e-4, imbalance=3e-3, tau=50.0, ops=NUMPY),
}


@pytest.mark.parametrize("name", LAWS)
def test_angles_grow_as_the_mode_drives_units(name):
    """τ θ' = s − dπ, whatever the start and the decay, with the clock of steps for τ."""
    law, times = LAWS[name], np.linspace(10, 900, 60)
    ends = [law.angles(times + h, float(law.strength0)) for h in (-1e-3, 1e-3)]
    slope = float(law.clock) * (ends[1] - ends[0]) / 2e-3
    drive = law.s - law.d * law.strength(times)
    assert slope == pytest.approx(drive, abs=2e-6)
    assert law.angles(np.array([0.0]), float(law.strength0)) == pytest.approx(0, abs=1e-12)


def test_weights_that_turn_back_to_zero_have_no_negative_square():
    """With one output ‖b‖² is what is conserved beside ‖Vᵀw‖², which rounds at its zeros."""
    own = LinearUnits(
        samples=np.array([[0.7], [0.7]]),
        gate=np.ones(1, bool),
        tells=np.ones(1, bool),
        inputs=np.full((2, 1), np.sqrt(0.5)),
        outputs=np.eye(1),
        leading=1,
        scales=(0.01, 0.01),
    )
    drawn = own._drawn(1, np.random.default_rng(11))
    turns = -drawn.written[:, 0] / drawn.seen[:, 0]
    angles = np.arctanh(turns[np.abs(turns) < 0.99])
    assert len(angles) > 500
    for angle in angles:
        *_, square = drawn.moved(np.array([angle]))
        assert square.min() >= 0
    assert np.isfinite(own.shares(angles[None, :50], np.random.default_rng(11))).all()


def test_units_turn_as_the_exponential_of_the_drive_says():
    """Both layers' weights, and their product ‖w‖‖b‖, against a matrix exponential."""
    samples, angles = np.random.default_rng(2).standard_normal((3, 5)), np.array([1.2, 0.3])
    v, u = (np.linalg.qr(np.random.default_rng(n).standard_normal((3, 2)))[0] for n in (3, 4))
    law = LinearUnits(
        samples=samples,
        gate=np.array([True, False, True, True, False]),
        tells=np.array([True, True, False, True, True]),
        inputs=v,
        outputs=u,
        leading=1,
        scales=(0.6, 1.1),
    )
    rng = np.random.default_rng(5)
    start = np.hstack([0.6 * rng.standard_normal((4, 3)), 1.1 * rng.standard_normal((4, 3))])
    drive = v @ np.diag(angles) @ u.T
    both = start @ expm(np.block([[np.zeros((3, 3)), drive], [drive.T, np.zeros((3, 3))]]))
    first, last = both[:, :3], both[:, 3:]
    kept = ((first @ samples > 0) == law.gate)[:, law.tells].all(axis=1)
    among = expm(
        np.block([[np.zeros((2, 2)), np.diag(angles)], [np.diag(angles), np.zeros((2, 2))]])
    )
    drawn = _DrawnUnits.of(law, 4, np.random.default_rng(5))
    weight = np.linalg.norm(first, axis=1) * np.linalg.norm(last, axis=1)
    for motion in (angles, among):
        ((share, _),) = law._shares(drawn, motion[..., None])
        assert share == pytest.approx(weight[kept].sum() / weight.sum(), rel=1e-12)


@pytest.mark.parametrize("matrices", [False, True])
def test_a_share_hangs_on_no_other_time(matrices):
    """Units are looked at again where they have turned far enough, there and back."""
    rng = np.random.default_rng(6)
    v, u = (np.linalg.qr(rng.standard_normal((3, 2)))[0] for _ in range(2))
    law = LinearUnits(
        samples=rng.standard_normal((3, 12)),
        gate=rng.random(12) > 0.5,
        tells=np.arange(12) > 1,
        inputs=v,
        outputs=u,
        leading=2,
        scales=(0.6, 1.1),
    )
    law = replace(law, gate=v @ [1.0, 0.4] @ law.samples > 0)
    motions = 0.2 * rng.standard_normal((2, 40)).cumsum(axis=1)
    if matrices:
        motions = np.eye(4)[..., None] + 0.1 * rng.standard_normal((4, 4, 40)).cumsum(axis=2)
    found = law.shares(motions, np.random.default_rng(3))
    alone = [law.shares(motions[..., [t]], np.random.default_rng(3)) for t in range(40)]
    assert len(set(found[0])) > 30
    assert np.array_equal(found, np.concatenate(alone, axis=1))


@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.4, 1.3), (1.0, 0.2)])
def test_shares_of_one_input_are_known(scales):
    """The sign of w(t), given that of w + b: an orthant of two Gaussians, by draws of its own."""
    first, last = scales
    own = LinearUnits(
        samples=np.array([[1.0]]),
        gate=np.ones(1, bool),
        tells=np.ones(1, bool),
        inputs=np.eye(1),
        outputs=np.eye(1),
        leading=1,
        scales=scales,
    )
    angles = np.array([[0.0, 0.5, 2.0]])
    share, error = own.shares(angles, np.random.default_rng(4))
    rng = np.random.default_rng(9)
    w, b = first * rng.standard_normal(400_000), last * rng.standard_normal(400_000)
    w, b = w * np.sign(w + b), b * np.sign(w + b)
    for angle, found, spread in zip(angles[0], share, error, strict=True):
        moved = np.cosh(angle) * w + np.sinh(angle) * b
        weight = np.abs(moved * (np.cosh(angle) * b + np.sinh(angle) * w))
        assert found == pytest.approx(weight[moved > 0].sum() / weight.sum(), abs=4 * spread + 2e-3)
