"""Numbers from a derivation whose gates switch: weights are carried from phase to phase."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.curves import ModeCurve, Prediction
from symreln.claims.divergence import check_start, check_step_size, largest_norm
from symreln.claims.early import start_factor
from symreln.claims.integration import coupled_matrices, network_of
from symreln.claims.phases import in_phase
from symreln.claims.probes import from_start
from symreln.claims.widths import narrow_pathways
from symreln.errors import NotSupportedError
from symreln.exact.numeric import numpy_modes
from symreln.laws.coupled_matrices import CoupledMatrices, EqualModes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
    from symreln.laws.block_flow import Trajectory
    from symreln.laws.integrate import Accuracy


def predict_flow(derivation: Derivation, times: np.ndarray, accuracy: Accuracy) -> Prediction:
    """Integrate the coupled matrices of all phases from t = 0.

    Args:
        derivation: With later phases, without free parameters.
        times: Ascending times in steps.
        accuracy: How the flow is integrated.

    Raises:
        NotSupportedError: A pathway has fewer hidden units than modes.
    """
    matrices = derivation.ask(matrices_of)
    whole, first = from_start(times)
    modes = _modes(derivation)
    found = matrices.trajectory(whole, [each for each, *_ in modes], accuracy)
    return Prediction(
        times=times,
        loss=found.losses[first:],
        method="coupled matrices of all pathways, integrated from t = 0 over every switch of gates",
        closed_loss=None,
        modes=_curves(modes, found.strengths[:, first:]),
    )


def predict_descent(
    derivation: Derivation, flow: Prediction, kappas: Mapping[str, float]
) -> Prediction:
    """Return the prediction for gradient descent with its finite steps.

    Args:
        derivation: As for the flow.
        flow: What :func:`predict_flow` says at every step of the network.
        kappas: κ by the label of the strengths of modes of the first phase.
    """
    network = network_of(derivation.spec)
    modes = _modes(derivation)
    found: Trajectory = derivation.ask(matrices_of).descent(
        network.steps, [each for each, *_ in modes], first_starts(derivation, kappas)
    )
    return replace(
        flow,
        loss=found.losses,
        method=(
            "gradient descent on the coupled matrices of all pathways, step by step over every "
            "switch of gates"
        ),
        modes=_curves(modes, found.strengths),
        flow_loss=flow.loss,
    )


def first_modes(derivation: Derivation) -> dict[str, EqualModes]:
    """Return the modes of the first phase by the label of their strength."""
    return {mode.label: equal for equal, _, mode, begin in _modes(derivation) if begin == 0}


def first_starts(derivation: Derivation, kappas: Mapping[str, float]) -> list[EqualModes]:
    """Return how the modes of the first phase start that have a κ, by the label of their strength.

    Args:
        derivation: Without free parameters, with a network.
        kappas: κ by label.
    """
    network = network_of(derivation.spec)
    return [
        replace(each, factor=start_factor(network, kappas[label]))
        for label, each in first_modes(derivation).items()
        if label in kappas
    ]


def matrices_of(derivation: Derivation) -> CoupledMatrices:
    """Return the matrices of all phases.

    Raises:
        NotSupportedError: A pathway has fewer hidden units than modes.
    """
    if any(phase.ask(narrow_pathways) for _, phase in derivation.phases):
        msg = (
            "gates that switch: a pathway has fewer hidden units than modes, and which of them it "
            "gives up at a switch is not derived. Raise network.hidden"
        )
        raise NotSupportedError(msg)
    matrices, network = coupled_matrices(derivation), network_of(derivation.spec)
    check_step_size(network, matrices.rate)
    check_start(network, max(map(largest_norm, matrices.phases)), matrices.tau)
    return matrices


def _modes(
    derivation: Derivation,
) -> list[tuple[EqualModes, PathwayDerivation, ModeDerivation, int]]:
    """Return every mode of every phase that learns something, with the phase's first step."""
    found = []
    for begin, phase in derivation.phases:
        for p, pathway in enumerate(phase.pathways):
            sigma = pathway.effective.sigma_yx.to_numpy()
            for mode, (s, v) in zip(pathway.modes, numpy_modes(pathway.spectrum), strict=True):
                if not mode.is_null:
                    equal = EqualModes(pathway=p, u=sigma @ v / s, v=v)
                    found.append((equal, pathway, mode, begin))
    return found


def _curves(
    modes: list[tuple[EqualModes, PathwayDerivation, ModeDerivation, int]], strengths: np.ndarray
) -> tuple[ModeCurve, ...]:
    curves = []
    for (_, pathway, mode, begin), values in zip(modes, strengths, strict=True):
        d = None if mode.d_eff is None else mode.d_eff.to_float()
        curves.append(
            ModeCurve(
                pathway=in_phase(pathway.name, begin),
                label=f"{mode.label}@{begin}" if begin else mode.label,
                closed=None,
                integrated=values,
                plateau=mode.s.to_float() / d if d else None,
                multiplicity=mode.multiplicity,
            )
        )
    return tuple(curves)
