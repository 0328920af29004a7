r"""A growing mode whose drive turns while an earlier mode is learned, as a sigmoid.

While its weights are small a mode v sees :math:`E(t) v = e(t) = s u + g(t) (r u' - s u)`, where
:math:`g = 1 - \pi_\alpha/h_\alpha = 1/(1 + z)`, :math:`z = e^{2 s_\alpha (t - t_\alpha)/\tau}`, is
what an earlier mode α has not learned yet. Its amplitudes (x, a), :math:`\tau \dot x = e \cdot a`,
:math:`\tau \dot a = x\, e`, are the entries of :math:`\psi\psi^T` for a vector ψ of two entries,

.. math:: \tau \dot\psi = \frac{1}{2} \begin{pmatrix} e_1 & e_2 \\ e_2 & -e_1 \end{pmatrix} \psi,

a Fuchsian system in z with the singular points 0, −1 and ∞ and the exponents
:math:`\pm\rho`, :math:`\pm\delta` and :math:`\pm\sigma`,

.. math:: \rho = \frac{r}{4 s_\alpha}, \quad \sigma = \frac{s}{4 s_\alpha}, \quad
          \delta = \frac{\sqrt{r^2 + s^2 - 2 r s \gamma}}{4 s_\alpha}, \qquad \gamma = u \cdot u',

which is Gauss's. What grows at :math:`z \to 0` grows on as :math:`z \to \infty` by his connection
formula, beside a drive that is switched from r u' to s u at once at t_α as

.. math:: F = \frac{\Gamma(1 + 2\rho)\, \Gamma(1 + 2\sigma)}
          {\Gamma(1 + \rho + \sigma + \delta)\, \Gamma(1 + \rho + \sigma - \delta)} \leq 1.

Amplitudes are squares of ψ, and strengths squares of amplitudes: the factor of a strength is F⁴, up
to powers of the earlier mode's initial strength. To second order in r/s_α and s/s_α it is
:math:`1 - \frac{\pi^2}{12} \frac{r s (1 - \gamma)}{s_\alpha^2}`; it is 1 where u' = u.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.laws.line import CANCELS, Line, along, vanish

if TYPE_CHECKING:
    from symreln.laws.ops import Ops

_Z, _RHO, _SIGMA, _DELTA = sp.symbols("z rho sigma delta", positive=True)
#: LaTeX of the formula, and of its letters.
FACTOR = (
    r"F = \frac{\Gamma(1 + 2\rho)\, \Gamma(1 + 2\sigma)}{\Gamma(1 + \rho + \sigma + \delta)\, "
    r"\Gamma(1 + \rho + \sigma - \delta)}"
)
LETTERS = (
    r"\rho = \frac{r}{4 s_\alpha}, \quad \sigma = \frac{s}{4 s_\alpha}, \quad \delta = "
    r"\frac{\sqrt{r^2 + s^2 - 2 r s \gamma}}{4 s_\alpha}"
)


def aligned_factor() -> tuple[str, str]:
    """Return the LaTeX of the formula and of its letters, aligned."""
    rows = (FACTOR + ",", LETTERS + ".")
    factor, letters = (row.replace(" = ", " &= ", 1) for row in rows)
    return factor, letters


def switch_factor(ops: Ops, r: Any, s: Any, shared: Any, source: Any) -> Any:
    """Return F⁴, by which a strength starts lower than if its drive were switched at once.

    Args:
        ops: The number system.
        r: How strongly the mode is driven before the earlier one is learned; not negative.
        s: How strongly afterwards; likewise.
        shared: r γ, the part of the drive before along the one afterwards.
        source: s_α of the earlier mode, positive.
    """
    unit = 4 * source
    apart = ops.sqrt(ops.positive(r * r + s * s - 2 * s * shared)) / unit
    both, gamma = 1 + (r + s) / unit, ops.log_gamma
    inside = gamma(1 + 2 * r / unit) + gamma(1 + 2 * s / unit)
    return ops.exp(4 * (inside - gamma(both + apart) - gamma(both - apart)))


def sigmoid_lines() -> Iterator[Line]:
    """Yield the lines from the sigmoid of an earlier mode to the factor of a later one's start."""
    yield _halved()
    yield _gauss()
    yield _connected()


def _halved() -> Line:
    """Say of which vector the amplitudes are squares."""
    x, a, b, one, two = sp.symbols("x a_1 a_2 e_1 e_2", real=True)
    square = sp.Matrix([[x + a, b], [b, x - a]])
    half = sp.Matrix([[one, two], [two, -one]]) / 2
    moved = {x: one * a + two * b, a: one * x, b: two * x}
    slopes = square.applyfunc(lambda entry: along(entry, moved))
    return Line(
        says="An earlier mode is learned as a sigmoid: of its part of the drive $g = 1/(1 + z)$ is "
        r"left, $z = e^{2 s_\alpha (t - t_\alpha)/\tau}$. Where it takes $E_p v$ from $r u'$ to "
        r"$s u$, amplitudes $(x, a)$ of a unit are the entries of $\psi \psi^{\top}$:",
        equation=(
            r"\tau \dot{x} &= e^{\top} a, \quad \tau \dot{a} = e\, x, \qquad e = s u + g (r u' - "
            r"s u),",
            r"\psi \psi^{\top} &= \begin{pmatrix} x + a_1 & a_2 \\ a_2 & x - a_1 \end{pmatrix}, "
            r"\qquad \tau \dot{\psi} = \frac{1}{2} \begin{pmatrix} e_1 & e_2 \\ e_2 & -e_1 "
            r"\end{pmatrix} \psi",
        ),
        because="in the plane of $u$ and $u'$, with $x$ the part of the first layer along $v$ and "
        "$a$ that of the second",
        check=f"the flow of the matrix, entry by entry; {CANCELS}",
        holds=vanish(*(slopes - half * square - square * half.T)),
    )


def _gauss() -> Line:
    """Say what solves the system."""
    one, two, three = _RHO - _DELTA + _SIGMA, _RHO - _DELTA - _SIGMA, 1 + 2 * _RHO
    p = (_RHO**2 - _SIGMA**2 - _DELTA**2) / (2 * _DELTA)  # of what is left at z → ∞
    prefix = _RHO - _DELTA * _Z / (1 + _Z)  # its logarithm's derivative, times z
    x = -_Z

    def slope(parts: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return z d/dz of A f + B f' times the prefix, f of x with Gauss's equation for f''."""
        a, b = parts
        bent = b * x / (x * (1 - x))
        return (
            _Z * a.diff(_Z) + prefix * a + bent * one * two,
            _Z * b.diff(_Z) + prefix * b + a * x - bent * (three - (one + two + 1) * x),
        )

    drive = p + _DELTA / (1 + _Z)
    left = _DELTA * _Z / (1 + _Z) ** 2 - drive**2 - (_SIGMA**2 - p**2)
    twice = slope(slope((sp.S.One, sp.S.Zero)))
    # Of a system of two: (θ + drive)(θ − drive) is the square of what couples the entries.
    exponents = [
        (p + _DELTA) ** 2 + _SIGMA**2 - p**2 - _RHO**2,  # z → 0
        one + two - 2 * (_RHO - _DELTA),
    ]
    return Line(
        says=r"In $z$ this is Gauss's equation. With the exponents $\pm\rho$ at $0$, $\pm\sigma$ "
        r"at $\infty$ and $\delta$ at $-1$, what grows from small weights is, along the change of "
        "the drive,",
        equation=(
            r"\psi_1 = z^{\rho} (1 + z)^{-\delta}\, {}_2F_1(\rho - \delta + \sigma, \rho - \delta "
            r"- \sigma;\, 1 + 2\rho;\, -z),",
            LETTERS,
        ),
        because=r"the eigenvalues of the system before, after, and of their difference, over $2 "
        r"s_\alpha$",
        check="put into the equation of second order that the system leaves for $\\psi_1$, with "
        f"Gauss's equation for the second derivative; {CANCELS}",
        holds=vanish(twice[0] + left, twice[1], *exponents),
    )


def _connected() -> Line:
    """Say by which factor a start differs from that of a drive that is switched at once."""
    r, s, cosine, source = sp.symbols("r s gamma s_alpha", positive=True)
    above, below = _RHO + _SIGMA + _DELTA, _RHO + _SIGMA - _DELTA
    reached = sp.gamma(2 * _SIGMA) / sp.gamma(below)  # the other two are in F too
    shown: Any = sp.gamma(1 + 2 * _SIGMA) / sp.gamma(1 + below)
    # At once: of the vector that grows before, the part that grows afterwards.
    at_once = (1 + (_RHO - _DELTA) / _SIGMA) / 2
    unit, apart = sp.Symbol("k", positive=True), sp.sqrt(r**2 + s**2 - 2 * r * s * cosine)
    small = {_RHO: unit * r, _SIGMA: unit * s, _DELTA: unit * apart}
    inside = [sp.loggamma(1 + x) for x in (2 * _RHO, 2 * _SIGMA, above, below)]
    logarithm: Any = (inside[0] + inside[1] - inside[2] - inside[3]).subs(small)
    first, second = (logarithm.diff(unit, order).subs(unit, 0) for order in (1, 2))
    order = -(sp.pi**2) * r * s * (1 - cosine) / (48 * source**2)
    return Line(
        says="An earlier mode is learned as a sigmoid, not at once. Where one takes $E_p v$ from "
        r"$r u'$ to $s u$, $\gamma = u^{\top} u'$, amplitudes are squares of what obeys Gauss's "
        "equation, and strengths squares of amplitudes. By his connection formula a start is lower "
        "than of a drive that is switched at the half-time:",
        equation=(
            r"\tilde{\pi}_0 &\to F^4\, \tilde{\pi}_0, \qquad F^4 = 1 - \frac{\pi^2}{12}\, "
            r"\frac{r s (1 - \gamma)}{s_\alpha^2} + \ldots,",
            *aligned_factor(),
        ),
        because=r"as $z \to \infty$ it is $z^{\sigma}$ times $\Gamma(1 + 2\rho) "
        r"\Gamma(2\sigma)/(\Gamma(\rho + \sigma - \delta) \Gamma(1 + \rho + \sigma + \delta))$, "
        r"and $(\rho + \sigma - \delta)/2\sigma$ for a switch",
        check="the quotient of both, by the recurrence of Gamma; the derivatives of its logarithm "
        f"at 0; {CANCELS}",
        holds=vanish(
            reached - at_once * sp.expand_func(shown),
            first,
            second / 2 / (4 * source) ** 2 - order,
        ),
        main=True,
    )
