"""The gates that a ReLU network's units show, in the place of the spec's; nothing else changes.

A stage's pathways get the gates that the network's units have when the stage has been learned, each
as often as units have it by their weight ‖w‖‖b‖. They have them from the first step, and start as
the theory has them start: with as many units, drawn from the same law. So what *when* units take a
gate does is not in it. That is the start of a stage.

What the gates alone do is the loss with them less the loss with the spec's, both of gated linear
networks from the same initial weights, added to the theory's curve.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.integration import gate_floats, network_of
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.training import train_networks, training_settings
from symreln.laws.law import pathway_units
from symreln.train.assignment import nearest_gates
from symreln.train.record import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.claims.curves import Judged, ModeCurve, Prediction
    from symreln.claims.derivation import Derivation
    from symreln.train.settings import TrainingSettings

#: Units that stand for those of a pathway.
UNITS = 64
#: A stage has been learned when its modes have reached this share of their plateaus.
_LEARNED = 0.9
#: Share of its largest output below which a unit counts as silent on a sample.
OPEN = 0.1
#: Share of a network's weight below which a pathway's units show no gates.
_SEEN = 0.01
#: Multiplications above which it takes minutes.
USUAL_COST = 4e11


def shown_gates(
    numbers: Derivation,
    prediction: Prediction,
    losses: np.ndarray,
    stream: np.random.SeedSequence,
) -> list[np.ndarray]:
    """Return the gates of a pathway's units, shape (UNITS, P), one array a pathway.

    A unit that is all but silent on a sample, at the boundary of its gate, is closed there: that
    sample teaches it nothing.

    Args:
        numbers: Without free parameters; gates of 0 and 1.
        prediction: At every step.
        losses: Of trained ReLU networks, shape (seeds, steps).
        stream: The networks' random stream: they are trained again to look at their units.
    """
    x = numbers.spec.dataset.inputs.to_numpy()
    given = np.array([gate_floats(p.effective.pathway) for p in numbers.pathways])
    ends = stage_ends(numbers, prediction.modes, prediction.judged)
    ends = _as_far(prediction.loss, losses.mean(axis=0), ends)
    looks = tuple(sorted(set(ends.values())))
    seen = Recording(
        quantities=("contribution",), observers={"seen": lambda _, w: w[0] @ x}, steps=looks
    )
    run = train_networks(numbers.spec, seeds=len(losses), rng=stream, record=seen)
    found = []
    for place, pathway in enumerate(numbers.pathways):
        look = looks.index(ends[pathway.effective.pathway.stage])
        held = run.snapshots["seen"][:, look].reshape(-1, x.shape[1])
        weights = run.snapshots["contribution"][:, look].ravel()
        active = held > OPEN * np.maximum(held.max(axis=1, keepdims=True), 0)
        own = weights * ((nearest_gates(active, given)[0] == place) & active.any(axis=1))
        if own.sum() <= _SEEN * weights.sum():
            found.append(np.repeat(given[place][None], UNITS, axis=0))
            continue
        shares = np.cumsum(own) / own.sum()
        chosen = np.searchsorted(shares, (np.arange(UNITS) + 0.5) / UNITS)
        found.append(active[chosen].astype(float))
    return found


def stage_ends(numbers: Derivation, modes: Sequence[ModeCurve], judged: Judged) -> dict[int, int]:
    """Return the step at which every stage has been learned, and those before it.

    What is not learned within the network's steps is looked at in the last one.
    """
    stage_of = {p.name: p.effective.pathway.stage for p in numbers.pathways}
    ends = dict.fromkeys(sorted(set(stage_of.values())), 0)
    for mode in modes:
        curve, stage = mode.of(judged), stage_of[mode.pathway]
        up = curve >= _LEARNED * (curve.max() if mode.plateau is None else mode.plateau)
        ends[stage] = max(ends[stage], int(np.argmax(up)) if up.any() else len(up) - 1)
    latest = 0
    for stage in ends:
        ends[stage] = latest = max(latest, ends[stage])
    return ends


def _as_far(prediction: np.ndarray, trained: np.ndarray, ends: dict[int, int]) -> dict[int, int]:
    """Return when networks have learned as much as predicted at some steps, the last at most."""
    found = {}
    for stage, step in ends.items():
        there = trained <= prediction[step]
        found[stage] = int(np.argmax(there)) if there.any() else len(trained) - 1
    return found


def effect_of_gates(
    numbers: Derivation,
    kappas: Mapping[str, float],
    gates: Sequence[np.ndarray],
    seeds: int,
    rng: int,
) -> np.ndarray:
    """Return the losses with some gates less those with the spec's, shape (seeds, steps).

    Args:
        numbers: Without free parameters, with a network of two layers.
        kappas: κ of pathways by name.
        gates: Of :data:`UNITS` units of each pathway.
        seeds: Pairs of networks.
        rng: Seed of their initial weights.

    Raises:
        NotSupportedError: It takes minutes.
        InputError: They diverge.
    """
    network, data = network_of(numbers.spec), numbers.spec.dataset
    x, y = data.arrays
    cost = 2 * seeds * network.steps * UNITS * len(gates) * x.shape[1] * (2 * len(x) + 3 * len(y))
    if cost > USUAL_COST:
        msg = "the Monte Carlo estimate over isolated hidden units takes minutes on these data"
        raise NotSupportedError(msg)
    units = _Units.drawn(numbers, kappas, seeds, np.random.default_rng([rng, 3]))
    given = [
        np.repeat(gate_floats(p.effective.pathway)[None], UNITS, axis=0) for p in numbers.pathways
    ]
    settings = training_settings(numbers.spec)
    return units.losses(x, y, np.concatenate(gates), settings) - units.losses(
        x, y, np.concatenate(given), settings
    )


@record(kw_only=False, eq=False)
class _Units:
    """Hidden units of all pathways, with what each sees and writes.

    Attributes:
        first: Initial weights, shape (seeds, units, n_x).
        second: Shape (seeds, units, n_y).
        sees: 0 or 1, shape (units, n_x).
        writes: 0 or 1, shape (units, n_y).
        stages: Units that descend the residual that they and those before them leave, in order.
    """

    first: np.ndarray
    second: np.ndarray
    sees: np.ndarray
    writes: np.ndarray
    stages: tuple[np.ndarray, ...]

    @classmethod
    def drawn(
        cls,
        numbers: Derivation,
        kappas: Mapping[str, float],
        seeds: int,
        random: np.random.Generator,
    ) -> _Units:
        """Draw the units that the theory starts from, so many wider or narrower."""
        network, data = network_of(numbers.spec), numbers.spec.dataset
        half = float(pathway_units(network)) / network.hidden
        sees, writes, spread = [], [], []
        for pathway in numbers.pathways:
            own = pathway.effective.pathway
            law = network.hidden * kappas.get(pathway.name, half)
            spread += [sqrt(law / UNITS)] * UNITS
            for masks, size, there in (
                (sees, data.n_x, own.inputs),
                (writes, data.n_y, own.outputs),
            ):
                masks += [np.isin(np.arange(size), there).astype(float)] * UNITS
        seen, written, wide = np.array(sees), np.array(writes), np.array(spread)[:, None]
        first, last = map(float, network.stds)
        shape = (seeds, len(wide))
        stage = np.repeat([p.effective.pathway.stage for p in numbers.pathways], UNITS)
        if network.training == "joint":
            stage[:] = 1
        return cls(
            first * wide * seen * random.standard_normal((*shape, data.n_x)),
            last * wide * written * random.standard_normal((*shape, data.n_y)),
            seen,
            written,
            tuple(np.flatnonzero(stage == one) for one in np.unique(stage)),
        )

    def losses(
        self, x: np.ndarray, y: np.ndarray, gates: np.ndarray, settings: TrainingSettings
    ) -> np.ndarray:
        """Descend with constant gates of shape (units, P); the loss of every seed and step."""
        samples = x.shape[1]
        rate, keep = settings.rate(samples), 1 - settings.decay(samples)
        first, second = self.first.copy(), self.second.copy()
        found = np.empty((len(first), settings.steps))
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(settings.steps):
                held, error = (first @ x) * gates, y
                drive, pull = np.empty_like(held), np.empty_like(second)
                for units in self.stages:
                    error = error - second[:, units].swapaxes(1, 2) @ held[:, units]
                    drive[:, units] = second[:, units] @ error
                    pull[:, units] = held[:, units] @ error.swapaxes(1, 2)
                found[:, step] = 0.5 * np.einsum("syp,syp->s", error, error) / samples
                first = keep * first + rate * ((drive * gates) @ x.T) * self.sees
                second = keep * second + rate * pull * self.writes
        if not np.isfinite(found).all():
            msg = "units with the network's gates diverge. Lower network.learning_rate"
            raise InputError(msg)
        return found
