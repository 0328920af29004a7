"""What is derived of a network of nodes and edges, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.claim import Step, lines_of, steps_of
from symreln.claims.derivation import Derived
from symreln.exact.truth import Truth
from symreln.graphs.components import LEVELS, components
from symreln.graphs.conserved import balances, norm_balances
from symreln.graphs.data import GraphData
from symreln.graphs.described import described
from symreln.graphs.every_size import routing_of
from symreln.graphs.kept import conserved_of
from symreln.graphs.parts import parts_of
from symreln.graphs.recognise import recognise
from symreln.graphs.spaces import minimal_spaces
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.solve import Progress, Spectrum
    from symreln.graphs.components import Component
    from symreln.graphs.conserved import Balance, NormBalance
    from symreln.graphs.recognise import Recognised
    from symreln.graphs.spaces import NodeSpaces
    from symreln.network.model import Network
    from symreln.spec.model import Spec


@dataclass(frozen=True, kw_only=True)
class PartsVerdict:
    """Which reductions hold of the parts that learn apart; all parts learn in one stage.

    Attributes:
        stage: The stage.
        level: The weakest of the parts' levels.
        reasons: One a part.
    """

    stage: int
    level: Level
    reasons: tuple[str, ...]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkDerivation(Derived):
    """Everything derived of nodes and edges on a dataset, for all values of the parameters.

    Attributes:
        data: The graph on the dataset: pathways, bundles, exact correlations.
        spaces: Spaces of input and output nodes that the flow does not leave.
        components: Parts that learn apart, with what is proven of each.
        balances: Conserved matrices of hidden nodes.
        norms: Conserved sums of squared norms.
        recognised: Whether it is a routing network.
    """

    data: GraphData
    spaces: NodeSpaces
    components: tuple[Component, ...]
    balances: tuple[Balance, ...]
    norms: tuple[NormBalance, ...]
    recognised: Recognised

    @property
    def graph(self) -> Network:
        """The nodes and edges."""
        return self.data.graph

    @property
    def level(self) -> Level:
        """The weakest of its components' levels."""
        return max((c.level for c in self.components), key=LEVELS.index)

    @property
    def verdict(self) -> PartsVerdict:
        """Which reductions hold."""
        reasons = tuple(component.why for component in self.components)
        return PartsVerdict(stage=self.spec.stages[0], level=self.level, reasons=reasons)

    @property
    def no_routing(self) -> str:
        """Why there is nothing to say of it as a routing network, or ""."""
        if self.recognised.is_routing and self.level is Level.COUPLED_MATRICES:
            return "its pathways have no joint eigenbasis"
        if self.recognised.is_routing and len(self.data.paths) == 1:
            return "there is one pathway"
        return self.recognised.reason


def derive_network(spec: Spec, *, spectrum: Spectrum, progress: Progress) -> NetworkDerivation:
    """Derive the reduced dynamics of a spec that describes its network by nodes and edges.

    Args:
        spec: A checked spec with ``graph``.
        spectrum: What finds the joint spectrum of (sigma_yx, sigma_x, values).
        progress: As of :func:`symreln.pipeline.derive.derive`, and "conserved" with sentences on
            what holds of any data; pathways are the gated paths.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is returned.
    """
    assert spec.graph is not None
    data = GraphData(graph=spec.graph, dataset=spec.dataset)
    progress("effective datasets", data.seen_by(spec.pathways))
    found = NetworkDerivation(
        spec=spec,
        steps=(),
        data=data,
        spaces=minimal_spaces(data),
        components=components(data, spec, spectrum),
        balances=balances(data),
        norms=norm_balances(data),
        recognised=recognise(data),
    )
    sums = found.ask(conserved_of).norm_lines()
    progress("conserved", [*lines_of(found, described, conserved_of), *sums])
    for component in found.components:
        for number, modes in component.numbered_spectra():
            progress("spectrum", (number, modes))
    progress("verdict", found.verdict)
    return found


def network_steps(derivation: NetworkDerivation) -> tuple[Step, ...]:
    """Check a derivation and say how.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
    """
    steps = tuple(steps_of(derivation, described, parts_of, conserved_of, routing_of))
    failed = [s.name for s in steps if s.outcome is not Truth.PROVEN and s.name != "diagonal"]
    if failed:
        msg = f"checks failed: {', '.join(failed)}; this is a bug of symreln"
        raise ArithmeticError(msg)
    return steps
