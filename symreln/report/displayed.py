"""The formulas of the first page by themselves, for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.derivation import Derivation
from symreln.claims.lines import derivation_lines
from symreln.claims.orbits import mode_orbits
from symreln.document.model import Equation, equation, walk
from symreln.report.abbreviations import abbreviations
from symreln.report.chapters.formulas import MOST_ROWS
from symreln.report.chapters.result import result_chapter

if TYPE_CHECKING:
    from symreln.document.model import Section


def displayed_formulas(derivation: Derivation) -> str | None:
    """Return trajectories and loss as Jupyter draws them; None where the first page has none."""
    equations = [block for block, _ in walk((_page(derivation),)) if isinstance(block, Equation)]
    if not equations:  # what is integrated
        flows = [line.equation for line in derivation.ask(derivation_lines).main]
        equations = [equation(*rows) for rows in flows if r"\dot{" in "".join(rows)][-1:]
    return "\n\n".join(map(_displayed, equations)) or None


def _page(derivation: Derivation) -> Section:
    names = abbreviations(derivation, mode_orbits(derivation), MOST_ROWS)
    return result_chapter(derivation, None, (), names)


def _displayed(shown: Equation) -> str:
    # In the document it ends a sentence.
    lines = " \\\\\n".join(shown.lines).rstrip(".,")
    return f"$$\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}\n$$"
