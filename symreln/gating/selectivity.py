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

import numpy as np

from symreln.base.records import record
from symreln.base.summaries import short_repr
from symreln.gating.enumerate import pattern
from symreln.gating.observed import ObservedNetworks
from symreln.gating.serialise import Result
from symreln.train.weights import LayerWeights


@short_repr(eq=False)
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

    def summed(self, places: int | slice, weights: np.ndarray | None = None) -> Indices:
        """Return the indices of one response, or the mean by weight of several."""

        def mean(values: np.ndarray) -> float | None:
            chosen = np.atleast_1d(values[places])
            return _weighted_mean(chosen, np.ones(len(chosen)) if weights is None else weights)

        return Indices(
            mixed=None if self.mixed is None else mean(self.mixed),
            explained={name: mean(each) for name, each in self.explained.items()},
            breadth={name: mean(each) for name, each in self.breadth.items()},
        )


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
        if not 1 < len(distinct) < len(listed):
            continue
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
    breadth = np.where(
        squares > 0, means.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1), np.nan
    )
    return np.clip(explained, None, 1.0), breadth


@record
class Indices:
    """Indices of one response, or their mean; None where they are not known.

    Attributes:
        mixed: 1 − the largest η²; None also where there are fewer than two labels.
        explained: η² by label.
        breadth: Effective number of values by label.
    """

    mixed: float | None
    explained: dict[str, float | None]
    breadth: dict[str, float | None]


@record
class _PathwayIndices(Result):
    """Indices of a gate.

    Attributes:
        pattern: The gate, 0 or 1 a sample.
        of: Its indices.
    """

    JSON = ("pattern", "mixed=of.mixed", "explained=of.explained", "breadth=of.breadth")
    pattern: str
    of: Indices


@record(kw_only=False)
class SelectivityReport:
    """Selectivity of hidden units at the start and the end of training, and of gates.

    Attributes:
        labels: How many values each label has.
        units_at_start: Of hidden units at the start, the mean by weight.
        units_at_end: Likewise at the end.
        pathways: Of gates.
    """

    labels: dict[str, int]
    units_at_start: Indices
    units_at_end: Indices
    pathways: tuple[_PathwayIndices, ...]


def selectivity_report(
    trained: ObservedNetworks, labels: Mapping[str, Sequence[object]], gates: np.ndarray
) -> SelectivityReport | None:
    """Return the selectivity of networks and gates, None where no label groups the samples.

    Args:
        trained: The networks.
        labels: Labels of the samples.
        gates: Truth values, shape (G, P).
    """
    found = selectivity(gates, labels)
    if not found.values:
        return None
    return SelectivityReport(
        found.values,
        _units(trained, trained.initial, labels),
        _units(trained, trained.last, labels),
        tuple(
            _PathwayIndices(pattern=pattern(gate), of=found.summed(place))
            for place, gate in enumerate(gates)
        ),
    )


def _units(
    trained: ObservedNetworks, layer: LayerWeights, labels: Mapping[str, Sequence[object]]
) -> Indices:
    responses = np.maximum(layer.w1 @ trained.inputs, 0.0)
    weights = np.linalg.norm(layer.w1, axis=2) * np.linalg.norm(layer.w2, axis=1)
    found = selectivity(responses.reshape(-1, responses.shape[-1]), labels)
    return found.summed(slice(None), weights.ravel())


def _weighted_mean(values: np.ndarray, weights: np.ndarray) -> float | None:
    """Return the mean by weight of the values that are known; None where none has weight."""
    known = np.isfinite(values) & (weights > 0)
    return float(np.average(values[known], weights=weights[known])) if known.any() else None
