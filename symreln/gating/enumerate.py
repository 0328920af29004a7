r"""All gates that a dataset allows, each with a witness, and proofs that others are impossible.

A gate is :math:`g = 1[X^T w > 0]`: a sample exactly on the boundary is closed, as a ReLU has it.
A gate is *open* if some witness has no sample on its boundary; a direction drawn at random gives
open gates only. Others occur where samples cancel, such as x and -x, and matter: at Delta = 0 the
gates of XoR that early training selects are of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import fmpq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.exact.linear_programming import direction
from symreln.exact.matrix import ExactMatrix
from symreln.gating.arrangement import ArrangementCells, gate_keys, whole_samples
from symreln.networks.gate_orbits import SampleGroup

#: Gates above which an enumeration ends, unless told otherwise.
LIMIT = 2_000_000


@record(eq=False)
class RealisableGates:
    """Gates that a dataset allows.

    Attributes:
        gates: Bool, shape (N, P), distinct; in descending order as binary numbers.
        witnesses: Whole numbers, shape (N, n_x): gates[k] = 1[Xᵀ witnesses[k] > 0], exactly.
        open: Whether a direction drawn at random can give the gate, shape (N,).
    """

    gates: np.ndarray
    witnesses: np.ndarray
    open: np.ndarray

    def __repr__(self) -> str:
        shown = ", ".join(pattern(gate) for gate in self.gates[:8] if self.samples <= 64)
        return f"{self.count} gates of {self.samples} samples: {shown}, …"

    @property
    def count(self) -> int:
        """N."""
        return len(self.gates)

    @property
    def samples(self) -> int:
        """P."""
        return self.gates.shape[1]

    def orbits(self, group: SampleGroup) -> list[tuple[int, int]]:
        """Return the first place, and the size, of every set that the group maps onto itself."""
        keys = gate_keys(self.gates)
        order = np.argsort(keys)
        sources, targets = [np.arange(len(keys))], [np.arange(len(keys))]
        for images in group.generators:
            moved = np.empty_like(self.gates)
            moved[:, images] = self.gates
            wanted = gate_keys(moved)
            places = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
            if not (keys[order[places]] == wanted).all():
                msg = "a symmetry maps a gate to one that is not listed"
                raise ArithmeticError(msg)
            sources.append(sources[0])
            targets.append(order[places])
        links = np.concatenate(sources), np.concatenate(targets)
        graph = coo_array((np.ones(len(links[0]), dtype=bool), links), shape=(len(keys), len(keys)))
        _, labels = connected_components(graph, directed=False)
        _, first, counts = np.unique(labels, return_index=True, return_counts=True)
        return sorted(zip(first.tolist(), counts.tolist(), strict=True))

    @classmethod
    def of(cls, inputs: ExactMatrix, limit: int | None = None) -> RealisableGates:
        """Return all gates that a dataset allows.

        Args:
            inputs: X, shape (n_x, P), without parameters. Any rank; samples may repeat, be zero or
                be negatives of each other.
            limit: Number of gates above which to stop; None for :data:`LIMIT`.

        Raises:
            InputError: A parameter occurs, or there are no samples.
            LimitReachedError: There are more than ``limit`` gates.
        """
        columns, rows = whole_samples(inputs)
        reduced = columns[rows]
        with phase("all gates") as report:
            search = ArrangementCells(reduced, True, limit or LIMIT, report)
            found = cells = search.found()
            if not _one_sided(reduced):
                found = replace(search, open_only=False).found()
        is_open = np.isin(gate_keys(found.gates), gate_keys(cells.gates))
        order = np.lexsort(found.gates.T[::-1])[::-1]
        witnesses = np.zeros((len(order), inputs.shape[0]), dtype=found.witnesses.dtype)
        witnesses[:, rows] = found.witnesses[order]
        return cls(gates=found.gates[order], witnesses=witnesses, open=is_open[order])


def pattern(gate: Sequence[int] | np.ndarray) -> str:
    """Return a gate as text, one digit a sample."""
    return "".join("1" if value else "0" for value in gate)


def _one_sided(samples: np.ndarray) -> bool:
    """Return whether some direction is strictly positive on every sample that is not zero."""
    strict = [[fmpq(int(v)) for v in column] for column in samples.T if column.any()]
    return direction(strict, [], len(samples)) is not None
