r"""Gates open in m of C contexts: speeds as formulas in C, m, n and c, each proven by substitution.

The contextual task with equal structures has :math:`Y^TY = A\otimes(J + 1)` over items and
contexts, with A the hierarchy's Gram matrix: :math:`A1 = (2n-1)1`, and :math:`Av = (n-1)v` for v =
±1 on the two halves of the items. Once a common pathway has learned what is linear in the inputs,
:math:`R^TR = A'\otimes(1 - J/C)`, A' being A without its constant part. So everything that m open
contexts, C − m others and the two halves see is a function on four kinds of samples, and a
statement about growth rates is an identity between rational functions of C, m, n and c; each is
proven in ``tests/gating/subset_identities.py``.

* *First stage*: a gate open in m contexts grows as :math:`\sqrt{(2n-1)(m+1)(m+c^2n)}/(nC)`, which
  rises with m: the gate open everywhere is fastest. Below m = C its direction opens the other
  contexts too, so the gate is not self-consistent.
* *Residual*: :math:`\sqrt{(n-1)m(C-m)/C}/(nC)`, largest at m next to C/2. m = C − 1 is among the
  fastest for C ≤ 3 only. No such gate is self-consistent: its direction is ±1 on the items.
* *Residual, partial gates* (:mod:`symreln.gating.partial`): open on one half of the items in m
  contexts; on the boundary on the other half there, with fraction h, and on the first half in the
  other contexts, with fraction h'. They are kept for all C, m, n and c.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record

if TYPE_CHECKING:
    from symreln.specs.model import Dataset

C, M, N = sp.symbols("C m n", positive=True, integer=True)
SCALE = sp.Symbol("c", positive=True)
#: Items of a half, and of all in which the context is open or not.
HALF = N / 2


@record
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


def has_formulas(dataset: Dataset) -> bool:
    """Return whether data are those of the formulas: contextual, with the hierarchy everywhere."""
    structures = {name.strip() for name in dataset.options.get("structures", "").split(",")}
    return dataset.task == "contextual" and structures == {"hierarchy"}
