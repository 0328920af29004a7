r"""A growing mode whose drive turns while an earlier mode is learned, as a sigmoid.

While its weights are small a mode v sees :math:`E(t) v = e(t) = s u + g(t) (r u' - s u)`, where
:math:`g = 1 - \pi_\alpha/h_\alpha = 1/(1 + z)`, :math:`z = e^{2 s_\alpha (t - t_\alpha)/\tau}`, is
what an earlier mode α has not learned yet. Its amplitudes (x, a), :math:`\tau \dot x = e \cdot a`,
:math:`\tau \dot a = x\, e`, are the entries of :math:`\psi\psi^T` for a vector ψ of two entries,

.. math:: \tau \dot\psi = \frac{1}{2} \begin{pmatrix} e_1 & e_2 \\ e_2 & -e_1 \end{pmatrix} \psi,

a Fuchsian system in z with the singular points 0, −1 and ∞ and the exponents
:math:`\pm\nu_r`, :math:`\pm\nu_\gamma` and :math:`\pm\nu_s`,

.. math:: \nu_r = \frac{r}{4 s_\alpha}, \quad \nu_s = \frac{s}{4 s_\alpha}, \quad
          \nu_\gamma = \frac{\sqrt{r^2 + s^2 - 2 r s \gamma}}{4 s_\alpha}, \quad
          \gamma = u \cdot u',

which is Gauss's. What grows at :math:`z \to 0` grows on as :math:`z \to \infty` by his connection
formula, beside a drive that is switched from r u' to s u at once at t_α as

.. math:: \chi = \frac{\Gamma(1 + 2\nu_r)\, \Gamma(1 + 2\nu_s)}
          {\Gamma(1 + \nu_r + \nu_s + \nu_\gamma)\, \Gamma(1 + \nu_r + \nu_s - \nu_\gamma)}
          \leq 1.

Amplitudes are squares of ψ, and strengths squares of amplitudes: of a start, the share that grows
before α is learned has the factor χ⁴, to leading order in the earlier mode's initial strength. To
second order in r/s_α and s/s_α that is :math:`1 - \frac{\pi^2}{12} \frac{r s (1 - \gamma)}
{s_\alpha^2}`; it is 1 where u' = u. The shares that shrink or stand still are smaller by powers of
that strength, and are as if α were learned at once,

.. math:: \frac{\tilde\pi_0}{\pi_0} = \left(1 + \frac{s}{\tau}\right)^{-2t_\alpha} \left[
          \chi^4 \frac{(1 + \gamma)^2}{4} \left(1 + \frac{r}{\tau}\right)^{2t_\alpha}
          + \frac{(1 - \gamma)^2}{4} \left(1 - \frac{r}{\tau}\right)^{2t_\alpha}
          + \frac{1 - \gamma^2}{2} \right].

Source: the connection formula is Gauss's, https://dlmf.nist.gov/15.8.E2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.laws.line import CANCELS, Line, along, vanish
from symreln.laws.ops import SYMPY, Ops

# Without signs, which SymPy would ask of every Gamma's argument.
_Z, _RHO, _SIGMA, _DELTA = sp.symbols("z nu_r nu_s nu_gamma")
_R, _S, _SOURCE = sp.symbols("r s s_alpha", positive=True)
_TAU, _GAMMA = sp.Symbol("tau", positive=True), sp.Symbol("gamma", real=True)

#: LaTeX of :func:`letters`.
_LETTERS = (
    r"\nu_r = \frac{r}{4 s_{\alpha}}, \quad \nu_s = \frac{s}{4 s_{\alpha}}, \quad \nu_\gamma = "
    r"\frac{\sqrt{r^{2} + s^{2} - 2 r s \gamma}}{4 s_{\alpha}}"
)
#: LaTeX of :func:`evaluated_factor`, in the order of the module's formula.
_GROWN = (
    r"\left(1 + \frac{s}{\tau}\right)^{-2 t_{\alpha}} \left[\chi^{4} \frac{(1 + \gamma)^{2}}{4} "
    r"\left(1 + \frac{r}{\tau}\right)^{2 t_{\alpha}} + \frac{(1 - \gamma)^{2}}{4} "
    r"\left(1 - \frac{r}{\tau}\right)^{2 t_{\alpha}} + \frac{1 - \gamma^{2}}{2}\right]"
)


def evaluated_factor(
    ops: Ops, s: Any, r: Any, overlap: Any, time: Any, tau: Any, factor: Any
) -> Any:
    """Return π̃₀/π₀ of the module's formula, γ being the overlap and χ⁴ the factor.

    Without a power that overflows.
    """
    plus, minus = 1 + overlap, 1 - overlap  # whose squares as powers no ball around 0 has
    # The shares of a start that grow, shrink and stand still before α is learned.
    shares = factor * plus * plus / 4, minus * minus / 4, minus * plus / 2
    growths = (
        ops.exp(2 * time * (ops.log1p(x / tau) - ops.log1p(s / tau))) for x in (r, -r, 0 * r)
    )
    return sum(x * y for x, y in zip(shares, growths, strict=True))


def letters(r: Any, s: Any, overlap: Any, source: Any, sqrt: Callable[[Any], Any]) -> tuple:
    """Return ν_r, ν_s and ν_γ.

    Args:
        r: How strongly the mode is driven before the earlier one is learned; not negative.
        s: How strongly afterwards; likewise.
        overlap: γ.
        source: s_α of the earlier mode, positive.
        sqrt: Of the number system.
    """
    apart = sqrt((r - s) * (r - s) + 2 * r * s * (1 - overlap))
    return tuple(each / (4 * source) for each in (r, s, apart))


def sigmoid_factor(ops: Ops, rho: Any, sigma: Any, delta: Any) -> Any:
    """Return χ⁴."""
    above, below = ([ops.log_gamma(sum(x)) for x in each] for each in _sums(rho, sigma, delta))
    return ops.exp(4 * (sum(above) - sum(below)))


def _sums(rho: Any, sigma: Any, delta: Any) -> tuple[tuple[tuple, tuple], tuple[tuple, tuple]]:
    """Return of which sums χ has Γ above, and below: the terms of each."""
    both = (1, rho, sigma)
    return ((1, 2 * rho), (1, 2 * sigma)), ((*both, delta), (*both, -delta))


def _formula() -> tuple[str, str]:
    """Return the LaTeX of χ and of its letters, aligned."""
    above, below = (
        r"\, ".join(rf"\Gamma({' + '.join(map(to_latex, terms))})" for terms in each)
        for each in _sums(_RHO, _SIGMA, _DELTA)
    )
    factor = rf"\chi &= \frac{{{above}}}{{{below}}},".replace("+ - ", "- ")
    return factor, _LETTERS.replace(" = ", " &= ", 1) + "."


def sigmoid_lines() -> Iterator[Line]:
    """Yield the lines from the sigmoid of an earlier mode to the factor of a later one's start."""
    yield _halved()
    yield _gauss()
    yield _connected()


def _halved() -> Line:
    """Say of which vector the amplitudes are squares."""
    x, a, b, one, two = sp.symbols("x a_1 a_2 e_1 e_2", real=True)
    square = sp.Matrix([[x + a, b], [b, x - a]])
    half = _halved_drive((one, two))
    moved = {x: one * a + two * b, a: one * x, b: two * x}
    slopes = square.applyfunc(lambda entry: along(entry, moved))
    return Line(
        says="**Head start.** Until earlier stages have learned, a later pathway sees more than "
        "its own residual. An earlier mode is learned as a sigmoid: of its part $g = 1/(1 + z)$ is "
        r"left, $z = e^{2 s_\alpha (t - t_\alpha)/\tau}$. Where it takes $E_p v$ from $r u'$ to "
        r"$s u$, with unit vectors $u$ and $u'$, the amplitudes $(x, a)$ of a unit, in a symmetric "
        r"matrix, move as $\psi \psi^{\top}$ does:",
        equation=(
            r"\tau \dot{x} &= e^{\top} a, \quad \tau \dot{a} = e\, x, \qquad e = s u + g (r u' - "
            r"s u),",
            r"A &= \begin{pmatrix} x + a_1 & a_2 \\ a_2 & x - a_1 \end{pmatrix}, \quad \tau "
            r"\dot{A} = N A + A N, \quad N = \frac{1}{2} \begin{pmatrix} e_1 & e_2 \\ e_2 & -e_1 "
            r"\end{pmatrix}, \quad \tau \dot{\psi} = N \psi",
        ),
        because="in the plane of $u$ and $u'$, with $x$ the part of the first layer along $v$ and "
        "$a$ that of the second",
        check=f"the flow of the matrix, entry by entry; {CANCELS}",
        holds=vanish(*(slopes - half * square - square * half.T)),
    )


def _drive_at_infinity() -> Any:
    """Return p: of what is left of the system as z → ∞, along the change of the drive, (p q; q −p).

    With ν_γ added to p, p² + q² is ν_r², and ν_s² without it.
    """
    return (_RHO**2 - _SIGMA**2 - _DELTA**2) / (2 * _DELTA)


def _gauss() -> Line:
    """Say what solves the system."""
    one, two, three = _RHO - _DELTA + _SIGMA, _RHO - _DELTA - _SIGMA, 1 + 2 * _RHO
    p = _drive_at_infinity()
    prefix = _RHO - _DELTA * _Z / (1 + _Z)  # its logarithm's derivative, times z
    x = -_Z

    def slope(parts: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return z d/dz of A f + B f' times the prefix, f of x with Gauss's equation for f''."""
        a, b = parts
        bent = b / (1 - x)
        return (
            _Z * a.diff(_Z) + prefix * a + bent * one * two,
            _Z * b.diff(_Z) + prefix * b + a * x - bent * (three - (one + two + 1) * x),
        )

    drive = p + _DELTA / (1 + _Z)
    twice = slope(slope((sp.S.One, sp.S.Zero)))
    # The second entry out of both equations: θ²ψ₁ is this times ψ₁.
    bends = _Z * drive.diff(_Z) + drive**2 + _SIGMA**2 - p**2
    before = _R * sp.Matrix([_GAMMA, sp.sqrt(1 - _GAMMA**2)])
    after = _S * sp.Matrix([1, 0])
    exponents = [
        _halved_drive(e / (2 * _SOURCE)).det() + letter**2
        for e, letter in zip(
            (before, after, before - after),
            letters(_R, _S, _GAMMA, _SOURCE, sp.sqrt),
            strict=True,
        )
    ]
    _, exponents_row = _formula()
    return Line(
        says=r"In $z$ this is Gauss's equation. With the exponents $\pm\nu_r$ at $0$, $\pm\nu_s$ "
        r"at $\infty$ and $\nu_\gamma$ at $-1$, what grows from small weights is, along the change "
        "of the drive,",
        equation=(
            r"\psi_1 &= z^{\nu_r} (1 + z)^{-\nu_\gamma}\, {}_2F_1(\nu_r - \nu_\gamma + \nu_s, "
            r"\nu_r - \nu_\gamma - \nu_s;\, 1 + 2\nu_r;\, -z),",
            exponents_row,
        ),
        because=r"$\gamma = u^{\top} u'$; the eigenvalues of the system before, after, and of "
        r"their difference, over $2 s_\alpha$",
        check="put into the equation of second order that the system leaves for $\\psi_1$, with "
        f"Gauss's equation for the second derivative; the three determinants; {CANCELS}",
        holds=vanish(twice[0] - bends, twice[1], *exponents),
    )


def _halved_drive(e: Any) -> sp.Matrix:
    """Return the matrix that moves ψ, of a drive e in the plane."""
    return sp.Matrix([[e[0], e[1]], [e[1], -e[0]]]) / 2


def _connected() -> Line:
    """Say by which factor what grows differs from a drive that is switched at once."""
    below = _RHO + _SIGMA - _DELTA
    reached = sp.gamma(1 + 2 * _RHO) * sp.gamma(2 * _SIGMA)
    reached /= sp.gamma(below) * sp.gamma(1 + _RHO + _SIGMA + _DELTA)
    # At once: of the vector (1, ψ₂/ψ₁) that grows before, the first entry of what grows afterwards.
    p = _drive_at_infinity()
    across = _RHO - (p + _DELTA)  # q ψ₂/ψ₁
    at_once = (1 + (p + across) / _SIGMA) / 2
    values = letters(_R, _S, _GAMMA, _SOURCE, sp.sqrt)
    tops, bottoms = (tuple(map(sum, each)) for each in _sums(_RHO, _SIGMA, _DELTA))
    shown = sp.Mul(*map(sp.gamma, tops)) / sp.Mul(*map(sp.gamma, bottoms))
    unit, slope = sp.symbols("k c")
    slopes = [[sum(terms) - 1 for terms in each] for each in _sums(*values)]
    derivatives: Any = [sp.loggamma(1 + unit * slope).diff(unit, n).subs(unit, 0) for n in (1, 2)]
    first, second = (
        sum(each.subs(slope, x) for x in slopes[0]) - sum(each.subs(slope, x) for x in slopes[1])
        for each in derivatives
    )
    order = -(sp.pi**2) * _R * _S * (1 - _GAMMA) / (12 * _SOURCE**2)
    return Line(
        says="An earlier mode is learned as a sigmoid, not at once. Where one takes $E_p v$ from "
        r"$r u'$ to $s u$, unit vectors with $\gamma = u^{\top} u'$, and nothing out of their "
        "plane, a start has three shares: what grows until the half-time, what shrinks and what "
        "stands still. What a sigmoid makes of the first is a factor $\\chi^4$, by Gauss's "
        "connection formula; the others are smaller by powers of $\\pi_0$:",
        equation=(
            rf"\tilde{{\pi}}_0 &= \pi_0 {_GROWN},",
            *_formula(),
            r"\chi^4 &= 1 - \frac{\pi^2}{12}\, \frac{r s (1 - \gamma)}{s_\alpha^2} + \ldots",
        ),
        because=r"as $z \to \infty$ it is $z^{\nu_s}$ times $\Gamma(1 + 2\nu_r) "
        r"\Gamma(2\nu_s)/(\Gamma(\nu_r + \nu_s - \nu_\gamma) "
        r"\Gamma(1 + \nu_r + \nu_s + \nu_\gamma))$, and $(\nu_r + \nu_s - \nu_\gamma)/2\nu_s$ for "
        "a switch; strengths are squares of amplitudes",
        check="three steps of the plane multiplied out, at $\\chi = 1$; the quotient of both, by "
        f"the recurrence of Gamma; the derivatives of its logarithm at 0; {CANCELS}",
        holds=vanish(
            _switched(3) - evaluated_factor(SYMPY, _S, _R, _GAMMA, 3, _TAU, sp.S.One),
            sp.expand_func(shown) * at_once - sp.expand_func(reached),
            first,
            second * 2 - order,
        ),
    )


def _switched(steps: int) -> sp.Expr:
    """Return π̃₀/π₀ after some steps at r u' and none yet at s u, in the plane."""
    x, y = _R / _TAU * _GAMMA, _R / _TAU * sp.sqrt(1 - _GAMMA**2)
    step = sp.Matrix([[1, x, y], [x, 1, 0], [y, 0, 1]])
    grown = step**steps * sp.Matrix([1, 1, 0])  # of v and the outputs, over √2
    return grown.dot(grown) / 2 / (1 + _S / _TAU) ** (2 * steps)
