"""Gates by subsets of a label: speeds by stage, formulas, and what trained networks take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.summaries import short_repr
from symreln.gates import context_subsets
from symreln.gates.consistent import SelfConsistentGate
from symreln.gates.sliding import sliding_gates
from symreln.gates.stages import stage_residuals
from symreln.gates.subsets import (
    LabelSubset,
    count_observer,
    count_shares,
    fastest_counts,
    label_subsets,
    label_values,
)
from symreln.gates.trained import train_and_look

if TYPE_CHECKING:
    from symreln.document.model import Drawing
    from symreln.spec.model import Dataset, Spec

FORMAT = "symreln-subsets/1"
#: Rows of the table over training, and looks of the figure.
ROWS, LOOKS = 12, 80

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class SubsetStage:
    """Gates by subset on what one stage of a spec learns.

    Attributes:
        number: The stage.
        subsets: One of each kind, the fastest first.
        partial: Partial gates that units settle on there, where no subset's gate is
            self-consistent: (gate, m of the values on which it is open somewhere).
    """

    number: int
    subsets: tuple[LabelSubset, ...]
    partial: tuple[tuple[SelfConsistentGate, int], ...]

    @property
    def fastest(self) -> tuple[int, ...]:
        """The m of the largest speed."""
        return fastest_counts(self.subsets)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SubsetShares:
    """Which m trained networks take.

    Attributes:
        steps: Shape (looks,).
        loss: Mean loss over the initial one, shape (looks,).
        shares: Share of the weight by m = 0 … k, mean over seeds, shape (looks, k + 1).
        spread: Its standard deviation over seeds.
        seeds: How many networks.
    """

    steps: np.ndarray
    loss: np.ndarray
    shares: np.ndarray
    spread: np.ndarray
    seeds: int

    @property
    def taken(self) -> int:
        """The m < k with the largest share at the end: those that tell values apart."""
        return int(self.shares[-1, 1:-1].argmax()) + 1


def subset_stages(spec: Spec, label: str) -> tuple[SubsetStage, ...]:
    """Return speeds by subset on every stage of a spec.

    Args:
        spec: Without free parameters.
        label: Name of the label.
    """
    found = []
    for number, residual in enumerate(stage_residuals(spec), start=1):
        subsets = label_subsets(spec.dataset, residual, label)
        partial: tuple[tuple[SelfConsistentGate, int], ...] = ()
        if not residual.is_zero and not any(each.self_consistent for each in subsets):
            partial = tuple(
                (gate, _open_values(spec.dataset, label, gate))
                for gate in sliding_gates(spec.dataset.inputs, residual)
            )
        found.append(SubsetStage(number=number, subsets=subsets, partial=partial))
    return tuple(found)


def _open_values(dataset: Dataset, label: str, gate: SelfConsistentGate) -> int:
    """Return on how many values of a label some sample is open."""
    pairs = zip(dataset.labels[label], gate.signs, strict=True)
    return len({value for value, sign in pairs if sign > 0})


def trained_shares(spec: Spec, label: str, seeds: int, rng: int) -> SubsetShares:
    """Train a spec's ReLU network, and return which m carries its weight.

    Args:
        spec: Without free parameters, with a network.
        label: Name of the label.
        seeds: How many networks.
        rng: Seed of their weights.
    """
    from symreln.claims.integration import network_of

    last = network_of(spec).steps - 1
    looks = np.unique(np.linspace(0, last, min(LOOKS, last + 1)).round().astype(int))
    looked = train_and_look(
        spec, seeds, rng, observers={"m": count_observer(spec.dataset, label)}, steps=looks
    )
    values = len(label_values(spec.dataset, label))
    shares = count_shares(looked.seen["m"], looked.weights, values)
    return SubsetShares(
        steps=looked.steps,
        loss=looked.loss,
        shares=shares.mean(axis=0),
        spread=shares.std(axis=0, ddof=int(seeds > 1)),
        seeds=seeds,
    )


def subsets_json(
    spec: Spec, label: str, stages: tuple[SubsetStage, ...], shares: SubsetShares | None
) -> Json:
    """Return all of it as JSON."""
    result: Json = {
        "format": FORMAT,
        "label": label,
        "values": [str(value) for value in label_values(spec.dataset, label)],
        "stages": [_stage(stage) for stage in stages],
    }
    if has_formulas(spec):
        found = context_subsets.formulas()
        result["formulas"] = {
            name: str(getattr(found, name))
            for name in ("first", "residual", "partial", "inside", "outside")
        }
        result["faster_with_m"] = {
            name: str(value) for name, value in context_subsets.comparisons().items()
        }
    if shares is not None:
        result["trained"] = {
            "seeds": shares.seeds,
            "steps": shares.steps.tolist(),
            "loss": shares.loss.tolist(),
            "shares": shares.shares.tolist(),
            "spread": shares.spread.tolist(),
            "taken": shares.taken,
        }
    return result


def _stage(stage: SubsetStage) -> Json:
    return {
        "stage": stage.number,
        "fastest_m": list(stage.fastest),
        "subsets": [
            {
                "m": each.count,
                "values": [str(value) for value in each.values],
                "size": each.size,
                "speed": None if each.speed is None else each.speed.to_json({}),
                "realisable": each.realisable,
                "self_consistent": each.self_consistent,
            }
            for each in stage.subsets
        ],
        "partial": [
            {
                "m": m,
                "pattern": gate.pattern,
                "size": gate.size,
                "speed": gate.s.to_json({}),
                "fractions": [str(value.to_sympy()) for value in gate.values],
                "unique": gate.unique,
            }
            for gate, m in stage.partial
        ],
    }


def has_formulas(spec: Spec) -> bool:
    """Return whether the formulas in C, m, n and c are those of a spec's data and stages."""
    from symreln.errors import NotSupportedError

    try:
        context_subsets.require_equal_structures(spec.dataset)
    except NotSupportedError:
        return False
    first = [pathway for pathway in spec.pathways if pathway.stage == spec.stages[0]]
    whole = (1,) * spec.dataset.samples
    return len(first) == 1 and tuple(first[0].gate) == whole


def subsets_table(
    spec: Spec, label: str, stages: tuple[SubsetStage, ...], shares: SubsetShares | None
) -> str:
    """Return all of it as Markdown."""
    count = len(label_values(spec.dataset, label))
    lines: list[str] = []
    for stage in stages:
        lines += _stage_lines(stage, count)
    if has_formulas(spec):
        lines += _formula_lines()
    if shares is not None:
        lines += _trained_lines(stages, shares, count)
    return "\n".join(lines) + "\n"


def _stage_lines(stage: SubsetStage, count: int) -> list[str]:
    what = "the targets" if stage.number == 1 else "what converged stages leave"
    lines = [
        f"Stage {stage.number}, {what}:",
        "",
        "| m | gates alike | speed | decimal | self-consistent |",
        "|---|---|---|---|---|",
    ]
    for each in stage.subsets:
        exact, decimal = "0", "0"
        if each.speed is not None:
            exact, decimal = str(each.speed.to_sympy()), f"{float(each.speed):.5f}"
        answer = "yes" if each.self_consistent else "no"
        lines.append(f"| {each.count} | {each.size} | {exact} | {decimal} | {answer} |")
    fastest = " and ".join(map(str, stage.fastest)) or "none"
    lines += ["", f"Fastest: m = {fastest}. m = {count - 1} is {_among(count - 1, stage.fastest)}."]
    if stage.partial:
        lines += ["", "No gate of 0 and 1 by subset is self-consistent; units settle on these:", ""]
        lines += [
            "| m | partial gate | alike | speed | decimal | fractions |",
            "|---|---|---|---|---|---|",
        ]
        for gate, m in stage.partial:
            parts = sorted({str(v.to_sympy()) for v in gate.values} - {"0", "1"})
            lines.append(
                f"| {m} | {gate.pattern} | {gate.size} | {gate.s.to_sympy()} | "
                f"{float(gate.s):.5f} | {', '.join(parts)} |"
            )
    return [*lines, ""]


def _among(m: int, fastest: tuple[int, ...]) -> str:
    if m not in fastest:
        return "not among them"
    return "the fastest" if len(fastest) == 1 else "among them"


def _formula_lines() -> list[str]:
    found = context_subsets.formulas()
    steps = context_subsets.comparisons()
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


def _trained_lines(stages: tuple[SubsetStage, ...], shares: SubsetShares, count: int) -> list[str]:
    rows = np.unique(np.linspace(0, len(shares.steps) - 1, ROWS).round().astype(int))
    header = " | ".join(f"m = {m}" for m in range(count + 1))
    lines = [
        f"Share of the weight of {shares.seeds} trained networks by m, mean ± std over seeds:",
        "",
        f"| step | loss/L(0) | {header} |",
        "|---|---|" + "---|" * (count + 1),
    ]
    for k in rows:
        cells = " | ".join(
            f"{a:.3f} ± {b:.3f}" for a, b in zip(shares.shares[k], shares.spread[k], strict=True)
        )
        lines.append(f"| {shares.steps[k]} | {shares.loss[k]:.4f} | {cells} |")
    last = stages[-1]
    share = shares.shares[-1, shares.taken]
    verdict = "is" if shares.taken in last.fastest else "is **not**"
    lines += [
        "",
        f"Of the m below {count}, networks end with most weight at m = {shares.taken} "
        f"({share:.3f}), which {verdict} the fastest on stage {last.number} "
        f"(m = {' and '.join(map(str, last.fastest)) or 'none'}).",
    ]
    return lines


def subsets_drawing(shares: SubsetShares, *, png: bool = False) -> Drawing:
    """Draw the shares by m over training, stacked, with the loss above them."""
    from symreln.gates.figure import stacked_shares

    return stacked_shares(
        "subsets",
        shares.steps,
        [(f"m = {m}", shares.shares[:, m]) for m in range(shares.shares.shape[1])],
        shares.loss,
        png=png,
    )
