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

Source: Maennel et al. 2018, Boursier and Flammarion (early alignment); theory.md 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.linear_programming import dot
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.exact.scalar import Scalar
from symreln.gates.arrangement import without_parameters
from symreln.gates.serialise import Result
from symreln.verdict.directions import Pair, Vector, columns, gate_spectrum, singular_pairs


class _HasSpeed(Protocol):
    @property
    def s(self) -> AlgebraicNumber: ...


Speedy = TypeVar("Speedy", bound=_HasSpeed)


@dataclass(frozen=True, kw_only=True, eq=False)
class SelfConsistentGate(Result):
    """A gate with a direction that keeps it: a full one of 0 and 1, or a partial one.

    Attributes:
        signs: 1 open, -1 closed, 0 on the boundary, one a sample; zero samples count as closed.
        times_open: 1, 0, or on the boundary the fraction of time that a unit is open, one a
            sample.
        s: Growth rate, in units of 1/tau.
        v: The direction, not normalised; exact.
        dimension: Of the space of directions with this rate.
        largest: Whether s is the largest singular value of what drives w; partial gates are listed
            for this one only.
        unique: Whether direction and fractions are the only ones for these signs and s.
        size: How many gates a symmetry of the data makes alike, this one included.
    """

    JSON = (
        "pattern",
        "name=pattern",
        "kind",
        "size",
        "speed",
        "realisable",
        "self_consistent",
        "fractions",
        "unique",
        "largest",
        "dimension",
        "boundary",
    )
    realisable = self_consistent = True
    signs: tuple[int, ...]
    times_open: tuple[AlgebraicNumber, ...]
    s: AlgebraicNumber
    v: Vector
    dimension: int
    largest: bool
    unique: bool = True
    size: int = 1

    @property
    def gate(self) -> tuple[int, ...]:
        """0 or 1 a sample, samples on the boundary closed."""
        return tuple(int(sign > 0) for sign in self.signs)

    @property
    def boundary(self) -> tuple[int, ...]:
        """Samples, not zero, to which v is orthogonal."""
        return tuple(place for place, sign in enumerate(self.signs) if not sign)

    @property
    def kind(self) -> Literal["full", "partial"]:
        """Whether a unit must be open for a fraction of time on some boundary sample."""
        held = (self.times_open[place] for place in self.boundary)
        return "full" if all(value.is_zero for value in held) else "partial"

    @property
    def speed(self) -> AlgebraicNumber:
        """The growth rate."""
        return self.s

    @property
    def fractions(self) -> tuple[AlgebraicNumber, ...]:
        """The gate on every / of the pattern, in order; empty for a full gate."""
        return tuple(self.times_open[z] for z in self.boundary if self.kind == "partial")

    @property
    def course(self) -> tuple[int, ...]:
        """What tells gates apart: the signs, boundary samples of a full gate counted as closed."""
        return self.signs if self.kind == "partial" else tuple(2 * g - 1 for g in self.gate)

    @property
    def pattern(self) -> str:
        """The gate as text, one letter a sample: 1, 0, or / on a partial gate's boundary."""
        return sign_pattern(self.course)

    def __repr__(self) -> str:
        return (
            f"SelfConsistentGate({self.pattern}, {self.kind}, s = {float(self.s):.6g}, "
            f"{self.size} alike)"
        )


def sign_pattern(signs: Sequence[int]) -> str:
    """Return signs as text: 1 open, 0 closed, / on the boundary."""
    return "".join({1: "1", -1: "0", 0: "/"}[sign] for sign in signs)


def consistent_pairs(
    pairs: Sequence[Pair], samples: Sequence[Vector], gate: Sequence[int], size: int = 1
) -> list[SelfConsistentGate]:
    """Return the pairs, the largest first, that open exactly the samples of their gate."""
    found = []
    for place, pair in enumerate(pairs):
        v = pair.opening(samples, gate)
        if v is not None:
            found.append(
                SelfConsistentGate(
                    signs=tuple(
                        1 if g else -int(bool(any(x) and dot(v, x)) or not any(x))
                        for g, x in zip(gate, samples, strict=True)
                    ),
                    times_open=tuple(AlgebraicNumber.rational(Scalar.of(int(g))) for g in gate),
                    s=pair.s,
                    v=v,
                    dimension=len(pair.vectors),
                    largest=place == 0,
                    size=size,
                )
            )
    return found


def self_consistent_gates(
    inputs: ExactMatrix,
    residual: ExactMatrix,
    gates: Sequence[tuple[Sequence[int], int]],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[SelfConsistentGate, ...]:
    """Return which gates of 0 and 1 are self-consistent, the fastest first.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters: the targets, or what a stage leaves.
        gates: (gate, how many are alike): all gates that the dataset allows, or one of each kind.
        progress: Called with (gates done, of so many).

    Raises:
        InputError: Shapes do not fit, or a parameter occurs.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    samples = columns(inputs)
    found: list[SelfConsistentGate] = []
    for place, (gate, size) in enumerate(gates):
        pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
        found += consistent_pairs(pairs, samples, gate, size)
        if progress is not None:
            progress(place + 1, len(gates))
    return tuple(sorted(found, key=lambda each: order_key(each.s, {})))


def by_speed(gates: Iterable[Speedy]) -> list[list[Speedy]]:
    """Return what has a growth rate ``s``, equal ones together, the fastest first; exact."""
    ranks: list[list[Speedy]] = []
    for each in sorted(gates, key=lambda gate: order_key(gate.s, {})):
        if ranks and ranks[-1][0].s == each.s:
            ranks[-1].append(each)
        else:
            ranks.append([each])
    return ranks
