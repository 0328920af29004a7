r"""The law of gates beside trained networks: shares of the first stage's gates.

Shares are of the weight Σ ‖w‖‖b‖ of a network's units, at every step that was recorded: of those
whose gate at that step is one of the first stage's pathways'. The law is
:mod:`symreln.claims.gate_law`. It does not say what units that leave do to the loss: the effective
network (:mod:`symreln.effective.network`) does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.claims.gate_law import gate_law_of, telling_samples
from symreln.claims.integration import gate_floats
from symreln.networks.nearest_gates import share_with

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun


@record(eq=False)
class GateLawMeasured:
    """The law of gates beside trained networks.

    Attributes:
        steps: The K recorded steps, from where units have turned to their gates on.
        predicted: Share of the weight with the first stage's gates at these, shape (K,).
        measured: Of every network, shape (seeds, K).
    """

    steps: np.ndarray
    predicted: np.ndarray
    measured: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean share over networks, shape (K,)."""
        return self.measured.mean(axis=0)

    @property
    def distance(self) -> float:
        """The largest distance of the share to the mean of all networks."""
        return float(np.abs(self.predicted - self.mean).max())

    @classmethod
    def of(cls, numbers: Derivation, network: TrainingRun | None) -> GateLawMeasured | None:
        """Compare the law of gates with networks; None where there is no law or no gates.

        Args:
            numbers: Without free parameters.
            network: Trained ReLU networks, with their gates.
        """
        law = numbers.ask(gate_law_of)
        if network is None or "activity" not in network.snapshots or law is None or not law.found:
            return None
        recorded = np.array(network.snapshot_steps)
        places = np.flatnonzero(recorded >= law.begins)
        steps = recorded[places]
        if not len(steps):
            return None
        pathways = [p for each in law.found for p in numbers.pathways if p.name in each.pathways]
        gates = [
            (gate_floats(pathway.effective.pathway) > 0, ~telling_samples(numbers, pathway))
            for pathway in pathways
        ]
        active, weight = (network.snapshots[name] for name in ("activity", "contribution"))
        measured = share_with(active[:, places] > 0, weight[:, places], gates)
        return cls(steps=steps, predicted=law.share(steps), measured=measured)
