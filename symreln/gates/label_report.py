"""Gates by subsets of a label at declared values: subsets.json and the tables of subsets.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from symreln.gates import context_subsets
from symreln.gates.context_subsets import SubsetFormulas
from symreln.gates.label_race import SubsetShares, SubsetStage, label_values
from symreln.gates.serialise import Result, table
from symreln.spec.model import Spec

#: Rows of the table over training.
ROWS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class SubsetsReport(Result):
    """Speeds by subset stage by stage, formulas, and what trained networks take.

    Attributes:
        label: Name of the label.
        names: Its values.
        stages: Speeds.
        formulas: In C, m, n and c, where they are those of the data and stages; else None.
        faster_with_m: Speed² at m + 1 less that at m, by stage, likewise.
        trained: Which m networks take, or None.
    """

    JSON = ("format", "*", "values=names", "formulas?", "faster_with_m?", "trained?")
    file, format = "subsets.json", "symreln-subsets/1"
    label: str
    names: tuple[str, ...]
    stages: Sequence[SubsetStage]
    formulas: SubsetFormulas | None
    faster_with_m: dict[str, sp.Expr] | None
    trained: SubsetShares | None

    @property
    def tables(self) -> dict[str, str]:
        """All of it as Markdown."""
        lines = [line for stage in self.stages for line in self._stage(stage)]
        if self.formulas is not None and self.faster_with_m is not None:
            lines += _formula_lines(self.formulas, self.faster_with_m)
        if self.trained is not None:
            lines += self._trained(self.trained)
        return {"subsets.md": "\n".join(lines) + "\n"}

    def _stage(self, stage: SubsetStage) -> list[str]:
        what = "the targets" if stage.stage == 1 else "what converged stages leave"
        columns = [
            ("m", lambda each: each.m),
            ("gates alike", lambda each: each.size),
            ("speed", lambda each: each.speed.to_sympy() if each.speed else "0"),
            ("decimal", lambda each: f"{float(each.speed):.5f}" if each.speed else "0"),
            ("self-consistent", lambda each: "yes" if each.self_consistent else "no"),
        ]
        last, fastest = len(self.names) - 1, " and ".join(map(str, stage.fastest)) or "none"
        among = "the fastest" if len(stage.fastest) == 1 else "among them"
        among = among if last in stage.fastest else "not among them"
        lines = [f"Stage {stage.stage}, {what}:", "", *table(stage.subsets, columns), ""]
        lines.append(f"Fastest: m = {fastest}. m = {last} is {among}.")
        if stage.partial:
            columns = [
                ("m", lambda each: each.m),
                ("partial gate", lambda each: each.gate.pattern),
                ("alike", lambda each: each.gate.size),
                ("speed", lambda each: each.gate.s.to_sympy()),
                ("decimal", lambda each: f"{float(each.gate.s):.5f}"),
                ("fractions", lambda each: ", ".join(sorted({*each.fractions} - {"0", "1"}))),
            ]
            lines += ["", "No gate of 0 and 1 by subset is self-consistent; units settle on these:"]
            lines += ["", *table(stage.partial, columns)]
        return [*lines, ""]

    def _trained(self, found: SubsetShares) -> list[str]:
        count = len(self.names)
        columns = [
            ("step", lambda k: found.updates[k]),
            ("loss/L(0)", lambda k: f"{found.loss[k]:.4f}"),
        ]
        columns += [
            (f"m = {m}", lambda k, m=m: f"{found.shares[k, m]:.3f} ± {found.spread[k, m]:.3f}")
            for m in range(count + 1)
        ]
        rows = np.unique(np.linspace(0, len(found.updates) - 1, ROWS).round().astype(int))
        last = self.stages[-1]
        verdict = "is" if found.taken in last.fastest else "is **not**"
        return [
            f"Share of the weight of {found.seeds} trained networks by m, mean ± std over seeds:",
            "",
            *table(rows, columns),
            "",
            f"Of the m below {count}, networks end with most weight at m = {found.taken} "
            f"({found.shares[-1, found.taken]:.3f}), which {verdict} the fastest on stage "
            f"{last.stage} (m = {' and '.join(map(str, last.fastest)) or 'none'}).",
        ]


def subsets_report(
    spec: Spec, label: str, stages: Sequence[SubsetStage], trained: SubsetShares | None
) -> SubsetsReport:
    """Return what is said of a spec's subsets.

    Args:
        spec: Without free parameters.
        label: Name of the label.
        stages: See :func:`symreln.gates.label_race.subset_stages`.
        trained: What networks take, or None.
    """
    first = [pathway for pathway in spec.pathways if pathway.stage == spec.stages[0]]
    common = len(first) == 1 and tuple(first[0].gate) == (1,) * spec.dataset.samples
    known = common and context_subsets.has_formulas(spec.dataset)
    return SubsetsReport(
        label=label,
        names=tuple(map(str, label_values(spec.dataset, label))),
        stages=stages,
        formulas=context_subsets.formulas() if known else None,
        faster_with_m=context_subsets.comparisons() if known else None,
        trained=trained,
    )


def _formula_lines(found: SubsetFormulas, steps: dict[str, sp.Expr]) -> list[str]:
    return [
        "For all C, m, n and c, proven:",
        "",
        f"- first stage: s = {found.first};",
        f"  s(m+1)² − s(m)² = {steps['first stage']}, positive: m = C is the fastest;",
        f"- residual: s = {found.residual};",
        f"  s(m+1)² − s(m)² = {steps['residual']}: the fastest m are the whole numbers next to",
        "  C/2. m = C − 1 is among them for C = 2 and 3 only;",
        f"- residual, partial gates: s = {found.partial}, open with fraction {found.inside} on the",
        f"  other half of the items in the m contexts, and {found.outside} on its own half in the",
        "  others; the same m are the fastest.",
        "",
    ]
