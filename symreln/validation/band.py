"""How far networks of one width scatter, predicted from the scatter of their initial strengths.

A mode of a network with H units starts from a mean over them, so its initial strength scatters by
spread/√H, relative to its mean: √2 for a linear network (squares of Gaussians), what the early
phase of single units says for a ReLU network. Half times follow by τ/(2s) times that, and all
curves by the same descent that predicts their mean. The strengths are drawn log-normal, which has
their mean and variance and is positive; equal modes are taken to scatter independently, so their
mean scatters by the root of their number less. What makes networks differ besides, above all gates
that end elsewhere, is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from symreln.dynamics.initial import pathway_units
from symreln.dynamics.reduced_flow import ModeStart
from symreln.early import start_factor
from symreln.integration import mode_probes, network_of, reduced_flow
from symreln.validation.metrics import SeedBand, SeedFloor, seed_band, seed_floor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.derivation import Derivation
    from symreln.dynamics.early_phase import EarlyStrength

#: Curves that are drawn: their spread is then known to about 15 %.
DRAWS = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictedBand:
    """Predicted curves of several networks.

    Attributes:
        losses: One row a network, shape (draws, steps).
    """

    losses: np.ndarray

    @property
    def band(self) -> SeedBand:
        """Quantiles at every step."""
        return seed_band(self.losses)

    @property
    def floor(self) -> SeedFloor:
        """What each curve differs from the mean of the others, as for trained networks."""
        found = seed_floor(self.losses)
        assert found is not None
        return found


def predicted_band(
    derivation: Derivation,
    early: Mapping[str, EarlyStrength],
    kappas: Mapping[str, float],
    rng: int = 0,
    draws: int = DRAWS,
) -> PredictedBand:
    """Predict the curves of ``draws`` networks.

    Args:
        derivation: Without free parameters, with a network.
        early: What the early phase says of modes, by label.
        kappas: κ by the label of the modes that start from it.
        rng: Seed of the draws, a stream of its own.
        draws: How many.
    """
    network = network_of(derivation.spec)
    labels, probes = mode_probes(derivation)
    flow = reduced_flow(derivation)
    units = float(pathway_units(network))
    means = [kappas.get(label, units / network.hidden) for label in labels]
    spreads = [
        relative_spread(network.hidden, units, early.get(label), probe.v.shape[1])
        for label, probe in zip(labels, probes, strict=True)
    ]
    random = np.random.default_rng(np.random.SeedSequence(rng).spawn(4)[3])
    losses = []
    for _ in range(draws):
        starts = [
            ModeStart(probe=probe, factor=start_factor(network, mean * _drawn(random, spread)))
            for probe, mean, spread in zip(probes, means, spreads, strict=True)
        ]
        losses.append(flow.descent(network.steps, (), starts).losses)
    return PredictedBand(losses=np.array(losses))


def relative_spread(
    hidden: int, units: float, early: EarlyStrength | None, multiplicity: int
) -> float:
    """Return the standard deviation of a mode's initial strength over its mean.

    Args:
        hidden: H of the network.
        units: Units that the expected initial strength counts.
        early: What the early phase says of the mode, or None.
        multiplicity: Equal modes, whose mean strength is meant.
    """
    one = sqrt(2 / units) if early is None else early.spread / sqrt(hidden)
    return one / sqrt(multiplicity)


def _drawn(random: np.random.Generator, spread: float) -> float:
    """Draw a positive number of mean 1 and standard deviation ``spread``."""
    width = sqrt(log1p(spread**2))
    return float(np.exp(width * random.standard_normal() - width**2 / 2))
