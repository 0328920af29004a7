"""What curves.npz holds: losses, strengths of modes and gates of networks, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.experiment.gates_held import pathway_shares

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation

#: Bytes up to which gates are saved unit by unit, beside their shares.
MOST_BYTES = 20_000_000


def curves_of(validation: Validation) -> dict[str, np.ndarray]:
    """Return the arrays of curves.npz by name.

    ``gdln`` and ``network`` begin the names of what is of the gated deep linear networks and of
    those without given gates. Of S networks of a kind at K steps and M modes, as ``_mode_steps``
    (K,), ``_mode_pathways`` and ``_mode_labels`` (M,), ``_mode_plateaus`` (M,),
    ``_strengths`` (S, M, K) and ``_strengths_predicted`` (M, K). Of ReLU networks with one
    hidden layer of H units on P samples ``gate_steps`` (K,), ``gate_pathways`` (G,) and
    ``gate_shares`` (S, K, G), shares of the weight Σ ‖w‖‖b‖; and where they have at most
    :data:`MOST_BYTES`, ``gate_activity`` (S, K, H, P) and ``gate_weights`` (S, K, H).
    """
    found = {**validation.curves, "steps": validation.prediction.times}
    for kind, subject in (("gdln", "gdln"), ("network", "relu")):
        modes = [mode for mode in validation.modes if mode.subject == subject]
        if modes:
            found |= {
                f"{kind}_mode_steps": np.array(modes[0].steps),
                f"{kind}_mode_pathways": np.array([mode.pathway for mode in modes]),
                f"{kind}_mode_labels": np.array([mode.label for mode in modes]),
                f"{kind}_mode_plateaus": np.array([mode.plateau for mode in modes]),
                f"{kind}_strengths": np.stack([mode.measured for mode in modes], axis=1),
                f"{kind}_strengths_predicted": np.stack([mode.predicted for mode in modes]),
            }
    return found | _gates(validation)


def _gates(validation: Validation) -> dict[str, np.ndarray]:
    network = validation.network
    shares = pathway_shares(validation.numbers, network)
    if network is None or shares is None:
        return {}
    found = {
        "gate_steps": np.array(network.snapshot_steps),
        "gate_pathways": np.array(shares[0]),
        "gate_shares": shares[1],
    }
    activity, weights = network.snapshots["activity"], network.snapshots["contribution"]
    if activity.nbytes + weights.nbytes > MOST_BYTES:
        return found
    return found | {"gate_activity": activity.astype(bool), "gate_weights": weights}
