"""Train the networks that a derivation speaks of and say how far the prediction is from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.dynamics.initial import pathway_units
from symreln.errors import InputError
from symreln.prediction import Prediction, probe_bases
from symreln.train.gdln import train_gdln
from symreln.train.network import GatedPathway, TrainingRun, TrainingSettings
from symreln.train.record import Recording
from symreln.train.relu import train_network
from symreln.validation.alignment import (
    Alignment,
    NeuronAssignment,
    assign_neurons,
    measure_alignment,
)
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

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.spec.model import NetworkSpec, Spec

ProgressCallback = Callable[[int, int], None]

#: Bytes of recorded pathway maps above which alignment is measured on the last step only.
MAPS_LIMIT = 200_000_000

#: Names of the pairs of curves, fixed by the interface.
PAIRS = ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu")


@dataclass(frozen=True, kw_only=True, eq=False)
class PathwayAlignment:
    """Alignment of one pathway's map with its predicted modes at the last step (theory.md 8).

    Attributes:
        pathway: Its name.
        left: Mean over seeds of the smallest cosine of output vectors, one a mode.
        right: The same of input vectors.
        outside: Mean over seeds of the share of ‖W2W1‖² outside the predicted span.
    """

    pathway: str
    left: tuple[float, ...]
    right: tuple[float, ...]
    outside: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Validation:
    """A derivation confronted with trained networks.

    Attributes:
        derivation: What was predicted.
        prediction: The predicted curves at steps 0, 1, …
        network: The trained ReLU (or linear) networks.
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
    network: TrainingRun
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
        return self.network.seeds

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
            if self.metrics[name].max_abs_over_initial > self.tolerance
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
        return "ReLU network" if self.network.settings.activation == "relu" else "linear network"

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
        worst = self.metrics["theory_vs_relu"].max_abs_over_initial
        other = self.metrics["theory_vs_gdln"].max_abs_over_initial
        head = "theory and training agree" if self.agrees else "theory and training DISAGREE"
        return (
            f"{head}: max |ΔL|/L(0) is {percent(worst)} against the {self.network_name} and "
            f"{percent(other)} against the GDLN, tolerance {percent(self.tolerance)}; "
            f"free constants: {self.prediction.free_constants}"
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
    report = _shared_progress(progress)
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
        training=_network(spec).training,
        seeds=seeds,
        rng=streams[1],
        record=_map_recording(spec, seeds),
        progress=report(1),
    )
    split = None
    if relu:
        split = _split_network(numbers, network, inputs)
    return Validation(
        derivation=derivation,
        prediction=prediction,
        network=network,
        gdln=gdln,
        metrics=_metrics(prediction, network, gdln),
        floor=seed_floor(network.losses),
        drift=_drift(network) if relu else None,
        gdln_alignment=_gdln_alignment(numbers, gdln),
        network_alignment=None if split is None else split.alignment,
        network_shares=None if split is None else split.shares,
        assignment_exact=None if split is None else split.exact,
        rng=rng,
    )


def _network(spec: Spec) -> NetworkSpec:
    if spec.network is None:
        msg = "the spec has no [network] table; validation needs one"
        raise InputError(msg)
    return spec.network


def training_settings(spec: Spec) -> TrainingSettings:
    """Return the spec's network in floats."""
    network = _network(spec)
    return TrainingSettings(
        hidden=network.hidden,
        init_std=float(network.init_std),
        learning_rate=float(network.learning_rate),
        loss=network.loss,
        steps=network.steps,
        activation=network.activation,
    )


def gated_pathways(spec: Spec) -> tuple[GatedPathway, ...]:
    """Return the GDLN that a spec's theory describes.

    Every pathway has the hidden units that the initial strength counts on (half of the network's
    for ReLU, all of them for a linear network), drawn from the same law.
    """
    hidden = max(1, round(pathway_units(_network(spec))))
    return tuple(
        GatedPathway(
            name=pathway.name,
            gate=pathway.gate,
            inputs=pathway.inputs,
            outputs=pathway.outputs,
            hidden=hidden,
            stage=pathway.stage,
        )
        for pathway in spec.pathways
    )


def _shared_progress(
    progress: ProgressCallback | None,
) -> Callable[[int], ProgressCallback | None]:
    """Count the two trainings as one: the network is the first half, the GDLN the second."""

    def half(place: int) -> ProgressCallback | None:
        if progress is None:
            return None
        call = progress
        return lambda done, total: call(place * total + done, 2 * total)

    return half


def _map_recording(spec: Spec, seeds: int) -> Recording:
    size = 8 * seeds * len(spec.pathways) * spec.dataset.n_x * spec.dataset.n_y
    last = (_network(spec).steps - 1,)
    default = Recording(quantities=("maps",))
    count = len(default.snapshot_steps(_network(spec).steps))
    return default if size * count <= MAPS_LIMIT else Recording(quantities=("maps",), steps=last)


def _metrics(
    prediction: Prediction, network: TrainingRun, gdln: TrainingRun
) -> dict[str, CurveComparison]:
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


def _gdln_alignment(derivation: Derivation, gdln: TrainingRun) -> tuple[PathwayAlignment, ...]:
    final = gdln.snapshots["maps"][:, -1]
    return tuple(
        alignment
        for p, _ in enumerate(derivation.pathways)
        for alignment in [_pathway_alignment(derivation, p, final[:, p])]
        if alignment is not None
    )


def _pathway_alignment(derivation: Derivation, p: int, maps: np.ndarray) -> PathwayAlignment | None:
    """Compare maps of shape (seeds, n_y, n_x) with a pathway's modes; None where it has none."""
    pathway = derivation.pathways[p]
    u, v, labels = probe_bases(pathway)
    if not labels:
        return None
    groups = [
        [place for place, found in enumerate(labels) if found == label]
        for label in dict.fromkeys(labels)
    ]
    own = maps[:, :, list(pathway.effective.pathway.inputs)]
    found: Alignment = measure_alignment(own, u, v, groups)
    return PathwayAlignment(
        pathway=pathway.name,
        left=tuple(float(x) for x in found.left.mean(axis=0)),
        right=tuple(float(x) for x in found.right.mean(axis=0)),
        outside=float(found.outside.mean()),
    )


@dataclass(frozen=True, kw_only=True)
class _SplitNetwork:
    """ReLU networks seen as pathways: means over seeds."""

    alignment: tuple[PathwayAlignment, ...]
    shares: tuple[float, ...]
    exact: float


def _split_network(
    derivation: Derivation, network: TrainingRun, inputs: np.ndarray
) -> _SplitNetwork:
    """Split trained ReLU networks into pathways by the nearest gate and compare their maps."""
    gates = np.array([p.effective.pathway.gate for p in derivation.pathways])
    weights = network.weights[0]
    maps = np.zeros((network.seeds, len(gates), weights.w2.shape[1], inputs.shape[0]))
    exact, shares = [], []
    for seed in range(network.seeds):
        w1, w2 = weights.w1[seed], weights.w2[seed]
        size = np.linalg.norm(w1, axis=1) * np.linalg.norm(w2, axis=0)
        assigned: NeuronAssignment = assign_neurons(w1 @ inputs > 0, gates, size)
        exact.append(assigned.exact_share)
        shares.append(assigned.shares)
        for p in range(len(gates)):
            chosen = assigned.index == p
            maps[seed, p] = w2[:, chosen] @ w1[chosen]
    found = [_pathway_alignment(derivation, p, maps[:, p]) for p in range(len(derivation.pathways))]
    return _SplitNetwork(
        alignment=tuple(a for a in found if a is not None),
        shares=tuple(float(share) for share in np.mean(shares, axis=0)),
        exact=float(np.mean(exact)),
    )
