"""How far networks of one width scatter, predicted from the law of their initial strengths alone.

A mode of a network with H units starts from a sum over them, so its initial strength scatters by
spread/√H, relative to its mean: √2 for a linear network, whose strengths have the chi-square law of
H squares of Gaussians, what the early phase of isolated units says for a ReLU network. All curves
follow by the same descent that predicts their mean. A ReLU network draws H of the units that were
followed, for all modes together: a unit that one pathway gets is lost to the others. Where no units
were followed, strengths have the gamma law of their mean and variance, for a linear network that
chi-square law; equal modes scatter independently, so their mean scatters by the root of their
number less. Modes of three and more layers start where single modes of as many random layers were
followed to start, one drawn for each. With few hidden units the networks are drawn whole, in mode
coordinates. What makes networks differ besides, above all gates that end elsewhere, is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.early import start_factor
from symreln.claims.integration import descending_flow, mode_probes, network_of
from symreln.claims.prediction import first_modes, matrices_of
from symreln.experiment.closed import chain_losses
from symreln.experiment.metrics import SeedBand, SeedFloor, drop_time, seed_band, seed_floor
from symreln.laws.law import pathway_units
from symreln.laws.reduced_flow import ModeStart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.claims.derivation import Derivation
    from symreln.claims.narrow_law import NarrowLaw
    from symreln.laws.chain_start import ChainStart
    from symreln.laws.coupled_matrices import EqualModes
    from symreln.laws.early_phase import EarlyStrength
    from symreln.laws.reduced_flow import ModeProbe

#: Networks that are drawn: the edges of the band are then known to about a tenth of its width.
DRAWS = 200
#: Networks under which none are drawn: their edges are the outermost of them.
FEWEST = 20
#: Multiplications that are spent where nothing else is asked for, a few seconds of one core, and
#: those up to which the fewest networks are drawn all the same.
BUDGET, USUAL_COST = 5e9, 6e10
#: Quantiles of the band: 95 of 100 networks are predicted to be inside.
QUANTILES = (0.025, 0.5, 0.975)
#: Means of several networks that are drawn, the quantile of their distances, and their stream.
MEANS, LEVEL, SEED = 400, 0.95, 16_180


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class PredictedBand:
    """Predicted curves of several networks.

    Attributes:
        losses: One row a network, shape (draws, steps).
        law: The networks themselves where pathways have few hidden units, else None.
        trained: How many networks are trained beside; None where none are.
    """

    losses: np.ndarray
    law: NarrowLaw | None = None
    trained: int | None = None

    @property
    def draws(self) -> int:
        """How many networks were drawn."""
        return len(self.losses)

    @property
    def band(self) -> SeedBand:
        """Quantiles at every step."""
        return seed_band(self.losses, QUANTILES)

    @property
    def floor(self) -> SeedFloor:
        """What each curve differs from the mean of as many others as those that are trained."""
        several = self.trained is not None and self.trained > 1
        found = seed_floor(self.losses, self.trained if several else None)
        assert found is not None
        return found

    def width(self) -> float:
        """Return the largest width of the band over the mean first loss."""
        low, _, high = self.band.values
        return float((high - low).max() / self.losses[:, 0].mean())

    def drop_times(self) -> tuple[float, ...] | None:
        """Return the quantiles of the drop times; None where a network never drops."""
        found = [drop_time(curve) for curve in self.losses]
        if None in found:
            return None
        return tuple(float(x) for x in np.quantile(np.array(found, dtype=float), QUANTILES))

    def by_chance(self, networks: int) -> float:
        """Return how far the mean of some networks is from that of all, by chance alone.

        The 95 % quantile of max |ΔL|/L(0), over means of as many of the drawn networks.

        Args:
            networks: How many.
        """
        random = np.random.default_rng(SEED)
        share = np.full(self.draws, 1 / self.draws)
        picked = random.multinomial(networks, share, size=MEANS) / networks - share
        apart = np.abs(picked @ self.losses).max(axis=1)
        return float(np.quantile(apart, LEVEL) / self.losses[:, 0].mean())

    def covered(self, losses: np.ndarray) -> np.ndarray:
        """Return which share of its time every curve is inside the band, shape (curves,).

        Every step counts as much as the band is wide there: where all networks are alike nothing
        is asked of it.

        Args:
            losses: Curves at the same steps, shape (curves, steps).
        """
        low, _, high = self.band.values
        width = high - low
        inside = (losses >= low) & (losses <= high)
        total = float(width.sum())
        return inside @ width / total if total > 0 else np.ones(len(losses))


def why_no_band(derivation: Derivation) -> str:
    """Return why no band is predicted, whatever it costs, or "".

    With few hidden units the prediction brings it: it is the mean of networks that were drawn.
    """
    if derivation.known.units is None:
        return "a single layer amplifies nothing of its initial weights"
    return ""


def predicted_band(
    derivation: Derivation,
    early: Mapping[str, EarlyStrength],
    kappas: Mapping[str, float],
    rng: int = 0,
    draws: int | None = None,
    *,
    chain: ChainStart | None = None,
    whatever_cost: bool = False,
) -> PredictedBand | None:
    """Predict the curves of networks; None where that takes long.

    Args:
        derivation: Without free parameters, with a network, of which :func:`why_no_band` is "".
        early: What the early phase says of modes, by label.
        kappas: κ by the label of the modes that start from it.
        rng: Seed of the draws, a stream of its own.
        draws: How many networks; as many as a few seconds are enough for where not given.
        chain: Where modes of three or more layers start.
        whatever_cost: Whether the fewest are drawn also where that takes long.
    """
    random = np.random.default_rng(np.random.SeedSequence(rng).spawn(4)[3])
    if chain is not None:
        return PredictedBand(losses=_of_chains(derivation, chain, random, draws or DRAWS))
    law = _Law.of(derivation, early, kappas)
    steps = network_of(derivation.spec).steps
    modes: Sequence[EqualModes | ModeStart]
    if derivation.later:
        systems, first = derivation.ask(matrices_of), first_modes(derivation)
        modes = [first[label] for label in law.labels]
    else:
        modes = law.generic()
        systems = descending_flow(derivation).blocks(modes)
    cost = max(1, systems.multiplications) * steps
    if draws is None:
        if FEWEST * cost > USUAL_COST and not whatever_cost:
            return None
        draws = int(min(DRAWS, max(FEWEST, BUDGET // cost)))
    starts: Any = [
        [replace(mode, factor=float(factor)) for mode, factor in zip(modes, row, strict=True)]
        for row in law.drawn(random, draws)
    ]
    return PredictedBand(losses=systems.descents(steps, starts))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Law:
    """The law of the strengths that modes start from, over the expected one.

    Attributes:
        labels: Of the modes.
        probes: The modes.
        means: Mean of every mode.
        spreads: Its standard deviation over its mean.
        units: What isolated units add to it over their mean, or None.
        orbits: Places of modes that a symmetry exchanges, in the order of their pathways.
        hidden: H of the network.
    """

    labels: list[str]
    probes: list[ModeProbe]
    means: np.ndarray
    spreads: np.ndarray
    units: list[np.ndarray | None]
    orbits: list[list[int]]
    hidden: int

    @classmethod
    def of(
        cls,
        derivation: Derivation,
        early: Mapping[str, EarlyStrength],
        kappas: Mapping[str, float],
    ) -> _Law:
        network = network_of(derivation.spec)
        labels, probes = mode_probes(derivation)
        expected = float(pathway_units(network))
        own = [pathway.effective.pathway.hidden for pathway in derivation.pathways]
        means = [kappas.get(label, expected / network.hidden) for label in labels]
        spreads = [
            relative_spread(
                network.hidden,
                float(own[probe.pathway] or expected),
                early.get(label),
                probe.v.shape[1],
            )
            for label, probe in zip(labels, probes, strict=True)
        ]
        return cls(
            labels=labels,
            probes=probes,
            means=np.array([start_factor(network, mean) for mean in means]),
            spreads=np.array(spreads),
            units=[early[label].units if label in early else None for label in labels],
            orbits=[
                [labels.index(member) for member in orbit]
                for orbit in {found.orbit for found in early.values()}
            ],
            hidden=network.hidden,
        )

    def generic(self) -> list[ModeStart]:
        """Return starts that are all different."""
        factors = self.means * (1 + np.arange(len(self.means)) / (7 * len(self.means) + 1))
        return [
            ModeStart(probe=probe, factor=float(factor))
            for probe, factor in zip(self.probes, factors, strict=True)
        ]

    def drawn(self, random: np.random.Generator, draws: int) -> np.ndarray:
        """Return the factors of several networks, shape (draws, modes)."""
        found = np.array(
            [[_drawn(random, spread) for spread in self.spreads] for _ in range(draws)]
        )
        found = found.reshape(draws, len(self.means))
        followed = [place for place, units in enumerate(self.units) if units is not None]
        if followed:
            units = np.array([self.units[place] for place in followed])
            count = units.shape[1]
            picked = random.multinomial(self.hidden, np.full(count, 1 / count), size=draws)
            found[:, followed] = picked @ units.T / self.hidden
        # In law nothing tells the modes of an orbit apart; the units that were followed do. Turned
        # round together, all modes of a pathway go to those of another one.
        turns = random.integers(lcm(1, *map(len, self.orbits)), size=(draws, 1))
        for orbit in self.orbits:
            places = (np.arange(len(orbit)) + turns) % max(1, len(orbit))
            found[:, orbit] = np.take_along_axis(found[:, orbit], places, axis=1)
        return found * self.means


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
    """Draw a positive number of mean 1 and standard deviation ``spread`` from the gamma law."""
    return float(random.gamma(1 / spread**2, spread**2))


def _of_chains(
    derivation: Derivation, chain: ChainStart, random: np.random.Generator, draws: int
) -> np.ndarray:
    """Return the losses of networks of three or more layers, shape (draws, steps)."""
    losses = np.zeros((draws, network_of(derivation.spec).steps))
    count = len(chain.times)
    for mode, curves in chain_losses(derivation, chain):
        picked = random.multinomial(mode.multiplicity, np.full(count, 1 / count), size=draws)
        losses += picked @ curves
    return losses + float(derivation.final_loss.to_fraction())
