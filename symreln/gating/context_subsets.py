r"""Gates open on all samples of some values of a label, m of C contexts say, and their speeds.

For the contextual task with equal structures speeds are formulas in C, m, n and c, each proven by
substitution. The task has :math:`Y^TY = A\otimes(J + 1)` over items and contexts, with A the
hierarchy's Gram matrix: :math:`A1 = (2n-1)1`, and :math:`Av = (n-1)v` for v = ±1 on the two halves
of the items. Once a common pathway has learned what is linear in the inputs,
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

from collections.abc import Iterator
from functools import cache
from typing import Any

import sympy as sp

from symreln.base.records import record
from symreln.specs.spec import Spec


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

    @property
    def faster_with_m(self) -> dict[str, Any]:
        """Speed² at m + 1 less that at m, factored, by stage: its sign says who is faster."""
        named: dict[str, Any] = {
            "first stage": self.first**2,
            "residual": self.residual**2,
            "residual, partial gate": self.partial**2,
        }
        m = sp.Symbol("m", positive=True, integer=True)
        return {k: sp.factor(sp.cancel(s.subs(m, m + 1) - s)) for k, s in named.items()}

    def lines(self) -> Iterator[str]:
        """Yield what is said of them."""
        steps = self.faster_with_m
        yield "For all C, m, n and c, proven:"
        yield f"  first stage: s = {self.first};"
        yield f"    s(m+1)² − s(m)² = {steps['first stage']}, positive: m = C is the fastest;"
        yield f"  residual: s = {self.residual};"
        yield f"    s(m+1)² − s(m)² = {steps['residual']}: the fastest m are the whole numbers"
        yield "    next to C/2. m = C − 1 is among them for C = 2 and 3 only;"
        yield f"  residual, partial gates: s = {self.partial},"
        yield f"    open with fraction {self.inside} on the other half of the items in m contexts,"
        yield f"    and {self.outside} on their own half in the others; the same m are the fastest."

    @classmethod
    def of(cls, spec: Spec) -> SubsetFormulas | None:
        """Return the formulas where a spec is theirs.

        That is the contextual task with the hierarchy everywhere, whose first stage is one pathway
        that is always open.
        """
        data = spec.dataset
        structures = {name.strip() for name in data.options.get("structures", "").split(",")}
        first = [pathway for pathway in spec.pathways if pathway.stage == spec.stages[0]]
        common = len(first) == 1 and tuple(first[0].gate) == (1,) * data.samples
        known = common and data.task == "contextual" and structures == {"hierarchy"}
        return _formulas() if known else None


@cache
def _formulas() -> SubsetFormulas:
    """Return the formulas."""
    total, m, n = sp.symbols("C m n", positive=True, integer=True)
    scale = sp.Symbol("c", positive=True)
    inner = n / 2 * scale**2  # n/2: the items of a half
    spread = (scale**2 * n + total) / ((scale**2 * n + 2 * (total - m)) * (scale**2 * n + 2 * m))
    slow = (n - 1) * m * (total - m) / total
    return SubsetFormulas(
        first=sp.sqrt((2 * n - 1) * (m + 1) * (m + scale**2 * n)) / (n * total),
        residual=sp.sqrt(slow) / (n * total),
        partial=sp.sqrt(slow * n * scale**2 * spread) / (n * total),
        inside=inner / (inner + m),
        outside=(total - m) / (inner + total - m),
    )
