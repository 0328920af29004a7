"""Identities that prove the formulas of symreln.gating.context_subsets, for all C, m, n and c."""

from __future__ import annotations

import sympy as sp

from symreln.gating.context_subsets import _formulas

C, M, N = sp.symbols("C m n", positive=True, integer=True)
SCALE, HALF = sp.Symbol("c", positive=True), N / 2

# Functions on the four kinds of samples: open contexts and others, the halves of their items.
# Weights: to the items of each half, to open contexts and to others.
#: X^T w.
SEEN = sp.Matrix([[1, 0, SCALE, 0], [0, 1, SCALE, 0], [1, 0, 0, SCALE], [0, 1, 0, SCALE]])
#: X f.
GATHERED = sp.Matrix(
    [
        [M, 0, C - M, 0],
        [0, M, 0, C - M],
        [SCALE * HALF, SCALE * HALF, 0, 0],
        [0, 0, SCALE * HALF, SCALE * HALF],
    ]
)


def _gram(*, residual: bool) -> sp.Matrix:
    """Y^T Y, or R^T R: the sum over the items by A, over the contexts by J + 1 or 1 - J/C."""
    mean, half = sp.Matrix([[1, 1], [1, 1]]) / 2, sp.Matrix([[1, -1], [-1, 1]]) / 2
    items = (0 if residual else 2 * N - 1) * mean + (N - 1) * half
    every = sp.Matrix([[M, C - M], [M, C - M]])
    contexts = sp.eye(2) + (-every / C if residual else every)
    return sp.kronecker_product(contexts, items)


def _leftover(w: list, open_: list, gate: list, s: sp.Expr, *, residual: bool) -> list:
    """Return s² w − X diag(h) RᵀR diag(g) Xᵀw / P², which is 0 for a direction that is kept."""
    weights = sp.Matrix(w)
    through = sp.diag(*gate) * _gram(residual=residual) * sp.diag(*open_)
    return list(s**2 * weights - GATHERED * through * SEEN * weights / (N * C) ** 2)


def proofs() -> dict[str, tuple[sp.Expr, ...]]:
    """Return expressions that are 0, by what they prove, for all C, m, n and c.

    Signs of the partial gate follow from its weights: halves see α + α' > 0, or 0, or less.
    """
    found, whole = _formulas(), [1, 1, 0, 0]
    # Longest w with w.x = 1 on the open samples: weights by the inverse of what each costs.
    up = 1 / (HALF + (C - M) / SCALE**2)
    down = 1 / (HALF + M / SCALE**2)
    kept = [up, -down, down / SCALE, -up / SCALE]
    gate = [1, found.inside, found.outside, 0]
    first = [1, 1, SCALE * N / M, 0]
    table = {
        "first stage": _leftover(first, whole, whole, found.first, residual=False),
        "residual": _leftover([1, -1, 0, 0], whole, whole, found.residual, residual=True),
        "residual, partial gate": [
            *_leftover(kept, [1, 0, 0, 0], gate, found.partial, residual=True),
            *(SEEN * sp.Matrix(kept))[1:3],
        ],
    }
    return {name: tuple(sp.cancel(value) for value in values) for name, values in table.items()}
