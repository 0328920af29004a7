"""What theory says of a network that a user has trained, part by part.

Its gates are found as those of data alone are (:mod:`symreln.gating.from_data`), with the network's
own units in the place of those that are followed; all that is derived of given gates is then
derived of these, and set beside what the recorded weights do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import gate_floats
from symreln.claims.prediction import predict_training
from symreln.claims.solve import at_values, derive_unchecked
from symreln.effective.descent import Look
from symreln.effective.found import FromData
from symreln.effective.timeline import drops_of
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.measured_gates import GateLawMeasured
from symreln.experiment.strengths import ModeMeasured, network_strengths
from symreln.explanation.recorded import Recorded
from symreln.explanation.replayed import Replayed, replay
from symreln.gating.from_data import MOST_INPUTS, with_gates_of
from symreln.networks.nearest_gates import nearest_gates, share_with
from symreln.pipeline.derive import derive
from symreln.report.drawings import STILL
from symreln.specs.finding import counted
from symreln.train.run import TrainingRun
from symreln.train.settings import TrainingSettings

if TYPE_CHECKING:
    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.explanation.history import History
    from symreln.specs.spec import Spec

#: Looks at which units are kept.
_LOOKS = 40
#: Bits of the exact inputs of one sample, over all gates, above which residuals take minutes.
_MOST_BITS = 3072
#: Distance over L(0) of a replay of all units below which the training was that.
_PLAIN = 1e-3
#: Gates that are told apart where nothing is derived of them.
_GATES = 16


@record
class _Window:
    """From one look to another, between which the loss drops: those nearest to its ends.

    Attributes:
        begin: Its first step.
        end: Its last step.
        shares: Share of the weight ‖w‖‖b‖ at its end of the units nearest to each gate, by name.
        closed: Share of those that are closed on all samples.
        exact: Share of those that have one of these gates on all samples off its boundary.
    """

    begin: int
    end: int
    shares: Mapping[str, float]
    closed: float
    exact: float


@record
class Left:
    """One thing replaced alone, as a row of a diagnosis.

    Attributes:
        assumption: What the prediction before takes for granted.
        replaced_by: What is put in its place.
        distance_before: Largest |ΔL| over L(0) to the network before.
        distance_after: And after; None where it could not be tried.
        why_not: Why not, or "".
    """

    assumption: str
    replaced_by: str
    distance_before: float | None
    distance_after: float | None
    why_not: str = ""

    @property
    def gain(self) -> float | None:
        """By how much it comes nearer, over L(0)."""
        before, after = self.distance_before, self.distance_after
        return None if before is None or after is None else before - after


@record(eq=False)
class Explained:
    """A user's network, explained.

    Attributes:
        found: What its weights say by themselves.
        rate: Of descent, in units of 1/τ a step.
        replayed: Replays from its own weights.
        units: Its gates as those of data alone are said.
        spec: With these gates.
        windows: Gates over time.
        derivation: Of that; None where inputs are many.
        prediction: By these gates at every step; None where there is none.
        first: Loss by the first stage's gates alone, where there are several.
        why_not: Why there is none, or "".
        modes: Strengths over time beside their formulas.
        law: The law of gates beside the network's; None where there is none.
    """

    found: Recorded
    rate: float
    replayed: Replayed
    units: FromData
    spec: Spec
    windows: tuple[_Window, ...]
    derivation: Derivation | None = None
    prediction: Prediction | None = None
    first: np.ndarray | None = None
    why_not: str = ""
    modes: tuple[ModeMeasured, ...] = ()
    law: GateLawMeasured | None = None

    @cached_property
    def left(self) -> tuple[Left, ...]:
        """What is left of the loss, each assumption replaced alone."""
        return (*self.left_by_theory, *self._left_by_units())

    def far(self, losses: np.ndarray, begin: int = 0) -> float:
        """Return the largest |ΔL| over L(0) of a curve at every step to the network.

        Args:
            losses: Of the curve.
            begin: The look from which on they are compared.
        """
        apart = losses[self.found.steps] - self.found.losses
        return float(np.abs(apart[begin:]).max() / self.found.losses[0])

    @property
    def most_left(self) -> Left | None:
        """What is most of what the theory leaves, where replacing one thing alone leaves less."""
        if self.prediction is None:
            return None
        judged = self.far(self.prediction.loss)
        parts = [row for row in self.left_by_theory if (row.distance_before or 0.0) <= judged]
        most = max(parts, key=lambda row: row.gain or 0.0)
        return most if (most.gain or 0.0) > 0 else None

    @cached_property
    def left_by_theory(self) -> tuple[Left, ...]:
        """What the theory of its gates leaves."""
        return tuple(self._left_by_theory())

    @property
    def _long(self) -> str:
        """Why all units are not replayed, or ""."""
        whole = self.replayed.whole
        return "" if whole is not None else "a replay of all units takes minutes on these data"

    def _left_by_theory(self) -> Iterator[Left]:
        prediction, whole = self.prediction, self.replayed.whole
        fixed, unmoved = self.replayed.fixed, self.replayed.unmoved
        # Replays begin later, and are compared from there on: so is what they are compared with.
        begins = self.found.begins
        judged = None if prediction is None else self.far(prediction.loss, begins)
        begin = f"at step {self.found.steps[begins]}"
        if prediction is not None and prediction.flow_loss is not None:
            yield Left(
                assumption="infinitely small steps",
                replaced_by="steps of the learning rate",
                distance_before=self.far(prediction.flow_loss),
                distance_after=self.far(prediction.loss),
            )
        if prediction is not None and prediction.closed_loss is not None:
            yield Left(
                assumption="closed forms",
                replaced_by="the integrated reduction, step by step",
                distance_before=self.far(prediction.closed_loss),
                distance_after=self.far(prediction.reduced),
            )
        if prediction is not None and self.first is not None:
            yield Left(
                assumption="gates of later stages, which the theory has from the beginning",
                replaced_by="those of the first stage alone",
                distance_before=self.far(prediction.loss),
                distance_after=self.far(self.first),
            )
            judged = min(self.far(each, begins) for each in (prediction.loss, self.first))
        yield Left(
            assumption="alignment, and a start from the initialisation distribution",
            replaced_by=f"the network's own units {begin}, each with its nearest gate for good",
            distance_before=judged,
            distance_after=fixed if unmoved is None else unmoved,
            why_not=self.why_not or self._long,
        )
        if unmoved is not None:
            yield Left(
                assumption="a bias of the outputs as it is at the end",
                replaced_by="one that descends with the units",
                distance_before=unmoved,
                distance_after=fixed,
            )
        yield Left(
            assumption="gates that stay",
            replaced_by="units that move between gates",
            distance_before=fixed,
            distance_after=None if whole is None else whole.distance,
            why_not=self._long,
        )

    def _left_by_units(self) -> Iterator[Left]:
        points, whole = self.replayed.points, self.replayed.whole
        fewer = [p for p in points if p.way == "neurons"], [p for p in points if p.way == "moments"]
        if all(fewer):
            directions, spread = (each[-1] for each in fewer)
            yield Left(
                assumption=f"directions alone ({counted(directions.count, 'unit')})",
                replaced_by=f"directions and the spread around them ({spread.count} units)",
                distance_before=directions.distance,
                distance_after=spread.distance,
            )
        few = [point for point in points if point.way != "whole"]
        if few and whole is not None:
            yield Left(
                assumption=f"few units ({few[-1].count})",
                replaced_by=f"all {whole.count} units",
                distance_before=few[-1].distance,
                distance_after=whole.distance,
            )
        if whole is not None and whole.distance < _PLAIN:
            return
        yield Left(
            assumption="full batches at one rate",
            replaced_by="nothing",
            distance_before=None if whole is None else whole.distance,
            distance_after=None,
            why_not=self._long or "batches and the optimiser's state are not among the weights",
        )


@phase("explaining")
def explained(history: History, spec: Spec, found: Recorded) -> Explained:
    """Explain a network.

    Args:
        history: Its weights.
        spec: Of its data, without pathways, with its network.
        found: What the weights say by themselves.

    Raises:
        InputError: No unit is alive.
    """
    network = spec.network
    assert network is not None  # asked before
    rate = 1 / float(network.tau(spec.dataset.samples))
    weights = history.weights(found.begins)
    replayed = replay(found, weights, rate)
    looks = _looks(history, found)
    units = replayed.standing(found, looks)
    entries = spec.dataset.inputs.integers()[0].entries()
    most = min(MOST_INPUTS, _MOST_BITS // max(int(each).bit_length() for each in entries))
    large = len(found.x) > most
    spec = with_gates_of(spec, units, len(found.x) * _GATES if large else most)
    gates = np.array([gate_floats(pathway) for pathway in spec.pathways])
    windows = tuple(_windows(found, spec, gates, looks))
    # Begun here, so that its figures may be drawn beside the replays.
    derivation = None if large else derive(replace(spec, find=""), lambda d: d.ask(STILL[True]))
    replayed = replayed.with_all(found, gates, [each.boundary for each in spec.pathways])
    whole = {"found": found, "rate": rate, "replayed": replayed, "windows": windows}
    if derivation is None:
        said = FromData(network=units, spec=spec, half_times={})
        why = f"exact residuals of {len(found.x)} inputs with so many digits take minutes"
        return Explained(**whole, units=said, spec=replace(spec, find=""), why_not=why)
    numbers = derivation.ask(at_values)
    prediction, why = None, ""
    try:
        # The flow of several stages is integrated, for as long as all else takes.
        prediction = predict_training(numbers, flow=numbers.closed and len(numbers.stages) == 1)
        if not np.isfinite(prediction.loss).all():
            prediction, why = None, "descent on these gates diverges at the network's rate"
    except (InputError, NotSupportedError) as error:
        why = str(error)
    run = _run(history, found, gates, looks)
    return Explained(
        **whole,
        spec=derivation.spec,
        units=FromData.of_units(units, numbers),
        derivation=derivation,
        prediction=prediction,
        first=None if prediction is None else _first_stage_loss(numbers),
        why_not=why,
        modes=() if prediction is None else network_strengths(numbers, prediction, run),
        law=GateLawMeasured.of(numbers, run),
    )


def _first_stage_loss(numbers: Derivation) -> np.ndarray | None:
    """Return the loss by the first stage's gates alone; None where there are no others."""
    begun = tuple(each for each in numbers.spec.pathways if each.stage == 1)
    if len(begun) == len(numbers.spec.pathways):
        return None
    try:
        alone = derive_unchecked(replace(numbers.spec, pathways=begun))
        loss = predict_training(alone, judged_only=True).loss
    except (InputError, NotSupportedError):
        return None
    return loss if np.isfinite(loss).all() else None


def network_of_weights(history: History, found: Recorded) -> dict[str, Any]:
    """Return the network of a spec as its weights have it: what :func:`symreln.network` takes.

    Raises:
        InputError: The weights do not descend on these data.
    """
    if found.rate is None:
        msg = (
            "rate of descent: between no two checkpoints do the weights change as by gradient "
            "descent on these data; by Adam or with momentum they do not. Record them more often, "
            "or give the learning rate of descent to compare with: in [network] of the spec, or "
            "network=sr.network(…)"
        )
        raise InputError(msg)
    # One scale of both layers: units that grow alone soon have as much in one as in the other.
    mean = np.mean([np.mean(np.square(each)) for each in history.weights(0)])
    return {
        "hidden": history.hidden,
        "init_std": f"{np.sqrt(mean):.4g}",
        "learning_rate": f"{found.rate:.4g}",
        "loss": "mean",
        "steps": int(found.steps[-1]) + 1,
    }


def _looks(history: History, found: Recorded) -> tuple[Look, ...]:
    """Return the network's units at looks from the beginning on."""
    places = np.arange(found.begins, len(found.steps))
    if len(places) > _LOOKS:
        places = np.unique(np.linspace(places[0], places[-1], _LOOKS).round().astype(int))
    looks = []
    for place in places.tolist():
        w, b = history.weights(place)
        units = np.hstack([w, b.T]).astype(np.float32)[None]
        looks.append(Look(step=int(found.steps[place]), units=units))
    return tuple(looks)


def _run(
    history: History, found: Recorded, gates: np.ndarray, looks: tuple[Look, ...]
) -> TrainingRun:
    """Return the recorded weights as what a training of one network records."""
    n_x, activity, weight, maps = len(found.x), [], [], []
    for look in looks:
        seen, units = look.seen(found.x), look.units[0].astype(float)
        nearest = nearest_gates(seen, gates)
        activity.append(seen > 0)
        weight.append(look.sizes(found.x))
        owned = [units[nearest == place] for place in range(len(gates))]
        maps.append([own[:, n_x:].T @ own[:, :n_x] for own in owned])
    return TrainingRun(
        settings=TrainingSettings(
            hidden=history.hidden,
            init_std=1.0,
            learning_rate=1.0,
            loss="mean",
            steps=int(found.steps[-1]) + 1,
        ),
        losses=found.at_all_steps(found.losses)[None],
        snapshot_steps=tuple(look.step for look in looks),
        snapshots={
            "activity": np.array(activity)[None],
            "contribution": np.array(weight)[None],
            "gate_maps": np.array(maps)[None],
        },
        seconds=0.0,
    )


def _windows(
    found: Recorded, spec: Spec, gates: np.ndarray, looks: tuple[Look, ...]
) -> Iterator[_Window]:
    drops = drops_of(found.at_all_steps(found.losses), looks[0].step)
    steps = np.array([look.step for look in looks])
    near = {int(np.abs(steps - end).argmin()) for _, (_, end), _ in drops}
    pathways = spec.pathways
    bound = np.zeros(gates.shape, dtype=bool)
    for place, pathway in enumerate(pathways):
        bound[place, list(pathway.boundary)] = True
    before = 0
    for place in sorted({0, *near, len(looks) - 1}):
        look = looks[place]
        seen, weight = look.seen(found.x), look.sizes(found.x)
        total, dead = weight.sum() or 1.0, ~(seen > 0).any(axis=1)
        shares = np.bincount(nearest_gates(seen, gates), weight * ~dead, len(gates)) / total
        yield _Window(
            begin=before,
            end=look.step,
            shares=dict(zip([p.name for p in pathways], shares.tolist(), strict=True)),
            closed=float(weight[dead].sum() / total),
            exact=float(share_with(seen > 0, weight, zip(gates > 0, bound, strict=True))),
        )
        before = look.step
