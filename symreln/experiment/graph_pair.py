"""A graph's scalar modes and the gated networks that are confronted with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.progress import both, phase
from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.experiment.graph_start import GraphStart, graph_start
from symreln.experiment.metrics import compare
from symreln.experiment.scalar_modes import GraphPrediction, ScalarModes, gated_graph
from symreln.experiment.trained import training_settings
from symreln.train.record import Recording
from symreln.train.trainers import train_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.experiment.metrics import CurveComparison
    from symreln.experiment.trained import ProgressCallback
    from symreln.spec.model import Spec
    from symreln.train.run import TrainingRun

#: The pairs of curves: from an aligned start, and from random weights.
ALIGNED, RANDOM = "theory_vs_aligned", "theory_vs_gdln"


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GraphPair:
    """What was predicted and trained of one experiment.

    Attributes:
        modes: Its scalar modes.
        start: Where the modes of random weights start in effect, or why that is not derived.
        aligned: One GDLN whose edges start aligned with strength ``network.init_std``.
        aligned_theory: The scalar modes from the same start.
        gdln: GDLNs drawn from N(0, init_std²).
        theory: Mean loss of the scalar modes over where single modes start; None where it is not
            derived. Shape (steps,).
    """

    modes: ScalarModes
    start: GraphStart | str
    aligned: TrainingRun
    aligned_theory: GraphPrediction
    gdln: TrainingRun
    theory: np.ndarray | None

    @property
    def metrics(self) -> dict[str, CurveComparison]:
        """The distances, of random weights where they are predicted."""
        found = {ALIGNED: compare(self.aligned_theory.loss, self.aligned.mean_loss)}
        if self.theory is not None:
            found[RANDOM] = compare(self.theory, self.gdln.mean_loss)
        return found


def confront_modes(
    modes: ScalarModes,
    seeds: int,
    rng: int,
    progress: ProgressCallback | None = None,
    *,
    start: GraphStart | str | None = None,
) -> GraphPair:
    """Predict and train.

    Args:
        modes: Of the spec that is trained.
        seeds: Networks from random weights.
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.
        start: Where modes of random weights start, if that is known already.

    Raises:
        InputError: Training diverged.
    """
    spec, std = modes.spec, float(network_of(modes.spec).init_std)
    with phase("training") as report:
        aligned, gdln = _trained(spec, modes.aligned(std), seeds, rng, both(progress, report))
    with phase("effective initial strengths"):
        found = graph_start(spec, modes.parts) if start is None else start
    return GraphPair(
        modes=modes,
        start=found,
        aligned=aligned,
        aligned_theory=modes.descend(std),
        gdln=gdln,
        theory=None if isinstance(found, str) else modes.expected_loss(found.amplitudes),
    )


def _trained(
    spec: Spec,
    start: Sequence[np.ndarray],
    seeds: int,
    rng: int,
    progress: ProgressCallback | None,
) -> tuple[TrainingRun, TrainingRun]:
    """Return the network that starts at one matrix an edge, and those from random weights."""
    assert spec.graph is not None
    settings, graph = training_settings(spec), gated_graph(spec.graph)
    data = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    aligned = train_graph(
        *data,
        graph,
        settings,
        initial={
            edge.name: weights[None] for edge, weights in zip(graph.edges, start, strict=True)
        },
        record=Recording(quantities=("maps",), steps=(settings.steps - 1,)),
    )
    return aligned, train_graph(*data, graph, settings, seeds=seeds, rng=rng, progress=progress)
