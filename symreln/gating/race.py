"""How a race is run: the gates that may run, where each of them does, and the cuts between.

A full gate's direction must open its samples and no other. A partial gate's must have the signs of
its face off the boundary and be attracted by it (:mod:`symreln.gating.partial`): products of the
direction with vectors over Q(parameter), whose signs change at roots of polynomials only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from flint import fmpz_mpoly

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.errors import LimitReachedError, NotSupportedError
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.domain import Range
from symreln.exact.linear import rank
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, Mode
from symreln.gating.arrangement import flats, without_parameters
from symreln.gating.consistent import GrowingGate, SignedGate, consistent_pairs
from symreln.gating.enumerate import RealisableGates
from symreln.gating.float_scale import unit_floats
from symreln.gating.parameter_intervals import (
    Piece,
    over,
    pieces,
    pieces_between,
    rational_number,
    roots_of,
)
from symreln.gating.partial import every_partial_gate, partial_gates, plausible
from symreln.gating.race_pieces import Race, RacePiece, merged
from symreln.gating.wall_polynomials import consistency, minors, ordering, realisability
from symreln.networks.gate_orbits import SampleGroup, gate_kinds, moved_gates
from symreln.verdict.coincidence import resultant
from symreln.verdict.directions import (
    Pair,
    Vector,
    columns,
    gate_spectrum,
    singular_pairs,
)
from symreln.verdict.faces import Face

#: Relative distance from which float64 may say that two rates differ at a value.
_NEAR = 1e-6
#: Faces above which partial gates are not followed over a parameter.
_MOST_FACES = 2000
#: Degree of growth rates over Q(parameter) above which given gates are refused: where two of degree
#: 8 cross is decided by a polynomial of degree in the hundreds, and takes longer than anyone waits.
_MOST_DEGREE = 4


def race(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    limits: Range,
    limit: int | None = None,
    given: Mapping[tuple[int, ...], str] | None = None,
) -> Race:
    """Return the race of the self-consistent gates over the one parameter of the data.

    Of given gates, whether a unit can keep them or not, each runs with the largest singular value
    of R diag(g) Xᵀ/P, and whether its direction has the gate is said.

    Args:
        inputs: X over Q(parameter), shape (n_x, P).
        residual: R, shape (n_y, P): the targets, or what a converged stage leaves.
        limits: The parameter's range.
        limit: Number of gates above which an enumeration ends, as there.
        given: Gates that run in place of the self-consistent ones, 0 or 1 a sample, and their
            names.

    Raises:
        LimitReachedError: There are too many gates, or too many minors.
        NotSupportedError: See :func:`symreln.gating.wall_polynomials.consistency`; or a given gate
            has growth rates of a degree above ``_MOST_DEGREE``.
    """
    return _Course(inputs, residual, limits, limit, given or {}).run()


def race_at(
    inputs: ExactMatrix, residual: ExactMatrix, given: Mapping[tuple[int, ...], str]
) -> Race:
    """Return the race of given gates on data without parameters: one piece.

    Args:
        inputs: X, shape (n_x, P).
        residual: R, shape (n_y, P).
        given: As of :func:`race`.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    group, samples, found = SampleGroup.of(inputs, residual), columns(inputs), []
    for alike in gate_kinds(given, group):
        pairs = singular_pairs(gate_spectrum(inputs, residual, alike[0]))
        found += _given(pairs, samples, alike[0], len(alike), given[alike[0]])
    piece = Piece(low=None, high=None, sample=Fraction(0))
    return Race(parameter="", pieces=(RacePiece.of(piece, found),), group=group, given=given)


def _given(
    pairs: Sequence[Pair],
    samples: Sequence[Vector],
    gate: Sequence[int],
    size: int,
    name: str,
    *,
    decided: bool = True,
) -> list[GrowingGate]:
    """Return a given gate with its fastest direction, whether that has the gate or not."""
    return [
        GrowingGate(
            name=name,
            signs=tuple(2 * value - 1 for value in gate),
            size=size,
            s=pair.s,
            self_consistent=pair.opening(samples, gate) is not None if decided else None,
            realisable=None,
        )
        for pair in pairs[:1]
    ]


@record(eq=False)
class _Entrant(SignedGate):
    """A gate that may run somewhere.

    Attributes:
        spectrum: Singular values of what drives its units, over Q(parameter).
        faces: None for a full gate; one for a partial gate whose boundary samples are independent,
            else one a way in which they open each other.
    """

    spectrum: JointSpectrum
    faces: tuple[Face, ...] = ()

    @property
    def boundary(self) -> list[int]:
        """Samples on the boundary."""
        return [place for place, sign in enumerate(self.signs) if not sign]


class _Course:
    """The data of a race, and the gates that may run, as they are gathered.

    Args and errors as of :func:`race`.
    """

    def __init__(
        self,
        inputs: ExactMatrix,
        residual: ExactMatrix,
        limits: Range,
        limit: int | None,
        given: Mapping[tuple[int, ...], str],
    ) -> None:
        self.name = limits.name
        self.inputs, self.residual = over(inputs, self.name), over(residual, self.name)
        self.group = SampleGroup.of(self.inputs, self.residual)
        self.limits, self.limit, self.given = limits, limit, given
        self._poles = [self.residual.denominator, self.inputs.denominator]
        # Partial gates of faces that intervals have, by signs; those that single values add.
        self._partial: dict[tuple[int, ...], _Entrant] = {}
        self._alone: dict[Fraction, list[GrowingGate]] = {}
        self._at = cache(self._data_at)
        # What was decided at a number serves again when the range is cut by all gates.
        self._decided = cache(self._decide)
        # Of speeds of given gates something can be said where self-consistency is not decided.
        self._known_kept = True

    def run(self) -> Race:
        """Return who runs where."""
        # Between the roots of these polynomials the gates, and their faces, are the same.
        fixed = self.given or self.inputs.is_constant
        appearing = [] if fixed else realisability(self.inputs)
        chambers = pieces(appearing, self.limits)
        with phase("gates over the parameter"):
            full = self._full(chambers)
        why = ""
        if not self.given:
            with phase("faces over the parameter"):
                try:
                    self._find_faces(chambers)
                except LimitReachedError as error:
                    self._partial, self._alone = {}, {}
                    why = f"partial gates were not asked ({error})"
        roots = {*map(rational_number, self._alone)}
        running: dict[tuple[str, AlgebraicNumber], GrowingGate] = {}
        there: list[_Entrant] = []
        with phase("gates that run somewhere") as callback:
            entrants = [*full, *self._partial.values()]
            for place, entrant in enumerate(entrants):
                alone = self._by_itself(entrant, appearing)
                if any(part.ranks for part in alone):
                    there.append(entrant)
                    ends = (end for part in alone for end in part.piece.ends if end is not None)
                    roots |= {end for end in ends if self.limits.contains(end.compare)}
                    running |= {
                        (runner.pattern, runner.rate): runner
                        for part in alone
                        for runner in part.runners
                        if runner.rate is not None
                    }
                callback(place + 1, len(entrants))
        with phase("where rates are equal") as callback:
            pairs = list(combinations(running.values(), 2))
            for place, (one, two) in enumerate(pairs):
                assert one.mode_class is not None
                assert two.mode_class is not None
                met = [resultant(one.mode_class, two.mode_class, 0)]
                crossed = roots_of(met, self.limits)
                roots |= {root for root in crossed if self._meet(one, two, root)}
                callback(place + 1, len(pairs))
        with phase("the order between cuts"):
            cut = pieces_between(roots, self.limits)
            found = [self._piece(part, there, self._alone.get(part.sample, ())) for part in cut]
        known = {"group": self.group, "why": why, "given": self.given}
        return Race(parameter=self.name, pieces=merged(found), **known)

    def _full(self, chambers: Sequence[Piece]) -> list[_Entrant]:
        """Return one full gate of each kind that is given, or that some value allows."""
        if self.given:
            kinds = [(alike[0], len(alike)) for alike in gate_kinds(self.given, self.group)]
        else:
            chambers = chambers[:1] if self.inputs.is_constant else chambers
            alikes = gate_kinds(self._allowed(chambers), self.group)
            kinds = sorted(((max(alike), len(alike)) for alike in alikes), reverse=True)
        return [
            _Entrant(
                signs=tuple(2 * value - 1 for value in gate),
                size=size,
                spectrum=gate_spectrum(self.inputs, self.residual, gate),
            )
            for gate, size in kinds
        ]

    def _allowed(self, chambers: Sequence[Piece]) -> Iterator[tuple[int, ...]]:
        """Yield the gates of all chambers, 0 or 1 a sample."""
        for piece in chambers:
            try:
                at = self.inputs.substitute({self.name: piece.sample})
            except ZeroDivisionError:  # the data are infinite there
                continue
            gates = RealisableGates.of(at, limit=self.limit).gates
            yield from map(tuple, gates.astype(int).tolist())

    def _find_faces(self, chambers: Sequence[Piece]) -> None:
        """Find what may have a partial gate somewhere.

        Raises:
            LimitReachedError: There is too much to ask.
        """
        for piece in chambers:
            if not piece.is_root:
                at = self.inputs.substitute({self.name: piece.sample})
                for flat in flats(at):
                    for signs in flat.signs.tolist() if flat.boundary else ():
                        self._add_face(tuple(signs), at)
        for piece in chambers:
            if piece.is_root:
                try:
                    more = every_partial_gate(*self._at(piece.sample), self.group)
                except ZeroDivisionError:  # the data are infinite there
                    continue
                if more := [each for each in more if each.signs not in self._partial]:
                    self._alone[piece.sample] = more

    def _add_face(self, signs: tuple[int, ...], at: ExactMatrix) -> None:
        """Add one face of each kind, with its conditions at a value of the parameter."""
        edge = [place for place, sign in enumerate(signs) if not sign]
        known = self._partial.get(signs)
        if known and len(known.faces) == 1 and rank(at.select(columns=edge)) == len(edge):
            return
        alike = moved_gates(signs, self.group)
        face = Face.of(self.inputs, self.residual, signs, at) if max(alike) == signs else None
        if face is None:
            return
        if known is None:
            if len(self._partial) >= _MOST_FACES:
                msg = f"more than {_MOST_FACES} kinds of faces"
                raise LimitReachedError(msg)
            known = _Entrant(signs=signs, size=len(alike), spectrum=face.spectrum)
        if all(face.weak != each.weak for each in known.faces):
            self._partial[signs] = replace(known, faces=(*known.faces, face))

    def _data_at(self, value: Fraction) -> tuple[ExactMatrix, ExactMatrix]:
        """Return X and R at a value of the parameter.

        Raises:
            ZeroDivisionError: They are infinite there.
        """
        at = {self.name: value}
        return self.inputs.substitute(at), self.residual.substitute(at)

    def _meet(self, one: GrowingGate, two: GrowingGate, root: AlgebraicNumber) -> bool:
        """Return whether float64 leaves open that two rates, and no conjugates, are equal."""
        at = {self.name: Fraction(float(root))}
        try:
            a, b = one.speed.to_float(at), two.speed.to_float(at)
        except ZeroDivisionError:
            return True
        return abs(a - b) <= _NEAR * max(abs(a), abs(b))

    def _by_itself(self, entrant: _Entrant, appearing: list[fmpz_mpoly]) -> tuple[RacePiece, ...]:
        """Return where one gate runs, cut only where that changes."""
        cuts = [*self._cuts(entrant), *self._poles]
        if entrant.faces:
            # Where boundary samples become dependent, or open each other in another way.
            on = self.inputs.select(columns=entrant.boundary)
            independent = rank(on) == len(entrant.boundary)
            cuts += minors(on.T) if independent else appearing
        return merged([self._piece(p, [entrant]) for p in pieces(cuts, self.limits)])

    def _cuts(self, entrant: _Entrant) -> list[fmpz_mpoly]:
        """Return polynomials between whose roots a gate's runners stay the same.

        Raises:
            NotSupportedError: A given gate has growth rates of a degree above ``_MOST_DEGREE``.
        """
        spectrum = entrant.spectrum
        degree = max(one.degree for one in spectrum.classes)
        if self.given and degree > _MOST_DEGREE:
            msg = (
                f"subsets over a parameter: a gate has growth rates of degree {degree} over "
                f"{self.name}, more than {_MOST_DEGREE}, and where they cross is too much to "
                f"decide for all values. Give {self.name} a value and leave --over out"
            )
            raise NotSupportedError(msg)
        conditions = [ExactMatrix.beside([face.strict, face.weak]) for face in entrant.faces]
        try:
            return [p for on in conditions or [self.inputs] for p in consistency(on, spectrum)]
        except (NotSupportedError, LimitReachedError):
            if not self.given:
                raise
            self._known_kept = False
            return [self.inputs.denominator, *ordering(spectrum)]

    def _piece(
        self, piece: Piece, entrants: Iterable[_Entrant], more: Sequence[GrowingGate] = ()
    ) -> RacePiece:
        """Return who runs on a piece, ``more`` among them."""
        runners = list(more)
        try:
            for entrant in entrants:
                runners += self._runners(entrant, piece)
        except ZeroDivisionError:
            return RacePiece(piece=piece, ranks=(), why="the data are infinite")
        return RacePiece.of(piece, runners)

    def _runners(self, entrant: _Entrant, piece: Piece) -> Sequence[GrowingGate]:
        """Return who of a gate runs on a piece."""
        runners = self._decided(entrant, piece.sample)
        if piece.is_root:
            return runners
        at = {self.name: piece.sample}
        modes = [_mode(entrant.spectrum, runner.s, at) for runner in runners]
        return [
            replace(runner, rate=mode.s, mode_class=mode.mode_class, at=piece.sample)
            for runner, mode in zip(runners, modes, strict=True)
        ]

    def _decide(self, entrant: _Entrant, value: Fraction) -> list[GrowingGate]:
        """Return who of a gate runs at a value of the parameter, the fastest first."""
        inputs, residual = self._at(value)
        if entrant.faces:
            x, r = unit_floats(inputs), unit_floats(residual)
            if not plausible(x, r, entrant.boundary, np.array([entrant.signs]))[0]:
                return []
            kept = partial_gates(inputs, residual, [(entrant.signs, entrant.size)])
            # Where a boundary sample is zero, the face is another one.
            return [each for each in kept if each.signs == entrant.signs]
        gate, samples = entrant.gate, columns(inputs)
        pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
        if self.given:
            name = self.given[gate]
            return _given(pairs, samples, gate, entrant.size, name, decided=self._known_kept)
        return consistent_pairs(pairs, samples, gate, entrant.size)


def _mode(spectrum: JointSpectrum, s: AlgebraicNumber, at: dict[str, Fraction]) -> Mode:
    """Return the mode over Q(parameter) that has the value s inside an interval.

    No two of them meet there.
    """
    wanted = order_key(s, {})
    modes = (mode for mode in spectrum.modes if not mode.is_null)
    return next(mode for mode in modes if order_key(mode.s, at) == wanted)
