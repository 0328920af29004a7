"""What the training loop needs of a network: start it with weights, evaluate, update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from symreln.train.arrays import AbstractArithmetic, Array
from symreln.train.network import TrainingSettings, Weights
from symreln.train.record import Observer, Quantity, Recording


class AbstractState(ABC):
    """A chunk of seeds in training; ``evaluate`` and ``update`` are called in turn."""

    @abstractmethod
    def evaluate(self) -> Any:
        """Mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² of each seed at the present weights. Shape (S,)."""

    @abstractmethod
    def update(self, factors: Array | None = None) -> None:
        """One step of gradient descent, from the residual of the last ``evaluate``.

        Args:
            factors: Factor of each sample's part of the gradient, shape (S, P, 1); None for 1.
        """

    @abstractmethod
    def weights(self) -> Weights:
        """Copies of the present weights, one entry a pathway or an edge."""


class AbstractModel(ABC):
    """A network with its data, without weights."""

    inputs: Any
    targets: Any

    @property
    @abstractmethod
    def description(self) -> dict[str, Any]:
        """What, besides data and settings, makes this model again; JSON."""

    @property
    @abstractmethod
    def multiplications(self) -> int:
        """Scalar multiplications of one step of one seed, about."""

    @property
    @abstractmethod
    def arithmetic(self) -> AbstractArithmetic:
        """Arithmetic of the library that the data came in."""

    @property
    @abstractmethod
    def hidden_units(self) -> int:
        """Hidden units in all."""

    @property
    def hidden_layers(self) -> int:
        """Matrices that the quantity "similarity" holds."""
        return 1

    @property
    @abstractmethod
    def weight_count(self) -> int:
        """Weights in all."""

    @property
    @abstractmethod
    def map_count(self) -> int:
        """Maps that the quantity "maps" holds."""

    @property
    @abstractmethod
    def data_shape(self) -> tuple[int, int, int]:
        """(n_x, n_y, P)."""

    @property
    @abstractmethod
    def working_bytes(self) -> int:
        """Memory that one seed takes while it trains: weights, gradients, activations, batches."""

    @abstractmethod
    def start(self, weights: Any) -> AbstractState:
        """A chunk of seeds with these initial weights."""

    @abstractmethod
    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        """Observer of a built-in quantity.

        Raises:
            InputError: This network does not have it.
        """

    @abstractmethod
    def stable_learning_rate(self) -> float:
        """About the largest learning rate at which descent ends in a minimum; for messages."""


class AbstractTwoLayerModel(AbstractModel):
    """Pathways of two layers of weights each."""

    @property
    @abstractmethod
    def shapes(self) -> list[tuple[int, int, int]]:
        """(n_x, H, n_y) of each pathway."""

    @property
    def hidden_units(self) -> int:
        """Hidden units in all."""
        return sum(width for _, width, _ in self.shapes)

    @property
    def weight_count(self) -> int:
        """Weights in all."""
        return sum(width * (left + right) for left, width, right in self.shapes)

    @property
    def map_count(self) -> int:
        """One map a pathway."""
        return len(self.shapes)


def curvature_limit(
    inputs: np.ndarray, targets: np.ndarray, settings: TrainingSettings, layers: int = 2
) -> float:
    """2/λmax, λmax bounding the loss's curvature where balanced layers have fitted the data.

    In coordinates (u_α, v_β) of the fitted map W with singular values π, the Hessian of a two-layer
    linear network has eigenvalues d (π_α + π_β) ≤ 2 ‖X Xᵀ‖ ‖W‖ = λmax (second differences of
    1/2 ‖Y − W2 W1 X‖² at W1 = √π v, W2 = u √π), and weight decay adds its own. With L layers each
    of the L terms has L − 1 factors π^{1/L} twice: L ‖X Xᵀ‖ ‖W‖^{2−2/L}. The bound is that of
    the full batch; a batch's curvature may be up to P/|batch| times as large.
    """
    fitted = targets @ np.linalg.pinv(inputs)
    strength = np.linalg.norm(fitted, 2) ** (2 - 2 / layers) * np.linalg.norm(inputs, 2) ** 2
    samples = inputs.shape[1]
    # In steps of the settings' own size, hence free of the convention of the loss.
    step = layers * strength * settings.rate(samples) + settings.decay(samples)
    return float(2 * settings.learning_rate / step) if step > 0 else float("inf")
