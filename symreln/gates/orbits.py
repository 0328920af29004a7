r"""Gates that a symmetry of the data maps onto each other: one of each kind, and how many.

A permutation sigma of the samples that keeps :math:`X^T X` (and :math:`R^T R`, where what is asked
depends on targets R) comes from rotations: :math:`QX = X P_\sigma`, :math:`Q'R = R P_\sigma`. So it
maps gates to gates, and singular pairs of :math:`R\,{\rm diag}(g) X^T` to those of the gate moved,
with the same singular value and the same samples open. Signed permutations of inputs are a case.

The group is found by refining colours and following what refinement leaves open; every permutation
is checked against the relations entry by entry. A search that is cut short loses symmetries, never
gains wrong ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from symreln.base.summaries import short_repr
from symreln.exact.matrix import ExactMatrix
from symreln.gates.cells import gate_keys
from symreln.gates.enumerate import RealisableGates

#: Branches of one search for a permutation before it is given up.
BRANCHES = 2000


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SampleGroup:
    """Permutations of the samples that keep given relations.

    Attributes:
        samples: P.
        generators: Images of all samples, one array a generator.
        order: Number of permutations.
        complete: Whether no search was given up, so that there are no more.
    """

    samples: int
    generators: tuple[np.ndarray, ...]
    order: int
    complete: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class GateOrbit:
    """Gates that are alike.

    Attributes:
        index: Place of the representative in the list: the first of them.
        size: How many of the listed gates are alike.
    """

    index: int
    size: int


def sample_group(*matrices: ExactMatrix) -> SampleGroup:
    """Return the permutations of samples that keep MᵀM of every matrix, exactly.

    Args:
        matrices: Each with one column a sample; with parameters, the permutations keep MᵀM for
            all their values.
    """
    relations = _relations(matrices)
    search = _Search(relations)
    base: list[int] = []
    sizes: list[int] = []
    generators: list[np.ndarray] = []
    levels: list[tuple[int, np.ndarray]] = []
    while True:
        colours = search.refined(base)
        values, counts = np.unique(colours, return_counts=True)
        if (counts == 1).all():
            break
        cell = np.flatnonzero(colours == values[np.argmax(counts > 1)])
        levels.append((int(cell[0]), cell))
        base.append(int(cell[0]))
    # From the inside out: what fixes more points is known when a level is searched.
    for depth in reversed(range(len(levels))):
        point, cell = levels[depth]
        fixed = base[:depth]
        orbit = _orbit(point, generators)
        for other in cell.tolist():
            if other in orbit:
                continue
            found = search.find([*fixed, point], [*fixed, other])
            if found is not None:
                generators.append(found)
                orbit = _orbit(point, generators)
        sizes.append(len(orbit))
    return SampleGroup(
        samples=len(relations),
        generators=tuple(generators),
        order=prod(sizes),
        complete=not search.cut_short,
    )


def gate_orbits(found: RealisableGates, group: SampleGroup) -> tuple[GateOrbit, ...]:
    """Return one entry for every set of gates that the group maps onto each other.

    Of sampled gates, those that are listed and joined by generators count as alike.
    """
    keys = gate_keys(found.gates)
    order = np.argsort(keys)
    ordered = keys[order]
    sources, targets = [np.arange(len(keys))], [np.arange(len(keys))]
    for images in group.generators:
        moved = np.empty_like(found.gates)
        moved[:, images] = found.gates
        wanted = gate_keys(moved)
        places = np.minimum(np.searchsorted(ordered, wanted), len(keys) - 1)
        known = ordered[places] == wanted
        if not found.sampled and not known.all():
            msg = "a symmetry maps a gate to one that is not listed"
            raise ArithmeticError(msg)
        sources.append(np.flatnonzero(known))
        targets.append(order[places[known]])
    links = np.concatenate(sources), np.concatenate(targets)
    graph = coo_array((np.ones(len(links[0]), dtype=bool), links), shape=(len(keys), len(keys)))
    _, labels = connected_components(graph, directed=False)
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    return tuple(
        GateOrbit(index=int(index), size=int(size))
        for index, size in sorted(zip(first, counts, strict=True))
    )


def moved_gates(gate: Sequence[int], group: SampleGroup) -> tuple[tuple[int, ...], ...]:
    """Return all images of a gate, itself first."""
    start = tuple(int(value) for value in gate)
    images, queue = {start: None}, [start]
    while queue:
        current = np.array(queue.pop())
        for generator in group.generators:
            new = np.empty_like(current)
            new[generator] = current
            image = tuple(int(v) for v in new)
            if image not in images:
                images[image] = None
                queue.append(image)
    return tuple(images)


def sample_map(before: np.ndarray, after: np.ndarray) -> np.ndarray | None:
    """Return images of all samples that take one matrix of relations to another, or None.

    Args:
        before: A whole number for every pair of samples, not negative, shape (P, P).
        after: The same; samples i, j go to images with ``after[images[i], images[j]]`` equal to
            ``before[i, j]``. None is also returned where the search is given up.
    """
    return _Search(before, after).find([], [])


class _Search:
    """Looks for permutations that keep a matrix of relations, or take it to another one."""

    def __init__(self, relations: np.ndarray, after: np.ndarray | None = None) -> None:
        self._relations = relations
        self._after = relations if after is None else after
        self._kinds = int(max(relations.max(initial=0), self._after.max(initial=0))) + 1
        self.cut_short = False
        self._left = 0

    def refined(self, fixed: Sequence[int]) -> np.ndarray:
        """Return the coarsest stable colours that tell the fixed samples from all others."""
        return self._pair(fixed, fixed)[0]

    def find(self, source: Sequence[int], target: Sequence[int]) -> np.ndarray | None:
        """Return a permutation that maps source to target in order, or None."""
        self._left = BRANCHES
        return self._follow(list(source), list(target))

    def _follow(self, source: list[int], target: list[int]) -> np.ndarray | None:
        self._left -= 1
        if self._left < 0:
            self.cut_short = True
            return None
        before, after = self._pair(source, target)
        if not np.array_equal(np.sort(before), np.sort(after)):
            return None
        values, counts = np.unique(before, return_counts=True)
        if (counts == 1).all():
            images = np.empty(len(before), dtype=np.int64)
            images[np.argsort(before)] = np.argsort(after)
            kept = self._after[np.ix_(images, images)]
            return images if np.array_equal(kept, self._relations) else None
        colour = values[np.argmax(counts > 1)]
        point = int(np.flatnonzero(before == colour)[0])
        for other in np.flatnonzero(after == colour).tolist():
            found = self._follow([*source, point], [*target, other])
            if found is not None:
                return found
        return None

    def _pair(self, source: Sequence[int], target: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return stable colours for both sequences, named alike."""
        size = len(self._relations)
        colours = np.zeros(2 * size, dtype=np.int64)
        for place, (a, b) in enumerate(zip(source, target, strict=True), start=1):
            colours[a] = colours[size + b] = place
        known = -1
        while True:
            rows = []
            halves = (colours[:size], self._relations), (colours[size:], self._after)
            for half, relations in halves:
                seen = np.sort(half[None] * self._kinds + relations, axis=1)
                own = np.diagonal(relations)
                rows.append(np.column_stack([half, own, seen]))
            _, colours = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
            colours = colours.ravel()
            count = int(colours.max()) + 1
            if count == known:
                return colours[:size], colours[size:]
            known = count


def _relations(matrices: Sequence[ExactMatrix]) -> np.ndarray:
    """Return one whole number for every pair of samples: the same where all products are."""
    names: dict[tuple, int] = {}
    grams = [matrix.gram().reduced() for matrix in matrices]
    size = grams[0].shape[0]
    tables = [_texts(gram) for gram in grams]
    return np.array(
        [
            [names.setdefault(tuple(t[i][j] for t in tables), len(names)) for j in range(size)]
            for i in range(size)
        ],
        dtype=np.int64,
    )


def _texts(gram: ExactMatrix) -> list[list[object]]:
    """Return entries as values that are equal exactly where the entries are."""
    if gram.is_constant:
        whole, _ = gram.integers()
        return [[int(v) for v in row] for row in whole.tolist()]
    return [[str(entry) for entry in row] for row in gram.rows()]


def _orbit(point: int, generators: Sequence[np.ndarray]) -> set[int]:
    seen, queue = {point}, [point]
    while queue:
        current = queue.pop()
        for images in generators:
            image = int(images[current])
            if image not in seen:
                seen.add(image)
                queue.append(image)
    return seen
