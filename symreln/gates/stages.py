"""Gates stage by stage from the data alone: the fastest learn, and what they leave comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from symreln.base.progress import Progress
from symreln.exact.matrix import ExactMatrix
from symreln.exact.sparse import SparseMatrix
from symreln.gates.consistent import SelfConsistentGate, sign_pattern
from symreln.gates.enumerate import LIMIT, RealisableGates, enumerate_gates, without_parameters
from symreln.gates.search import QUIET, Search, search
from symreln.network.effective import effective_dataset
from symreln.network.targets import Targets
from symreln.spec.model import Dataset, PathwaySpec, Spec
from symreln.verdict.residual import converged_outputs


@dataclass(frozen=True, kw_only=True, eq=False)
class GateStage:
    """What early training selects from one residual.

    Attributes:
        residual: R, shape (n_y, P).
        found: Its self-consistent gates, full and partial.
    """

    residual: ExactMatrix
    found: Search

    @property
    def candidates(self) -> tuple[SelfConsistentGate, ...]:
        """Self-consistent gates of both kinds, one of each kind, the fastest first."""
        return self.found.candidates

    @property
    def winners(self) -> tuple[tuple[int, ...], ...]:
        """Signs of the fastest, all of a kind listed: 1 open, -1 closed, 0 on the boundary."""
        return self.found.winners

    def __repr__(self) -> str:
        return repr(self.found)


def predicted_stages(
    dataset: Dataset,
    *,
    most: int = 8,
    limit: int = LIMIT,
    found: RealisableGates | None = None,
    progress: Progress = QUIET,
) -> Iterator[GateStage]:
    """Yield the gates that are predicted to win, stage by stage, from the data alone.

    In every stage the self-consistent gates of the largest growth rate converge, all of a kind
    together, and leave a residual to the next: a partial one on what its inputs see off its
    boundary samples. Ends where nothing is left, nothing grows, or the fastest is not proven.

    Args:
        dataset: Without parameters.
        most: Stages after which to stop.
        limit: Number of realisable gates above which the enumeration ends.
        found: Gates to choose from; all that the dataset allows if left out.
        progress: Shows how far it is.

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
        selected = search(dataset.inputs, residual, gates, progress)
        stage = GateStage(residual=residual, found=selected)
        yield stage
        if not stage.winners or not (stage.found.proven or gates.sampled):
            return
        residual = residual_after(dataset, residual, stage.winners)


def residual_after(
    dataset: Dataset, residual: ExactMatrix, winners: Sequence[Sequence[int]]
) -> ExactMatrix:
    """Return what pathways with these gates leave once they have converged together.

    Args:
        dataset: The data.
        residual: R, shape (n_y, P).
        winners: Signs: 1 open, -1 (or, of a full gate, 0) closed, 0 on the boundary.
    """
    return _left(dataset, residual, [gate_pathway(dataset, signs) for signs in winners])


def gate_pathway(dataset: Dataset, signs: Sequence[int]) -> PathwaySpec:
    """Return a pathway that is open where signs are 1, orthogonal to samples where they are 0."""
    return PathwaySpec(
        name=sign_pattern(signs),
        gate=tuple(int(sign > 0) for sign in signs),
        boundary=tuple(place for place, sign in enumerate(signs) if not sign),
        inputs=tuple(range(dataset.n_x)),
        outputs=tuple(range(dataset.n_y)),
    )


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
