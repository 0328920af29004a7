"""Few hidden units: drawn networks in mode coordinates, against trained ones and the exact law."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.claims.narrow_law import narrow_law
from symreln.claims.prediction import predict_training
from symreln.errors import InputError
from symreln.experiment.metrics import compare, seed_floor
from symreln.experiment.training import train_pair
from symreln.laws.few_units import FewUnits
from symreln.train.network import GatedPathway
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_gdln
from symreln.train.weights import LayerWeights

#: Two inputs with modes, one with d but no s, one that is never seen; one output that stays zero.
X = np.array([[2.0, 0, 0], [0, 1.0, 0], [0, 0, 1.5], [0, 0, 0]])
Y = np.array([[3.0, 0, 0], [0, 0.5, 0], [0, 0, 0]])


def few(units: int, init_std: float = 0.1) -> FewUnits:
    sigma_x = X @ X.T / 3
    return FewUnits.of(np.array([2.0, 1 / 6]), np.eye(4)[:, :2], sigma_x, 3, units, init_std)


def test_the_coordinates_are_those_that_move():
    found = few(1)
    np.testing.assert_allclose(found.d, [4 / 3, 1 / 3, 0.75])
    assert found.silent == 1


def test_a_drawn_network_is_the_network_that_is_trained_from_its_weights():
    """Every step, to rounding, with the noise in the other inputs and outputs."""
    found, steps, rate = few(2), 400, 0.05
    first, second = found.drawn(3, np.random.default_rng(4))
    assert first.shape == (3, 2, 3)
    run = found.descend(3, steps, rate, np.random.default_rng(4))
    unseen = np.zeros((3, 2, 1))
    trained = train_gdln(
        X,
        Y,
        [GatedPathway(name="all", gate=(1,) * 3, inputs=range(4), outputs=range(3), hidden=2)],
        TrainingSettings(
            hidden=2,
            init_std=0.1,
            learning_rate=rate,
            loss="mean",
            steps=steps,
            activation="linear",
        ),
        initial={"all": LayerWeights(w1=np.concatenate([first, unseen], axis=2), w2=second)},
    )
    whole = 0.5 * np.sum(Y**2) / 3
    np.testing.assert_allclose(whole + run.losses, trained.losses, atol=1e-12 * whole)


@pytest.mark.parametrize(("silent", "units"), [(7, 2), (2, 30), (9, 12)])
def test_turned_weights_have_the_law_of_the_whole_ones(silent, units):
    """What moves the modes is Gram matrices: their means and spreads stay those of Gaussians."""
    found = FewUnits(
        s=np.array([1.0]), d=np.array([1.0, 2.0]), silent=silent, units=units, init_std=1
    )
    first, second = found.drawn(20_000, np.random.default_rng(1))
    assert first.shape[1] <= units
    modes = second[:, :1]
    for vector in (first[:, :, 0], modes[:, 0]):
        squares = (vector**2).sum(axis=1)
        assert squares.mean() == pytest.approx(units, rel=0.03)
        assert squares.var() == pytest.approx(2 * units, rel=0.06)  # chi-square of H
    product = (modes @ first)[:, 0, 0]
    assert product.mean() == pytest.approx(0, abs=0.05 * np.sqrt(units))
    assert product.var() == pytest.approx(units, rel=0.06)
    # Silent outputs: |B_s a|² of a unit vector a over the units is chi-square of their number.
    along = first[:, :, 1] / np.linalg.norm(first[:, :, 1], axis=1, keepdims=True)
    noise = ((second[:, 1:] @ along[:, :, None]) ** 2).sum(axis=(1, 2))
    assert noise.mean() == pytest.approx(silent, rel=0.03)


NARROW = ("network.hidden=2", "network.steps=700")


def test_the_mean_over_the_law_is_the_mean_of_trained_networks():
    """The curve of the mean start is 10 % off: with two units networks scatter by 14 %."""
    numbers = sr.derive(sr.load("linear-hierarchy", overrides=NARROW)).at_values
    theory, law = predict_training(numbers), narrow_law(numbers)
    np.testing.assert_array_equal(theory.loss, law.losses.mean(axis=0))
    network, gdln = train_pair(numbers.spec, {}, 60, 5, record=Recording())
    for run in (network, gdln):
        left = run.losses.std(axis=0, ddof=1).max() / np.sqrt(60) / run.losses[:, 0].mean()
        left = float(np.hypot(left, law.error))
        assert compare(theory.loss, run.mean_loss).max_abs_over_initial < 3 * left
        assert compare(theory.closed_loss, run.mean_loss).max_abs_over_initial > 4 * left
        measured = seed_floor(run.losses).mean.max_abs_over_initial
        assert seed_floor(law.losses).mean.max_abs_over_initial == pytest.approx(measured, rel=0.25)
    assert law.error < 0.01
    assert f"{100 * law.error:.2g} % of L(0)" in theory.method
    assert theory.free_constants == 0


def test_steps_that_are_too_large_are_refused():
    spec = sr.load("linear-hierarchy", overrides=(*NARROW, "network.learning_rate=9"))
    with pytest.raises(InputError, match=r"diverge"):
        predict_training(sr.derive(spec).at_values)
