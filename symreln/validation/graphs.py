"""Networks given as graphs against their scalar modes: what is predicted, trained and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.arguments import check_counts, instance_of
from symreln.progress import phase
from symreln.summaries import short_repr
from symreln.validation.findings import PairDiagnosis
from symreln.validation.graph_diagnosis import diagnose_graph
from symreln.validation.graph_pair import ALIGNED, RANDOM, GraphPair, confront_modes
from symreln.validation.graph_start import GraphStart
from symreln.validation.graph_untested import why_graph_untested
from symreln.validation.intervals import Distance, distance
from symreln.validation.metrics import CurveComparison, SeedFloor, seed_floor
from symreln.validation.scalar_modes import GraphPrediction, ScalarModes
from symreln.validation.told import failed_text, seeds_text
from symreln.validation.trained import shared_progress
from symreln.validation.untested import Untested
from symreln.validation.words import bound_text, metric_cells, percent

if TYPE_CHECKING:
    from symreln.graphs.derivation import GraphDerivation
    from symreln.train.network import TrainingRun
    from symreln.validation.trained import ProgressCallback

#: What every pair of curves is called, and its networks after "max |ΔL|/L(0) is …".
TITLES = {
    ALIGNED: "theory – GDLN that started aligned",
    RANDOM: "theory – GDLN from random weights",
}
AGAINST = {
    ALIGNED: "against the GDLN that started aligned",
    RANDOM: "against GDLNs from random weights",
}


@short_repr
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
        untested: Why training does not test the prediction; None where it does.
        diagnosis: Which assumptions fail, pair by pair, where theory and training disagree.
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
    untested: Untested | None = None
    diagnosis: tuple[PairDiagnosis, ...] = ()

    def _summary(self) -> list[str]:
        from symreln.report.summary import validation_summary

        return validation_summary(self)

    def _headline(self) -> str:
        from symreln.report.summary import validation_headline

        return validation_headline(self)

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
        """Whether training tests the prediction and is within the tolerance of all of it."""
        return self.verdict == "agrees"

    @property
    def verdict(self) -> str:
        """What validation.json says: "agrees", "disagrees" or "not tested"."""
        if self.disagreements:
            return "disagrees"
        return "agrees" if self.untested is None else "not tested"

    @cached_property
    def intervals(self) -> dict[str, Distance]:
        """Distances to GDLNs from random weights with intervals for the mean over all seeds."""
        if self.theory is None or self.seeds < 2:
            return {}
        return {RANDOM: distance(self.theory, self.gdln.losses, self.rng)}

    @property
    def from_random_weights(self) -> bool:
        """Whether the verdict is about networks from random weights too."""
        return RANDOM in self.metrics

    @property
    def strength_distance(self) -> float:
        """Largest distance of a strength of the aligned GDLN at the end, over the largest one."""
        largest = max((abs(row[2]) for row in self.strengths), default=0.0)
        return max((abs(row[2] - row[3]) for row in self.strengths), default=0.0) / (largest or 1)

    def metric_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield (curves, max, mean, drop time error, tail) as text, for tables."""
        for name, found in self.metrics.items():
            yield (TITLES[name], *metric_cells(found, self.tolerance))
        if self.floor is not None:
            yield ("seed floor of the GDLN", *metric_cells(self.floor.mean))

    def sentence(self) -> str:
        """Return the verdict in one sentence, with the comparisons that it is about."""
        return (
            f"{self._head()} {self._distances()}; tolerance {bound_text(self.tolerance)}; "
            "free constants: 0"
            + seeds_text(self.seeds, self.intervals, AGAINST, self.tolerance)
            + "".join(
                f"; {failed_text(AGAINST[each.pair], each, self.tolerance)}"
                for each in self.diagnosis
            )
        )

    def _distances(self) -> str:
        near = percent(self.metrics[ALIGNED].max_abs_over_initial, self.tolerance)
        aligned = (
            f"{near} against a GDLN that starts aligned, as the scalar modes assume (strengths end "
            f"within {self.strength_distance:.1e})"
        )
        if isinstance(self.start, str):
            nothing = f"of random weights nothing is predicted: {self.start}"
            return f"max |ΔL|/L(0) is {aligned}; {nothing}"
        law = percent(self.metrics[RANDOM].max_abs_over_initial, self.tolerance)
        about = f"max |ΔL|/L(0) is {law} {AGAINST[RANDOM]}"
        if self.floor is not None:
            about += f", each {percent(self.floor.mean.max_abs_over_initial)} from the others"
        return f"{about}, and {aligned}"

    def _head(self) -> str:
        if self.disagreements:
            return "theory and training DISAGREE:"
        if self.untested is not None:
            return f"the theory is NOT TESTED, for {self.untested.sentence()}; so far"
        from_where = "" if self.from_random_weights else " from an aligned start alone"
        return f"theory and training agree{from_where}:"

    def to_json(self) -> dict[str, Any]:
        """Return validation.json."""
        from symreln.report.graph_validation import graph_validation_to_json

        return graph_validation_to_json(self)


@phase("validating")
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
    modes = ScalarModes.of(spec)
    pair = confront_modes(modes, seeds, rng, shared_progress(progress, 1)(0))
    strengths = modes.measured(pair.aligned.snapshots["maps"][0, -1])
    found = GraphValidation(
        derivation=derivation,
        aligned=pair.aligned,
        aligned_theory=pair.aligned_theory,
        gdln=pair.gdln,
        start=pair.start,
        theory=pair.theory,
        metrics=pair.metrics,
        floor=seed_floor(pair.gdln.losses),
        strengths=_beside(pair.aligned_theory, strengths),
        rng=rng,
        untested=_untested(pair, float(spec.validation.tolerance)),
    )
    with phase("diagnosis"):
        return replace(found, diagnosis=diagnose_graph(pair, found.disagreements, rng))


def _untested(pair: GraphPair, tolerance: float) -> Untested | None:
    """Judge by random weights, where something is predicted of them: the harder comparison."""
    if isinstance(pair.start, str):
        loss, start = pair.aligned.mean_loss, pair.aligned_theory.start
    else:
        loss, start = pair.gdln.mean_loss, pair.start.amplitude
    return why_graph_untested(pair.modes, loss, start, tolerance)


def _beside(
    theory: GraphPrediction, trained: dict[str, tuple[float, ...]]
) -> tuple[tuple[str, int, float, float], ...]:
    return tuple(
        (label, number, one, other)
        for label, values in theory.strengths.items()
        for number, (one, other) in enumerate(zip(values, trained[label], strict=True), start=1)
    )
