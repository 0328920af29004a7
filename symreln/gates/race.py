r"""The race of self-consistent gates over one parameter: who is fastest where, exactly.

The parameter's range is cut at all values where a gate can appear or vanish, stop or start being
self-consistent, or where two growth rates can be equal (:mod:`symreln.gates.critical`). On every
interval the candidates and the order of their rates are decided at one rational number inside, and
hold on all of it; at every cut they are decided there. Cuts at which nothing changes are dropped.

Growth rates decide in the limit of small initial weights. At a finite size a slower gate with a
larger share of the units can still be first near a boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.domain import Range
from symreln.exact.matrix import ExactMatrix
from symreln.exact.modes import JointSpectrum, Mode, ModeClass
from symreln.exact.order import order_key
from symreln.gates import critical
from symreln.gates.chambers import gate_chambers, over
from symreln.gates.consistent import (
    Pair,
    SelfConsistentGate,
    Vector,
    columns,
    consistent_pairs,
    gate_spectrum,
    singular_pairs,
)
from symreln.gates.enumerate import LIMIT, enumerate_gates, pattern
from symreln.gates.irrational import columns_at, field_of, pairs_at, realisable_at
from symreln.gates.line import Piece, only_parameter, pieces
from symreln.gates.orbits import SampleGroup, moved_gates, sample_group

if TYPE_CHECKING:
    from flint import fmpz_mpoly


@dataclass(frozen=True, kw_only=True, eq=False)
class Runner:
    """A self-consistent gate on one piece of the parameter's range.

    Attributes:
        gate: 0 or 1 a sample; one of ``size`` that a symmetry makes alike.
        size: How many.
        s: Growth rate at the piece's number (on an interval) or value (at a cut).
        rate: Growth rate as a function of the parameter, on an interval; None at a cut.
        mode_class: Its conjugacy class over Q(parameter), on an interval.
        largest: Whether it is the gate's largest singular value.
        boundary: Samples to which the direction is orthogonal.
        self_consistent: Whether the direction has the gate. Only races of given gates, see
            :mod:`symreln.gates.subset_race`, have runners that are not, or None: not decided.
    """

    gate: tuple[int, ...]
    size: int
    s: AlgebraicNumber
    rate: AlgebraicNumber | None
    mode_class: ModeClass | None
    largest: bool
    boundary: tuple[int, ...]
    self_consistent: bool | None = True

    @property
    def pattern(self) -> str:
        """The gate as text."""
        return pattern(self.gate)


@dataclass(frozen=True, kw_only=True, eq=False)
class RacePiece:
    """Who runs, and in which order.

    Attributes:
        piece: An open interval, or one value.
        ranks: Runners of equal rate together, the fastest first.
        undecided: Gates of which it is not decided whether they are self-consistent here.
        why: Why nothing is said, or "".
        closed: Whether the lower and the upper end belong to it.
    """

    piece: Piece
    ranks: tuple[tuple[Runner, ...], ...]
    undecided: tuple[str, ...] = ()
    why: str = ""
    closed: tuple[bool, bool] = (False, False)

    @property
    def order(self) -> tuple[tuple[str, ...], ...]:
        """The ranks as text."""
        return tuple(tuple(runner.pattern for runner in rank) for rank in self.ranks)

    def contains(self, value: Fraction) -> bool:
        """Return whether a value of the parameter lies in the piece; exact."""
        inside = Range(name="", low=value)
        below = self.piece.low is not None and inside.contains(self.piece.low)
        above = self.piece.high is not None and not inside.contains(self.piece.high)
        at_low = below and _is(self.piece.low, value)
        at_high = self.piece.high is not None and _is(self.piece.high, value)
        if at_low or at_high:
            return (at_low and self.closed[0]) or (at_high and self.closed[1])
        return not below and not above

    @property
    def winners(self) -> tuple[str, ...]:
        """The fastest gates, one of a kind."""
        return self.order[0] if self.order else ()


@dataclass(frozen=True, kw_only=True, eq=False)
class PhaseBoundary:
    """A value of the parameter at which the race changes.

    Attributes:
        value: The value.
        kind: "existence": a gate starts or stops being self-consistent; "speed": two rates cross.
        between: The gates that the change is about: those that come and go, or those that swap.
        winner: Whether the fastest gates before and after it are not the same.
    """

    value: AlgebraicNumber
    kind: Literal["speed", "existence"]
    between: tuple[str, ...]
    winner: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Race:
    """The race over the whole range of the parameter.

    Attributes:
        parameter: Its name.
        pieces: Intervals and single values, ascending; neighbours differ.
        boundaries: Where and how they do.
        group: Symmetries of the data for all values of the parameter.
    """

    parameter: str
    pieces: tuple[RacePiece, ...]
    boundaries: tuple[PhaseBoundary, ...]
    group: SampleGroup


def race(inputs: ExactMatrix, residual: ExactMatrix, limits: Range, limit: int = LIMIT) -> Race:
    """Return the race of the self-consistent gates over the one parameter of the data.

    Args:
        inputs: X, shape (n_x, P).
        residual: R, shape (n_y, P): the targets, or what a converged stage leaves.
        limits: The parameter's range.
        limit: Number of gates above which an enumeration ends.

    Raises:
        InputError: No parameter occurs in X and R, or several do.
        LimitReachedError: There are too many gates, or too many minors.
        NotSupportedError: See :func:`symreln.gates.critical.consistency`.
    """
    name = only_parameter(inputs, residual)
    course = Course(over(inputs, name), over(residual, name), limits, limit)
    run = course.run()
    return Race(
        parameter=name,
        pieces=run,
        boundaries=tuple(boundaries_of(run)),
        group=course.group,
    )


class Course:
    """The data of a race; other races than that of all gates override what is marked so."""

    def __init__(
        self, inputs: ExactMatrix, residual: ExactMatrix, limits: Range, limit: int
    ) -> None:
        self.inputs, self.residual, self.limits = inputs, residual, limits
        self.names = inputs.parameters
        self.group = sample_group(inputs, residual)
        # What was decided at a rational number serves again when the range is cut finer.
        self._known: dict[tuple[Fraction | None, bool], RacePiece] = {}
        self.kinds = self._kinds(limit)
        self.spectra: dict[tuple[int, ...], JointSpectrum] = {
            gate: gate_spectrum(inputs, residual, gate) for gate, _ in self.kinds
        }

    def _kinds(self, limit: int) -> list[tuple[tuple[int, ...], int]]:
        """Return one gate of each kind that some value of the parameter allows; overridden."""
        if self.inputs.is_constant:
            chambers = _constant_gates(self.inputs, limit)
        else:
            chambers = [
                gates for c in gate_chambers(self.inputs, self.limits, limit) if (gates := c.gates)
            ]
        seen: set[tuple[int, ...]] = set()
        kinds = []
        for gates in chambers:
            for text in gates:
                gate = tuple(int(digit) for digit in text)
                if gate not in seen:
                    alike = moved_gates(gate, self.group)
                    seen.update(alike)
                    kinds.append((max(alike), len(alike)))
        return sorted(kinds, reverse=True)

    def run(self) -> tuple[RacePiece, ...]:
        """Return who runs where."""
        cuts = [] if self.inputs.is_constant else self._appearing()
        cuts.append(self.residual.denominator)
        for spectrum in self.spectra.values():
            cuts += self._cuts(spectrum)
        first = [self._piece(piece) for piece in pieces(cuts, self.names, self.limits)]
        running = {
            id(runner.mode_class): runner.mode_class
            for part in first
            for rank in part.ranks
            for runner in rank
            if runner.mode_class is not None
        }
        crossings = [
            polynomial
            for one, two in combinations(running.values(), 2)
            for polynomial in critical.crossings(one, two)
        ]
        found = [self._piece(piece) for piece in pieces(cuts + crossings, self.names, self.limits)]
        return _merged(found)

    def _appearing(self) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots the list of gates is the same; overridden."""
        return critical.realisability(self.inputs)

    def _cuts(self, spectrum: JointSpectrum) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots a gate's runners stay the same; overridden."""
        return critical.consistency(self.inputs, spectrum)

    def _runs(self, samples: Sequence[Vector], gate: tuple[int, ...]) -> bool:
        """Return whether a gate may run at a cut where its rates are not decided; overridden."""
        return realisable_at(samples, gate)

    def _found(
        self, pairs: Sequence[Pair], samples: Sequence[Vector], gate: tuple[int, ...], size: int
    ) -> list[Runner]:
        """Return who runs of a gate's singular pairs, the largest first; overridden."""
        return [_runner(each) for each in consistent_pairs(pairs, samples, gate, size)]

    def _piece(self, piece: Piece) -> RacePiece:
        key = (piece.sample, piece.is_root)
        found = self._known.get(key)
        if found is None:
            found = self._decided(piece)
        if piece.sample is not None:
            self._known[key] = found
        return replace(found, piece=piece, closed=(piece.is_root, piece.is_root))

    def _decided(self, piece: Piece) -> RacePiece:
        try:
            if piece.sample is None:
                return self._at_irrational(piece)
            return self._at_rational(piece)
        except ZeroDivisionError:
            return RacePiece(piece=piece, ranks=(), why="the data are infinite")

    def _at_rational(self, piece: Piece) -> RacePiece:
        assert piece.sample is not None
        at = {self.names[0]: piece.sample}
        inputs, residual = self.inputs.substitute(at), self.residual.substitute(at)
        samples = columns(inputs)
        runners = []
        for gate, size in self.kinds:
            pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
            for runner in self._found(pairs, samples, gate, size):
                mode = None if piece.is_root else self._mode(gate, runner.s, at)
                runners.append(runner if mode is None else _along(runner, mode))
        return RacePiece(piece=piece, ranks=_ranked(runners))

    def _at_irrational(self, piece: Piece) -> RacePiece:
        assert piece.low is not None
        field = field_of(piece.low)
        samples = columns_at(self.inputs, field)
        runners, undecided = [], []
        for gate, size in self.kinds:
            pairs = pairs_at(self.spectra[gate], field)
            if pairs is None:
                if self._runs(samples, gate):
                    undecided.append(pattern(gate))
                continue
            runners += self._found(pairs, samples, gate, size)
        return RacePiece(piece=piece, ranks=_ranked(runners), undecided=tuple(undecided))

    def _mode(self, gate: tuple[int, ...], s: AlgebraicNumber, at: dict) -> Mode:
        """Return the mode over Q(parameter) that has the value s inside an interval.

        No two of them meet there, so enough digits single one out.
        """
        bits = 64
        while True:
            value = s.ball({}, bits)
            near = [
                mode
                for mode in self.spectra[gate].modes
                if not mode.is_null and mode.s.ball(at, bits).overlaps(value)
            ]
            if len(near) == 1:
                return near[0]
            bits *= 2


def _is(number: AlgebraicNumber | None, value: Fraction) -> bool:
    exact = None if number is None else number.scalar
    return exact is not None and exact.to_fraction() == value


def _constant_gates(inputs: ExactMatrix, limit: int) -> list[tuple[str, ...]]:
    """Return the one list of gates of inputs in which the parameter does not occur."""
    found = enumerate_gates(inputs, limit=limit)
    return [tuple(found.pattern(k) for k in range(found.count))]


def _runner(found: SelfConsistentGate) -> Runner:
    return Runner(
        gate=found.gate,
        size=found.size,
        s=found.s,
        rate=None,
        mode_class=None,
        largest=found.largest,
        boundary=found.boundary,
    )


def _along(runner: Runner, mode: Mode) -> Runner:
    """Return a runner with its rate as a function of the parameter."""
    return replace(runner, rate=mode.s, mode_class=mode.mode_class)


def _ranked(runners: Sequence[Runner]) -> tuple[tuple[Runner, ...], ...]:
    """Return runners of equal rate together, the fastest first; equality is exact."""
    ranks: list[list[Runner]] = []
    for runner in sorted(runners, key=lambda each: order_key(each.s, {})):
        if ranks and ranks[-1][0].s == runner.s:
            ranks[-1].append(runner)
        else:
            ranks.append([runner])
    return tuple(tuple(sorted(rank, key=lambda each: each.gate, reverse=True)) for rank in ranks)


def _merged(found: list[RacePiece]) -> tuple[RacePiece, ...]:
    """Drop cuts at which nothing changes, and join what lies on both sides.

    Ends of the range that are like their neighbours join them too.
    """
    result: list[RacePiece] = []
    for part in found:
        while result and _same(result[-1], part):
            last = result.pop()
            keep = part if last.piece.is_root else last
            piece = Piece(low=last.piece.low, high=part.piece.high, sample=keep.piece.sample)
            part = replace(keep, piece=piece, closed=(last.closed[0], part.closed[1]))
        result.append(part)
    return tuple(result)


def _same(one: RacePiece, two: RacePiece) -> bool:
    """Whether two neighbours have the same runners in the same order, by the same formulas."""
    if one.why or two.why or one.undecided or two.undecided or one.order != two.order:
        return False
    runners = [[r for rank in part.ranks for r in rank] for part in (one, two)]
    if any(a.self_consistent != b.self_consistent for a, b in zip(*runners, strict=True)):
        return False
    rates = [[r.rate for r in each] for each in runners]
    return all(a is None or b is None or a == b for a, b in zip(*rates, strict=True))


def boundaries_of(run: Sequence[RacePiece]) -> list[PhaseBoundary]:
    """Return what changes where two pieces meet, an end that differs from what follows included."""
    found = []
    for place, part in enumerate(run):
        around = (
            run[max(place - 1, 0) : place + 2] if part.piece.is_root else run[place : place + 2]
        )
        if part.piece.is_root and part.piece.low is not None:
            found += _changes(part.piece.low, around)
        elif len(around) == 2 and not around[1].piece.is_root and part.piece.high is not None:
            found += _changes(part.piece.high, around)
    return found


def _changes(value: AlgebraicNumber, around: Sequence[RacePiece]) -> list[PhaseBoundary]:
    """Return what differs among the pieces before, at and after a value, as far as decided."""
    sides = [part for part in around if not part.why and not part.undecided]
    outer = [part for part in sides if not part.piece.is_root]
    winner = len({part.winners for part in outer}) > 1 or (
        len(outer) < 2 and len({part.winners for part in sides}) > 1
    )
    places = [_places(part) for part in sides]
    everywhere = set.intersection(*map(set, places)) if places else set()
    kept = [_kept(part) for part in sides]
    turned = {name for name in everywhere if len({each[name] for each in kept}) > 1}
    changed = sorted((set().union(*places) - everywhere) | turned, reverse=True)
    found = []
    if changed:
        found.append(
            PhaseBoundary(value=value, kind="existence", between=tuple(changed), winner=winner)
        )
    ends = [_places(part) for part in outer]
    for a, b in combinations(sorted(everywhere, reverse=True), 2):
        if len({_side(end, a, b) for end in ends}) > 1:
            found.append(PhaseBoundary(value=value, kind="speed", between=(a, b), winner=winner))
    return found


def _places(part: RacePiece) -> dict[str, int]:
    """Return the best rank of every gate."""
    places: dict[str, int] = {}
    for place, rank in enumerate(part.order):
        for text in rank:
            places.setdefault(text, place)
    return places


def _kept(part: RacePiece) -> dict[str, bool | None]:
    """Return by gate whether its fastest direction has the gate."""
    kept: dict[str, bool | None] = {}
    for rank in part.ranks:
        for runner in rank:
            kept.setdefault(runner.pattern, runner.self_consistent)
    return kept


def _side(places: dict[str, int], a: str, b: str) -> int:
    return (places[a] > places[b]) - (places[a] < places[b])
