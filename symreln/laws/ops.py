"""Number systems, so that a law's formula is written once: sympy, numpy and Arb balls.

SymPy twice: as formulas are printed, and as they are evaluated elsewhere, in float64.

A law holds numbers of one system and names it; its methods use the system's functions and the
ordinary operators. Certified balls have the working precision at which they are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, fmpq
from sympy.codegen.cfunctions import expm1, log1p

from symreln.base.records import record
from symreln.exact.enclosure import ball


@record
class Ops:
    r"""Functions of a number system.

    Attributes:
        number: Turns an exact number, or one of the system, into a number of the system.
        exp: Exponential.
        log: Natural logarithm.
        log1p: ln(1 + x).
        log_gamma: ln Γ(x) of positive numbers.
        pace: ln(1 + x)/x, 1 at x = 0: how fast growth by 1 + x a step is beside e^x.
        expm1: e^x − 1.
        atan: Arc tangent.
        turn: Of whole numbers j and n, sine and cosine of π j/n.
        hypot: sqrt(x² + y²) of numbers that are not negative.
        sqrt: Square root.
        root: Of whole numbers n and k, the k-th root of n.
        relaxed: Of a rate r and a time t >= 0, :math:`e^{-rt}` and :math:`\int_0^t e^{-ru} du`, of
            either sign of r, without cancellation; r = 0 gives 1 and t.
        over: Quotient of numbers that are not negative, where 0/0 is 0.
        positive: The larger one of 0 and a number.
        floor: The largest whole number that is not above.
    """

    number: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    log: Callable[..., Any]
    log1p: Callable[[Any], Any]
    log_gamma: Callable[[Any], Any]
    pace: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    atan: Callable[[Any], Any]
    turn: Callable[[int, int], tuple[Any, Any]]
    sqrt: Callable[[Any], Any]
    root: Callable[[int, int], Any]
    hypot: Callable[[Any, Any], Any]
    relaxed: Callable[[Any, Any], tuple[Any, Any]]
    over: Callable[[Any, Any], Any]
    positive: Callable[[Any], Any]
    floor: Callable[[Any], Any]


def _relaxed_symbols(rate: sp.Expr, t: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    decay = sp.exp(-rate * t)
    return decay, t if rate == 0 else (1 - decay) / rate


def power(base: Any, exponent: Any) -> Any:
    """Return a power: of a sum with letters it is what it is, which SymPy finds out at length."""
    return sp.Pow(base, exponent, evaluate=not base.is_Add or base.is_number or exponent in (0, 1))


def _log(x: Any) -> Any:
    """Return ln x; likewise."""
    return sp.log(x, evaluate=not x.is_Add or x.is_number)


def _relaxed_floats(rate: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = rate * t
    with np.errstate(over="ignore"):
        return np.exp(-x), t * _share(np.expm1, -x)


def _relaxed_balls(rate: arb, t: arb) -> tuple[arb, arb]:
    gone = -(-rate * t).expm1()
    # Where little is left, 1 − gone would lose it.
    decay = 1 - gone if gone < 0.5 else (-rate * t).exp()
    return decay, t if rate.is_zero() else gone / rate


def _share(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Return f(x)/x, 1 at x = 0."""
    some = np.where(x != 0, x, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(x != 0, function(some) / some, 1.0)


def _over_floats(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)


SYMPY = Ops(
    number=lambda x: sp.Rational(x) if isinstance(x, Fraction) else sp.sympify(x),
    exp=sp.exp,
    log=_log,
    log1p=lambda x: _log(1 + x),
    log_gamma=sp.loggamma,
    pace=lambda x: sp.S.One if x == 0 else _log(1 + x) / x,
    expm1=lambda x: sp.exp(x) - 1,
    atan=sp.atan,
    turn=lambda j, n: (sp.sin(sp.pi * j / n), sp.cos(sp.pi * j / n)),
    sqrt=sp.sqrt,
    root=sp.root,
    hypot=lambda x, y: sp.sqrt(x**2 + y**2),
    relaxed=_relaxed_symbols,
    over=lambda x, y: sp.S.Zero if x == 0 else x / y,
    positive=lambda x: sp.Max(0, x),
    floor=sp.floor,
)
#: Expressions for code in float64: nothing overflows or cancels that does not with :data:`NUMPY`.
EVALUATED = replace(
    SYMPY,
    log1p=log1p,
    expm1=expm1,
    pace=lambda x: sp.S.One if x == 0 else log1p(x) / x,
    relaxed=lambda rate, t: (
        sp.exp(-rate * t),
        t if rate == 0 else expm1(-rate * t) / -rate,
    ),
)
NUMPY = Ops(
    number=lambda x: np.asarray(float(x) if isinstance(x, Fraction) else x, dtype=float),
    exp=np.exp,
    log=np.log,
    log1p=np.log1p,
    # Not SciPy's, which takes a quarter of a second to import.
    log_gamma=np.vectorize(math.lgamma, otypes=[float]),
    pace=partial(_share, np.log1p),
    expm1=np.expm1,
    atan=np.arctan,
    turn=lambda j, n: (np.sin(np.pi * j / n), np.cos(np.pi * j / n)),
    sqrt=np.sqrt,
    root=lambda n, k: n ** (1 / k),
    hypot=np.hypot,
    relaxed=_relaxed_floats,
    over=_over_floats,
    positive=lambda x: np.maximum(0.0, x),
    floor=np.floor,
)
ARB = Ops(
    number=lambda x: x if isinstance(x, arb) else ball(x),
    exp=arb.exp,
    log=arb.log,
    log1p=arb.log1p,
    log_gamma=arb.lgamma,
    pace=lambda x: arb(1) if x.is_zero() else x.log1p() / x,
    expm1=arb.expm1,
    atan=arb.atan,
    turn=lambda j, n: arb.sin_cos_pi_fmpq(fmpq(j, n)),
    sqrt=arb.sqrt,
    root=lambda n, k: arb(n).root(k),
    hypot=lambda x, y: (x * x + y * y).sqrt(),
    relaxed=_relaxed_balls,
    over=lambda x, y: arb(0) if x.is_zero() else x / y,
    positive=lambda x: x.max(arb(0)),
    floor=lambda x: arb(x).floor(),
)


def defect(*parts: sp.Expr) -> sp.Expr:
    """Return a sum that is zero exactly when every part is."""
    return sp.Add(*(sp.Abs(part) for part in parts))
