r"""How selective hidden units, and pathways, are for the labels of the samples.

Of a response r_μ ≥ 0 (a unit's activity, or a gate) and a label with values v:

* explained: the share of the response's variance over samples that lies between the means of the
  label's values, the correlation ratio η² (Fisher). 1: the response depends on this label alone.
* mixed: 1 − the largest η² of all labels: what no single label explains, so what depends on several
  together. 0 is pure selectivity. It needs two labels.
* breadth: the effective number of values that the response goes to, (Σ_v m_v)² / Σ_v m_v² for the
  means m_v (a participation ratio). For the contexts of the contextual task 1 is strictly modular,
  their number is a response to all alike, and the paper's structured mixed selectivity, a response
  in all contexts but one, lies between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symreln.base.records import record
from symreln.gating.enumerate import pattern
from symreln.gating.observed import ObservedNetworks
from symreln.train.weights import LayerWeights


@record(eq=False)
class _Selectivity:
    """Indices of responses, NaN where a response does not vary (or is nowhere).

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


def selectivity(responses: np.ndarray, labels: Mapping[str, Sequence[object]]) -> _Selectivity:
    """Return the indices of responses.

    Args:
        responses: Not negative, shape (N, P).
        labels: Values by label, P each. Those with one value, or with one a sample, tell samples
            apart not at all or entirely, so they say nothing and are left out.

    Example:
        >>> found = selectivity(np.array([[1.0, 1.0, 0.0, 0.0]]), {"context": [1, 1, 2, 2]})
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


def selectivity_report(
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
    found = selectivity(gates, labels)
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
    return selectivity(responses.reshape(-1, responses.shape[-1]), labels).mean(weights.ravel())
