"""The hyper-parameters of a training."""

from __future__ import annotations

from typing import Literal

from symreln.base.records import record
from symreln.train.arrays import Precision


@record
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

    def layer_stds(self, layers: int) -> tuple[float, ...]:
        """Standard deviation of each of so many layers of weights."""
        if not isinstance(self.init_std, tuple):
            return (float(self.init_std),) * layers
        return self.init_std

    def rate(self, samples: int) -> float:
        """Factor of the *summed* loss's gradient in a step on ``samples`` samples."""
        return self.learning_rate * (1.0 if self.loss == "sum" else 1.0 / samples)

    def decay(self, samples: int) -> float:
        """Share of every weight that weight decay takes away in a step on ``samples`` samples."""
        step = self.learning_rate * (samples if self.loss == "sum" else 1)
        return step * self.weight_decay
