"""Initial strengths of a derivation's modes by the early phase of its ReLU network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.gate_support import first_pathways, has_early_phase, unsupported_pathways
from symreln.claims.integration import gate_floats, network_of
from symreln.claims.solve import at_values
from symreln.exact.numeric import numpy_modes
from symreln.laws.early_phase import (
    MOST_LOOKS,
    UNITS,
    EarlyMode,
    EarlyPhase,
    EarlyStrength,
)
from symreln.laws.law import pathway_units
from symreln.network.orbits import pathway_orbits

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.spec.model import NetworkSpec

#: A stream of its own: no network is trained with it.
SEED = 20_614


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class EarlyStrengths(Mapping[str, EarlyStrength]):
    """What the early phase says of a derivation's modes, by the label of their strength.

    Only modes with a κ are in it. Constants of modes in one symmetry orbit are equal.

    Attributes:
        strengths: κ of the modes that have one.
        unsupported: Why a pathway of the first stage has no κ, by name: no unit keeps its gate, or
            gates do not settle.
        followed: Units that were followed; 0 where no pathway has a gate that units keep.
        elsewhere: Share of these units that are open on some sample and have no pathway's gate.
        closed: Share of these units that are closed on all samples.
    """

    strengths: Mapping[str, EarlyStrength] = field(default_factory=dict)
    unsupported: Mapping[str, str] = field(default_factory=dict)
    followed: int = 0
    elsewhere: float = 0.0
    closed: float = 0.0

    def __getitem__(self, label: str) -> EarlyStrength:
        """Return what is known of a mode."""
        return self.strengths[label]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the labels of modes with a κ."""
        return iter(self.strengths)

    def __len__(self) -> int:
        """Return how many modes have a κ."""
        return len(self.strengths)


def early_strengths(derivation: Derivation) -> EarlyStrengths:
    """Return κ of every mode that the early phase decides, and why pathways have none.

    These are the modes of the pathways that learn first: later stages learn a residual that is
    not there yet. Nothing is said of a linear network, whose κ is 1, of a ReLU network that is
    linear at half speed, whose κ is 1/2, and of gates with gains, which no ReLU unit has.

    Weight decay shrinks all weights of all units by one factor k a step, which no gate feels and
    no share: a step η with it is k times a step η/k without.

    A Monte Carlo estimate over isolated hidden units, at the declared values of parameters.

    Args:
        derivation: With a network.
    """
    numbers = derivation.ask(at_values)
    if numbers is not derivation:
        return numbers.ask(early_strengths)
    network = network_of(derivation.spec)
    step = 1 / float(network.tau(derivation.spec.dataset.samples))
    keep = 1 - step * float(network.weight_decay)
    if not has_early_phase(derivation) or keep <= 0:
        return EarlyStrengths()
    unsupported = dict(derivation.ask(unsupported_pathways))
    kept = [p for p in first_pathways(derivation) if p.name not in unsupported]
    asked = [
        (pathway, mode, early)
        for place, pathway in enumerate(kept)
        for mode, early in zip(pathway.modes, _modes(pathway, place), strict=True)
        if early is not None
    ]
    if not asked:
        return EarlyStrengths(unsupported=unsupported)
    dataset = derivation.spec.dataset
    phase = EarlyPhase(
        dataset.inputs.to_numpy(),
        dataset.targets.to_numpy(),
        np.array([gate_floats(pathway.effective.pathway) for pathway in kept]),
        step / keep,
        np.random.default_rng(SEED),
        scales=derivation.known.scales,
    )
    originals = pathway_orbits(dataset, [pathway.effective.pathway for pathway in kept])
    orbits = [(originals[early.pathway], mode.number) for _, mode, early in asked]
    found = phase.strengths([early for _, _, early in asked], orbits)
    members: dict[tuple[int, int], list[str]] = {}
    for orbit, (_, mode, _) in zip(orbits, asked, strict=True):
        members.setdefault(orbit, []).append(mode.label)
    strengths = {
        mode.label: replace(strength, orbit=tuple(members[orbit]))
        for orbit, (_, mode, _), strength in zip(orbits, asked, found, strict=True)
        if strength.settled
    }
    for (pathway, mode, _), strength in zip(asked, found, strict=True):
        if mode.number == 1 and not strength.settled:
            unsupported[pathway.name] = _why_none(strength)
    return EarlyStrengths(
        strengths=strengths,
        unsupported=unsupported,
        followed=UNITS,
        elsewhere=found[0].elsewhere,
        closed=found[0].closed,
    )


def _why_none(strength: EarlyStrength) -> str:
    """Say why a mode whose pathway may have units has no κ."""
    if not strength.kappa:
        return f"none of the {UNITS} units that were followed ended with its gate"
    return (
        f"gates have not settled after {MOST_LOOKS} growth times: units that add "
        f"{100 * strength.moved:.2g} % of κ came to its gate or left it in the last of them"
    )


def pathway_kappas(
    derivation: Derivation, strengths: Mapping[str, EarlyStrength]
) -> dict[str, float]:
    """Return κ of every pathway that has one, by name: that of its fastest mode.

    A pathway is one law for all of its modes, as a gated deep linear network of κ H units is.
    """
    return {
        pathway.name: strengths[pathway.modes[0].label].kappa  # modes are by decreasing s
        for pathway in derivation.pathways
        if pathway.modes[0].label in strengths
    }


def mode_kappas(derivation: Derivation, kappas: Mapping[str, float]) -> dict[str, float]:
    """Return κ by the label of every mode that learns something, from that of its pathway."""
    return {
        mode.label: kappas[pathway.name]
        for pathway in derivation.pathways
        if pathway.name in kappas
        for mode in pathway.modes
        if not mode.is_null
    }


def start_factor(network: NetworkSpec, kappa: float) -> float:
    """Return how many times the expected initial strength a mode with κ starts from."""
    return kappa * network.hidden / float(pathway_units(network))


def _modes(pathway: PathwayDerivation, place: int) -> list[EarlyMode | None]:
    sigma_yx = pathway.effective.sigma_yx.to_numpy()
    return [
        None
        if mode.is_null
        else EarlyMode(
            pathway=place,
            inputs=pathway.effective.pathway.inputs,
            s=s,
            u=sigma_yx @ v / s,
            v=v,
        )
        for mode, (s, v) in zip(pathway.modes, numpy_modes(pathway.spectrum), strict=True)
    ]
