"""What a derivation may take: an estimate, said as a range.

Nobody knows before the work how far the spectrum splits. A look at one point modulo a prime tells
how many singular values differ; the lower end holds where each is rational, the upper one where
one irreducible polynomial has them all. Both are counted in units of a small task that is timed
here and now, so that no machine's speed is written down; the counts' weights were measured once
(``benchmarks/cost.py`` measures again and shows by how much the estimate is off).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from flint import fmpz_mat, nmod_mat

from symreln.exact.integers import PRIME
from symreln.exact.polynomials import evaluation_point
from symreln.networks.effective import effective_dataset

if TYPE_CHECKING:
    from symreln.specs.model import Dataset, PathwaySpec, Spec

#: Seconds that are worth a warning.
_LONG = 5.0

# Weights, in units of the timed task (2 to 4 ms of a present server's core).
_START = 900.0  # imports, documents, figures
_PATHWAY = 180.0  # one pathway in documents and certificate
_ENTRY = 5e-3  # one non-zero entry of the data, for every unlike pathway
_CUBE = 3e-5  # n_x³, for every unlike pathway and pair of monomials
_WORST = 1.3e-3  # distinct eigenvalues to the power below: one irreducible polynomial has them all
_WORST_POWER = 4.0
# Bytes.
_BASE = 170 << 20
_PER_ENTRY = 400
_PER_SQUARE = 64
_PER_CUBE = 24


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a derivation may take.

    Attributes:
        seconds: Lower and upper end.
        memory: Lower and upper end, bytes.
    """

    seconds: tuple[float, float]
    memory: tuple[int, int]

    @property
    def long(self) -> bool:
        """Whether a user should hear of it before: the ends' geometric mean is above _LONG."""
        return self.seconds[0] * self.seconds[1] > _LONG**2


def estimate(spec: Spec, unit: float | None = None) -> Estimate:
    """Return what a derivation may take.

    Args:
        spec: A checked spec.
        unit: Seconds of the timed task; timed here by default.
    """
    unit = time_unit() if unit is None else unit
    alike = {_look(pathway): pathway for pathway in spec.pathways}
    entries = _entries(spec.dataset)
    data = spec.dataset
    monomials = max(1, len(data.inputs.terms), len(data.targets.terms))
    low = _START + _PATHWAY * len(spec.pathways)
    high = low
    memory_low, memory_high = _BASE + _PER_ENTRY * entries, _BASE + _PER_ENTRY * entries
    for look, pathway in alike.items():
        size = len(look[0])
        count = sum(_look(other) == look for other in spec.pathways)
        values = _distinct_values(spec, pathway)
        spread = _spread(spec, values)
        easy = _ENTRY * entries + _CUBE * size**3 * monomials**2
        low += easy
        high += count * (easy + _WORST * values**_WORST_POWER * spread)
        memory_low += _PER_SQUARE * size**2 * monomials
        memory_high += round(_PER_SQUARE * size**2 + _PER_CUBE * size * values**2 * spread) * count
    return Estimate(seconds=(low * unit, high * unit), memory=(memory_low, memory_high))


def _look(pathway: PathwaySpec) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Return what pathways that are images of each other have in common; others may, too."""
    return pathway.inputs, pathway.outputs, len(pathway.open_samples), pathway.stage


def _distinct_values(spec: Spec, pathway: PathwaySpec) -> int:
    """Return how many singular values of a pathway's Sigma^{yx} differ: at one point, modulo p.

    The degree of an irreducible polynomial is at most that. Pathways of later stages are taken with
    the data instead of the residual, which is not known yet.
    """
    sigma = effective_dataset(spec.dataset, pathway, spec.dataset.targets).sigma_yx
    names = sigma.parameters
    point = {name: Fraction(v) for name, v in zip(names, evaluation_point(names), strict=True)}
    try:
        whole = (sigma.T @ sigma).substitute(point).integers()[0]
    except ZeroDivisionError:
        return len(pathway.inputs)
    found = nmod_mat(whole, PRIME).charpoly()
    return int(found.degree() - found.gcd(found.derivative()).degree())


def _spread(spec: Spec, values: int) -> float:
    """Return how many monomials a coefficient of such a polynomial can have.

    Its degree in every parameter is at most its degree times that of M, twice the data's.
    """
    if not spec.parameters:
        return 1.0
    return float(prod(1 + 2 * values * degree for degree in _degrees(spec.dataset)))


def _degrees(dataset: Dataset) -> Iterator[int]:
    """Yield the degree of the data in every parameter that occurs, at least 1."""
    keys = [*dataset.inputs.terms, *dataset.targets.terms]
    for exponents in zip(*keys, strict=True):
        yield max(1, *exponents)


def _entries(dataset: Dataset) -> int:
    """Return how many entries of the data are not zero, a term of every monomial counted."""
    return dataset.inputs.count + dataset.targets.count


def time_unit() -> float:
    """Return the seconds of a small task like the real ones, the quickest of three times."""
    return min(_timed() for _ in range(3))


def _timed() -> float:
    # Processor time: other programs on the machine delay the work and change no number of steps.
    start = time.process_time()
    size = 40
    matrix = fmpz_mat(size, size, [(7919 * i * i + 13) % 1_000_003 for i in range(size * size)])
    for _ in range(3):
        matrix = matrix * matrix
    table: dict[int, int] = {}
    for index, entry in enumerate(matrix.entries()):
        table[index] = int(entry) % 65_537
    assert len(table) == size * size
    return time.process_time() - start
