"""What is trained and what comes back: settings, gated pathways, weights, a training run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.train.arrays import Precision, arithmetic_of

PROCESS_BYTES = 40 << 20  # a worker with numpy loaded, measured as its resident set


@short_repr
@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Hyper-parameters of gradient descent, full-batch unless a batch size is given.

    Attributes:
        hidden: Hidden units H of the ReLU (or linear) network; GDLN pathways carry their own.
        init_std: Standard deviation of the initial weights, N(0, init_std²); or one for every layer
            of weights, from the inputs on (for every edge of a graph, in its order).
        learning_rate: Step size η. With ``loss="mean"`` a step is η times the gradient of
            L = 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖²; with ``"sum"`` of L = 1/2 Σ_μ ‖y_μ − ŷ_μ‖².
        loss: Which of the two losses the gradient is taken of. *Recorded* losses are always means.
        steps: How many losses are recorded, at 0, 1, …, steps − 1 updates.
        activation: Of the hidden layer of :func:`symreln.train.relu.train_network`.
        weight_decay: λ; the *mean* loss gets λ/2 times the sum of all squared weights, the summed
            one P times that: a step shrinks every weight by the factor 1 − ηλ with
            ``loss="mean"`` and 1 − ηPλ with ``"sum"``, and means the same λ with both. Recorded
            losses are without it.
        batch_size: Samples of a step; None for all. Every seed visits all samples once an epoch,
            in an order of its own, the last batch holding what is left. A batch stands for all
            samples: its summed loss counts P/|batch| times, its mean loss is its own mean, so that
            the expected step is the full-batch step. Recorded losses are over all samples.
        precision: Of the numbers that are trained with. float32 rounds at 1e-7 and is no witness
            of small differences: it is never taken unless asked for.
    """

    hidden: int
    init_std: float | tuple[float, ...]
    learning_rate: float
    loss: Literal["sum", "mean"]
    steps: int
    activation: Literal["relu", "linear"] = "relu"
    weight_decay: float = 0.0
    batch_size: int | None = None
    precision: Precision = "float64"

    def __post_init__(self) -> None:
        if not isinstance(self.init_std, (int, float)):
            object.__setattr__(self, "init_std", tuple(float(std) for std in self.init_std))
        for name in ("hidden", "steps"):
            if getattr(self, name) < 1:
                msg = f"network.{name}: {getattr(self, name)} is too small. Give at least 1."
                raise InputError(msg)
        scales = self.init_std if isinstance(self.init_std, tuple) else (self.init_std,)
        for name, values in (("init_std", scales), ("learning_rate", (self.learning_rate,))):
            if not values or not all(math.isfinite(value) and value > 0 for value in values):
                found = getattr(self, name)
                msg = f"network.{name}: found {found}. Give a positive finite number."
                raise InputError(msg)
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            msg = f"weight_decay: found {self.weight_decay}. Give 0 or a positive finite number."
            raise InputError(msg)
        if self.batch_size is not None and self.batch_size < 1:
            msg = f"batch_size: {self.batch_size} is too small. Give at least 1, or None for all."
            raise InputError(msg)
        for name, known in (
            ("loss", ("sum", "mean")),
            ("activation", ("relu", "linear")),
            ("precision", ("float64", "float32")),
        ):
            if getattr(self, name) not in known:
                msg = f"network.{name}: found {getattr(self, name)!r}. Give one of {known}."
                raise InputError(msg)

    def layer_stds(self, layers: int) -> tuple[float, ...]:
        """Standard deviation of each of so many layers of weights.

        Raises:
            InputError: Another number of them is given.
        """
        if not isinstance(self.init_std, tuple):
            return (float(self.init_std),) * layers
        if len(self.init_std) != layers:
            msg = (
                f"network.init_std: found {len(self.init_std)} numbers for {layers} layers of "
                "weights. Give one number, or one for each."
            )
            raise InputError(msg)
        return self.init_std

    def rate(self, samples: int) -> float:
        """Factor of the *summed* loss's gradient in a step on ``samples`` samples."""
        return self.learning_rate * (1.0 if self.loss == "sum" else 1.0 / samples)

    def decay(self, samples: int) -> float:
        """Share of every weight that weight decay takes away in a step on ``samples`` samples."""
        step = self.learning_rate * (samples if self.loss == "sum" else 1)
        return step * self.weight_decay

    def check_fits(self, samples: int) -> None:
        """Raise InputError where a batch would hold more samples than there are."""
        if self.batch_size is not None and self.batch_size > samples:
            msg = (
                f"batch_size: {self.batch_size}, but the data have {samples} samples. "
                f"Give 1 to {samples}, or None for all."
            )
            raise InputError(msg)


@short_repr
@dataclass(frozen=True, kw_only=True)
class GatedPathway:
    """One pathway of a GDLN: ŷ_μ gets g(μ) O W2 W1 I x_μ.

    Attributes:
        name: Shown in messages and used to look the pathway up.
        gate: Shape (P,), g(μ): 0, 1 or another factor a sample.
        inputs: Indices of the inputs that the pathway sees (the diagonal of I).
        outputs: Indices of the outputs that it writes to (the diagonal of O).
        hidden: Its hidden units.
        spread: What the standard deviation of its initial weights is multiplied by.
        stage: Used by staged training only; stages are trained side by side (``train_gdln``).
        boundary: Samples to which its inputs are made orthogonal before it sees them.
    """

    name: str
    gate: Sequence[float]
    inputs: Sequence[int]
    outputs: Sequence[int]
    hidden: int
    stage: int = 1
    spread: float = 1.0
    boundary: Sequence[int] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "gate", tuple(float(value) for value in self.gate))
        object.__setattr__(self, "inputs", tuple(int(index) for index in self.inputs))
        object.__setattr__(self, "outputs", tuple(int(index) for index in self.outputs))
        object.__setattr__(self, "boundary", tuple(int(index) for index in self.boundary))
        if not all(math.isfinite(value) for value in self.gate):
            odd = next(value for value in self.gate if not math.isfinite(value))
            msg = f"pathway {self.name!r}: its gate holds {odd}. Give a finite number a sample."
            raise InputError(msg)
        if not any(self.gate):
            msg = (
                f"pathway {self.name!r}: its gate is open on no sample, so nothing would be "
                "learned. Open it somewhere or leave the pathway out."
            )
            raise InputError(msg)
        for group in ("inputs", "outputs"):
            indices = getattr(self, group)
            if not indices or len(set(indices)) != len(indices) or min(indices) < 0:
                msg = (
                    f"pathway {self.name!r}: {group} are {indices}. "
                    "Give at least one index from 0 up, each once."
                )
                raise InputError(msg)
        if self.hidden < 1:
            msg = f"pathway {self.name!r}: hidden is {self.hidden}. Give at least 1."
            raise InputError(msg)
        if not (math.isfinite(self.spread) and self.spread > 0):
            msg = f"pathway {self.name!r}: spread is {self.spread}. Give a positive number."
            raise InputError(msg)

    @property
    def open_samples(self) -> tuple[int, ...]:
        """Indices of the samples on which the gate is open."""
        return tuple(index for index, value in enumerate(self.gate) if value)

    def check_fits(self, n_x: int, n_y: int, samples: int) -> None:
        """Raise InputError where the pathway does not fit data of these sizes."""
        if len(self.gate) != samples:
            msg = (
                f"pathway {self.name!r}: {len(self.gate)} gates for {samples} samples. "
                f"Give one gate per sample (shape ({samples},))."
            )
            raise InputError(msg)
        for group, indices, size in (("inputs", self.inputs, n_x), ("outputs", self.outputs, n_y)):
            if max(indices) >= size:
                msg = (
                    f"pathway {self.name!r}: {group} hold index {max(indices)}, but the data have "
                    f"{size}. Give indices from 0 to {size - 1}."
                )
                raise InputError(msg)


def off_boundary(pathway: GatedPathway, inputs: np.ndarray) -> np.ndarray:
    """Return the projector on what is orthogonal to a pathway's boundary samples.

    Args:
        pathway: The pathway.
        inputs: X, shape (n_x, P).

    Returns:
        Shape (inputs of the pathway, inputs of the pathway).
    """
    on = inputs[list(pathway.inputs)][:, list(pathway.boundary)]
    u, s, _ = np.linalg.svd(on, full_matrices=False)
    frame = u[:, s > 1e-12 * s.max(initial=0.0)]
    return np.eye(len(on)) - frame @ frame.T


def own_inputs(pathway: GatedPathway, inputs: np.ndarray) -> np.ndarray:
    """Return what a pathway sees of the samples before its gate, shape (its inputs, P)."""
    rows = inputs[list(pathway.inputs)]
    return off_boundary(pathway, inputs) @ rows if pathway.boundary else rows


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class LayerWeights:
    """Weights of one hidden layer's two sides, for all seeds; ŷ = W2 σ(W1 x).

    Attributes:
        w1: Shape (seeds, H, n_x); for a pathway n_x counts the inputs that it sees.
        w2: Shape (seeds, n_y, H); for a pathway n_y counts the outputs that it writes to.
    """

    w1: np.ndarray
    w2: np.ndarray

    def seed(self, start: int, stop: int) -> LayerWeights:
        """The weights of seeds start … stop − 1."""
        return LayerWeights(w1=self.w1[start:stop], w2=self.w2[start:stop])

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.w1)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.w1.nbytes + self.w2.nbytes


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeWeights:
    """Weights of one edge of a graph, or of one layer of a deep network, for all seeds.

    Attributes:
        matrix: Shape (seeds, units of the target, units of the source).
    """

    matrix: np.ndarray

    def seed(self, start: int, stop: int) -> EdgeWeights:
        """The weights of seeds start … stop − 1."""
        return EdgeWeights(matrix=self.matrix[start:stop])

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.matrix)


Weights = tuple[LayerWeights, ...] | tuple[EdgeWeights, ...]
"""All weights of a network: one entry a pathway of two layers, or one an edge."""


@dataclass(frozen=True, kw_only=True)
class MemoryEstimate:
    """Predicted memory of one training.

    Not in it: this process before the training began, and what the caller's own observers return.

    Attributes:
        results: Bytes of losses, snapshots and final weights of all seeds.
        working: Bytes of one seed while it trains, besides its results: initial weights, weights,
            gradients, activations, and its snapshots once more, until they are one array.
        seeds: Seeds in all.
        seeds_per_chunk: Seeds trained in one batch.
        workers: Processes, a chunk each; 1 is the caller's own.
    """

    results: int
    working: int
    seeds: int
    seeds_per_chunk: int
    workers: int

    @property
    def total(self) -> int:
        """Bytes in all, at the worst moment."""
        chunk = self.seeds_per_chunk * self.working
        gathered = 2 * self.results  # chunks' results are there until they have been put together
        if self.workers == 1:
            return max(gathered, self.results + chunk)
        # On its way a chunk's result is there twice, at each of the two ends.
        sent = 2 * self.seeds_per_chunk * self.results // self.seeds
        here = max(gathered, self.results + self.workers * sent)
        return here + self.workers * (PROCESS_BYTES + chunk + sent)

    def __str__(self) -> str:
        where = "" if self.workers == 1 else f", in {self.workers} processes"
        size, own = self.total / 2**20, self.results / 2**20
        return f"{size:.0f} MiB, {own:.0f} MiB of them results{where}"


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingRun:
    """Recorded training of many seeds.

    Attributes:
        settings: As handed in.
        losses: Shape (seeds, steps), float64. Always the MEAN loss L = 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖²,
            whichever loss was descended; ``losses[:, k]`` is taken after k updates.
        snapshot_steps: The K steps at which quantities were recorded, on the scale of ``losses``.
        snapshots: Recorded quantities by name, each of shape (seeds, K, …); see ``record``.
        weights: Final weights (after steps − 1 updates), one entry a pathway, or one in all; empty
            for a graph or a deep network.
        matrices: Final weights of a graph's edges or of a deep network's layers, each of shape
            (seeds, target, source); else empty.
        memory: What was predicted before the training began.
        seconds: Wall time of the training.
    """

    settings: TrainingSettings
    losses: np.ndarray
    snapshot_steps: tuple[int, ...]
    snapshots: dict[str, np.ndarray]
    weights: tuple[LayerWeights, ...]
    memory: MemoryEstimate
    seconds: float
    matrices: tuple[np.ndarray, ...] = ()

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return self.losses.shape[0]

    @property
    def mean_loss(self) -> np.ndarray:
        """Mean over seeds of the recorded loss. Shape (steps,)."""
        return self.losses.mean(axis=0)

    @property
    def seed_steps_per_second(self) -> float:
        """Throughput: one unit is one step of one seed."""
        return self.losses.size / self.seconds


def checked_data(inputs: Any, targets: Any) -> tuple[Any, Any]:
    """Inputs (n_x, P) and targets (n_y, P), both with samples in columns, checked for shape.

    Raises:
        InputError: Not two matrices, or another number of samples, or nothing in one of them.
    """
    if not hasattr(inputs, "shape"):
        inputs = np.asarray(inputs, dtype=np.float64)
    if not hasattr(targets, "shape"):
        targets = np.asarray(targets, dtype=np.float64)
    for name, values in (("inputs", inputs), ("targets", targets)):
        if len(values.shape) != 2 or 0 in tuple(values.shape):
            msg = (
                f"{name}: shape is {tuple(values.shape)}. "
                "Give a matrix that is not empty, one column a sample."
            )
            raise InputError(msg)
        if not np.isfinite(arithmetic_of(values).numpy(values)).all():
            msg = f"{name}: an entry is NaN or infinite. Give finite numbers."
            raise InputError(msg)
    if inputs.shape[1] != targets.shape[1]:
        msg = (
            f"inputs hold {inputs.shape[1]} samples, targets {targets.shape[1]}. "
            "Give one column a sample in both."
        )
        raise InputError(msg)
    return inputs, targets
