"""One line of a derivation: what is written, how it follows, and whether the program's check holds.

A law states the lines from its amplitudes to the formula that is printed, with free symbols for all
numbers. Where a row is one expression, it is printed from the very expression that is checked; rows
with matrices, sums over pathways or names for long parts are written beside their check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import slashed_latex, to_latex, weighted
from symreln.exact.cancelling import cancelled

#: Amplitudes of a mode in the first and in the second layer, and the variable of an integral.
FIRST, SECOND = sp.symbols("a b", positive=True)
X = sp.Symbol("x", positive=True)
#: π = a b, the strength.
PRODUCT = sp.Symbol("pi", positive=True)

#: How the refusal of a line that does not hold begins.
REFUSAL = "the derivation's own check failed"
#: How lines are checked, in words.
CANCELS = "both sides subtracted; the difference cancels to 0"
DIFFERENTIATED = "differentiated; the integrand comes out, and the lower end gives 0"
SUBSTITUTED = "substituted into the mode equation; the residual and the initial value cancel to 0"


@record
class Line:
    """One line of a derivation.

    Attributes:
        says: The sentence before it; a template of :func:`symreln.document.typeset.phrase`.
        equation: LaTeX of its rows, without delimiters, aligned at ``&``.
        because: How it follows from the lines before; likewise a template.
        check: How the program checked it; likewise.
        holds: Whether the check holds.
        main: Whether it stands in the short form of the derivation too.
    """

    says: str
    equation: tuple[str, ...]
    because: str
    check: str
    holds: bool
    main: bool = False


def vanish(*parts: Any) -> bool:
    """Whether all expressions are zero, by cancellation alone."""
    return all(cancelled(part) == 0 for part in parts)


def along(expr: sp.Expr, slopes: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Return the derivative of an expression along a flow: of every symbol its slope."""
    return sp.Add(*(expr.diff(name) * slope for name, slope in slopes.items()))


def moves(letter: str, rate: Any) -> str:
    r"""Return the LaTeX of :math:`\tau \dot x = \ldots`, aligned; its index has no dot.

    Example:
        >>> moves("w_{1}", X)
        '\\tau \\dot{w}_{1} &= x'
    """
    name, mark, index = letter.partition("_")
    return rf"\tau \dot{{{name}}}{mark}{index} &= {to_latex(rate)}"


def integral(integrand: Any, low: str, high: str) -> str:
    """Return the LaTeX of an integral over :data:`X`."""
    return rf"\int_{{{low}}}^{{{high}}} {to_latex(integrand)}\, dx"


def is_primitive(found: Any, integrand: Any, variable: sp.Symbol, begin: Any) -> bool:
    """Whether ``found`` has the derivative ``integrand`` and vanishes at ``begin``."""
    at_start = sp.simplify(found.subs(variable, begin))
    return vanish(found.diff(variable) - integrand) and at_start == 0


def amplitude_lines(s: Any, d: Any, decay: Any = 0) -> Iterator[Line]:
    """Yield the equations of the two amplitudes of a mode, and what they conserve.

    Args:
        s: Singular value.
        d: Input eigenvalue.
        decay: Weight decay, 0 for none.
    """
    slopes = amplitude_slopes(s, d, decay)
    share = d * PRODUCT**2 / 2 - s * PRODUCT + decay * (FIRST**2 + SECOND**2) / 2
    loss = share.subs(PRODUCT, FIRST * SECOND)
    yield Line(
        says="One mode has the amplitude $a$ in the first and $b$ in the second layer, and "
        r"$\pi = a b$ in their product:",
        equation=tuple(
            moves(to_latex(name), slope.subs(FIRST * SECOND, PRODUCT))
            for name, slope in slopes.items()
        ),
        because="the diagonal entries of the flow in the basis of the modes",
        check="the negative gradient of the mode's share of the loss, "
        f"${to_latex(sp.Add(*(weighted(term, [PRODUCT]) for term in share.args)))}$; {CANCELS}",
        holds=vanish(*(slope + loss.diff(name) for name, slope in slopes.items())),
        main=True,
    )
    difference, falls = FIRST**2 - SECOND**2, -2 * decay
    yield Line(
        says="The difference of their squares "
        + ("decays:" if decay != 0 else "does not move: it is conserved."),
        equation=(
            rf"\tau \frac{{d}}{{dt}} \left({to_latex(difference)}\right) &= "
            + (rf"{to_latex(falls)} \left({to_latex(difference)}\right)" if falls != 0 else "0"),
        ),
        because="product rule",
        check=CANCELS,
        holds=vanish(along(difference, slopes) - falls * difference),
    )


def amplitude_slopes(s: Any, d: Any, decay: Any = 0) -> dict[sp.Symbol, sp.Expr]:
    r"""Return :math:`\tau \dot a` and :math:`\tau \dot b` of a mode of two layers."""
    drive = s - d * FIRST * SECOND
    return {FIRST: SECOND * drive - decay * FIRST, SECOND: FIRST * drive - decay * SECOND}


def steps_line(
    formula: tuple[str, ...],
    step: sp.Expr,
    of: sp.Symbol,
    growth: Any,
    *,
    holds: bool,
    exact: bool = False,
) -> Line:
    """Return the line from infinitely small steps to those of gradient descent.

    Args:
        formula: LaTeX of the printed formula, row by row.
        step: What a step of gradient descent makes of ``of``.
        of: What moves: an amplitude, or a strength.
        growth: g, by which a step multiplies while ``of`` is small: 1 + g/τ.
        holds: Whether the formula is the flow's with the clock of gradient descent.
        exact: Whether steps are followed exactly, not only while the mode is small.
    """
    ratio = growth / sp.Symbol("tau", positive=True)
    multiplied = 1 + ratio
    factor, power = to_latex(multiplied), slashed_latex(ratio)
    when = "The distance from the plateau" if exact else "While a mode is small its amplitude"
    return Line(
        says=f"Training takes finite steps. {when} is multiplied by ${factor}$ in each step, and "
        rf"not by $e^{{{power}}}$, so that $\ln\left({factor}\right)$ stands for ${power}$ in the "
        "exponent; "
        "the plateau stays:",
        equation=formula,
        because="the first order of a step in the amplitude"
        + ("" if exact else "; where it saturates an error of the order of one step is left"),
        check="the step's factor by differentiation at 0; the formula is that of the flow with "
        rf"${slashed_latex(growth / sp.log(1 + ratio))}$ for $\tau$: exponents subtracted, "
        "cancelled to 0",
        holds=holds and vanish(step.diff(of).subs(of, 0) - multiplied),
        main=True,
    )


def same(one: Any, other: Any) -> bool:
    """Whether two forms of a formula are one, by exponentials where cancellation does not tell."""
    return vanish(one - other) or sp.simplify((one - other).rewrite(sp.exp)) == 0


@lru_cache(maxsize=64)
def proven_once(
    lines: Callable[..., Iterable[Line]], *arguments: Any, **regime: bool
) -> tuple[Line, ...]:
    """Return lines that their arguments alone decide, no spec: a process proves them once."""
    return tuple(lines(*arguments, **regime))


def checked(lines: Iterable[Line], what: str) -> tuple[Line, ...]:
    """Return lines that all hold.

    Args:
        lines: In their order.
        what: What they derive, for the message.

    Raises:
        ArithmeticError: A line's check failed: a bug of symreln, and nothing is printed.
    """
    found = tuple(lines)
    for number, line in enumerate(found, start=1):
        if not line.holds:
            msg = f"{REFUSAL}: {what}, line {number}: {' '.join(line.equation)} ({line.check})"
            raise ArithmeticError(msg)
    return found
