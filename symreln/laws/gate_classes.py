r"""Gates of many units over time, those that a symmetry of the data maps onto each other together.

Initial weights are drawn from a law that no rotation of inputs or outputs changes, so a permutation
of the samples that keeps X\ :sup:`T`\ X and Y\ :sup:`T`\ Y maps what units do onto what they do as
often. A gate is named by colours that such a permutation keeps: each sample starts with whether the
gate is open on it and takes in what it sees of the other samples, a few rounds. Gates of one name
are alike as far as these colours tell; a symmetry never maps gates of different names onto each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.networks.orbits import paired

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Share of the weight, at some look, below which a gate is not listed.
_LISTED = 0.01
#: Share below which a single gate is left out before gates are named.
_SEEN = 1e-5
_ROUNDS = 3
#: Colours are whole numbers of at most so many bits, and of fewer where samples are many: sums of
#: products of two of them over all samples are then exact in float64.
COLOUR_BITS, EXACT_BITS = 20, 53
#: Share of the largest scalar product by which float64 products of samples differ that are one
#: relation, and by more than which others do not follow each other.
_SAME = 1e-9
_MIX = np.uint64(0x9E3779B97F4A7C15)


@record(eq=False)
class GateClass:
    """Gates that are alike.

    Attributes:
        gate: One of them, 0 or 1 a sample: the heaviest.
        alike: How many of them were seen.
        shares: Their share of all units' weight at every look, shape (looks,).
    """

    gate: tuple[int, ...]
    alike: int
    shares: np.ndarray

    @property
    def largest(self) -> float:
        """The largest share over time."""
        return float(self.shares.max())

    def carries(self, steps: np.ndarray) -> tuple[int, int]:
        """Return the first and the last of the looks' steps with half of the largest share."""
        heavy = steps[self.shares >= 0.5 * self.largest]
        return int(heavy[0]), int(heavy[-1])


def sample_relations(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return how samples lie to each other: one whole number a relation, shape (P, P).

    Two pairs of samples have one relation where their scalar products of inputs and of targets
    are the same, up to rounding: products are one where no gap is between them, so that products
    that are equal never differ by the side of a grid's line they are rounded to.
    """
    return paired(*(_without_gaps(data.T @ data) for data in (inputs, targets)))


def _without_gaps(gram: np.ndarray) -> np.ndarray:
    """Number the entries by their size; near ones have one number."""
    values = (gram / (np.abs(gram).max() or 1.0)).ravel()
    order = np.argsort(values, kind="stable")
    found = np.empty(len(values), dtype=np.int64)
    found[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > _SAME)])
    return found.reshape(gram.shape)


def gate_classes(
    histories: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]], relations: np.ndarray
) -> tuple[GateClass, ...]:
    """Sum the weight of units by gate.

    Args:
        histories: One entry a draw: gates, shape (looks, units, P), and weights, shape
            (looks, units).
        relations: Of every two samples, see :func:`sample_relations`.
    """
    looks = len(histories[0][0])
    found: dict[int, _Alike] = {}
    for look in range(looks):
        gates = np.concatenate([gates[look] for gates, _ in histories])
        weights = np.concatenate([weights[look] for _, weights in histories])
        bits, first, place = np.unique(
            np.packbits(gates, axis=1), axis=0, return_index=True, return_inverse=True
        )
        shares = np.bincount(place.ravel(), weights) / weights.sum()
        (seen,) = np.nonzero(shares > _SEEN)
        for row, name in zip(seen, gate_names(gates[first[seen]], relations).tolist(), strict=True):
            found.setdefault(name, _Alike(looks)).add(look, bits[row].tobytes(), shares[row])
    classes = [alike.summed(len(relations)) for alike in found.values()]
    listed = [each for each in classes if each.largest >= _LISTED]
    return tuple(sorted(listed, key=lambda each: (-each.largest, each.gate)))


class _Alike:
    """Gates of one name, as bits, with the largest share of each."""

    def __init__(self, looks: int) -> None:
        self._shares = np.zeros(looks)
        self._largest: dict[bytes, float] = {}

    def add(self, look: int, gate: bytes, share: float) -> None:
        self._shares[look] += share
        self._largest[gate] = max(share, self._largest.get(gate, 0.0))

    def summed(self, samples: int) -> GateClass:
        heaviest = max(self._largest, key=lambda gate: (self._largest[gate], gate))
        gate = np.unpackbits(np.frombuffer(heaviest, np.uint8))[:samples]
        return GateClass(gate=tuple(gate.tolist()), alike=len(self._largest), shares=self._shares)


def gate_names(gates: np.ndarray, relations: np.ndarray) -> np.ndarray:
    """Return a whole number a gate that no symmetry of the samples changes.

    Args:
        gates: Open gates, shape (gates, P).
        relations: Of every two samples, see :func:`sample_relations`.
    """
    bits = _colour_bits(len(relations))
    seen = _mixed(relations.astype(np.uint64), bits).astype(float)
    colours = gates.astype(float)
    for _ in range(_ROUNDS):
        taken = colours @ seen
        colours = _mixed(taken.astype(np.uint64) * np.uint64(2) + gates, bits).astype(float)
    return _mixed(colours.astype(np.uint64), bits).sum(axis=1)


def _colour_bits(samples: int) -> int:
    """Return the bits of a colour with which sums over so many samples are exact in float64."""
    return min(COLOUR_BITS, (EXACT_BITS - samples.bit_length()) // 2)


def _mixed(numbers: np.ndarray, bits: int) -> np.ndarray:
    """Return numbers of so many bits that look unrelated to the given ones."""
    found = (numbers + np.uint64(1)) * _MIX
    found ^= found >> np.uint64(29)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    return (found >> np.uint64(32)) % np.uint64(1 << bits)
