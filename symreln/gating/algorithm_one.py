"""Gates that trained networks show: ``symreln gates --method kmeans``, Algorithm 1 of the paper.

Source: [Jarvis2025]. Sample which units are open on which samples through training, stack the
samples as rows, K-means, threshold the centroids. The number of clusters is the one with the
largest mean silhouette, or given. A row in which no unit is open is a row as any other; its cluster
is no pathway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.gating.clustering import (
    NEAR,
    Clustering,
    GateCluster,
    GateRows,
    distinct_rows,
    kmeans,
    silhouette,
)
from symreln.gating.enumerate import pattern
from symreln.gating.found_pathways import gate_pathway
from symreln.gating.observed import (
    ObservedNetworks,
    check_alive,
    disagreement,
    observe,
    sample_steps,
    shares_of,
)
from symreln.gating.replay import (
    METRIC,
    ReplayErrors,
    schedule_errors,
    seed_distance,
    static_schedule,
)
from symreln.gating.samples import check_samples
from symreln.gating.serialise import GATES, Result
from symreln.networks.pathway import PathwaySpec
from symreln.specs.finding import counted
from symreln.specs.spec import Spec
from symreln.train.weights import LayerWeights


@record(eq=False)
class _Selectivity:
    """How selective units, and pathways, are for labels of samples, NaN where nothing varies.

    Of a response r_μ ≥ 0 (a unit's activity, or a gate) and a label with values v:

    * explained: the share of the response's variance over samples between the means of the label's
      values, the correlation ratio η² (Fisher). 1: it depends on this label alone.
    * mixed: 1 − the largest η² of all labels: what depends on several together.
    * breadth: the effective number of values that the response goes to, (Σ_v m_v)² / Σ_v m_v² for
      the means m_v. For the contexts of the contextual task 1 is strictly modular, their number a
      response to all alike; the paper's structured mixed selectivity lies between.

    Attributes:
        explained: η² by label, each of shape (N,).
        breadth: Effective number of values by label, each of shape (N,).
        values: How many values each label has.
        mixed: 1 − the largest η², shape (N,); None where there are fewer than two labels.
    """

    explained: dict[str, np.ndarray]
    breadth: dict[str, np.ndarray]
    values: dict[str, int]
    mixed: np.ndarray | None

    def mean(self, weights: np.ndarray) -> dict[str, Any]:
        """Return the indices' means over responses by weight; None where none is known."""

        def of(values: np.ndarray | None) -> float | None:
            if values is None:
                return None
            known = np.isfinite(values) & (weights > 0)
            return float(np.average(values[known], weights=weights[known])) if known.any() else None

        found: dict[str, Any] = {"mixed": of(self.mixed)}
        for name in ("explained", "breadth"):
            found[name] = {label: of(each) for label, each in getattr(self, name).items()}
        return found


def _selectivity(responses: np.ndarray, labels: Mapping[str, Sequence[object]]) -> _Selectivity:
    """Return the indices of responses.

    Args:
        responses: Not negative, shape (N, P).
        labels: Values by label, P each. Those with one value, or with one a sample, tell samples
            apart not at all or entirely, so they say nothing and are left out.

    Example:
        >>> found = _selectivity(np.array([[1.0, 1.0, 0.0, 0.0]]), {"context": [1, 1, 2, 2]})
        >>> found.explained["context"], found.breadth["context"]
        (array([1.]), array([1.]))
    """
    responses = np.asarray(responses, dtype=float)
    explained, breadth, values = {}, {}, {}
    for name, listed in labels.items():
        distinct = list(dict.fromkeys(listed))
        if 1 < len(distinct) < len(listed):
            group = np.array([distinct.index(value) for value in listed])
            explained[name], breadth[name] = _indices(responses, group)
            values[name] = len(distinct)
    mixed = 1 - np.max(list(explained.values()), axis=0) if len(explained) > 1 else None
    return _Selectivity(explained=explained, breadth=breadth, values=values, mixed=mixed)


def _indices(responses: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    belongs = np.eye(group.max() + 1)[group]
    sizes = belongs.sum(axis=0)
    means = responses @ belongs / sizes
    mean = responses.mean(axis=1, keepdims=True)
    spread = ((responses - mean) ** 2).sum(axis=1)
    between = (sizes * (means - mean) ** 2).sum(axis=1)
    squares = (means**2).sum(axis=1)
    # Rounding leaves a constant response a spread of 1e-32 times its square: no variance.
    varies = spread > 1e-24 * (responses**2).sum(axis=1)
    explained = np.where(varies, between / np.where(varies, spread, 1.0), np.nan)
    total = means.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1)
    return np.clip(explained, None, 1.0), np.where(squares > 0, total, np.nan)


def _selectivity_report(
    trained: ObservedNetworks, labels: Mapping[str, Sequence[object]], gates: np.ndarray
) -> dict[str, Any] | None:
    """Return the selectivity of networks and gates, None where no label groups the samples.

    Args:
        trained: The networks.
        labels: Labels of the samples.
        gates: Truth values, shape (G, P).

    Returns:
        How many values each label has; indices of hidden units at the start and at the end, means
        by weight; and of each gate.
    """
    found = _selectivity(gates, labels)
    if not found.values:
        return None
    return {
        "labels": found.values,
        "units_at_start": _units(trained, trained.initial, labels),
        "units_at_end": _units(trained, trained.last, labels),
        "pathways": [
            {"pattern": pattern(gate), **found.mean(np.eye(len(gates))[place])}
            for place, gate in enumerate(gates)
        ],
    }


def _units(
    trained: ObservedNetworks, layer: LayerWeights, labels: Mapping[str, Sequence[object]]
) -> dict[str, Any]:
    responses = np.maximum(layer.w1 @ trained.inputs, 0.0)
    weights = np.linalg.norm(layer.w1, axis=2) * np.linalg.norm(layer.w2, axis=1)
    return _selectivity(responses.reshape(-1, responses.shape[-1]), labels).mean(weights.ravel())


#: Further networks, not clustered, on which gates are replayed.
_REPLAYED = 2
#: Clusters that are tried where their number is not given: these, and more until the last few are
#: no better than the best, but never more than the most.
_USUAL_CLUSTERS, _NO_BETTER, _MOST_CLUSTERS = 10, 3, 40
#: Samples of a gate that are written out; of more, only how many are open.
_SHOWN = 64
#: Clusters and pathways that are shown, and numbers of clusters whose scores are, the best.
_SHOWN_CLUSTERS, _SHOWN_SCORES = 20, 5


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


@record
class _Stability(Result):
    """What independent runs of Algorithm 1 find.

    Attributes:
        runs: How many.
        clusters: How many runs took each number of clusters.
        runs_with_all_spec_gates: In how many runs all wanted gates are; None without any.
    """

    JSON = ("*", "runs_with_all_spec_gates?")
    runs: int
    clusters: dict[int, int]
    runs_with_all_spec_gates: int | None

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        sizes = ", ".join(f"K = {count} in {times}" for count, times in self.clusters.items())
        yield f"{self.runs} runs, each alone: {sizes}"
        if self.runs_with_all_spec_gates is not None:
            yield f"  all gates of the spec in {self.runs_with_all_spec_gates} of {self.runs}"


@record(eq=False)
class _Coverage(Result):
    """What part of the networks' weight ‖w1‖ ‖w2‖ gates account for, at each look.

    Attributes:
        updates: Of the looks, shape (T,).
        exact: Share of units whose own gate is one of them, shape (T,).
        agreement: Share of a unit's samples on which its own gate agrees with the nearest of
            them, shape (T,).
        patterns: Different patterns with an open sample, in the mean over networks, shape (T,).
    """

    JSON = ("*", "steps=updates", "mean_exact", "mean_agreement")
    updates: tuple[int, ...]
    exact: np.ndarray
    agreement: np.ndarray
    patterns: np.ndarray

    @property
    def mean_exact(self) -> float:
        """Mean over looks."""
        return float(self.exact.mean())

    @property
    def mean_agreement(self) -> float:
        """Mean over looks."""
        return float(self.agreement.mean())

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield (
            f"of the units' weight, {100 * self.exact[-1]:.1f} % has exactly one of these gates "
            f"at the last look ({100 * self.mean_exact:.1f} % in the mean over looks)"
        )
        yield (
            f"a unit agrees with its nearest gate on {100 * self.agreement[-1]:.1f} % of the "
            f"samples at the last look ({100 * self.mean_agreement:.1f} %)"
        )


@record(eq=False)
class _NetworkGates(Result):
    """Gates of trained networks, and what is said of them.

    Attributes:
        method: The method's name.
        networks: Which networks.
        clusters: K.
        criterion: How K was chosen.
        silhouettes: Mean silhouette by number of clusters, of those tried.
        centroids: The clusters.
        spec_gates: What became of the spec's own gates.
        stability: What several runs find, each on one network; None of a single network.
        coverage: What part of the weight the gates account for.
        errors: Errors of replays on networks that were not clustered, by what was replayed.
        seed_floor: How far networks are from each other.
        selectivity: Of units and gates, None where no label groups the samples.
        pathways: Of a spec with these gates.
    """

    JSON = ("format", "*", "stability?", "replay", "selectivity")
    file, format = "gates.json", GATES
    method: str
    networks: _Networks
    clusters: int
    criterion: str
    silhouettes: dict[int, float]
    centroids: tuple[GateCluster, ...]
    spec_gates: list[_SpecGate]
    stability: _Stability | None
    coverage: _Coverage
    errors: dict[str, ReplayErrors] = field(metadata={"prose": True})
    seed_floor: float | None = field(metadata={"prose": True})
    selectivity: dict[str, Any] | None
    pathways: list[PathwaySpec] = field(metadata={"prose": True})

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
        yield from map(_cluster_line, self.centroids[:_SHOWN_CLUSTERS])
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


def network_gates(
    spec: Spec,
    *,
    rng: int = 0,
    clusters: int | None = None,
    every: int = 100,
    seeds: int = 20,
) -> _NetworkGates:
    """Train, look, cluster, replay.

    Args:
        spec: Without free parameters.
        rng: Seed of everything.
        clusters: K, or None to choose it.
        every: Updates between two looks.
        seeds: Networks that are clustered.

    Raises:
        InputError: See :func:`symreln.gating.confronted.observe`; or no unit is open anywhere, or
            there are fewer patterns than clusters.
    """
    looks = sample_steps(network_of(spec).steps, every)
    check_samples(spec.dataset)
    trained = observe(spec, seeds=seeds + _REPLAYED, steps=looks, rng=rng)
    with phase("clustering and replaying"):
        clustered, held = trained.networks(0, seeds), trained.networks(seeds, trained.seeds)
        found, silhouettes = _algorithm_one(clustered, clusters, rng)
        wanted = _wanted(spec)
        alone = [
            _algorithm_one(clustered.networks(start, start + 1), clusters, rng)[0]
            for start in range(seeds if seeds > 1 else 0)
        ]
        return _NetworkGates(
            method="kmeans",
            networks=_Networks(
                seeds=seeds,
                replayed=_REPLAYED,
                hidden=trained.settings.hidden,
                looks=len(looks),
                every=every,
                rng=rng,
            ),
            clusters=len(found.centroids),
            criterion="largest mean silhouette" if clusters is None else "given",
            silhouettes=silhouettes,
            centroids=found.clusters,
            spec_gates=[_spec_gate(*each, found.gates) for each in wanted.items()],
            stability=_stability(alone, list(wanted.values())) if alone else None,
            coverage=_coverage(clustered, found.pathways),
            errors={"algorithm 1": schedule_errors(held, static_schedule(held, found))},
            seed_floor=seed_distance(trained.losses),
            selectivity=_selectivity_report(clustered, spec.dataset.labels, found.pathways),
            pathways=[
                gate_pathway(spec.dataset, 2 * gate.astype(int) - 1, f"gate_{number}")
                for number, gate in enumerate(found.pathways, start=1)
            ],
        )


def _algorithm_one(
    trained: ObservedNetworks, clusters: int | None, rng: int
) -> tuple[Clustering, dict[int, float]]:
    """Run Algorithm 1 on networks that were trained and sampled.

    Returns:
        The clusters; the mean silhouette by number of clusters, of those tried.

    Raises:
        InputError: No unit is open anywhere, or there are fewer patterns than clusters.
    """
    check_alive(trained)
    rows = distinct_rows(trained.active.reshape(-1, trained.active.shape[-1]))
    return _chosen(rows, rng) if clusters is None else (kmeans(rows, clusters, rng), {})


def _chosen(rows: GateRows, rng: int) -> tuple[Clustering, dict[int, float]]:
    """Cluster rows with as many clusters as the mean silhouette prefers."""
    most = min(_MOST_CLUSTERS, len(rows.values))
    scores: dict[int, float] = {}
    best: Clustering | None = None
    for count in range(min(2, most), most + 1):
        if best is not None and count > max(_USUAL_CLUSTERS, len(best.centroids) + _NO_BETTER):
            break
        tried = kmeans(rows, count, rng)
        scores[count] = silhouette(tried, rng)
        if best is None or scores[count] > scores[len(best.centroids)]:
            best = tried
    assert best is not None
    return best, scores


def _stability(runs: Sequence[Clustering], wanted: Sequence[np.ndarray]) -> _Stability:
    """Compare runs with each other.

    Args:
        runs: One entry a run.
        wanted: Gates that are looked for, truth values, shape (P,).
    """
    hits = [all((run.gates == gate).all(axis=1).any() for gate in wanted) for run in runs]
    return _Stability(
        runs=len(runs),
        clusters=dict(sorted(Counter(len(run.centroids) for run in runs).items())),
        runs_with_all_spec_gates=sum(hits) if len(wanted) else None,
    )


def _coverage(trained: ObservedNetworks, gates: np.ndarray) -> _Coverage:
    """Compare every unit's own gate with the nearest of some gates, shape (G, P)."""
    rows = []
    for look in range(len(trained.steps)):
        own, shares = trained.active[:, look], shares_of(trained.weights[:, look])
        apart = disagreement(own.astype(float), 1.0, 2 * gates.astype(int) - 1)
        apart = apart.min(axis=-1, initial=own.shape[-1])
        exact = ((apart == 0) * shares).sum(axis=1).mean()
        near = ((1 - apart / own.shape[-1]) * shares).sum(axis=1).mean()
        packed = np.packbits(own, axis=-1)
        count = np.mean([len(np.unique(bits[bits.any(axis=1)], axis=0)) for bits in packed])
        rows.append((exact, near, count))
    exact, agreement, patterns = np.array(rows).T
    return _Coverage(updates=trained.steps, exact=exact, agreement=agreement, patterns=patterns)


def _wanted(spec: Spec) -> dict[str, np.ndarray]:
    """Return the gates of the spec's pathways that have no gains, by name."""
    plain = (each for each in spec.pathways if not each.has_gains)
    return {each.name: np.array(each.gate, dtype=bool) for each in plain}


def _spec_gate(name: str, gate: np.ndarray, found: np.ndarray) -> _SpecGate:
    """Return what became of a gate of the spec among those found, shape (G, P)."""
    apart = (found != gate).sum(axis=1)
    least, near = int(apart.min()), found[int(apart.argmin())]
    return _SpecGate(name, pattern(gate), least == 0, pattern(near), least)


# -- what the terminal shows -----------------------------------------------------------------------


def _choice(found: _NetworkGates) -> str:
    how = found.criterion
    if found.silhouettes:
        best = sorted(found.silhouettes.items(), key=lambda each: -each[1])[:_SHOWN_SCORES]
        scores = ", ".join(f"{count}: {score:.3f}" for count, score in best)
        more = ", …" if len(best) < len(found.silhouettes) else ""
        how += f" ({scores}{more})"
        if found.clusters == _MOST_CLUSTERS:
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
