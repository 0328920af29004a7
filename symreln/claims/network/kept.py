"""What the flow of a network of nodes and edges conserves, said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symreln.claims.claim import Claim, Step
from symreln.document.model import (
    Block,
    Code,
    Items,
    Math,
    Reference,
    Section,
    Table,
    equation,
    prose,
)
from symreln.networks.conserved import balances, norm_balances

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.networks.conserved import Balance, NormBalance
    from symreln.networks.model import Network

#: Quantities that are said, of a terminal and of the document; derivation.json has all.
MOST_LINES, MOST = 24, 40
#: Lines of a display: one does not break over pages.
_LINES = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Conserved(Claim):
    """What is conserved whatever the data are.

    Attributes:
        graph: The nodes and edges.
        balances: Conserved matrices of hidden nodes.
        norms: Conserved sums of squared norms.
    """

    graph: Network
    balances: tuple[Balance, ...]
    norms: tuple[NormBalance, ...]

    def values(self) -> dict[str, Any]:
        """Return "conserved" and "conserved_norms"."""
        names = [edge.name for edge in self.graph.edges]
        return {
            "conserved": [
                {
                    "node": balance.node,
                    "plus": [names[e] for e in balance.outgoing],
                    "minus": [names[e] for e in balance.incoming],
                    "outcome": balance.outcome,
                }
                for balance in self.balances
            ],
            "conserved_norms": [
                {"expr": self._norm(norm), "outcome": norm.outcome} for norm in self.norms
            ],
        }

    def _norm(self, norm: NormBalance) -> str:
        """Return a conserved sum of squared norms in plain characters."""
        return _signed_sum(norm, [f"|{edge.name}|²" for edge in self.graph.edges])

    def _norm_latex(self, norm: NormBalance) -> str:
        """Return the same of the numbered edges."""
        edges = range(1, len(self.graph.edges) + 1)
        return _signed_sum(norm, [rf"\|W_{{{edge}}}\|^{{2}}" for edge in edges])

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        blocks: list[Block] = [
            Table(
                header=("weights", "edge"),
                rows=tuple(
                    (Math(f"W_{{{number}}}"), Code(edge.name))
                    for number, edge in enumerate(self.graph.edges, start=1)
                ),
                alignment="ll",
                caption="Numbers of the edges.",
                most=MOST,
            ),
            prose(
                "At a hidden node every pathway uses one edge in and one edge out. For each set of "
                "edges that pathways join there, a matrix does not move; its derivative along ",
                Reference("eq:flow"),
                " cancels term by term:",
            ),
            *self._matrices(),
        ]
        if self.norms:
            blocks += [
                prose(
                    "Sums of squared norms that are conserved; all of this kind are combinations:"
                ),
                Items(tuple(Math(self._norm_latex(norm)) for norm in self.norms[:MOST])),
            ]
        yield Section(title="Conserved quantities", label="sec:conserved", blocks=tuple(blocks))

    def _matrices(self) -> Iterator[Block]:
        """Yield the conserved matrices, aligned."""
        rows = [*map(_balance_latex, self.balances[:MOST])]
        for start in range(0, len(rows), _LINES):
            yield equation(*rows[start : start + _LINES])

    def lines(self) -> Iterator[str]:
        """Yield a line a matrix."""
        names = [edge.name for edge in self.graph.edges]
        for balance in self.balances[:MOST_LINES]:
            outgoing = ", ".join(names[e] for e in balance.outgoing)
            incoming = ", ".join(names[e] for e in balance.incoming)
            yield f"conserved at '{balance.node}': W'W of {outgoing} minus WW' of {incoming}"
        left = len(self.balances) - MOST_LINES
        if left > 0:
            yield f"… and {left} more"

    def norm_lines(self) -> Iterator[str]:
        """Yield a line a conserved sum of squared norms."""
        for norm in self.norms:
            yield f"{self._norm(norm)} is conserved"

    def steps(self) -> Iterator[Step]:
        """Say how each was proven."""
        for balance in self.balances:
            yield Step(
                name="conserved matrix",
                statement=f"balancedness at node '{balance.node}'",
                check="its derivative along the flow cancels",
                outcome=balance.outcome,
            )
        for norm in self.norms:
            yield Step(
                name="conserved norms",
                statement=self._norm(norm),
                check="the trace of its derivative along the flow cancels",
                outcome=norm.outcome,
            )


def _signed_sum(norm: NormBalance, names: Sequence[str]) -> str:
    """Return a sum of norms by their names, what is added before what is taken off."""
    named = [(factor, name) for factor, name in zip(norm.weights, names, strict=True) if factor]
    parts = []
    for factor, name in sorted(named, key=lambda each: each[0] < 0):
        size = "" if abs(factor) == 1 else f"{abs(factor)} "
        parts.append(f"{'-' if factor < 0 else '+'} {size}{name}")
    return " ".join(parts).removeprefix("+ ")


def conserved_of(derivation: NetworkDerivation) -> Conserved:
    """Return what the flow conserves."""
    data = derivation.data
    return Conserved(graph=data.graph, balances=balances(data), norms=norm_balances(data))


def _balance_latex(balance: Balance) -> str:
    plus = [rf"W_{{{e + 1}}}^{{\top}} W_{{{e + 1}}}" for e in balance.outgoing]
    minus = [rf"W_{{{e + 1}}} W_{{{e + 1}}}^{{\top}}" for e in balance.incoming]
    return rf"{' + '.join(plus)} - {' - '.join(minus)} &= \mathrm{{const}}"
