r"""Self-consistent gates: the ones that early training from small weights selects, exactly.

While weights are small the residual R is constant and a unit follows

.. math:: \tau\dot w = \sum_\mu g_\mu (b \cdot r_\mu)\, x_\mu / P, \qquad
   \tau\dot b = \sum_\mu g_\mu (w \cdot x_\mu)\, r_\mu / P, \qquad g = 1[X^T w > 0].

A direction stays fixed and grows with rate s where w and b are along a singular pair (v, u) of
:math:`R\,{\rm diag}(g) X^T/P` with s > 0 and v opens exactly the samples of g: then g is
self-consistent. Where s has several directions, any of their span will do: whether one opens the
right samples is a linear programme. (u, v) and (-u, -v) are both asked.

There need not be any. The rates are critical values of
:math:`\sum_\mu (w\cdot x_\mu)_+\,(b\cdot r_\mu)/P` on unit vectors; its maximum is smooth, and
then a self-consistent gate, unless samples with :math:`b\cdot r_\mu < 0` lie exactly on the
boundary of w: opening them would push w back, so units stay there. That is no gate of 0 and 1.

Source: Maennel et al. 2018, Boursier and Flammarion (early alignment).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.linear_programming import dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import ModeClass
from symreln.gating.arrangement import without_parameters
from symreln.gating.serialise import Result
from symreln.verdict.directions import Pair, Vector, columns, gate_spectrum, singular_pairs


@record(eq=False)
class SignedGate(Result):
    """A gate of 0 and 1, or one with samples on its boundary.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary for a fraction of time, one a sample.
        size: How many gates a symmetry of the data makes alike, this one included.
    """

    signs: tuple[int, ...]
    size: int = 1

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
        """The gate as text, one letter a sample: 1, 0, or / on a partial gate's boundary."""
        return sign_pattern(self.signs)


@record(eq=False)
class GrowingGate(SignedGate):
    """A gate with a direction that grows: at one value of the data, or on a piece of a race.

    Attributes:
        s: Growth rate, in units of 1/tau; on a piece, at its number, or at a cut its value.
        largest: Whether s is the largest singular value of what drives w; partial gates are listed
            for that one only.
        fractions: The gate on every / of the pattern, in order: the fraction of time that a unit is
            open; empty for a full gate.
        v: The direction, not normalised; exact.
        boundary: Samples, not zero, to which v is orthogonal.
        rate: Growth rate as a function of the parameter, on an interval; None elsewhere.
        mode_class: Its conjugacy class over Q(parameter), on an interval.
        at: The rational number at which an interval was decided, fractions too.
        self_consistent: Whether the direction has the gate. Only races of given gates have some
            that have not, or None: not decided.
        realisable: Whether some direction has the gate; None of given gates, which differ in
            self-consistency from piece to piece.
        name: Of a given gate.
    """

    JSON = (
        *("pattern", "name=called", "kind", "size", "speed", "realisable?"),
        *("self_consistent=stays?", "fractions", "fractions_at?", "largest", "boundary"),
    )
    s: AlgebraicNumber
    largest: bool = True
    fractions: tuple[AlgebraicNumber, ...] = ()
    v: Vector = ()
    boundary: tuple[int, ...] = ()
    rate: AlgebraicNumber | None = None
    mode_class: ModeClass | None = None
    at: Fraction | None = None
    self_consistent: bool | None = True
    realisable: bool | None = True
    name: str = ""

    @property
    def called(self) -> str:
        """Its name, or the gate as text."""
        return self.name or self.pattern

    @property
    def stays(self) -> bool | None:
        """Whether units keep the gate; None of given gates, which differ in it."""
        return None if self.realisable is None else self.self_consistent

    @property
    def speed(self) -> AlgebraicNumber:
        """The rate, as a function of the parameter where it is known."""
        return self.s if self.rate is None else self.rate

    @property
    def fractions_at(self) -> Fraction | None:
        """Where the fractions are given, if there are any and it has to be said."""
        return self.at if self.fractions else None

    def __repr__(self) -> str:
        name, orbit = type(self).__name__, f"orbit of size {self.size}"
        return f"{name}({self.pattern}, {self.kind}, s = {float(self.s):.6g}, {orbit})"


def sign_pattern(signs: Sequence[int]) -> str:
    """Return signs as text: 1 open, 0 closed, / on the boundary."""
    return "".join({1: "1", -1: "0", 0: "/"}[sign] for sign in signs)


def consistent_pairs(
    pairs: Sequence[Pair], samples: Sequence[Vector], gate: Sequence[int], size: int = 1
) -> list[GrowingGate]:
    """Return the pairs, the largest first, that open exactly the samples of their gate."""
    return [
        GrowingGate(
            signs=tuple(2 * int(g) - 1 for g in gate),
            size=size,
            s=pair.s,
            v=v,
            largest=place == 0,
            boundary=tuple(k for k, x in enumerate(samples) if any(x) and not dot(v, x)),
        )
        for place, pair in enumerate(pairs)
        if (v := pair.opening(samples, gate)) is not None
    ]


def self_consistent_gates(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    gates: Sequence[tuple[Sequence[int], int]],
) -> tuple[GrowingGate, ...]:
    """Return which gates of 0 and 1 are self-consistent, the fastest first.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters: the targets, or what a stage leaves.
        gates: (gate, how many are alike): all gates that the dataset allows, or one of each kind.

    Raises:
        InputError: A parameter occurs.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    samples = columns(inputs)
    found: list[GrowingGate] = []
    with phase("self-consistent gates") as report:
        for place, (gate, size) in enumerate(gates, start=1):
            pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
            found += consistent_pairs(pairs, samples, gate, size)
            report(place, len(gates))
    return tuple(sorted(found, key=lambda each: order_key(each.s, {})))
