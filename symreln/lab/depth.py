"""ReLU networks of several hidden layers beside the gated network that is to be like them.

Source: finding 4 of [Jarvis2025]: with more hidden layers trajectories differ between seeds, and a
gated network can have their distribution. Both kinds start from N(0, init_std²); nothing is
fitted. A hidden node of the gated network stands for units of a hidden layer that are open
together; half of a layer's units are, as the theory of one hidden layer counts them
(:func:`symreln.laws.law.pathway_units`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.metrics import DROP, drop_time
from symreln.experiment.training import gated_network, training_settings
from symreln.lab.distributions import LEVELS, CrossingComparison, CurveTest, crossing_times
from symreln.lab.switching import FrozenPhase, SwitchingRun
from symreln.laws.law import pathway_units
from symreln.specs.spec import Spec
from symreln.train.machine import machine
from symreln.train.network import GatedNetwork
from symreln.train.run import TrainingRun
from symreln.train.trainers import train_deep_network, train_gated_network


@record(eq=False)
class DepthComparison:
    """Distributions over seeds.

    Attributes:
        spec: What was trained, without free parameters.
        widths: Units of the ReLU network's hidden layers.
        units: Of the gated network's hidden nodes, by name.
        relu: The ReLU networks.
        gdln: The gated networks.
        shallow: ReLU networks with one hidden layer of the first width; what depth adds.
        switching: Gated networks that read their own gates (:mod:`symreln.lab.switching`),
            from the initial weights of the ReLU networks, so that they are compared in pairs. None
            of other networks than those of ReLU, trained by full batches in double precision.
        early: The early phase of the ReLU networks, from their own initial weights; None likewise.
        rng: Seed of the random streams.
    """

    spec: Spec
    widths: tuple[int, ...]
    units: dict[str, int]
    relu: TrainingRun
    gdln: TrainingRun
    shallow: TrainingRun
    rng: int
    switching: SwitchingRun | None = None
    early: FrozenPhase | None = None
    #: Numbers of the networks with fixed gates that were set by hand.
    free_constants: ClassVar[int] = 0

    @property
    def seeds(self) -> int:
        """Networks of each kind."""
        return self.relu.seeds

    @cached_property
    def curves(self) -> CurveTest:
        """Whole loss curves, ReLU networks against gated ones."""
        return CurveTest.of(self.relu.losses, self.gdln.losses)

    @cached_property
    def crossings(self) -> tuple[CrossingComparison, ...]:
        """When losses fall, ReLU networks against gated ones; levels that some curve meets."""
        return _crossings(self.relu.losses, self.gdln.losses)

    @cached_property
    def switched(self) -> CurveTest | None:
        """Whole loss curves, ReLU networks against gated ones that read their own gates."""
        if self.switching is None:
            return None
        return CurveTest.of(_relative(self.relu), self.switching.losses, pairs=True)

    @cached_property
    def switched_crossings(self) -> tuple[CrossingComparison, ...]:
        """When losses fall, ReLU networks against gated ones that read their own gates."""
        if self.switching is None:
            return ()
        return _crossings(_relative(self.relu), self.switching.losses, pairs=True)

    @cached_property
    def first_drop(self) -> _FirstDrop | None:
        """The first drop beside that of the early phase; None where neither says anything."""
        if self.early is None:
            return None
        trained = crossing_times(self.relu.losses, DROP)
        both = np.isfinite(trained) & np.isfinite(self.early.steps)
        if both.sum() < 2:
            return None
        gaps = trained[both] - self.early.steps[both]
        related = float(np.corrcoef(trained[both], self.early.steps[both])[0, 1])
        return _FirstDrop(
            predicted=self.early.steps,
            trained=trained,
            correlation=related if np.isfinite(related) else None,
            gap=float(gaps.mean()),
            spread=float(gaps.std(ddof=1)),
        )

    @property
    def differ(self) -> bool:
        """Whether the distributions of the curves differ by more than chance."""
        return self.curves.differ

    @property
    def uninformative(self) -> bool:
        """Whether neither kind has learned anything, so that there is nothing to tell apart."""
        return all(drop_time(run.mean_loss) is None for run in (self.relu, self.gdln))

    @classmethod
    def of(cls, spec: Spec, seeds: int = 50, rng: int = 0) -> DepthComparison:
        """Train ReLU networks and gated networks of one depth and compare their distributions.

        Args:
            spec: With a network and a graph of at least two hidden nodes on a path; every parameter
                has a value.
            seeds: Networks of each kind; at least 2.
            rng: Seed of the random streams.

        Raises:
            InputError: Fewer than two seeds, a parameter without a value, or training diverged.
            NotSupportedError: No graph, a graph of one hidden layer or less, or gates with gains,
                which no ReLU network realises.
        """
        if seeds < 2:
            msg = f"depth: found seeds = {seeds}. Give at least 2; 50 tell distributions apart."
            raise InputError(msg)
        numbers = spec.at_values()
        graph = _counted(numbers)
        asked = network_of(numbers)
        settings = replace(training_settings(numbers), activation="relu")
        widths = (asked.hidden,) * (graph.depth - 1)
        units = {n.name: n.size for n in graph.nodes if not n.inputs and not n.outputs}
        data = numbers.dataset.arrays
        streams = np.random.SeedSequence(rng).spawn(3)
        switching = early = None
        # In single precision the frozen residual is lost in rounding.
        exact = machine().precision == "float64"
        if settings.batch_size is None and exact:
            with phase("early phase"):
                # The stream is counted on where it is drawn from: a second one of the same numbers.
                same = np.random.SeedSequence(rng).spawn(1)[0]
                early = FrozenPhase.of(data, widths, settings, seeds=seeds, rng=same)
            switching = SwitchingRun.of(data, settings, early)
        return cls(
            spec=numbers,
            widths=widths,
            units=units,
            relu=train_deep_network(*data, widths, settings, seeds=seeds, rng=streams[0]),
            gdln=train_gated_network(*data, graph, settings, seeds=seeds, rng=streams[1]),
            shallow=train_deep_network(*data, widths[:1], settings, seeds=seeds, rng=streams[2]),
            rng=rng,
            switching=switching,
            early=early,
        )


def _crossings(
    one: np.ndarray, other: np.ndarray, *, pairs: bool = False
) -> tuple[CrossingComparison, ...]:
    """Return when two samples of losses fall, at the levels that some curve meets."""
    found = [CrossingComparison.of(one, other, level, pairs=pairs) for level in LEVELS]
    return tuple(each for each in found if np.isfinite(np.concatenate(each.times)).any())


def _relative(run: TrainingRun) -> np.ndarray:
    """Return L/L(0), shape (seeds, steps)."""
    return run.losses / run.losses[:, :1]


@record(eq=False)
class _FirstDrop:
    """The first drop of every ReLU network's loss beside what its early phase says.

    Attributes:
        predicted: In steps, shape (seeds,).
        trained: Likewise.
        correlation: Of both over seeds; None where one of them does not differ between seeds.
        gap: Mean of trained minus predicted, in steps.
        spread: Standard deviation of that.
    """

    predicted: np.ndarray
    trained: np.ndarray
    correlation: float | None
    gap: float
    spread: float


def _counted(spec: Spec) -> GatedNetwork:
    """Return the gated network with as many units as are open together in a ReLU layer."""
    if spec.graph is None:
        msg = "depth: the spec has no nodes and edges. Give a gated network of the same depth"
        raise NotSupportedError(msg)
    graph = gated_network(spec.graph)
    if graph.depth < 3:
        msg = (
            f"depth: the longest path of the graph has {graph.depth} edges, so one hidden layer at "
            "most. `symreln validate` compares those"
        )
        raise NotSupportedError(msg)
    gates = [item.gate for item in (*graph.nodes, *graph.edges) if item.gate is not None]
    if any(not {0.0, 1.0}.issuperset(gate) for gate in gates):
        msg = "depth: a gate has a gain other than 0 and 1, which no ReLU network realises"
        raise NotSupportedError(msg)
    part = pathway_units(replace(network_of(spec), hidden=1, activation="relu"))
    nodes = tuple(
        node
        if node.inputs or node.outputs
        else replace(node, size=max(1, round(float(part) * node.size)))
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)
