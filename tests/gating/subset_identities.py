"""Identities that prove the formulas of symreln.gating.context_subsets, for all C, m, n and c."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from symreln.gating.context_subsets import formulas

C, M, N = sp.symbols("C m n", positive=True, integer=True)
SCALE, HALF = sp.Symbol("c", positive=True), N / 2


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
