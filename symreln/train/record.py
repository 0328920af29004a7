"""What is kept of a training run, reduced while it runs: never all weights at all steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from symreln.base.records import record
from symreln.networks.nearest_gates import nearest_gates
from symreln.train.network import GatedNetwork, off_boundary, own_inputs
from symreln.train.trained_model import Model
from symreln.train.weights import Weights

Observer = Callable[[int, Weights], np.ndarray]
"""Step and weights (one matrix an edge) → array with a leading axis of seeds.

Called at snapshot steps only; the weights are copies.
"""

_Quantity = Literal["activity", "boundary", "contribution", "maps", "gate_maps", "similarity"]

#: Cosine between w1_h and a sample below which the sample is on the unit's boundary.
_BOUNDARY = 1e-3


@record
class Recording:
    r"""Which quantities are kept at which steps. The losses of all steps always are.

    Attributes:
        quantities: Any of

            * ``"activity"``: which units with ReLU are open on which samples, bool,
              (seeds, K, H, P), hidden layers one after the other;
            * ``"boundary"``: samples on the boundary of each unit of a single hidden layer with
              ReLU, \|w1_h·x_μ\| ≤ ``_BOUNDARY`` ‖w1_h‖‖x_μ‖, which training may put on either side
              of it in any step, bool, (seeds, K, H, P);
            * ``"contribution"``: ‖w1_h‖ ‖w2_h‖ of each hidden unit of pathways with two layers,
              one after the other, (seeds, K, H);
            * ``"maps"``: O_p W_L … W_1 I_p along each path p of a linear network, or of one with a
              single hidden layer, (seeds, K, paths, n_y, n_x);
            * ``"gate_maps"``: Σ_h w2_h w1_hᵀ over the units of a single hidden layer with ReLU
              whose outputs on the samples each of ``gates`` reproduces best,
              (seeds, K, G, n_y, n_x);
            * ``"similarity"``: Hᵀ H of what each hidden layer, all hidden nodes of one depth, holds
              of the samples, H of shape (units, P): units have no names, and a rotation of a layer
              that the next one undoes changes nothing. (seeds, K, layers, P, P).
        gates: Shape (G, P), 0 or 1; for ``"gate_maps"``.
        observers: Further quantities by name, each an :data:`Observer`. A function cannot be sent
            to a worker process, so a training with observers runs in this one.
        steps: Snapshot steps, from 0 to steps − 1. None: 24 spread evenly in log(step), and 0.
    """

    quantities: tuple[_Quantity, ...] = ()
    gates: Sequence[Sequence[float]] = ()
    observers: Mapping[str, Observer] = field(default_factory=dict)
    steps: tuple[int, ...] | None = None

    def snapshot_steps(self, total: int) -> tuple[int, ...]:
        """Steps in order; empty where nothing is asked for."""
        if not self.quantities and not self.observers:
            return ()
        if self.steps is None:
            spread = np.geomspace(1, max(total - 1, 1), 24)
            return tuple(sorted({0, *(min(round(s), total - 1) for s in spread)}))
        return tuple(sorted(set(self.steps)))


def observer_of(model: Model, quantity: _Quantity, record: Recording) -> Observer:
    """Observer of a quantity of a model's network.

    Raises:
        LimitReachedError: The network has too many paths for their maps.
    """
    network = model.network
    inputs = model.arithmetic.numpy(model.inputs)
    if quantity == "contribution":
        return _contribution
    if quantity == "boundary":
        return _boundary_observer(inputs)
    if quantity == "gate_maps":
        return _gate_maps_observer(inputs, record.gates)
    if quantity == "maps":
        return _maps_observer(network, inputs, model.n_y)
    if quantity == "activity":
        active = [node.name for node in network.nodes if node.relu]
        return lambda step, weights: np.concatenate(
            [held > 0 for name, held in _held(network, inputs, weights).items() if name in active],
            axis=1,
        )
    layers = [[node.name for node in layer] for layer in network.hidden_layers]

    def similarity(step: int, weights: Weights) -> np.ndarray:
        nodes = _held(network, inputs, weights)
        held = [np.concatenate([nodes[name] for name in layer], axis=1) for layer in layers]
        return np.stack([layer.swapaxes(-1, -2) @ layer for layer in held], axis=1)

    return similarity


def _contribution(step: int, weights: Weights) -> np.ndarray:
    """‖w1_h‖ ‖w2_h‖ of each hidden unit, all pathways in order; an observer. Shape (seeds, ΣH)."""
    parts = [
        np.linalg.norm(w1, axis=2) * np.linalg.norm(w2, axis=1)
        for w1, w2 in zip(weights[::2], weights[1::2], strict=True)
    ]
    return np.concatenate(parts, axis=1)


def _boundary_observer(inputs: np.ndarray) -> Observer:
    sizes = np.linalg.norm(inputs, axis=0)

    def observe(step: int, weights: Weights) -> np.ndarray:
        lengths = np.linalg.norm(weights[0], axis=2, keepdims=True) * sizes
        return np.abs(np.matmul(weights[0], inputs)) <= _BOUNDARY * lengths

    return observe


def _gate_maps_observer(inputs: np.ndarray, gates: Sequence[Sequence[float]]) -> Observer:
    """Observer of the maps of a single hidden layer's units, gathered by best gate.

    Best as of :func:`symreln.networks.nearest_gates.nearest_gates`.
    """
    table = np.asarray(gates, dtype=float)

    def observe(step: int, weights: Weights) -> np.ndarray:
        w1, w2 = weights
        index = nearest_gates(np.matmul(w1, inputs), table)
        maps = [np.matmul(w2 * (index == gate)[:, None, :], w1) for gate in range(len(table))]
        return np.stack(maps, axis=1)

    return observe


def _maps_observer(network: GatedNetwork, inputs: np.ndarray, n_y: int) -> Observer:
    """Observer of the product of weights along each path, at the size of the whole data."""
    n_x, samples = inputs.shape
    paths = network.paths(samples)

    def observe(step: int, weights: Weights) -> np.ndarray:
        maps = np.zeros((len(weights[0]), len(paths), n_y, n_x))
        for place, path in enumerate(paths):
            product = weights[path[0]]
            for edge in path[1:]:
                product = weights[edge] @ product
            first, last = network.ends[path[0]][0], network.ends[path[-1]][1]
            if first.boundary:  # the map is of what multiplies the samples
                product = product @ off_boundary(first, inputs)
            maps[:, place, np.array(last.outputs)[:, None], np.array(first.inputs)] = product
        return maps

    return observe


def _held(network: GatedNetwork, inputs: np.ndarray, weights: Weights) -> dict[str, np.ndarray]:
    """What every node holds of the samples, each of shape (seeds, size, P).

    Worked out as training does, so that a pattern is the gate that it had.
    """
    seeds, samples = len(weights[0]), inputs.shape[1]
    held: dict[str, np.ndarray] = {}
    for node in network.order:
        here = np.zeros((seeds, node.size, samples))
        if node.inputs:
            here = here + own_inputs(node, inputs)
        for edge, matrix in zip(network.edges, weights, strict=True):
            if edge.target == node.name:
                here = here + matrix @ held[edge.source] * _gains(edge.gate, samples)
        here = here * _gains(node.gate, samples)
        held[node.name] = np.maximum(here, 0.0) if node.relu else here
    return held


def _gains(gate: tuple[float, ...] | None, samples: int) -> np.ndarray:
    return np.ones(samples) if gate is None else np.array(gate)
