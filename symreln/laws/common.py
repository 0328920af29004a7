r"""What the families share: the interface of a trajectory, its direction, stable functions.

Every mode of this package solves an equation :math:`\tau \dot\pi = f(\pi)` whose right-hand side
is a positive factor times the *drive* :math:`s - d\pi`. Then :math:`s - d\pi(t)` keeps the sign
that it has at t = 0, which is the sign of the slope for good.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.errors import InputError, NoClosedFormError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from flint import arb

#: The strength as the variable of a series or of an implicit solution t(pi).
STRENGTH = sp.Symbol("pi", positive=True)
#: Why no family of single modes solves one that is coupled.
COUPLED = "the mode is coupled to modes of other pathways"


class Direction(Enum):
    """Whether a strength rises or falls, for all t >= 0; UNDECIDED where no sign is proven."""

    RISING = "rising"
    FALLING = "falling"
    CONSTANT = "constant"
    UNDECIDED = "undecided"


def direction_of(drive: sp.Expr) -> Direction:
    """Return the direction of a strength whose slope keeps the given expression's sign."""
    slope: Any = sp.factor(drive)
    if slope.is_zero:
        return Direction.CONSTANT
    if slope.is_positive:
        return Direction.RISING
    return Direction.FALLING if slope.is_negative else Direction.UNDECIDED


def unfit_for_two_layers(
    *, layers: int, decoupled: bool, balanced: bool, wants_balanced: bool
) -> str | None:
    """Say why a mode is not that of two decoupled layers with the start that is wanted, or None."""
    if layers != 2:
        return f"the family is for two layers of weights, the pathway has {layers}"
    if not decoupled:
        return COUPLED
    if wants_balanced and not balanced:
        return "the two layers start apart, a² − b² is not 0"
    if balanced and not wants_balanced:
        return "the two layers start balanced, a² = b²"
    return None


def defect(*parts: sp.Expr) -> sp.Expr:
    """Return a sum that is zero exactly when every part is."""
    return sp.Add(*(sp.Abs(part) for part in parts))


class AbstractMode(ABC):
    """A trajectory of one mode that can prove itself.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}.
        d: Matching eigenvalue of its Sigma^{x}, or d_eff where pathways couple.
        strength0: Initial strength.
        t: Time in steps.
        tau: Time constant in steps.
    """

    s: sp.Expr
    d: sp.Expr
    strength0: sp.Expr
    t: sp.Symbol
    tau: sp.Expr

    @property
    @abstractmethod
    def equation(self) -> str:
        """LaTeX of the equation that the family solves, in general symbols."""

    @cached_property
    @abstractmethod
    def expr(self) -> sp.Expr | None:
        """The trajectory, or None where only ``time`` is in closed form."""

    @property
    def printed(self) -> Any:
        """The trajectory, or the equation t = t(pi) where there is none."""
        return self.expr

    @cached_property
    def half_time(self) -> sp.Expr | None:
        """Time at which half the plateau is reached, in steps; None where none is given."""
        return None

    @property
    @abstractmethod
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity."""

    @abstractmethod
    def residual(self) -> sp.Expr:
        """Zero exactly when the solution satisfies its equation and starts at ``strength0``."""

    @abstractmethod
    def direction(self) -> Direction:
        """Return whether the strength rises or falls, as far as it is proven."""

    @abstractmethod
    def series(self, order: int) -> sp.Expr:
        """Return the time in which the strength reaches :data:`STRENGTH`, near strength 0.

        Args:
            order: Substituted into the equation, the series leaves a defect of this order in
                the strength.
        """

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """What the family's ``strength_float`` takes, in order."""
        return (self.s, self.d, self.strength0, self.t, self.tau)

    @property
    @abstractmethod
    def numeric(self) -> Callable[..., np.ndarray]:
        """The family's ``strength_float``."""

    def to_latex(self) -> str:
        """Return the LaTeX of the solution, without delimiters."""
        return sp.latex(self.expr)

    def to_numpy(self, *arguments: sp.Symbol) -> Callable[..., np.ndarray]:
        """Return the trajectory as a float64 function, stable for any t >= 0.

        Args:
            arguments: Every symbol that occurs, in the order in which the function takes values:
                ``t``, and ``tau``, ``strength0`` and parameters where they are symbols.

        Raises:
            InputError: A symbol that occurs is not among the arguments.
        """
        if not all(isinstance(argument, sp.Symbol) for argument in arguments):
            msg = "to_numpy: found something that is no symbol; give SymPy symbols, such as mode.t"
            raise InputError(msg)
        missing = set().union(*(part.free_symbols for part in self.parts)) - set(arguments)
        if missing:
            names = ", ".join(sorted(map(str, missing)))
            msg = f"to_numpy: {names} occurs in the trajectory; give it among the arguments"
            raise InputError(msg)
        functions = [sp.lambdify(arguments, part, "numpy") for part in self.parts]
        numeric = self.numeric
        return lambda *values: numeric(*(function(*values) for function in functions))

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


def geometric_series(s: sp.Expr, d: sp.Expr, exponent: Any, order: int) -> sp.Expr:
    r"""Integrate :math:`\pi^{e-1}/(s - d\pi)` over :math:`\pi`, expanded at 0 up to ``order``.

    The sum of :math:`(d/s)^k \pi^{e+k-1}/s` over k < order leaves, multiplied by
    :math:`\pi^{1-e}(s - d\pi)`, exactly :math:`1 - (d\pi/s)^{order}`.

    For s = 0 the integrand is a power, and the result exact.

    Args:
        s: Singular value, or what takes its place.
        d: Input eigenvalue.
        exponent: e; where e + k = 0 the term is a logarithm.
        order: Number of terms.

    Raises:
        NoClosedFormError: s = d = 0.
    """
    if s.is_zero and d.is_zero:
        msg = "series: s = d = 0, the strength is constant and reaches no other"
        raise NoClosedFormError(msg)
    if s.is_zero:
        return -(STRENGTH ** (exponent - 1)) / ((exponent - 1) * d)
    terms = []
    for k in range(order):
        power = exponent + k
        term = sp.log(STRENGTH) if power == 0 else STRENGTH**power / power
        terms.append((d / s) ** k * term / s)
    return sp.Add(*terms)


def phi(x: np.ndarray) -> np.ndarray:
    r"""Return :math:`(1 - e^{-x})/x` for x >= 0, 1 at x = 0; positive, without cancellation."""
    import numpy as np

    small = np.where(x > 0, x, 1.0)
    return np.where(x > 0, -np.expm1(-x) / small, 1.0)


def span_ball(rate: arb, t: arb) -> arb:
    r"""Return the ball of :math:`\int_0^t e^{-ru} du`, r = ``rate``, which may be exactly 0."""
    return t if rate.is_zero() else -(-rate * t).expm1() / rate


def as_floats(*values: Any) -> tuple[np.ndarray, ...]:
    """Return float64 arrays."""
    import numpy as np

    return tuple(np.asarray(value, dtype=float) for value in values)
