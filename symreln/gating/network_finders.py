"""Gates of trained networks: ``symreln gates --method kmeans`` and ``--method windows``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.gating.clustering import NEAR, GateCluster
from symreln.gating.enumerate import pattern
from symreln.gating.finders import FORMAT
from symreln.gating.found_gates import (
    MOST_CLUSTERS,
    Coverage,
    Stability,
    WindowedGates,
    algorithm_one,
    coverage,
    stability,
    windowed_gates,
)
from symreln.gating.found_pathways import FoundPathway
from symreln.gating.observed import ObservedNetworks, observe, sample_steps
from symreln.gating.replay import (
    METRIC,
    ReplayErrors,
    own_schedule,
    schedule_errors,
    seed_distance,
    static_schedule,
    window_schedule,
)
from symreln.gating.samples import check_samples
from symreln.gating.selectivity import selectivity_report
from symreln.gating.serialise import Result
from symreln.specs.finding import counted
from symreln.specs.model import Spec

#: Networks where their number is not given: those of Algorithm 1 are compared with each other.
_KMEANS_SEEDS, _WINDOWS_SEEDS = 20, 5
#: Updates between two looks, and numbers of windows that are tried, where they are not given.
_KMEANS_EVERY, _WINDOWS_EVERY, _WINDOWS = 100, 20, (1, 4, 16)
#: Further networks, not clustered, on which gates are replayed.
_REPLAYED = 2
#: Of the clustered networks, how many choose the number of windows.
_JUDGES = 2
#: Samples of a gate that are written out; of more, only how many are open.
_SHOWN = 64
#: Windows, clusters of one, and pathways that are shown.
_SHOWN_WINDOWS, _SHOWN_CLUSTERS = 8, 20
#: Numbers of clusters whose scores are shown, the best.
_SHOWN_SCORES = 5


@record
class _Networks:
    """Which networks are trained, and how they are looked at.

    Attributes:
        seeds: How many are clustered.
        replayed: Further networks, not clustered, on which gates are replayed.
        hidden: Their width.
        looks: How often one is looked at.
        every: Updates between two looks.
        rng: Seed of everything.
    """

    seeds: int
    replayed: int
    hidden: int
    looks: int
    every: int
    rng: int


@record(kw_only=False)
class _SpecGate:
    """A gate of the spec, and the nearest one that was found."""

    name: str
    pattern: str
    found: bool
    nearest: str
    samples_apart: int


@record(kw_only=False)
class _GateWindow:
    """The clusters of one window, from the first update that is made with them."""

    from_step: int
    clusters: tuple[GateCluster, ...]


@record(eq=False)
class NetworkGates(Result):
    """Gates of trained networks, and what is said of them; of windows, None says Algorithm 1.

    Attributes:
        method: "kmeans" or "windows".
        networks: Which networks.
        clusters: Largest K of a window.
        criterion: How K was chosen.
        silhouettes: Mean silhouette by number of clusters, of those tried.
        centroids: The clusters of Algorithm 1.
        windows: How many windows.
        replay_errors: Error of a replay by number of windows, of those tried.
        pieces: The clusters window by window.
        spec_gates: What became of the spec's own gates.
        stability: What several runs of Algorithm 1 find.
        coverage: What part of the weight the gates account for.
        errors: Errors of replays on networks that were not clustered, by what was replayed.
        seed_floor: How far networks are from each other.
        selectivity: Of units and gates, None where no label groups the samples.
        pathways: Of a spec with these gates.
    """

    JSON = (
        *(
            "format",
            "*",
            "centroids?",
            "windows?",
            "replay_errors?",
            "pieces?",
            "stability?",
            "replay",
        ),
        "selectivity",
    )
    file, format = "gates.json", FORMAT
    method: str
    networks: _Networks
    clusters: int
    criterion: str
    silhouettes: dict[int, float]
    centroids: tuple[GateCluster, ...] | None
    windows: int | None
    replay_errors: dict[int, float]
    pieces: list[_GateWindow] | None
    spec_gates: list[_SpecGate]
    stability: Stability | None
    coverage: Coverage
    errors: dict[str, ReplayErrors] = field(metadata={"prose": True})
    seed_floor: float | None = field(metadata={"prose": True})
    selectivity: dict[str, Any] | None
    pathways: list[FoundPathway] = field(metadata={"prose": True})

    @property
    def replay(self) -> dict[str, Any]:
        """Errors of replays and of other seeds."""
        return {"metric": METRIC, "seed_floor": self.seed_floor, "errors": self.errors}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        of = self.networks
        yield (
            f"{counted(of.seeds, 'network')} of {counted(of.hidden, 'hidden unit')}, "
            f"{counted(of.looks, 'look')} at each, one every {counted(of.every, 'update')}"
        )
        yield _choice(self)
        yield from map(_cluster_line, (self.centroids or ())[:_SHOWN_CLUSTERS])
        if self.pieces is not None:
            errors = [f"{n}: {100 * e:.1f} %" for n, e in self.replay_errors.items()]
            why = f" with the least replay error ({', '.join(errors)})" if errors else ""
            yield f"{counted(len(self.pieces), 'window')}{why}, all in gates.json:"
            shown = self.pieces[:: -(-len(self.pieces) // _SHOWN_WINDOWS)]
            yield from map(_window_line, shown)
        for gate in self.spec_gates:
            apart = counted(gate.samples_apart, "sample")
            how = "found" if gate.found else f"not found, the nearest gate differs on {apart}"
            yield f"{gate.name} of the spec: {how}"
        if self.stability is not None:
            yield from self.stability.lines()
        yield from self.coverage.lines()
        networks = counted(of.replayed, "network")
        yield f"replay error, max |ΔL|, mean of {networks} not clustered, from their first weights:"
        errors = {name: each.mean for name, each in self.errors.items()}
        for name, error in (errors | {"networks of other seeds": self.seed_floor}).items():
            if error is not None:
                yield f"  {name}: {100 * error:.2f} % of L(0)"
        if self.selectivity is not None:
            yield from _selectivity_lines(self.selectivity)


def find(
    spec: Spec,
    method: str,
    *,
    rng: int = 0,
    clusters: int | None = None,
    windows: int | None = None,
    every: int | None = None,
    seeds: int | None = None,
) -> NetworkGates:
    """Train, look, cluster, replay.

    Args:
        spec: Without free parameters.
        method: "kmeans", Algorithm 1 of the paper, or "windows".
        rng: Seed of everything.
        clusters: K, or None to choose it.
        windows: Number of windows at most, or None for that of a few with the least replay error.
        every: Updates between two looks; None for the method's own number, like the next.
        seeds: Networks that are clustered.

    Raises:
        InputError: See :func:`symreln.gating.observed.observe` and
            :func:`symreln.gating.found_gates.algorithm_one`.
    """
    drifting = method == "windows"
    count = seeds or (_WINDOWS_SEEDS if drifting else _KMEANS_SEEDS)
    every = every or (_WINDOWS_EVERY if drifting else _KMEANS_EVERY)
    looks = sample_steps(network_of(spec).steps, every)
    with phase("training") as report:
        check_samples(spec.dataset)
        trained = observe(spec, seeds=count + _REPLAYED, steps=looks, rng=rng, progress=report)
    with phase("clustering and replaying"):
        clustered, held = trained.networks(0, count), trained.networks(count, trained.seeds)
        known = {"clusters": clusters, "rng": rng}
        tried: dict[int, float] = {}
        if drifting:
            if windows is None:
                tried = _replay_errors(clustered, **known)
                windows = min(tried, key=lambda count: (tried[count], count))
            found = windowed_gates(clustered, windows=windows, **known)
            schedules = {
                "windows": window_schedule(held, found),
                "every unit its own gate in each window": own_schedule(held, len(found.windows)),
            }
        else:
            found = algorithm_one(clustered, **known)
            schedules = {"algorithm 1": static_schedule(held, found)}
        gates = np.concatenate([each.gates for each in found.found])
        if drifting:  # a pathway that is closed in a window keeps its gate
            gates = np.unique(gates[gates.any(axis=1)], axis=0)
        pieces = [
            _GateWindow(start, each.clusters)
            for start, each in zip(found.starts, found.found, strict=True)
        ]
        wanted = _wanted(spec)
        return NetworkGates(
            method=method,
            networks=_Networks(
                seeds=count,
                replayed=_REPLAYED,
                hidden=trained.settings.hidden,
                looks=len(looks),
                every=every,
                rng=rng,
            ),
            clusters=found.clusters,
            criterion="largest mean silhouette" if clusters is None else "given",
            silhouettes=found.silhouettes,
            centroids=None if drifting else found.found[0].clusters,
            windows=len(found.windows) if drifting else None,
            replay_errors=tried,
            pieces=pieces if drifting else None,
            spec_gates=[_spec_gate(*each, gates) for each in wanted.items()],
            stability=None if drifting or count == 1 else _alone(clustered, wanted, **known),
            coverage=coverage(clustered, list(found.by_look)),
            errors={name: schedule_errors(held, each) for name, each in schedules.items()},
            seed_floor=seed_distance(trained.losses),
            selectivity=selectivity_report(
                clustered, spec.dataset.labels, found.found[-1].pathways
            ),
            pathways=_switching_pathways(found),
        )


def _replay_errors(clustered: ObservedNetworks, **known: Any) -> dict[int, float]:
    """Return the replay error by number of windows, on networks of those that are clustered."""
    judges, errors = clustered.networks(0, min(_JUDGES, clustered.seeds)), {}
    for count in (each for each in _WINDOWS if each <= len(clustered.steps)):
        made = windowed_gates(clustered, windows=count, **known)
        errors[count] = schedule_errors(judges, window_schedule(judges, made)).mean
    return errors


def _alone(
    clustered: ObservedNetworks, wanted: Mapping[str, np.ndarray], **known: Any
) -> Stability:
    """Run Algorithm 1 on each network alone."""
    runs = [
        algorithm_one(clustered.networks(start, start + 1), **known).found[0]
        for start in range(clustered.seeds)
    ]
    return stability(runs, list(wanted.values()))


def _wanted(spec: Spec) -> dict[str, np.ndarray]:
    """Return the gates of the spec's pathways that have no gains, by name."""
    plain = (each for each in spec.pathways if not each.has_gains)
    return {each.name: np.array(each.gate, dtype=bool) for each in plain}


def _spec_gate(name: str, gate: np.ndarray, found: np.ndarray) -> _SpecGate:
    """Return what became of a gate of the spec among those found, shape (G, P)."""
    apart = (found != gate).sum(axis=1)
    least, near = int(apart.min()), found[int(apart.argmin())]
    return _SpecGate(name, pattern(gate), least == 0, pattern(near), least)


def _switching_pathways(windowed: WindowedGates) -> list[FoundPathway]:
    """Return pathways whose gates switch from window to window.

    A pathway that is closed everywhere in a window keeps the gate before it; one that never opens
    is none. Clusters with the same gates are one pathway.
    """
    histories: list[tuple[tuple[int, tuple[int, ...]], ...]] = []
    for cluster in range(windowed.clusters):
        history: list[tuple[int, tuple[int, ...]]] = []
        for start, found in zip(windowed.starts, windowed.found, strict=True):
            gate = tuple(map(int, found.gates[cluster]))
            if any(gate) and (not history or gate != history[-1][1]):
                history.append((start, gate))
        if history and tuple(history) not in histories:
            histories.append(tuple(history))
    return [
        FoundPathway(f"gate_{number}", history[0][1], then=history[1:])
        for number, history in enumerate(histories, start=1)
    ]


def _choice(found: NetworkGates) -> str:
    how = found.criterion
    if found.silhouettes:
        best = sorted(found.silhouettes.items(), key=lambda each: -each[1])[:_SHOWN_SCORES]
        scores = ", ".join(f"{count}: {score:.3f}" for count, score in best)
        more = ", …" if len(best) < len(found.silhouettes) else ""
        how += f" ({scores}{more})"
        if found.clusters == MOST_CLUSTERS:
            how += ", the most that are tried: more may be better"
    return f"K = {found.clusters} clusters: {how}"


def _cluster_line(cluster: GateCluster) -> str:
    text = f"  {_shown(cluster.pattern)}  share {cluster.share:.3f}"
    if not cluster.pathway:
        text += ", open nowhere: no pathway"
    if cluster.partial:
        count = counted(len(cluster.partial), "sample")
        text += f", partial on {count} (between {NEAR} and {1 - NEAR})"
    return text


def _window_line(window: _GateWindow) -> str:
    first, *_ = window.clusters
    gates = counted(len({each.pattern for each in window.clusters if each.pathway}), "gate")
    most = f"{_shown(first.pattern)} with a share of {first.share:.3f}"
    return f"  from step {window.from_step}: {gates}, the first {most}"


def _shown(gate: str) -> str:
    """Return a gate as 0 and 1 where it is short, else how many samples are open."""
    return gate if len(gate) <= _SHOWN else f"{gate.count('1')} of {len(gate)} open"


def _selectivity_lines(found: Mapping[str, Any]) -> Iterator[str]:
    def told(each: Mapping[str, Any]) -> str:
        words = [] if each["mixed"] is None else [f"mixed selectivity {each['mixed']:.2f}"]
        words += [
            f"open on {breadth:.2f} of {found['labels'][name]} values of {name}"
            for name, breadth in each["breadth"].items()
            if breadth is not None
        ]
        return ", ".join(words) or "open nowhere"

    for when in ("start", "end"):
        text = told(found[f"units_at_{when}"])
        yield f"selectivity of hidden units at the {when}, by weight: {text}"
    for each in found["pathways"][:_SHOWN_CLUSTERS]:
        yield f"  {_shown(each['pattern'])}: {told(each)}"
