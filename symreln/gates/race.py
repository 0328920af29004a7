r"""The race of self-consistent gates over one parameter: who is fastest where, exactly.

Both kinds run: full gates of 0 and 1, and partial ones with samples on their boundary. For each
gate the parameter's range is cut at all values where it can stop or start being self-consistent
(:mod:`symreln.gates.critical`); on every interval that is decided at one rational number inside and
holds on all of it, and at every cut it is decided there. Cuts at which nothing changes are dropped.
What is left of all gates, and values where two of their rates can be equal, cut the range of the
race.

Partial gates are those of all faces of the arrangement, chamber by chamber, so the fastest is the
fastest of all units (:mod:`symreln.gates.partial`). The largest rate is continuous in the
parameter: a gate that exists at one irrational value only, which is not asked, cannot exceed it.

Growth rates decide in the limit of small initial weights. At a finite size a slower gate with a
larger share of the units can still be first near a boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from symreln.base.progress import Progress
from symreln.errors import LimitReachedError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.domain import Range
from symreln.exact.linear import rank as matrix_rank
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
    sign_pattern,
    singular_pairs,
)
from symreln.gates.entrants import Entrant, entrant_of_gate, face_is_plausible, faces_along
from symreln.gates.enumerate import LIMIT, enumerate_gates
from symreln.gates.irrational import columns_at, field_of, pairs_at, realisable_at
from symreln.gates.line import (
    Piece,
    only_parameter,
    pieces,
    pieces_between,
    rational_number,
    roots_of,
)
from symreln.gates.orbits import SampleGroup, moved_gates, sample_group
from symreln.gates.partial import partial_gates
from symreln.gates.search import QUIET
from symreln.gates.sizes import unit_floats

if TYPE_CHECKING:
    from flint import fmpz_mpoly

#: Relative distance from which float64 may say that two rates differ at a value.
NEAR = 1e-6
#: Pieces that the text of a race shows.
MOST_SHOWN = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Runner:
    """A self-consistent gate on one piece of the parameter's range.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary, one a sample (boundary samples of full gates
            count as closed); one of ``size`` that a symmetry makes alike.
        size: How many.
        s: Growth rate at the piece's number (on an interval) or value (at a cut).
        rate: Growth rate as a function of the parameter, on an interval; None at a cut.
        mode_class: Its conjugacy class over Q(parameter), on an interval.
        largest: Whether it is the largest singular value of what drives the gate's units.
        boundary: Samples to which the direction is orthogonal.
        fractions: The gate on every sample of a partial gate's boundary, at that number or value.
        self_consistent: Whether the direction has the gate. Only races of given gates, see
            :mod:`symreln.gates.subset_race`, have runners that are not, or None: not decided.
    """

    signs: tuple[int, ...]
    size: int
    s: AlgebraicNumber
    rate: AlgebraicNumber | None
    mode_class: ModeClass | None
    largest: bool
    boundary: tuple[int, ...]
    fractions: tuple[AlgebraicNumber, ...] = ()
    self_consistent: bool | None = True

    def __repr__(self) -> str:
        return f"Runner({self.pattern}, {self.kind}, s = {float(self.s):.6g}, {self.size} alike)"

    @property
    def gate(self) -> tuple[int, ...]:
        """0 or 1 a sample, samples on the boundary closed."""
        return tuple(int(sign > 0) for sign in self.signs)

    @property
    def kind(self) -> Literal["full", "partial"]:
        """Whether a unit must be open for a fraction of time on some boundary sample."""
        return "partial" if 0 in self.signs else "full"

    @property
    def pattern(self) -> str:
        """The gate as text."""
        return sign_pattern(self.signs)


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
    def told(self) -> str:
        """The order as one line of text."""
        return self.why or " > ".join(" = ".join(rank) for rank in self.order) or "none grows"

    def __repr__(self) -> str:
        return f"RacePiece({_ends(self)}: {self.told})"

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
        complete: Whether all partial gates were asked, so that no unit is faster than the first.
        why: Why not, or "".
    """

    parameter: str
    pieces: tuple[RacePiece, ...]
    boundaries: tuple[PhaseBoundary, ...]
    group: SampleGroup
    complete: bool = True
    why: str = ""

    def __repr__(self) -> str:
        shown = [f"Race over {self.parameter}: {len(self.pieces)} pieces"]
        shown += [f"  {_ends(part)}: {part.told}" for part in self.pieces[:MOST_SHOWN]]
        if len(self.pieces) > MOST_SHOWN:
            shown.append(f"  … and {len(self.pieces) - MOST_SHOWN} more (see .pieces)")
        return "\n".join(shown)


def _ends(part: RacePiece) -> str:
    low, high = part.piece.low, part.piece.high
    if part.piece.is_root and low is not None:
        return f"{float(low):.6g}"
    ends = [None if end is None else f"{float(end):.6g}" for end in (low, high)]
    return f"{ends[0] or '-oo'} to {ends[1] or 'oo'}"


def race(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    limits: Range,
    limit: int = LIMIT,
    progress: Progress = QUIET,
) -> Race:
    """Return the race of the self-consistent gates over the one parameter of the data.

    Args:
        inputs: X, shape (n_x, P).
        residual: R, shape (n_y, P): the targets, or what a converged stage leaves.
        limits: The parameter's range.
        limit: Number of gates above which an enumeration ends.
        progress: Shows how far it is.

    Raises:
        InputError: No parameter occurs in X and R, or several do.
        LimitReachedError: There are too many gates, or too many minors.
        NotSupportedError: See :func:`symreln.gates.critical.consistency`.
    """
    name = only_parameter(inputs, residual)
    course = Course(over(inputs, name), over(residual, name), limits, limit, progress)
    run = course.run()
    return Race(
        parameter=name,
        pieces=run,
        boundaries=tuple(boundaries_of(run)),
        group=course.group,
        complete=not course.why,
        why=course.why,
    )


class Course:
    """The data of a race; other races than that of all gates override what is marked so."""

    def __init__(
        self,
        inputs: ExactMatrix,
        residual: ExactMatrix,
        limits: Range,
        limit: int,
        progress: Progress = QUIET,
    ) -> None:
        self.inputs, self.residual, self.limits = inputs, residual, limits
        self.names = inputs.parameters
        self.group = sample_group(inputs, residual)
        self.why = ""
        self._progress = progress
        # What was decided at a number serves again when the range is cut by all gates.
        self._known: dict[tuple[tuple[int, ...], Fraction], tuple[Runner, ...]] = {}
        self._alone: dict[Fraction, tuple[Runner, ...]] = {}
        with progress("gates over the parameter"):
            self.kinds = self._kinds(limit)
            self.entrants = [
                entrant_of_gate(inputs, residual, gate, size) for gate, size in self.kinds
            ]

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

    def _faces(self, appearing: list[fmpz_mpoly]) -> list[Entrant]:
        """Return the faces that may have a partial gate somewhere; overridden."""
        chambers = pieces(appearing, self.names, self.limits)
        try:
            found, alone = faces_along(self.inputs, self.residual, self.group, chambers)
        except LimitReachedError as error:
            self.why = f"partial gates were not asked ({error})"
            return []
        self._alone = {value: tuple(map(_runner, gates)) for value, gates in alone.items()}
        return found

    def run(self) -> tuple[RacePiece, ...]:
        """Return who runs where."""
        appearing = [] if self.inputs.is_constant else self._appearing()
        appearing.append(self.residual.denominator)
        appearing.append(self.inputs.denominator)
        with self._progress("faces over the parameter"):
            entrants = [*self.entrants, *self._faces(appearing)]
        roots = {}
        running: dict[str, Runner] = {}
        self.entrants = []
        with self._progress("gates that run somewhere") as callback:
            for place, entrant in enumerate(entrants):
                alone = self._by_itself(entrant, appearing)
                if any(part.ranks or part.undecided for part in alone):
                    self.entrants.append(entrant)
                    cuts = _cuts_of(alone)
                    roots |= {k: end for k, end in cuts.items() if self.limits.contains(end)}
                    running |= _rates(alone)
                callback(place + 1, len(entrants))
        for value in self._alone:
            number = rational_number(value)
            roots[_name(number)] = number
        with self._progress("where rates are equal") as callback:
            pairs = list(combinations(running.values(), 2))
            for place, (one, two) in enumerate(pairs):
                assert one.mode_class is not None
                assert two.mode_class is not None
                met = critical.crossings(one.mode_class, two.mode_class)
                for root in roots_of(met, self.names, self.limits):
                    if self._meet(one, two, root):
                        roots[_name(root)] = root
                callback(place + 1, len(pairs))
        with self._progress("the order between cuts"):
            return _merged(
                [
                    self._piece(part, self.entrants, self._alone)
                    for part in pieces_between(roots.values(), self.limits)
                ]
            )

    def _meet(self, one: Runner, two: Runner, root: AlgebraicNumber) -> bool:
        """Return whether float64 leaves open that two rates, and no conjugates, are equal."""
        assert one.rate is not None
        assert two.rate is not None
        at = {self.names[0]: Fraction(float(root))}
        try:
            a, b = one.rate.to_float(at), two.rate.to_float(at)
        except ZeroDivisionError:
            return True
        return abs(a - b) <= NEAR * max(abs(a), abs(b))

    def _by_itself(self, entrant: Entrant, appearing: list[fmpz_mpoly]) -> tuple[RacePiece, ...]:
        """Return where one gate runs, cut only where that changes."""
        cuts = [*self._cuts(entrant), self.residual.denominator, self.inputs.denominator]
        if entrant.is_face:
            # Where boundary samples become dependent, or open each other in another way.
            edge = [place for place, sign in enumerate(entrant.signs) if not sign]
            on = self.inputs.select(columns=edge)
            independent = matrix_rank(on) == len(edge)
            cuts += critical.minors(on.T) if independent else appearing
        found = [self._piece(p, [entrant]) for p in pieces(cuts, self.names, self.limits)]
        return _merged(found)

    def _appearing(self) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots the list of gates is the same; overridden."""
        return critical.realisability(self.inputs)

    def _cuts(self, entrant: Entrant) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots a gate's runners stay the same; overridden."""
        return [
            polynomial
            for conditions in entrant.conditions
            for polynomial in critical.consistency(conditions.vectors, entrant.spectrum)
        ]

    def _runs(self, samples: Sequence[Vector], gate: tuple[int, ...]) -> bool:
        """Return whether a gate may run at a cut where its rates are not decided; overridden."""
        return realisable_at(samples, gate)

    def _found(
        self, pairs: Sequence[Pair], samples: Sequence[Vector], gate: tuple[int, ...], size: int
    ) -> list[Runner]:
        """Return who runs of a gate's singular pairs, the largest first; overridden."""
        return [_runner(each) for each in consistent_pairs(pairs, samples, gate, size)]

    def _piece(
        self,
        piece: Piece,
        entrants: Sequence[Entrant],
        alone: Mapping[Fraction, tuple[Runner, ...]] = MappingProxyType({}),
    ) -> RacePiece:
        runners: list[Runner] = []
        undecided: list[str] = []
        try:
            for entrant in entrants:
                if piece.sample is not None:
                    runners += self._at_rational(entrant, piece)
                    continue
                found = self._at_irrational(entrant, piece)
                if found is None:
                    undecided.append(entrant.pattern)
                else:
                    runners += found
            if piece.is_root and piece.sample is not None:
                runners += alone.get(piece.sample, ())
        except ZeroDivisionError:
            return RacePiece(piece=piece, ranks=(), why="the data are infinite")
        return RacePiece(
            piece=piece,
            ranks=_ranked(runners),
            undecided=tuple(undecided),
            closed=(piece.is_root, piece.is_root),
        )

    def _at_rational(self, entrant: Entrant, piece: Piece) -> tuple[Runner, ...]:
        assert piece.sample is not None
        key = (entrant.signs, piece.sample)
        at = {self.names[0]: piece.sample}
        if key not in self._known:
            inputs, residual = self.inputs.substitute(at), self.residual.substitute(at)
            if entrant.is_face:
                found = self._on_face(inputs, residual, entrant)
            else:
                pairs = singular_pairs(gate_spectrum(inputs, residual, entrant.gate))
                found = self._found(pairs, columns(inputs), entrant.gate, entrant.size)
            self._known[key] = tuple(found)
        runners = self._known[key]
        if piece.is_root:
            return runners
        return tuple(_along(runner, _mode(entrant.spectrum, runner.s, at)) for runner in runners)

    def _on_face(
        self, inputs: ExactMatrix, residual: ExactMatrix, entrant: Entrant
    ) -> list[Runner]:
        if not face_is_plausible(unit_floats(inputs), unit_floats(residual), entrant.signs):
            return []
        found = partial_gates(inputs, residual, [(entrant.signs, entrant.size)])
        # Where a boundary sample is zero, the face is another one.
        return [_runner(each) for each in found if each.signs == entrant.signs]

    def _at_irrational(self, entrant: Entrant, piece: Piece) -> Sequence[Runner] | None:
        """Return who runs at an irrational value, None where it is not decided."""
        assert piece.low is not None
        if not entrant.likely(self.inputs, self.residual, float(piece.low)):
            return []
        field = field_of(piece.low)
        samples = columns_at(self.inputs, field)
        pairs = pairs_at(entrant.spectrum, field)
        if entrant.is_face:
            kept = None if pairs is None else entrant.kept_at(pairs, field)
            if pairs is None or kept is None:
                return None
            return [_bare(entrant, pairs[0])] if kept else []
        if pairs is None:
            return None if self._runs(samples, entrant.gate) else []
        return self._found(pairs, samples, entrant.gate, entrant.size)


def _is(number: AlgebraicNumber | None, value: Fraction) -> bool:
    exact = None if number is None else number.scalar
    return exact is not None and exact.to_fraction() == value


def _constant_gates(inputs: ExactMatrix, limit: int) -> list[tuple[str, ...]]:
    """Return the one list of gates of inputs in which the parameter does not occur."""
    found = enumerate_gates(inputs, limit=limit)
    return [tuple(found.pattern(k) for k in range(found.count))]


def _runner(found: SelfConsistentGate) -> Runner:
    return Runner(
        signs=found.course,
        size=found.size,
        s=found.s,
        rate=None,
        mode_class=None,
        largest=found.largest,
        boundary=found.boundary,
        fractions=tuple(found.values[z] for z in found.boundary if found.kind == "partial"),
    )


def _bare(entrant: Entrant, pair: Pair) -> Runner:
    """Return a face's runner at an irrational value, without its fractions."""
    return Runner(
        signs=entrant.signs,
        size=entrant.size,
        s=pair.s,
        rate=None,
        mode_class=None,
        largest=True,
        boundary=tuple(place for place, sign in enumerate(entrant.signs) if not sign),
    )


def _mode(spectrum: JointSpectrum, s: AlgebraicNumber, at: dict[str, Fraction]) -> Mode:
    """Return the mode over Q(parameter) that has the value s inside an interval.

    No two of them meet there, so enough digits single one out.
    """
    bits = 64
    while True:
        value = s.ball({}, bits)
        near = [
            mode
            for mode in spectrum.modes
            if not mode.is_null and mode.s.ball(at, bits).overlaps(value)
        ]
        if len(near) == 1:
            return near[0]
        bits *= 2


def _name(root: AlgebraicNumber) -> tuple[str, int]:
    """Return what tells a root from others: its polynomial and its place among the roots."""
    return str([str(value) for value in root.minpoly]), root.root


def _cuts_of(alone: Sequence[RacePiece]) -> dict[tuple[str, int], AlgebraicNumber]:
    """Return the values at which a gate's own race changes."""
    ends = [end for part in alone for end in (part.piece.low, part.piece.high) if end is not None]
    return {_name(end): end for end in ends}


def _rates(alone: Sequence[RacePiece]) -> dict[str, Runner]:
    """Return one runner for each formula of a gate's rates where it runs."""
    runners = (runner for part in alone for rank in part.ranks for runner in rank)
    return {
        f"{runner.pattern} {runner.rate!r}": runner for runner in runners if runner.rate is not None
    }


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
    return tuple(tuple(sorted(rank, key=lambda each: each.signs, reverse=True)) for rank in ranks)


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
