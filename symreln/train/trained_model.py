"""A network with the data that it is trained on, without weights."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import Arithmetic, Array
from symreln.train.network import GatedNetwork, GatedNode, own_inputs
from symreln.train.settings import TrainingSettings

_Order = Literal["samples", "rows", "maps"]
#: Share of the targets below which a linear fit of them is rounding.
_NOTHING = 1e-9


@final
class Model:
    """A network, its data, and how it is trained on them.

    Attributes:
        inputs: X, shape (n_x, P), in the library that it is trained in.
        targets: Y, shape (n_y, P).
        network: Nodes, edges and gates.
        settings: Hyper-parameters.
        staged: Whether outputs of early stages do not see later ones.
        stages: Stages of the output nodes; (None,) where they are trained jointly.
        order: In which order a step multiplies; all take the same step but for rounding.
            "samples": sample by sample. "rows": so too, the last layer's weights stored as
            (target, source) and the inputs in both orders; with one hidden layer every product
            then meets BLAS as it likes. "maps": a pathway's two layers first
            (:mod:`symreln.train.steps`).
        gates: Gates of hidden units that are given for every step, shape (seeds, steps, ΣH, P).
        rate: Factor of the summed loss's gradient in a step.
        kept: What weight decay leaves of a weight in a step.
    """

    def __init__(
        self,
        inputs: Array,
        targets: Array,
        network: GatedNetwork,
        settings: TrainingSettings,
        *,
        staged: bool = False,
        order: _Order = "samples",
        gates: np.ndarray | None = None,
    ) -> None:
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        self.arithmetic = Arithmetic.of(inputs, settings.precision)
        self.inputs = self.arithmetic.array(inputs)
        self.targets = self.arithmetic.array(targets)
        self.network, self.settings, self.staged = network, settings, staged
        self.order, self.gates = order, gates
        stages = {node.stage for node in network.nodes if node.outputs}
        self.stages: tuple[int | None, ...] = tuple(sorted(stages)) if staged else (None,)
        self.rate = settings.rate(self.samples)
        self.kept = 1 - settings.decay(self.samples)
        self.live_nodes, self.live_edges = network.live(self.samples)
        if not any(live.any() for live in self.live_edges):
            msg = "graph: no path from an input to an output is open on any sample. Open a gate."
            raise InputError(msg)

    def held_inputs(self, node: GatedNode) -> np.ndarray:
        """What an input node holds of the samples, shape (its inputs, P)."""
        seen = own_inputs(node, self.arithmetic.numpy(self.inputs))
        return seen if node.gate is None else seen * np.array(node.gate, dtype=seen.dtype)

    def stable_learning_rate(self) -> float:
        """About the largest learning rate at which descent ends in a minimum; for messages."""
        targets = self.arithmetic.numpy(self.targets)
        # A gate of 0 and 1 only takes samples away; gains change what a pathway has to fit.
        seen = [self.arithmetic.numpy(self.inputs)] + [
            self.held_inputs(node)
            for node in self.network.nodes
            if node.inputs and node.gate is not None and not {0.0, 1.0}.issuperset(node.gate)
        ]
        depth = self.network.depth
        return min(_curvature_limit(inputs, targets, self.settings, depth) for inputs in seen)


def _curvature_limit(
    inputs: np.ndarray, targets: np.ndarray, settings: TrainingSettings, layers: int = 2
) -> float:
    """2/λmax, λmax bounding the loss's curvature where balanced layers have fitted the data.

    In coordinates (u_α, v_β) of the fitted map W with singular values π, the Hessian of a two-layer
    linear network has eigenvalues d (π_α + π_β) ≤ 2 ‖X Xᵀ‖ ‖W‖ = λmax (second differences of
    1/2 ‖Y − W2 W1 X‖² at W1 = √π v, W2 = u √π), and weight decay adds its own. With L layers each
    of the L terms has L − 1 factors π^{1/L} twice: L ‖X Xᵀ‖ ‖W‖^{2−2/L}. The bound is that of
    the full batch; a batch's curvature may be up to P/|batch| times as large.
    """
    fitted, largest = np.linalg.norm(targets @ np.linalg.pinv(inputs), 2), np.linalg.norm(inputs, 2)
    if fitted * largest < _NOTHING * np.linalg.norm(targets, 2):
        fitted = 0.0
    strength = fitted ** (2 - 2 / layers) * largest**2
    samples = inputs.shape[1]
    # In steps of the settings' own size, hence free of the convention of the loss.
    step = layers * strength * settings.rate(samples) + settings.decay(samples)
    return float(2 * settings.learning_rate / step) if step > 0 else float("inf")
