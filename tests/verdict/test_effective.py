"""Effective datasets, correlations and residuals against numpy, sample by sample."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.effective import EffectiveDataset
from symreln.specs.spec import Spec
from symreln.verdict.residual import converged_outputs
from tests.verdict.examples import random_gated

# Entries are small rationals and P < 10: sums of products round to a few machine epsilons.
ROUNDING = 1e-12


def of(spec: Spec, targets: ExactMatrix | None = None):
    goal = spec.dataset.targets if targets is None else targets
    return tuple(EffectiveDataset.of(spec.dataset, p, goal) for p in spec.pathways)


@pytest.mark.parametrize("seed", range(40))
def test_correlations_are_sums_over_samples_with_their_gates(seed):
    spec, point = random_gated(seed), {"g": Fraction(3, 2)}
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    effective, features = of(spec), []
    for found in effective:
        path = found.pathway
        gains = [
            g.substitute(point).to_fraction() if isinstance(g, Scalar) else g for g in path.gate
        ]
        gate, mask = np.array(gains, float), np.isin(np.arange(len(y)), path.outputs)[:, None]
        features.append(x[list(path.inputs)] * gate)
        sigma_yx = (mask * y) @ features[-1].T / x.shape[1]  # all samples, not the open ones
        open_targets = mask * y * (gate != 0)
        for matrix, expected in ((found.sigma_yx, sigma_yx), (found.targets, open_targets)):
            np.testing.assert_allclose(matrix.substitute(point).to_numpy(), expected, atol=ROUNDING)
    for one, mine in zip(effective, features, strict=True):
        for other, theirs in zip(effective, features, strict=True):
            found = one.sigma_x if one is other else one.cross_sigma_x(other)
            cross = mine @ theirs.T / x.shape[1]
            np.testing.assert_allclose(found.substitute(point).to_numpy(), cross, atol=ROUNDING)


@pytest.mark.parametrize("seed", [seed for seed in range(60) if seed % 3])
def test_converged_outputs_are_least_squares(seed):
    spec = random_gated(seed)
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    effective = of(spec)
    outputs = converged_outputs(spec.dataset.targets, effective)
    expected = np.zeros_like(y)
    for row in range(len(y)):
        writers = [e.pathway for e in effective if row in e.pathway.outputs]
        if writers:
            features = np.vstack([x[list(p.inputs)] * np.array(p.gate) for p in writers])
            fit = np.linalg.lstsq(features.T, y[row], rcond=None)[0]
            expected[row] = fit @ features
    np.testing.assert_allclose(outputs.to_numpy(), expected, atol=ROUNDING)
    residual = spec.dataset.targets - outputs
    for left in of(spec, residual):
        # Exactly orthogonal to every pathway's gated inputs on the outputs that it writes.
        assert left.sigma_yx.is_zero
