r"""All faces of the arrangement of the samples: every sign vector sign(Xᵀw), exactly.

A *flat* is a set Z of samples with :math:`L = \{w : w\cdot x_z = 0, z \in Z\}` orthogonal to no
other one. The faces with zero set Z are the open cells of the remaining samples, restricted to L
(:mod:`symreln.gates.cells`), so all faces are found flat by flat: cells are those of Z = ∅.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from symreln.errors import LimitReachedError
from symreln.exact.matrix import ExactMatrix
from symreln.gates.cells import Cells, restricted
from symreln.gates.enumerate import whole_samples
from symreln.gates.int64 import product, reduced_rows

#: Choices of samples on a boundary, and faces, above which listing all of them is refused.
MOST_CHOICES, MOST_FACES = 20_000, 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Flat:
    """Samples that can lie on the boundary together, and the faces on which exactly they do.

    Attributes:
        boundary: Z, without zero samples, ascending.
        signs: 1 open, -1 closed, 0 on the boundary, shape (faces, P); zero samples are closed.
    """

    boundary: tuple[int, ...]
    signs: np.ndarray


def flats(
    inputs: ExactMatrix, progress: Callable[[int, int], None] | None = None
) -> Iterator[Flat]:
    """Yield all flats with their faces, the cells first; w = 0 is left out.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        progress: Called with (flats done, at most so many).

    Raises:
        LimitReachedError: There are too many.
    """
    samples, rows = whole_samples(inputs)
    rank, count = len(rows), samples.shape[1]
    most = sum(comb(count, size) for size in range(rank))
    if most > MOST_CHOICES:
        msg = (
            f"faces: up to {most} sets of samples on a boundary, more than {MOST_CHOICES}. Follow "
            "units to propose some instead (sliding_gates)"
        )
        raise LimitReachedError(msg)
    nonzero = np.asarray(samples.any(axis=0))
    start = np.zeros((rank, samples.shape[0]), dtype=np.int64)
    start[range(rank), rows] = 1
    level: dict[tuple[int, ...], np.ndarray] = {(): start}
    done = faces = 0
    while level:
        below: dict[tuple[int, ...], np.ndarray] = {}
        for boundary, basis in level.items():
            seen = product(basis, samples)
            found = Cells(seen, open_only=True).found()
            signs = np.where(seen.any(axis=0), 2 * found.gates.astype(int) - 1, 0)
            signs[:, ~nonzero] = -1
            faces, done = faces + len(signs), done + 1
            if faces > MOST_FACES:
                msg = f"faces: more than {MOST_FACES}. Follow units instead (sliding_gates)"
                raise LimitReachedError(msg)
            yield Flat(boundary=boundary, signs=signs)
            if progress is not None:
                progress(done, max(most, done))
            if len(basis) > 1:
                _extend(below, basis, seen, nonzero)
        level = below


def _extend(
    below: dict[tuple[int, ...], np.ndarray],
    basis: np.ndarray,
    seen: np.ndarray,
    nonzero: np.ndarray,
) -> None:
    """Add the flats with one dimension less that lie in a flat.

    Args:
        below: Flats by their boundary.
        basis: Of the flat.
        seen: Its products with the samples.
        nonzero: Samples that are not zero.
    """
    for n in np.flatnonzero(seen.any(axis=0)):
        inner = restricted(seen[:, n])
        zero = ~product(inner, seen).any(axis=0) & nonzero
        boundary = tuple(np.flatnonzero(zero).tolist())
        if boundary not in below:
            below[boundary] = reduced_rows(product(inner, basis))
