"""``symreln replay``: how well given gates imitate the ReLU network they are for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from symreln.base.progress import Progress
from symreln.claims.integration import network_of
from symreln.gates.figures import replay_figure
from symreln.gates.found_gates import check_alive
from symreln.gates.observed import check_samples, observe, sample_steps
from symreln.gates.replay import (
    QualityPoint,
    own_curve,
    quality_curve,
    schedule_errors,
    seed_distance,
    spec_schedule,
)
from symreln.spec.model import Spec

#: Numbers of gates and of windows of the curve; every unit's own gates also in more windows.
CLUSTERS = (1, 2, 4, 8, 16, 32)
WINDOWS = (1, 4, 16, 64)
OWN_WINDOWS = (1, 4, 16, 64, 256, 1024)
#: Bytes of sampled gates, of which the number of looks follows where none is given.
SAMPLED_BYTES = 300_000_000


class SpecReplay(NamedTuple):
    """Replay errors of the spec's own gates."""

    pathways: int
    windows: int
    mean: float
    each: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """What replay.json holds.

    Attributes:
        seeds: Networks that were replayed.
        rng: Seed of the networks.
        looks: How often one was looked at.
        seed_floor: How far networks are from each other.
        spec: Of the spec's own gates.
        curve: Errors by number of gates and windows.
    """

    JSON = ("format", "metric", "seeds", "rng", "looks", "seed_floor", "spec", "curve")
    format = "symreln-replay/1"
    metric = "max |dL|/L(0) against the same network"
    seeds: int
    rng: int
    looks: int
    seed_floor: float
    spec: SpecReplay
    curve: list[QualityPoint]

    @property
    def files(self) -> dict[str, str]:
        """What is written beside it."""
        if not self.curve:
            return {}
        return {"replay.svg": replay_figure(self.curve, self.seed_floor, self.spec.mean).svg}

    @property
    def lines(self) -> Iterator[str]:
        """What the terminal shows: max |ΔL|/L(0), in the mean over networks."""
        when = f" that switch {self.spec.windows - 1} times" if self.spec.windows > 1 else ""
        yield f"{self.spec.pathways} gates of the spec{when}: {100 * self.spec.mean:.2f} % of L(0)"
        yield f"networks of other seeds: {100 * self.seed_floor:.2f} %"
        windows = sorted({each.windows for each in self.curve})
        if windows:
            yield f"{'windows':>10}{''.join(f'{count:>9}' for count in windows)}"
        for count in dict.fromkeys(each.clusters for each in self.curve):
            found = {each.windows: each.mean for each in self.curve if each.clusters == count}
            cells = [f"{100 * found[w]:>7.2f} %" if w in found else " " * 9 for w in windows]
            name = "own gates" if count is None else f"K = {count}"
            yield f"{name:>10}{''.join(cells)}".rstrip()


def replay_report(
    spec: Spec,
    progress: Progress,
    *,
    curve: bool = False,
    seeds: int = 2,
    every: int | None = None,
    rng: int = 0,
) -> ReplayReport:
    """Train networks and replay a spec's gates on them.

    Args:
        spec: Without free parameters.
        progress: Shows how far it is.
        curve: Whether to cluster as many more networks too.
        seeds: Networks that are replayed.
        every: Updates between two looks; None for as few as memory allows.
        rng: Seed of the networks.

    Raises:
        InputError: All units are dead, or the network or a gate does not fit.
    """
    network, networks = network_of(spec), 2 * seeds if curve else max(seeds, 2)
    size = network.steps * network.hidden * spec.dataset.samples * networks
    looks = sample_steps(network.steps, every or max(1, ceil(size / SAMPLED_BYTES)))
    with progress("training") as report:
        check_samples(spec.dataset)
        trained = observe(spec, seeds=networks, steps=looks, rng=rng, progress=report)
    with progress("replaying"):
        check_alive(trained)
        held, floor = trained.networks(0, seeds), seed_distance(trained.losses)
        assert floor is not None
        own = schedule_errors(held, spec_schedule(spec, held))
        points: list[QualityPoint] = []
        if curve:
            clustered = trained.networks(seeds, trained.seeds)
            points = quality_curve(clustered, held, CLUSTERS, WINDOWS, rng=rng)
            points += own_curve(held, (*OWN_WINDOWS, len(held.steps)))
        return ReplayReport(
            seeds=seeds,
            rng=rng,
            looks=len(trained.steps),
            seed_floor=floor,
            spec=SpecReplay(len(spec.pathways), 1 + len(spec.switches), own.mean, own.each),
            curve=points,
        )
