r"""Gates open in m of C contexts: speeds as formulas in C, m, n and c, each proven by substitution.

The contextual task with equal structures has :math:`Y^TY = A\otimes(J + 1)` over items and
contexts, with A the hierarchy's Gram matrix: :math:`A1 = (2n-1)1`, and :math:`Av = (n-1)v` for v =
±1 on the two halves of the items. Once a common pathway has learned what is linear in the inputs,
:math:`R^TR = A'\otimes(1 - J/C)`, A' being A without its constant part. So everything that m open
contexts, C − m others and the two halves see is a function on four kinds of samples, and a
statement about growth rates is an identity between rational functions of C, m, n and c.

* *First stage*: a gate open in m contexts grows as :math:`\sqrt{(2n-1)(m+1)(m+c^2n)}/(nC)`, which
  rises with m: the gate open everywhere is fastest. Below m = C its direction opens the other
  contexts too, so the gate is not self-consistent.
* *Residual*: :math:`\sqrt{(n-1)m(C-m)/C}/(nC)`, largest at m next to C/2. m = C − 1 is among the
  fastest for C ≤ 3 only. No such gate is self-consistent: its direction is ±1 on the items.
* *Residual, partial gates* (:mod:`symreln.gates.partial`): open on one half of the items in m
  contexts; on the boundary on the other half there, with fraction h, and on the first half in the
  other contexts, with fraction h'. They are kept for all C, m, n and c.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.errors import NotSupportedError

if TYPE_CHECKING:
    from symreln.spec.model import Dataset

C, M, N = sp.symbols("C m n", positive=True, integer=True)
SCALE = sp.Symbol("c", positive=True)
#: Items of a half, and of all in which the context is open or not.
HALF = N / 2


@dataclass(frozen=True, kw_only=True)
class SubsetFormulas:
    """Growth rates of gates open in m contexts, in units of 1/tau.

    Attributes:
        first: On the first stage.
        residual: Of the gate open on all items of m contexts, on what a common pathway leaves.
        partial: Of the partial gate, there.
        inside: Its fraction on the other half of the items, in the m contexts.
        outside: Its fraction on its half of the items, in the other contexts.
    """

    first: sp.Expr
    residual: sp.Expr
    partial: sp.Expr
    inside: sp.Expr
    outside: sp.Expr

    def at(self, contexts: int, size: int, items: int, scale: Fraction) -> SubsetFormulas:
        """Return the formulas with numbers put in.

        Args:
            contexts: C.
            size: m.
            items: n.
            scale: c.
        """
        values = {C: contexts, M: size, N: items, SCALE: sp.Rational(scale)}
        return SubsetFormulas(
            **{name: formula.subs(values) for name, formula in vars(self).items()}
        )


@cache
def formulas() -> SubsetFormulas:
    """Return the formulas."""
    inner = HALF * SCALE**2
    spread = (SCALE**2 * N + C) / ((SCALE**2 * N + 2 * (C - M)) * (SCALE**2 * N + 2 * M))
    return SubsetFormulas(
        first=sp.sqrt((2 * N - 1) * (M + 1) * (M + SCALE**2 * N)) / (N * C),
        residual=sp.sqrt((N - 1) * M * (C - M) / C) / (N * C),
        partial=sp.sqrt((N - 1) * M * (C - M) * N * SCALE**2 * spread / C) / (N * C),
        inside=inner / (inner + M),
        outside=(C - M) / (inner + C - M),
    )


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """A function on the four kinds of samples: (open contexts or others) × (halves)."""

    open_first: sp.Expr
    open_second: sp.Expr
    other_first: sp.Expr
    other_second: sp.Expr

    def times(self, gate: _Samples) -> _Samples:
        return _Samples(**{k: v * getattr(gate, k) for k, v in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class _Weights:
    """Weights to the items of each half, to open contexts and to others."""

    first: sp.Expr
    second: sp.Expr
    inside: sp.Expr
    outside: sp.Expr

    def seen(self) -> _Samples:
        """X^T w."""
        return _Samples(
            open_first=self.first + SCALE * self.inside,
            open_second=self.second + SCALE * self.inside,
            other_first=self.first + SCALE * self.outside,
            other_second=self.second + SCALE * self.outside,
        )


def _gathered(values: _Samples) -> _Weights:
    """X f."""
    v = values
    return _Weights(
        first=M * v.open_first + (C - M) * v.other_first,
        second=M * v.open_second + (C - M) * v.other_second,
        inside=SCALE * HALF * (v.open_first + v.open_second),
        outside=SCALE * HALF * (v.other_first + v.other_second),
    )


def _gram(values: _Samples, *, residual: bool) -> _Samples:
    """Y^T Y f, or R^T R f: the sum over the items by A, over the contexts by J + 1 or 1 - J/C."""
    means = [(values.open_first + values.open_second) / 2]
    means.append((values.other_first + values.other_second) / 2)
    halves = [(values.open_first - values.open_second) / 2]
    halves.append((values.other_first - values.other_second) / 2)
    mean = [0 if residual else (2 * N - 1) * value for value in means]
    half = [(N - 1) * value for value in halves]
    share = -1 / C if residual else sp.Integer(1)
    mean_sum = share * (M * mean[0] + (C - M) * mean[1])
    half_sum = share * (M * half[0] + (C - M) * half[1])
    a, b = mean[0] + mean_sum, half[0] + half_sum
    d, e = mean[1] + mean_sum, half[1] + half_sum
    return _Samples(open_first=a + b, open_second=a - b, other_first=d + e, other_second=d - e)


def _leftover(w: _Weights, open_: _Samples, gate: _Samples, s: sp.Expr, *, residual: bool) -> list:
    """Return s² w − X diag(h) RᵀR diag(g) Xᵀw / P², which is 0 for a direction that is kept."""
    back = _gathered(_gram(w.seen().times(open_), residual=residual).times(gate))
    scale = (N * C) ** 2
    return [s**2 * getattr(w, name) - getattr(back, name) / scale for name in vars(w)]


def proofs() -> dict[str, tuple[sp.Expr, ...]]:
    """Return expressions that are 0, by what they prove, for all C, m, n and c.

    Signs of the partial gate follow from its weights: halves see α + α' > 0, or 0, or less.
    """
    found = formulas()
    whole = _Samples(
        open_first=sp.Integer(1),
        open_second=sp.Integer(1),
        other_first=sp.Integer(0),
        other_second=sp.Integer(0),
    )
    one = sp.Integer(1)
    first = _Weights(first=one, second=one, inside=SCALE * N / M, outside=sp.Integer(0))
    split = _Weights(first=one, second=-one, inside=sp.Integer(0), outside=sp.Integer(0))
    # Longest w with w.x = 1 on the open samples: weights by the inverse of what each costs.
    up = 1 / (HALF + (C - M) / SCALE**2)
    down = 1 / (HALF + M / SCALE**2)
    kept = _Weights(first=up, second=-down, inside=down / SCALE, outside=-up / SCALE)
    open_half = _Samples(**(vars(whole) | {"open_second": sp.Integer(0)}))
    gate = _Samples(
        open_first=one, open_second=found.inside, other_first=found.outside, other_second=0 * one
    )
    seen = kept.seen()
    table = {
        "first stage": _leftover(first, whole, whole, found.first, residual=False),
        "residual": _leftover(split, whole, whole, found.residual, residual=True),
        "residual, partial gate": [
            *_leftover(kept, open_half, gate, found.partial, residual=True),
            seen.open_second,
            seen.other_first,
        ],
    }
    return {name: tuple(sp.cancel(value) for value in values) for name, values in table.items()}


def comparisons() -> dict[str, Any]:
    """Return speed² at m + 1 less that at m, factored, by stage: its sign says who is faster."""
    found = formulas()
    named = {
        "first stage": found.first,
        "residual": found.residual,
        "residual, partial gate": found.partial,
    }
    squares: dict[str, Any] = {name: speed**2 for name, speed in named.items()}
    return {name: sp.factor(sp.cancel(s.subs(M, M + 1) - s)) for name, s in squares.items()}


def fastest(contexts: int) -> dict[str, tuple[int, ...]]:
    """Return which m is fastest on each stage, for every n and c.

    Args:
        contexts: C, at least 2.
    """
    middle = tuple(sorted({contexts // 2, -(-contexts // 2)}))
    return {"first stage": (contexts,), "residual": middle, "residual, partial gate": middle}


def require_equal_structures(dataset: Dataset) -> None:
    """Refuse data for which the formulas are not written.

    Raises:
        NotSupportedError: Not the contextual task with the hierarchy everywhere.
    """
    structures = {name.strip() for name in dataset.options.get("structures", "").split(",")}
    if dataset.task != "contextual" or structures != {"hierarchy"}:
        msg = (
            "formulas in C, m, n and c are those of the contextual task with equal structures, and "
            f"this is {dataset.task or 'other data'} with {', '.join(sorted(structures)) or 'none'}"
            ". Speeds at the spec's own numbers are exact for any data with a label"
        )
        raise NotSupportedError(msg)
