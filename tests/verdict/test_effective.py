"""Effective datasets, correlations and residuals against numpy, sample by sample."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given

from symreln.exact.matrix import ExactMatrix
from symreln.networks.effective import effective_dataset
from symreln.specs.spec import Dataset, Spec
from symreln.verdict.residual import converged_outputs
from tests.cases import derived, matrix_spec
from tests.strategies import examples, seeds

# Entries are small rationals and P < 10: sums of products round to a few machine epsilons.
ROUNDING = 1e-12


def random_spec(seed: int, pathways: int = 3) -> Spec:
    """Small rational data, gates and masks of every kind; often rank-deficient."""
    random = Random(seed)
    n_x, n_y, samples = random.randint(1, 4), random.randint(1, 4), random.randint(1, 7)

    def matrix(rows: int) -> list[list[Fraction]]:
        return [
            [Fraction(random.randint(-3, 3), random.choice([1, 1, 2, 3])) for _ in range(samples)]
            for _ in range(rows)
        ]

    def some(count: int) -> list[int]:
        return sorted(random.sample(range(count), random.randint(1, count)))

    paths = []
    for _ in range(pathways):
        gate = [random.randint(0, 1) for _ in range(samples)]
        gate[random.randrange(samples)] = 1
        paths.append({"gate": gate, "inputs": some(n_x), "outputs": some(n_y)})
    return matrix_spec(matrix(n_x), matrix(n_y), paths)


def of(spec: Spec, targets: ExactMatrix | None = None):
    goal = spec.dataset.targets if targets is None else targets
    return tuple(effective_dataset(spec.dataset, p, goal) for p in spec.pathways)


@pytest.mark.parametrize("seed", range(40))
def test_correlations_are_sums_over_open_samples(seed):
    spec = random_spec(seed)
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    effective = of(spec)
    samples = x.shape[1]
    for found in effective:
        path = found.pathway
        sigma_yx, sigma_x = np.zeros((len(y), len(path.inputs))), 0.0
        for sample in path.open_samples:
            seen, wanted = x[list(path.inputs), sample], np.zeros(len(y))
            wanted[list(path.outputs)] = y[list(path.outputs), sample]
            sigma_yx += np.outer(wanted, seen) / samples  # all samples, not the open ones
            sigma_x = sigma_x + np.outer(seen, seen) / samples
        np.testing.assert_allclose(found.sigma_yx.to_numpy(), sigma_yx, atol=ROUNDING)
        np.testing.assert_allclose(found.sigma_x.to_numpy(), sigma_x, atol=ROUNDING)
        for other in effective:
            both = sorted(set(path.open_samples) & set(other.pathway.open_samples))
            cross = x[np.ix_(path.inputs, both)] @ x[np.ix_(other.pathway.inputs, both)].T / samples
            np.testing.assert_allclose(found.cross_sigma_x(other).to_numpy(), cross, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(40))
def test_converged_outputs_are_least_squares(seed):
    spec = random_spec(seed)
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


def test_a_later_stage_learns_what_the_earlier_ones_left():
    derivation = derived("contextual n=4 C=3")
    (common,), off = derivation.stages[0].pathways, derivation.stages[1].pathways
    values = derivation.spec.values
    x = common.effective.inputs.substitute(values).to_numpy()
    y = derivation.spec.dataset.targets.to_numpy()
    left = y - y @ np.linalg.pinv(x) @ x
    for pathway in off:
        gate = np.array(pathway.effective.pathway.gate)
        np.testing.assert_allclose(
            pathway.effective.targets.substitute(values).to_numpy(), left * gate, atol=ROUNDING
        )


# -- properties ------------------------------------------------------------------------------------


def permuted(spec: Spec, order: list[int]) -> Spec:
    def columns(matrix: ExactMatrix) -> ExactMatrix:
        return ExactMatrix.from_rows([[row[i] for i in order] for row in matrix.rows()])

    dataset = Dataset(inputs=columns(spec.dataset.inputs), targets=columns(spec.dataset.targets))
    paths = tuple(replace(p, gate=tuple(p.gate[i] for i in order)) for p in spec.pathways)
    return replace(spec, dataset=dataset, pathways=paths)


@examples(100)
@given(seeds)
def test_order_of_samples_does_not_matter(seed):
    spec = random_spec(seed)
    order = list(range(spec.dataset.samples))
    Random(seed).shuffle(order)
    for one, other in zip(of(spec), of(permuted(spec, order)), strict=True):
        assert one.sigma_yx == other.sigma_yx
        assert one.sigma_x == other.sigma_x
