"""Gates stage by stage from the data alone: the fastest learn, and what they leave comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from symreln.exact.matrix import ExactMatrix
from symreln.exact.sparse import SparseMatrix
from symreln.gates.consistent import SelfConsistentGate, self_consistent_gates
from symreln.gates.enumerate import (
    LIMIT,
    RealisableGates,
    enumerate_gates,
    pattern,
    without_parameters,
)
from symreln.gates.orbits import SampleGroup, gate_orbits, moved_gates, sample_group
from symreln.gates.partial import PartialGate, all_signs, partial_gates
from symreln.gates.sliding import sliding_gates
from symreln.pathways.effective import effective_dataset
from symreln.pathways.residual import converged_outputs
from symreln.pathways.targets import Targets
from symreln.spec.model import Dataset, PathwaySpec, Spec

#: Samples up to which all sign vectors are asked for partial gates; beyond, units propose some.
MOST_LISTED = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class GateStage:
    """What early training selects from one residual.

    Attributes:
        residual: R, shape (n_y, P).
        candidates: Self-consistent gates, one of each kind, the fastest first.
        winners: The gates of the largest growth rate, all of a kind listed.
        partial: Where no gate is self-consistent: gates with samples on their boundary that units
            keep, one of each kind, the fastest first. What they leave is not followed: as they
            grow, their fractions move.
        proposed: Whether followed units proposed the partial gates, so that there may be more.
    """

    residual: ExactMatrix
    candidates: tuple[SelfConsistentGate, ...]
    winners: tuple[tuple[int, ...], ...]
    partial: tuple[PartialGate, ...] = ()
    proposed: bool = False


def candidates_of(
    dataset: Dataset, residual: ExactMatrix, found: RealisableGates
) -> tuple[tuple[SelfConsistentGate, ...], SampleGroup]:
    """Return the self-consistent gates of a residual, one of each kind, and the symmetries."""
    group = sample_group(dataset.inputs, residual)
    kinds = [
        (tuple(int(v) for v in found.gates[orbit.index]), orbit.size)
        for orbit in gate_orbits(found, group)
    ]
    return self_consistent_gates(dataset.inputs, residual, kinds), group


def predicted_stages(
    dataset: Dataset, *, most: int = 8, limit: int = LIMIT, found: RealisableGates | None = None
) -> Iterator[GateStage]:
    """Yield the gates that are predicted to win, stage by stage, from the data alone.

    In every stage the self-consistent gates of the largest growth rate converge, all of a kind
    together, and leave a residual to the next. Ends where nothing is left, or nothing grows.

    Args:
        dataset: Without parameters.
        most: Stages after which to stop.
        limit: Number of realisable gates above which the enumeration ends.
        found: Gates to choose from; all that the dataset allows if left out.

    Raises:
        InputError: A parameter occurs.
        LimitReachedError: There are more gates than ``limit``.
    """
    dataset = replace(
        dataset,
        inputs=without_parameters(dataset.inputs),
        targets=without_parameters(dataset.targets),
    )
    gates = enumerate_gates(dataset.inputs, limit=limit) if found is None else found
    residual = dataset.targets
    for _ in range(most):
        if residual.is_zero:
            return
        candidates, group = candidates_of(dataset, residual, gates)
        fastest = [each for each in candidates if each.s == candidates[0].s]
        winners = tuple(
            dict.fromkeys(image for each in fastest for image in moved_gates(each.gate, group))
        )
        if not winners:
            partial, proposed = kept_on_boundaries(dataset.inputs, residual)
            yield GateStage(
                residual=residual, candidates=(), winners=(), partial=partial, proposed=proposed
            )
            return
        yield GateStage(residual=residual, candidates=candidates, winners=winners)
        residual = residual_after(dataset, residual, winners)


def kept_on_boundaries(
    inputs: ExactMatrix, residual: ExactMatrix
) -> tuple[tuple[PartialGate, ...], bool]:
    """Return partial gates of a residual, one of each kind, and whether units proposed them.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters, not zero.
    """
    if inputs.shape[1] > MOST_LISTED:
        return sliding_gates(inputs, residual), True
    group = sample_group(inputs, residual)
    seen: set[tuple[int, ...]] = set()
    kinds = []
    for signs in all_signs(inputs):
        if signs not in seen:
            alike = moved_gates(signs, group)
            seen.update(alike)
            kinds.append((signs, len(alike)))
    return partial_gates(inputs, residual, kinds), False


def residual_after(
    dataset: Dataset, residual: ExactMatrix, gates: tuple[tuple[int, ...], ...]
) -> ExactMatrix:
    """Return what pathways with these gates leave once they have converged together."""
    pathways = [
        PathwaySpec(
            name=pattern(gate),
            gate=gate,
            inputs=tuple(range(dataset.n_x)),
            outputs=tuple(range(dataset.n_y)),
        )
        for gate in gates
    ]
    return _left(dataset, residual, pathways)


def stage_residuals(spec: Spec) -> tuple[ExactMatrix, ...]:
    """Return what each stage of a spec learns: its targets, then what converged stages leave."""
    found = [spec.dataset.targets]
    for stage in spec.stages[:-1]:
        pathways = [pathway for pathway in spec.pathways if pathway.stage == stage]
        found.append(_left(spec.dataset, found[-1], pathways))
    return tuple(found)


def _left(dataset: Dataset, residual: ExactMatrix, pathways: list[PathwaySpec]) -> ExactMatrix:
    goal = Targets.of(SparseMatrix.from_exact(residual))
    stage = tuple(effective_dataset(dataset, pathway, goal) for pathway in pathways)
    return (residual - converged_outputs(goal, stage)).reduced()
