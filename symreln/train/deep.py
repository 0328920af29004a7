"""Gradient descent on a network of any number of hidden layers, ReLU or linear.

The same network can be replayed with given gates: a ReLU network with its own gates, recorded
neuron by neuron and step by step, is a gated deep linear network, and
:func:`replay_gates` trains that one.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Unpack, final

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import AbstractArithmetic, Array, arithmetic_of
from symreln.train.batches import batch_keys
from symreln.train.chunk import Chunk, train_chunk
from symreln.train.loop import Running, one_blas_thread, run_training
from symreln.train.machine import prepared
from symreln.train.model import AbstractModel, AbstractState, curvature_limit
from symreln.train.network import EdgeWeights, TrainingRun, TrainingSettings
from symreln.train.randomness import gaussian_matrices, given_matrices, seed_children
from symreln.train.record import Observer, Quantity, Recording
from symreln.train.representations import similarity_observer


def train_deep_network(
    inputs: Any,
    targets: Any,
    widths: Sequence[int],
    settings: TrainingSettings,
    *,
    biases: bool = False,
    initial: Sequence[np.ndarray] | None = None,
    **running: Unpack[Running],
) -> TrainingRun:
    """Train ŷ = W_L σ(W_{L−1} … σ(W_1 x)), σ being ReLU or the identity.

    Losses, weight decay and mini-batches are those of
    :func:`symreln.train.relu.train_network`; with one width it is that network, from the same
    random weights.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        widths: Units of each hidden layer; empty for a single layer of weights.
        settings: Hyper-parameters; ``hidden`` is not used, ``init_std`` is one number or one for
            every layer.
        biases: Whether every layer has a bias: a last column of its weights, which starts at 0,
            is trained, and decays, as the rest.
        initial: Exact initial weights, one array a layer, each of shape (seeds, units, units of
            the layer before), with biases one column more.
        **running: Seeds, random streams, what is recorded, processes and memory.

    Returns:
        The run; its ``matrices`` are the final weights of the layers.

    Raises:
        InputError: Shapes do not fit, or the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.
    """
    inputs, targets, settings = prepared(inputs, targets, settings)
    model = DeepModel(inputs, targets, widths, settings, biases=biases)
    # One stream for all layers, as a pathway has: one hidden layer draws what train_network does.
    inner = [(rows, columns - biases) for rows, columns in model.shapes]
    stds = [settings.layer_stds(len(inner))]
    return run_training(
        model,
        lambda children: gaussian_matrices(children, [inner], stds, biases=biases),
        None if initial is None else given_matrices(initial, model.shapes),
        settings,
        **running,
    )


def replay_gates(
    inputs: Any,
    targets: Any,
    gates: np.ndarray,
    settings: TrainingSettings,
    initial: Sequence[np.ndarray],
    *,
    biases: bool = False,
    rng: Any = None,
    record: Recording | None = None,
) -> Chunk:
    """Train the gated deep linear network whose gates at every step are given.

    No unit looks at its own sign: layer l holds g_l(step) ∘ (W_l h_{l−1}). With the gates that a
    ReLU network had at its steps this is that network's *rectified linear network*.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        gates: Shape (seeds, steps, ΣH, P), hidden layers one after the other: what
            ``Recording(quantities=("activity",), steps=all)`` keeps.
        settings: Those of the network; ``activation`` is not used.
        initial: Its initial weights, one array a layer.
        biases: Whether the weights hold biases.
        rng: For mini-batches: that of the network.
        record: What to keep besides the losses.

    Raises:
        InputError: Shapes do not fit, or the training diverged.
    """
    inputs, targets, settings = prepared(inputs, targets, settings)
    shapes = [np.shape(matrix)[1:] for matrix in initial]
    widths = [int(shape[0]) for shape in shapes[:-1]]
    model = DeepModel(inputs, targets, widths, settings, biases=biases)
    seeds, source = given_matrices(initial, model.shapes)
    needed = (seeds, settings.steps, sum(widths), model.data_shape[2])
    if np.shape(gates) != needed:
        msg = f"gates: shape is {np.shape(gates)}. Give {needed}: seeds, steps, ΣH, samples."
        raise InputError(msg)
    keys = None if settings.batch_size is None else batch_keys(seed_children(rng, seeds))
    replayed = model.with_gates(np.asarray(gates, dtype=float))
    with one_blas_thread(replayed):
        return train_chunk(
            replayed,
            source(0, seeds),
            settings,
            record or Recording(),
            0,
            lambda done: None,
            keys,
        )


@final
class DeepModel(AbstractModel):
    """A network of any number of hidden layers, and its data."""

    def __init__(
        self,
        inputs: Array,
        targets: Array,
        widths: Sequence[int],
        settings: TrainingSettings,
        *,
        biases: bool = False,
        gates: np.ndarray | None = None,
    ) -> None:
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        self.widths, self.biases = tuple(int(width) for width in widths), biases
        if any(width < 1 for width in self.widths):
            msg = f"widths: found {self.widths}. Give at least 1 unit a hidden layer."
            raise InputError(msg)
        settings.check_fits(self.samples)
        self._arithmetic = arithmetic_of(inputs, settings.precision)
        self.inputs = self._arithmetic.array(inputs)
        self.targets = self._arithmetic.array(targets)
        self.settings, self.gates = settings, gates

    def with_gates(self, gates: np.ndarray) -> DeepModel:
        """The same network with gates that are given, shape (seeds, steps, ΣH, P)."""
        return DeepModel(
            self.inputs,
            self.targets,
            self.widths,
            self.settings,
            biases=self.biases,
            gates=gates,
        )

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape of every layer's weights, with biases as their last column."""
        sizes = (self.n_x, *self.widths, self.n_y)
        return [(after, before + self.biases) for before, after in pairwise(sizes)]

    @property
    def description(self) -> dict[str, Any]:
        return {"kind": "deep", "widths": self.widths, "biases": self.biases}

    @property
    def multiplications(self) -> int:
        return 3 * self.samples * self.weight_count

    @property
    def arithmetic(self) -> AbstractArithmetic:
        return self._arithmetic

    @property
    def hidden_units(self) -> int:
        return sum(self.widths)

    @property
    def hidden_layers(self) -> int:
        return len(self.widths)

    @property
    def weight_count(self) -> int:
        return sum(rows * columns for rows, columns in self.shapes)

    @property
    def map_count(self) -> int:
        return 1

    @property
    def data_shape(self) -> tuple[int, int, int]:
        return self.n_x, self.n_y, self.samples

    @property
    def working_bytes(self) -> int:
        # Of every unit and sample: what it holds, its gate, the signal back.
        units = self.samples * (3 * self.hidden_units + 2 * self.n_y)
        batches = 0 if self.settings.batch_size is None else 3 * self.samples
        return self._arithmetic.item_bytes * (2 * self.weight_count + units + batches)

    def start(self, weights: tuple[EdgeWeights, ...]) -> AbstractState:
        return _DeepState(self, weights)

    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        inputs = self._arithmetic.numpy(self.inputs)
        if quantity == "activity" and self.settings.activation == "relu":
            return lambda step, weights: np.concatenate(
                [held > 0 for held in self._layers(inputs, weights)[:-1]], axis=1
            )
        if quantity == "outputs":
            return lambda step, weights: self._layers(inputs, weights)[-1]
        if quantity == "similarity" and self.widths:
            return similarity_observer(lambda weights: self._layers(inputs, weights)[:-1])
        if quantity == "maps" and self.settings.activation == "linear" and not self.biases:
            return _product
        msg = (
            f"record.quantities: {quantity!r} is not recorded of this network. There are "
            "'outputs', 'similarity' of hidden layers, and 'activity' of ReLU, 'maps' of linear "
            "networks without biases."
        )
        raise InputError(msg)

    def _layers(self, inputs: np.ndarray, weights: tuple[EdgeWeights, ...]) -> list[np.ndarray]:
        """What every hidden layer holds, and the outputs."""
        found, held = [], np.broadcast_to(inputs, (weights[0].seeds, *inputs.shape))
        for place, one in enumerate(weights):
            # As training does, so that a pattern is the gate that it had.
            if self.biases:
                held = np.concatenate([held, np.ones_like(held[:, :1])], axis=1)
            held = one.matrix @ held
            if place + 1 < len(weights) and self.settings.activation == "relu":
                held = held * (held > 0)
            found.append(held)
        return found

    def stable_learning_rate(self) -> float:
        inputs = self._arithmetic.numpy(self.inputs)
        targets = self._arithmetic.numpy(self.targets)
        return curvature_limit(inputs, targets, self.settings, len(self.shapes))


def _product(step: int, weights: tuple[EdgeWeights, ...]) -> np.ndarray:
    found = weights[0].matrix
    for one in weights[1:]:
        found = one.matrix @ found
    return found[:, None]


@final
class _DeepState(AbstractState):
    """Samples in rows inside; weights stored as (units before, units)."""

    def __init__(self, model: DeepModel, weights: tuple[EdgeWeights, ...]) -> None:
        do = self.do = model.arithmetic
        self.samples = model.samples
        self.rate = model.settings.rate(model.samples)
        self.kept = 1 - model.settings.decay(model.samples)
        self.relu, self.given = model.settings.activation == "relu", model.gates
        self.widths, self.step = model.widths, 0
        self.inputs = do.array(do.transpose(model.inputs))
        self.targets = do.array(do.transpose(model.targets))
        turned = [np.swapaxes(one.matrix, 1, 2) for one in weights]
        self.biases = [do.array(layer[:, -1:]) for layer in turned] if model.biases else []
        self.layers = [do.array(layer[:, :-1] if model.biases else layer) for layer in turned]
        seeds, samples = weights[0].seeds, model.samples
        outs = [layer.shape[2] for layer in self.layers]
        self.held = [do.buffer(seeds, samples, width) for width in outs]
        self.gates = [do.buffer(seeds, samples, width) for width in outs[:-1]]
        self.back = [do.buffer(seeds, samples, width) for width in outs[:-1]]
        self.steps = [do.step_buffer(*layer.shape) for layer in self.layers]
        self.scaled = do.buffer(seeds, samples, model.n_y)
        self.ones = do.array(np.ones((1, samples)))

    def evaluate(self) -> Array:
        do, below = self.do, self.inputs
        given = self._given_gates()
        for place in range(len(self.layers)):
            held = do.matmul(below, self.layers[place], out=self.held[place])
            if self.biases:
                held = do.add(held, self.biases[place], out=held)
            if place + 1 < len(self.layers) and given is not None:
                self.gates[place] = given[place]
                held = do.multiply(held, given[place], out=held)
            elif place + 1 < len(self.layers) and self.relu:
                held, self.gates[place] = do.rectify(held, self.gates[place])
            self.held[place] = below = held
        self.residual = do.subtract(self.targets, below, out=self.held[-1])
        self.step += 1
        return do.square_sums(self.residual) * (0.5 / self.samples)

    def _given_gates(self) -> list[Array] | None:
        """The gates of this step, one array (seeds, P, H) a hidden layer."""
        if self.given is None:
            return None
        cuts = np.cumsum((0, *self.widths))
        now = np.swapaxes(self.given[:, self.step], 1, 2)
        return [self.do.array(now[..., a:b]) for a, b in pairwise(cuts)]

    def update(self, factors: Array | None = None) -> None:
        do = self.do
        rate = self.rate if factors is None else do.multiply(factors, self.rate)
        signal = self.scaled = do.multiply(self.residual, rate, out=self.scaled)
        for place in range(len(self.layers) - 1, -1, -1):
            below = self.held[place - 1] if place else self.inputs
            passed = signal
            if place:
                turned = do.transpose(self.layers[place])
                signal = do.matmul(signal, turned, out=self.back[place - 1])
                if self.given is not None:
                    signal = do.multiply(signal, self.gates[place - 1], out=signal)
                elif self.relu:
                    signal = do.passed(signal, self.gates[place - 1])
                self.back[place - 1] = signal
            self._descend(place, below, passed)

    def _descend(self, place: int, below: Array, signal: Array) -> None:
        do = self.do
        turned, kept = do.transpose(below), self.kept
        self.layers[place], self.steps[place] = do.descend(
            self.layers[place], turned, signal, kept, self.steps[place]
        )
        if self.biases:
            self.biases[place], _ = do.descend(self.biases[place], self.ones, signal, kept, None)

    def weights(self) -> tuple[EdgeWeights, ...]:
        layers = [self.do.numpy(layer) for layer in self.layers]
        if self.biases:
            pairs = zip(layers, self.biases, strict=True)
            layers = [np.concatenate([layer, self.do.numpy(b)], axis=1) for layer, b in pairs]
        return tuple(
            EdgeWeights(matrix=np.ascontiguousarray(layer.swapaxes(1, 2))) for layer in layers
        )
