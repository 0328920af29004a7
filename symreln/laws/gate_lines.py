"""The lines of the law of gates: from the flow of a hidden unit to the share with its gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.document.mathtext import slashed_latex, to_latex
from symreln.laws.flow_letters import decay_is_gradient, units_follow_layers
from symreln.laws.law import STRENGTH, STRENGTH0, TIME, TIME_CONSTANT
from symreln.laws.line import CANCELS, Line, vanish

if TYPE_CHECKING:
    from symreln.laws.law import Law

_X0, _Y0, _THETA = sp.symbols("x_0 y_0 theta", real=True)
_FIRST, _LAST = sp.symbols("sigma_1 sigma_2", positive=True)
#: v·w and u·b of a mode, and what leads a unit to its gate early on.
_SEEN = _X0 * sp.cosh(_THETA) + _Y0 * sp.sinh(_THETA)
_WRITTEN = _Y0 * sp.cosh(_THETA) + _X0 * sp.sinh(_THETA)
_EARLY = _X0 + _Y0
#: Inputs and outputs of blocks that stand for any.
_SHAPE = (2, 2)
_SQUARES = {_X0**2: _FIRST**2, _Y0**2: _LAST**2}


def _mean(form: sp.Expr) -> sp.Expr:
    """Return the mean of a quadratic form in independent entries x₀ and y₀ of mean 0."""
    terms = sp.Poly(sp.expand(form), _X0, _Y0)
    return sp.Add(*(terms.coeff_monomial(square) * mean for square, mean in _SQUARES.items()))


def turning_lines(laws: Iterable[Law], *, apart: bool, decays: bool) -> Iterator[Line]:
    """Yield how units of a pathway with closed modes move, and what K is.

    Args:
        laws: Of its modes, one of each kind.
        apart: Whether the two layers start apart.
        decays: Whether there is weight decay.
    """
    yield _driven(decays=decays)
    yield Line(
        says="Along a mode, $w$ and $b$ are driven by what the mode has not learned yet. With the "
        r"closed form $\pi_\alpha(t)$ of its strength, whose $\pi_0$ counts the units that "
        "turn to the pathway early on,",
        equation=(
            r"v_\alpha^{\top} w(t) = v_\alpha^{\top} w(0) \cosh\theta_\alpha + u_\alpha^{\top} "
            r"b(0) \sinh\theta_\alpha, \qquad \tau \dot{\theta}_\alpha = s_\alpha - d_\alpha "
            r"\pi_\alpha, \quad \theta_\alpha(0) = 0,",
        ),
        because=r"$v_\alpha^{\top} E_p^{\top} b = (s_\alpha - d_\alpha \pi_\alpha)\, "
        r"u_\alpha^{\top} b$, and likewise for $b$",
        check=r"differentiated by $\theta$ each is the other, and at $\theta = 0$ the start; "
        + CANCELS,
        holds=vanish(
            _SEEN.diff(_THETA) - _WRITTEN,
            _WRITTEN.diff(_THETA) - _SEEN,
            _SEEN.subs(_THETA, 0) - _X0,
            _WRITTEN.subs(_THETA, 0) - _Y0,
        ),
        main=True,
    )
    for law in laws:
        yield _angle(law)
    yield _covariance(apart=apart)


def _driven(*, decays: bool) -> Line:
    """Say by what a unit is driven."""
    less = [rf" - \lambda {letter}" * decays for letter in "wb"]
    return Line(
        says="A hidden unit with weights $w$ from the inputs and $b$ to the outputs moves "
        "linearly as long as it has its pathway's gate:",
        equation=(
            rf"\tau \dot{{w}} = E_p^{{\top}} b{less[0]}, \qquad \tau \dot{{b}} = E_p w{less[1]}",
        ),
        because="a row of the first and a column of the second layer's flow"
        + ". Weight decay multiplies all weights by one factor, which no share sees: it is left "
        "out below" * decays,
        check="the flow of both layers, times a unit vector of the hidden layer"
        + ", and the penalty's gradient" * decays
        + "; in letters, for matrices of every size",
        holds=units_follow_layers() and (not decays or decay_is_gradient()),
        main=True,
    )


def _angle(law: Law) -> Line:
    """Say what θ is by the strength, of a law in symbols."""
    flow, steps = replace(law, stepwise=False), replace(law, stepwise=True)
    angle, counted = (each.angle(STRENGTH, STRENGTH0, TIME) for each in (flow, steps))
    slope = angle.diff(STRENGTH) * law.rate + TIME_CONSTANT * angle.diff(TIME)
    clock = ""
    if angle.has(TIME):
        shares = (slashed_latex(each.fades) for each in (steps, flow))
        clock = "; in steps of gradient descent ${}$ stands for ${}$".format(*shares)
    return Line(
        says=f"The angle follows from the strength{clock}:",
        equation=(rf"\theta(t) = {to_latex(angle)}",),
        because="the mode equation divides out of the drive",
        check=r"its slope by $\pi$ times $\tau \dot{\pi}$, and by $t$, is $s - d\, \pi$; at the "
        f"start it is 0; {CANCELS}",
        holds=vanish(
            slope - (law.s - law.d * STRENGTH),
            angle.subs({STRENGTH: STRENGTH0, TIME: 0}),
            counted - angle - TIME * (steps.fades - flow.fades),
            sp.exp(-steps.fades) - (1 - flow.fades),  # what a step leaves of all weights
        ),
        main=True,
    )


def _covariance(*, apart: bool) -> Line:
    """Say what K is by θ."""
    first, last = (_FIRST, _LAST) if apart else (_FIRST, _FIRST)
    seen = _mean(_SEEN**2).subs(_LAST, last)
    grown = seen - first**2  # beside the units' own start, along every mode
    rows = (
        r"K(t) = X^{\top} \left(\sigma_1^2 I + (\sigma_1^2 + \sigma_2^2)\, V \sinh^2\theta(t)\, "
        r"V^{\top}\right) X",
    )
    if not apart:
        rows = (
            r"K(t) = \sigma^2 X^{\top} \left(I + 2\, V \sinh^2\theta(t)\, V^{\top}\right) X"
            r" = \sigma^2 X^{\top} \left(V \cosh 2\theta(t)\, V^{\top} + V_{\perp} "
            r"V_{\perp}^{\top}\right) X",
        )
    doubled = first**2 * sp.cosh(2 * _THETA)
    return Line(
        says="Initial weights are Gaussian, so the pre-activations $X^{\\top} w$ of the pathway's "
        r"units are Gaussian at all times. The columns of $V$ are the $v_\alpha$, $\theta$ is "
        "diagonal"
        + (
            r"; entries of $w(0)$ and $b(0)$ have the variances $\sigma_1^2$ and $\sigma_2^2$"
            if apart
            else r", and those of $V_{\perp}$ are an orthonormal basis of the inputs' other "
            "directions"
        )
        + ". Their covariance is",
        equation=rows,
        because=r"entries of $w(0)$ and $b(0)$ are independent in every orthonormal basis",
        check="the mean of the square of each part, multiplied out, along a mode and across all; "
        + CANCELS,
        holds=vanish(_exponentials(grown - (first**2 + last**2) * sp.sinh(_THETA) ** 2))
        and (apart or vanish(_exponentials(seen - doubled))),
        main=True,
    )


def moving_lines(*, apart: bool, decays: bool) -> Iterator[Line]:
    """Yield how units of a pathway without closed modes move, and what K is; arguments as above."""
    yield _driven(decays=decays)
    yield Line(
        says="$E_p(t)$ is what all pathways leave of its correlation. Modes of the first stage "
        "have no closed forms: matrices are followed, with gradient descent's steps, for",
        equation=(
            r"\begin{pmatrix} w(t) \\ b(t) \end{pmatrix} = \Phi(t) \begin{pmatrix} w(0) \\ b(0) "
            r"\end{pmatrix}, \qquad \tau \dot{\Phi} = \begin{pmatrix} 0 & E_p^{\top} \\ E_p & 0 "
            r"\end{pmatrix} \Phi, \qquad \Phi(0) = I.",
        ),
        because="the flow of a unit is linear, and the same for all units of the pathway",
        check="the product with any start put into the line before, multiplied out",
        holds=_propagates(),
        main=True,
    )
    yield _moved(apart=apart)


def _propagates() -> bool:
    """Whether (w, b) = Φ (w₀, b₀) obeys a unit's equations, in two entries."""
    left = sp.Symbol("E")
    phi = sp.Matrix(*_SHAPE, sp.symbols("f_:2:2"))
    slope = sp.Matrix([[0, left], [left, 0]]) * phi
    start = sp.Matrix(sp.symbols("w_0 b_0"))
    seen, written = phi * start
    return vanish(*(slope * start - sp.Matrix([left * written, left * seen])))


def _moved(*, apart: bool) -> Line:
    """Say what K is by Φ."""
    # Both blocks for two inputs, and the entries that they take to w(t).
    blocks = [sp.Matrix(*_SHAPE, sp.symbols(f"{name}_:2:2")) for name in "pq"]
    start, other = sp.symbols("w_:2"), sp.symbols("b_:2")
    moved = [
        sp.Add(*(p * w + q * b for p, q, w, b in zip(*rows, start, other, strict=True)))
        for rows in zip(*(block.tolist() for block in blocks), strict=True)
    ]
    product = sp.Poly(moved[0] * moved[1], *start, *other)
    mean = sp.Add(
        *(product.coeff_monomial(entry**2) * _FIRST**2 for entry in start),
        *(product.coeff_monomial(entry**2) * _LAST**2 for entry in other),
    )
    shown = _FIRST**2 * blocks[0] * blocks[0].T + _LAST**2 * blocks[1] * blocks[1].T
    rows = (
        r"K(t) = X^{\top} \left(\sigma_1^2\, \Phi_{ww} \Phi_{ww}^{\top} + \sigma_2^2\, \Phi_{wb} "
        r"\Phi_{wb}^{\top}\right) X."
        if apart
        else r"K(t) = \sigma^2 X^{\top} \left(\Phi_{ww} \Phi_{ww}^{\top} + \Phi_{wb} "
        r"\Phi_{wb}^{\top}\right) X.",
    )
    return Line(
        says="Initial weights are Gaussian, so the pre-activations of the pathway's units are "
        r"Gaussian at all times, with the covariance, $\Phi_{ww}$ and $\Phi_{wb}$ being the "
        r"blocks of $\Phi$ that take $w(0)$ and $b(0)$ to $w(t)$,",
        equation=rows,
        because=r"entries of $w(0)$ and $b(0)$ are independent",
        check="the mean of the product of two entries of $w(t)$, of two inputs and outputs, "
        "multiplied out",
        holds=vanish(mean - shown[0, 1]),
        main=True,
    )


def share_line(walls: int, *, apart: bool) -> Line:
    """Return the line of the share of units that keep the gate, where it is exact.

    Args:
        walls: How many samples bound the gate, 1 or 2.
        apart: Whether the two layers start apart.
    """
    rho = sp.symbols("rho_1 rho_2 rho_12" if walls == 2 else "rho_1", seq=True)
    half, quarter = sp.Rational(1, 2), sp.Rational(1, 4)
    angles = sp.Add(*map(sp.asin, rho))
    share: Any = half + angles / sp.pi if walls == 1 else quarter + angles / (2 * sp.pi)
    # Of independent signs each halves it; a leading mode opens the gate with one half.
    halved = share.subs(dict.fromkeys(rho, 0)) - half**walls
    # The density of two at 0, over the half that is given, times the half of a third.
    slopes = [
        share.diff(r) - 2 * half ** (walls - 1) / (2 * sp.pi * sp.sqrt(1 - r**2)) for r in rho
    ]
    last = _LAST if apart else _FIRST
    both, own = (_mean(form).subs(_LAST, last) for form in (_SEEN * _EARLY, _EARLY**2))
    shown = _FIRST**2 * sp.cosh(_THETA) + last**2 * sp.sinh(_THETA), _FIRST**2 + last**2
    correlation = (
        r"\frac{(v^{\top} x_i)\, (\sigma_1^2 \cosh\theta + \sigma_2^2 \sinh\theta)}"
        r"{\sqrt{K_{ii}\, (\sigma_1^2 + \sigma_2^2)}}"
    )
    if not apart:
        shown = _FIRST**2 * sp.exp(_THETA), 2 * _FIRST**2
        correlation = r"\frac{\sigma\, (v^{\top} x_i)\, e^{\theta}}{\sqrt{2 K_{ii}}}"
    index = "i" if walls == 1 else "i, j"
    return Line(
        says="So the share of units that still has the gate is an orthant probability. "
        + (
            "One sample $i$ bounds the gate here"
            if walls == 1
            else "Two samples $i$ and $j$ bound the gate here"
        )
        + r", and the units are those whose $z = v^{\top} w(0) + u^{\top} b(0)$ of the leading "
        "mode opens it (all turned so that open is positive):",
        equation=(
            rf"\operatorname{{Pr}}[{index} \text{{ open}} \mid z > 0] &= "
            + (
                r"\frac{1}{2} + \frac{1}{{\pi}} \arcsin \rho_i,"
                if walls == 1
                else r"\frac{1}{4} + \frac{1}{2{\pi}} \left(\arcsin \rho_i + \arcsin \rho_j + "
                r"\arcsin \frac{K_{ij}}{\sqrt{K_{ii} K_{jj}}}\right),"
            ),
            rf"\rho_i &= {correlation}",
        ),
        because="Sheppard's formula, of three variables the solid angle of three half-spaces; "
        r"$\rho_i$ is the correlation of $z$ and $w(t)^{\top} x_i$",
        check="at no correlation every sign halves it; differentiated by each correlation it is "
        "the density at 0, Plackett's identity; the means of $z^2$ and of the product with $z$, "
        "multiplied out; " + CANCELS,
        holds=vanish(halved, *slopes, _exponentials(both - shown[0]), own - shown[1]),
        main=True,
    )


def _exponentials(expr: Any) -> Any:
    return sp.expand(expr.rewrite(sp.exp))
