"""Gates of trained networks: ``symreln gates --method kmeans`` and ``--method windows``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

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
    stacked_rows,
    windowed_gates,
)
from symreln.gating.found_pathways import FoundPathway
from symreln.gating.observed import ObservedNetworks, observe, sample_steps
from symreln.gating.replay import (
    GateSchedule,
    ReplayErrors,
    choose_windows,
    own_schedule,
    schedule_errors,
    seed_distance,
    static_schedule,
    window_schedule,
)
from symreln.gating.samples import check_samples
from symreln.gating.selectivity import Indices, SelectivityReport, selectivity_report
from symreln.gating.serialise import Result
from symreln.specs.finding import counted
from symreln.specs.model import Spec

#: Networks where their number is not given: those of Algorithm 1 are compared with each other.
KMEANS_SEEDS, WINDOWS_SEEDS = 20, 5
#: Further networks, not clustered, on which gates are replayed.
REPLAYED = 2
#: Of the clustered networks, how many choose the number of windows.
_JUDGES = 2
#: Looks at the networks in windows, for each one of Algorithm 1.
_FINER = 5
#: Samples of a gate that are written out; of more, only how many are open.
SHOWN = 64
#: Windows that are shown, evenly among all.
_SHOWN_WINDOWS = 8
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


@record(kw_only=False)
class _Replays:
    """Errors by what was replayed, and how far networks are from each other."""

    metric: str
    seed_floor: float | None
    errors: dict[str, ReplayErrors]


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
        windows_criterion: How their number was chosen.
        replay_errors: Error of a replay by number of windows, of those tried.
        pieces: The clusters window by window.
        spec_gates: What became of the spec's own gates.
        stability: How alike several runs of Algorithm 1 are.
        coverage: What part of the weight the gates account for.
        replay: Errors of replays on networks that were not clustered.
        selectivity: Of units and gates, None where no label groups the samples.
        pathways: Of a spec with these gates.
    """

    JSON = (
        *("format", "*", "centroids?", "windows?", "windows_criterion?", "replay_errors?"),
        *("pieces?", "stability?"),
    )
    file, format = "gates.json", FORMAT
    method: str
    networks: _Networks
    clusters: int
    criterion: str
    silhouettes: dict[int, float]
    centroids: tuple[GateCluster, ...] | None
    windows: int | None
    windows_criterion: str | None
    replay_errors: dict[int, float] | None
    pieces: list[_GateWindow] | None
    spec_gates: list[_SpecGate]
    stability: Stability | None
    coverage: Coverage
    replay: _Replays
    selectivity: SelectivityReport | None
    pathways: list[FoundPathway] = field(metadata={"prose": True})

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        of = self.networks
        yield (
            f"{counted(of.seeds, 'network')} of {counted(of.hidden, 'hidden unit')}, "
            f"{counted(of.looks, 'look')} at each, one every {counted(of.every, 'update')}"
        )
        yield from _choices(self)
        shown = self.pieces or [_GateWindow(0, self.centroids or ())]
        count, shown = len(shown), shown[:: -(-len(shown) // _SHOWN_WINDOWS)]
        if len(shown) < count:
            yield f"{len(shown)} of the windows (all are in gates.json):"
        for piece in shown:
            if self.windows is not None:
                yield f"from step {piece.from_step}:"
            yield from map(_cluster_line, piece.clusters)
        for gate in self.spec_gates:
            apart = counted(gate.samples_apart, "sample")
            how = "found" if gate.found else f"not found, the nearest gate differs on {apart}"
            yield f"{gate.name} of the spec: {how}"
        if self.stability is not None:
            yield from _stability_lines(self.stability)
        seen = self.coverage
        yield (
            f"of the units' weight, {100 * seen.exact[-1]:.1f} % has exactly one of these gates "
            f"at the last look ({100 * seen.mean_exact:.1f} % in the mean over looks)"
        )
        yield (
            f"a unit agrees with its nearest gate on {100 * seen.agreement[-1]:.1f} % of the "
            f"samples at the last look ({100 * seen.mean_agreement:.1f} %)"
        )
        networks = counted(of.replayed, "network")
        yield f"replay error, max |ΔL|, mean of {networks} not clustered, from their first weights:"
        for name, each in self.replay.errors.items():
            yield f"  {name}: {100 * each.mean:.2f} % of L(0)"
        if self.replay.seed_floor is not None:
            yield f"  networks of other seeds: {100 * self.replay.seed_floor:.2f} %"
        if self.selectivity is not None:
            yield from _selectivity_lines(self.selectivity)


def find(
    spec: Spec,
    method: str,
    *,
    rng: int = 0,
    clusters: int | None = None,
    windows: int | None = None,
    every: int = 100,
    seeds: int | None = None,
) -> NetworkGates:
    """Train, look, cluster, replay.

    Args:
        spec: Without free parameters.
        method: "kmeans", Algorithm 1 of the paper, or "windows".
        rng: Seed of everything.
        clusters: K, or None to choose it.
        windows: Number of windows, or None to choose it.
        every: Updates between two looks of Algorithm 1.
        seeds: Networks that are clustered; None for the method's own number.

    Raises:
        InputError: See :func:`symreln.gating.observed.observe` and
            :func:`symreln.gating.found_gates.algorithm_one`.
    """
    drifting = method == "windows"
    count = seeds or (WINDOWS_SEEDS if drifting else KMEANS_SEEDS)
    # The finer looks contain those of Algorithm 1, so that both see the same networks.
    finer = _FINER if drifting and every % _FINER == 0 else 1
    steps = sample_steps(network_of(spec).steps, every // finer)
    with phase("training") as report:
        check_samples(spec.dataset)
        trained = observe(spec, seeds=count + REPLAYED, steps=steps, rng=rng, progress=report)
    with phase("clustering and replaying"):
        clustered, held = trained.networks(0, count), trained.networks(count, trained.seeds)
        tried: dict[int, float] = {}
        if not drifting:
            found = algorithm_one(clustered, clusters=clusters, rng=rng)
        elif windows is None:
            judges = clustered.networks(0, min(_JUDGES, clustered.seeds))
            found, tried = choose_windows(clustered, judges, clusters=clusters, rng=rng)
        else:
            found = windowed_gates(clustered, windows=windows, clusters=clusters, rng=rng)
        gates = np.concatenate([each.gates for each in found.found])
        if drifting:  # a pathway that is closed in a window keeps its gate
            gates = np.unique(gates[gates.any(axis=1)], axis=0)
        pieces = zip(found.starts, (each.clusters for each in found.found), strict=True)
        schedules = _schedules(clustered, held, found, clusters, rng, finer if drifting else 0)
        return NetworkGates(
            method=method,
            networks=_Networks(
                seeds=count,
                replayed=REPLAYED,
                hidden=trained.settings.hidden,
                looks=len(steps),
                every=every // finer,
                rng=rng,
            ),
            clusters=found.clusters,
            criterion="largest mean silhouette" if clusters is None else "given",
            silhouettes=found.silhouettes,
            centroids=None if drifting else found.found[0].clusters,
            windows=len(found.windows) if drifting else None,
            windows_criterion=("least replay error" if tried else "given") if drifting else None,
            replay_errors=tried if drifting else None,
            pieces=[_GateWindow(*each) for each in pieces] if drifting else None,
            spec_gates=[_spec_gate(*each, gates) for each in _wanted(spec).items()],
            stability=None
            if drifting or count == 1
            else stability(
                [
                    algorithm_one(
                        clustered.networks(start, start + 1), clusters=clusters, rng=rng
                    ).found[0]
                    for start in range(count)
                ],
                found.found[0].rows,
                list(_wanted(spec).values()),
            ),
            coverage=coverage(clustered, list(found.by_look)),
            replay=_Replays(
                metric="max |dL|/L(0) against the same network",
                seed_floor=seed_distance(trained.losses),
                errors={name: schedule_errors(held, each) for name, each in schedules},
            ),
            selectivity=selectivity_report(
                clustered, spec.dataset.labels, found.found[-1].pathways
            ),
            pathways=_switching_pathways(found),
        )


def _wanted(spec: Spec) -> dict[str, np.ndarray]:
    """Return the gates of the spec's pathways that have no gains, by name."""
    plain = (each for each in spec.pathways if not each.has_gains)
    return {each.name: np.array(each.gate, dtype=bool) for each in plain}


def _spec_gate(name: str, gate: np.ndarray, found: np.ndarray) -> _SpecGate:
    """Return what became of a gate of the spec among those found, shape (G, P)."""
    apart = (found != gate).sum(axis=1)
    least, near = int(apart.min()), found[int(apart.argmin())]
    return _SpecGate(name, pattern(gate), least == 0, pattern(near), least)


def _schedules(
    clustered: ObservedNetworks,
    held: ObservedNetworks,
    found: WindowedGates,
    clusters: int | None,
    rng: int,
    finer: int,
) -> Iterator[tuple[str, GateSchedule]]:
    """Yield Algorithm 1 and, for windows, the changes to it one after the other.

    Args:
        clustered: Networks whose gates were found.
        held: Those on which gates are replayed.
        found: The gates.
        clusters: K as it was given, or None.
        rng: Seed.
        finer: Looks for each one of Algorithm 1; 0 where that was run.
    """
    if not finer:
        yield "algorithm 1", static_schedule(held, found)
        return
    kept = range(0, len(held.steps), finer)
    coarse = clustered.looks(kept)
    # Mean activities in windows may be more than the patterns that Algorithm 1 sees.
    given = clusters and min(clusters, len(stacked_rows(coarse).values))
    first = algorithm_one(coarse, clusters=given, rng=rng)
    yield "algorithm 1", static_schedule(held.looks(kept), first)
    whole = windowed_gates(clustered, windows=1, clusters=found.clusters, rng=rng)
    yield "one window", window_schedule(held, whole)
    yield "windows", window_schedule(held, found)
    own = own_schedule(held, len(found.windows))
    yield "every unit its own gate in each window", own


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


def _choices(found: NetworkGates) -> Iterator[str]:
    how = found.criterion
    if found.silhouettes:
        best = sorted(found.silhouettes.items(), key=lambda each: -each[1])[:_SHOWN_SCORES]
        scores = ", ".join(f"{count}: {score:.3f}" for count, score in best)
        more = ", …" if len(best) < len(found.silhouettes) else ""
        how += f" ({scores}{more})"
        if found.clusters == MOST_CLUSTERS:
            how += ", the most that are tried: more may be better"
    yield f"K = {found.clusters} clusters: {how}"
    if found.windows is not None:
        why = found.windows_criterion
        if found.replay_errors:
            errors = [f"{n}: {100 * e:.1f} %" for n, e in found.replay_errors.items()]
            why = f"{why} of clustered networks ({', '.join(errors)})"
        yield f"{counted(found.windows, 'window')}: {why}"


def _cluster_line(cluster: GateCluster) -> str:
    text = f"  {_shown(cluster.pattern)}  share {cluster.share:.3f}"
    if not cluster.pathway:
        text += ", open nowhere: no pathway"
    if cluster.partial:
        count = counted(len(cluster.partial), "sample")
        text += f", partial on {count} (between {NEAR} and {1 - NEAR})"
    return text


def _shown(gate: str) -> str:
    """Return a gate as 0 and 1 where it is short, else how many samples are open."""
    return gate if len(gate) <= SHOWN else f"{gate.count('1')} of {len(gate)} open"


def _stability_lines(found: Stability) -> Iterator[str]:
    sizes = ", ".join(f"K = {count} in {times}" for count, times in found.clusters.items())
    yield f"{found.runs} runs, each alone: {sizes}"
    if found.runs_with_all_spec_gates is not None:
        yield f"  all gates of the spec in {found.runs_with_all_spec_gates} of {found.runs}"
    for text, spread in (
        ("adjusted Rand index of two runs {:.3f} (from {:.3f} to {:.3f})", found.adjusted_rand),
        ("matched centroids are {:.3f} apart (from {:.3f} to {:.3f})", found.matched_distance),
    ):
        if spread is not None:
            yield f"  {text.format(spread.mean, spread.least, spread.largest)}"


def _selectivity_lines(found: SelectivityReport) -> Iterator[str]:
    def told(each: Indices) -> str:
        words = [] if each.mixed is None else [f"mixed selectivity {each.mixed:.2f}"]
        words += [
            f"open on {breadth:.2f} of {found.labels[name]} values of {name}"
            for name, breadth in each.breadth.items()
            if breadth is not None
        ]
        return ", ".join(words) or "open nowhere"

    yield f"selectivity of hidden units at the start, by weight: {told(found.units_at_start)}"
    yield f"selectivity of hidden units at the end, by weight: {told(found.units_at_end)}"
    for each in found.pathways:
        yield f"  {_shown(each.pattern)}: {told(each.of)}"
