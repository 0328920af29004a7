"""The first page of a network of nodes and edges: what its parts obey, and its curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.network.components import solution
from symreln.claims.network.in_numbers import curve_figures, in_numbers
from symreln.claims.network.routing import routing_of
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Figure, Section, equation, prose
from symreln.document.typeset import say, typeset
from symreln.report.chapters.result import first_page, verdict_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.claims.network.components import Component
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.experiment.outcome import Validation

#: Parts whose equations are on the first page.
MOST_PARTS = 4


def network_figures(derivation: NetworkDerivation) -> tuple[Figure, ...]:
    """Return the figures of loss and strengths, where there are numbers."""
    return () if isinstance(derivation.ask(in_numbers).found, str) else curve_figures()


def network_result(
    derivation: NetworkDerivation, validation: Validation | None, figures: tuple[Block, ...]
) -> Section:
    """Return the first page.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        figures: The figures of loss and strengths, where they are drawn.
    """
    graph, parts = derivation.graph, derivation.components
    routing = derivation.ask(routing_of)
    blocks: list[Block] = [
        prose(*verdict_sentence(derivation.level)),
        say(
            f"The graph has {len(graph.nodes)} nodes, {len(graph.edges)} edges and "
            f"{len(derivation.data.paths)} pathways of at most {graph.depth} edges."
        ),
    ]
    if routing is not None:
        blocks += routing.first_page()
    for part in parts[:MOST_PARTS]:
        blocks += _part(part, several=len(parts) > 1, known=routing is not None)
    if len(parts) > MOST_PARTS:
        blocks.append(say(f"{len(parts) - MOST_PARTS} more parts are in [#sec:parts]."))
    blocks += figures
    return first_page(blocks, derivation, validation)


def _part(part: Component, *, several: bool, known: bool) -> Iterator[Block]:
    """Yield why a part has its level, and what its modes obey where they close."""
    name = part.name if several else "all pathways"
    yield prose(*typeset(f"{name[:1].upper()}{name[1:]}: {part.level.value}; {part.why}."))
    if part.form is None:
        yield say("The matrices of its edges obey the flow of [#sec:lines].")
        return
    if not known:
        yield equation(rf"\tau \dot{{\pi}} = {to_latex(part.form.rate)}.")
    yield say("It is solved by")
    yield equation(*solution(part.form.mode))
    yield from part.mode_tables()
