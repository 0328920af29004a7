"""Derivations with few hidden units: gradient descent averaged over the law of initial weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.laws.few_units import FewUnits

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.claims.prediction import Prediction
    from symreln.laws.few_units import Descended

#: A stream of its own: no network is trained with it.
SEED = 27_183
#: Networks that are drawn, and the fewest: then the mean is known to a seventh of their scatter.
DRAWS, FEWEST = 400, 50
#: Multiplications above which fewer are drawn: a few seconds of one core.
BUDGET = 5e9


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class NarrowLaw:
    """Networks with few units that were drawn and descended in mode coordinates.

    Attributes:
        losses: One row a network, shape (draws, steps).
        labels: By pathway, the label of every mode, equal ones one by one.
        pathways: What the networks did in every pathway.
    """

    losses: np.ndarray
    labels: tuple[tuple[str, ...], ...]
    pathways: tuple[Descended, ...]

    @property
    def error(self) -> float:
        """Largest standard error of the mean loss, over L(0)."""
        found = self.losses.std(axis=0, ddof=1).max() / sqrt(len(self.losses))
        return float(found / self.losses[:, 0].mean())

    def strengths(self) -> dict[str, np.ndarray]:
        """Return the mean strength of every mode by label, over networks and equal modes."""
        found: dict[str, list[np.ndarray]] = {}
        for labels, one in zip(self.labels, self.pathways, strict=True):
            for label, curve in zip(labels, one.strengths, strict=True):
                found.setdefault(label, []).append(curve)
        return {label: np.mean(curves, axis=0) for label, curves in found.items()}


def narrow_law(derivation: Derivation, draws: int | None = None) -> NarrowLaw:
    """Draw networks and descend them.

    Pathways do not couple where this is asked, so each is drawn by itself; what is left of their
    weights outside the modes is taken not to couple either.

    Args:
        derivation: Without free parameters, with a network of two layers; closed, in one stage.
        draws: How many networks; as many as a few seconds are enough for where not given.

    Raises:
        InputError: They diverge.
    """
    from symreln.claims.prediction import probe_bases

    network = network_of(derivation.spec)
    found = [_few(derivation, pathway) for pathway in derivation.pathways]
    if draws is None:
        cost = sum(one.multiplications for one in found) * network.steps
        draws = int(min(DRAWS, max(FEWEST, BUDGET // max(1, cost))))
    rate, random = 1 / float(derivation.tau or 1), np.random.default_rng(SEED)
    pathways = tuple(one.descend(draws, network.steps, rate, random) for one in found)
    losses = sum((one.losses for one in pathways), np.zeros((draws, network.steps)))
    losses = losses + float(derivation.initial_loss.to_fraction())
    if not np.isfinite(losses).all():
        msg = (
            f"network.learning_rate = {float(network.learning_rate):g}: gradient descent of drawn "
            "networks diverged. Lower it"
        )
        raise InputError(msg)
    labels = tuple(tuple(probe_bases(pathway)[2]) for pathway in derivation.pathways)
    return NarrowLaw(losses=losses, labels=labels, pathways=pathways)


def _few(derivation: Derivation, pathway: PathwayDerivation) -> FewUnits:
    from symreln.claims.prediction import probe_bases

    network, spec = network_of(derivation.spec), pathway.effective.pathway
    law = float(derivation.known.units or 1)
    units = spec.hidden or max(1, round(law))
    u, v, _ = probe_bases(pathway)
    sigma_yx = pathway.effective.sigma_yx.to_numpy()
    return FewUnits.of(
        s=np.einsum("ia,ij,ja->a", u, sigma_yx, v),
        v=v,
        sigma_x=pathway.effective.sigma_x.to_numpy(),
        outputs=len(spec.outputs),
        units=units,
        init_std=float(network.init_std) * (sqrt(law / units) if spec.hidden else 1.0),
    )


def predict_narrow(derivation: Derivation, flow: Prediction) -> Prediction:
    """Predict the mean over the law of the initial weights, step by step.

    Args:
        derivation: As for :func:`narrow_law`.
        flow: The closed forms of the modes that are learned first.
    """
    law = narrow_law(derivation)
    strengths = law.strengths()
    return replace(
        flow,
        loss=law.losses.mean(axis=0),
        method=(
            f"gradient descent on the modes of {len(law.losses)} networks drawn from the law of "
            f"the initial weights, step by step: their mean, to {100 * law.error:.2g} % of L(0)"
        ),
        modes=tuple(replace(mode, integrated=strengths[mode.label]) for mode in flow.modes),
        flow_loss=flow.loss,
        # Closed forms are of a mode that gets a unit: not of what networks learn in the mean.
        judged="reduced",
        drawn=law,
    )
