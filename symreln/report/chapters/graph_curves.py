"""A graph in numbers: strengths and loss over time, and the full flow beside the reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.document.model import Block, Figure, Math, Section, Table, prose
from symreln.document.numerals import scientific_latex
from symreln.document.typeset import typeset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.graphs.curves import Curves
    from symreln.graphs.derivation import GraphDerivation


def chapter(derivation: GraphDerivation, drawn: Sequence[str]) -> Section:
    """Return the chapter; where there are no numbers it says why.

    Args:
        derivation: What is shown.
        drawn: Names of the figures that are there.
    """
    found = derivation.curves
    if isinstance(found, str):
        blocks: list[Block] = [prose("No strengths are drawn: ", *typeset(found), ".")]
    else:
        blocks = _blocks(found, drawn)
    return Section(title="In numbers", label="sec:numbers", blocks=tuple(blocks))


def _blocks(found: Curves, drawn: Sequence[str]) -> list[Block]:
    blocks: list[Block] = [
        prose(
            "Every edge starts aligned, with strength ",
            Math(scientific_latex(found.start)),
            " in every mode that learns something.",
        )
    ]
    if "modes" in drawn:
        words = (
            "Strengths of pathways over time, from the reduction; thin lines are plateaus s/d of "
            "modes that have one of their own."
        )
        alt = "Strength of every mode against time, one colour for pathways of equal data."
        blocks.append(Figure(name="modes", caption=words, alt=alt))
    if "loss" in drawn:
        words = "Loss of the reduction, down to what float64 can tell from 0."
        alt = "Loss against time on a linear and a logarithmic scale."
        blocks.append(Figure(name="loss", caption=words, alt=alt))
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
