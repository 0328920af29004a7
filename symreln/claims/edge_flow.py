"""The flow of all edges from weights that are drawn: what is left where modes do not close.

Edges that pathways share, or of other than two layers whose modes couple, have no reduction to
matrices of one start: what their networks do depends on the weights that they are drawn with. So
many are drawn from the initialisation distribution, and all edges descend in the exact
correlations, step by step: no sample and no network is looked at. Float64, seeded.
"""

from __future__ import annotations

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.probes import mode_bases
from symreln.errors import InputError, NotSupportedError
from symreln.laws.network_flow import NetworkFlow

#: A stream of its own: no network is trained with it.
_SEED = 14_142
#: Networks that are drawn, and weights times steps of one up to which they are descended: minutes.
_DRAWS, _MOST = 16, 10**9


def edge_flow(
    derivation: Derivation, looks: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw weights of all edges and descend them.

    Args:
        derivation: Without free parameters, with a network.
        looks: Ascending steps at which they are looked at.

    Returns:
        The losses, shape (draws, looks), and the mean strength of every mode by label.

    Raises:
        InputError: They diverge.
        NotSupportedError: There are too many weights and steps.
    """
    network, edges = network_of(derivation.spec), derivation.spec.edges
    flow, random = NetworkFlow.of(edges), np.random.default_rng(_SEED)
    rate, std = 1 / float(derivation.tau or 1), float(network.init_std)
    size = sum(rows * columns for rows, columns in flow.shapes)
    if size * int(looks[-1]) > _MOST:
        msg = (
            f"the flow of all edges, {size} weights over {int(looks[-1])} steps, takes too long. "
            "Give hidden nodes fewer units, or take fewer steps"
        )
        raise NotSupportedError(msg)
    weights = [std * random.standard_normal((_DRAWS, *shape)) for shape in flow.shapes]
    probes = []
    for place, pathway in enumerate(derivation.pathways):
        rows = list(pathway.effective.pathway.outputs)
        probes += [(place, label, u[rows], v) for label, (u, v) in mode_bases(pathway).items()]
    losses = np.empty((_DRAWS, len(looks)))
    strengths = {label: np.empty(len(looks)) for _, label, _, _ in probes}
    step = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for column, look in enumerate(looks):
            while step < look:
                slopes = flow.velocity(weights)
                weights = [w + rate * slope for w, slope in zip(weights, slopes, strict=True)]
                step += 1
            maps = flow.maps(weights)
            losses[:, column] = flow.loss(maps)
            for place, label, u, v in probes:
                seen = np.einsum("ym,dyx,xm->", u, maps[place], v) / (_DRAWS * u.shape[1])
                strengths[label][column] = seen
    if not np.isfinite(losses).all():
        msg = (
            f"network.learning_rate = {float(network.learning_rate):g}: gradient descent of drawn "
            "networks diverged. Lower it"
        )
        raise InputError(msg)
    return losses, strengths
