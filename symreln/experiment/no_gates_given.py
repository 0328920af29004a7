"""The effective network beside a derivation with given gates: what its data alone say."""

from __future__ import annotations

from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.effective.network import EffectiveNetwork, effective_of, takes_minutes


def effective_beside(derivation: Derivation) -> tuple[EffectiveNetwork | None, str]:
    """Return the effective network of a derivation's data, or None and why there is none.

    Args:
        derivation: Without free parameters, with a network.

    Raises:
        InputError: Units diverge.
    """
    why = "" if derivation.spec.find else _why_none(derivation)
    found = None if why else effective_of(derivation.spec)
    if found is None and not why:
        why = "no hidden unit grows within network.steps"
    return found, why


def _why_none(derivation: Derivation) -> str:
    spec, network = derivation.spec, network_of(derivation.spec)
    if network.activation == "linear":
        return "a linear network has no gates"
    if not derivation.known.matrices.holds:
        return derivation.known.matrices.why
    if any(pathway.has_gains for pathway in spec.pathways):
        return "gates have gains, which no ReLU unit has"
    if any(pathway.hidden is not None for pathway in spec.pathways):
        return "pathways have hidden units of their own, which no network's gates divide"
    if network.weight_decay:
        return "units that decay are not followed"
    return "it takes minutes on these data" if takes_minutes(spec) else ""
