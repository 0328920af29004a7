"""Gradient descent on a network with one hidden layer."""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack, final

import numpy as np

from symreln.train.arrays import AbstractArithmetic, Array, arithmetic_of
from symreln.train.deep import train_deep_network
from symreln.train.gdln import GatedModel
from symreln.train.loop import Running, run_training
from symreln.train.machine import prepared
from symreln.train.model import AbstractState, AbstractTwoLayerModel, curvature_limit
from symreln.train.network import (
    GatedPathway,
    LayerWeights,
    TrainingRun,
    TrainingSettings,
)
from symreln.train.randomness import gaussian_weights, given_weights
from symreln.train.record import (
    Observer,
    Quantity,
    Recording,
    activity_observer,
    boundary_observer,
    contribution,
    gate_maps_observer,
    maps_observer,
)
from symreln.train.representations import rectified_layer, similarity_observer


def train_network(
    inputs: Any,
    targets: Any,
    settings: TrainingSettings,
    *,
    biases: bool = False,
    initial: LayerWeights | None = None,
    **running: Unpack[Running],
) -> TrainingRun:
    """Train a network ŷ = W2 σ(W1 x), σ being ReLU or the identity.

    Each step goes down the gradient of the ``settings.loss``:
    ``sum`` L = 1/2 Σ_μ ‖y_μ − ŷ_μ‖², ``mean`` the same over P. Recorded losses are always the mean
    loss L = 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each update. Weight decay and
    mini-batches: :class:`symreln.train.network.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        settings: Hyper-parameters.
        biases: Whether both layers have biases: a last column of ``w1`` and of ``w2``, which
            starts at 0, is trained, and decays, as the rest.
        initial: Exact initial weights, w1 (seeds, H, n_x) and w2 (seeds, n_y, H), with biases one
            column more.
        **running: Seeds, random streams, what is recorded, processes and memory.

    Raises:
        InputError: Shapes do not fit, or the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.

    Example:
        >>> settings = TrainingSettings(hidden=1, init_std=1.0, learning_rate=0.5, loss="mean",
        ...                             steps=2)
        >>> start = LayerWeights(w1=np.array([[[1.0]]]), w2=np.array([[[0.5]]]))
        >>> run = train_network([[1.0]], [[1.0]], settings, initial=start)
        >>> run.losses  # 1/2 (1 - 0.5)^2, then w1 = 1 + 0.5*0.5*0.5, w2 = 0.5 + 0.5*0.5*1
        array([[0.125     , 0.01220703]])
    """
    if biases:
        return _train_biased(inputs, targets, settings, initial, **running)
    inputs, targets, settings = prepared(inputs, targets, settings)
    model = _model(inputs, targets, settings)
    stds = settings.layer_stds(2)
    return run_training(
        model,
        lambda children: gaussian_weights(children, model.shapes, stds),
        None if initial is None else given_weights([initial], model.shapes),
        settings,
        **running,
    )


def _train_biased(
    inputs: Any,
    targets: Any,
    settings: TrainingSettings,
    initial: LayerWeights | None,
    **running: Unpack[Running],
) -> TrainingRun:
    """Train a deep network of one hidden layer, which draws the same weights."""
    run = train_deep_network(
        inputs,
        targets,
        (settings.hidden,),
        settings,
        biases=True,
        initial=None if initial is None else (initial.w1, initial.w2),
        **running,
    )
    first, second = run.matrices
    return replace(run, weights=(LayerWeights(w1=first, w2=second),), matrices=())


def _model(inputs: Array, targets: Array, settings: TrainingSettings) -> AbstractTwoLayerModel:
    if settings.activation == "relu":
        return ReluModel(inputs, targets, settings)
    whole = GatedPathway(
        name="linear",
        gate=(1.0,) * inputs.shape[1],
        inputs=range(inputs.shape[0]),
        outputs=range(targets.shape[0]),
        hidden=settings.hidden,
    )
    return GatedModel(inputs, targets, (whole,), settings, staged=False)


@final
class ReluModel(AbstractTwoLayerModel):
    """A one-hidden-layer ReLU network and its data."""

    def __init__(self, inputs: Array, targets: Array, settings: TrainingSettings) -> None:
        self._arithmetic = arithmetic_of(inputs, settings.precision)
        self.inputs = self._arithmetic.array(inputs)
        self.targets = self._arithmetic.array(targets)
        self.hidden = settings.hidden
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        settings.check_fits(self.samples)
        self.settings = settings

    @property
    def description(self) -> dict[str, Any]:
        return {"kind": "relu"}

    @property
    def multiplications(self) -> int:
        return self.samples * self.hidden * (2 * self.n_x + 3 * self.n_y)

    @property
    def arithmetic(self) -> AbstractArithmetic:
        return self._arithmetic

    @property
    def shapes(self) -> list[tuple[int, int, int]]:
        return [(self.n_x, self.hidden, self.n_y)]

    @property
    def data_shape(self) -> tuple[int, int, int]:
        return self.n_x, self.n_y, self.samples

    @property
    def working_bytes(self) -> int:
        layers = 2 * self.hidden * (self.n_x + self.n_y)
        # Of mini-batches: the order, the factors, and the factors times the learning rate.
        batches = 0 if self.settings.batch_size is None else 3 * self.samples
        units = 3 * self.hidden + 2 * self.n_y
        return self._arithmetic.item_bytes * (layers + self.samples * units + batches)

    def start(self, weights: tuple[LayerWeights, ...]) -> AbstractState:
        return _ReluState(self, weights[0])

    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        if quantity == "activity":
            return activity_observer(self._arithmetic.numpy(self.inputs))
        if quantity == "boundary":
            return boundary_observer(self._arithmetic.numpy(self.inputs))
        if quantity == "gate_maps":
            return gate_maps_observer(self._arithmetic.numpy(self.inputs), record.gates)
        if quantity == "contribution":
            return contribution
        if quantity == "outputs":
            return self._outputs(self._arithmetic.numpy(self.inputs))
        if quantity == "similarity":
            return similarity_observer(rectified_layer(self._arithmetic.numpy(self.inputs)))
        groups = [(tuple(range(self.n_x)), tuple(range(self.n_y)))]
        return maps_observer(groups, self.n_x, self.n_y)

    @staticmethod
    def _outputs(inputs: np.ndarray) -> Observer:
        def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
            return weights[0].w2 @ np.maximum(weights[0].w1 @ inputs, 0.0)

        return observe

    def stable_learning_rate(self) -> float:
        inputs = self._arithmetic.numpy(self.inputs)
        return curvature_limit(inputs, self._arithmetic.numpy(self.targets), self.settings)


@final
class _ReluState(AbstractState):
    """Samples in rows inside: with W1 stored as (n_x, H), every product meets BLAS as it likes."""

    def __init__(self, model: ReluModel, weights: LayerWeights) -> None:
        do = self.do = model.arithmetic
        seeds, hidden, _ = weights.w1.shape
        n_x, n_y, samples = model.data_shape
        self.samples = samples
        self.rate = model.settings.rate(samples)
        self.kept = 1 - model.settings.decay(samples)
        self.inputs = model.inputs
        self.samples_by_inputs = do.array(do.transpose(model.inputs))
        self.targets = do.array(do.transpose(model.targets))
        self.first = do.array(np.swapaxes(weights.w1, 1, 2))  # (S, n_x, H)
        self.second = do.array(weights.w2)  # (S, n_y, H)
        self.gate = do.buffer(seeds, samples, hidden)
        self.active = do.buffer(seeds, samples, hidden)
        self.residual = do.buffer(seeds, samples, n_y)
        self.scaled = do.buffer(seeds, samples, n_y)
        self.back = do.buffer(seeds, samples, hidden)
        self.step_first = do.step_buffer(seeds, n_x, hidden)
        self.step_second = do.step_buffer(seeds, n_y, hidden)

    def evaluate(self) -> Array:
        do = self.do
        self.active = do.matmul(self.samples_by_inputs, self.first, out=self.active)
        self.active, self.gate = do.rectify(self.active, self.gate)
        self.residual = do.matmul(self.active, do.transpose(self.second), out=self.residual)
        self.residual = do.subtract(self.targets, self.residual, out=self.residual)
        return do.square_sums(self.residual) * (0.5 / self.samples)

    def update(self, factors: Array | None = None) -> None:
        do = self.do
        # The learning rate goes into the residual, the smallest factor of both gradients.
        rate = self.rate if factors is None else do.multiply(factors, self.rate)
        self.scaled = do.multiply(self.residual, rate, out=self.scaled)
        self.back = do.matmul(self.scaled, self.second, out=self.back)
        self.back = do.passed(self.back, self.gate)
        self.second, self.step_second = do.descend(
            self.second, do.transpose(self.scaled), self.active, self.kept, self.step_second
        )
        self.first, self.step_first = do.descend(
            self.first, self.inputs, self.back, self.kept, self.step_first
        )

    def weights(self) -> tuple[LayerWeights, ...]:
        w1 = np.ascontiguousarray(self.do.numpy(self.first).swapaxes(1, 2))
        return (LayerWeights(w1=w1, w2=self.do.numpy(self.second)),)
