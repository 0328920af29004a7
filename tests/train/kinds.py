"""Every kind of network that is trained, and its loss written out with nothing of symreln.

All are sums of chains: layers of weights, one after the other, from some inputs to some outputs,
times a gate on the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symreln.train.network import GatedPathway, pathway_network
from symreln.train.run import TrainingRun
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import (
    train_deep_network,
    train_gated_network,
    train_gdln,
    train_network,
)

Data = tuple[np.ndarray, np.ndarray]


def data() -> Data:
    """Inputs (4, 7) and targets (3, 7) without any structure."""
    rng = np.random.default_rng(11)
    return rng.standard_normal((4, 7)), rng.standard_normal((3, 7))


def make_settings(**changes) -> TrainingSettings:
    values = {"hidden": 5, "init_std": 0.5, "learning_rate": 0.02, "loss": "mean", "steps": 20}
    return TrainingSettings(**{**values, **changes})


#: Masked and overlapping in samples, inputs and outputs; three stages.
PATHWAYS = (
    GatedPathway(name="shared", gate=[1] * 7, inputs=range(4), outputs=range(3), hidden=4),
    GatedPathway(name="early", gate=[1, 1, 1, 0, 0, 0, 0], inputs=(3, 1), outputs=(0, 2), hidden=3),
    GatedPathway(
        name="late", gate=[0, 1, 0, 1, 0, 1, 1], inputs=(0, 2), outputs=(2,), hidden=2, stage=2
    ),
    GatedPathway(
        name="last", gate=[0, 0, 0, 0, 1, 1, 0], inputs=(1,), outputs=(2, 1), hidden=2, stage=3
    ),
)
#: The same with other gates than 0 and 1 where they are open.
GAINED = tuple(
    replace(p, gate=np.array([0.5, -1.25, 2, 1, 0.75, 1.5, -0.5]) * p.gate) for p in PATHWAYS
)
WHOLE = GatedPathway(name="whole", gate=[1] * 7, inputs=range(4), outputs=range(3), hidden=1)


@dataclass(frozen=True)
class Kind:
    """A network and its trainer.

    Attributes:
        train: Takes (inputs, targets), settings, and options of every trainer.
        chains: What it is a sum of.
        layers: Layers of weights of each chain.
        relu: Whether hidden layers have ReLU.
        staged: Whether stages see only what earlier ones leave.
    """

    train: Callable[..., TrainingRun]
    chains: tuple[GatedPathway, ...] = (WHOLE,)
    layers: int = 2
    relu: bool = False
    staged: bool = False

    def outputs(self, weights: Sequence[np.ndarray], x: np.ndarray, n_y: int) -> list[np.ndarray]:
        """What each chain adds to the outputs, (n_y, P); one matrix a layer, chain by chain."""
        found, left = [], list(weights)
        for chain in self.chains:
            held, gate = x[list(chain.inputs)], np.array(chain.gate)
            for layer in range(self.layers):
                held = left.pop(0) @ held
                if self.relu and layer + 1 < self.layers:
                    held = np.maximum(held, 0)
            found.append(np.zeros((n_y, x.shape[1])))
            found[-1][list(chain.outputs)] = held * gate
        return found

    def loss(
        self,
        weights: Sequence[np.ndarray],
        constant: Sequence[np.ndarray],
        place: int,
        arrays: Data,
        counts: np.ndarray,
    ) -> float:
        """The summed loss that a weight matrix goes down; each sample counts so many times.

        Args:
            weights: One matrix a layer, chain by chain.
            constant: What chains of earlier stages add, constants for this one (:meth:`outputs`).
            place: Which matrix it is.
            arrays: Inputs and targets.
            counts: Shape (P,).
        """
        x, y = arrays
        stage = self.chains[place // self.layers].stage
        now = self.outputs(weights, x, len(y))
        seen = [
            one if chain.stage == stage or not self.staged else other
            for one, other, chain in zip(now, constant, self.chains, strict=True)
            if not self.staged or chain.stage <= stage
        ]
        return 0.5 * float((((y - sum(seen)) ** 2).sum(axis=0) * counts).sum())


def relu(arrays, settings, **more):
    return train_network(*arrays, settings, **more)


def linear(arrays, settings, **more):
    return train_network(*arrays, replace(settings, activation="linear"), **more)


def deep(arrays, settings, **more):
    return train_deep_network(*arrays, (6, 4), settings, **more)


def deep_linear(arrays, settings, **more):
    chosen = replace(settings, activation="linear")
    return train_deep_network(*arrays, (3, 5, 2), chosen, **more)


def single_layer(arrays, settings, **more):
    return train_deep_network(*arrays, (), settings, **more)


def joint(arrays, settings, **more):
    return train_gdln(*arrays, PATHWAYS, settings, **more)


def staged(arrays, settings, **more):
    return train_gdln(*arrays, GAINED, settings, training="staged", **more)


def graph(arrays, settings, **more):
    return train_gated_network(
        *arrays, pathway_network(GAINED, 3), settings, training="staged", **more
    )


KINDS = {
    "relu": Kind(relu, relu=True),
    "linear": Kind(linear),
    "deep": Kind(deep, layers=3, relu=True),
    "deep linear": Kind(deep_linear, layers=4),
    "single layer": Kind(single_layer, layers=1),
    "joint": Kind(joint, chains=PATHWAYS),
    "staged": Kind(staged, chains=GAINED, staged=True),
    "graph": Kind(graph, chains=GAINED, layers=3, staged=True),
}


def matrices(run: TrainingRun) -> list[np.ndarray]:
    """Final weights, one array (seeds, target, source) a layer, chain by chain."""
    return [half for layer in run.weights for half in (layer.w1, layer.w2)] or list(run.matrices)


def same(one: TrainingRun, other: TrainingRun, seeds: int) -> None:
    """Assert that the first seeds of two runs are the same to the last bit."""
    np.testing.assert_array_equal(one.losses[:seeds], other.losses[:seeds])
    for a, b in zip(matrices(one), matrices(other), strict=True):
        np.testing.assert_array_equal(a[:seeds], b[:seeds])
    for name, values in one.snapshots.items():
        np.testing.assert_array_equal(values[:seeds], other.snapshots[name][:seeds])
        assert values.dtype == other.snapshots[name].dtype
