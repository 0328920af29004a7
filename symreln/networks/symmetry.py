r"""Symmetries of a spec: what is alike is derived once.

A symmetry permutes inputs (pi), outputs (rho) and samples (sigma) so that X, Y and the set of
pathways of every stage (gates, masks) are mapped onto themselves:
:math:`X_{\pi(i)\sigma(\mu)} = X_{i\mu}`, :math:`Y_{\rho(k)\sigma(\mu)} = Y_{k\mu}`, and the
pathway with gate g and masks I, O goes to one of the same stage with
:math:`g'_{\sigma(\mu)} = g_\mu`, I' = pi(I), O' = rho(O). Then what a converged stage leaves is
mapped onto itself too (its outputs are unique), and so is everything that is defined by them:
correlations, joint eigenspaces, couplings and their sums.

Candidates come from colours that a permutation must keep (sums of hashes over the entries, a few
rounds), members of one colour in their order. A candidate counts only after the equations above
have been checked entry by entry, so a hash that collides, or an order that does not fit, loses a
symmetry and nothing else.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.exact.matrix import ExactMatrix
    from symreln.networks.dataset import Dataset
    from symreln.networks.pathway import PathwaySpec

ROUNDS = 3
#: What stands for a gate on a boundary sample, which a symmetry maps to boundary samples.
_ON_BOUNDARY = -1
# The constants of splitmix64's finaliser.
_STEP, _FIRST, _SECOND = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_SHIFTS = tuple(np.uint64(shift) for shift in (30, 27, 31))
#: Of a value, what is hashed.
_BITS = 2**63 - 1


@record(eq=False)
class Symmetry:
    """Permutations that map a spec onto itself, proven.

    Attributes:
        inputs: Image of every input, shape (n_x,).
        outputs: Image of every output, shape (n_y,).
        samples: Image of every sample, shape (P,).
        pathways: Image of every pathway, by place in the list that was searched.
    """

    inputs: np.ndarray
    outputs: np.ndarray
    samples: np.ndarray
    pathways: tuple[int, ...]


class SymmetrySearch:
    """Looks for symmetries that map given pathways to given ones.

    Args:
        dataset: X and Y.
        pathways: All pathways of the spec.
        stages: The stage in which each of them learns.
    """

    def __init__(
        self, dataset: Dataset, pathways: Sequence[PathwaySpec], stages: Sequence[int]
    ) -> None:
        self._x, self._y = dataset.inputs, dataset.targets
        self._samples = dataset.samples
        kinds: dict[object, int] = {0: 0, 1: 1}
        self._gates = [_gate_kinds(pathway, kinds) for pathway in pathways]
        self._masks = [
            (_mask(p.inputs, self._x.shape[0]), _mask(p.outputs, self._y.shape[0]))
            for p in pathways
        ]
        self._stages = list(stages)
        self._colours, self._sought = cache(self._found_colours), cache(self._found)
        still = [np.arange(size) for size in (self._x.shape[0], self._y.shape[0], self._samples)]
        self._keys = [self._key(p, still) for p in range(len(pathways))]

    def _key(self, p: int, images: Sequence[np.ndarray]) -> tuple[object, ...]:
        """Return what tells a pathway from others once inputs, outputs and samples are moved."""
        own = zip((*self._masks[p], self._gates[p]), images, strict=True)
        return (self._stages[p], *(_moved(values, image).tobytes() for values, image in own))

    @cached_property
    def _entries(self) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], ...]:
        """(rows, samples, hash of the value) of the entries of X and of Y, monomial by monomial."""
        return _hashed(self._x), _hashed(self._y)

    @cached_property
    def _anyhow(self) -> np.ndarray:
        """A colour of every sample that all symmetries keep: its gates, stage by stage."""
        total = np.zeros(self._samples, dtype=np.uint64)
        for stage, gate in zip(self._stages, self._gates, strict=True):
            total += _mixed(gate.astype(np.uint64) + np.uint64(7919 * stage))
        return total

    def _found_colours(self, fixed: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return colours of inputs, outputs and samples that depend on the given pathways."""
        samples = self._anyhow.copy()
        inputs = np.zeros(self._x.shape[0], dtype=np.uint64)
        outputs = np.zeros(self._y.shape[0], dtype=np.uint64)
        for place, p in enumerate(fixed):
            own = self._gates[p].astype(np.uint64)
            samples = _mixed(samples + _mixed(own + np.uint64(place)))
            inputs = _mixed(inputs + self._masks[p][0])
            outputs = _mixed(outputs + self._masks[p][1])
        for _ in range(ROUNDS):
            found = [own.copy() for own in (inputs, outputs)]
            for own, entries in zip(found, self._entries, strict=True):
                for rows, at, values in entries:
                    _add_hashes(own, rows, values, samples[at])
            inputs, outputs = map(_mixed, found)
            for own, entries in zip((inputs, outputs), self._entries, strict=True):
                for rows, at, values in entries:
                    _add_hashes(samples, at, values, own[rows])
                samples = _mixed(samples)
        return inputs, outputs, samples

    def meet(self, p: int, j: int) -> bool:
        """Whether the gates of two pathways are ever open together."""
        return bool(np.any((self._gates[p] != 0) & (self._gates[j] != 0)))

    def find(self, source: Sequence[int], target: Sequence[int]) -> Symmetry | None:
        """Return a symmetry that maps the source pathways to the target ones in order, or None."""
        return self._sought((*source,), (*target,))

    def _found(self, source: tuple[int, ...], target: tuple[int, ...]) -> Symmetry | None:
        before, after = self._colours(source), self._colours(target)
        found = [_aligned(a, b) for a, b in zip(before, after, strict=True)]
        images = [each for each in found if each is not None]
        pathways = self._images(images, source, target) if len(images) == len(found) else None
        if pathways is None or not (
            _maps(self._x, images[0], images[2]) and _maps(self._y, images[1], images[2])
        ):
            return None
        inputs, outputs, samples = images
        return Symmetry(inputs=inputs, outputs=outputs, samples=samples, pathways=pathways)

    def _images(
        self, moved: Sequence[np.ndarray], source: Sequence[int], target: Sequence[int]
    ) -> tuple[int, ...] | None:
        """Return where every pathway goes, one to one within the stages, or None."""
        left: dict[tuple, list[int]] = {}
        for place, key in enumerate(self._keys):
            left.setdefault(key, []).append(place)
        images: dict[int, int] = {}
        wanted = dict(zip(source, target, strict=True))
        for p in dict.fromkeys([*wanted, *range(len(self._keys))]):
            open_places = left.get(self._key(p, moved), [])
            image = wanted.get(p, open_places[0] if open_places else -1)
            if image not in open_places:
                return None
            open_places.remove(image)
            images[p] = image
        return tuple(images[p] for p in range(len(images)))


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return well-mixed words of uint64 words."""
    words = values + _STEP
    words = (words ^ (words >> _SHIFTS[0])) * _FIRST
    words = (words ^ (words >> _SHIFTS[1])) * _SECOND
    return words ^ (words >> _SHIFTS[2])


def _add_hashes(
    total: np.ndarray, places: np.ndarray, values: np.ndarray, colours: np.ndarray
) -> None:
    """Add, for every place, hashes of (value, colour) over its entries."""
    np.add.at(total, places, _mixed(values + colours * np.uint64(3)))


def _hashed(matrix: ExactMatrix) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    found = []
    for place, part in enumerate(matrix.terms.values()):
        words = (part.values & _BITS).astype(np.uint64)  # also of integers beyond 64 bits
        found.append((part.rows, part.columns, _mixed(words + np.uint64(104729 * place))))
    return found


def _gate_kinds(pathway: PathwaySpec, kinds: dict[object, int]) -> np.ndarray:
    gate = pathway.gate
    if pathway.has_gains:
        gate = [kinds.setdefault(value, len(kinds)) for value in gate]
    found = np.array(gate, dtype=np.int64)
    found[list(pathway.boundary)] = _ON_BOUNDARY
    return found


def _mask(indices: Sequence[int], size: int) -> np.ndarray:
    return np.isin(np.arange(size), indices).astype(np.uint64)


def _moved(values: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return the array with values[i] at images[i]."""
    result = np.empty_like(values)
    result[images] = values
    return result


def _aligned(before: np.ndarray, after: np.ndarray) -> np.ndarray | None:
    """Return the permutation that keeps colours, equal ones in their order, or None."""
    order, others = np.argsort(before, kind="stable"), np.argsort(after, kind="stable")
    if not np.array_equal(before[order], after[others]):
        return None
    return _moved(others, order)


def _maps(matrix: ExactMatrix, rows: np.ndarray, columns: np.ndarray) -> bool:
    """Whether moving rows and columns gives the same matrix again, entry by entry."""
    for part in matrix.terms.values():
        places = rows[part.rows] * matrix.shape[1] + columns[part.columns]
        order = np.argsort(places)
        if not np.array_equal(places[order], part.rows * matrix.shape[1] + part.columns):
            return False
        if not np.array_equal(part.values[order], part.values):
            return False
    return True
