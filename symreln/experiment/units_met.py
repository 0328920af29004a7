r"""Are the units of trained networks where the effective network has them?

At the horizon and where the loss falls fastest the maps :math:`\sum_{i \in g} b_i w_i^\top` of
units by gate, a block of their second moments, are set beside those of the effective network. A
unit counts for the gate that reproduces its outputs best, in both. What two sets of draws from one
distribution would differ by is said with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.claims.integration import gate_floats
from symreln.claims.rules import rule_of
from symreln.networks.nearest_gates import nearest_gates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation
    from symreln.effective.network import EffectiveNetwork, Look
    from symreln.train.run import TrainingRun


@record(eq=False)
class UnitsMet:
    """How far maps by gate are from each other, mean over networks and over draws.

    Attributes:
        steps: Of the horizon and of the drops that were recorded.
        distances: ‖networks − effective‖/‖networks‖, Frobenius norms over all gates.
        by_chance: What draws of one distribution would leave; none where one network is trained.
    """

    steps: tuple[int, ...]
    distances: tuple[float, ...]
    by_chance: tuple[float, ...]

    @property
    def sentence(self) -> str:
        """Say it."""
        said = (
            "units of the ReLU network by gate: their maps differ from the effective network's by "
            f"{percent(self.distances[0])} at the horizon ({self._where(0)})"
        )
        if len(self.steps) == 1:
            return said
        at = 1 + int(np.argmax(self.distances[1:]))
        return f"{said} and by at most {percent(self.distances[at])} at drops ({self._where(at)})"

    def _where(self, at: int) -> str:
        chance = f"; by chance {percent(self.by_chance[at])}" if self.by_chance else ""
        return f"step {self.steps[at]}{chance}"

    @classmethod
    def of(
        cls, numbers: Derivation, network: TrainingRun | None, looks: Mapping[int, Look]
    ) -> UnitsMet | None:
        """Return the distances; None where nothing was recorded.

        Args:
            numbers: Without free parameters, with gates from the data.
            network: The trained networks, with ``"gate_maps"`` at the steps of the looks.
            looks: :func:`met_looks`.
        """
        if network is None or "gate_maps" not in network.snapshots:
            return None
        places = {step: place for place, step in enumerate(network.snapshot_steps) if step in looks}
        if not places:
            return None
        found = numbers.ask(rule_of("found"))
        inputs = numbers.spec.dataset.arrays[0]
        gates = np.array([gate_floats(pathway) for pathway in numbers.spec.pathways])
        distances, chances = [], []
        for step, place in places.items():
            ours = _maps(found.network, looks[step], inputs, gates)
            theirs = network.snapshots["gate_maps"][:, place]
            size = np.linalg.norm(theirs.mean(axis=0))
            distances.append(float(np.linalg.norm(theirs.mean(axis=0) - ours.mean(axis=0)) / size))
            if len(theirs) > 1:
                variances = (
                    np.var(each, axis=0, ddof=1).sum() / len(each) for each in (ours, theirs)
                )
                chances.append(float(np.sqrt(sum(variances)) / size))
        return cls(steps=tuple(places), distances=tuple(distances), by_chance=tuple(chances))


def met_looks(numbers: Derivation) -> dict[int, Look]:
    """Return the looks that are compared, by their steps; none where gates are given."""
    found = numbers.ask(rule_of("found"))
    if found is None:
        return {}
    looks = {look.step: look for look in found.network.looks}
    steps = [found.network.horizon, *(drop.step for drop in found.timeline)]
    nearest = (min(looks, key=lambda each: abs(each - step)) for step in steps)
    return {step: looks[step] for step in dict.fromkeys(nearest)}


def _maps(
    network: EffectiveNetwork, look: Look, inputs: np.ndarray, gates: np.ndarray
) -> np.ndarray:
    """Return the maps by gate of every draw, shape (draws, gates, n_y, n_x)."""
    first, second = np.split(look.units, [len(inputs)], axis=2)
    index = nearest_gates(first @ inputs, gates)
    kept = [np.where((index == gate)[:, :, None], second, 0.0) for gate in range(len(gates))]
    return np.stack([network.span @ (b.transpose(0, 2, 1) @ first) for b in kept], axis=1)
