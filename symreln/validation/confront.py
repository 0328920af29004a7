"""Train the networks that a derivation speaks of and say how far the prediction is from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symreln.dynamics.early_phase import EarlyStrength
from symreln.dynamics.moving_gates import MovingGates
from symreln.early import mode_kappas
from symreln.errors import InputError
from symreln.integration import check_two_layers, network_of
from symreln.prediction import Prediction
from symreln.train.network import TrainingRun
from symreln.validation.aligned import PathwayAlignment, gdln_alignment, split_network
from symreln.validation.closed import train_aligned
from symreln.validation.comparing import JUDGED, curve_metrics
from symreln.validation.foretold import foretell
from symreln.validation.metrics import (
    CurveComparison,
    GateDrift,
    SeedBand,
    SeedFloor,
    gate_drift,
    seed_band,
    seed_floor,
)
from symreln.validation.pair import pair_streams, train_pair
from symreln.validation.published import PUBLISHED, PublishedPrediction
from symreln.validation.trained import (
    ProgressCallback,
    gained_pathways,
    sized_pathways,
)
from symreln.validation.words import bound_text, metric_cells, percent, steps_text

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.dynamics.chain_start import ChainStart
    from symreln.spec.model import Spec
    from symreln.validation.band import PredictedBand
    from symreln.validation.narrow import NarrowOutcome
    from symreln.validation.rules import RuleComparison
    from symreln.validation.terms import Term

#: max |ΔL|/L(0) under which two curves in float64 are the same to rounding.
ROUNDING = 1e-10


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
        metrics: Comparison of every pair of curves, by the interface's names, "moving_vs_relu"
            for gates that are predicted to move, "flow_vs_relu" for infinitely small steps, and
            "closed_vs_relu" where the closed forms alone are not the prediction ("…_vs_gdln" where
            no network was trained); "descent_vs_aligned" and "closed_vs_aligned" for what starts
            as closed forms assume.
        floor: The same metrics between seeds of the network; None for one seed.
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
        predicted: Curves of several networks, from the scatter of initial strengths; None where
            that was not asked for.
        rules: What other learning rules change; None where that was not asked for.
        moving: The prediction with gates that move; None where there is none.
        not_moving: Why there is none, or "".
        aligned: A GDLN that started aligned with the modes, as closed forms assume; trained where
            these are the whole prediction, else None.
        chain: Where modes of three or more layers start; None for one or two.
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
    rules: RuleComparison | None = None
    moving: MovingGates | None = None
    not_moving: str = ""
    aligned: TrainingRun | None = None
    chain: ChainStart | None = None

    @property
    def seeds(self) -> int:
        """Networks of each kind."""
        return self.gdln.seeds

    @property
    def no_network(self) -> str:
        """Why only GDLNs were trained, or ""."""
        if self.network is not None:
            return ""
        spec = self.derivation.at_values.spec
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
        if not self.derivation.narrow or self.derivation.later:
            return ()
        from symreln.validation.narrow import narrow_outcomes

        return narrow_outcomes(self.derivation.at_values, self.gdln)

    @property
    def tolerance(self) -> float:
        """Largest allowed max |ΔL|/L(0)."""
        return float(self.derivation.spec.validation.tolerance)

    @property
    def agrees(self) -> bool:
        """Whether the prediction is within the tolerance of both kinds of networks."""
        return not self.disagreements

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The pairs that the tolerance excludes."""
        return tuple(
            name
            for name in JUDGED
            if name in self.metrics and self.metrics[name].max_abs_over_initial > self.tolerance
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

    @property
    def _modes_name(self) -> str:
        closed = self.derivation.at_values.closed
        return "closed forms" if closed else "coupled modes"

    def band(self, run: TrainingRun) -> SeedBand:
        """Return the spread over seeds of a run."""
        return seed_band(run.losses)

    def metric_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield (curves, max, mean, drop time error, tail) as text, for tables."""
        titles = {
            "theory_vs_gdln": "theory – GDLN",
            "theory_vs_relu": f"theory – {self.network_name}",
            "gdln_vs_relu": f"GDLN – {self.network_name}",
            "moving_vs_relu": f"theory, gates that move – {self.network_name}",
            "flow_vs_relu": f"flow (infinitely small steps) – {self.network_name}",
            "closed_vs_relu": f"{self._modes_name} alone – {self.network_name}",
            "flow_vs_gdln": "flow (infinitely small steps) – GDLN",
            "closed_vs_gdln": f"{self._modes_name} alone – GDLN",
            "descent_vs_aligned": "gradient descent on aligned modes – GDLN that started aligned",
            "closed_vs_aligned": f"{self._modes_name} – GDLN that started aligned",
        }
        for name, found in self.metrics.items():
            yield (titles[name], *metric_cells(found, self.tolerance))
        if self.floor is not None:
            yield (f"seed floor of the {self.network_name}", *metric_cells(self.floor.mean))
        if self.predicted is not None:
            yield ("the same, predicted", *metric_cells(self.predicted.floor.mean))
        if self.published is not None:
            drop = self.published.drop_time_error_steps
            yield (
                f"published: {self.published.source}",
                percent(self.published.max_abs_over_initial),
                "–",
                "–" if drop is None else steps_text(drop),
                "–",
            )

    def sentence(self) -> str:
        """Return the verdict in one sentence."""
        distances = [f"{self._judged('theory_vs_gdln')} against the GDLN"]
        if self.network is not None:
            worst = self._judged("theory_vs_relu")
            distances.insert(0, f"{worst} against the {self.network_name}")
        head = "theory and training agree" if self.agrees else "theory and training DISAGREE"
        return (
            f"{head}: max |ΔL|/L(0) is {' and '.join(distances)}, "
            f"tolerance {bound_text(self.tolerance)}; "
            f"free constants: {self.prediction.free_constants}"
            + (f"; {self.no_network}" if self.no_network else "")
            + self._gates_clause
            + self._aligned_clause
            + "".join(f"; {outcome.sentence()}" for outcome in self.narrow)
        )

    def _judged(self, pair: str) -> str:
        """Return max |ΔL|/L(0) of a pair, with digits that tell it from the tolerance."""
        return percent(self.metrics[pair].max_abs_over_initial, self.tolerance)

    @property
    def _gates_clause(self) -> str:
        """Say what is left of the distance when gates move, and blame them where they are it."""
        if "moving_vs_relu" not in self.metrics:
            return ""
        left = self.metrics["moving_vs_relu"].max_abs_over_initial
        shown = self._judged("moving_vs_relu")
        blamed = "theory_vs_relu" in self.disagreements and left <= self.tolerance
        stay = "" if self.derivation.spec.switches else ", or that they stay as they are"
        return f"; with gates that move, as the theory of single units predicts, {shown}" + (
            f": what fails is the spec's gates{stay}" if blamed else ""
        )

    @property
    def _aligned_clause(self) -> str:
        """Say what steps, finite and infinitely small, miss of a GDLN that starts aligned."""
        if "descent_vs_aligned" not in self.metrics:
            return ""
        left = self.metrics["descent_vs_aligned"].max_abs_over_initial
        shown = "rounding" if left < ROUNDING else self._judged("descent_vs_aligned")
        found = f"; a GDLN that starts aligned takes the predicted steps to {shown}"
        if "closed_vs_aligned" not in self.metrics:
            return found
        missed = percent(self.metrics["closed_vs_aligned"].max_abs_over_initial)
        return f"{found}, and closed forms, of infinitely small steps, miss it by {missed}"

    def to_json(self) -> dict[str, Any]:
        """Return validation.json."""
        from symreln.report.validation_json import validation_to_json

        return validation_to_json(self)


def _is_ready_made(spec: Spec) -> bool:
    """Whether the experiment is the ready-made one: no override, no file of the same name."""
    from symreln.spec.reader import load

    original = load(spec.source)
    return replace(spec, title=original.title, validation=original.validation) == original


def validate(
    derivation: Derivation,
    seeds: int = 20,
    rng: int = 0,
    progress: ProgressCallback | None = None,
    *,
    terms: bool = False,
) -> Validation:
    """Train the network and the GDLN of a derivation's spec and compare the loss curves.

    Where a gate has gains other than 0 and 1 only the GDLN is trained: no network realises them.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
        seeds: Networks to train of each kind.
        rng: Seed of the random streams (SPEC 7); results depend on it and on nothing else.
        progress: Called with (done, total) in seed-steps.
        terms: Whether to say what the distance to the network is made of, which follows
            single units at any cost (:mod:`symreln.validation.terms`), and to predict how far
            networks scatter (:mod:`symreln.validation.band`).

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
    """
    if seeds < 1:
        msg = f"validate: found seeds = {seeds}. Give at least 1."
        raise InputError(msg)
    asked = network_of(derivation.spec)
    if terms:
        check_two_layers(asked, "Taking the distance apart (--terms)")
    numbers = derivation.at_values
    if numbers.initial_loss.is_zero:
        msg = (
            "the targets are all zero, so there is nothing to learn and no loss to compare. "
            "Give targets that are not zero"
        )
        raise InputError(msg)
    foretold = foretell(numbers, whatever_cost=terms)
    spec = numbers.spec
    network, gdln = train_pair(spec, foretold.kappas, seeds, pair_streams(rng), progress)
    seen = network if asked.activation == "relu" else None
    chain, predicted = (), None
    no_terms = ""
    if terms:
        from symreln.validation.band import predicted_band
        from symreln.validation.terms import distance_terms, why_no_terms

        chain = distance_terms(numbers, foretold, gdln if network is None else network)
        no_terms = "" if chain else why_no_terms(numbers)
        if network is not None and not numbers.later and not numbers.narrow:
            by_mode = mode_kappas(numbers, foretold.kappas)
            predicted = predicted_band(numbers, foretold.early, by_mode, rng)
    split = (
        None if seen is None else split_network(numbers.last, seen, spec.dataset.inputs.to_numpy())
    )
    aligned = train_aligned(numbers, foretold.chain) if asked.unusual else None
    return Validation(
        derivation=derivation,
        prediction=foretold.prediction,
        network=network,
        gdln=gdln,
        early=foretold.early,
        kappas=foretold.kappas,
        moving=foretold.moving,
        not_moving=foretold.not_moving,
        aligned=aligned,
        chain=foretold.chain,
        metrics=curve_metrics(numbers, foretold, network, gdln, aligned),
        floor=None if network is None else seed_floor(network.losses),
        drift=None if seen is None else _drift(seen),
        gdln_alignment=gdln_alignment(numbers.last, gdln),
        network_alignment=None if split is None else split.alignment,
        network_shares=None if split is None else split.shares,
        assignment_exact=None if split is None else split.exact,
        rng=rng,
        terms=chain,
        no_terms=no_terms,
        predicted=predicted,
    )


def _drift(network: TrainingRun) -> GateDrift:
    return gate_drift(
        network.snapshots["activity"],
        network.snapshots["contribution"],
        network.snapshot_steps,
        network.losses,
    )
