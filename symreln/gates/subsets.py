"""Gates by a label: open on all samples that hold some of its values, on no others; their speeds.

For m of the values of a label (contexts, say) the gate is open on all of their samples. Speeds are
exact at the spec's numbers, for any data; subsets that a symmetry of the data maps onto each other
are one. :mod:`symreln.gates.context_subsets` has the same as formulas for the contextual task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.gates.consistent import columns, consistent_pairs, gate_spectrum, singular_pairs
from symreln.gates.enumerate import without_parameters
from symreln.gates.irrational import realisable_at
from symreln.gates.orbits import moved_gates, sample_group

if TYPE_CHECKING:
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.spec.model import Dataset
    from symreln.train.record import Observer

#: Values of a label above which subsets are refused: there are 2^k of them.
MOST_VALUES = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelSubset:
    """A gate open on the samples of some values of a label.

    Attributes:
        values: The values, m of them.
        gate: 0 or 1 a sample.
        size: How many subsets a symmetry of the data makes alike, this one included.
        speed: Largest singular value of R diag(g) Xᵀ/P; None where it is zero.
        realisable: Whether some direction has the gate.
        self_consistent: Whether the direction of that speed has it.
    """

    values: tuple[object, ...]
    gate: tuple[int, ...]
    size: int
    speed: AlgebraicNumber | None
    realisable: bool
    self_consistent: bool

    @property
    def count(self) -> int:
        """M."""
        return len(self.values)


def label_values(dataset: Dataset, label: str) -> tuple[object, ...]:
    """Return the distinct values of a label, in the order in which they first occur.

    Raises:
        InputError: There is no such label, or it has fewer than 2 values or more than
            ``MOST_VALUES``.
    """
    if label not in dataset.labels:
        known = ", ".join(dataset.labels) or "none"
        msg = f"subsets: found --by {label}; the data have these labels: {known}"
        raise InputError(msg)
    values = tuple(dict.fromkeys(dataset.labels[label]))
    if not 2 <= len(values) <= MOST_VALUES:
        msg = (
            f"subsets: label {label} has {len(values)} values; gates by subsets need 2 to "
            f"{MOST_VALUES}. Choose another label"
        )
        raise InputError(msg)
    return values


def label_subsets(dataset: Dataset, residual: ExactMatrix, label: str) -> tuple[LabelSubset, ...]:
    """Return one subset of each kind with its speed, the fastest first.

    Args:
        dataset: Without parameters.
        residual: R, shape (n_y, P), without parameters.
        label: Name of the label.

    Raises:
        InputError: The label does not fit, or a parameter occurs.
    """
    inputs, residual = without_parameters(dataset.inputs), without_parameters(residual)
    names = label_values(dataset, label)
    held, samples = dataset.labels[label], columns(inputs)
    group = sample_group(inputs, residual)
    seen: set[tuple[int, ...]] = set()
    found = []
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            gate = tuple(int(value in chosen) for value in held)
            if gate in seen:
                continue
            alike = moved_gates(gate, group)
            seen.update(alike)
            pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
            found.append(
                LabelSubset(
                    values=chosen,
                    gate=gate,
                    size=len(alike),
                    speed=pairs[0].s if pairs else None,
                    realisable=realisable_at(samples, gate),
                    self_consistent=bool(pairs)
                    and bool(consistent_pairs(pairs[:1], samples, gate)),
                )
            )
    growing = [each for each in found if each.speed is not None]
    still = [each for each in found if each.speed is None]
    return (*sorted(growing, key=lambda each: order_key(_speed(each), {})), *still)


def fastest_counts(subsets: Sequence[LabelSubset]) -> tuple[int, ...]:
    """Return the m of the largest speed, decided exactly; empty where nothing grows."""
    if not subsets or subsets[0].speed is None:
        return ()
    return tuple(sorted({each.count for each in subsets if each.speed == subsets[0].speed}))


def _speed(subset: LabelSubset) -> AlgebraicNumber:
    assert subset.speed is not None
    return subset.speed


def count_observer(dataset: Dataset, label: str) -> Observer:
    """Return an observer of the number of a label's values on which each unit is open.

    A unit counts as open on a value where the squares of its positive w·x on that value's samples
    add up to more than those of its negative ones: the subset whose gate is nearest to its own,
    samples weighted by (w·x)². Units that slide along some samples are placed by the others.

    Returns:
        Observer with values of shape (seeds, H).
    """
    inputs = dataset.inputs.to_numpy()
    names, held = label_values(dataset, label), dataset.labels[label]
    members = np.array([[value == name for value in held] for name in names], dtype=float)

    def observe(step: int, weights: tuple) -> np.ndarray:
        seen = np.matmul(weights[0], inputs)
        signed = np.sign(seen) * seen**2
        return (signed @ members.T > 0).sum(axis=-1)

    return observe


def count_shares(counts: np.ndarray, weights: np.ndarray, values: int) -> np.ndarray:
    """Return the share of the units' weight by m, shape (seeds, looks, values + 1).

    Args:
        counts: m of every unit, shape (seeds, looks, H).
        weights: ‖w1‖‖w2‖ of every unit, the same shape.
        values: Number of the label's values.
    """
    total = weights.sum(axis=2)
    parts = [(weights * (counts == m)).sum(axis=2) / total for m in range(values + 1)]
    return np.stack(parts, axis=2)
