r"""What Assumption 2.1.1 would predict where it does not hold: modes that keep to their directions.

Mutual diagonalisability says that the singular vectors of every pathway's correlation stay the
network's own: W_p(t) = Σ_α π_α(t) u_α v_αᵀ at all times. Projecting the pathway's error on them,

.. math:: \tau \dot\pi_\alpha = 2 \pi_\alpha u_\alpha^\top E(p) v_\alpha, \qquad
          E(p) = \Sigma^{yx}(p) - \sum_j O_p O_j W_j \Sigma^x(j, p),

which is the whole flow of an aligned start where the assumption holds. Where it does not, the
directions turn, and what this curve misses is what the assumption costs. The square roots of the
strengths descend by the finite steps of gradient descent, so nothing else is left out.

Source: the assumption is 2.1.1 of [Jarvis2025]; float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.early import start_factor
from symreln.claims.integration import gate_floats, network_of
from symreln.claims.probes import probe_bases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation, PathwayDerivation


def mode_descent(numbers: Derivation, kappas: Mapping[str, float]) -> np.ndarray:
    """Return the loss of modes that keep to their directions, at every step of the network.

    Args:
        numbers: Without free parameters, of one phase, with a network of two layers.
        kappas: κ by the label of the modes that start from it.
    """
    network = network_of(numbers.spec)
    pathways = numbers.pathways
    dataset = numbers.spec.dataset
    targets = dataset.targets.to_numpy() / np.sqrt(dataset.samples)
    inputs = dataset.inputs.to_numpy() / np.sqrt(dataset.samples)
    outputs, features, stages, amplitude = [], [], [], []
    usual = float(numbers.strength0 or 0)
    for pathway in pathways:
        u, v, labels = probe_bases(pathway)
        outputs.append(u)
        features.append(v.T @ _seen(pathway, inputs))
        stages += [pathway.stage] * len(labels)
        amplitude += [
            np.sqrt(usual * (start_factor(network, kappas[label]) if label in kappas else 1))
            for label in labels
        ]
    u, seen = np.hstack(outputs), np.concatenate(features)
    # Every mode writes u_α π_α (v_α·x): products of these patterns are all that is needed.
    drive = np.einsum("ya,yp,ap->a", u, targets, seen, optimize=True)
    overlap = (u.T @ u) * (seen @ seen.T)
    felt = overlap * _felt(np.array(stages), staged=network.training == "staged")
    return _descend(
        np.array(amplitude),
        drive,
        felt,
        overlap,
        float(numbers.initial_loss.to_fraction()),
        1 / float(numbers.tau or 1),
        network.steps,
    )


def _seen(pathway: PathwayDerivation, inputs: np.ndarray) -> np.ndarray:
    """Return X_p/√P of a pathway's own inputs."""
    spec = pathway.effective.pathway
    if spec.boundary:
        return pathway.effective.inputs.to_numpy() / np.sqrt(inputs.shape[1])
    return inputs[list(spec.inputs)] * gate_floats(spec)


def _felt(stages: np.ndarray, *, staged: bool) -> np.ndarray:
    """Return 1 where the mode of the row sees that of the column: earlier stages see no later."""
    return (stages[None, :] <= stages[:, None]) if staged else np.ones((len(stages), len(stages)))


def _descend(
    amplitude: np.ndarray,
    drive: np.ndarray,
    felt: np.ndarray,
    overlap: np.ndarray,
    initial: float,
    rate: float,
    steps: int,
) -> np.ndarray:
    losses = np.empty(steps)
    for step in range(steps):
        strength = amplitude**2
        losses[step] = initial - drive @ strength + 0.5 * strength @ overlap @ strength
        amplitude = amplitude + rate * amplitude * (drive - felt @ strength)
    return losses
