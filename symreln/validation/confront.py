"""Train the networks that a derivation speaks of and say how far the prediction is from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.errors import InputError
from symreln.integration import network_of
from symreln.prediction import Prediction
from symreln.train.gdln import train_gdln
from symreln.train.network import TrainingRun
from symreln.train.record import Recording
from symreln.train.relu import train_network
from symreln.validation.aligned import PathwayAlignment, gdln_alignment, split_network
from symreln.validation.metrics import (
    CurveComparison,
    GateDrift,
    SeedBand,
    SeedFloor,
    compare,
    gate_drift,
    seed_band,
    seed_floor,
)
from symreln.validation.published import PUBLISHED, PublishedPrediction
from symreln.validation.trained import (
    ProgressCallback,
    gained_pathways,
    gated_pathways,
    map_recording,
    shared_progress,
    training_settings,
)

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.spec.model import Spec

#: Names of the pairs of curves, fixed by the interface.
PAIRS = ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu")


@dataclass(frozen=True, kw_only=True, eq=False)
class Validation:
    """A derivation confronted with trained networks.

    Attributes:
        derivation: What was predicted.
        prediction: The predicted curves at steps 0, 1, …
        network: The trained ReLU (or linear) networks; None where a gate has gains, which no
            network realises.
        gdln: The trained gated deep linear networks.
        metrics: Comparison of every pair of curves, by the interface's names, and
            "closed_vs_relu" where the closed forms alone are not the prediction.
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
    """

    derivation: Derivation
    prediction: Prediction
    network: TrainingRun | None
    gdln: TrainingRun
    metrics: dict[str, CurveComparison]
    floor: SeedFloor | None
    drift: GateDrift | None
    gdln_alignment: tuple[PathwayAlignment, ...]
    network_alignment: tuple[PathwayAlignment, ...] | None
    network_shares: tuple[float, ...] | None
    assignment_exact: float | None
    rng: int

    @property
    def seeds(self) -> int:
        """Networks of each kind."""
        return self.gdln.seeds

    @property
    def no_network(self) -> str:
        """Why only GDLNs were trained, or ""."""
        if self.network is not None:
            return ""
        names = ", ".join(f"'{name}'" for name in gained_pathways(self.derivation.at_values.spec))
        return f"no ReLU network realises the gains of {names}, so that none was trained"

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
            for name in ("theory_vs_gdln", "theory_vs_relu")
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
            "closed_vs_relu": f"{self._modes_name} alone – {self.network_name}",
        }
        for name, found in self.metrics.items():
            yield (titles[name], *_cells(found))
        if self.floor is not None:
            yield (f"seed floor of the {self.network_name}", *_cells(self.floor.mean))
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
        distances = [
            f"{percent(self.metrics['theory_vs_gdln'].max_abs_over_initial)} against the GDLN"
        ]
        if self.network is not None:
            worst = percent(self.metrics["theory_vs_relu"].max_abs_over_initial)
            distances.insert(0, f"{worst} against the {self.network_name}")
        head = "theory and training agree" if self.agrees else "theory and training DISAGREE"
        return (
            f"{head}: max |ΔL|/L(0) is {' and '.join(distances)}, "
            f"tolerance {percent(self.tolerance)}; "
            f"free constants: {self.prediction.free_constants}"
            + (f"; {self.no_network}" if self.no_network else "")
        )

    def to_json(self) -> dict[str, Any]:
        """Return validation.json."""
        from symreln.report.validation_json import validation_to_json

        return validation_to_json(self)


def _is_ready_made(spec: Spec) -> bool:
    """Whether the experiment is the ready-made one: no override, no file of the same name."""
    from symreln.spec.reader import load

    original = load(spec.source)
    return replace(spec, title=original.title, validation=original.validation) == original


def percent(value: float) -> str:
    """Return a share as per cent with two significant digits, or more where it is large."""
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.3g} %"


def steps_text(steps: float) -> str:
    """Return a number of steps in words."""
    return f"{steps:.3g} step" + ("" if abs(steps) == 1 else "s")


def _cells(found: CurveComparison) -> tuple[str, str, str, str]:
    drop = found.drop_time_error_steps
    return (
        percent(found.max_abs_over_initial),
        percent(found.mean_abs_over_initial),
        "never drops" if drop is None else steps_text(drop),
        "–" if found.log10_tail_rms is None else f"{found.log10_tail_rms:.2g}",
    )


def validate(
    derivation: Derivation,
    seeds: int = 20,
    rng: int = 0,
    progress: ProgressCallback | None = None,
) -> Validation:
    """Train the network and the GDLN of a derivation's spec and compare the loss curves.

    Where a gate has gains other than 0 and 1 only the GDLN is trained: no network realises them.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
        seeds: Networks to train of each kind.
        rng: Seed of the random streams (SPEC 7); results depend on it and on nothing else.
        progress: Called with (done, total) in seed-steps.

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
    """
    from symreln.prediction import predict

    if seeds < 1:
        msg = f"validate: found seeds = {seeds}. Give at least 1."
        raise InputError(msg)
    numbers = derivation.at_values
    if numbers.initial_loss.is_zero:
        msg = (
            "the targets are all zero, so there is nothing to learn and no loss to compare. "
            "Give targets that are not zero"
        )
        raise InputError(msg)
    prediction = predict(numbers, None)
    spec = numbers.spec
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    settings = training_settings(spec)
    streams = np.random.SeedSequence(rng).spawn(2)
    relu = settings.activation == "relu"
    possible = not gained_pathways(spec)
    report = shared_progress(progress, 1 + possible)
    network = None
    if possible:
        network = train_network(
            inputs,
            targets,
            settings,
            seeds=seeds,
            rng=streams[0],
            record=Recording(quantities=("activity", "contribution")) if relu else None,
            progress=report(0),
        )
    gdln = train_gdln(
        inputs,
        targets,
        gated_pathways(spec),
        settings,
        training=network_of(spec).training,
        seeds=seeds,
        rng=streams[1],
        record=map_recording(spec, seeds),
        progress=report(int(possible)),
    )
    seen = network if relu else None
    split = None if seen is None else split_network(numbers, seen, inputs)
    return Validation(
        derivation=derivation,
        prediction=prediction,
        network=network,
        gdln=gdln,
        metrics=_metrics(prediction, network, gdln),
        floor=None if network is None else seed_floor(network.losses),
        drift=None if seen is None else _drift(seen),
        gdln_alignment=gdln_alignment(numbers, gdln),
        network_alignment=None if split is None else split.alignment,
        network_shares=None if split is None else split.shares,
        assignment_exact=None if split is None else split.exact,
        rng=rng,
    )


def _metrics(
    prediction: Prediction, network: TrainingRun | None, gdln: TrainingRun
) -> dict[str, CurveComparison]:
    if network is None:
        return {"theory_vs_gdln": compare(prediction.loss, gdln.mean_loss)}
    curves = (
        (prediction.loss, gdln.mean_loss),
        (prediction.loss, network.mean_loss),
        (gdln.mean_loss, network.mean_loss),
    )
    metrics = {name: compare(*pair) for name, pair in zip(PAIRS, curves, strict=True)}
    if prediction.closed_loss is not None and prediction.closed_loss is not prediction.loss:
        metrics["closed_vs_relu"] = compare(prediction.closed_loss, network.mean_loss)
    return metrics


def _drift(network: TrainingRun) -> GateDrift:
    return gate_drift(
        network.snapshots["activity"],
        network.snapshots["contribution"],
        network.snapshot_steps,
        network.losses,
    )
