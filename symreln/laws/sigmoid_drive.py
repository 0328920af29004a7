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

Amplitudes are squares of ψ, and strengths squares of amplitudes: of a start, the share that grows
before α is learned has the factor F⁴, to leading order in the earlier mode's initial strength. To
second order in r/s_α and s/s_α that is :math:`1 - \frac{\pi^2}{12} \frac{r s (1 - \gamma)}
{s_\alpha^2}`; it is 1 where u' = u. The shares that shrink or stand still are smaller by powers of
that strength, and are as if α were learned at once,

.. math:: \frac{\tilde\pi_0}{\pi_0} = \left(1 + \frac{s}{\tau}\right)^{-2t_\alpha} \left[
          F^4 \frac{(1 + \gamma)^2}{4} \left(1 + \frac{r}{\tau}\right)^{2t_\alpha}
          + \frac{(1 - \gamma)^2}{4} \left(1 - \frac{r}{\tau}\right)^{2t_\alpha}
          + \frac{1 - \gamma^2}{2} \right].

Source: the connection formula is Gauss's, https://dlmf.nist.gov/15.8.E2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.laws.line import CANCELS, Line, along, vanish

if TYPE_CHECKING:
    from symreln.laws.ops import Ops

_Z, _RHO, _SIGMA, _DELTA = sp.symbols("z rho sigma delta", positive=True)
_R, _S, _SOURCE = sp.symbols("r s s_alpha", positive=True)
_TAU, _GAMMA = sp.Symbol("tau", positive=True), sp.Symbol("gamma", real=True)

#: LaTeX of :func:`letters`.
LETTERS = (
    r"\rho = \frac{r}{4 s_{\alpha}}, \quad \sigma = \frac{s}{4 s_{\alpha}}, \quad \delta = "
    r"\frac{\sqrt{r^{2} + s^{2} - 2 r s \gamma}}{4 s_{\alpha}}"
)
#: LaTeX of :func:`start_factor`, in the order of the module's formula.
GROWN = (
    r"\left(1 + \frac{s}{\tau}\right)^{-2 t_{\alpha}} \left[F^{4} \frac{(1 + \gamma)^{2}}{4} "
    r"\left(1 + \frac{r}{\tau}\right)^{2 t_{\alpha}} + \frac{(1 - \gamma)^{2}}{4} "
    r"\left(1 - \frac{r}{\tau}\right)^{2 t_{\alpha}} + \frac{1 - \gamma^{2}}{2}\right]"
)


def start_factor(s: Any, r: Any, overlap: Any, time: Any, tau: Any, factor: Any) -> Any:
    """Return π̃₀/π₀ of the module's formula, γ being the overlap and F⁴ the factor."""
    shares = (
        (factor * (1 + overlap) ** 2 / 4, (1 + r / tau) ** (2 * time)),
        ((1 - overlap) ** 2 / 4, (1 - r / tau) ** (2 * time)),
        ((1 - overlap) * (1 + overlap) / 2, 1),
    )
    total = sum(share * growth for share, growth in shares)
    return (1 + s / tau) ** (-2 * time) * total


def letters(r: Any, s: Any, overlap: Any, source: Any, sqrt: Callable[[Any], Any]) -> tuple:
    """Return ρ, σ and δ.

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
    """Return F⁴."""
    above, below = ([ops.log_gamma(sum(x)) for x in each] for each in _sums(rho, sigma, delta))
    return ops.exp(4 * (sum(above) - sum(below)))


def _sums(rho: Any, sigma: Any, delta: Any) -> tuple[tuple[tuple, tuple], tuple[tuple, tuple]]:
    """Return of which sums F has Γ above, and below: the terms of each."""
    both = (1, rho, sigma)
    return ((1, 2 * rho), (1, 2 * sigma)), ((*both, delta), (*both, -delta))


def formula() -> tuple[str, str]:
    """Return the LaTeX of F and of its letters, aligned."""
    above, below = (
        r"\, ".join(rf"\Gamma({' + '.join(map(to_latex, terms))})" for terms in each)
        for each in _sums(_RHO, _SIGMA, _DELTA)
    )
    factor = rf"F &= \frac{{{above}}}{{{below}}},".replace("+ - ", "- ")
    return factor, LETTERS.replace(" = ", " &= ", 1) + "."


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


def _drive_at_infinity() -> Any:
    """Return p: of what is left of the system as z → ∞, along the change of the drive, (p q; q −p).

    With δ added to p its square is ρ², without it is σ²: p² + q².
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
    _, exponents_row = formula()
    return Line(
        says=r"In $z$ this is Gauss's equation. With the exponents $\pm\rho$ at $0$, $\pm\sigma$ "
        r"at $\infty$ and $\delta$ at $-1$, what grows from small weights is, along the change of "
        "the drive,",
        equation=(
            r"\psi_1 &= z^{\rho} (1 + z)^{-\delta}\, {}_2F_1(\rho - \delta + \sigma, \rho - "
            r"\delta - \sigma;\, 1 + 2\rho;\, -z),",
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
    tops, bottoms = (tuple(map(sum, each)) for each in _sums(_RHO, _SIGMA, _DELTA))
    shown = sp.Mul(*map(sp.gamma, tops)) / sp.Mul(*map(sp.gamma, bottoms))
    unit = sp.Symbol("k", positive=True)
    values = letters(_R, _S, _GAMMA, _SOURCE, sp.sqrt)
    small = {x: unit * y for x, y in zip((_RHO, _SIGMA, _DELTA), values, strict=True)}
    logarithm: Any = sp.Add(*map(sp.loggamma, tops)) - sp.Add(*map(sp.loggamma, bottoms))
    first, second = (logarithm.subs(small).diff(unit, n).subs(unit, 0) for n in (1, 2))
    order = -(sp.pi**2) * _R * _S * (1 - _GAMMA) / (12 * _SOURCE**2)
    return Line(
        says="An earlier mode is learned as a sigmoid, not at once. Where one takes $E_p v$ from "
        r"$r u'$ to $s u$, with $\gamma = u^{\top} u'$, and nothing out of this plane, amplitudes "
        "are squares of what obeys Gauss's equation. Of the three shares of a start, which grow, "
        "shrink and stand still before, the first has by his connection formula a factor of $F$ "
        "to the fourth beside a switch at the half-time; the others are smaller by powers of "
        r"$\pi_0$:",
        equation=(
            rf"\tilde{{\pi}}_0 &= \pi_0 {GROWN},",
            *formula(),
            r"F^4 &= 1 - \frac{\pi^2}{12}\, \frac{r s (1 - \gamma)}{s_\alpha^2} + \ldots",
        ),
        because=r"as $z \to \infty$ it is $z^{\sigma}$ times $\Gamma(1 + 2\rho) "
        r"\Gamma(2\sigma)/(\Gamma(\rho + \sigma - \delta) \Gamma(1 + \rho + \sigma + \delta))$, "
        r"and $(\rho + \sigma - \delta)/2\sigma$ for a switch; strengths are squares of amplitudes",
        check="three steps of the plane multiplied out, at $F = 1$; the quotient of both, by the "
        f"recurrence of Gamma; the derivatives of its logarithm at 0; {CANCELS}",
        holds=vanish(
            _switched(3) - start_factor(_S, _R, _GAMMA, 3, _TAU, sp.S.One),
            sp.expand_func(shown) * at_once - sp.expand_func(reached),
            first,
            second * 2 - order,
        ),
        main=True,
    )


def _switched(steps: int) -> sp.Expr:
    """Return π̃₀/π₀ after some steps at r u' and none yet at s u, in the plane."""
    drive = _R * sp.Matrix([_GAMMA, sp.sqrt(1 - _GAMMA**2)])
    phase = sp.Matrix([[0, *drive], [drive[0], 0, 0], [drive[1], 0, 0]])
    grown = (sp.eye(3) + phase / _TAU) ** steps
    q = sp.Matrix([1, 1, 0]) / sp.sqrt(2)
    found = sp.Matrix(q.T * grown * grown.T * q)[0, 0] / (1 + _S / _TAU) ** (2 * steps)
    return found
