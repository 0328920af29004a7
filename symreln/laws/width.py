r"""Which modes a pathway with few hidden units learns, decided exactly.

A pathway with H units holds maps of rank H at most. Let more than H of its modes learn something,
with mode alpha's amplitudes the vectors a (inputs) and b (outputs) over the units.

*The plateau.* From small weights a mode's amplitude grows like e^{s t/tau} in every direction that
no mode holds yet, so that modes take one direction each by decreasing s, in the limit of small
initial weights. With H of them at rest, pi = s/d, no direction is left.

*Its stability.* Put amplitudes x of b and y of a of another mode beta into the direction that mode
alpha holds. To first order

.. math:: \tau \dot{x} = s_\beta y - \pi_\alpha d_\alpha x, \qquad
   \tau \dot{y} = s_\beta x - \pi_\alpha d_\beta y, \qquad \pi_\alpha d_\alpha = s_\alpha,

whose determinant :math:`s_\alpha^2 d_\beta/d_\alpha - s_\beta^2` is negative, and one eigenvalue
positive, if and only if :math:`s_\beta^2/d_\beta > s_\alpha^2/d_\alpha`. The plateau is therefore
left again where a mode without a direction has the larger s²/d. That eigenvalue is below s_beta, so
beta would have filled a free direction first: all H modes are there before the first is replaced.

*The least loss* of maps of rank H takes the H modes with the largest s²/d: every other choice is
a saddle, by the same determinant, and no other minimum exists (Baldi and Hornik, 1989).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import sympy as sp
from flint import arb

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.enclosure import ball, precision
from symreln.exact.field import Field
from symreln.exact.spectrum import Mode
from symreln.laws.line import CANCELS, Line, moves, vanish

#: Working precision of numbers that are shown.
SHOWN_BITS = 160


@record(eq=False)
class WidthMode:
    """One entry of a pathway's modes, equal ones together; no parameters.

    Attributes:
        label: Symbol of its strength.
        mode: One of the equal modes: s > 0 and d > 0.
    """

    label: str
    mode: Mode

    @cached_property
    def gain(self) -> AlgebraicNumber:
        """s²/d, twice what the mode takes off the loss."""
        mode_class = self.mode.mode_class
        assert mode_class.d is not None  # it closes
        field = Field(mode_class.minpoly)
        ratio = field.multiply(mode_class.eigenvalue, field.inverse(mode_class.d))
        return mode_class.number(ratio, self.mode.root)


@record(eq=False)
class Narrow:
    """A pathway with fewer hidden units than modes that learn something.

    Attributes:
        units: H.
        modes: All modes that learn something; no parameters.
        plateau: How many of the equal modes of every entry are learned first; None where s ties
            at the cut between modes with different s²/d, and the start decides.
        least: The same for the least loss that H units reach.
        escapes: (learned, not learned) indices of entries such that the second replaces the
            first in the end; empty where the plateau stays, or where there is none.
    """

    units: int
    modes: tuple[WidthMode, ...]
    plateau: tuple[int, ...] | None
    least: tuple[int, ...]
    escapes: tuple[tuple[int, int], ...]

    def taken(self, counts: Sequence[int]) -> arb:
        """Return what modes take off the loss, Σ s²/(2d), as a certified ball."""
        with precision(SHOWN_BITS):
            pairs = zip(self.modes, counts, strict=True)
            return sum((m.gain.ball({}, SHOWN_BITS) * n / 2 for m, n in pairs), ball(0))

    @classmethod
    def of(cls, modes: Sequence[WidthMode], units: int) -> Narrow | None:
        """Say what a pathway learns with few units; None where it has enough for all its modes.

        Args:
            modes: Its modes with s > 0, without parameters, that couple to no others.
            units: H, at least 1.
        """
        entries = tuple(modes)
        if sum(entry.mode.multiplicity for entry in entries) <= units:
            return None
        least = _filled(entries, [entry.gain for entry in entries], units)
        plateau = _filled(entries, [entry.mode.s for entry in entries], units)
        if _open_tie(entries, plateau):
            return cls(units=units, modes=entries, plateau=None, least=least, escapes=())
        escapes = tuple(
            (alpha, beta)
            for alpha, held in enumerate(plateau)
            for beta, other in enumerate(plateau)
            if held
            and other < entries[beta].mode.multiplicity
            and order_key(entries[beta].gain, {}) < order_key(entries[alpha].gain, {})
        )
        return cls(units=units, modes=entries, plateau=plateau, least=least, escapes=escapes)


def narrow_lines() -> Iterator[Line]:
    r"""Yield which modes few units learn: the flow of two modes through one unit, at a plateau."""
    s, d = (sp.symbols(f"{name}_alpha {name}_beta", positive=True) for name in ("s", "d"))
    held, x, y = sp.symbols("h x y", positive=True)
    # One unit: its weights from the inputs of both modes, and to their outputs.
    first, last = sp.Matrix([[sp.sqrt(held), y]]), sp.Matrix([sp.sqrt(held), x])
    error = sp.diag(*s) - last * first * sp.diag(*d)
    plateau = {x: 0, y: 0, held: s[0] / d[0]}
    flow = [(error * first.T)[1], (last.T * error)[1]]
    slopes = sp.Matrix([[f.diff(v).subs(plateau) for v in (x, y)] for f in flow])
    rows = [s[1] * y - s[0] * x, s[1] * x - s[0] * d[1] / d[0] * y]
    determinant = s[0] ** 2 * d[1] / d[0] - s[1] ** 2
    rests = [entry.subs(plateau) for entry in (*(error * first.T), *(last.T * error))]
    yield Line(
        says="A pathway has **fewer hidden units than modes**. In the limit of small weights every "
        "unit takes one mode, those with the largest $s$ first. What another mode $\\beta$ puts on "
        "a unit that holds mode $\\alpha$ at its plateau, $x$ in the last and $y$ in the first "
        "layer, follows to first order",
        equation=tuple(moves(name, row) for name, row in zip("xy", rows, strict=True)),
        because="both modes are rows of the same unit, and $E$ has no entry of mode $\\alpha$ left",
        check=f"the flow of both modes through one unit differentiated at the plateau; {CANCELS}",
        holds=vanish(
            *rests,
            *(a * x + b * y - row for (a, b), row in zip(slopes.tolist(), rows, strict=True)),
        ),
        main=True,
    )
    known, gain = (a**2 / b for a, b in zip(s, d, strict=True))
    yield Line(
        says="So $\\beta$ replaces $\\alpha$ exactly where its $s^2/d$ is the larger one:",
        equation=(
            rf"\det = {to_latex(determinant)} < 0 \iff {to_latex(gain)} > {to_latex(known)}",
        ),
        because="a negative determinant has one positive eigenvalue",
        check="the determinant of the two equations; of modes of this spec both orders are decided "
        "exactly",
        holds=vanish(slopes.det() - determinant, determinant - d[1] * (known - gain)),
        main=True,
    )


def _filled(
    entries: Sequence[WidthMode], sizes: Sequence[AlgebraicNumber], units: int
) -> tuple[int, ...]:
    """Give units to the entries by decreasing size."""
    counts = [0] * len(entries)
    for index in sorted(range(len(entries)), key=lambda place: order_key(sizes[place], {})):
        counts[index] = min(entries[index].mode.multiplicity, units - sum(counts))
    return tuple(counts)


def _open_tie(entries: Sequence[WidthMode], counts: tuple[int, ...]) -> bool:
    """Whether an entry that got units has the s of one that lacks some, but another s²/d."""
    held = [i for i, count in enumerate(counts) if count]
    short = [i for i, count in enumerate(counts) if count < entries[i].mode.multiplicity]
    return any(
        i != j
        and order_key(entries[i].mode.s, {}) == order_key(entries[j].mode.s, {})
        and order_key(entries[i].gain, {}) != order_key(entries[j].gain, {})
        for i in held
        for j in short
    )
