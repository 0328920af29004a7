"""Networks given as graphs against their scalar modes: what is predicted, trained and compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.arguments import check_counts, instance_of
from symreln.integration import network_of
from symreln.train.graph import train_graph
from symreln.train.record import Recording
from symreln.validation.graph_start import GraphStart, graph_start
from symreln.validation.metrics import CurveComparison, SeedFloor, compare, seed_floor
from symreln.validation.scalar_modes import GraphPrediction, ScalarModes, gated_graph
from symreln.validation.trained import shared_progress, training_settings
from symreln.validation.words import bound_text, metric_cells, percent

if TYPE_CHECKING:
    from symreln.graphs.derivation import GraphDerivation
    from symreln.spec.model import Spec
    from symreln.train.network import TrainingRun
    from symreln.validation.trained import ProgressCallback


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphValidation:
    """A graph's derivation confronted with trained gated deep linear networks.

    Attributes:
        derivation: What was predicted.
        aligned: One GDLN whose edges start aligned with strength ``network.init_std``.
        aligned_theory: The scalar modes from the same start.
        gdln: GDLNs drawn from N(0, init_std²).
        start: Where their modes start in effect, or why that is not derived.
        theory: Mean loss of the scalar modes from there, over where single modes start; None where
            it is not derived. Shape (steps,).
        metrics: "theory_vs_aligned", and "theory_vs_gdln" where there is a start.
        floor: What GDLNs of different seeds differ by; None for one seed.
        strengths: (label, number of the mode, of the aligned theory, of the aligned GDLN).
        rng: Seed of the random streams.
    """

    derivation: GraphDerivation
    aligned: TrainingRun
    aligned_theory: GraphPrediction
    gdln: TrainingRun
    start: GraphStart | str
    theory: np.ndarray | None
    metrics: dict[str, CurveComparison]
    floor: SeedFloor | None
    strengths: tuple[tuple[str, int, float, float], ...]
    rng: int

    @property
    def seeds(self) -> int:
        """Networks from random weights."""
        return self.gdln.seeds

    @property
    def terms(self) -> tuple[()]:
        """What the distance is made of: nothing that is measured here."""
        return ()

    @property
    def tolerance(self) -> float:
        """Largest allowed max |ΔL|/L(0)."""
        return float(self.derivation.spec.validation.tolerance)

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The pairs that the tolerance excludes."""
        found = self.metrics.items()
        return tuple(name for name, m in found if m.max_abs_over_initial > self.tolerance)

    @property
    def agrees(self) -> bool:
        """Whether the prediction is within the tolerance of all that it speaks of."""
        return not self.disagreements

    @property
    def from_random_weights(self) -> bool:
        """Whether the verdict is about networks from random weights too."""
        return "theory_vs_gdln" in self.metrics

    @property
    def strength_distance(self) -> float:
        """Largest distance of a strength of the aligned GDLN at the end, over the largest one."""
        largest = max((abs(row[2]) for row in self.strengths), default=0.0)
        return max((abs(row[2] - row[3]) for row in self.strengths), default=0.0) / (largest or 1)

    def metric_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield (curves, max, mean, drop time error, tail) as text, for tables."""
        titles = {
            "theory_vs_aligned": "theory – GDLN that started aligned",
            "theory_vs_gdln": "theory – GDLN from random weights",
        }
        for name, found in self.metrics.items():
            yield (titles[name], *metric_cells(found, self.tolerance))
        if self.floor is not None:
            yield ("seed floor of the GDLN", *metric_cells(self.floor.mean))

    def sentence(self) -> str:
        """Return the verdict in one sentence, with the comparisons that it is about."""
        near = percent(self.metrics["theory_vs_aligned"].max_abs_over_initial, self.tolerance)
        aligned = (
            f"{near} against a GDLN that starts aligned, as the scalar modes assume (strengths end "
            f"within {self.strength_distance:.1e})"
        )
        if isinstance(self.start, str):
            head = "agree from an aligned start alone" if self.agrees else "DISAGREE"
            about = f"max |ΔL|/L(0) is {aligned}; of random weights nothing is predicted: "
            about += self.start
        else:
            head = "agree" if self.agrees else "DISAGREE"
            law = percent(self.metrics["theory_vs_gdln"].max_abs_over_initial, self.tolerance)
            about = f"max |ΔL|/L(0) is {law} against GDLNs from random weights"
            if self.floor is not None:
                about += f", each {percent(self.floor.mean.max_abs_over_initial)} from the others"
            about += f", and {aligned}"
        return (
            f"theory and training {head}: {about}; tolerance {bound_text(self.tolerance)}; "
            "free constants: 0"
        )

    def to_json(self) -> dict[str, Any]:
        """Return validation.json."""
        from symreln.report.graph_validation import graph_validation_to_json

        return graph_validation_to_json(self)


def validate_graph(
    derivation: GraphDerivation,
    seeds: int = 20,
    rng: int = 0,
    progress: ProgressCallback | None = None,
) -> GraphValidation:
    """Train the gated deep linear network of a graph and compare it with its scalar modes.

    Once from an aligned start, in which the modes are exact, and ``seeds`` times from random
    weights, whose effective start is derived where it can be.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
        seeds: Networks from random weights.
        rng: Seed of the random streams (SPEC 7).
        progress: Called with (done, total) in seed-steps.

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
        NotSupportedError: The data are not proven to diagonalise, a hidden node has fewer units
            than modes, or training is staged.
    """
    from symreln.graphs.derivation import GraphDerivation

    call = "validate_graph(sr.derive_graph(spec))"
    instance_of(derivation, GraphDerivation, "validate_graph", call)
    seeds, rng = check_counts(seeds, rng, "validate_graph")
    spec = derivation.spec.at_values()
    modes, std = ScalarModes.of(spec), float(network_of(spec).init_std)
    aligned, gdln = _trained(spec, modes.aligned(std), seeds, rng, progress)
    aligned_theory, start = modes.descend(std), graph_start(spec, modes.parts)
    theory = None if isinstance(start, str) else modes.expected_loss(start.amplitudes)
    metrics = {"theory_vs_aligned": compare(aligned_theory.loss, aligned.mean_loss)}
    if theory is not None:
        metrics["theory_vs_gdln"] = compare(theory, gdln.mean_loss)
    return GraphValidation(
        derivation=derivation,
        aligned=aligned,
        aligned_theory=aligned_theory,
        gdln=gdln,
        start=start,
        theory=theory,
        metrics=metrics,
        floor=seed_floor(gdln.losses),
        strengths=_beside(aligned_theory, modes.measured(aligned.snapshots["maps"][0, -1])),
        rng=rng,
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
    report = shared_progress(progress, 1)(0)
    return aligned, train_graph(*data, graph, settings, seeds=seeds, rng=rng, progress=report)


def _beside(
    theory: GraphPrediction, trained: dict[str, tuple[float, ...]]
) -> tuple[tuple[str, int, float, float], ...]:
    return tuple(
        (label, number, one, other)
        for label, values in theory.strengths.items()
        for number, (one, other) in enumerate(zip(values, trained[label], strict=True), start=1)
    )
