"""What the training loop needs of a network: start it with weights, evaluate, update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import Array, arithmetic_of
from symreln.train.network import GatedNetwork, GatedNode, own_inputs
from symreln.train.settings import TrainingSettings
from symreln.train.weights import Weights


class Model(ABC):
    """A network with its data, without weights.

    There is a class for every order in which a step can multiply; all take the same step but for
    rounding.

    Attributes:
        inputs: X, shape (n_x, P), in the library that it is trained in.
        targets: Y, shape (n_y, P).
        network: Nodes, edges and gates.
        settings: Hyper-parameters.
        stages: Stages of the output nodes; (None,) where they are trained jointly.
    """

    def __init__(
        self,
        inputs: Array,
        targets: Array,
        network: GatedNetwork,
        settings: TrainingSettings,
        *,
        staged: bool = False,
    ) -> None:
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        network.check_fits(self.n_x, self.n_y, self.samples)
        settings.check_fits(self.samples)
        self.arithmetic = arithmetic_of(inputs, settings.precision)
        self.inputs = self.arithmetic.array(inputs)
        self.targets = self.arithmetic.array(targets)
        self.network, self.settings = network, settings
        stages = {node.stage for node in network.nodes if node.outputs}
        self.stages: tuple[int | None, ...] = tuple(sorted(stages)) if staged else (None,)
        self.live_nodes, self.live_edges = network.live(self.samples)
        if not any(live.any() for live in self.live_edges):
            msg = "graph: no path from an input to an output is open on any sample. Open a gate."
            raise InputError(msg)

    @property
    def weight_count(self) -> int:
        """Weights in all."""
        return sum(target * source for target, source in self.network.shapes)

    @property
    def working_bytes(self) -> int:
        """Memory that one seed takes while it trains: weights, gradients, activations, batches."""
        return self.arithmetic.item_bytes * (2 * self.weight_count + self._working_numbers())

    @property
    @abstractmethod
    def multiplications(self) -> int:
        """Scalar multiplications of one step of one seed, about."""

    @abstractmethod
    def _working_numbers(self) -> int:
        """Numbers of one seed in training besides weights and gradients."""

    @abstractmethod
    def start(self, weights: Weights) -> AbstractState:
        """A chunk of seeds with these initial weights."""

    def fixed_inputs(self, node: GatedNode) -> np.ndarray:
        """What an input node sees of the samples before its gate, shape (its inputs, P)."""
        return own_inputs(node, self.arithmetic.numpy(self.inputs))

    def stable_learning_rate(self) -> float:
        """About the largest learning rate at which descent ends in a minimum; for messages."""
        targets = self.arithmetic.numpy(self.targets)
        # A gate of 0 and 1 only takes samples away; gains change what a pathway has to fit.
        seen = [self.arithmetic.numpy(self.inputs)] + [
            self.fixed_inputs(node) * np.array(node.gate)
            for node in self.network.nodes
            if node.inputs and node.gate is not None and not {0.0, 1.0}.issuperset(node.gate)
        ]
        depth = self.network.depth
        return min(curvature_limit(inputs, targets, self.settings, depth) for inputs in seen)


class Written(Protocol):
    """What writes outputs of a network: a pathway, an output node."""

    def written(self) -> Array:
        """What it adds to the outputs now, shape (seeds, P, n_y)."""
        ...


class AbstractState(ABC):
    """A chunk of seeds in training; ``evaluate`` and ``update`` are called in turn."""

    def __init__(self, model: Model, seeds: int, stages: Sequence[Sequence[Written]]) -> None:
        do = self.do = model.arithmetic
        self.samples, self.stages = model.samples, stages
        self.targets = do.array(do.transpose(model.targets))
        #: What stages up to each leave of the targets, (seeds, P, n_y).
        self.residuals = [do.buffer(seeds, model.samples, model.n_y) for _ in stages]

    def evaluate(self) -> Array:
        """Mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² of each seed at the present weights. Shape (S,)."""
        left = self.targets
        for stage, members in enumerate(self.stages):
            for member in members:
                left = self.do.subtract(left, member.written(), out=self.residuals[stage])
            self.residuals[stage] = left
        return self.do.square_sums(left) * (0.5 / self.samples)

    @abstractmethod
    def update(self, factors: Array | None = None) -> None:
        """One step of gradient descent, from the residual of the last ``evaluate``.

        Args:
            factors: Factor of each sample's part of the gradient, shape (S, P, 1); None for 1.
        """

    @abstractmethod
    def weights(self) -> Weights:
        """Copies of the present weights, one matrix an edge."""


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
