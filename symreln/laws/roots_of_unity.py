r"""The integrals :math:`J_{m,L}(x) = \int_0^x \frac{r^{m-1}}{1 - r^L} dr` of the depth-L family.

Partial fractions over the roots of unity :math:`\omega_j = e^{i\varphi_j}`,
:math:`\varphi_j = 2\pi j/L`, give

.. math:: J_{m,L}(x) = -\frac{1}{L} \sum_{j=0}^{L-1} \omega_j^{-m} \ln(1 - \omega_j x),

and conjugate pairs of it are real. For every real L > 0, m > 0 it is
:math:`\frac{x^m}{m}\, {}_2F_1(1, m/L; 1 + m/L; x^L)`. Both are proven here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy as sp
from flint import fmpq, fmpq_poly, fmpz_poly

from symreln.laws.ops import defect

_X, _COS, _SIN, _COS_M, _SIN_M = sp.symbols("_x _cos _sin _cos_m _sin_m", real=True)


def integral(m: int, layers: int, x: sp.Expr) -> sp.Expr:
    """Return J in logarithms and arc tangents, real and continuous for 0 <= x < 1.

    Args:
        m: From 1 to ``layers``.
        layers: L, from 1.
        x: Where.
    """
    terms: list[Any] = [sp.log(1 - x)]
    if layers % 2 == 0:
        terms.append((-1) ** m * sp.log(1 + x))
    for j in range(1, (layers + 1) // 2):
        angle: Any = 2 * sp.pi * sp.Rational(j, layers)
        values = {
            _COS: sp.cos(angle),
            _SIN: sp.sin(angle),
            _COS_M: sp.cos(m * angle),
            _SIN_M: sp.sin(m * angle),
        }
        terms.append(_pair(x).xreplace(values))
    return -sp.Add(*terms) / layers


def hypergeometric(m: sp.Expr, layers: sp.Expr, x: sp.Expr) -> sp.Expr:
    """Return J by Gauss's hypergeometric function, for any positive m and L."""
    a = m / layers
    return x**m / m * sp.hyper((1, a), (1 + a,), x**layers)


def _pair(x: sp.Expr) -> sp.Expr:
    """Return the terms of a root of unity and of its conjugate, without the factor -1/L."""
    logarithm = sp.log(1 - 2 * _COS * x + x**2)
    return _COS_M * logarithm - 2 * _SIN_M * sp.atan(_SIN * x / (1 - _COS * x))


@lru_cache(maxsize=64)
def integral_defect(m: int, layers: int) -> sp.Expr:
    r"""Return 0 exactly when ``integral`` is an antiderivative of x^(m-1)/(1 - x^L), 0 at x = 0.

    The real pair's derivative is that of its two complex logarithms, decided with
    sin² = 1 − cos² and cos, sin free. Their sum over all roots, times 1 − x^L, is a polynomial
    whose coefficients are computed in the cyclotomic field.
    """
    root = _COS + sp.I * _SIN
    factor = _COS_M - sp.I * _SIN_M
    conjugate = 1 - (_COS - sp.I * _SIN) * _X
    # 2 Re of factor · (−root) / (1 − root x), over the real denominator |1 − root x|².
    numerator = 2 * sp.re(sp.expand(-factor * root * conjugate))
    bottom = 1 - 2 * _COS * _X + _X**2
    top = sp.fraction(sp.cancel(sp.together(_pair(_X).diff(_X) - numerator / bottom)))[0]
    pair = sp.expand(sp.rem(sp.expand(top), _SIN**2 + _COS**2 - 1, _SIN))
    start = _pair(sp.S.Zero)
    return defect(pair, start, _cyclotomic_defect(m, layers))


def _cyclotomic_defect(m: int, layers: int) -> sp.Expr:
    r"""Return 0 when (1/L) Σ_j ω_j^{1-m} (1 - x^L)/(1 - ω_j x) is x^(m-1).

    (1 − x^L)/(1 − ω_j x) = Σ_k ω_j^k x^k because ω_j^L = 1, so the coefficient of x^k is
    (1/L) Σ_j ω^{j(k+1-m)}.
    """
    modulus = fmpq_poly(fmpz_poly.cyclotomic(layers))
    powers = [fmpq_poly([1])]
    for _ in range(layers):
        powers.append(powers[-1] * fmpq_poly([0, 1]) % modulus)
    if powers[layers] != powers[0]:
        return sp.S.One
    for k in range(layers):
        total = fmpq_poly([0])
        for j in range(layers):
            total += powers[j * (k + 1 - m) % layers]
        if total * fmpq(1, layers) != fmpq_poly([int(k == m - 1)]):
            return sp.S.One
    return sp.S.Zero


@lru_cache(maxsize=1)
def hypergeometric_defect() -> sp.Expr:
    r"""Return 0 exactly when ``hypergeometric`` is an antiderivative of x^(m-1)/(1 - x^L).

    G = ₂F₁(1, a; 1 + a; w) = Σ_n a/(a + n) wⁿ, whose coefficients satisfy
    n g_n = a(1 − g_n), so w G' = a(1/(1 − w) − G); the chain rule does the rest.
    """
    n, a, m, layers, x, w, g = sp.symbols("_n _a _m _l _x _w _g", positive=True)
    # (1)_n (a)_n / ((1 + a)_n n!) = a/(a + n): true for n = 0, and by the ratio of neighbours.
    coefficient = a / (a + n)
    ratio = (1 + n) * (a + n) / ((1 + a + n) * (1 + n))
    neighbours = sp.cancel(coefficient.subs(n, n + 1) / coefficient - ratio)
    relation = sp.cancel(n * coefficient - a * (1 - coefficient))
    slope = (m / layers) * (1 / (1 - w) - g) / w
    power = x**m / m
    total = power.diff(x) * g + power * slope * layers * w / x - x ** (m - 1) / (1 - w)
    first = coefficient.subs(n, 0) - 1
    return defect(neighbours, relation, first, sp.simplify(total))
