"""All gates of a dataset with one parameter: what there is on every interval and at every root."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from symreln.exact.domain import Range
from symreln.exact.matrix import ExactMatrix
from symreln.gates import critical
from symreln.gates.enumerate import LIMIT, enumerate_gates, pattern
from symreln.gates.irrational import columns_at, field_of, gates_at
from symreln.gates.line import Piece, only_parameter, pieces

#: Samples up to which gates are listed at an irrational value: there each one takes a programme.
MOST_SAMPLES = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Chamber:
    """Values of the parameter that allow the same gates.

    Attributes:
        piece: An open interval, or a single value.
        gates: As text, one digit a sample, descending; None where the data are infinite, or where
            an irrational value was left undecided.
        why: Why there are none, or "".
        closed: Whether the lower and the upper end belong to it.
    """

    piece: Piece
    gates: tuple[str, ...] | None
    why: str = ""
    closed: tuple[bool, bool] = (False, False)


def gate_chambers(inputs: ExactMatrix, limits: Range, limit: int = LIMIT) -> tuple[Chamber, ...]:
    """Return the gates for all values of the parameter, in ascending order of it.

    Neighbours with the same gates are one chamber, so every single value and every end that is
    left is one where the list changes.

    Args:
        inputs: X, shape (n_x, P), in which one parameter occurs.
        limits: The parameter's range.
        limit: Number of gates above which an enumeration ends.

    Raises:
        InputError: No parameter occurs, or several.
        LimitReachedError: There are too many gates, or too many minors.
    """
    x = over(inputs, only_parameter(inputs))
    found = pieces(critical.realisability(x), x.parameters, limits)
    return _merged([_chamber(x, piece, limit) for piece in found])


def over(matrix: ExactMatrix, name: str) -> ExactMatrix:
    """Return a matrix over one parameter, others not occurring in it.

    Args:
        matrix: Exact.
        name: The parameter.
    """
    others = [other for other in matrix.parameters if other != name]
    left = matrix.substitute(dict.fromkeys(others, Fraction(1)))
    return left if left.parameters else left.promoted((name,))


def _chamber(inputs: ExactMatrix, piece: Piece, limit: int) -> Chamber:
    return replace(_listed(inputs, piece, limit), closed=(piece.is_root, piece.is_root))


def _listed(inputs: ExactMatrix, piece: Piece, limit: int) -> Chamber:
    (name,) = inputs.parameters
    try:
        if piece.sample is not None:
            found = enumerate_gates(inputs.substitute({name: piece.sample}), limit=limit)
            gates = tuple(found.pattern(k) for k in range(found.count))
            return Chamber(piece=piece, gates=gates)
        if inputs.shape[1] > MOST_SAMPLES:
            why = f"more than {MOST_SAMPLES} samples at an irrational value"
            return Chamber(piece=piece, gates=None, why=why)
        assert piece.low is not None
        listed = gates_at(columns_at(inputs, field_of(piece.low)))
    except ZeroDivisionError:
        return Chamber(piece=piece, gates=None, why="the data are infinite")
    return Chamber(piece=piece, gates=tuple(sorted(map(pattern, listed), reverse=True)))


def _merged(chambers: list[Chamber]) -> tuple[Chamber, ...]:
    """Join neighbours that have the same gates."""
    result: list[Chamber] = []
    for chamber in chambers:
        last = result[-1] if result else None
        if last is None or last.gates is None or last.gates != chamber.gates:
            result.append(chamber)
            continue
        sample = chamber.piece.sample if last.piece.sample is None else last.piece.sample
        piece = Piece(low=last.piece.low, high=chamber.piece.high, sample=sample)
        closed = (last.closed[0], chamber.closed[1])
        result[-1] = Chamber(piece=piece, gates=last.gates, closed=closed)
    return tuple(result)
