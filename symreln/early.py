"""Initial strengths of a derivation's modes by the early phase of its ReLU network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.dynamics.early_phase import EarlyMode, EarlyPhase, EarlyStrength
from symreln.dynamics.initial import pathway_units
from symreln.integration import gate_floats, network_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.derivation import Derivation, PathwayDerivation
    from symreln.spec.model import NetworkSpec

#: A stream of its own: no network is trained with it.
SEED = 20_614


def early_strengths(derivation: Derivation) -> dict[str, EarlyStrength]:
    """Return κ of every mode that the early phase decides, by the label of its strength.

    These are the modes of the pathways that learn first: later stages learn a residual that is
    not there yet. None for a linear network, whose κ is 1, for a ReLU network that is linear at
    half speed, whose κ is 1/2, for gates with gains, which no ReLU unit has, and for a mode whose
    κ does not settle: then the units that would carry it have gone to other gates.

    Weight decay shrinks all weights of all units by one factor k a step, which no gate feels and
    no share: a step η with it is k times a step η/k without.

    Args:
        derivation: Without free parameters, with a network.
    """
    network = network_of(derivation.spec)
    first = [
        p for p in derivation.pathways if p.effective.pathway.stage == _first_stage(derivation)
    ]
    linear = network.activation == "linear" or derivation.effective_network != network
    dataset = derivation.spec.dataset
    step = 1 / float(network.tau(dataset.samples))
    keep = 1 - step * float(network.weight_decay)
    if linear or keep <= 0 or any(p.effective.pathway.has_gains for p in first):
        return {}
    phase = EarlyPhase(
        dataset.inputs.to_numpy(),
        dataset.targets.to_numpy(),
        np.array([gate_floats(p.effective.pathway) for p in first]),
        step / keep,
        np.random.default_rng(SEED),
        scales=_scales(network),
    )
    labels, modes, kinds = [], [], []
    for place, pathway in enumerate(first):
        for number, found in enumerate(_modes(pathway, place)):
            if found is not None:
                labels.append(pathway.modes[number].label)
                modes.append(found)
                kinds.append((_original(first, place), number))
    strengths = phase.strengths(modes)
    shared = {
        kind: _pooled([s for s, k in zip(strengths, kinds, strict=True) if k == kind])
        for kind in kinds
    }
    found = {
        label: replace(shared[kind], units=own.units)
        for label, kind, own in zip(labels, kinds, strengths, strict=True)
    }
    return {label: strength for label, strength in found.items() if strength.settled}


def pathway_kappas(
    derivation: Derivation, strengths: Mapping[str, EarlyStrength]
) -> dict[str, float]:
    """Return κ of every pathway that has one, by name: that of its fastest mode.

    A pathway is one law for all of its modes, as a gated deep linear network of κ H units is.
    """
    found: dict[str, float] = {}
    for pathway in derivation.pathways:
        for mode in pathway.modes:  # by falling s
            if mode.label in strengths:
                found.setdefault(pathway.name, strengths[mode.label].kappa)
    return found


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


def _scales(network: NetworkSpec) -> tuple[float, float]:
    """Return the standard deviations of both layers in units of the root of their mean square."""
    if network.init_std_out is None:
        return 1.0, 1.0
    first, second = float(network.init_std), float(network.init_std_out)
    mean = float(np.sqrt((first**2 + second**2) / 2))
    return first / mean, second / mean


def _first_stage(derivation: Derivation) -> int:
    return min(pathway.effective.pathway.stage for pathway in derivation.pathways)


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
        for mode, (s, _, v) in zip(pathway.modes, pathway.spectrum.numpy_modes(), strict=True)
    ]


def _original(pathways: list[PathwayDerivation], place: int) -> int:
    """Return the pathway that a symmetry maps to this one; itself where there is none."""
    twin = pathways[place].effective.twin
    if twin is None:
        return place
    return next(i for i, p in enumerate(pathways) if p.effective is twin.original)


def _pooled(strengths: list[EarlyStrength]) -> EarlyStrength:
    """Return the mean over modes that a symmetry makes equal in the mean."""
    count = len(strengths)
    return EarlyStrength(
        kappa=float(np.mean([s.kappa for s in strengths])),
        # Not independent: the units are the same. The mean's error is at most the mean error.
        error=float(np.mean([s.error for s in strengths])),
        spread=float(np.mean([s.spread for s in strengths])),
        settled=all(s.settled for s in strengths),
        share=float(np.sum([s.share for s in strengths])) / count,
    )
