"""Replays of a spec's own ReLU networks: with its gates, with theirs, and with few of their units.

Trained networks are histories as those of a user are, and replayed by the same few units.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import ceil

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.explanation.history import read_history
from symreln.explanation.recorded import recorded
from symreln.explanation.replayed import ReplayPoint, replay
from symreln.gating.observed import ObservedNetworks, observe, sample_steps
from symreln.gating.replay import METRIC, ReplayErrors, replay_errors, seed_distance, taken_gates
from symreln.gating.samples import check_samples
from symreln.gating.serialise import Result
from symreln.specs.finding import counted
from symreln.specs.spec import Spec

#: Numbers of windows; and bytes of weights, of which the number of looks follows where none is
#: given.
_WINDOWS, _KEPT_BYTES = (1, 4, 16, 64, 256, 1024), 300_000_000
_WEIGHTS = {"w1": lambda step, both: both[0], "w2": lambda step, both: both[1]}


@record
class _SpecReplay(Result):
    """What replay.json holds; errors are max |ΔL|/L(0) to the same network.

    Attributes:
        seeds: Networks that were replayed.
        rng: Seed of the networks.
        looks: How often one was looked at.
        seed_floor: How far networks are from each other.
        spec: Of the spec's gates.
        own: Of every unit's own gates, by number of time windows in which they are constant.
        units: Of each network those with few units, by their number, from its own weights where
            its outputs begin to be felt.
    """

    JSON = ("format", "metric", "*")
    file, format = "replay.json", "symreln-replay/2"
    metric = METRIC
    seeds: int
    rng: int
    looks: int
    seed_floor: float
    spec: ReplayErrors
    own: dict[int, ReplayErrors]
    units: tuple[tuple[ReplayPoint, ...], ...]

    def lines(self) -> Iterator[str]:
        """What the terminal shows."""
        yield f"gates of the spec: {percent(self.spec.mean)} of L(0)"
        yield f"networks of other seeds: {percent(self.seed_floor)}"
        if self.own:
            own = (
                f"{counted(w, 'window')} {percent(round(e.mean, 6))}" for w, e in self.own.items()
            )
            yield f"every unit's own gates: {', '.join(own)}"
        for place, points in enumerate(self.units):
            few = [f"{counted(p.count, 'unit')} {percent(round(p.distance, 6))}" for p in points]
            said = ", ".join(few) or "no few units stand for all"
            yield f"network {place} from its own weights: {said}"


def spec_replay(
    spec: Spec,
    *,
    curve: bool = False,
    seeds: int = 2,
    every: int | None = None,
    rng: int = 0,
) -> _SpecReplay:
    """Train networks of a spec and replay them.

    Each unit takes the gate of the spec, or the closed one, that it is nearest to when a phase of
    the spec's gates ends.

    Args:
        spec: Without free parameters.
        curve: Whether to replay units' own gates, and few units, too.
        seeds: Networks that are replayed.
        every: Updates between two looks, with the curve; None for as few as memory allows.
        rng: Seed of the networks.

    Raises:
        InputError: The network or a gate does not fit.
    """
    network, networks = network_of(spec), max(seeds, 2)
    _check(spec, curve=curve)
    starts, ends = (0, *spec.switches), (*spec.switches, network.steps)
    looks = {0, *(end - 1 for end in ends)}
    if curve:
        size = 8 * network.steps * network.hidden * (spec.dataset.n_x + spec.dataset.n_y) * networks
        looks |= {*sample_steps(network.steps, every or ceil(size / _KEPT_BYTES))}
    trained = observe(spec, seeds=networks, rng=rng, steps=sorted(looks), observers=_WEIGHTS)
    with phase("replaying"):
        held = trained.networks(0, seeds)
        seen = held.seen["w1"] @ held.inputs
        given = {}
        for start, end in zip(starts, ends, strict=True):
            gates = np.array([each.gate for each in spec.during(start).pathways], dtype=float)
            given[start] = taken_gates(seen[:, held.steps.index(end - 1)], gates)
        tried = [*(w for w in _WINDOWS if 2 * w <= len(looks)), len(looks)] if curve else []
        rate = 1 / float(network.tau(spec.dataset.samples))
        return _SpecReplay(
            seeds=seeds,
            rng=rng,
            looks=len(looks),
            seed_floor=seed_distance(trained.losses),
            spec=replay_errors(held, given),
            own={w: replay_errors(held, _own_gates(held.steps, seen > 0, w)) for w in tried},
            units=tuple(
                _few(held, place, rate) if (each[-1] > 0).any() else ()  # else all are dead
                for place, each in enumerate(seen if curve else ())
            ),
        )


def _check(spec: Spec, *, curve: bool) -> None:
    """Refuse what no replay has.

    Raises:
        InputError: Samples tell no gates apart; a gate has gains; or units are few, and decay.
    """
    check_samples(spec.dataset)
    gained = [pathway.name for pathway in spec.pathways if pathway.has_gains]
    if gained:
        msg = (
            f"replay: pathway {gained[0]!r} has gains, which no ReLU unit has. Give gates of 0 "
            "and 1"
        )
        raise InputError(msg)
    if curve and network_of(spec).weight_decay:
        msg = "replay: few units are replayed without network.weight_decay. Leave it or curve out"
        raise InputError(msg)


def _own_gates(steps: tuple[int, ...], opened: np.ndarray, windows: int) -> dict[int, np.ndarray]:
    """Return the gates in the middle of windows of as many looks each, by first step.

    Args:
        steps: Of looks.
        opened: Shape (seeds, T, H, P).
        windows: At most T.
    """
    cuts = np.linspace(0, len(steps), windows + 1).astype(int)
    return {steps[a]: opened[:, (a + b) // 2] for a, b in pairwise(cuts)}


def _few(trained: ObservedNetworks, place: int, rate: float) -> tuple[ReplayPoint, ...]:
    """Replay a network with few units, at a rate in units of 1/τ a step."""
    weights = {name.upper(): trained.seen[name][place] for name in _WEIGHTS}
    history = read_history({"steps": trained.steps, **weights})
    found = recorded(history, trained.inputs, trained.targets)
    return replay(found, history.weights(found.begins), rate).points
