"""All parts of a network of nodes and edges that learn apart, said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.claims.claim import Claim, Step
from symreln.claims.network.components import (
    MOST_PARTS,
    MOST_ROWS,
    Component,
    diagonal_values,
)
from symreln.document.model import Block, Section, Table, prose
from symreln.exact.truth import Truth

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.verdict.diagonal import Diagonality


@record(eq=False)
class Parts(Claim):
    """All parts.

    Attributes:
        parts: In the order of their first pathways.
        decision: Whether the correlations of every part are diagonal in bases of its own.
    """

    parts: tuple[Component, ...]
    decision: Diagonality

    def values(self) -> dict[str, Any]:
        """Return "diagonal" and "components"."""
        return {"diagonal": diagonal_values(self.decision), "components": self.parts}

    def lines(self) -> Iterator[str]:
        """Yield the lines of every part."""
        for part in self.parts[:MOST_ROWS]:
            yield from part.lines()
        left = len(self.parts) - MOST_ROWS
        if left > 0:
            yield f"… and {left} more parts"

    def steps(self) -> Iterator[Step]:
        """Say how the levels were decided."""
        for part in self.parts:
            decision = part.decision
            yield Step(
                name="diagonal",
                statement=f"bases make every correlation of {part.name} diagonal",
                check=decision.reason,
                outcome=decision.outcome,
            )

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        blocks: list[Block] = [
            prose(
                "Pathways that share an edge, see the same data or couple are in one part. Edges "
                "and errors of different parts never meet: each part follows a flow of its own, "
                f"and the loss is a sum over them. This graph has {len(self.parts)}."
            ),
            Table(
                header=("part", "pathways", "uses of an edge at each place", "verdict"),
                rows=tuple(part.row for part in self.parts[:MOST_ROWS]),
                alignment="rpll",
                caption="Parts of the graph.",
            ),
        ]
        blocks += [block for part in self.parts[:MOST_PARTS] for block in part.says()]
        left = len(self.parts) - MOST_PARTS
        if left > 0:
            blocks.append(prose(f"{left} more parts are in derivation.json."))
        yield Section(title="Parts that learn apart", label="sec:parts", blocks=tuple(blocks))


def parts_of(derivation: NetworkDerivation) -> Parts:
    """Return the parts that learn apart."""
    decisions = [component.decision for component in derivation.components]
    open_ones = (d for d in decisions if d.outcome is not Truth.PROVEN)
    return Parts(parts=derivation.components, decision=next(open_ones, decisions[0]))
