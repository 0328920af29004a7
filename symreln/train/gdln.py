"""Gradient descent on a gated deep linear network with one hidden layer a pathway.

A pathway is linear, so its map W2 W1 is formed before it meets the samples: the same gradient as
sample by sample, with fewer products as soon as a gate is open on more samples than there are
inputs. Samples on which a gate is closed take no part in its products.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal, final

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import AbstractArithmetic, Array, arithmetic_of
from symreln.train.loop import Progress, run_training
from symreln.train.memory import DEFAULT_MEMORY_LIMIT
from symreln.train.model import AbstractState, AbstractTwoLayerModel, curvature_limit
from symreln.train.network import (
    GatedPathway,
    LayerWeights,
    TrainingRun,
    TrainingSettings,
    checked_data,
)
from symreln.train.randomness import gaussian_weights, given_weights, seed_children
from symreln.train.record import Observer, Quantity, Recording, contribution, maps_observer


def train_gdln(
    inputs: Any,
    targets: Any,
    pathways: Sequence[GatedPathway],
    settings: TrainingSettings,
    *,
    training: Literal["joint", "staged"] = "joint",
    seeds: int = 1,
    rng: Any = None,
    initial: Mapping[str, LayerWeights] | None = None,
    record: Recording | None = None,
    workers: int | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Progress | None = None,
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
        seeds: How many networks to train.
        rng: Seed, SeedSequence or Generator (SPEC 7); network i depends on ``rng`` and i alone.
        initial: Exact initial weights by pathway name, w1 (seeds, H_p, inputs of p) and
            w2 (seeds, outputs of p, H_p); then ``seeds`` is not used, and ``rng`` for
            mini-batches only.
        record: What to keep besides the losses; default nothing.
        workers: Processes; default one a processor for long trainings, else this one alone.
            Results do not depend on it.
        memory_limit: Bytes that the training may take; seeds are trained in chunks to keep to it.
        progress: Called now and then, in the caller's thread, with seed-steps done and in all.

    Raises:
        InputError: Shapes do not fit, names repeat, or the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.
    """
    inputs, targets = checked_data(inputs, targets)
    if training not in ("joint", "staged"):
        msg = f"training: found {training!r}. Give 'joint' or 'staged'."
        raise InputError(msg)
    model = GatedModel(inputs, targets, pathways, settings, staged=training == "staged")
    if initial is None:
        children = seed_children(rng, seeds)
        spreads = [pathway.spread for pathway in model.pathways]
        source = gaussian_weights(children, model.shapes, settings.layer_stds(2), spreads)
    else:
        seeds, source = given_weights(_by_name(initial, pathways), model.shapes)
        children = seed_children(rng, seeds)
    return run_training(
        model,
        source,
        settings,
        children=children,
        seeds=seeds,
        record=record,
        workers=workers,
        memory_limit=memory_limit,
        progress=progress,
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
        self._arithmetic = arithmetic_of(inputs)
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
        return 8 * (layers + outputs + (1 + len(self.stages)) * self.samples * self.n_y + batches)

    def start(self, weights: tuple[LayerWeights, ...]) -> AbstractState:
        return _GatedState(self, weights)

    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        if quantity in ("activity", "gate_maps"):
            msg = (
                f"record.quantities: {quantity!r} needs activity patterns, which a network with "
                "given gates has not. Leave it out; 'maps' and 'contribution' are there."
            )
            raise InputError(msg)
        if quantity == "contribution":
            return contribution
        groups = [(tuple(p.inputs), tuple(p.outputs)) for p in self.pathways]
        maps = maps_observer(groups, self.n_x, self.n_y)
        return maps if quantity == "maps" else self._outputs(maps)

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
            inputs[list(pathway.inputs)] * np.array(pathway.gate)
            for pathway in self.pathways
            if not {0.0, 1.0}.issuperset(pathway.gate)
        ]
        return min(curvature_limit(features, targets, self.settings) for features in seen)


@final
class Axis:
    """The part of one axis that a pathway takes: all of it, or the entries at some indices."""

    def __init__(
        self, do: AbstractArithmetic, indices: Sequence[int], size: int, axis: int
    ) -> None:
        self.do, self.axis, self.count = do, axis, len(indices)
        self.whole = tuple(indices) == tuple(range(size))
        self.index = do.index(indices)
        inverse = np.full(size, len(indices))
        inverse[list(indices)] = np.arange(len(indices))
        self.inverse = do.index(inverse)

    def cut(self, values: Array, out: Array | None) -> Array:
        return values if self.whole else self.do.take(values, self.index, self.axis, out=out)

    def spread(self, part: Array, out: Array | None) -> Array:
        if self.whole:
            return part
        return self.do.spread(part, self.index, self.inverse, self.axis, out=out)


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
        self.step_first = do.buffer(seeds, n_x, hidden)
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
        self.step_first = do.matmul(self.pull, self.second, out=self.step_first)
        if self.kept != 1:
            self.second = do.multiply(self.second, self.kept, out=self.second)
            self.first = do.multiply(self.first, self.kept, out=self.first)
        self.second = do.add(self.second, self.step_second, out=self.second)
        self.first = do.add(self.first, self.step_first, out=self.first)

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
