"""Where strengths start: the lines from random weights to the effective start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sympy as sp

from symreln.claims.derivation import Derivation
from symreln.claims.edge_lines import shared_start_line
from symreln.claims.head_formulas import some_driven
from symreln.document.mathtext import to_latex
from symreln.laws.choice import expected_start
from symreln.laws.deep_chain import Depth
from symreln.laws.law import STRENGTH, TIME, TIME_CONSTANT, Regime, Start
from symreln.laws.line import CANCELS, Line, X, integral, proven_once, vanish
from symreln.laws.sigmoid_drive import sigmoid_lines

_A0, _B0, _S, _UNITS = sp.symbols("a_0 b_0 s N", positive=True)
_SIGMA, _ONE, _TWO = sp.symbols("sigma sigma_1 sigma_2", positive=True)
_GROWN = sp.exp(_S * TIME / TIME_CONSTANT)
#: What grows of a product of two amplitudes, and what dies out.
_GROWING, _DYING = ((_A0 + sign * _B0) ** 2 / 4 for sign in (1, -1))


def start_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield where strengths start, of a network that is known."""
    known = derivation.known
    if derivation.spec.network is None or derivation.given_start is not None:
        return
    if derivation.by_edges or (known.units is None and known.layers > 1):
        return
    if known.layers != 2:
        yield _single(derivation) if known.layers == 1 else _followed(known)
        return
    if known.sharing is not None:
        yield shared_start_line(derivation)
        return
    assert known.units is not None
    assert known.variances is not None
    start, (one, two) = expected_start(known), map(sp.sqrt, known.variances)
    numbers = {_UNITS: sp.Rational(known.units), _SIGMA: one, _ONE: one, _TWO: two}
    yield _early(decays=known.weight_decay != 0)
    if start.imbalance == 0:
        yield _balanced(start, numbers, start.strength0 == derivation.strength0)
    else:
        yield _apart(start, numbers)
    if some_driven(derivation) and derivation.closed and not derivation.later:
        yield from proven_once(sigmoid_lines)


def _single(derivation: Derivation) -> Line:
    """Say where the strengths of a single layer start."""
    entry = sp.Symbol("W", real=True)
    mean = sp.Poly(entry, entry).coeff_monomial(1)  # entries of mean 0: the constant is left
    return Line(
        says="A single layer of random weights starts, in the mean, from the **effective start**",
        equation=(rf"\pi_0 = \mathbb{{E}}\, u^{{\top}} W v = {to_latex(mean)}",),
        because=r"entries are drawn independently from $\mathcal{N}(0, \sigma^2)$; every strength "
        r"is a linear form in them, and fluctuates by $\sigma$",
        check="the mean of each term; it is the initial strength of the derivation",
        holds=derivation.strength0 == mean,
        main=True,
    )


def _followed(known: Regime) -> Line:
    """Say where the modes of three and more random layers start, in effect."""
    layers = known.layers
    scale, time, kappa = sp.symbols("r T kappa", positive=True)
    law = Depth(s=_S, d=sp.S.Zero, layers=sp.Integer(layers))  # while little is learned
    strength, unit = (scale * X) ** layers, TIME_CONSTANT / (_S * scale ** (layers - 2))
    speed = law.rate.subs(STRENGTH, strength) / TIME_CONSTANT / strength.diff(X) * unit
    slowness = X ** (1 - layers)
    arrives = X ** (2 - layers) / (layers - 2)
    solved = ((layers - 2) * time) ** sp.Rational(-1, layers - 2)
    return Line(
        says=f"No formula says where a product of {layers} random matrices starts. But while "
        r"outputs are small a mode's amplitudes, in units of $r = \sigma \sqrt{H}$ and over times "
        rf"${to_latex(unit)}$, know nothing of the data: they run to infinity at a time $T$ that "
        "is a property of depth and width $H$ alone. The balanced amplitude $\\kappa$ that arrives "
        "with them is the **effective start**, and $T$ is found by following single "
        "modes (`symreln validate`, and `evaluate()` in Python):",
        equation=(
            rf"T &= {integral(slowness, to_latex(kappa), to_latex(sp.oo))} = "
            rf"{to_latex(arrives.subs(X, kappa))},",
            rf"\pi_0 &= {to_latex(strength.subs(X, kappa))}, \qquad "
            rf"{to_latex(kappa)} = {to_latex(solved)}",
        ),
        because=r"$\tau \dot{a}_l = s \prod_{m \neq l} a_m$ is homogeneous, and in these units "
        rf"a balanced amplitude follows $\dot{{x}} = {to_latex(1 / slowness)}$",
        check=r"the early equation in these units, from which $s$ and the scale cancel; the "
        r"integral differentiated, 0 at infinity; $\kappa$ put into it",
        holds=vanish(
            sp.powsimp(speed, force=True) * slowness - 1,
            arrives.diff(X) + slowness,
            sp.powdenest(arrives.subs(X, solved), force=True) - time,
        )
        and sp.limit(arrives, X, sp.oo) == 0,
        main=True,
    )


def _early(*, decays: bool) -> Line:
    """Say how the amplitudes of a unit grow while they are small."""
    up, down = (_A0 + _B0) * _GROWN / 2, (_A0 - _B0) / _GROWN / 2
    a, b = up + down, up - down
    rates = [TIME_CONSTANT * each.diff(TIME) for each in (a, b)]
    product = _GROWING * _GROWN**2 - _DYING / _GROWN**2
    return Line(
        says="Random weights are not balanced. While a unit's amplitudes are small they obey"
        + ", weight decay aside, which shrinks both alike, " * decays
        + " " * (not decays)
        + r"$\tau \dot{a} = s b$ and $\tau \dot{b} = s a$: their sum grows and their difference "
        "dies out, from $a_0$ and $b_0$ on,",
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


def _mean(square: Any, letters: Iterable[Any], *squares: sp.Expr) -> Any:
    """Return the mean of a quadratic form in amplitudes that are drawn independently, of mean 0.

    Args:
        square: The form.
        letters: The amplitudes.
        squares: Means of their squares.
    """
    names = tuple(letters)
    form = sp.Poly(sp.expand(square), *names)
    return sum(
        form.coeff_monomial(name**2) * mean for name, mean in zip(names, squares, strict=True)
    )


def _balanced(start: Start, numbers: Mapping[Any, Any], same: bool) -> Line:
    mean = _UNITS * _mean(_GROWING, (_A0, _B0), _SIGMA**2, _SIGMA**2)
    return Line(
        says="What grows is as if it had started balanced, from the **effective start**"
        r"; over the $N = \kappa H$ units that take part it is its mean,",
        equation=(
            rf"\pi_0 = N\, \mathbb{{E}} \left[{to_latex(_GROWING)}\right] = {to_latex(mean)}",
        ),
        because=r"weights are drawn independently from $\mathcal{N}(0, \sigma^2)$; fluctuations "
        r"are of the relative order $\sqrt{2/N}$",
        check="the square multiplied out, the mean of each term; the spec's numbers put in give "
        "the initial strength of the derivation",
        holds=vanish(mean.subs(numbers) - sp.Rational(start.strength0)) and same,
        main=True,
    )


def _apart(start: Start, numbers: Mapping[Any, Any]) -> Line:
    sum_, difference = (
        4 * _UNITS * _mean(part, (_A0, _B0), _ONE**2, _TWO**2) for part in (_GROWING, _DYING)
    )
    return Line(
        says="Layers that start apart, from different distributions: over the "
        r"$N = \kappa H$ units that take part the strength is 0 in the "
        "mean, and the **conserved product** of sum and difference is",
        equation=(
            rf"\pi_0 = 0, \qquad \delta = |a_0 + b_0|\, |a_0 - b_0| = "
            rf"{to_latex(sp.factor(sum_))}",
        ),
        because="both squared lengths have the same mean; fluctuations are of the relative order "
        r"$1/\sqrt{N}$",
        check="the squares multiplied out, the mean of each term; the spec's numbers put in",
        holds=vanish(sum_ - difference, sum_.subs(numbers) - sp.Rational(start.imbalance)),
        main=True,
    )
