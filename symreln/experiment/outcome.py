"""A derivation confronted with trained networks: everything measured, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from symreln.claims.curves import Prediction
from symreln.claims.solve import at_values
from symreln.claims.widths import narrow_pathways
from symreln.experiment.again import ALIGNED
from symreln.experiment.aligned import PathwayAlignment
from symreln.experiment.assumptions import AssumptionCost, assumption_costs
from symreln.experiment.comparing import JUDGED, CurvePair
from symreln.experiment.diagnosis import Confronted, PairDiagnosis, diagnose
from symreln.experiment.gates_held import GatesHeld
from symreln.experiment.intervals import Distance
from symreln.experiment.metrics import (
    CurveComparison,
    GateDrift,
    SeedBand,
    SeedFloor,
    seed_band,
)
from symreln.experiment.published import PUBLISHED, PublishedPrediction
from symreln.experiment.strengths import ModeMeasured
from symreln.experiment.told import clauses, metric_rows
from symreln.experiment.trained import ProgressCallback, gained_pathways, sized_pathways
from symreln.experiment.untested import Untested, why_untested
from symreln.experiment.verdicts import (
    Verdict,
    gates_verdict,
    loss_verdict,
    modes_verdict,
    not_tested,
    outcome_of,
)
from symreln.laws.early_phase import EarlyStrength
from symreln.laws.mean_field import MeanField
from symreln.train.run import TrainingRun

if TYPE_CHECKING:
    from symreln.claims.constants import Constant
    from symreln.claims.derivation import Derivation
    from symreln.experiment.band import PredictedBand
    from symreln.experiment.narrow import NarrowOutcome
    from symreln.experiment.representation import RepresentationComparison
    from symreln.experiment.rules import RuleComparison
    from symreln.experiment.study import Study
    from symreln.experiment.terms import Term
    from symreln.laws.chain_start import ChainStart
    from symreln.spec.model import Spec


@dataclass(frozen=True, kw_only=True, eq=False)
class Validation:
    """A derivation confronted with trained networks.

    Attributes:
        derivation: What was predicted.
        prediction: The predicted curves at steps 0, 1, …
        network: The trained ReLU (or linear) networks; None where a gate has gains, which no
            network realises.
        gdln: The trained gated deep linear networks.
        early: What the early phase says of modes, by the label of their strength; empty for a
            linear network.
        kappas: κ of the pathways that the theory starts from it, by name.
        metrics: Comparison of every pair of curves, by the interface's names: "theory_vs_…" is
            the judged curve, "closed_vs_…" and "reduced_vs_…" are both; "mean_field_vs_relu" is the
            mean-field simulation, "flow_vs_…" the reduction by infinitely small steps,
            "descent_vs_aligned" and "closed_vs_aligned" what starts as closed forms assume.
        floor: The same metrics between seeds of the network, or of the GDLN where there is no
            network; None for one seed.
        drift: How far the network's gates move; None for a linear network.
        gdln_alignment: One entry a pathway.
        network_alignment: The same for the network, neurons given to the nearest gate; None for
            a linear network with several pathways.
        network_shares: Share of the network's contribution ‖w1‖‖w2‖ that each pathway has at the
            end, neurons given to the nearest gate, mean over seeds; None for a linear network.
        assignment_exact: Share of the network's contribution by neurons whose activity is
            exactly a pathway's gate, mean over seeds; None for a linear network.
        rng: Seed of the random streams.
        terms: What the distance to the network is made of, or to the GDLN where there is no other;
            empty where that was not asked for.
        no_terms: Why it is not said although it was asked for, or "".
        predicted: Curves of several networks, from the law of initial strengths alone; None where
            there is no such prediction.
        not_predicted: Why there is none, or "".
        rules: What other learning rules change; None where that was not asked for.
        mean_field: The mean-field simulation; None where there is none.
        no_mean_field: Why there is none, or "".
        aligned: A GDLN that started aligned with the modes, as closed forms assume; trained where
            these are the whole prediction, else None.
        chain: Where modes of three or more layers start; None for one or two.
        pairs: The curves that ``metrics`` compare.
        modes: Every mode's measured strength beside its prediction, where maps were recorded.
        gates: Share of the weight with a gate of the spec, or why gates are not tested.
        error: Monte Carlo errors of the judged loss over L(0) and of the judged strengths over
            their plateaus, as radii of 95 % intervals.
        diagnosis: Which assumptions fail, pair by pair, where theory and training disagree.
        study: What halving the initial scale and the learning rate does; None where that was not
            asked for.
        representations: What hidden layers hold; None where that was not asked for.
    """

    derivation: Derivation
    prediction: Prediction
    network: TrainingRun | None
    gdln: TrainingRun
    early: Mapping[str, EarlyStrength]
    kappas: Mapping[str, float]
    metrics: dict[str, CurveComparison]
    floor: SeedFloor | None
    drift: GateDrift | None
    gdln_alignment: tuple[PathwayAlignment, ...]
    network_alignment: tuple[PathwayAlignment, ...] | None
    network_shares: tuple[float, ...] | None
    assignment_exact: float | None
    rng: int
    terms: tuple[Term, ...] = ()
    no_terms: str = ""
    predicted: PredictedBand | None = None
    not_predicted: str = ""
    rules: RuleComparison | None = None
    mean_field: MeanField | None = None
    no_mean_field: str = ""
    aligned: TrainingRun | None = None
    chain: ChainStart | None = None
    pairs: Mapping[str, CurvePair] = field(default_factory=dict)
    modes: tuple[ModeMeasured, ...] = ()
    gates: GatesHeld | str = "the gates of the units were not recorded"
    error: tuple[float, float] = (0.0, 0.0)
    diagnosis: tuple[PairDiagnosis, ...] = ()
    study: Study | None = None
    representations: RepresentationComparison | None = None

    @property
    def seeds(self) -> int:
        """Networks of each kind."""
        return self.gdln.seeds

    @property
    def no_network(self) -> str:
        """Why only GDLNs were trained, or ""."""
        if self.network is not None:
            return ""
        spec = self.derivation.ask(at_values).spec
        gained, own = gained_pathways(spec), sized_pathways(spec)
        names = ", ".join(f"'{name}'" for name in gained or own)
        if gained:
            return f"no ReLU network realises the gains of {names}, so that none was trained"
        return (
            f"hidden units of {names} alone are a gated network's, so that no network without "
            "gates was trained"
        )

    @cached_property
    def narrow(self) -> tuple[NarrowOutcome, ...]:
        """Which modes the GDLN's narrow pathways hold at the last step."""
        if not self.derivation.ask(narrow_pathways) or self.derivation.later:
            return ()
        from symreln.experiment.narrow import narrow_outcomes

        return narrow_outcomes(self.derivation.ask(at_values), self.gdln, self.prediction.drawn)

    @property
    def tolerance(self) -> float:
        """Largest allowed max |ΔL|/L(0)."""
        return float(self.derivation.spec.validation.tolerance)

    @property
    def judged(self) -> str:
        """Which curve the loss's verdict is about: "closed" or "reduced"."""
        return self.prediction.judged

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Every number that enters the prediction and is not in the spec."""
        return self.prediction.constants

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
        names = {"gdln": "GDLN", "relu": self.network_name}
        distances = {
            f"against the {names[pair.removeprefix('theory_vs_')]}": self.intervals[
                pair
            ].max_abs_over_initial
            for pair in reversed(JUDGED)  # the network without given gates first
            if pair in self.intervals
        }
        loss, modes = self.error
        unusual = self._no_modes
        return {
            "loss": loss_verdict(distances, self.tolerance, self.seeds, self.untested, loss),
            "modes": not_tested(unusual, self.tolerance)
            if unusual
            else modes_verdict(self.modes, self.tolerance, names, self.rng, self.untested, modes),
            "gates": gates_verdict(self.gates, self.tolerance, self.rng, self.untested),
        }

    @property
    def _no_modes(self) -> str:
        """Why strengths have no formula to be judged by, or ""."""
        if self.derivation.later:
            return "gates switch, and strengths have no curve of their own from t = 0"
        if self.derivation.ask(narrow_pathways):
            return "narrow pathways learn equal modes in part and in any rotation"
        return ""

    @cached_property
    def untested(self) -> Untested | None:
        """Why training does not test the prediction; None where it does."""
        runs = [run.mean_loss for run in (self.network, self.gdln) if run is not None]
        return why_untested(self.derivation.ask(at_values), runs, self.tolerance)

    @cached_property
    def assumption_costs(self) -> tuple[AssumptionCost, ...]:
        """What each assumption costs of which there is a prediction with and one without."""
        found = assumption_costs(
            self.derivation.ask(at_values), self._reduced, self.tolerance, early=bool(self.kappas)
        )
        if self.judged == "reduced":
            return found
        return tuple(
            replace(cost, pair=_of_reduced(cost.pair), instead=_of_reduced(cost.instead))
            for cost in found
        )

    @property
    def _reduced(self) -> dict[str, CurveComparison]:
        """The metrics with the reduction in the place of the judged curve."""
        return self.metrics | {
            f"theory_vs_{name}": self.metrics[f"reduced_vs_{name}"]
            for name in ("relu", "gdln")
            if f"reduced_vs_{name}" in self.metrics
        }

    @cached_property
    def intervals(self) -> dict[str, Distance]:
        """Metrics of every pair with intervals for the mean over all seeds."""
        return {name: pair.distance(self.rng) for name, pair in self.pairs.items()}

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The judged pairs that disagree: none of their interval is within the tolerance."""
        return tuple(
            name
            for name in JUDGED
            if name in self.intervals
            and outcome_of(self.intervals[name].max_abs_over_initial, self.tolerance) == "disagrees"
        )

    @cached_property
    def published(self) -> PublishedPrediction | None:
        """The published prediction for the same experiment, for a ready-made spec as it is."""
        spec = self.derivation.spec
        known = PUBLISHED.get(spec.source)
        return known if known is not None and _is_ready_made(spec) else None

    @property
    def network_name(self) -> str:
        """What the network is called."""
        return "ReLU network" if self.gdln.settings.activation == "relu" else "linear network"

    @property
    def judged_by(self) -> str:
        """The trained networks that the terms of the distance speak of."""
        return "GDLN" if self.network is None else self.network_name

    def band(self, run: TrainingRun) -> SeedBand:
        """Return the spread over seeds of a run."""
        return seed_band(run.losses)

    def metric_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield (curves, max, mean, drop time error, tail) as text, for tables."""
        return metric_rows(self)

    def clauses(self) -> list[str]:
        """Return the three verdicts, and what is beside them, each by itself."""
        return clauses(self)

    def sentence(self) -> str:
        """Return the same in one sentence."""
        return "; ".join(self.clauses())

    def diagnosed(self, progress: ProgressCallback | None = None) -> Validation:
        """Return the same, with what fails where the judged curve and training disagree.

        Args:
            progress: Called with (done, total), in experiments.
        """
        aligned = self.metrics.get(ALIGNED)
        far = self.disagreements
        if aligned is not None and aligned.max_abs_over_initial > self.tolerance:
            far = (*far, ALIGNED)
        if not far:
            return self
        case = Confronted(
            numbers=self.derivation.ask(at_values),
            kappas=self.kappas,
            prediction=self.prediction.theory,
            network=self.network,
            gdln=self.gdln,
            metrics=self.metrics,
            tolerance=self.tolerance,
            rng=self.rng,
            judged=self.prediction.judged,
            reduction=self.prediction.loss,
            modes=self.prediction.modes,
            error=self.error[0],
            predicted=self.predicted,
            aligned=self.aligned,
            chain=self.chain,
            progress=progress,
        )
        return replace(self, diagnosis=diagnose(case, far))


def _of_reduced(pair: str) -> str:
    return pair.replace("theory_vs_", "reduced_vs_")


def _is_ready_made(spec: Spec) -> bool:
    """Whether the experiment is the ready-made one: no override, no file of the same name."""
    from symreln.tasks.load import load

    original = load(spec.source)
    return replace(spec, title=original.title, validation=original.validation) == original
