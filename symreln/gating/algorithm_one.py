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
from symreln.base.rounding import percent
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.gating.clustering import Clustering, chosen, distinct_rows, kmeans
from symreln.gating.enumerate import pattern
from symreln.gating.found_pathways import gate_pathway
from symreln.gating.observed import ObservedNetworks, observe, sample_steps
from symreln.gating.replay import METRIC, replay_errors, seed_distance, taken_gates
from symreln.gating.samples import check_samples
from symreln.gating.serialise import GATES, Result
from symreln.networks.nearest_gates import share_with
from symreln.networks.pathway import PathwaySpec
from symreln.specs.finding import counted
from symreln.specs.spec import Spec

#: Further networks, not clustered, on which gates are replayed; clusters at most where their number
#: is not given; and how far from 0 or 1 a centroid's entry is near it.
_REPLAYED, _MOST_CLUSTERS, _NEAR = 2, 40, 0.1
#: Samples of a gate that are written out, of more only how many are open; clusters that are shown,
#: and numbers of clusters whose scores are, the best.
_SHOWN, _SHOWN_CLUSTERS, _SHOWN_SCORES = 64, 20, 5


@record(eq=False)
class _NetworkGates(Result):
    """Gates of trained networks, and what is said of them.

    Attributes:
        networks: How many are clustered, updates between two looks, and the seed of everything.
        silhouettes: Mean silhouette by number of clusters, of those tried; none where it is given.
        centroids: Of each cluster the gate, its share of all rows, the share of its own rows that
            are open on each sample, and the samples where this is near neither 0 nor 1.
        spec_gates: On how many samples each gate of the spec differs from the nearest one found.
        stability: How many runs, each on one network, take each number of clusters, and in how many
            all gates of the spec are found, None where it has none; None of a single network.
        coverage: Share of the networks' weight ‖w1‖ ‖w2‖ that has exactly one of the gates found,
            at each look.
        replay: Errors of replays on networks that were not clustered, and how far networks are from
            each other.
        selectivity: Of units at the start and at the end, and of gates; None where no label groups
            the samples.
        pathways: Of a spec with these gates.
    """

    JSON = ("format", "method", "*", "stability?")
    file, format, method = "gates.json", GATES, "kmeans"
    networks: dict[str, int]
    silhouettes: dict[int, float]
    centroids: list[dict[str, Any]]
    spec_gates: dict[str, int]
    stability: dict[str, Any] | None
    coverage: dict[str, Any]
    replay: dict[str, Any]
    selectivity: dict[str, Any] | None
    pathways: list[PathwaySpec] = field(metadata={"prose": True})

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        seeds, count = self.networks["seeds"], len(self.centroids)
        every = counted(self.networks["every"], "update")
        yield f"{counted(seeds, 'network')}, one look every {every}"
        best = sorted(self.silhouettes.items(), key=lambda each: -each[1])[:_SHOWN_SCORES]
        how = ", ".join(f"{score:.3f} with {tried}" for tried, score in best)
        how = f"mean silhouettes {how}" if best else "as many as were asked for"
        more = "; more may be better" if best and count == _MOST_CLUSTERS else ""
        yield f"{counted(count, 'cluster')}: {how}{more}"
        for each in self.centroids[:_SHOWN_CLUSTERS]:
            partial = counted(len(each["partial"]), "sample")
            yield f"  {_shown(each['pattern'])}  share {each['share']:.3f}, partial on {partial}"
        for name, apart in self.spec_gates.items():
            differs = f"not found, the nearest gate differs on {counted(apart, 'sample')}"
            yield f"{name} of the spec: {differs if apart else 'found'}"
        if self.stability is not None:
            sizes = ", ".join(f"K = {k} in {n}" for k, n in self.stability["clusters"].items())
            hits = self.stability["runs_with_all_spec_gates"]
            found = "" if hits is None else f"; all gates of the spec in {hits} of {seeds}"
            yield f"of {seeds} runs, each alone: {sizes}{found}"
        exact = percent(float(self.coverage["exact"][-1]))
        yield f"of the units' weight, {exact} has exactly one of these gates at the last look"
        error, floor = (percent(self.replay[name]) for name in ("mean", "seed_floor"))
        yield f"replay of {_REPLAYED} other networks: {error} of L(0); other seeds: {floor}"
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
        InputError: See :func:`symreln.gating.observed.observe`; or no unit is open anywhere, or
            there are fewer patterns than clusters.
    """
    looks = sample_steps(network_of(spec).steps, every)
    check_samples(spec.dataset)
    trained = observe(spec, seeds=seeds + _REPLAYED, steps=looks, rng=rng)
    with phase("clustering and replaying"):
        clustered, held = trained.networks(0, seeds), trained.networks(seeds, trained.seeds)
        found, silhouettes = _algorithm_one(clustered, clusters, rng)
        plain = [each for each in spec.pathways if not each.has_gains]
        wanted = np.array([each.gate for each in plain], dtype=bool)
        wanted = wanted.reshape(-1, 1, spec.dataset.samples)
        apart = (found.gates != wanted).sum(axis=2).min(axis=1).tolist()
        alike = [(gate, False) for gate in found.pathways]
        given = taken_gates(held.last.w1 @ held.inputs, found.pathways)
        return _NetworkGates(
            networks={"seeds": seeds, "every": every, "rng": rng},
            silhouettes=silhouettes,
            centroids=_centroids(found),
            spec_gates=dict(zip([each.name for each in plain], apart, strict=True)),
            stability=_stability(clustered, wanted, clusters, rng) if seeds > 1 else None,
            coverage={
                "steps": [*clustered.steps],
                "exact": share_with(clustered.active, clustered.weights, alike).mean(axis=0),
            },
            replay={
                "metric": METRIC,
                "seed_floor": seed_distance(trained.losses),
                **replay_errors(held, {0: given}).values(),
            },
            selectivity=_selectivity(clustered, spec.dataset.labels, found.pathways),
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
    if not trained.active.any():
        msg = (
            f"gates: all {trained.settings.hidden} hidden units of {trained.seeds} networks are "
            "dead: at no look is one of them open on a sample, so they learn nothing. Give more "
            "units (network.hidden), another --rng, or inputs that do not all lie on one side"
        )
        raise InputError(msg)
    rows = distinct_rows(trained.active.reshape(-1, trained.active.shape[-1]))
    return (
        chosen(rows, _MOST_CLUSTERS, rng) if clusters is None else (kmeans(rows, clusters, rng), {})
    )


def _centroids(found: Clustering) -> list[dict[str, Any]]:
    shares = found.weights / found.weights.sum()
    return [
        {
            "pattern": pattern(centroid > 0.5),
            "share": float(share),
            "partial": np.flatnonzero(np.abs(centroid - 0.5) < 0.5 - _NEAR).tolist(),
            "centroid": centroid.round(6).tolist(),
        }
        for centroid, share in zip(found.centroids, shares, strict=True)
    ]


def _stability(
    trained: ObservedNetworks, wanted: np.ndarray, clusters: int | None, rng: int
) -> dict[str, Any]:
    """Run Algorithm 1 on each network alone, and look for gates, shape (G, 1, P)."""
    runs = range(trained.seeds)
    found = [_algorithm_one(trained.networks(k, k + 1), clusters, rng)[0].gates for k in runs]
    hits = sum((gates == wanted).all(axis=2).any(axis=1).all() for gates in found)
    return {
        "runs": len(found),
        "clusters": dict(sorted(Counter(map(len, found)).items())),
        "runs_with_all_spec_gates": int(hits) if len(wanted) else None,
    }


# -- how selective units and gates are for labels --------------------------------------------------


def _selectivity(
    trained: ObservedNetworks, labels: Mapping[str, Sequence[object]], gates: np.ndarray
) -> dict[str, Any] | None:
    """Return how selective units and gates are for the labels of samples.

    Args:
        trained: The networks.
        labels: Labels of the samples. Those with one value, or with one a sample, tell samples
            apart not at all or entirely, so they say nothing and are left out.
        gates: Truth values, shape (G, P).

    Returns:
        How many values each label has; indices of hidden units at the start and at the end, means
        by weight; and of each gate.
    """
    groups = {}
    for name, listed in labels.items():
        values = [*dict.fromkeys(listed)]
        if 1 < len(values) < len(listed):
            groups[name] = np.array([[each == v for v in values] for each in listed], dtype=float)
    if not groups:
        return None
    found: dict[str, Any] = {"labels": {name: len(each.T) for name, each in groups.items()}}
    for when, layer in (("start", trained.initial), ("end", trained.last)):
        responses = np.maximum(layer.w1 @ trained.inputs, 0.0).reshape(-1, len(trained.inputs.T))
        weights = np.linalg.norm(layer.w1, axis=2) * np.linalg.norm(layer.w2, axis=1)
        found[f"units_at_{when}"] = _indices(responses, groups, weights.ravel())
    found["pathways"] = [
        {"pattern": pattern(gate), **_indices(gate[None].astype(float), groups, np.ones(1))}
        for gate in gates
    ]
    return found


def _indices(
    responses: np.ndarray, groups: Mapping[str, np.ndarray], weights: np.ndarray
) -> dict[str, Any]:
    """Return indices of selectivity, means by weight; None where nothing varies.

    Of a response r_μ ≥ 0 (a unit's activity, or a gate) and a label with values v:

    * explained: the share of the response's variance over samples between the means of the label's
      values, the correlation ratio η² (Fisher). 1: it depends on this label alone.
    * mixed: 1 − the largest η² of all labels: what depends on several together.
    * breadth: the effective number of values that the response goes to, (Σ_v m_v)² / Σ_v m_v² for
      the means m_v. For the contexts of the contextual task 1 is strictly modular, their number a
      response to all alike; the paper's structured mixed selectivity lies between.

    Args:
        responses: Not negative, shape (N, P).
        groups: Whether a sample has a value, by label, each of shape (P, values).
        weights: Shape (N,).

    Example:
        >>> context = {"context": np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])}
        >>> _indices(np.array([[1.0, 1.0, 0.0, 0.0]]), context, np.ones(1))
        {'mixed': None, 'explained': {'context': 1.0}, 'breadth': {'context': 1.0}}
    """

    def mean(values: np.ndarray) -> float | None:
        known = np.isfinite(values) & (weights > 0)
        return float(np.average(values[known], weights=weights[known])) if known.any() else None

    middle = responses.mean(axis=1, keepdims=True)
    spread = np.square(responses - middle).sum(axis=1)
    # Rounding leaves a constant response a spread of 1e-32 times its square: no variance.
    spread[spread <= 1e-24 * np.square(responses).sum(axis=1)] = np.nan
    explained, breadth = {}, {}
    for name, belongs in groups.items():
        sizes = belongs.sum(axis=0)
        means = responses @ belongs / sizes
        explained[name] = np.minimum(np.square(means - middle) @ sizes / spread, 1.0)
        with np.errstate(invalid="ignore"):  # 0/0 of what is open nowhere
            breadth[name] = means.sum(axis=1) ** 2 / np.square(means).sum(axis=1)
    return {
        "mixed": mean(1 - np.max([*explained.values()], axis=0)) if len(groups) > 1 else None,
        "explained": {name: mean(each) for name, each in explained.items()},
        "breadth": {name: mean(each) for name, each in breadth.items()},
    }


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


def _shown(gate: str) -> str:
    """Return a gate as 0 and 1 where it is short, else how many samples are open."""
    return gate if len(gate) <= _SHOWN else f"{gate.count('1')} of {len(gate)} open"
