"""What is kept of a training run, reduced while it runs: never all weights at all steps."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.train.assignment import nearest_outputs
from symreln.train.network import LayerWeights

Observer = Callable[[int, Any], np.ndarray]
"""Step and weights (one entry a pathway or an edge) → array with a leading axis of seeds.

Called at snapshot steps only; the weights are copies.
"""

Quantity = Literal[
    "activity", "boundary", "contribution", "maps", "gate_maps", "outputs", "similarity"
]

#: Cosine between w1_h and a sample below which the sample is on the unit's boundary.
BOUNDARY = 1e-3


@short_repr
@dataclass(frozen=True, kw_only=True)
class Recording:
    r"""Which quantities are kept at which steps. The losses of all steps always are.

    Attributes:
        quantities: Any of

            * ``"activity"``: hidden activity patterns 1[W1 x_μ > 0], bool, (seeds, K, H, P), hidden
              layers one after the other; not of a GDLN, its gates being given;
            * ``"boundary"``: samples on the boundary of each hidden unit of a one-layer network,
              \|w1_h·x_μ\| ≤ ``BOUNDARY`` ‖w1_h‖‖x_μ‖, which training may put on either side of it
              in any step, bool, (seeds, K, H, P);
            * ``"contribution"``: ‖w1_h‖ ‖w2_h‖ of each hidden unit, (seeds, K, H); the pathways of
              a GDLN one after the other;
            * ``"maps"``: O_p W2_p W1_p I_p of each pathway, (seeds, K, pathways, n_y, n_x); for
              the network of ``train_network`` W2 W1, one pathway; for a graph the products along
              its pathways;
            * ``"gate_maps"``: Σ_h w2_h w1_hᵀ over the hidden units of a one-layer network whose
              outputs on the samples each of ``gates`` reproduces best, (seeds, K, G, n_y, n_x);
            * ``"outputs"``: ŷ_μ, (seeds, K, n_y, P);
            * ``"similarity"``: Hᵀ H of what each hidden layer (of a graph: each hidden node) holds
              of the samples, (seeds, K, layers, P, P); the pathways of a GDLN are one layer.
        gates: Shape (G, P), 0 or 1; for ``"gate_maps"``.
        observers: Further quantities by name, each an :data:`Observer`. A function cannot be sent
            to a worker process, so a training with observers runs in this one.
        steps: Snapshot steps, from 0 to steps − 1. None: 24 spread evenly in log(step), and 0.
    """

    quantities: tuple[Quantity, ...] = ()
    gates: Sequence[Sequence[float]] = ()
    observers: Mapping[str, Observer] = field(default_factory=lambda: types.MappingProxyType({}))
    steps: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        gates = tuple(tuple(float(value) for value in gate) for gate in self.gates)
        object.__setattr__(self, "gates", gates)
        unknown = [name for name in self.quantities if name not in get_args(Quantity)]
        if unknown:
            msg = f"record.quantities: {unknown} unknown. Give any of {get_args(Quantity)}."
            raise InputError(msg)
        taken = set(self.quantities) & set(self.observers)
        if taken:
            msg = f"record.observers: {sorted(taken)} are names of quantities. Rename them."
            raise InputError(msg)

    def snapshot_steps(self, total: int) -> tuple[int, ...]:
        """Steps in order; empty where nothing is asked for.

        Raises:
            InputError: A step outside 0 … total − 1.
        """
        if not self.quantities and not self.observers:
            return ()
        if self.steps is None:
            spread = np.geomspace(1, max(total - 1, 1), 24)
            return tuple(sorted({0, *(min(round(s), total - 1) for s in spread)}))
        outside = [step for step in self.steps if not 0 <= step < total]
        if outside or not self.steps:
            msg = (
                f"record.steps: {outside or 'empty'}, with {total} recorded steps. "
                f"Give steps from 0 to {total - 1}."
            )
            raise InputError(msg)
        return tuple(sorted(set(self.steps)))


def activity_observer(inputs: np.ndarray) -> Observer:
    """Observer of 1[W1 x_μ > 0], shape (seeds, H, P), of a one-layer network."""

    def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
        return np.matmul(weights[0].w1, inputs) > 0

    return observe


def boundary_observer(inputs: np.ndarray) -> Observer:
    """Observer of the samples on each unit's boundary, (seeds, H, P), of a one-layer network."""
    sizes = np.linalg.norm(inputs, axis=0)

    def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
        w1 = weights[0].w1
        lengths = np.linalg.norm(w1, axis=2, keepdims=True) * sizes
        return np.abs(np.matmul(w1, inputs)) <= BOUNDARY * lengths

    return observe


def gate_maps_observer(inputs: np.ndarray, gates: Sequence[Sequence[float]]) -> Observer:
    """Observer of the maps of a one-layer network's hidden units, gathered by best gate.

    Raises:
        InputError: No gates, or not one value a sample.
    """
    table = np.asarray(gates, dtype=float)
    samples = inputs.shape[1]
    if table.ndim != 2 or table.shape[1] != samples:
        msg = (
            f"record.gates: shape is {table.shape}. Give at least one gate, "
            f"each with one value a sample (shape (G, {samples}))."
        )
        raise InputError(msg)

    def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
        (layer,) = weights
        index = nearest_outputs(np.matmul(layer.w1, inputs), table)
        maps = [
            np.matmul(layer.w2 * (index == gate)[:, None, :], layer.w1)
            for gate in range(len(table))
        ]
        return np.stack(maps, axis=1)

    return observe


def contribution(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
    """‖w1_h‖ ‖w2_h‖ of each hidden unit, all pathways in order. Shape (seeds, ΣH)."""
    parts = [
        np.linalg.norm(layer.w1, axis=2) * np.linalg.norm(layer.w2, axis=1) for layer in weights
    ]
    return np.concatenate(parts, axis=1)


def maps_observer(
    groups: list[tuple[tuple[int, ...], tuple[int, ...]]], n_x: int, n_y: int
) -> Observer:
    """Observer of each pathway's map, at the size of the whole data.

    Args:
        groups: Inputs and outputs of each pathway.
        n_x: Number of inputs.
        n_y: Number of outputs.
    """

    def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
        maps = np.zeros((len(weights[0].w1), len(groups), n_y, n_x))
        for p, (layer, (inputs, outputs)) in enumerate(zip(weights, groups, strict=True)):
            maps[:, p, np.array(outputs)[:, None], np.array(inputs)] = layer.w2 @ layer.w1
        return maps

    return observe
