"""Gates by a label: open on all samples that hold some of its values, on no others; their speeds.

For m of the values of a label (contexts, say) the gate is open on all of their samples. Speeds are
exact at the spec's numbers, for any data, stage by stage; subsets that a symmetry of the data maps
onto each other are one. :mod:`symreln.gating.context_subsets` has the same as formulas for the
contextual task.

Raced over a parameter, for all its values: beside :mod:`symreln.gating.race` that takes these
gates, whether a unit can keep them or not, each with the largest singular value of R diag(g) Xᵀ/P.
Boundaries are of speed, where two of these cross, and of existence, where a subset's fastest
direction starts or stops having its gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.base.rounding import mean_text
from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.domain import Range
from symreln.exact.linear_programming import realisable
from symreln.exact.matrix import ExactMatrix
from symreln.exact.order import order_key
from symreln.gating import context_subsets
from symreln.gating.arrangement import without_parameters
from symreln.gating.consistent import SelfConsistentGate, consistent_pairs
from symreln.gating.observed import nearest_observer, observe, wide_shares
from symreln.gating.race import race
from symreln.gating.race_pieces import Race
from symreln.gating.search import stage_residuals
from symreln.gating.serialise import Result, table
from symreln.gating.sliding import sliding_gates
from symreln.networks.orbits import gate_kinds, sample_group
from symreln.specs.model import Dataset, Spec
from symreln.train.record import Observer
from symreln.verdict.directions import columns, gate_spectrum, singular_pairs

#: Values of a label above which subsets are refused: there are 2^k of them.
_MOST_VALUES = 12
#: Looks at networks in training, and rows of their table.
LOOKS, ROWS = 80, 12


@record(eq=False)
class _LabelSubset(Result):
    """A gate open on the samples of some values of a label.

    Attributes:
        held: The values, m of them, as text.
        size: How many subsets a symmetry of the data makes alike, this one included.
        speed: Largest singular value of R diag(g) Xᵀ/P; None where it is zero.
        realisable: Whether some direction has the gate.
        self_consistent: Whether the direction of that speed has it.
    """

    JSON = ("m", "*", "values=held")
    held: tuple[str, ...]
    size: int
    speed: AlgebraicNumber | None
    realisable: bool
    self_consistent: bool

    @property
    def m(self) -> int:
        """How many values."""
        return len(self.held)


@record(kw_only=False)
class _PartialSubset(Result):
    """A partial gate that is open somewhere on m of a label's values."""

    JSON = (
        *("m", "pattern=gate.pattern", "size=gate.size", "speed=gate.s", "fractions"),
        "unique=gate.unique",
    )
    m: int
    gate: SelfConsistentGate

    @property
    def fractions(self) -> list[str]:
        """The gate on every sample, as text."""
        return [str(value.to_sympy()) for value in self.gate.times_open]


@record(eq=False)
class SubsetStage(Result):
    """Gates by subset on what one stage of a spec learns.

    Attributes:
        stage: Its number.
        subsets: One of each kind, the fastest first.
        partial: Partial gates that units settle on there, where no subset's gate is
            self-consistent.
    """

    JSON = ("*", "fastest_m=fastest")
    stage: int
    subsets: tuple[_LabelSubset, ...]
    partial: tuple[_PartialSubset, ...]

    @property
    def fastest(self) -> tuple[int, ...]:
        """The m of the largest speed, decided exactly; empty where nothing grows."""
        if not self.subsets or self.subsets[0].speed is None:
            return ()
        top = self.subsets[0].speed
        return tuple(sorted({each.m for each in self.subsets if each.speed == top}))


@short_repr(eq=False)
class SubsetShares(Result):
    """Which m trained networks take.

    Attributes:
        seeds: How many networks.
        updates: Shape (looks,).
        loss: Mean loss over the initial one, shape (looks,).
        shares: Share of the weight by m = 0 … k, mean over seeds, shape (looks, k + 1).
        spread: Its standard deviation over seeds.
        mean_field: The shares in the limit of infinite width, by the mean-field simulation; None
            where it takes minutes, or targets are 0.
        mean_field_error: The largest of their standard errors.
    """

    JSON = ("*", "steps=updates", "mean_field?", "mean_field_error?", "taken")
    seeds: int
    updates: np.ndarray
    loss: np.ndarray
    shares: np.ndarray
    spread: np.ndarray
    mean_field: np.ndarray | None
    mean_field_error: float | None

    @property
    def taken(self) -> int:
        """The m < k with the largest share at the end: those that tell values apart."""
        return int(self.shares[-1, 1:-1].argmax()) + 1


@record(eq=False)
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
    formulas: context_subsets.SubsetFormulas | None
    faster_with_m: dict[str, sp.Expr] | None
    trained: SubsetShares | None

    @property
    def tables(self) -> dict[str, str]:
        """All of it."""
        lines = [line for stage in self.stages for line in self._stage(stage)]
        if self.formulas is not None and self.faster_with_m is not None:
            lines += _formula_lines(self.formulas, self.faster_with_m)
        if self.trained is not None:
            lines += self._trained(self.trained)
        return {"subsets.md": "".join(f"{line}\n" for line in lines)}

    def _stage(self, stage: SubsetStage) -> list[str]:
        what = "the targets" if stage.stage == 1 else "what converged stages leave"
        columns = [
            ("m", lambda each: each.m),
            ("orbit", lambda each: each.size),
            ("speed", lambda each: each.speed.to_sympy() if each.speed else "0"),
            ("decimal", lambda each: f"{float(each.speed):.5f}" if each.speed else "0"),
            ("self-consistent", lambda each: "yes" if each.self_consistent else "no"),
        ]
        last, fastest = len(self.names) - 1, " and ".join(map(str, stage.fastest)) or "none"
        lines = [f"Stage {stage.stage}, {what}:", "", table(stage.subsets, columns), ""]
        besides = "" if last in stage.fastest else f"; not m = {last}"
        lines.append(f"The fastest gates have m = {fastest}{besides}.")
        if stage.partial:
            columns = [
                ("m", lambda each: each.m),
                ("partial gate", lambda each: each.gate.pattern),
                ("orbit", lambda each: each.gate.size),
                ("speed", lambda each: each.gate.s.to_sympy()),
                ("decimal", lambda each: f"{float(each.gate.s):.5f}"),
                ("fractions", lambda each: ", ".join(sorted({*each.fractions} - {"0", "1"}))),
            ]
            lines += ["", "No gate of 0 and 1 by subset is self-consistent; units end on these:"]
            lines += ["", table(stage.partial, columns)]
        return [*lines, ""]

    def _trained(self, found: SubsetShares) -> list[str]:
        count = len(self.names)
        columns = [
            ("step", lambda k: found.updates[k]),
            ("loss/L(0)", lambda k: f"{found.loss[k]:.4f}"),
        ]
        columns += [
            (
                f"m = {m}",
                lambda k, m=m: mean_text(found.shares[k, m], found.spread[k, m], found.seeds),
            )
            for m in range(count + 1)
        ]
        rows = np.unique(np.linspace(0, len(found.updates) - 1, ROWS).round().astype(int))
        last = self.stages[-1]
        verdict = "is" if found.taken in last.fastest else "is **not**"
        limit = []
        if found.mean_field is not None:
            ends = ", ".join(f"{m}: {share:.3f}" for m, share in enumerate(found.mean_field[-1]))
            error = f"mean-field simulation, standard error up to {found.mean_field_error:.3f}"
            limit = ["", f"At infinite width, by m: {ends} ({error})."]
        return [
            f"Share of the weight of {found.seeds} trained networks by m, mean ± std over seeds:",
            "",
            table(rows, columns),
            "",
            f"Of the m below {count}, networks end with most weight at m = {found.taken} "
            f"({found.shares[-1, found.taken]:.3f}), which {verdict} the fastest on stage "
            f"{last.stage} (m = {' and '.join(map(str, last.fastest)) or 'none'}).",
            *limit,
        ]


def label_values(dataset: Dataset, label: str) -> tuple[object, ...]:
    """Return the distinct values of a label, in the order in which they first occur.

    Raises:
        InputError: There is no such label, or it has fewer than 2 values or more than
            ``_MOST_VALUES``.
    """
    if label not in dataset.labels:
        known = ", ".join(dataset.labels) or "none"
        msg = f"subsets: found --by {label}; the data have these labels: {known}"
        raise InputError(msg)
    values = tuple(dict.fromkeys(dataset.labels[label]))
    if not 2 <= len(values) <= _MOST_VALUES:
        msg = (
            f"subsets: label {label} has {len(values)} values; gates by subsets need 2 to "
            f"{_MOST_VALUES}. Choose another label"
        )
        raise InputError(msg)
    return values


def _subset_gates(dataset: Dataset, label: str) -> dict[tuple[int, ...], tuple[object, ...]]:
    """Return the values of the label by gate, 0 or 1 a sample; fewer values first.

    Raises:
        InputError: See :func:`label_values`.
    """
    names, held = label_values(dataset, label), dataset.labels[label]
    return {
        tuple(int(value in chosen) for value in held): chosen
        for count in range(1, len(names) + 1)
        for chosen in combinations(names, count)
    }


def _label_subsets(dataset: Dataset, residual: ExactMatrix, label: str) -> tuple[_LabelSubset, ...]:
    """Return one subset of each kind with its speed, the fastest first.

    Args:
        dataset: Without parameters.
        residual: R, shape (n_y, P), without parameters.
        label: Name of the label.

    Raises:
        InputError: The label does not fit, or a parameter occurs.
    """
    inputs, residual = without_parameters(dataset.inputs), without_parameters(residual)
    samples, group = columns(inputs), sample_group(inputs, residual)
    chosen, found = _subset_gates(dataset, label), []
    for alike in gate_kinds(chosen, group):
        gate = alike[0]
        pairs = singular_pairs(gate_spectrum(inputs, residual, gate))
        subset = _LabelSubset(
            held=tuple(map(str, chosen[gate])),
            size=len(alike),
            speed=pairs[0].s if pairs else None,
            realisable=realisable(samples, gate),
            self_consistent=bool(consistent_pairs(pairs[:1], samples, gate)),
        )
        found.append(subset)
    growing = [(order_key(each.speed, {}), each) for each in found if each.speed is not None]
    ordered = [each for _, each in sorted(growing, key=lambda pair: pair[0])]
    return (*ordered, *(each for each in found if each.speed is None))


def subset_stages(spec: Spec, label: str) -> tuple[SubsetStage, ...]:
    """Return speeds by subset on every stage of a spec.

    Args:
        spec: Without free parameters.
        label: Name of the label.
    """
    found = []
    for number, residual in enumerate(stage_residuals(spec), start=1):
        subsets = _label_subsets(spec.dataset, residual, label)
        partial: tuple[SelfConsistentGate, ...] = ()
        if not residual.is_zero and not any(each.self_consistent for each in subsets):
            partial = sliding_gates(spec.dataset.inputs, residual)
        held = spec.dataset.labels[label]
        opened = (
            {value for value, sign in zip(held, gate.signs, strict=True) if sign > 0}
            for gate in partial
        )
        counted = tuple(_PartialSubset(len(o), g) for o, g in zip(opened, partial, strict=True))
        found.append(SubsetStage(stage=number, subsets=subsets, partial=counted))
    return tuple(found)


def trained_shares(spec: Spec, label: str, seeds: int, rng: int) -> SubsetShares:
    """Train a spec's ReLU network, and return which m carries its weight; and that of a wide one.

    Args:
        spec: Without free parameters, with a network.
        label: Name of the label.
        seeds: How many networks.
        rng: Seed of their weights.
    """
    last = network_of(spec).steps - 1
    looks = np.unique(np.linspace(0, last, min(LOOKS, last + 1)).round().astype(int))
    counted, kinds = count_observer(spec.dataset, label), len(label_values(spec.dataset, label)) + 1
    seen = observe(spec, seeds=seeds, rng=rng, observers={"m": counted}, steps=looks)
    shares = seen.class_shares("m", kinds)
    limit, error = wide_shares(spec, counted, kinds, looks) or (None, None)
    return SubsetShares(
        seeds=seeds,
        updates=looks,
        loss=seen.curve[looks],
        shares=shares.mean(axis=0),
        spread=shares.std(axis=0, ddof=int(seeds > 1)),
        mean_field=limit,
        mean_field_error=None if error is None else float(error.max()),
    )


def count_observer(dataset: Dataset, label: str) -> Observer:
    """Return an observer of the number m of a label's values that each unit is open on.

    That of the subset whose gate is nearest to its own; see :func:`nearest_observer`.
    """
    by_size = {0: [(-1,) * dataset.samples]}
    for gate, chosen in _subset_gates(dataset, label).items():
        by_size.setdefault(len(chosen), []).append(tuple(2 * value - 1 for value in gate))
    return nearest_observer(dataset.inputs.to_numpy(), list(by_size.values()))


def subsets_report(
    spec: Spec, label: str, stages: Sequence[SubsetStage], trained: SubsetShares | None
) -> SubsetsReport:
    """Return what is said of a spec's subsets.

    Args:
        spec: Without free parameters.
        label: Name of the label.
        stages: See :func:`subset_stages`.
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


def _formula_lines(found: context_subsets.SubsetFormulas, steps: dict[str, sp.Expr]) -> list[str]:
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


def label_race(dataset: Dataset, residual: ExactMatrix, label: str, limits: Range) -> Race:
    """Return who of the gates by subset is fastest, for all values of the one parameter.

    Args:
        dataset: X, shape (n_x, P), and the label; one parameter in X and R together.
        residual: R, shape (n_y, P): the targets, or what a converged stage leaves.
        label: Name of the label.
        limits: The parameter's range.

    Raises:
        InputError: The label does not fit; no parameter occurs, or several do.
        NotSupportedError: Growth rates of a degree above ``MOST_DEGREE``.
    """
    names = {
        gate: f"m = {len(values)} ({', '.join(map(str, values))})"
        for gate, values in _subset_gates(dataset, label).items()
    }
    return race(dataset.inputs, residual, limits, given=names)
