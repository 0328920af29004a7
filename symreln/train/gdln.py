"""Gradient descent on a gated deep linear network with one hidden layer a pathway.

A pathway is linear, so its map W2 W1 is formed before it meets the samples: the same gradient as
sample by sample, with fewer products as soon as a gate is open on more samples than there are
inputs. Samples on which a gate is closed take no part in its products.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, Unpack, final

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import AbstractArithmetic, Array, arithmetic_of
from symreln.train.axis import Axis
from symreln.train.graph import GraphModel
from symreln.train.loop import Running, run_training
from symreln.train.machine import prepared
from symreln.train.model import AbstractState, AbstractTwoLayerModel, curvature_limit
from symreln.train.network import (
    GatedPathway,
    LayerWeights,
    TrainingRun,
    TrainingSettings,
    off_boundary,
    own_inputs,
)
from symreln.train.randomness import (
    gaussian_matrices,
    gaussian_weights,
    given_matrices,
    given_weights,
)
from symreln.train.record import Observer, Quantity, Recording, contribution, maps_observer
from symreln.train.representations import gated_layer, similarity_observer
from symreln.train.topology import chain_graph


def train_gdln(
    inputs: Any,
    targets: Any,
    pathways: Sequence[GatedPathway],
    settings: TrainingSettings,
    *,
    training: Literal["joint", "staged"] = "joint",
    biases: bool = False,
    initial: Mapping[str, LayerWeights] | None = None,
    **running: Unpack[Running],
) -> TrainingRun:
    """Train the GDLN ŷ_μ = Σ_p g_p(μ) O_p W2_p W1_p I_p x_μ.

    ``joint``: all pathways go down the gradient of one loss. ``staged``: all pathways start at
    step 0 and train side by side, but those of stage k go down the gradient of the residual that
    stages ≤ k leave, with the outputs of earlier stages as constants in it; they do not see later
    stages. Recorded losses are those of the whole sum over pathways, always the mean loss
    1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each update. Weight decay and
    mini-batches: :class:`symreln.train.network.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        pathways: In any order; each draws its initial weights from a stream of its own place here.
        settings: Hyper-parameters; ``hidden`` and ``activation`` are not used.
        training: ``"joint"`` or ``"staged"``.
        biases: Whether both layers of every pathway have biases, g(μ) O (W2 (W1 I x + b1) + b2):
            a last column of ``w1`` and of ``w2``, which starts at 0, is trained, and decays, as
            the rest.
        initial: Exact initial weights by pathway name, w1 (seeds, H_p, inputs of p) and
            w2 (seeds, outputs of p, H_p), with biases one column more.
        **running: Seeds, random streams, what is recorded, processes and memory.

    Raises:
        InputError: Shapes do not fit, names repeat, or the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.
    """
    inputs, targets, settings = prepared(inputs, targets, settings)
    if training not in ("joint", "staged"):
        msg = f"training: found {training!r}. Give 'joint' or 'staged'."
        raise InputError(msg)
    staged = training == "staged"
    model = GatedModel(inputs, targets, pathways, settings, staged=staged)
    given = None if initial is None else _by_name(initial, pathways)
    stds, spreads = settings.layer_stds(2), [pathway.spread for pathway in model.pathways]
    if biases:
        return _train_biased(model, stds, given, **running)
    return run_training(
        model,
        lambda children: gaussian_weights(children, model.shapes, stds, spreads),
        None if given is None else given_weights(given, model.shapes),
        settings,
        **running,
    )


def _train_biased(
    model: GatedModel,
    stds: tuple[float, ...],
    given: list[LayerWeights] | None,
    **running: Unpack[Running],
) -> TrainingRun:
    """Train the pathways as a graph, whose edges can have biases, from the same weights."""
    graph = chain_graph(model.pathways, 2, gated="outputs")
    biased = GraphModel(
        model.inputs, model.targets, graph, model.settings, staged=model.staged, biases=True
    )
    groups = [((hidden, n_x), (n_y, hidden)) for n_x, hidden, n_y in model.shapes]
    own = [tuple(pathway.spread * std for std in stds) for pathway in model.pathways]
    run = run_training(
        biased,
        lambda children: gaussian_matrices(children, groups, own, biases=True),
        None
        if given is None
        else given_matrices([half for one in given for half in (one.w1, one.w2)], biased.shapes),
        model.settings,
        **running,
    )
    pairs = list(pairwise(run.matrices))[::2]
    return dataclasses.replace(
        run, weights=tuple(LayerWeights(w1=w1, w2=w2) for w1, w2 in pairs), matrices=()
    )


def _by_name(
    initial: Mapping[str, LayerWeights], pathways: Sequence[GatedPathway]
) -> list[LayerWeights]:
    names = [pathway.name for pathway in pathways]
    if set(initial) != set(names):
        msg = f"initial: weights for {sorted(initial)}. Give them for each of {sorted(names)}."
        raise InputError(msg)
    return [initial[name] for name in names]


@final
class GatedModel(AbstractTwoLayerModel):
    """A GDLN and its data."""

    def __init__(
        self,
        inputs: Array,
        targets: Array,
        pathways: Sequence[GatedPathway],
        settings: TrainingSettings,
        *,
        staged: bool,
    ) -> None:
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        self.pathways = tuple(pathways)
        names = [pathway.name for pathway in self.pathways]
        if not names or len(set(names)) != len(names):
            msg = f"pathways: names are {names}. Give at least one pathway, each its own name."
            raise InputError(msg)
        for pathway in self.pathways:
            pathway.check_fits(self.n_x, self.n_y, self.samples)
        self._arithmetic = arithmetic_of(inputs, settings.precision)
        self.inputs = self._arithmetic.array(inputs)
        self.targets = self._arithmetic.array(targets)
        settings.check_fits(self.samples)
        self.settings = settings
        self.staged = staged
        stages = sorted({pathway.stage for pathway in self.pathways}) if staged else [None]
        self.stages = [
            [i for i, pathway in enumerate(self.pathways) if stage in (None, pathway.stage)]
            for stage in stages
        ]

    @property
    def description(self) -> dict[str, Any]:
        described = [dataclasses.asdict(pathway) for pathway in self.pathways]
        return {"kind": "gdln", "pathways": described, "staged": self.staged}

    @property
    def multiplications(self) -> int:
        layers = sum(3 * hidden * n_x * n_y for n_x, hidden, n_y in self.shapes)
        opened = [len(pathway.open_samples) for pathway in self.pathways]
        samples = sum(
            2 * n_x * n_y * p for p, (n_x, _, n_y) in zip(opened, self.shapes, strict=True)
        )
        return layers + samples

    @property
    def arithmetic(self) -> AbstractArithmetic:
        return self._arithmetic

    @property
    def shapes(self) -> list[tuple[int, int, int]]:
        return [(len(p.inputs), p.hidden, len(p.outputs)) for p in self.pathways]

    @property
    def data_shape(self) -> tuple[int, int, int]:
        return self.n_x, self.n_y, self.samples

    @property
    def working_bytes(self) -> int:
        layers = sum(2 * hidden * (n_x + n_y) for n_x, hidden, n_y in self.shapes)
        # Per pathway: its map and gradient map, its outputs, their spread, the cut residual.
        outputs = sum(2 * n_x * n_y + 3 * self.samples * self.n_y for n_x, _, n_y in self.shapes)
        # Of mini-batches: the order, the factors, and a residual times the factors.
        batches = 0 if self.settings.batch_size is None else self.samples * (2 + self.n_y)
        residuals = (1 + len(self.stages)) * self.samples * self.n_y
        return self._arithmetic.item_bytes * (layers + outputs + residuals + batches)

    def start(self, weights: tuple[LayerWeights, ...]) -> AbstractState:
        return _GatedState(self, weights)

    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        if quantity in ("activity", "boundary", "gate_maps"):
            msg = (
                f"record.quantities: {quantity!r} needs activity patterns, which a network with "
                "given gates has not. Leave it out; 'maps' and 'contribution' are there."
            )
            raise InputError(msg)
        if quantity == "contribution":
            return contribution
        if quantity == "similarity":
            return similarity_observer(gated_layer(self._seen()))
        groups = [(tuple(p.inputs), tuple(p.outputs)) for p in self.pathways]
        maps = self._of_samples(maps_observer(groups, self.n_x, self.n_y))
        return maps if quantity == "maps" else self._outputs(maps)

    def _of_samples(self, maps: Observer) -> Observer:
        """Return an observer of what multiplies the samples, where pathways see projected ones."""
        if not any(pathway.boundary for pathway in self.pathways):
            return maps
        inputs = self._arithmetic.numpy(self.inputs)
        projectors = np.stack([np.eye(self.n_x) for _ in self.pathways])
        for projector, pathway in zip(projectors, self.pathways, strict=True):
            own = np.ix_(pathway.inputs, pathway.inputs)
            projector[own] = off_boundary(pathway, inputs)

        def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
            return np.einsum("spyx,pxz->spyz", maps(step, weights), projectors)

        return observe

    def _seen(self) -> list[np.ndarray]:
        """What every pathway sees of the samples, shape (inputs of the pathway, P)."""
        inputs = self._arithmetic.numpy(self.inputs)
        return [own_inputs(p, inputs) * np.array(p.gate) for p in self.pathways]

    def _outputs(self, maps: Observer) -> Observer:
        inputs = self._arithmetic.numpy(self.inputs)
        gates = np.array([pathway.gate for pathway in self.pathways])

        def observe(step: int, weights: tuple[LayerWeights, ...]) -> np.ndarray:
            return np.einsum("spyx,xm,pm->sym", maps(step, weights), inputs, gates, optimize=True)

        return observe

    def stable_learning_rate(self) -> float:
        inputs = self._arithmetic.numpy(self.inputs)
        targets = self._arithmetic.numpy(self.targets)
        # A gate of 0 and 1 only takes samples away; gains change what a pathway has to fit.
        seen = [inputs] + [
            own_inputs(pathway, inputs) * np.array(pathway.gate)
            for pathway in self.pathways
            if not {0.0, 1.0}.issuperset(pathway.gate)
        ]
        return min(curvature_limit(features, targets, self.settings) for features in seen)


@final
class _PathwayState:
    """Weights and buffers of one pathway; W1 stored as (n_x, H), maps as (n_x, n_y)."""

    def __init__(
        self, model: GatedModel, pathway: GatedPathway, weights: LayerWeights, seeds: int
    ) -> None:
        do = self.do = model.arithmetic
        n_x, n_y, hidden = len(pathway.inputs), len(pathway.outputs), pathway.hidden
        self.rate = model.settings.rate(model.samples)
        self.kept = 1 - model.settings.decay(model.samples)
        self.rows = Axis(do, pathway.open_samples, model.samples, -2)
        self.columns = Axis(do, pathway.outputs, model.n_y, -1)
        effective = do.take(model.inputs, do.index(pathway.inputs), 0)
        if pathway.boundary:
            effective = do.array(own_inputs(pathway, do.numpy(model.inputs)))
        effective = do.take(effective, do.index(pathway.open_samples), 1)
        gains = np.array([pathway.gate[sample] for sample in pathway.open_samples])
        if (gains != 1).any():
            # g(μ) W x_μ = W (g(μ) x_μ): the gain is part of what the pathway sees.
            effective = do.multiply(effective, do.array(gains[None, :]))
        self.inputs = do.array(effective)
        self.samples_by_inputs = do.array(do.transpose(effective))
        self.first = do.array(np.swapaxes(weights.w1, 1, 2))
        self.second = do.array(weights.w2)
        self.map = do.buffer(seeds, n_x, n_y)
        self.output = do.buffer(seeds, self.rows.count, n_y)
        self.wide = do.buffer(seeds, self.rows.count, model.n_y)
        self.spread = do.buffer(seeds, model.samples, model.n_y)
        self.cut_rows = do.buffer(seeds, self.rows.count, model.n_y)
        self.cut = do.buffer(seeds, self.rows.count, n_y)
        self.pull = do.buffer(seeds, n_x, n_y)
        self.step_first = do.step_buffer(seeds, n_x, hidden)
        self.step_second = do.buffer(seeds, n_y, hidden)

    def evaluate(self) -> Array:
        """Gated output on all samples and outputs, shape (S, P, n_y)."""
        do = self.do
        self.map = do.matmul(self.first, do.transpose(self.second), out=self.map)
        self.output = do.matmul(self.samples_by_inputs, self.map, out=self.output)
        self.wide = self.columns.spread(self.output, self.wide)
        self.spread = self.rows.spread(self.wide, self.spread)
        return self.spread

    def update(self, residual: Array) -> None:
        do = self.do
        self.cut_rows = self.rows.cut(residual, self.cut_rows)
        self.cut = self.columns.cut(self.cut_rows, self.cut)
        self.pull = do.matmul(self.inputs, self.cut, out=self.pull)
        # The learning rate goes into the smallest factor of both gradients.
        self.pull = do.multiply(self.pull, self.rate, out=self.pull)
        self.step_second = do.matmul(do.transpose(self.pull), self.first, out=self.step_second)
        # Both steps go from the same weights: the second is taken before the first has moved.
        self.first, self.step_first = do.descend(
            self.first, self.pull, self.second, self.kept, self.step_first
        )
        if self.kept != 1:
            self.second = do.multiply(self.second, self.kept, out=self.second)
        self.second = do.add(self.second, self.step_second, out=self.second)

    def weights(self) -> LayerWeights:
        w1 = np.ascontiguousarray(self.do.numpy(self.first).swapaxes(1, 2))
        return LayerWeights(w1=w1, w2=self.do.numpy(self.second))


@final
class _GatedState(AbstractState):
    def __init__(self, model: GatedModel, weights: tuple[LayerWeights, ...]) -> None:
        do = self.do = model.arithmetic
        seeds = len(weights[0].w1)
        self.samples, self.stages = model.samples, model.stages
        self.targets = do.array(do.transpose(model.targets))
        self.pathways = [
            _PathwayState(model, pathway, layer, seeds)
            for pathway, layer in zip(model.pathways, weights, strict=True)
        ]
        self.residuals = [do.buffer(seeds, model.samples, model.n_y) for _ in model.stages]
        batched = model.settings.batch_size is not None
        self.weighted = do.buffer(seeds, model.samples, model.n_y) if batched else None

    def evaluate(self) -> Array:
        do = self.do
        left = self.targets
        for stage, members in enumerate(self.stages):
            for member in members:
                output = self.pathways[member].evaluate()
                left = do.subtract(left, output, out=self.residuals[stage])
            self.residuals[stage] = left
        return do.square_sums(left) * (0.5 / self.samples)

    def update(self, factors: Array | None = None) -> None:
        for residual, members in zip(self.residuals, self.stages, strict=True):
            seen = residual
            if factors is not None:
                seen = self.weighted = self.do.multiply(residual, factors, out=self.weighted)
            for member in members:
                self.pathways[member].update(seen)

    def weights(self) -> tuple[LayerWeights, ...]:
        return tuple(pathway.weights() for pathway in self.pathways)
