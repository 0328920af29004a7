"""How a race is run: the gates that may run, where each of them does, and the cuts between.

A full gate's direction must open its samples and no other. A partial gate's must have the signs of
its face off the boundary and be attracted by it (:mod:`symreln.gates.partial`): products of the
direction with vectors over Q(parameter), whose signs change at roots of polynomials only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import fmpz_mpoly

from symreln.base.progress import phase
from symreln.errors import LimitReachedError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.domain import Range
from symreln.exact.linear import rank
from symreln.exact.linear_programming import realisable
from symreln.exact.matrix import ExactMatrix
from symreln.exact.real_algebraic import RealField
from symreln.exact.spectrum import JointSpectrum, Mode
from symreln.gates.arrangement import flats
from symreln.gates.consistent import (
    Pair,
    SelfConsistentGate,
    Vector,
    columns,
    consistent_pairs,
    gate_spectrum,
    opened_by,
    pairs_at,
    sign_pattern,
    singular_pairs,
)
from symreln.gates.enumerate import LIMIT, gates_along
from symreln.gates.parameter_intervals import (
    Piece,
    only_parameter,
    over,
    pieces,
    pieces_between,
    rational_number,
    roots_of,
)
from symreln.gates.partial import Face, every_partial_gate, face_of, partial_gates, plausible
from symreln.gates.race_pieces import Race, RacePiece, Runner, merged, ranked
from symreln.gates.search import may_be_kept
from symreln.gates.sizes import unit_floats
from symreln.gates.wall_polynomials import consistency, crossings, minors, realisability
from symreln.network.orbits import gate_kinds, moved_gates, sample_group

#: Relative distance from which float64 may say that two rates differ at a value.
NEAR = 1e-6
#: Faces above which partial gates are not followed over a parameter.
MOST_FACES = 2000


def race(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    limits: Range,
    limit: int = LIMIT,
) -> Race:
    """Return the race of the self-consistent gates over the one parameter of the data.

    Args:
        inputs: X, shape (n_x, P).
        residual: R, shape (n_y, P): the targets, or what a converged stage leaves.
        limits: The parameter's range.
        limit: Number of gates above which an enumeration ends.

    Raises:
        InputError: No parameter occurs in X and R, or several do.
        LimitReachedError: There are too many gates, or too many minors.
        NotSupportedError: See :func:`symreln.gates.wall_polynomials.consistency`.
    """
    return Course(inputs, residual, limits, limit).run()


@dataclass(frozen=True, kw_only=True, eq=False)
class Entrant:
    """A gate that may run somewhere.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary, one a sample.
        size: How many are alike, for all values of the parameter.
        spectrum: Singular values of what drives its units, over Q(parameter).
        faces: None for a full gate; one for a partial gate whose boundary samples are independent,
            else one a way in which they open each other.
    """

    signs: tuple[int, ...]
    size: int
    spectrum: JointSpectrum
    faces: tuple[Face, ...] = ()

    @property
    def gate(self) -> tuple[int, ...]:
        """0 or 1 a sample, samples on the boundary closed."""
        return tuple(int(sign > 0) for sign in self.signs)

    @property
    def boundary(self) -> list[int]:
        """Samples on the boundary."""
        return [place for place, sign in enumerate(self.signs) if not sign]

    def plausible(self, inputs: ExactMatrix, residual: ExactMatrix) -> bool:
        """Return whether float64 leaves open that it runs.

        Args:
            inputs: X at a value of the parameter.
            residual: R there.
        """
        x, r = unit_floats(inputs), unit_floats(residual)
        if self.faces:
            return bool(plausible(x, r, self.boundary, np.array([self.signs]))[0])
        _, kept, large = may_be_kept(x, r, np.array([self.gate], dtype=bool))
        growing = sum(not mode.is_null for mode in self.spectrum.modes)
        return bool(kept[0]) or int(large[0]) < growing


@dataclass(kw_only=True)
class _Entrants:
    """Gates that may run, as they are gathered.

    Attributes:
        full: Full gates.
        partial: Those of faces that intervals have, by signs.
        alone: Partial gates that single values add.
        why: Why partial gates are not asked, or "".
    """

    full: list[Entrant]
    partial: dict[tuple[int, ...], Entrant] = field(default_factory=dict)
    alone: dict[Fraction, list[Runner]] = field(default_factory=dict)
    why: str = ""

    @property
    def all(self) -> list[Entrant]:
        """Full ones first."""
        return [*self.full, *self.partial.values()]


class Course:
    """The data of a race; the race of given gates overrides what is marked so.

    Args and errors as of :func:`race`.
    """

    def __init__(
        self,
        inputs: ExactMatrix,
        residual: ExactMatrix,
        limits: Range,
        limit: int = LIMIT,
    ) -> None:
        self.name = only_parameter(inputs, residual)
        self.inputs, self.residual = over(inputs, self.name), over(residual, self.name)
        self.group = sample_group(self.inputs, self.residual)
        self.limits, self.limit = limits, limit
        self._poles = [self.residual.denominator, self.inputs.denominator]
        # What was decided at a number serves again when the range is cut by all gates.
        self._known: dict[tuple[tuple[int, ...], Fraction], tuple[Runner, ...]] = {}

    def run(self) -> Race:
        """Return who runs where."""
        with phase("gates over the parameter"):
            full = self._full()
        # Between the roots of these polynomials the faces are the same.
        appearing = [] if self.inputs.is_constant else self._appearing()
        appearing += self._poles
        entrants = _Entrants(full=full)
        with phase("faces over the parameter"):
            self._add_faces(entrants, appearing)
        roots: dict[str, AlgebraicNumber] = {}
        running: dict[str, Runner] = {}
        there: list[Entrant] = []
        with phase("gates that run somewhere") as callback:
            for place, entrant in enumerate(entrants.all):
                alone = self._by_itself(entrant, appearing)
                if any(part.ranks or part.undecided for part in alone):
                    there.append(entrant)
                    ends = (end for part in alone for end in part.piece.ends if end is not None)
                    roots |= {_name(end): end for end in ends if self.limits.contains(end)}
                    running |= {
                        f"{runner.pattern} {runner.rate!r}": runner
                        for part in alone
                        for runner in part.runners
                        if runner.rate is not None
                    }
                callback(place + 1, len(entrants.all))
        roots |= {_name(number): number for number in map(rational_number, entrants.alone)}
        with phase("where rates are equal") as callback:
            pairs = list(combinations(running.values(), 2))
            for place, (one, two) in enumerate(pairs):
                assert one.mode_class is not None
                assert two.mode_class is not None
                met = crossings(one.mode_class, two.mode_class)
                for root in roots_of(met, (self.name,), self.limits):
                    if self._meet(one, two, root):
                        roots[_name(root)] = root
                callback(place + 1, len(pairs))
        with phase("the order between cuts"):
            cut = pieces_between(roots.values(), self.limits)
            found = [self._piece(part, there, entrants.alone) for part in cut]
        return Race(parameter=self.name, pieces=merged(found), group=self.group, why=entrants.why)

    def _full(self) -> list[Entrant]:
        """Return one full gate of each kind that some value allows; overridden."""
        listed = gates_along(self.inputs, self.limits, self.limit)
        chosen = (gate for _, gates in listed for gate in gates or ())
        kinds = [(max(alike), len(alike)) for alike in gate_kinds(chosen, self.group)]
        return [self._entrant(*kind) for kind in sorted(kinds, reverse=True)]

    def _entrant(self, gate: tuple[int, ...], size: int) -> Entrant:
        return Entrant(
            signs=tuple(2 * value - 1 for value in gate),
            size=size,
            spectrum=gate_spectrum(self.inputs, self.residual, gate),
        )

    def _appearing(self) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots the list of gates is the same; overridden."""
        return realisability(self.inputs)

    def _add_faces(self, entrants: _Entrants, appearing: list[fmpz_mpoly]) -> None:
        """Add what may have a partial gate somewhere; overridden."""
        chambers = pieces(appearing, (self.name,), self.limits)
        try:
            for piece in chambers:
                if piece.sample is not None and not piece.is_root:
                    at = self.inputs.substitute({self.name: piece.sample})
                    for flat in flats(at):
                        for signs in flat.signs.tolist() if flat.boundary else ():
                            self._add_face(entrants.partial, tuple(signs), at)
            for piece in chambers:
                if piece.sample is not None and piece.is_root:
                    more = self._partial_at(piece.sample)
                    if more := [each for each in more if each.signs not in entrants.partial]:
                        entrants.alone[piece.sample] = list(map(_runner, more))
        except LimitReachedError as error:
            entrants.partial.clear()
            entrants.alone.clear()
            entrants.why = f"partial gates were not asked ({error})"

    def _add_face(
        self, found: dict[tuple[int, ...], Entrant], signs: tuple[int, ...], at: ExactMatrix
    ) -> None:
        """Add one face of each kind, with its conditions at a value of the parameter."""
        edge = [place for place, sign in enumerate(signs) if not sign]
        known = found.get(signs)
        if known and len(known.faces) == 1 and rank(at.select(columns=edge)) == len(edge):
            return
        alike = moved_gates(signs, self.group)
        face = face_of(self.inputs, self.residual, signs, at) if max(alike) == signs else None
        if face is None:
            return
        if known is None:
            if len(found) >= MOST_FACES:
                msg = f"more than {MOST_FACES} kinds of faces"
                raise LimitReachedError(msg)
            found[signs] = Entrant(
                signs=signs, size=len(alike), spectrum=face.spectrum, faces=(face,)
            )
        elif all(face.weak != each.weak for each in known.faces):
            found[signs] = replace(known, faces=(*known.faces, face))

    def _partial_at(self, value: Fraction) -> tuple[SelfConsistentGate, ...]:
        """Return all partial gates at a value, none where the data are infinite."""
        try:
            return every_partial_gate(*self._at(value), self.group)
        except ZeroDivisionError:
            return ()

    def _at(self, value: Fraction) -> tuple[ExactMatrix, ExactMatrix]:
        """Return X and R at a value of the parameter."""
        at = {self.name: value}
        return self.inputs.substitute(at), self.residual.substitute(at)

    def _meet(self, one: Runner, two: Runner, root: AlgebraicNumber) -> bool:
        """Return whether float64 leaves open that two rates, and no conjugates, are equal."""
        at = {self.name: Fraction(float(root))}
        try:
            a, b = one.speed.to_float(at), two.speed.to_float(at)
        except ZeroDivisionError:
            return True
        return abs(a - b) <= NEAR * max(abs(a), abs(b))

    def _by_itself(self, entrant: Entrant, appearing: list[fmpz_mpoly]) -> tuple[RacePiece, ...]:
        """Return where one gate runs, cut only where that changes."""
        cuts = [*self._cuts(entrant), *self._poles]
        if entrant.faces:
            # Where boundary samples become dependent, or open each other in another way.
            on = self.inputs.select(columns=entrant.boundary)
            independent = rank(on) == len(entrant.boundary)
            cuts += minors(on.T) if independent else appearing
        return merged([self._piece(p, [entrant]) for p in pieces(cuts, (self.name,), self.limits)])

    def _cuts(self, entrant: Entrant) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots a gate's runners stay the same; overridden."""
        conditions = [ExactMatrix.beside([face.strict, face.weak]) for face in entrant.faces]
        return [
            polynomial
            for vectors in conditions or [self.inputs]
            for polynomial in consistency(vectors, entrant.spectrum)
        ]

    def _found(
        self, pairs: Sequence[Pair], samples: Sequence[Vector], entrant: Entrant
    ) -> list[Runner]:
        """Return who runs of a full gate's singular pairs, the largest first; overridden."""
        return list(map(_runner, consistent_pairs(pairs, samples, entrant.gate, entrant.size)))

    def _may_run(self, samples: Sequence[Vector], entrant: Entrant) -> bool:
        """Return whether a full gate may run at a cut where rates are not decided; overridden."""
        return realisable(samples, entrant.gate)

    def _piece(
        self,
        piece: Piece,
        entrants: Iterable[Entrant],
        alone: dict[Fraction, list[Runner]] | None = None,
    ) -> RacePiece:
        runners: list[Runner] = []
        undecided: list[str] = []
        try:
            for entrant in entrants:
                found = self._runners(entrant, piece)
                if found is None:
                    undecided.append(sign_pattern(entrant.signs))
                else:
                    runners += found
        except ZeroDivisionError:
            return RacePiece(piece=piece, ranks=(), why="the data are infinite")
        if alone and piece.is_root and piece.sample is not None:
            runners += alone.get(piece.sample, ())
        return RacePiece(
            piece=piece,
            ranks=ranked(runners),
            undecided=tuple(undecided),
            closed=(piece.is_root, piece.is_root),
        )

    def _runners(self, entrant: Entrant, piece: Piece) -> Sequence[Runner] | None:
        """Return who of a gate runs on a piece, None where it is not decided."""
        if piece.sample is None:
            return self._at_irrational(entrant, piece)
        key = (entrant.signs, piece.sample)
        if key not in self._known:
            inputs, residual = self._at(piece.sample)
            if not entrant.faces:
                pairs = singular_pairs(gate_spectrum(inputs, residual, entrant.gate))
                found = self._found(pairs, columns(inputs), entrant)
            elif entrant.plausible(inputs, residual):
                kept = partial_gates(inputs, residual, [(entrant.signs, entrant.size)])
                # Where a boundary sample is zero, the face is another one.
                found = [_runner(each) for each in kept if each.signs == entrant.signs]
            else:
                found = []
            self._known[key] = tuple(found)
        runners = self._known[key]
        if piece.is_root:
            return runners
        at = {self.name: piece.sample}
        modes = [_mode(entrant.spectrum, runner.s, at) for runner in runners]
        return [
            replace(runner, rate=mode.s, mode_class=mode.mode_class, at=piece.sample)
            for runner, mode in zip(runners, modes, strict=True)
        ]

    def _at_irrational(self, entrant: Entrant, piece: Piece) -> Sequence[Runner] | None:
        """Return who runs at an irrational value, None where it is not decided."""
        assert piece.low is not None
        if not entrant.plausible(*self._at(Fraction(float(piece.low)))):
            return []
        there = RealField.of(piece.low)
        samples, pairs = there.columns(self.inputs), pairs_at(entrant.spectrum, there)
        if not entrant.faces:
            if pairs is None:
                return None if self._may_run(samples, entrant) else []
            return self._found(pairs, samples, entrant)
        if pairs is None or len(entrant.faces) != 1:
            return None
        (face,) = entrant.faces
        strict, weak = there.columns(face.strict), there.columns(face.weak)
        if not pairs or opened_by(pairs[0], strict, weak) is None:
            return []
        return [Runner(signs=entrant.signs, size=entrant.size, s=pairs[0].s)]


def _runner(found: SelfConsistentGate) -> Runner:
    return Runner(
        signs=found.course,
        size=found.size,
        s=found.s,
        largest=found.largest,
        fractions=found.fractions,
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


def _name(root: AlgebraicNumber) -> str:
    """Return what tells a root from others: its polynomial and its place among the roots."""
    return f"{[str(value) for value in root.minpoly]} {root.root}"
