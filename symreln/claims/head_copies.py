r"""Copies of driven modes: which of them start alike, and what modes take of one another's units.

With q = (v, u)/√2 a mode that were alone would have grown by 1 + s/τ a step; its strength is, from
the last half-time :math:`t_m` on, that of one that started from

.. math:: \tilde\pi_0 = \pi_0\, (1 + s/\tau)^{-2 t_m}\, q^T \Phi \Phi^T q.

Copies of a mode have a matrix :math:`Q^T \Phi \Phi^T Q` in the place of the number; its
eigenvectors are the copies that evolve apart.

What earlier modes drive may turn modes of a pathway into each other: then their columns
:math:`b = (1 + s/\tau)^{-t_m} \Phi^T q`, which say how hidden units are shared out, are not
orthogonal. Once a mode is learned, what another has along its column dies out: the units are taken.
The mode grows from what it has across the columns of all modes that are learned before,

.. math:: \tilde\pi_0 = \pi_0\, |b_\perp|^2,

the pivots of the Gram matrix of all columns, in the order of their half-times; where these are
orthogonal it is the formula above. It is the limit of far apart half-times of the solution of two
balanced layers, white inputs, for the matrix P of a pathway's strengths,
:math:`P^{-1} = H^{-1} + e^{-St} (P_0^{-1} - H^{-1}) e^{-St}`, S and H diagonal.

All this is of weights that are small until :math:`t_m`: a mode whose own half-time would come
before has learned what earlier ones are yet to learn, and no formula says what becomes of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import ceil, inf, log2
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx

from symreln.base.records import record
from symreln.claims.number_systems import ALIKE, Matrix, Numbers, floats
from symreln.errors import LimitReachedError
from symreln.laws.ops import ARB

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symreln.laws.law import Law

#: Share of the plateau from which on weights are not small: a mode is learned at its half-time, as
#: an earlier one counts until its own.
LATE = 0.5
#: Share of a mode's columns, squared, of which float64 knows nothing: (1e-12)², its rounding of
#: 1e-16 times sums of up to 1e4 terms.
_OWN = 1e-24

#: Why a mode that earlier ones drive has no closed form.
ABOVE = "the mode starts above half of its plateau"
OUTRUN = "the mode is learned before what drives it meanwhile"
SHARES = "the mode shares hidden units with one that has no closed form"
TAKES = "the mode takes over hidden units of one that is learned before it"


@record(eq=False)
class Copies:
    """Copies of a mode that start alike.

    Attributes:
        law: Their law, from where they start in effect, in gradient descent's steps.
        start: The strength that their initial weights make up.
        count: How many they are.
        directions: Their directions among the mode's copies, orthonormal columns of the number
            system, shape (copies of the mode, count), of
            :func:`symreln.claims.probes.probe_bases`; None where all start alike.
        reached_by: (label of an earlier mode, its half-time) of every mode that drives them.
        learned: The share of the plateau that they have when the last of these is learned, what
            other modes of the pathway take of it later included; None where none drives them.
        shared: Whether modes of the pathway that are learned before do take something of it.
        at_once: Where they would start in effect if what drives them were learned at once, at its
            half-time; None where no formula says what a sigmoid makes of it.
    """

    law: Law
    start: Any
    count: int
    directions: Matrix | None = None
    reached_by: tuple[tuple[str, Any], ...] = ()
    learned: Any = None
    shared: bool = False
    at_once: Any = None

    @property
    def turn(self) -> np.ndarray | None:
        """Their directions in float64."""
        return None if self.directions is None else floats(self.directions)


@record(eq=False)
class Columns:
    """What a mode has grown into until the last of what drives it is learned.

    Attributes:
        numbers: The number system.
        label: Symbol of its strength.
        plain: Its copies, were they not driven.
        starting: Returns its law where it starts so many times as strong.
        reached_by: (label, half-time) of the earlier modes that drive it.
        last: The end of the last phase.
        whole: Amplitudes of inputs and outputs that grow into every copy, over what the mode alone
            would have made of them; one column a copy.
        growing: Of these what is across the columns of modes that are learned before.
    """

    numbers: Numbers
    label: str
    plain: Copies
    starting: Callable[[Any], Law]
    reached_by: tuple[tuple[str, Any], ...]
    last: Any
    whole: Matrix
    growing: Matrix

    @cached_property
    def in_floats(self) -> np.ndarray:
        """What is across the columns of modes learned before, in float64."""
        return floats(self.growing)

    def copies(self) -> tuple[Copies, ...]:
        """Return the copies of the mode that start from its columns, those that do alike together.

        Raises:
            LimitReachedError: Balls of this precision do not tell copies apart.
        """
        shared, found = self.growing is not self.whole, []
        for directions, factor, count in _apart(self.numbers, _gram(self.numbers, self.growing)):
            # Of all that grows, what other modes take of it later included.
            grown = self.whole if directions is None else self.numbers.times(self.whole, directions)
            gram = self.numbers.entries(_gram(self.numbers, grown))
            before = self.starting(np.trace(gram) / len(gram))
            found.append(
                replace(
                    self.plain,
                    law=self.starting(factor),
                    count=count,
                    directions=directions,
                    reached_by=self.reached_by,
                    learned=self.numbers.ops.over(before.strength(self.last), before.plateau),
                    shared=shared,
                )
            )
        return tuple(found)


def shared_out(columns: Sequence[Columns]) -> dict[str, tuple[Copies, ...] | str]:
    """Return the copies of modes that are driven, or why there are none, by label.

    None of a mode that is learned before what drives it is, nor of one that shares units with
    such a mode.
    """
    found: dict[str, tuple[Copies, ...] | str] = {}
    left = [(each, each.copies()) for each in columns]
    late = {each.label: OUTRUN for each, copies in left if not all(map(in_time, copies))}
    while left:
        # What cannot be followed first, then in the order in which they are learned.
        left.sort(key=lambda one: 0.0 if one[0].label in late else _half_time(one[1]))
        (first, copies), *rest = left
        lost = first.label in late
        found[first.label] = late[first.label] if lost else copies
        left = []
        for each, others in rest:
            across = _across(each, first, copies)
            if across is None:
                left.append((each, others))
                continue
            if lost or not _follows(each, across, copies[0].law):
                late.setdefault(each.label, SHARES if lost else TAKES)
            moved = replace(each, growing=across)
            left.append((moved, others if each.label in late else moved.copies()))
    return found


def _across(columns: Columns, first: Columns, copies: Sequence[Copies]) -> Matrix | None:
    """Return what a mode has across the columns of one that is learned; None for all of it."""
    times, solve = columns.numbers.times, columns.numbers.solve
    if _orthogonal(columns.in_floats, first.in_floats):
        return None
    taken = [
        first.growing if each.directions is None else times(first.growing, each.directions)
        for each in copies
    ]
    across = columns.growing
    for _ in range(2):  # again: the first time leaves what rounding leaves
        for each in taken:
            back = each.transpose()
            across = across - times(each, solve(times(back, each), times(back, across)))
    return across


def _gram(numbers: Numbers, columns: Matrix) -> Matrix:
    """Return how many times |a + b|² of the copies is what it would have been."""
    return numbers.times(columns.transpose(), columns) * 0.5


def in_time(copies: Copies) -> bool:
    """Whether copies are small while they are driven: learned after what drives them."""
    if copies.learned < LATE:
        return True
    if isinstance(copies.learned, arb) and not copies.learned >= LATE:
        msg = "head start: balls of this precision do not tell which mode is learned first"
        raise LimitReachedError(msg)
    return False


def _half_time(copies: Sequence[Copies]) -> float:
    """Return when the first copies are half learned, of a mode that is learned in time."""
    return min(float(each.law.half_time) for each in copies)


def _follows(columns: Columns, across: Matrix, first: Law) -> bool:
    """Whether a mode grows from what it has across the columns of one that is learned before.

    Along these it dies out where s²/d, what a unit takes off the loss, is larger for the one
    before; else it takes the units over.
    """
    law = columns.plain.law
    own, left = (np.square(floats(each)).sum(axis=0) for each in (columns.whole, across))
    ahead = bool(first.s * first.s * law.d > law.s * law.s * first.d)
    return ahead and bool((left > _OWN * own).all())


def _orthogonal(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether columns are orthogonal to others, up to rounding."""
    norms = np.outer(np.linalg.norm(one, axis=0), np.linalg.norm(other, axis=0))
    return bool((np.abs(one.T @ other) <= ALIKE * norms).all())


def _apart(numbers: Numbers, gram: Matrix) -> list[tuple[Matrix | None, Any, int]]:
    """Return (directions, eigenvalue, count) of the copies that start alike; None: of all.

    Float64 decides which of them do.
    """
    values, vectors = np.linalg.eigh(floats(gram))
    edges = np.flatnonzero(np.diff(values) > ALIKE * values[-1]) + 1
    groups = np.split(np.arange(len(values)), edges)
    turn = numbers.given(np.eye(len(values)) if len(groups) == 1 else vectors)
    if numbers.ops is ARB:
        turn, means = _enclosed(numbers, gram, turn, groups)
    else:
        means = _levels(turn.T @ gram @ turn, groups)
    if len(groups) == 1:
        return [(None, means[0], len(values))]
    turn = numbers.entries(turn)
    return [
        (numbers.given(turn[:, each]), mean, len(each))
        for each, mean in zip(groups, means, strict=True)
    ]


def _levels(entries: np.ndarray, groups: Sequence[np.ndarray]) -> list[Any]:
    """Return the mean of a matrix's diagonal over every group of its rows."""
    return [np.trace(entries[np.ix_(each, each)]) / len(each) for each in groups]


def _enclosed(
    numbers: Numbers, gram: Matrix, turn: Matrix, groups: Sequence[np.ndarray]
) -> tuple[Matrix, list[Any]]:
    """Return balls of eigenvectors, up to a turn among a group, and of a group's eigenvalues.

    By how far the matrix is from diagonal and constant in every group: Weyl for eigenvalues, the
    sine theorem of Davis and Kahan for their vectors.

    Args:
        numbers: The number system.
        gram: A symmetric matrix.
        turn: Its eigenvectors in float64, by rising eigenvalue.
        groups: Numbers of eigenvectors that float64 takes to have one eigenvalue.

    Raises:
        LimitReachedError: Balls of this precision do not tell groups apart.
    """
    times, norm, one = numbers.times, numbers.norm, numbers.given(np.eye(len(turn.tolist())))
    if len(groups) > 1:
        turn = _refined(numbers, gram, turn, groups)
    turned = times(turn.transpose(), times(gram, turn))
    means, levels = _levels(numbers.entries(turned), groups), one * 1
    for each, mean in zip(groups, means, strict=True):
        for place in map(int, each):
            levels[place, place] = mean
    # A turn that is orthonormal up to this changes no eigenvalue by more than three times as much.
    askew = norm(times(turn.transpose(), turn) - one)
    unknown = norm(turned - levels) + 3 * askew * norm(gram)
    gap = min((float(next_ - mean) for mean, next_ in pairwise(means)), default=inf) - 2 * unknown
    if not gap > 0:
        msg = "head start: balls of this precision do not tell copies of a mode apart"
        raise LimitReachedError(msg)
    # An orthonormal basis of the space is at most √2 times the sine away.
    turn = numbers.around(turn, 2 * unknown / gap + askew)
    return turn, [numbers.around(mean, unknown) for mean in means]


def _refined(numbers: Numbers, gram: Matrix, turn: Matrix, groups: Sequence[np.ndarray]) -> Matrix:
    """Return eigenvectors at the working precision, from those of float64, by Newton's steps."""
    times, middle = numbers.times, numbers.middle
    one, place = numbers.given(np.eye(len(turn.tolist()))), np.empty(sum(map(len, groups)))
    for number, each in enumerate(groups):
        place[each] = number
    for _ in range(1 + max(0, ceil(log2(ctx.prec / 40)))):
        entries = numbers.entries(times(turn.transpose(), times(middle(gram), turn)))
        moves = np.zeros(entries.shape, dtype=object)
        for i, j in zip(*np.nonzero(place[:, None] != place), strict=True):
            moves[i, j] = entries[i, j] / (entries[j, j] - entries[i, i])
        turn = middle(times(turn, one + numbers.given(moves)))
        for _ in range(2):
            turn = middle(times(turn, one * 3 - times(turn.transpose(), turn)) * 0.5)
    return turn
