"""Gates of trained networks as JSON, for the methods ``kmeans`` and ``windows``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symreln.experiment.metrics import seed_floor
from symreln.gates.activity import TrainedGates
from symreln.gates.enumerate import pattern
from symreln.gates.kmeans import Coverage, FoundGates, Stability
from symreln.gates.selectivity import selectivity, weighted_mean
from symreln.gates.windows import WindowedGates
from symreln.spec.model import PathwaySpec
from symreln.train.weights import LayerWeights

Json = dict[str, Any]


def clusters_json(found: FoundGates) -> list[Json]:
    """Return the clusters: their gates, and where a centroid is no gate."""
    total = found.clustering.weights.sum()
    return [
        {
            "pattern": pattern(gate.astype(int).tolist()),
            "share": float(weight / total),
            "pathway": bool(gate.any()),
            "partial": np.flatnonzero(partial).tolist(),
            "centroid": [round(float(value), 6) for value in centroid],
        }
        for gate, partial, centroid, weight in zip(
            found.gates, found.partial, found.centroids, found.clustering.weights, strict=True
        )
    ]


def criterion_json(clusters: int, given: bool, silhouettes: Mapping[int, float]) -> Json:
    """Return how the number of clusters was chosen."""
    return {
        "clusters": clusters,
        "criterion": "given" if given else "largest mean silhouette",
        "silhouettes": {str(count): score for count, score in silhouettes.items()},
    }


def windows_json(windowed: WindowedGates, errors: Mapping[int, float]) -> Json:
    """Return the windows, their clusters, and how their number was chosen."""
    return {
        "windows": len(windowed.looks),
        "windows_criterion": "least replay error" if errors else "given",
        "replay_errors": {str(count): error for count, error in errors.items()},
        "pieces": [
            {"from_step": start, "clusters": clusters_json(found)}
            for start, found in zip(windowed.starts, windowed.found, strict=True)
        ],
    }


def stability_json(found: Stability, wanted: np.ndarray) -> Json:
    """Return how alike runs are, and how many of them found the gates of the spec.

    Args:
        found: The runs.
        wanted: Gates of the spec, truth values, shape (G, P).
    """
    counts = Counter(len(run.centroids) for run in found.runs)
    result: Json = {
        "runs": len(found.runs),
        "clusters": {str(count): times for count, times in sorted(counts.items())},
        "pathways": dict(sorted(Counter(str(len(run.pathways)) for run in found.runs).items())),
        "adjusted_rand": _spread(found.rand),
        "matched_distance": _spread(found.distances),
    }
    if len(wanted):
        hits = found.finds(wanted)
        result["runs_with_all_spec_gates"] = int(hits.all(axis=1).sum())
        result["runs_with_spec_gate"] = hits.sum(axis=0).tolist()
    return result


def _spread(values: Sequence[float]) -> Json | None:
    if not values:
        return None
    return {"mean": float(np.mean(values)), "least": min(values), "largest": max(values)}


def wanted_gates(pathways: Sequence[PathwaySpec]) -> tuple[list[str], np.ndarray]:
    """Return the names and gates of a spec's pathways that have no gains, shape (G, P)."""
    plain = [each for each in pathways if not each.has_gains]
    samples = len(pathways[0].gate)
    gates = np.array([each.gate for each in plain], dtype=bool).reshape(len(plain), samples)
    return [each.name for each in plain], gates


def spec_gates_json(names: Sequence[str], wanted: np.ndarray, gates: np.ndarray) -> list[Json]:
    """Return for each gate of the spec which found gate is nearest, and on how many samples not."""
    result = []
    for name, gate in zip(names, wanted, strict=True):
        apart = (gates != gate).sum(axis=1)
        nearest = gates[int(apart.argmin())].astype(int).tolist()
        result.append(
            {
                "name": name,
                "pattern": pattern(gate.astype(int).tolist()),
                "found": bool(apart.min() == 0),
                "nearest": pattern(nearest),
                "samples_apart": int(apart.min()),
            }
        )
    return result


def coverage_json(steps: Sequence[int], found: Coverage) -> Json:
    """Return what part of the networks' weight the gates account for, look by look."""
    return {
        "steps": list(steps),
        "exact": found.exact.tolist(),
        "agreement": found.agreement.tolist(),
        "patterns": found.patterns.tolist(),
        "mean_exact": float(found.exact.mean()),
        "mean_agreement": float(found.agreement.mean()),
    }


def replay_json(trained: TrainedGates, errors: Mapping[str, np.ndarray]) -> Json:
    """Return errors of replays, and how far the networks are from each other.

    Args:
        trained: All networks, from which the seed floor is taken.
        errors: max |ΔL|/L(0) of each network that was replayed, by what was replayed.
    """
    floor = seed_floor(trained.losses)
    return {
        "metric": "max |dL|/L(0) against the same network",
        "seed_floor": None if floor is None else floor.mean.max_abs_over_initial,
        "errors": {
            name: {"mean": float(each.mean()), "each": each.tolist()}
            for name, each in errors.items()
        },
    }


def selectivity_json(
    trained: TrainedGates, labels: Mapping[str, Sequence[object]], gates: np.ndarray
) -> Json | None:
    """Return the selectivity of hidden units at the start and the end, and of gates.

    Args:
        trained: The networks.
        labels: Labels of the samples.
        gates: Truth values, shape (G, P).

    Returns:
        None where no label groups the samples.
    """
    found = selectivity(gates, labels)
    if not found.values:
        return None
    return {
        "labels": found.values,
        "units_at_start": _units(trained, trained.initial, labels),
        "units_at_end": _units(trained, trained.last, labels),
        "pathways": [
            {
                "pattern": pattern(gate.astype(int).tolist()),
                "mixed": None if found.mixed is None else _known(found.mixed[place]),
                "explained": {name: _known(v[place]) for name, v in found.explained.items()},
                "breadth": {name: _known(v[place]) for name, v in found.breadth.items()},
            }
            for place, gate in enumerate(gates)
        ],
    }


def _units(
    trained: TrainedGates, layer: LayerWeights, labels: Mapping[str, Sequence[object]]
) -> Json:
    responses = np.maximum(layer.w1 @ trained.inputs, 0.0)
    weights = np.linalg.norm(layer.w1, axis=2) * np.linalg.norm(layer.w2, axis=1)
    found = selectivity(responses.reshape(-1, responses.shape[-1]), labels)
    flat = weights.ravel()
    return {
        "mixed": None if found.mixed is None else weighted_mean(found.mixed, flat),
        "explained": {name: weighted_mean(v, flat) for name, v in found.explained.items()},
        "breadth": {name: weighted_mean(v, flat) for name, v in found.breadth.items()},
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
