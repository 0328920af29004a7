r"""Where coupled modes end when couplings are singular: a line of equilibria, and which point.

In the notation of :mod:`symreln.laws.competition`, let A = W F be symmetric and positive
semidefinite, and L bounded from below, so that w·n = 0 wherever A n = 0.

*The equilibria of least loss.* A phi is the same at all minima of L over phi >= 0, for L is convex,
and so are all delta_a. They are the polytope P = {phi >= 0, F phi = F phi*, phi_a = 0 where
delta_a < 0}. Let S be the modes that are positive somewhere on P; then somewhere on P all are. Its
inner points are phi* + N x with N a basis of the n with F n = 0 that vanish outside S.

*The flow ends at one of them.* Goh's V with any phi* of P has

.. math:: \tau \dot V = -2 (\varphi-\varphi^*)^T A (\varphi-\varphi^*)
   + 2 \sum_a w_a \varphi_a \delta_a(\varphi^*) \le 0,

so phi stays bounded and its limit points lie in P; for V with an inner point is finite on them,
they are inner points. V with a limit point in place of phi* has its one minimum there, falls, and
comes as near to it as one likes along a sequence of times: so phi converges.

*Which one.* For these n, c = W n has cᵀF = 0 and Σ c = w·n = 0, so that
:math:`\sum_a (c_a/s_a) \ln \varphi_a` is conserved: with the strengths' directions
:math:`\nu_a = s_a n_a`, the sum :math:`\sum_a m_a \nu_a \ln \pi_a`. The conserved sums
leave one point: they are the stationarity of the strictly convex
:math:`\sum_a (w_a/s_a)(\varphi_a \ln(\varphi_a/\varphi_a(0)) - \varphi_a)` over S in P.

*Orbits.* Modes of equal s whose rows and columns of F agree have equal delta, so their ratios never
change, and their sum obeys the system in which it is one mode: they share its end by their starts.

Source: Goh's function (1977) for Lotka-Volterra systems; the projection is Birch's theorem.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from symreln.exact.enclosure import ball, precision
from symreln.exact.linear_programming import Direction, direction, fractions
from symreln.exact.scalar import Scalar
from symreln.laws.competition import Competition, null_space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Values = Mapping[str, Fraction]
    Vector = tuple[Fraction, ...]

#: Modes up to which every support is tried where the guess from floats is none.
_MOST_TRIED = 8
#: Sweeps of the descent in floats that guesses which modes stay.
_SWEEPS = 4000
#: Bits to which the point of a line is found.
BITS = 160


@dataclass(frozen=True, kw_only=True, eq=False)
class RestingLine:
    """The equilibria of least loss, in units phi = pi/s, at the declared values.

    Attributes:
        point: An inner one, positive exactly on the support.
        directions: A basis N of what can be added inside; not empty unless the end is unique.
        drives: delta of every mode, the same at all of them; not positive, zero on the support.
    """

    point: Vector
    directions: tuple[Vector, ...]
    drives: Vector

    @property
    def support(self) -> tuple[bool, ...]:
        """Which modes stay."""
        return tuple(value > 0 for value in self.point)

    @property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """Between which x the only direction may be gone; None where there is no end."""
        (along,) = self.directions
        stops = [(-p / n, n > 0) for p, n in zip(self.point, along, strict=True) if n]
        low = [x for x, below in stops if below]
        high = [x for x, below in stops if not below]
        return max(low, default=None), min(high, default=None)


def groups_alike(system: Competition) -> tuple[tuple[int, ...], ...]:
    """Return the classes, those together whose modes act and are acted on alike."""
    found: list[list[int]] = []
    blocks = [system.block(p) for p in range(len(system.classes))]
    for p, one in enumerate(system.classes):
        for group in found:
            other = system.classes[group[0]]
            same = one.minpoly == other.minpoly and one.eigenvalue == other.eigenvalue
            if same and one.multiplicity == other.multiplicity and blocks[p] == blocks[group[0]]:
                group.append(p)
                break
        else:
            found.append([p])
    return tuple(tuple(group) for group in found)


def totals(system: Competition, groups: Sequence[Sequence[int]]) -> Competition:
    """Return the competition in which the sum over each group is one mode."""
    firsts = [group[0] for group in groups]
    return Competition(
        classes=tuple(system.classes[p] for p in firsts),
        factors={
            (a, b): system.factors[p, q]
            for a, p in enumerate(firsts)
            for b, q in enumerate(firsts)
            if (p, q) in system.factors
        },
    )


def resting_line(system: Competition, values: Values) -> RestingLine | None:
    """Return the equilibria of least loss of a system whose form is symmetric and semidefinite.

    Args:
        system: All of its modes have a rational s².
        values: The parameters' values.

    Returns:
        None where which modes stay was not found, L is not bounded from below, or a mode vanishes
        at these values.
    """
    weights = [_at(system.weights[a][a], values) for a in range(len(system.matrix))]
    if not all(weights):  # s = 0 of a mode, by which F divides
        return None
    matrix = [[_at(entry, values) for entry in row] for row in system.matrix]
    form = [[w * entry for entry in row] for w, row in zip(weights, matrix, strict=True)]
    if not is_semidefinite(form) or any(
        sum(w * n for w, n in zip(weights, row, strict=True)) for row in _kernel(matrix)
    ):
        return None
    for guess in _guesses(form, weights):
        found = _minimum(matrix, guess, positive=())
        if found is not None:
            return _inner(matrix, found)
    return None


def is_semidefinite(rows: Sequence[Sequence[Fraction]]) -> bool:
    """Return whether a symmetric matrix is positive semidefinite, by its pivots."""
    work = [list(row) for row in rows]
    for k, pivot in enumerate(work):
        if pivot[k] < 0 or (pivot[k] == 0 and any(row[k] for row in work[k + 1 :])):
            return False
        for row in work[k + 1 :]:
            if row[k]:
                ratio = row[k] / pivot[k]
                row[:] = [a - ratio * b for a, b in zip(row, pivot, strict=True)]
    return True


def _at(entry: Scalar, values: Values) -> Fraction:
    return entry.substitute(values).to_fraction()


def _kernel(rows: Sequence[Sequence[Fraction]]) -> list[Vector]:
    found = null_space([[Scalar.of(entry) for entry in row] for row in rows])
    return [tuple(entry.to_fraction() for entry in vector) for vector in found]


def _guesses(form: list[list[Fraction]], weights: list[Fraction]) -> Iterator[tuple[bool, ...]]:
    """Yield supports to try: what a descent in floats comes to, then all of few."""
    # In units of the largest, so that numbers of any size have floats; those lost only guide less.
    unit, most = (max(map(abs, row)) for row in (chain.from_iterable(form), weights))
    a = np.array([[entry / unit for entry in row] for row in form], dtype=float)
    w = np.array([weight / most for weight in weights], dtype=float)
    phi = np.zeros(len(w))
    for _ in range(_SWEEPS):
        for k in np.flatnonzero(a.diagonal()):
            phi[k] = max(0.0, phi[k] + (w[k] - a[k] @ phi) / a[k, k])
    yield tuple((phi > 1e-9 * phi.max()).tolist())
    if len(w) <= _MOST_TRIED:
        yield from product((True, False), repeat=len(w))


def _minimum(
    matrix: list[list[Fraction]], inside: Sequence[bool], positive: Sequence[int]
) -> Vector | None:
    """Return a minimum of the loss that vanishes outside, or None, by exact linear programming.

    Args:
        matrix: F.
        inside: Modes that may be there; their drives vanish.
        positive: Those of them that have to be there.
    """
    size = len(matrix)
    places = [a for a in range(size) if inside[a]]
    # Unknowns: phi inside, and a positive scale z with F phi = z inside and F phi >= z outside.
    unit = [[int(i == k) for i in range(len(places) + 1)] for k in range(len(places) + 1)]
    strict = [unit[-1], *(unit[places.index(a)] for a in positive)]
    weak = [[-x for x in row] for row in unit[:-1]]
    for a in range(size):
        drive = [*(-matrix[a][b] for b in places), Fraction(1)]
        weak += [drive, [-x for x in drive]] if inside[a] else [drive]
    found = direction(strict, weak, len(places) + 1)
    if not isinstance(found, Direction):
        return None
    *phi, scale = fractions(found.vector)
    point = [Fraction(0)] * size
    for a, value in zip(places, phi, strict=True):
        point[a] = value / scale
    return tuple(point)


def _inner(matrix: list[list[Fraction]], point: Vector) -> RestingLine:
    """Return the line of a minimum: modes are added as long as another minimum has them."""
    products = ([f * x for f, x in zip(row, point, strict=True)] for row in matrix)
    drives = tuple(1 - sum(row, start=Fraction(0)) for row in products)
    free = tuple(drive == 0 for drive in drives)
    for a in range(len(matrix)):
        if free[a] and not point[a]:
            other = _minimum(matrix, free, positive=(a,))
            if other is not None:
                point = tuple((x + y) / 2 for x, y in zip(point, other, strict=True))
    places = [a for a in range(len(matrix)) if point[a]]
    found = []
    for vector in _kernel([[row[a] for a in places] for row in matrix]):
        full = [Fraction(0)] * len(matrix)
        for a, value in zip(places, vector, strict=True):
            full[a] = value
        found.append(tuple(full))
    return RestingLine(point=point, directions=tuple(found), drives=drives)


def place_on_line(
    line: RestingLine, sizes: Sequence[arb], weights: Sequence[Fraction], start: Sequence[arb]
) -> arb:
    """Return x of the point at which the flow ends, for a line with one direction; certified.

    The conserved sum rises with x, from −∞ to ∞ between the ends of the line: it is halved.

    Args:
        line: With one direction.
        sizes: s of every mode.
        weights: m s² of every mode.
        start: pi(0) of every mode, positive.
    """
    (along,) = line.directions
    low, high = line.ends
    assert low is not None  # w·n = 0 with w > 0: entries of both signs
    assert high is not None
    with precision(BITS):

        def total(x: Fraction) -> arb:
            parts = [
                ball(w * n) / s * (s * ball(p + x * n) / begun).log()
                for w, n, s, p, begun in zip(weights, along, sizes, line.point, start, strict=True)
                if n
            ]
            return sum(parts, start=arb(0))

        for _ in range(BITS // 2):
            middle = (low + high) / 2
            sign = total(middle)
            if sign > 0:
                high = middle
            elif sign < 0:
                low = middle
            else:
                break
        return ball((low + high) / 2) + arb(0, (ball(high - low) / 2).upper())
