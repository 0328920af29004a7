"""In which order modes are learned, for all values of a parameter at once: exactly.

While weights are small a mode grows at the rate of its singular value s, so that among modes that
start together the larger s is learned first in the limit of small initial weights. Over a parameter
two modes can change places only where their singular values meet: at roots of polynomials, between
which the order is decided at one rational number and holds on the whole interval. So the values of
the parameter with a wanted order are found, not searched for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise

from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.exceptional.conditions import resultant
from symreln.errors import InputError, NotSupportedError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.order import MEETING_BITS, order_key
from symreln.gating.parameter_intervals import Piece, pieces
from symreln.gating.serialise import Result, number_text
from symreln.gating.wall_polynomials import ordering
from symreln.specs.finding import nearest, shown


@dataclass(frozen=True, kw_only=True, eq=False)
class OrderPiece(Result):
    """An interval of the parameter, or one value, and the order there.

    Attributes:
        piece: An open interval, or one value.
        order: Names of equal speed together, the fastest first.
        wanted: Whether that is the order that is asked for.
    """

    JSON = ("from=piece.low", "to=piece.high", "order", "wanted")
    piece: Piece
    order: tuple[tuple[str, ...], ...]
    wanted: bool

    def lines(self) -> Iterator[str]:
        """Yield the piece as a line."""
        ends = ["" if end is None else number_text(end) for end in self.piece.ends]
        where = ends[0] if self.piece.is_root else f"{ends[0] or '-oo'} to {ends[1] or 'oo'}"
        if not self.order:
            yield f"{where}: two of them are equally fast"
            return
        told = " > ".join(" = ".join(rank) for rank in self.order)
        yield f"{where}: {told}{' (as asked for)' if self.wanted else ''}"


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignReport(Result):
    """For which values of a parameter modes are learned in a wanted order.

    Attributes:
        parameter: Its name.
        asked: Names in the wanted order, first to last.
        pathways: Modes that learn, a tuple a pathway, in the order of their labels.
        pieces: Intervals and single values, ascending; neighbours differ.
    """

    JSON = ("format", "parameter", "asked", "pieces")
    file, format = "design.json", "symreln-design/1"
    parameter: str
    asked: tuple[str, ...]
    pathways: tuple[tuple[ModeDerivation, ...], ...]
    pieces: tuple[OrderPiece, ...]

    @property
    def achieved(self) -> tuple[OrderPiece, ...]:
        """Where the order is the wanted one."""
        return tuple(each for each in self.pieces if each.wanted)

    @property
    def intervals(self) -> tuple[tuple[Fraction, tuple[str, ...]], ...]:
        """A rational number in each interval, and the order there."""
        inside = [each for each in self.pieces if not each.piece.is_root]
        return tuple(
            (each.piece.sample, tuple(chain(*each.order)))
            for each in inside
            if each.piece.sample is not None
        )

    @property
    def witnesses(self) -> tuple[Fraction, ...]:
        """A rational number in each interval with the wanted order."""
        return tuple(each.piece.sample for each in self.achieved if each.piece.sample is not None)

    @property
    def boundaries(self) -> tuple[AlgebraicNumber, ...]:
        """Values at which the order changes."""
        return tuple(
            each.piece.low
            for each in self.pieces
            if each.piece.is_root and each.piece.low is not None
        )

    def labels_at(self, value: Fraction) -> dict[str, str]:
        """Return what modes are called where the parameter has a value, by their labels here.

        A derivation numbers the modes of a pathway by decreasing singular value at the declared
        value, so that labels change places where modes do.
        """
        at, found = {self.parameter: value}, {}
        for modes in self.pathways:
            there = sorted(modes, key=lambda mode: order_key(mode.s, at))
            found |= {new.label: old.label for old, new in zip(modes, there, strict=True)}
        return found

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        wanted = " > ".join(self.asked)
        found = "" if self.achieved else ": for no value"
        yield f"{wanted} over {self.parameter}{found}"
        for each in self.pieces:
            yield from each.lines()


def design_report(derivation: Derivation, over: str, order: Sequence[str]) -> DesignReport:
    """Return for which values of a parameter modes are learned in an order.

    Args:
        derivation: With this parameter alone.
        over: The parameter.
        order: Labels of modes such as "pi_1_2", or names of pathways, which stand for their first
            mode; first to last.

    Raises:
        InputError: A name is not known, or is there twice, or there are fewer than two.
        NotSupportedError: A mode has no closed form of its own, or is of a later stage.
    """
    runners = {name: _modes(derivation, name) for name in order}
    if len(runners) < max(2, len(order)):
        msg = f"design: found order {list(order)}. Give at least two names, each once"
        raise InputError(msg)
    labels = [mode.label for modes in runners.values() for mode in modes]
    asked = set(labels)
    if len(asked) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        msg = f"design: {twice} is of a pathway that is in the order too. Give one of both"
        raise InputError(msg)
    spectra = [
        pathway.spectrum
        for pathway in derivation.pathways
        if any(mode.label in asked for mode in pathway.modes)
    ]
    walls = [polynomial for spectrum in spectra for polynomial in ordering(spectrum)]
    for place, one in enumerate(spectra):
        for other in spectra[:place]:
            walls += [resultant(a, b, 0) for a in one.classes for b in other.classes]
    limits = next(p.range for p in derivation.spec.parameters if p.name == over)
    parts = [_decided(piece, over, runners, order) for piece in pieces(walls, (over,), limits)]
    return DesignReport(
        parameter=over,
        asked=tuple(order),
        pathways=tuple(_learned(pathway) for pathway in derivation.pathways),
        pieces=_merged(parts),
    )


def _modes(derivation: Derivation, name: str) -> tuple[ModeDerivation, ...]:
    """Return the modes that a name stands for.

    Raises:
        InputError: There are none.
        NotSupportedError: See :func:`design_report`.
    """
    known: dict[str, tuple[ModeDerivation, ...]] = {}
    for pathway in derivation.pathways:
        learned = _learned(pathway)
        known |= {mode.label: (mode,) for mode in learned} | {pathway.name: learned}
    if name not in known:
        msg = f"design: found {shown(name)}, expected a mode that learns or a pathway. "
        raise InputError(msg + nearest(name, list(known)))
    stages = derivation.stages[1:]
    later = {mode.label for stage in stages for p in stage.pathways for mode in p.modes}
    for mode in known[name]:
        if mode.strength is None:
            msg = f"design: {mode.label} has no closed form of its own ({mode.why})"
            raise NotSupportedError(msg)
        if mode.label in later:
            msg = (
                f"design: {mode.label} is of a later stage: what earlier ones have learned decides "
                "when it starts, and not its singular value alone"
            )
            raise NotSupportedError(msg)
    return known[name]


def _learned(pathway: PathwayDerivation) -> tuple[ModeDerivation, ...]:
    return tuple(mode for mode in pathway.modes if not mode.is_null)


def _decided(
    piece: Piece, over: str, runners: Mapping[str, tuple[ModeDerivation, ...]], order: Sequence[str]
) -> OrderPiece:
    """Return the order on a piece; none at an irrational value where two are equally fast."""
    at = {over: _near(piece) if piece.sample is None else piece.sample}
    # Larger first; only modes that are equal on the whole piece, or meet at it, tie.
    keys = {name: min(order_key(mode.s, at) for mode in modes) for name, modes in runners.items()}
    ranks: list[list[str]] = []
    for name in sorted(order, key=lambda each: keys[each]):
        if ranks and keys[ranks[-1][0]] == keys[name]:
            ranks[-1].append(name)
        else:
            ranks.append([name])
    found = tuple(map(tuple, ranks))
    if piece.sample is None and any(
        keys[one[0]].meets(keys[other[0]]) for one, other in pairwise(found)
    ):
        return OrderPiece(piece=piece, order=(), wanted=False)
    return OrderPiece(piece=piece, order=found, wanted=found == tuple((name,) for name in order))


def _near(piece: Piece) -> Fraction:
    """Return a rational number that is an irrational one to many more bits than are compared."""
    assert piece.low is not None  # it is a root
    mantissa, exponent = piece.low.ball(None, 4 * MEETING_BITS).mid().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def _merged(parts: Sequence[OrderPiece]) -> tuple[OrderPiece, ...]:
    """Join neighbours of one order."""
    result: list[OrderPiece] = []
    for part in parts:
        if result and result[-1].order == part.order:
            last = result.pop()
            keep = part if last.piece.is_root else last
            piece = Piece(low=last.piece.low, high=part.piece.high, sample=keep.piece.sample)
            part = replace(keep, piece=piece)
        result.append(part)
    return tuple(result)
