"""What the training loop needs of a network: start it with weights, evaluate, update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from symreln.train.arrays import AbstractArithmetic
from symreln.train.network import LayerWeights
from symreln.train.record import Observer, Quantity, Recording


class AbstractState(ABC):
    """A chunk of seeds in training; ``evaluate`` and ``update`` are called in turn."""

    @abstractmethod
    def evaluate(self) -> Any:
        """Mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² of each seed at the present weights. Shape (S,)."""

    @abstractmethod
    def update(self) -> None:
        """One step of gradient descent, from the residual of the last ``evaluate``."""

    @abstractmethod
    def weights(self) -> tuple[LayerWeights, ...]:
        """Copies of the present weights, one entry a pathway."""


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
    def shapes(self) -> list[tuple[int, int, int]]:
        """(n_x, H, n_y) of each pathway."""

    @property
    @abstractmethod
    def data_shape(self) -> tuple[int, int, int]:
        """(n_x, n_y, P)."""

    @property
    @abstractmethod
    def working_bytes(self) -> int:
        """Memory that one seed takes while it trains: weights, gradients, activations."""

    @abstractmethod
    def start(self, weights: tuple[LayerWeights, ...]) -> AbstractState:
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


def curvature_limit(inputs: np.ndarray, targets: np.ndarray, rate_scale: float) -> float:
    """2/λmax, λmax bounding the loss's curvature where balanced layers have fitted the data.

    In coordinates (u_α, v_β) of the fitted map W with singular values π, the Hessian of a two-layer
    linear network has eigenvalues d (π_α + π_β) ≤ 2 ‖X Xᵀ‖ ‖W‖ = λmax (second differences of
    1/2 ‖Y − W2 W1 X‖² at W1 = √π v, W2 = u √π). ``rate_scale`` is 1 for the summed loss, 1/P for
    the mean.
    """
    fitted = targets @ np.linalg.pinv(inputs)
    strength = np.linalg.norm(fitted, 2) * np.linalg.norm(inputs, 2) ** 2 * rate_scale
    return float(1 / strength) if strength > 0 else float("inf")
