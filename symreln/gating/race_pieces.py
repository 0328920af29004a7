r"""The race of self-consistent gates over one parameter: who is fastest where, exactly.

Both kinds run: full gates of 0 and 1, and partial ones with samples on their boundary. For each
gate the parameter's range is cut at all values where it can stop or start being self-consistent
(:mod:`symreln.gating.wall_polynomials`); on every interval that is decided at one rational number
inside and holds on all of it, and at every rational cut it is decided there. Cuts at which nothing
changes are dropped. What is left of all gates, and values where two of their rates can be equal,
cut the range of the race. (:mod:`symreln.gating.race` runs it.) At irrational cuts nothing is
decided: they are exact boundaries between intervals, and in none.

Partial gates are those of all faces of the arrangement, chamber by chamber, so the fastest is the
fastest of all units (:mod:`symreln.gating.partial`). The largest rate is continuous in the
parameter: a gate that exists at one irrational value only, which is not asked, cannot exceed it.

Growth rates decide in the limit of small initial weights. At a finite size a slower gate with a
larger share of the units can still be first near a boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, groupby
from typing import Literal, Self

from symreln.base.records import record
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.gating.consistent import GrowingGate, sign_pattern
from symreln.gating.enumerate import pattern
from symreln.gating.parameter_intervals import Piece
from symreln.gating.serialise import Result, number_text
from symreln.networks.gate_orbits import SampleGroup, gate_kinds

#: Pieces that the text of a race shows.
MOST_SHOWN = 24


@record(eq=False)
class RacePiece(Result):
    """Who runs, and in which order.

    Attributes:
        piece: An open interval, or one value.
        ranks: Runners of equal rate together, the fastest first.
        why: Why nothing is said, or "".
        closed: Whether the lower and the upper end belong to it.
    """

    JSON = (
        *("from=piece.low", "to=piece.high", "closed", "order", "why?"),
        "self_consistent?",
    )
    piece: Piece
    ranks: tuple[tuple[GrowingGate, ...], ...]
    why: str = ""
    closed: tuple[bool, bool] = (False, False)

    @classmethod
    def of(cls, piece: Piece, runners: Iterable[GrowingGate]) -> Self:
        """Return who runs on a piece, those of equal rate together, the fastest first; exact."""
        ordered = sorted(runners, key=lambda each: order_key(each.s, {}))
        ranks = tuple(
            tuple(sorted(rank, key=lambda each: each.signs, reverse=True))
            for _, rank in groupby(ordered, key=lambda each: each.s)
        )
        return cls(piece=piece, ranks=ranks, closed=(piece.is_root, piece.is_root))

    def __repr__(self) -> str:
        low, high = self.piece.low, self.piece.high
        ends = [None if end is None else f"{float(end):.6g}" for end in (low, high)]
        where = ends[0] if self.piece.is_root else f"{ends[0] or '-oo'} to {ends[1] or 'oo'}"
        told = self.why or " > ".join(" = ".join(rank) for rank in self.order) or "none grows"
        return f"RacePiece({where}: {told})"

    @property
    def runners(self) -> Iterator[GrowingGate]:
        """All that run, the fastest first."""
        return (runner for rank in self.ranks for runner in rank)

    @property
    def order(self) -> tuple[tuple[str, ...], ...]:
        """The ranks as text."""
        return tuple(tuple(runner.pattern for runner in rank) for rank in self.ranks)

    @property
    def winners(self) -> tuple[str, ...]:
        """The fastest gates, one of a kind."""
        return self.order[0] if self.order else ()

    def where(self, name: str) -> str:
        """Return the values of the parameter ``name``, as of "0 < Delta < sqrt(2)"."""
        low, high = self.piece.ends
        if not name:
            return "at the declared values"
        if self.piece.is_root and low is not None:
            return f"{name} = {number_text(low)}"
        signs = [" ≤ " if closed else " < " for closed in self.closed]
        left = "every " if high is None else ""
        left = left if low is None else number_text(low) + signs[0]
        return left + name + ("" if high is None else signs[1] + number_text(high))

    @property
    def kept(self) -> dict[str, bool | None]:
        """By gate, whether its fastest direction has the gate."""
        kept: dict[str, bool | None] = {}
        for runner in self.runners:
            kept.setdefault(runner.pattern, runner.self_consistent)
        return kept

    @property
    def self_consistent(self) -> dict[str, bool | None] | None:
        """The same of given gates; None of those that all are."""
        return self.kept if any(runner.name for runner in self.runners) else None

    def contains(self, value: Fraction) -> bool:
        """Return whether a value of the parameter lies in the piece; exact."""
        for end, closed, inside in zip(self.piece.ends, self.closed, (-1, 1), strict=True):
            side = inside if end is None else end.compare(value)
            if side != inside and not (closed and side == 0):
                return False
        return True


@record(eq=False)
class _PhaseBoundary:
    """A value of the parameter at which the race changes.

    Attributes:
        parameter: The parameter.
        value: The value.
        kind: "existence": a gate starts or stops being self-consistent; "speed": two rates cross.
        between: The gates that the change is about: those that come and go, or those that swap.
        changes_winner: Whether the fastest gates before and after it are not the same.
    """

    parameter: str
    value: AlgebraicNumber
    between: tuple[str, ...]
    kind: Literal["speed", "existence"]
    changes_winner: bool


@record(eq=False)
class Race:
    """The race over the whole range of the parameter.

    Attributes:
        parameter: Its name; "" of data at one value, which are one piece.
        pieces: Intervals and single values, ascending; neighbours differ.
        group: Symmetries of the data for all values of the parameter.
        why: Why not all partial gates were asked, so that a unit may be faster than the first; ""
            where they were.
        given: Names of the gates that were to run, 0 or 1 a sample, rather than all that are
            self-consistent; empty for these.
    """

    parameter: str
    pieces: tuple[RacePiece, ...]
    group: SampleGroup
    why: str = ""
    given: Mapping[tuple[int, ...], str] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = [f"Race over {self.parameter}: {len(self.pieces)} pieces"]
        shown += [f"  {part!r}" for part in self.pieces[:MOST_SHOWN]]
        if len(self.pieces) > MOST_SHOWN:
            shown.append(f"  … and {len(self.pieces) - MOST_SHOWN} more (see .pieces)")
        return "\n".join(shown)

    @property
    def complete(self) -> bool:
        """Whether all partial gates were asked, so that no unit is faster than the first."""
        return not self.why

    @cached_property
    def boundaries(self) -> tuple[_PhaseBoundary, ...]:
        """What changes where two pieces meet, an end that differs from what follows included."""
        found: list[_PhaseBoundary] = []
        for place, part in enumerate(self.pieces):
            after = self.pieces[place : place + 2]
            if part.piece.is_root and part.piece.low is not None:
                around = self.pieces[max(place - 1, 0) : place + 2]
                found += self._changes(part.piece.low, around)
            elif len(after) == 2 and not after[1].piece.is_root and part.piece.high is not None:
                found += self._changes(part.piece.high, after)
        return tuple(found)

    def _changes(
        self, value: AlgebraicNumber, around: Sequence[RacePiece]
    ) -> Iterator[_PhaseBoundary]:
        """Yield what differs among the pieces before, at and after a value, as far as decided."""
        sides = [part for part in around if not part.why]
        outer = [part for part in sides if not part.piece.is_root]
        winner = len({part.winners for part in outer}) > 1 or (
            len(outer) < 2 and len({part.winners for part in sides}) > 1
        )
        kept = [part.kept for part in sides]
        everywhere = set.intersection(*map(set, kept)) if kept else set()
        turned = {name for name in everywhere if len({each[name] for each in kept}) > 1}
        changed = sorted((set().union(*kept) - everywhere) | turned, reverse=True)
        boundary = _PhaseBoundary(
            parameter=self.parameter,
            value=value,
            between=tuple(changed),
            kind="existence",
            changes_winner=winner,
        )
        if changed:
            yield boundary
        ends = [
            {name: place for place, rank in reversed([*enumerate(part.order)]) for name in rank}
            for part in outer
        ]
        for a, b in combinations(sorted(everywhere, reverse=True), 2):
            if len({(end[a] > end[b]) - (end[a] < end[b]) for end in ends}) > 1:
                yield replace(boundary, kind="speed", between=(a, b))

    def at(self, value: Fraction | None) -> RacePiece | None:
        """Return the piece in which a value lies, decided exactly."""
        if not self.parameter:
            return self.pieces[0]
        if value is None:
            return None
        return next((part for part in self.pieces if part.contains(value)), None)

    @cached_property
    def classes(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """The signs of the gates that run anywhere or were given: all of a class, by one of it."""
        running = [runner.signs for part in self.pieces for runner in part.runners]
        given = [tuple(2 * value - 1 for value in gate) for gate in self.given]
        alike = {sign_pattern(one[0]): one for one in gate_kinds([*running, *given], self.group)}
        return dict(sorted(alike.items(), reverse=True))

    @property
    def names(self) -> dict[str, str]:
        """What gates are called, by pattern."""
        given = {pattern(gate): name for gate, name in self.given.items()}
        return {name: given.get(name, name) for name in self.classes}

    def ends(self, place: int) -> tuple[float, float]:
        """Return where an interval is drawn; one without an end is as wide as its neighbour."""
        low, high = (None if end is None else float(end) for end in self.pieces[place].piece.ends)
        if low is None and high is None:
            return -1.0, 1.0
        widths = [
            (abs(k - place), float(part.piece.high) - float(part.piece.low))
            for k, part in enumerate(self.pieces)
            if not part.piece.is_root and part.piece.low is not None and part.piece.high is not None
        ]
        width = min(widths, default=(0, 1.0))[1]
        return (high - width if low is None else low), (low + width if high is None else high)  # type: ignore[operator]


def merged(found: Sequence[RacePiece], *, of_winners: bool = False) -> tuple[RacePiece, ...]:
    """Drop cuts at which nothing changes, and join what lies on both sides.

    Ends of the range that are like their neighbours join them too. What is said ``of_winners`` is
    joined where they stay: at an irrational cut too, because the largest rate is continuous.
    """
    same = _same_winners if of_winners else _same
    result: list[RacePiece] = []
    for part in found:
        while result and same(result[-1], part):
            last = result.pop()
            keep = part if last.piece.is_root else last
            piece = Piece(low=last.piece.low, high=part.piece.high, sample=keep.piece.sample)
            part = replace(keep, piece=piece, closed=(last.closed[0], part.closed[1]))
        result.append(part)
    return tuple(result)


def _same(one: RacePiece, two: RacePiece) -> bool:
    """Whether two neighbours have the same runners in the same order, by the same formulas."""
    if one.why or two.why or one.order != two.order:
        return False
    pairs = list(zip(one.runners, two.runners, strict=True))
    if any(a.self_consistent != b.self_consistent for a, b in pairs):
        return False
    return all(a.rate is None or b.rate is None or a.rate == b.rate for a, b in pairs)


def _same_winners(one: RacePiece, two: RacePiece) -> bool:
    return (one.why, set(one.winners)) == (two.why, set(two.winners))
