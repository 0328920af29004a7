r"""Gates that a symmetry of the data maps onto each other: one of each kind, and how many.

A permutation sigma of the samples that keeps :math:`X^T X` (and :math:`R^T R`, where what is asked
depends on targets R) comes from rotations: :math:`QX = X P_\sigma`, :math:`Q'R = R P_\sigma`. So it
maps gates to gates, and singular pairs of :math:`R\,{\rm diag}(g) X^T` to those of the gate moved,
with the same singular value and the same samples open. Signed permutations of inputs are a case.

The group is found by refining colours and following what refinement leaves open; every permutation
is checked against the relations entry by entry. A search that is cut short loses symmetries, never
gains wrong ones.

Pathways are mapped onto each other too. Single units start from a law that no rotation changes, so
such a permutation maps what units do onto what they do as often: a pathway with gate g and one with
the gate moved have the same constants. Of pathways with inputs or outputs of their own the
rotations must map these as well: the permutation then also takes the Gram matrices of one's own
inputs and outputs to those of the other's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from math import prod

import numpy as np

from symreln.base.records import record
from symreln.exact.matrix import ExactMatrix
from symreln.networks.dataset import Dataset
from symreln.networks.pathway import PathwaySpec

#: Branches of one search for a permutation before it is given up.
_BRANCHES = 2000


@record(eq=False)
class SampleGroup:
    """Permutations of the samples that keep given relations.

    Attributes:
        generators: Images of all samples, one array a generator.
        order: Number of permutations.
    """

    generators: tuple[np.ndarray, ...]
    order: int

    @classmethod
    def of(cls, *matrices: ExactMatrix) -> SampleGroup:
        """Return the permutations of samples that keep MᵀM of every matrix, exactly.

        Args:
            matrices: Each with one column a sample; with parameters, the permutations keep MᵀM for
                all their values.
        """
        relations = _by_appearance(_relations_of(*matrices))
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
        return cls(
            generators=tuple(generators),
            order=prod(sizes),
        )


def gate_kinds(
    gates: Iterable[Sequence[int]], group: SampleGroup
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every set of gates that the group maps onto each other once, the first given first."""
    seen: set[tuple[int, ...]] = set()
    for gate in map(tuple, gates):
        if gate not in seen:
            alike = moved_gates(gate, group)
            seen.update(alike)
            yield alike


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


def _sample_map(before: np.ndarray, after: np.ndarray) -> np.ndarray | None:
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
        self._left = 0

    def refined(self, fixed: Sequence[int]) -> np.ndarray:
        """Return the coarsest stable colours that tell the fixed samples from all others."""
        return self._pair(fixed, fixed)[0]

    def find(self, source: Sequence[int], target: Sequence[int]) -> np.ndarray | None:
        """Return a permutation that maps source to target in order, or None."""
        self._left = _BRANCHES
        return self._follow(list(source), list(target))

    def _follow(self, source: list[int], target: list[int]) -> np.ndarray | None:
        self._left -= 1
        if self._left < 0:
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


def _relations_of(*matrices: ExactMatrix) -> np.ndarray:
    """Return how samples lie to each other: one whole number a relation, shape (P, P).

    Two pairs of samples have one number where their products in every matrix are the same, decided
    exactly and for all values of parameters.

    Args:
        matrices: Each with one column a sample.
    """
    return reduce(_paired, (_numbered(matrix.gram) for matrix in matrices))


def _by_appearance(relations: np.ndarray) -> np.ndarray:
    """Return relations numbered as they first occur, on which the order of images rests."""
    _, first, found = np.unique(relations, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[found].reshape(relations.shape)


def _paired(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Number the pairs of two numbers each."""
    both = first * (int(second.max(initial=0)) + 1) + second
    _, found = np.unique(both, return_inverse=True)
    return found.reshape(first.shape)


def _numbered(matrix: ExactMatrix) -> np.ndarray:
    """Number the different entries; they have one denominator, so equal ones have equal terms."""
    found = np.zeros(matrix.shape, dtype=np.int64)
    for part in matrix.terms.values():
        values = part.values.tolist()
        numbers = {value: number for number, value in enumerate(sorted({0, *values}))}
        own = np.full(matrix.shape, numbers[0])
        own[part.rows, part.columns] = [numbers[value] for value in values]
        found = _paired(found, own)
    return found


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


def pathway_orbits(
    dataset: Dataset, pathways: Sequence[PathwaySpec], known: Sequence[int] | None = None
) -> list[int]:
    """Return for every pathway the first of its orbit, by place; itself where it is alone.

    A search that is given up (:data:`_BRANCHES`) leaves a pathway alone.

    Args:
        dataset: X and Y, without parameters.
        pathways: With gates of 0 and 1.
        known: For every pathway one before it that is known to be of its orbit, or itself.
    """
    originals = list(range(len(pathways)) if known is None else known)
    sides = [_sides(pathway) for pathway in pathways]

    @cache
    def data() -> np.ndarray:
        found = np.concatenate([_numbered(dataset.inputs), _numbered(dataset.targets)])
        return found.astype(np.min_scalar_type(found.max(initial=0)))

    @cache
    def seen(place: int) -> list[list[bytes]]:
        return _in_order(dataset, pathways[place], sides[place], data())

    relations: list[np.ndarray] = []
    for place, own in enumerate(sides):
        if originals[place] != place:
            originals[place] = originals[originals[place]]
            continue
        for other in sorted(set(originals[:place])):
            if not np.array_equal(np.sort(sides[other]), np.sort(own)):
                continue
            found = seen(other) == seen(place)
            if not found:
                relations = relations or _pathway_relations(dataset, pathways)
                before, after = relations[other], relations[place]
                found = _counts(before) == _counts(after) and (
                    _sample_map(before, after) is not None
                )
            if found:
                originals[place] = other
                break
    return originals


def _in_order(
    dataset: Dataset, pathway: PathwaySpec, sides: np.ndarray, data: np.ndarray
) -> list[list[bytes]]:
    """Return the rows of the data as they are with samples sorted by a pathway's gate.

    Where two pathways have the same rows, samples moved in their order map one onto the other and
    permute rows. Most symmetries are found so, in the time that it takes to read the data.

    Args:
        dataset: X and Y.
        pathway: Its inputs and outputs are told from the others.
        sides: Of its gate, by sample.
        data: Numbers of the entries of X above those of Y.
    """
    rows = [row.tobytes() for row in np.take(data, np.argsort(sides, kind="stable"), axis=1)]
    places = {*pathway.inputs, *(dataset.n_x + row for row in pathway.outputs)}
    kinds: list[list[bytes]] = [[], [], [], []]
    for place, row in enumerate(rows):
        kinds[2 * (place < dataset.n_x) + (place in places)].append(row)
    return [sorted(kind) for kind in kinds]


def _pathway_relations(dataset: Dataset, pathways: Sequence[PathwaySpec]) -> list[np.ndarray]:
    """Return, for every pathway, how samples lie to each other and to it, shape (P, P).

    Two pairs of samples have one number, over all pathways, where their products are the same, in
    all inputs and outputs and in the pathway's own, and gates are open on the same.
    """
    x, y = dataset.inputs, dataset.targets
    inputs = [x, *(x.select(rows=pathway.inputs) for pathway in pathways)]
    outputs = [y, *(y.select(rows=pathway.outputs) for pathway in pathways)]
    products = [_numbered(ExactMatrix.beside([m.gram for m in ms])) for ms in (inputs, outputs)]
    gates = np.hstack([np.diag(_sides(pathway)) for pathway in pathways])
    found = gates
    for each in products:
        whole, own = np.split(each, [dataset.samples], axis=1)
        found = _paired(_paired(found, np.hstack([whole] * len(pathways))), own)
    return np.split(found, len(pathways), axis=1)


def _sides(pathway: PathwaySpec) -> np.ndarray:
    """Return 0 closed, 1 open, 2 on the boundary, shape (P,)."""
    sides = np.array(pathway.gate, dtype=np.int64)
    sides[list(pathway.boundary)] = 2
    return sides


def _counts(relations: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how often each relation occurs: no map takes relations to others than as many."""
    values, counts = np.unique(relations, return_counts=True)
    return tuple(values.tolist()), tuple(counts.tolist())
