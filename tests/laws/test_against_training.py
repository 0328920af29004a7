"""Theory against a GDLN trained by gradient descent from mode-aligned initial weights.

Gradient flow and gradient descent differ by the learning rate to first order, and by nothing
else here: halving the rate twice, at equal times, must halve the largest deviation twice. A
theory that were wrong by anything would be left with a deviation that does not shrink.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.claims.integration import coupled_matrices
from symreln.claims.probes import probe_bases
from symreln.experiment.training import gated_pathways, training_settings
from symreln.specs.model import Spec
from symreln.train.trainers import train_gdln
from symreln.train.weights import LayerWeights
from symreln.verdict.judge import Level
from tests.cases import contexts_spec, matrix_spec
from tests.laws.full_flow import aligned_start
from tests.pathways.examples import (
    CUBIC,
    GOLDEN,
    RATIONAL,
    all_examples,
    one_hot_contexts,
    race,
)

#: Time, in units of tau, by which every mode of these specs has risen.
SPAN = 60
FIRST_RATE = Fraction(1, 20)


def at_rate(spec: Spec, rate: Fraction, **options) -> Spec:
    from symreln.specs.model import NetworkSpec
    from tests.cases import PLAIN_NETWORK

    network = {"learning_rate": rate, "steps": int(SPAN / rate) + 1, **options}
    return Spec(
        title=spec.title,
        dataset=spec.dataset,
        pathways=spec.pathways,
        network=NetworkSpec(**(PLAIN_NETWORK | network)),
    )


def trained(spec: Spec, weights) -> np.ndarray:
    """Losses of gradient descent from the given weights, one seed."""
    paths, initial = [], {}
    for path, (w1, w2) in zip(gated_pathways(spec), weights, strict=True):
        paths.append(type(path)(**(vars(path) | {"hidden": len(w1)})))
        # The trainer's weights reach the pathway's outputs only.
        initial[path.name] = LayerWeights(w1=w1[None], w2=w2[list(path.outputs)][None])
    run = train_gdln(
        spec.dataset.inputs.to_numpy(),
        spec.dataset.targets.to_numpy(),
        paths,
        training_settings(spec),
        training=spec.network.training,
        initial=initial,
        workers=1,
    )
    return run.losses[0]


def deviations(spec: Spec, start, **options) -> list[float]:
    """max |ΔL|/L(0) of theory and training at three learning rates, each half of the last."""
    found = []
    for halvings in range(3):
        numbers = at_rate(spec, FIRST_RATE / 2**halvings, **options)
        derivation = sr.derive(numbers)
        theory, weights = start(derivation)
        losses = trained(numbers, weights)
        found.append(float(np.abs(theory - losses).max() / losses[0]))
    return found


def aligned(derivation):
    """Closed forms against weights on the modes, every strength at its derived start."""
    modes = [probe_bases(p)[:2] for p in derivation.pathways]
    weights = aligned_start(modes, float(derivation.strength0), np.random.default_rng(0))
    prediction = derivation.evaluate()
    return prediction.closed_loss, weights


def expected(derivation):
    """Coupled matrices against weights with exactly the expected Gram matrix."""
    system = coupled_matrices(derivation)
    weights, scale = [], np.sqrt(system.gram_scale)
    for u, v in zip(system.output_bases, system.input_bases, strict=True):
        width = v.shape[1]
        q = scale * np.eye(width + u.shape[1])
        weights.append((q[:width].T @ v.T, u @ q[width:]))
    return derivation.evaluate().reduced, weights


def check_halving(found: list[float]) -> None:
    # Second order in the rate: the first halving of a deviation of 1 % leaves 1 % of a half.
    # 20 % is what the issue allows.
    assert found[0] > 1e-5, "nothing to compare: the deviation is lost in rounding"
    assert found[0] / found[1] == pytest.approx(2, rel=0.2)
    assert found[1] / found[2] == pytest.approx(2, rel=0.2)


ALIGNED = {
    "closed, one pathway": one_hot_contexts([CUBIC], [(1,)]),
    "closed, outputs do not meet": all_examples()["closed: outputs do not meet"],
    "closed by symmetry, rational": contexts_spec(RATIONAL, 3),
    "closed by symmetry, degree 2": contexts_spec(GOLDEN, 3),
    "closed by symmetry, equal race": all_examples()["closed by symmetry: equal race, rational"],
    "coupled modes": race(RATIONAL),
    "coupled modes, degree 2": race(GOLDEN),
}


@pytest.mark.parametrize("name", ALIGNED)
def test_deviation_from_mode_equations_is_proportional_to_the_learning_rate(name):
    assert sr.derive(ALIGNED[name]).verdict.level.value == name.split(",")[0]
    check_halving(deviations(ALIGNED[name], aligned))


MATRICES = {
    name: spec
    for name, spec in all_examples().items()
    if name.startswith(Level.COUPLED_MATRICES.value)
}


@pytest.mark.parametrize("name", MATRICES)
def test_deviation_of_coupled_matrices_is_proportional_to_the_learning_rate(name):
    check_halving(deviations(MATRICES[name], expected))


def test_deviation_of_staged_training_is_proportional_to_the_learning_rate():
    x = [[1, 0, 1, 0, 1], [0, 1, 0, 1, 1]]
    y = [[1, 2, 3, -1, 0], [0, 1, 1, 1, 2]]
    spec = matrix_spec(
        x,
        y,
        [
            {"gate": [1, 1, 1, 1, 1], "stage": 1},
            {"gate": [1, 1, 0, 0, 1], "stage": 2, "inputs": [0]},
            {"gate": [0, 1, 1, 1, 0], "stage": 2, "outputs": [1]},
        ],
    )
    check_halving(deviations(spec, expected, training="staged"))
