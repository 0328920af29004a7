"""What curves.npz holds: losses, strengths of modes and gates of networks, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.experiment.gates_held import pathway_shares

if TYPE_CHECKING:
    from symreln.experiment.outcome import Validation

#: Bytes up to which gates are saved unit by unit, beside their shares.
MOST_BYTES = 20_000_000
#: What is said of every mode.
_OF = ("pathway", "label", "plateau")


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
    found, network = dict(validation.curves), validation.network
    own: dict[str, Any] = {"steps": validation.prediction.times}
    for kind, subject in (("gdln", "gdln"), ("network", "relu")):
        modes = [mode for mode in validation.modes if mode.subject == subject]
        if modes:
            own |= {f"{kind}_mode_{name}s": [getattr(mode, name) for mode in modes] for name in _OF}
            own[f"{kind}_mode_steps"] = modes[0].steps
            own[f"{kind}_strengths"] = np.stack([mode.measured for mode in modes], axis=1)
            own[f"{kind}_strengths_predicted"] = [mode.predicted for mode in modes]
    shares = pathway_shares(validation.numbers, network)
    if network is not None and shares:
        units = network.snapshots["activity"], network.snapshots["contribution"]
        own |= {"gate_steps": network.snapshot_steps, "gate_pathways": [*shares]}
        own["gate_shares"] = np.stack([*shares.values()], axis=2)
        if sum(array.nbytes for array in units) <= MOST_BYTES:
            own["gate_activity"], own["gate_weights"] = units
    return found | {name: np.asarray(values) for name, values in own.items()}
