"""Gates of trained networks: ``symreln gates --method kmeans`` and ``--method windows``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symreln.base.progress import phase
from symreln.claims.integration import network_of
from symreln.gates.enumerate import pattern
from symreln.gates.finders import FORMAT, GateReport
from symreln.gates.found_gates import (
    MOST_CLUSTERS,
    NEAR,
    Coverage,
    GateCluster,
    Stability,
    WindowedGates,
    algorithm_one,
    coverage,
    stability,
    stacked_rows,
    windowed_gates,
)
from symreln.gates.observed import ObservedNetworks, check_samples, observe, sample_steps
from symreln.gates.replay import (
    GateSchedule,
    ReplayErrors,
    choose_windows,
    own_schedule,
    schedule_errors,
    seed_distance,
    static_schedule,
    window_schedule,
)
from symreln.gates.selectivity import Indices, SelectivityReport, selectivity_report
from symreln.gates.serialise import Result, counted
from symreln.spec.model import Spec

#: Runs where none are given: those of Algorithm 1 are compared with each other.
KMEANS_RUNS, WINDOWS_RUNS = 20, 5
#: Of the clustered networks, how many choose the number of windows.
JUDGES = 2
#: Looks at the networks in windows, for each one of Algorithm 1.
FINER = 5
#: Samples of a gate that are written out; of more, only how many are open.
SHOWN = 64
#: Windows that are shown, evenly among all.
SHOWN_WINDOWS = 8


@dataclass(frozen=True, kw_only=True)
class _Networks:
    """Which networks are trained, and how they are looked at.

    Attributes:
        runs: Runs from other initial weights.
        trainings: Networks of one run.
        replayed: Further networks, not clustered, on which gates are replayed.
        hidden: Their width.
        looks: How often one is looked at.
        every: Updates between two looks.
        rng: Seed of everything.
    """

    runs: int
    trainings: int
    replayed: int
    hidden: int
    looks: int
    every: int
    rng: int

    @property
    def clustered(self) -> int:
        """Networks that are clustered."""
        return self.runs * self.trainings


@dataclass(frozen=True)
class _SpecGate:
    """A gate of the spec, and the nearest one that was found."""

    name: str
    pattern: str
    found: bool
    nearest: str
    samples_apart: int


@dataclass(frozen=True)
class _GateWindow:
    """The clusters of one window, from the first update that is made with them."""

    from_step: int
    clusters: tuple[GateCluster, ...]


@dataclass(frozen=True)
class _Replays:
    """Errors by what was replayed, and how far networks are from each other."""

    metric: str
    seed_floor: float | None
    errors: dict[str, ReplayErrors]


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkGates(Result):
    """Gates of trained networks, and what is said of them.

    Attributes:
        method: "kmeans" or "windows".
        spec: Without free parameters.
        networks: Which networks.
        trained: All of them, those to replay last.
        given: K as it was given, or None.
        found: The gates; those of Algorithm 1 have one window.
        tried: Error of a replay by number of windows, of those tried; None for Algorithm 1.
        finer: Looks for each one of Algorithm 1.
    """

    JSON = (
        *("format", "method", "networks", "clusters=found.clusters", "criterion"),
        *("silhouettes=found.silhouettes", "centroids?", "windows?", "windows_criterion?"),
        *("replay_errors=tried?", "pieces?", "spec_gates", "stability?", "coverage"),
        *("replay?", "selectivity"),
    )
    file, format = "gates.json", FORMAT
    method: str
    spec: Spec
    networks: _Networks
    trained: ObservedNetworks
    given: int | None
    found: WindowedGates
    tried: dict[int, float] | None
    finer: int

    @property
    def clustered(self) -> ObservedNetworks:
        """The networks that were clustered."""
        return self.trained.networks(0, self.networks.clustered)

    @property
    def held(self) -> ObservedNetworks:
        """The networks on which gates are replayed."""
        return self.trained.networks(self.networks.clustered, self.trained.seeds)

    @property
    def criterion(self) -> str:
        """How K was chosen."""
        return "largest mean silhouette" if self.given is None else "given"

    @property
    def centroids(self) -> tuple[GateCluster, ...] | None:
        """The clusters of Algorithm 1."""
        return self.found.found[0].clusters if self.tried is None else None

    @property
    def windows(self) -> int | None:
        """How many windows, None for Algorithm 1."""
        return None if self.tried is None else len(self.found.windows)

    @property
    def windows_criterion(self) -> str | None:
        """How their number was chosen."""
        if self.tried is None:
            return None
        return "least replay error" if self.tried else "given"

    @property
    def pieces(self) -> list[_GateWindow] | None:
        """The clusters window by window, None for Algorithm 1."""
        if self.tried is None:
            return None
        found = (each.clusters for each in self.found.found)
        return [_GateWindow(*each) for each in zip(self.found.starts, found, strict=True)]

    @cached_property
    def wanted(self) -> tuple[list[str], np.ndarray]:
        """Names and gates of the spec's pathways that have no gains, shape (G, P)."""
        plain = [each for each in self.spec.pathways if not each.has_gains]
        gates = np.array([each.gate for each in plain], dtype=bool)
        return [each.name for each in plain], gates.reshape(len(plain), self.spec.dataset.samples)

    @cached_property
    def spec_gates(self) -> list[_SpecGate]:
        """What became of the spec's own gates."""
        gates = np.concatenate([each.gates for each in self.found.found])
        if self.tried is not None:  # a pathway that is closed in a window keeps its gate
            gates = np.unique(gates[gates.any(axis=1)], axis=0)
        result = []
        for name, gate in zip(*self.wanted, strict=True):
            apart = (gates != gate).sum(axis=1)
            least, near = int(apart.min()), gates[int(apart.argmin())]
            result.append(_SpecGate(name, pattern(gate), least == 0, pattern(near), least))
        return result

    @cached_property
    def stability(self) -> Stability | None:
        """How alike several runs of Algorithm 1 are."""
        if self.tried is not None or self.networks.runs == 1:
            return None
        size = self.networks.trainings
        alone = [
            algorithm_one(
                self.trained.networks(start, start + size),
                clusters=self.given,
                rng=self.networks.rng,
            ).found[0]
            for start in range(0, self.networks.clustered, size)
        ]
        return stability(alone, self.found.found[0].rows, self.wanted[1])

    @cached_property
    def coverage(self) -> Coverage:
        """What part of the weight the gates account for."""
        return coverage(self.clustered, list(self.found.by_look))

    @cached_property
    def replay(self) -> _Replays | None:
        """Errors of replays on networks that were not clustered; the seed floor is of all."""
        if not self.networks.replayed:
            return None
        errors = {name: schedule_errors(self.held, each) for name, each in self._schedules()}
        floor = seed_distance(self.trained.losses)
        return _Replays("max |dL|/L(0) against the same network", floor, errors)

    def _schedules(self) -> Iterator[tuple[str, GateSchedule]]:
        """Yield Algorithm 1 and, for windows, the changes to it one after the other."""
        if self.tried is None:
            yield "algorithm 1", static_schedule(self.held, self.found)
            return
        clustered, held, rng = self.clustered, self.held, self.networks.rng
        kept = range(0, len(held.steps), self.finer)
        coarse = clustered.looks(kept)
        # Mean activities in windows may be more than the patterns that Algorithm 1 sees.
        most = len(stacked_rows(coarse).values)
        given = self.given and min(self.given, most)
        found = algorithm_one(coarse, clusters=given, rng=rng)
        yield "algorithm 1", static_schedule(held.looks(kept), found)
        whole = windowed_gates(clustered, windows=1, clusters=self.found.clusters, rng=rng)
        yield "one window", window_schedule(held, whole)
        yield "windows", window_schedule(held, self.found)
        own = own_schedule(held, len(self.found.windows))
        yield "every unit its own gate in each window", own

    @cached_property
    def selectivity(self) -> SelectivityReport | None:
        """Of units and gates, None where no label groups the samples."""
        last = self.found.found[-1].pathways
        return selectivity_report(self.clustered, self.spec.dataset.labels, last)

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        of = self.networks
        yield (
            f"{counted(of.clustered, 'network')} of {counted(of.hidden, 'hidden unit')}, "
            f"{counted(of.looks, 'look')} at each, one every {counted(of.every, 'update')}"
        )
        yield from _choices(self)
        shown = self.pieces or [_GateWindow(0, self.found.found[0].clusters)]
        count, shown = len(shown), shown[:: -(-len(shown) // SHOWN_WINDOWS)]
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
        if self.replay is not None:
            networks = counted(of.replayed, "network")
            yield f"replayed from the initial weights of {networks} not clustered:"
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
    trainings: int = 1,
    runs: int | None = None,
    replays: int = 2,
) -> GateReport:
    """Train, look, cluster, replay.

    Args:
        spec: Without free parameters.
        method: "kmeans", Algorithm 1 of the paper, or "windows".
        rng: Seed of everything.
        clusters: K, or None to choose it.
        windows: Number of windows, or None to choose it.
        every: Updates between two looks of Algorithm 1.
        trainings: Networks of one run.
        runs: Runs with other initial weights; None for the method's own number.
        replays: Further networks, not clustered, on which gates are replayed.

    Raises:
        InputError: See :func:`symreln.gates.observed.observe` and
            :func:`symreln.gates.found_gates.algorithm_one`.
    """
    drifting = method == "windows"
    runs = runs or (WINDOWS_RUNS if drifting else KMEANS_RUNS)
    # The finer looks contain those of Algorithm 1, so that both see the same networks.
    finer = FINER if drifting and every % FINER == 0 else 1
    steps = sample_steps(network_of(spec).steps, every // finer)
    with phase("training") as report:
        check_samples(spec.dataset)
        seeds = runs * trainings + replays
        trained = observe(spec, seeds=seeds, steps=steps, rng=rng, progress=report)
    with phase("clustering and replaying"):
        clustered, tried = trained.networks(0, runs * trainings), None
        if not drifting:
            found = algorithm_one(clustered, clusters=clusters, rng=rng)
        elif windows is None:
            judges = clustered.networks(0, min(JUDGES, clustered.seeds))
            found, tried = choose_windows(clustered, judges, clusters=clusters, rng=rng)
        else:
            found = windowed_gates(clustered, windows=windows, clusters=clusters, rng=rng)
            tried = {}
        result = NetworkGates(
            method=method,
            spec=spec,
            networks=_Networks(
                runs=runs,
                trainings=trainings,
                replayed=replays,
                hidden=trained.settings.hidden,
                looks=len(steps),
                every=every // finer,
                rng=rng,
            ),
            trained=trained,
            given=clusters,
            found=found,
            tried=tried,
            finer=finer,
        )
        result.values()  # computed here, where the phase is named
    pathways, switches = switching_pathways(found)
    if not drifting:  # clusters of one gate are one pathway
        pathways = list(dict.fromkeys(pathways))
    return GateReport(
        record=result,
        stages=[pathways] if pathways else [],
        switches=switches,
        numbered=True,
    )


def switching_pathways(
    windowed: WindowedGates,
) -> tuple[list[tuple[int, ...]], dict[int, list[tuple[int, tuple[int, ...]]]]]:
    """Return pathways whose gates switch from window to window.

    A pathway that is closed everywhere in a window keeps the gate before it; one that never opens
    is none.
    """
    histories: list[list[tuple[int, tuple[int, ...]]]] = []
    for cluster in range(windowed.clusters):
        history: list[tuple[int, tuple[int, ...]]] = []
        for start, found in zip(windowed.starts, windowed.found, strict=True):
            gate = tuple(map(int, found.gates[cluster]))
            if any(gate) and (not history or gate != history[-1][1]):
                history.append((start if history else 0, gate))
        if history:
            histories.append(history)
    pathways = [history[0][1] for history in histories]
    return pathways, {place: own[1:] for place, own in enumerate(histories) if own[1:]}


def _choices(found: NetworkGates) -> Iterator[str]:
    how = found.criterion
    if found.found.silhouettes:
        scores = [f"{count}: {score:.3f}" for count, score in found.found.silhouettes.items()]
        how += f" ({', '.join(scores)})"
        if found.found.clusters == MOST_CLUSTERS:
            how += ", the most that are tried: more may be better"
    yield f"K = {found.found.clusters} clusters: {how}"
    if found.windows is not None:
        why = found.windows_criterion
        if found.tried:
            errors = [f"{n}: {100 * e:.1f} %" for n, e in found.tried.items()]
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
            f"{name}: {breadth:.2f} of {found.labels[name]}"
            for name, breadth in each.breadth.items()
            if breadth is not None
        ]
        return ", ".join(words) or "open nowhere"

    yield f"hidden units at the start, by weight: {told(found.units_at_start)}"
    yield f"hidden units at the end, by weight: {told(found.units_at_end)}"
    for each in found.pathways:
        yield f"  {_shown(each.pattern)}: {told(each.of)}"
