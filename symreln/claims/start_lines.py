"""Where strengths start: the lines from random weights to the effective initial strength."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_latex
from symreln.laws.choice import expected_start, law_of
from symreln.laws.law import HEAD_START, STRENGTH0, TIME, TIME_CONSTANT
from symreln.laws.line import CANCELS, Line, vanish
from symreln.laws.two_layer import TwoLayer

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.laws.law import Start

_A0, _B0, _S, _UNITS, _H = sp.symbols("a_0 b_0 s N h", positive=True)
_SIGMA, _ONE, _TWO = sp.symbols("sigma sigma_1 sigma_2", positive=True)
#: Steps of the phase that is multiplied out.
_STEPS = 3
_GROWN = sp.exp(_S * TIME / TIME_CONSTANT)


def start_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield where strengths start, of a network of two layers that is known."""
    known = derivation.known
    if derivation.spec.network is None or known.layers != 2 or not known.units:
        return
    start = expected_start(known)
    yield _early(decays=known.weight_decay != 0)
    yield _balanced(derivation, start) if start.imbalance == 0 else _apart(derivation, start)
    driven = len(derivation.stages) > 1 and derivation.closed and not derivation.later
    if driven and law_of(known).ahead(start, 1, 1) is not None:
        yield from _ahead()


def _early(*, decays: bool) -> Line:
    """Say how the amplitudes of a unit grow while they are small."""
    up, down = (_A0 + _B0) * _GROWN / 2, (_A0 - _B0) / _GROWN / 2
    a, b = up + down, up - down
    rates = [TIME_CONSTANT * each.diff(TIME) for each in (a, b)]
    product = (_A0 + _B0) ** 2 * _GROWN**2 / 4 - (_A0 - _B0) ** 2 / _GROWN**2 / 4
    return Line(
        says="Random weights are not balanced. While a unit's amplitudes are small they obey"
        + ", weight decay aside, which shrinks both alike, " * decays
        + " " * (not decays)
        + r"$\tau \dot{a} = s b$ and $\tau \dot{b} = s a$: their sum grows and their difference "
        "dies out,",
        equation=(rf"a\, b = {to_latex(product)}",),
        because="sum and difference are exponentials",
        check=f"put into both equations, and multiplied; {CANCELS}",
        holds=vanish(
            rates[0] - _S * b,
            rates[1] - _S * a,
            sp.expand(a * b - product),
            a.subs(TIME, 0) - _A0,
            b.subs(TIME, 0) - _B0,
        ),
    )


def _mean(square: sp.Expr, first: sp.Expr, second: sp.Expr) -> Any:
    """Return the mean of a quadratic form in amplitudes that are drawn independently, of mean 0."""
    form = sp.Poly(sp.expand(square), _A0, _B0)
    return form.coeff_monomial(_A0**2) * first**2 + form.coeff_monomial(_B0**2) * second**2


def _balanced(derivation: Derivation, start: Start) -> Line:
    known = derivation.known
    assert known.units is not None
    assert known.variances is not None
    mean = _UNITS * _mean((_A0 + _B0) ** 2 / 4, _SIGMA, _SIGMA)
    value = mean.subs({_UNITS: sp.Rational(known.units), _SIGMA: sp.sqrt(known.variances[0])})
    exact = sp.Rational(start.strength0)
    return Line(
        says="What grows is as if it had started balanced, from the **effective initial "
        f"strength**; over the $N = {to_latex(sp.Rational(known.units))}$ units that take part it "
        "is its mean,",
        equation=(
            rf"\pi_0 = N\, \mathbb{{E}} \left[\left(\frac{{a_0 + b_0}}{{2}}\right)^2\right] = "
            rf"{to_latex(mean)} = {decimal_latex(str(exact), digits=6)}",
        ),
        because=r"weights are drawn independently from $\mathcal{N}(0, \sigma^2)$; fluctuations "
        r"are of the relative order $\sqrt{2/N}$",
        check="the square multiplied out, the mean of each term; the spec's numbers put in give "
        "the initial strength of the derivation",
        holds=vanish(value - exact) and start.strength0 == derivation.strength0,
        main=True,
    )


def _apart(derivation: Derivation, start: Start) -> Line:
    known = derivation.known
    assert known.units is not None
    assert known.variances is not None
    sum_, difference = (
        _UNITS * _mean((_A0 + sign * _B0) ** 2, _ONE, _TWO) for sign in (1, -1)
    )  # fmt: skip
    numbers = dict(zip((_ONE, _TWO), map(sp.sqrt, known.variances), strict=True))
    value = sum_.subs({_UNITS: sp.Rational(known.units), **numbers})
    exact = sp.Rational(start.imbalance)
    return Line(
        says="Layers that start apart, from different distributions: over the "
        f"$N = {to_latex(sp.Rational(known.units))}$ units that take part the strength is 0 in the "
        "mean, and the **conserved product** of sum and difference is",
        equation=(
            rf"\pi_0 = 0, \qquad c = |a_0 + b_0|\, |a_0 - b_0| = {to_latex(sp.factor(sum_))} "
            rf"= {decimal_latex(str(exact), digits=6)}",
        ),
        because="both squared lengths have the same mean; fluctuations are of the relative order "
        r"$1/\sqrt{N}$",
        check="the squares multiplied out, the mean of each term; the spec's numbers put in",
        holds=vanish(sum_ - difference, value - exact),
        main=True,
    )


def _ahead() -> Iterator[Line]:
    """Yield the head start of later stages."""
    strength = TwoLayer(s=_S, d=_S / _H, height=_H).in_symbols()
    faded = sp.exp(-2 * _S * TIME / TIME_CONSTANT)
    law = _H / (1 + (_H / STRENGTH0 - 1) * faded)
    primitive = -TIME_CONSTANT / (2 * _S) * sp.log(1 + (_H / STRENGTH0 - 1) * faded)
    total = TIME_CONSTANT / (2 * _S) * sp.log(_H / STRENGTH0)
    half = TIME_CONSTANT / (2 * _S) * sp.log(_H / STRENGTH0 - 1)
    own = strength.rate.subs({strength.s: _S, strength.d: _S / _H})
    letter = next(iter(own.free_symbols - {_S, _H}))
    yield Line(
        says="**Head start.** Until earlier stages have learned, a later pathway sees more than "
        "its own residual. An earlier mode of plateau $h$ counts for as long as its half-time:",
        equation=(
            rf"\int_0^\infty \left(1 - \frac{{\pi}}{{h}}\right) dt = {to_latex(total)} = t_{{1/2}} "
            r"+ \mathcal{O}(\pi_0)",
        ),
        because=r"the integrand is the derivative of a logarithm",
        check="differentiated, the integrand comes out; both ends; the difference to the half-time "
        r"vanishes with $\pi_0$",
        holds=vanish(
            TIME_CONSTANT * law.diff(TIME) - own.subs(letter, law),
            primitive.diff(TIME) - (1 - law / _H),
        )
        and sp.simplify(-primitive.subs(TIME, 0) - total) == 0
        and sp.limit(total - half, STRENGTH0, 0) == 0,
    )
    yield _product()


def _product() -> Line:
    """Return the effective initial strength of a mode that earlier ones drive as well."""
    drive, rate = sp.symbols("r s", positive=True)
    phase = sp.Matrix([[0, drive], [drive, 0]])
    q = sp.Matrix([1, 1]) / sp.sqrt(2)  # a mode and a drive along the same directions
    step = sp.eye(2) + phase / TIME_CONSTANT
    grown = (q.T * step**_STEPS * (step**_STEPS).T * q)[0]
    alone = (1 + rate / TIME_CONSTANT) ** (-2 * _STEPS)
    return Line(
        says="While its own weights are small they grow linearly, in steps of $1 + F_k/\\tau$ "
        r"with $F_k = \bigl(\begin{smallmatrix} 0 & E_k^{\top} \\ E_k & 0 \end{smallmatrix}\bigr)$ "
        r"and $E_k$ all that it sees between two half-times, $\Delta_k$ steps apart. From the last "
        "of them, $t_m$, it follows its own formula, as if it had started from",
        equation=(
            rf"{to_latex(HEAD_START)} = \pi_0 \left(1 + \frac{{s}}{{\tau}}\right)^{{-2 t_m}} "
            r"q^{\top} \Phi \Phi^{\top} q, \qquad \Phi = \prod_k \left(1 + "
            r"\frac{F_k}{\tau}\right)^{\Delta_k}, \qquad q = \frac{1}{\sqrt{2}} "
            r"\begin{pmatrix} v \\ u \end{pmatrix}",
        ),
        because="of a mode's weights only the part along $q$ grows on; where earlier modes add "
        r"nothing, $\tilde{\pi}_0 = \pi_0$",
        check=f"one phase of {_STEPS} steps, the drive $r$ along the mode's own directions, "
        rf"multiplied out: $(1 + r/\tau)^{{{2 * _STEPS}}}$, and $\pi_0$ for $r = s$; numbers, of "
        "all phases, by balls",
        holds=vanish(
            grown - (1 + drive / TIME_CONSTANT) ** (2 * _STEPS),
            grown.subs(drive, rate) * alone - 1,
        ),
        main=True,
    )
