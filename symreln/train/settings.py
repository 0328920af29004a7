"""The hyper-parameters of a training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from symreln.errors import InputError
from symreln.train.arrays import Precision


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
        activation: Of the hidden layer of :func:`symreln.train.trainers.train_network`.
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
