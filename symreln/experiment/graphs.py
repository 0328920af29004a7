"""Networks given as graphs against their scalar modes: what is predicted, trained and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.progress import phase
from symreln.claims.constants import Constant, constants_text
from symreln.experiment.findings import PairDiagnosis
from symreln.experiment.graph_diagnosis import diagnose_graph
from symreln.experiment.graph_pair import ALIGNED, RANDOM, GraphPair, confront_modes
from symreln.experiment.graph_start import GraphStart
from symreln.experiment.graph_untested import why_graph_untested
from symreln.experiment.intervals import Distance, Interval, around, distance, point
from symreln.experiment.metrics import CurveComparison, SeedFloor, compare, seed_floor
from symreln.experiment.scalar_modes import GraphPrediction, ScalarModes
from symreln.experiment.theory_error import ENDS
from symreln.experiment.told import failed_text
from symreln.experiment.trained import shared_progress
from symreln.experiment.untested import Untested
from symreln.experiment.verdicts import (
    Verdict,
    loss_verdict,
    not_tested,
    outcome_of,
    summary,
)
from symreln.experiment.words import metric_cells, percent
from symreln.spec.arguments import check_counts, instance_of

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.experiment.trained import ProgressCallback
    from symreln.train.run import TrainingRun

#: What every pair of curves is called (see :func:`titles`), and its networks after
#: "max |ΔL|/L(0) is …".
TITLES = {
    ALIGNED: "scalar modes – GDLN that started aligned",
    RANDOM: "judged – GDLN from random weights",
    "closed_vs_gdln": "closed forms – GDLN from random weights",
    "reduced_vs_gdln": "scalar modes – GDLN from random weights",
}
AGAINST = {
    ALIGNED: "against the GDLN that started aligned",
    RANDOM: "against GDLNs from random weights",
}


def titles(validation: GraphValidation) -> dict[str, str]:
    """Return what every pair of curves is called, with the curve that is judged."""
    judged = "closed forms as printed" if validation.judged == "closed" else "scalar modes"
    return TITLES | {RANDOM: f"judged: {judged} – GDLN from random weights"}


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphValidation:
    """A graph's derivation confronted with trained gated deep linear networks.

    Attributes:
        derivation: What was predicted.
        aligned: One GDLN whose edges start aligned with strength ``network.init_std``.
        aligned_theory: The scalar modes from the same start.
        gdln: GDLNs drawn from N(0, init_std²).
        start: Where their modes start in effect, or why that is not derived.
        reduced: Mean loss of the scalar modes from there, over where single modes start; None where
            it is not derived. Shape (steps,).
        closed: Loss of the closed forms, of infinitely small steps, from the mean of that start;
            from an aligned one where it is not derived. None where they are not printed for all
            parts.
        metrics: "theory_vs_aligned" of the scalar modes, and where there is a start
            "theory_vs_gdln" of the judged curve, "closed_vs_gdln" and "reduced_vs_gdln".
        floor: What GDLNs of different seeds differ by; None for one seed.
        strengths: (label, number of the mode, of the aligned theory, of the aligned GDLN).
        rng: Seed of the random streams.
        error: Monte Carlo error of the judged loss over L(0), the radius of a 95 % interval.
        untested: Why training does not test the prediction; None where it does.
        diagnosis: Which assumptions fail, pair by pair, where theory and training disagree.
    """

    derivation: NetworkDerivation
    aligned: TrainingRun
    aligned_theory: GraphPrediction
    gdln: TrainingRun
    start: GraphStart | str
    reduced: np.ndarray | None
    closed: np.ndarray | None
    metrics: dict[str, CurveComparison]
    floor: SeedFloor | None
    strengths: tuple[tuple[str, int, float, float], ...]
    rng: int
    error: float = 0.0
    untested: Untested | None = None
    diagnosis: tuple[PairDiagnosis, ...] = ()

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
    def judged(self) -> str:
        """Which curve the loss's verdict is about: "closed" or "reduced"."""
        return "reduced" if self.closed is None else "closed"

    @property
    def theory(self) -> np.ndarray | None:
        """The judged loss from random weights, shape (steps,); None where it is not derived."""
        return self.reduced if self.reduced is None or self.closed is None else self.closed

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Every number that enters the prediction and is not in the spec."""
        start = self.start
        if isinstance(start, str):
            return ()
        return (
            Constant(
                name="initial strength of every edge",
                value=start.amplitude,
                error=start.error or None,
                source="estimated" if start.error else "derived",
                origin="Monte Carlo over isolated modes of random weights"
                if start.error
                else "the combination of all edges that grows fastest",
            ),
        )

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The judged pair, where the loss disagrees."""
        pair = RANDOM if self.from_random_weights else ALIGNED
        return (pair,) if self.verdict == "disagrees" else ()

    @property
    def agrees(self) -> bool:
        """Whether the loss agrees: then a command ends with exit code 0."""
        return self.verdict == "agrees"

    @property
    def verdict(self) -> str:
        """The outcome of the loss: "agrees", "disagrees", "undecided" or "not tested"."""
        return self.verdicts["loss"].outcome

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts of loss, modes and gates."""
        ends = point(self.strength_distance)
        modes = outcome_of(ends, self.tolerance)
        shown = f"{self.strength_distance:.1e} of the largest strength"
        pair = RANDOM if self.from_random_weights else ALIGNED  # random weights: the harder one
        near = {AGAINST[pair]: self.pair_distances[pair]}
        return {
            "loss": loss_verdict(near, self.tolerance, self.seeds, self.untested, self.error),
            "modes": Verdict(
                outcome="not tested" if self.untested is not None else modes,
                value=self.strength_distance,
                interval=(self.strength_distance, self.strength_distance),
                tolerance=self.tolerance,
                reason=f"relative error {shown}, at the last step of the GDLN that started "
                "aligned, which nothing random enters",
            ),
            "gates": not_tested("the gates of a graph's nodes are given", self.tolerance),
        }

    @cached_property
    def pair_distances(self) -> dict[str, Interval]:
        """What outcomes are of, pair by pair; nothing is drawn for the one that starts aligned."""
        found = {ALIGNED: point(self.metrics[ALIGNED].max_abs_over_initial)}
        if RANDOM in self.intervals:
            found[RANDOM] = self.intervals[RANDOM].max_abs_over_initial
        elif self.from_random_weights:
            found[RANDOM] = around(self.metrics[RANDOM].max_abs_over_initial, None)
        return found

    @cached_property
    def intervals(self) -> dict[str, Distance]:
        """Distances to GDLNs from random weights with intervals for the mean over all seeds."""
        if self.theory is None or self.seeds < 2:
            return {}
        return {RANDOM: distance(self.theory, self.gdln.losses, self.rng, self.error)}

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
            if name == f"{self.judged}_vs_gdln":
                continue  # as "theory", above
            yield (titles(self)[name], *metric_cells(found, self.tolerance))
        if self.floor is not None:
            yield ("seed floor of the GDLN", *metric_cells(self.floor.mean))

    def clauses(self) -> list[str]:
        """Return the verdicts, and the comparisons that they are about, each by itself."""
        forms = "closed forms" if self.judged == "closed" else "scalar modes, step by step,"
        return [
            *summary(self.verdicts),
            f"judged are the {forms} as printed",
            self._distances(),
            constants_text(self.constants),
            *(failed_text(AGAINST[each.pair], each, self.tolerance) for each in self.diagnosis),
        ]

    def sentence(self) -> str:
        """Return the same in one sentence."""
        return "; ".join(self.clauses())

    def _distances(self) -> str:
        near = percent(self.metrics[ALIGNED].max_abs_over_initial, self.tolerance)
        aligned = (
            f"{near} against a GDLN that starts aligned, as the scalar modes assume (strengths end "
            f"within {self.strength_distance:.1e})"
        )
        if isinstance(self.start, str):
            nothing = f"of random weights nothing is predicted: {self.start}"
            return f"max |ΔL|/L(0) of the scalar modes is {aligned}; {nothing}"
        law = percent(self.metrics["reduced_vs_gdln"].max_abs_over_initial, self.tolerance)
        about = f"max |ΔL|/L(0) of the scalar modes is {law} {AGAINST[RANDOM]}"
        if self.floor is not None:
            about += f", each {percent(self.floor.mean.max_abs_over_initial)} from the others"
        return f"{about}, and {aligned}"


@phase("validating")
def validate_graph(
    derivation: NetworkDerivation,
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
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
        NotSupportedError: The data are not proven to diagonalise, a hidden node has fewer units
            than modes, or training is staged.
    """
    from symreln.claims.network.derivation import NetworkDerivation

    call = "sr.validate(sr.derive(spec))"
    instance_of(derivation, NetworkDerivation, "validate_graph", call)
    seeds, rng = check_counts(seeds, rng, "validate_graph")
    spec = derivation.spec.at_values()
    modes = ScalarModes.of(spec)
    pair = confront_modes(modes, seeds, rng, shared_progress(progress, 1)(0))
    strengths = modes.measured(pair.aligned.snapshots["maps"][0, -1])
    closed, error = _closed(pair)
    metrics = dict(pair.metrics)
    if pair.theory is not None:
        metrics["reduced_vs_gdln"] = metrics[RANDOM]
        if closed is not None:
            metrics[RANDOM] = compare(closed, pair.gdln.mean_loss)
            metrics["closed_vs_gdln"] = metrics[RANDOM]
    found = GraphValidation(
        derivation=derivation,
        aligned=pair.aligned,
        aligned_theory=pair.aligned_theory,
        gdln=pair.gdln,
        start=pair.start,
        reduced=pair.theory,
        closed=closed,
        metrics=metrics,
        floor=seed_floor(pair.gdln.losses),
        strengths=_beside(pair.aligned_theory, strengths),
        rng=rng,
        error=error,
        untested=_untested(pair, float(spec.validation.tolerance)),
    )
    far = tuple(
        name
        for name, each in found.pair_distances.items()
        if outcome_of(each, found.tolerance) == "disagrees"
    )
    with phase("diagnosis"):
        diagnosis = diagnose_graph(pair, far, rng, _judged_loss)
    return replace(found, diagnosis=diagnosis)


def _judged_loss(pair: GraphPair) -> np.ndarray | None:
    """Return the judged loss from random weights, None where none is predicted."""
    if pair.theory is None:
        return None
    closed, _ = _closed(pair)
    return pair.theory if closed is None else closed


def _closed(pair: GraphPair) -> tuple[np.ndarray | None, float]:
    """Return the loss of the closed forms, None where some part has none, and its error."""
    start = pair.start
    if any(part.form is None for part in pair.modes.parts):
        if isinstance(start, str) or not start.error or pair.theory is None:
            return None, 0.0
        moved = start.scaled(1 + ENDS * start.error / start.amplitude)
        other = pair.modes.expected_loss(moved.amplitudes)
        return None, float(np.abs(other - pair.theory).max() / pair.theory[0])
    times = np.arange(len(pair.aligned_theory.loss), dtype=float)
    if isinstance(start, str):
        return pair.modes.flow_loss(pair.aligned_theory.start, times), 0.0
    loss = pair.modes.flow_loss(start.amplitude, times)
    if not start.error:
        return loss, 0.0
    other = pair.modes.flow_loss(start.amplitude + ENDS * start.error, times)
    return loss, float(np.abs(other - loss).max() / loss[0])


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
