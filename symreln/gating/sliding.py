"""Units followed in a fixed residual until they settle: which sign vectors to ask for exactly.

The flow is the one of :mod:`symreln.gating.consistent`, in float64, with units kept at length one.
It only proposes: a sign vector that is proposed counts where :mod:`symreln.gating.partial` proves
it. Units that settle on the same signs up to a symmetry are one proposal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.gating.arrangement import without_parameters
from symreln.gating.consistent import GrowingGate
from symreln.gating.partial import partial_gates
from symreln.gating.sizes import unit_floats
from symreln.laws.gate_classes import gate_names, sample_relations
from symreln.laws.spans import orthonormal_span
from symreln.networks.orbits import moved_gates, sample_group

#: Units that are followed, and the seed of their draw.
_UNITS, _SEED = 1000, 77_003
#: Steps of the flow in units of 1/s of the fastest direction there could be, coarse and then fine;
#: fine ones make units that slide stay close to their boundary.
_COARSE, _FINE = (0.02, 3000), (0.002, 2000)
#: |w·x| over its largest, below which a sample counts as on the boundary. Fine steps leave less.
_NEAR = 0.02
#: Share of the units below which a proposal is left out.
_RARE = 0.002


def _settled_signs(inputs: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Follow units drawn from a normal law, kept at length one, until they keep their direction.

    Args:
        inputs: X, shape (n_x, P).
        residual: R, shape (n_y, P), not all zero.

    Returns:
        Signs, 1 open, -1 closed, 0 on the boundary, shape (proposals, P), the most frequent first.
    """
    random = np.random.default_rng(_SEED)
    first = random.standard_normal((_UNITS, inputs.shape[0]))
    second = random.standard_normal((_UNITS, residual.shape[0]))
    basis = orthonormal_span(residual)
    goal, second = basis.T @ residual / inputs.shape[1], second @ basis
    bound = np.linalg.norm(goal, 2) * np.linalg.norm(inputs, 2)
    for length, steps in (_COARSE, _FINE):
        step = length / bound
        for _ in range(steps):
            seen = first @ inputs
            drive = (second @ goal) * (seen > 0)
            first, second = (
                first + step * (drive @ inputs.T),
                second + step * (np.maximum(seen, 0) @ goal.T),
            )
            size = np.sqrt((first**2).sum(axis=1) + (second**2).sum(axis=1))[:, None]
            first, second = first / size, second / size
    return _proposals(first @ inputs, second @ basis.T @ residual, inputs, residual)


def _proposals(
    seen: np.ndarray, pushes: np.ndarray, inputs: np.ndarray, residual: np.ndarray
) -> np.ndarray:
    """Gather units by signs; those that grow no longer are left out."""
    rates = (np.maximum(seen, 0) * pushes).sum(axis=1)
    growing = rates > 1e-3 * rates.max()
    seen = seen[growing]
    signs = np.sign(seen) * (np.abs(seen) > _NEAR * np.abs(seen).max(axis=1, keepdims=True))
    distinct, counts = np.unique(signs.astype(int), axis=0, return_counts=True)
    relations = sample_relations(inputs, residual)
    names = gate_names(distinct > 0, relations) + 3 * gate_names(distinct < 0, relations)
    found: dict[int, list[int]] = {}
    for place, name in enumerate(names.tolist()):
        found.setdefault(name, []).append(place)
    alike = sorted(found.values(), key=lambda places: -counts[places].sum())
    return distinct[
        [
            max(places, key=lambda k: counts[k])
            for places in alike
            if counts[places].sum() >= _RARE * len(rates)
        ]
    ]


def sliding_gates(inputs: ExactMatrix, residual: ExactMatrix) -> tuple[GrowingGate, ...]:
    """Return the partial gates that units settle on, each proven, the fastest first.

    There may be more: units propose those that attract many of them.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters, not zero.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    settled = _settled_signs(unit_floats(inputs), unit_floats(residual))
    group = sample_group(inputs, residual)
    proposed = [tuple(map(int, row)) for row in settled]
    return tuple(
        replace(gate, size=len(moved_gates(gate.signs, group)))
        for gate in partial_gates(inputs, residual, [(signs, 1) for signs in proposed])
    )
