"""A network of nodes and edges in numbers, said: strengths and loss, and the full flow beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symreln.claims.claim import Claim
from symreln.claims.network.curves import Curves, curves
from symreln.document.model import Block, Figure, Math, Section, Table, prose
from symreln.document.numerals import scientific_latex
from symreln.document.typeset import typeset
from symreln.errors import NoClosedFormError

if TYPE_CHECKING:
    from symreln.claims.network.derivation import NetworkDerivation


@dataclass(frozen=True, kw_only=True, eq=False)
class InNumbers(Claim):
    """What the reduction predicts at the declared values.

    Attributes:
        found: Strengths and loss, or why there are none.
    """

    found: Curves | str

    def values(self) -> dict[str, Any]:
        """Return the losses at the moments at which the full flow was integrated."""
        found = self.found
        if isinstance(found, str):
            return {"missing": found}
        return {
            "missing": None,
            "start": found.start,
            "steps": found.times[found.moments],
            "full_loss": found.full if len(found.full) else None,
            "reduced_loss": found.loss[found.moments],
            "difference": found.difference,
        }

    def lines(self) -> Iterator[str]:
        """Say how near the reduction is to the full flow, or why there are no curves."""
        if isinstance(self.found, str):
            yield f"no curves: {self.found}"
        elif self.found.difference is not None:
            apart = self.found.difference
            yield f"full flow against reduction: losses within {apart:.1e} of L(0)"

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own; its figures are left out where they are not drawn."""
        blocks: list[Block] = (
            [prose("No strengths are drawn: ", *typeset(self.found), ".")]
            if isinstance(self.found, str)
            else _blocks(self.found)
        )
        yield Section(title="In numbers", label="sec:numbers", blocks=tuple(blocks))


def in_numbers(derivation: NetworkDerivation) -> InNumbers:
    """Return strengths and loss at the declared values, or why there are none."""
    try:
        return InNumbers(found=curves(derivation))
    except NoClosedFormError as error:
        return InNumbers(found=str(error))


def _blocks(found: Curves) -> list[Block]:
    blocks: list[Block] = [
        prose(
            "Every edge starts aligned, with strength ",
            Math(scientific_latex(found.start)),
            " in every mode that learns something.",
        )
    ]
    blocks += [
        Figure(
            name="modes",
            caption="Strengths of pathways over time, from the reduction; thin lines are plateaus "
            "s/d of modes that have one of their own.",
            alt="Strength of every mode against time, one colour for pathways of equal data.",
        ),
        Figure(
            name="loss",
            caption="Loss of the reduction, down to what float64 can tell from 0.",
            alt="Loss against time on a linear and a logarithmic scale.",
        ),
    ]
    difference = found.difference
    if difference is None:
        blocks.append(prose("The graph has too many weights for the full flow to be integrated."))
        return blocks
    rows = tuple(
        (f"{found.times[place]:g}", f"{full:.10g}", f"{found.loss[place]:.10g}")
        for place, full in zip(found.moments, found.full, strict=True)
    )
    return [
        *blocks,
        prose(
            "All matrices of the graph were integrated from the same weights as the reduced "
            "equations, but for hidden units that no mode uses, whose weights stay at 0. The "
            "losses differ by at most ",
            Math(scientific_latex(difference)),
            " of the first.",
        ),
        Table(
            header=("step", "loss of the full flow", "loss of the reduction"),
            rows=rows,
            alignment="rrr",
            caption="Full flow and reduction, float64.",
        ),
    ]
