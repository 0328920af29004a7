"""What is derived of a network of nodes and edges, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.claims.derivation import Derived
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.network.components import Component
    from symreln.networks.bundles import NetworkData
    from symreln.networks.model import Network


@record
class PartsVerdict:
    """Which reductions hold of the parts that learn apart; all parts learn in one stage.

    Attributes:
        level: The weakest of the parts' levels.
        reasons: One a part.
    """

    level: Level
    reasons: tuple[str, ...]


@record(eq=False)
class NetworkDerivation(Derived):
    """Everything derived of nodes and edges on a dataset, for all values of the parameters.

    Attributes:
        data: The graph on the dataset: pathways, bundles, exact correlations.
        components: Parts that learn apart, with what is proven of each.
    """

    data: NetworkData
    components: tuple[Component, ...]

    @property
    def graph(self) -> Network:
        """The nodes and edges."""
        return self.data.graph

    @property
    def level(self) -> Level:
        """The weakest of its components' levels."""
        return max((c.level for c in self.components), key=lambda level: level.rank)

    @property
    def verdict(self) -> PartsVerdict:
        """Which reductions hold."""
        return PartsVerdict(level=self.level, reasons=tuple(c.why for c in self.components))

    @property
    def routing_sizes(self) -> tuple[int, int] | str:
        """M and K, or why there is nothing to say of it as a routing network."""
        found = self.data.routing
        if not isinstance(found, str) and self.level is Level.COUPLED_MATRICES:
            return "its pathways have no joint eigenbasis"
        if not isinstance(found, str) and len(self.data.paths) == 1:
            return "there is one pathway"
        return found
