"""How a network of nodes and edges is derived and checked; :mod:`symreln.pipeline` certifies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.claim import Step
from symreln.claims.network.components import components
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.rules import checks_of
from symreln.exact.truth import Truth
from symreln.networks.bundles import NetworkData

if TYPE_CHECKING:
    from symreln.specs.model import Spec


def derive_network(spec: Spec) -> NetworkDerivation:
    """Derive the reduced dynamics of a spec that describes its network by nodes and edges.

    Args:
        spec: A checked spec with ``graph``.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is returned.
    """
    data = NetworkData(graph=spec.network_graph, dataset=spec.dataset)
    return NetworkDerivation(spec=spec, steps=(), data=data, components=components(data, spec))


def network_steps(derivation: NetworkDerivation) -> tuple[Step, ...]:
    """Check a derivation and say how.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
    """
    steps = tuple(checks_of(derivation, "all"))
    failed = [s.name for s in steps if s.outcome is not Truth.PROVEN and s.name != "diagonal"]
    if failed:
        msg = f"checks failed: {', '.join(failed)}; this is a bug of symreln"
        raise ArithmeticError(msg)
    return steps
