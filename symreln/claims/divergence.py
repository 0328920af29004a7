"""A learning rate at which training must diverge, found before anything is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.rounding import rounded, rounded_down
from symreln.claims.integration import gate_floats, network_of, sparse_floats
from symreln.claims.solve import check_values
from symreln.errors import InputError
from symreln.laws.law import Regime

if TYPE_CHECKING:
    from symreln.laws.coupled_matrices import GatedData, SparseArray
    from symreln.specs.model import NetworkSpec, Spec

#: Relaxation a step, 2 s/tau, above which full-batch gradient descent diverges near a plateau.
_STABLE_RATE = 2.0
#: The same at the start, above which neither gradient descent nor the flow is followed.
_STIFFEST = 1000.0
#: Entries of a correlation up to which its singular values are computed all at once.
DENSE = 40_000


def check_step_size(network: NetworkSpec, rate: float) -> None:
    """Refuse to predict training that cannot converge.

    Near its plateau the slowest-to-stabilise mode contracts by 1 − rate a step of gradient
    descent, which diverges above a rate of 2; the flow would need as many integration steps as
    the rate is too large, to no purpose.

    Args:
        network: Whose learning rate it is.
        rate: 2 s/tau of the largest s.

    Raises:
        InputError: The rate is too large.
    """
    if not rate < _STABLE_RATE:
        bound = float(network.learning_rate) * _STABLE_RATE / rate if np.isfinite(rate) else 0.0
        advice = f"below {rounded_down(bound, 2)}" if bound > 0 else "or scale the data"
        msg = (
            f"network.learning_rate: {float(network.learning_rate):.4g} makes gradient descent "
            f"diverge on these data (a mode relaxes by {rounded(rate, 3, _STABLE_RATE)} a step, "
            f"2 is the limit). Lower it {advice}"
        )
        raise InputError(msg)


def check_start(network: NetworkSpec, norm: float, tau: float) -> None:
    """Refuse initial weights from which no prediction comes back.

    At the start outputs relax with the rate g λ/τ, g the Gram scale of the initial weights and λ
    the largest eigenvalue of Σ^x. The flow stays as stiff as that, and steps of gradient descent,
    which may recover from a rate a little above 2, diverge.

    Args:
        network: Whose weights they are.
        norm: Largest singular value of what any pathway sees, F/sqrt(P).
        tau: Time constant in steps.

    Raises:
        InputError: The rate is beyond ``_STIFFEST``.
    """
    rate = float(Regime.of_network(network).gram_scale) / tau * norm * norm
    if not rate < _STIFFEST:
        msg = (
            f"network.init_std: {float(network.init_std):.4g} makes gradient descent diverge on "
            f"these data (at the start outputs relax by {rate:.3g} a step, 2 is the limit). Lower "
            "it, or the learning rate"
        )
        raise InputError(msg)


def largest_norm(data: GatedData) -> float:
    """Return the largest singular value of what any pathway sees, F/sqrt(P)."""
    return max((_norm(feature) for feature in data.features), default=0.0)


def check_before_deriving(spec: Spec) -> None:
    """Refuse what no network can be trained on, and a learning rate at which training diverges.

    The same rate is found again, exactly as it is integrated, once the derivation is there.

    Raises:
        InputError: There is no network, a parameter has no value, the rate is too large for the
            whole targets, or a number is too large or too small for float64.
    """
    network = network_of(spec)
    check_values(spec)
    exact = spec.at_values()
    if not Regime.of(spec).plain.holds:
        return
    inputs = sparse_floats(exact.dataset.inputs, "dataset.X")
    targets = sparse_floats(exact.dataset.targets, "dataset.Y")
    samples = exact.dataset.samples
    largest = 0.0
    for pathway in exact.pathways:
        if pathway.boundary:  # it sees less than its gate lets through
            continue
        features = inputs[list(pathway.inputs)] * gate_floats(pathway)[None, :]
        seen = targets[list(pathway.outputs)] @ features.tocsr().T / samples
        largest = max(largest, _norm(seen.tocsr()))
    check_step_size(network, 2 * largest / float(network.tau(samples)))


def _norm(matrix: SparseArray) -> float:
    """Return the largest singular value, or a lower bound of it where the matrix is large."""
    if not matrix.nnz:
        return 0.0
    if matrix.shape[0] * matrix.shape[1] <= DENSE:
        return float(np.linalg.norm(matrix.toarray(), 2))
    # Each power step can only raise |A v| of the unit vector v; no data are built against this v.
    v = np.random.default_rng(0).normal(size=matrix.shape[1])
    for _ in range(20):
        v = matrix.T @ (matrix @ v)
        v = v / np.linalg.norm(v)
    return float(np.linalg.norm(matrix @ v))
