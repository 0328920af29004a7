"""What ``symreln gates --method kmeans`` and ``--method windows`` do: gates of trained networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.summaries import short_repr
from symreln.gates.activity import TrainedGates, sample_steps, train_and_sample
from symreln.gates.found_json import (
    clusters_json,
    coverage_json,
    criterion_json,
    replay_json,
    selectivity_json,
    spec_gates_json,
    stability_json,
    wanted_gates,
    windows_json,
)
from symreln.gates.kmeans import (
    FoundGates,
    algorithm_one,
    coverage,
    pattern_count,
    stability,
    static_gates,
)
from symreln.gates.replay import GateSchedule
from symreln.gates.told import GATES_FORMAT
from symreln.gates.windows import (
    WindowedGates,
    choose_windows,
    own_schedule,
    schedule_errors,
    window_schedule,
    windowed_gates,
)

if TYPE_CHECKING:
    from symreln.spec.model import Spec

Json = dict[str, Any]

#: Runs of the two methods where none are given: Algorithm 1's are compared with each other.
RUNS = {"kmeans": 20, "windows": 5}
#: Of the clustered networks, how many choose the number of windows.
JUDGES = 2
#: Looks at the networks in windows, for each one of Algorithm 1.
FINER = 5


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a user asks for.

    Attributes:
        method: "kmeans" or "windows".
        clusters: K, or None to choose it.
        windows: Their number, or None to choose it.
        every: Updates between two looks of Algorithm 1.
        trainings: Networks of one run.
        runs: Runs with other initial weights; None for the method's own number.
        replays: Further networks, not clustered, on which gates are replayed.
        rng: Seed of everything.
        quiet: Whether progress is shown.
    """

    method: str
    clusters: int | None
    windows: int | None
    every: int
    trainings: int
    runs: int | None
    replays: int
    rng: int
    quiet: bool = False


@short_repr
@dataclass(frozen=True, kw_only=True)
class Found:
    """The result, and the gates for a spec.

    Attributes:
        result: As JSON.
        pathways: Gates of the pathways, 0 or 1 a sample.
        switches: Gates that they take later, by the pathway's place.
    """

    result: Json
    pathways: list[tuple[int, ...]]
    switches: dict[int, list[tuple[int, tuple[int, ...]]]]


def find(spec: Spec, asked: Asked) -> Found:
    """Train, sample, cluster, replay.

    Args:
        spec: Without free parameters.
        asked: How.

    Raises:
        InputError: See :func:`symreln.gates.activity.train_and_sample` and
            :func:`symreln.gates.kmeans.algorithm_one`.
    """
    from symreln.base.progress import Progress

    runs = asked.runs or RUNS[asked.method]
    clustered, windows = runs * asked.trainings, asked.method == "windows"
    # The finer looks contain those of Algorithm 1, so that both see the same networks.
    every = asked.every // FINER if windows and asked.every % FINER == 0 else asked.every
    steps = sample_steps(network_steps(spec), every)
    progress = Progress(quiet=asked.quiet)
    with progress("training") as report:
        trained = train_and_sample(
            spec, seeds=clustered + asked.replays, steps=steps, rng=asked.rng, progress=report
        )
    with progress("clustering and replaying"):
        method = _windows if windows else _kmeans
        found = method(spec, asked, trained, runs)
    networks = {
        "runs": runs,
        "trainings": asked.trainings,
        "replayed": asked.replays,
        "hidden": trained.settings.hidden,
        "looks": len(steps),
        "every": every,
        "rng": asked.rng,
    }
    head = {"format": GATES_FORMAT, "method": asked.method, "networks": networks}
    return replace(found, result={**head, **found.result})


def network_steps(spec: Spec) -> int:
    """Return the recorded steps of a spec's network."""
    from symreln.claims.integration import network_of

    return network_of(spec).steps


def _kmeans(spec: Spec, asked: Asked, trained: TrainedGates, runs: int) -> Found:
    size = asked.trainings
    clustered = trained.networks(0, runs * size)
    found = algorithm_one(clustered, clusters=asked.clusters, rng=asked.rng)
    names, wanted = wanted_gates(spec.pathways)
    result = {
        **criterion_json(len(found.centroids), found.given, found.silhouettes),
        "centroids": clusters_json(found),
        "spec_gates": spec_gates_json(names, wanted, found.gates),
    }
    if runs > 1:
        each = [
            algorithm_one(
                trained.networks(k * size, (k + 1) * size), clusters=asked.clusters, rng=asked.rng
            )
            for k in range(runs)
        ]
        result["stability"] = stability_json(stability(each, found.rows), wanted)
    opened = _opened(found)
    result["coverage"] = coverage_json(trained.steps, coverage(clustered, opened))
    if asked.replays:
        held = trained.networks(runs * size, trained.seeds)
        errors = {"algorithm 1": schedule_errors(held, _static(held, found))}
        result["replay"] = replay_json(trained, errors)
    result["selectivity"] = selectivity_json(clustered, spec.dataset.labels, opened)
    return Found(result=result, pathways=list(found.pathways), switches={})


def _windows(spec: Spec, asked: Asked, trained: TrainedGates, runs: int) -> Found:
    clustered = trained.networks(0, runs * asked.trainings)
    tried: dict[int, float] = {}
    if asked.windows is None:
        judges = clustered.networks(0, min(JUDGES, clustered.seeds))
        windowed, tried = choose_windows(clustered, judges, clusters=asked.clusters, rng=asked.rng)
    else:
        windowed = windowed_gates(
            clustered, windows=asked.windows, clusters=asked.clusters, rng=asked.rng
        )
    names, wanted = wanted_gates(spec.pathways)
    every = np.unique(np.concatenate([_opened(each) for each in windowed.found]), axis=0)
    given = asked.clusters is not None
    result = {
        **criterion_json(windowed.clusters, given, windowed.silhouettes),
        **windows_json(windowed, tried),
        "spec_gates": spec_gates_json(names, wanted, every),
        "coverage": coverage_json(trained.steps, window_coverage(clustered, windowed)),
    }
    if asked.replays:
        held = trained.networks(clustered.seeds, trained.seeds)
        result["replay"] = replay_json(trained, _rivals(asked, clustered, held, windowed))
    last = _opened(windowed.found[-1])
    result["selectivity"] = selectivity_json(clustered, spec.dataset.labels, last)
    pathways, switches = switching_pathways(windowed)
    return Found(result=result, pathways=pathways, switches=switches)


def window_coverage(trained: TrainedGates, windowed: WindowedGates) -> Any:
    """Return the coverage of each look by the gates of its window."""
    from symreln.gates.kmeans import Coverage

    ends = (*windowed.looks[1:], len(trained.steps))
    parts = [
        coverage(trained, _opened(found), first, end)
        for first, end, found in zip(windowed.looks, ends, windowed.found, strict=True)
    ]
    return Coverage(
        exact=np.concatenate([part.exact for part in parts]),
        agreement=np.concatenate([part.agreement for part in parts]),
        patterns=np.concatenate([part.patterns for part in parts]),
    )


def _rivals(
    asked: Asked, clustered: TrainedGates, held: TrainedGates, windowed: WindowedGates
) -> dict[str, np.ndarray]:
    """Replay Algorithm 1 and the changes to it, one after the other, on the same networks."""
    coarse, coarse_held = _coarse(clustered, asked.every), _coarse(held, asked.every)
    # Mean activities in windows may be more than the patterns that Algorithm 1 sees.
    given = asked.clusters and min(asked.clusters, pattern_count(coarse))
    found = algorithm_one(coarse, clusters=given, rng=asked.rng)
    whole = windowed_gates(clustered, windows=1, clusters=windowed.clusters, rng=asked.rng)
    count = len(windowed.looks)
    return {
        "algorithm 1": schedule_errors(coarse_held, _static(coarse_held, found)),
        "one window": schedule_errors(held, window_schedule(held, whole)),
        "windows": schedule_errors(held, window_schedule(held, windowed)),
        "every unit its own gate in each window": schedule_errors(held, own_schedule(held, count)),
    }


def _coarse(trained: TrainedGates, every: int) -> TrainedGates:
    """Return networks with the looks of Algorithm 1 alone."""
    kept = [place for place, step in enumerate(trained.steps) if (step - 1) % every == 0]
    return replace(
        trained,
        steps=tuple(trained.steps[place] for place in kept),
        active=trained.active[:, kept],
        weights=trained.weights[:, kept],
    )


def _static(trained: TrainedGates, found: FoundGates) -> GateSchedule:
    return GateSchedule(starts=(0,), gates=static_gates(trained, found))


def _opened(found: FoundGates) -> np.ndarray:
    """Return the different gates that are open somewhere, truth values, shape (G, P)."""
    return np.array(found.pathways, dtype=bool).reshape(len(found.pathways), found.gates.shape[1])


def switching_pathways(
    windowed: WindowedGates,
) -> tuple[list[tuple[int, ...]], dict[int, list[tuple[int, tuple[int, ...]]]]]:
    """Return pathways whose gates switch from window to window.

    A pathway that is closed everywhere in a window keeps the gate before it; one that never opens
    is none.
    """
    pathways, switches = [], {}
    for cluster in range(windowed.clusters):
        gates = [tuple(map(int, found.gates[cluster])) for found in windowed.found]
        history = _history(windowed.starts, gates)
        if history:
            switches[len(pathways)] = history[1:]
            pathways.append(history[0][1])
    return pathways, {place: each for place, each in switches.items() if each}


def _history(
    starts: Sequence[int], gates: Sequence[tuple[int, ...]]
) -> list[tuple[int, tuple[int, ...]]]:
    """Return (step, gate) where the gate changes, without gates that are closed everywhere."""
    kept: list[tuple[int, tuple[int, ...]]] = []
    for start, gate in zip(starts, gates, strict=True):
        if any(gate) and (not kept or gate != kept[-1][1]):
            kept.append((start, gate))
    return [(0, kept[0][1]), *kept[1:]] if kept else []
