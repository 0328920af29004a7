"""The mean-field simulation of a derivation's ReLU network: never in the place of the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.integration import network_of
from symreln.effective.network import descent_of
from symreln.laws.mean_field import multiplications, simulate_mean_field

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.laws.mean_field import MeanField
    from symreln.specs.spec import Spec

#: A stream of its own: no network is trained with it.
SEED = 1_861
#: Multiplications above which it does not run: about a minute of one core.
USUAL_COST = 2e11


def why_no_mean_field(derivation: Derivation) -> str:
    """Return why there is no mean-field simulation, or "".

    Args:
        derivation: Without free parameters, with a network.
    """
    if network_of(derivation.spec).activation == "linear":
        return "a linear network has no gates"
    if not derivation.known.matrices.holds:
        return derivation.known.matrices.why
    if any(pathway.has_gains for pathway in derivation.spec.pathways):
        return "gates have gains, which no ReLU unit has"
    if any(pathway.hidden is not None for pathway in derivation.spec.pathways):
        return "pathways have hidden units of their own, which no network's gates divide"
    if takes_minutes(derivation.spec):
        return "it takes minutes on these data"
    return ""


def takes_minutes(spec: Spec) -> bool:
    """Return whether the simulation of a spec's network takes too long to be run."""
    shapes = spec.dataset.inputs.shape, spec.dataset.targets.shape
    return multiplications(*shapes, network_of(spec).steps) > USUAL_COST


def run_mean_field(derivation: Derivation) -> MeanField:
    """Simulate the spec's network in the limit of infinite width.

    Args:
        derivation: Without free parameters, with a network; :func:`why_no_mean_field` says where it
            is not possible.
    """
    inputs, targets = derivation.spec.dataset.arrays
    return simulate_mean_field(inputs, targets, descent_of(derivation.spec), SEED)
