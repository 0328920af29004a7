"""The derivation line by line: from the loss of the network to its printed formulas.

Every line is checked before it is printed: in letters, for all sizes; with every number a symbol;
or, where it is about the data, on this dataset in exact arithmetic. A check that fails raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.claims.claim import Claim, Step
from symreln.claims.edge_lines import edge_lines, open_lines
from symreln.claims.flow_lines import alignment_lines, basis_lines, flow_lines
from symreln.claims.mode_lines import loss_lines, matrix_lines, mode_lines
from symreln.claims.routing import routing_of
from symreln.claims.start_lines import start_lines
from symreln.claims.widths import narrow_pathways
from symreln.document.model import Block, Content, Details, Items, equation
from symreln.document.typeset import phrase, say
from symreln.laws.line import Line, checked, proven_once
from symreln.laws.width import narrow_lines

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation


@record
class DerivationLines(Claim):
    """The lines of a derivation, all of which hold.

    Attributes:
        derived: Them, in their order.
        title: Of the chapter.
        about: What is derived, for the terminal.
        elsewhere: Whether the main ones are said in another chapter.
    """

    derived: tuple[Line, ...]
    title: str = "The derivation, line by line"
    about: str = "derivation"
    elsewhere: bool = False

    @property
    def main(self) -> tuple[Line, ...]:
        """Those of the short form."""
        return tuple(line for line in self.derived if line.main)

    def values(self) -> dict[str, Any]:
        """Return how many there are, how many were checked, and each line."""
        return {
            "count": len(self.derived),
            "checked": sum(line.holds for line in self.derived),
            "lines": [
                {
                    "says": line.says,
                    "latex": list(line.equation),
                    "because": line.because,
                    "check": line.check,
                    "checked": line.holds,
                    "main": line.main,
                }
                for line in self.derived
            ],
        }

    def _counted(self) -> str:
        return f"{len(self.derived)} lines, all checked"

    def says(self) -> Iterator[Block]:
        """Say the main lines, with all others and every reason and check in folds."""
        numbered = [*enumerate(self.derived, start=1)]
        if self.elsewhere:
            yield Details(summary=f"{self.title}: {self._counted()}", blocks=_at_length(numbered))
            return
        yield say(
            f"{self._counted()}; the {len(self.main)} main ones are these. All of them, each with "
            "its reason and how it was checked, are folded in derivation.html and listed in "
            "derivation.json."
        )
        yield from _folded(numbered)

    def lines(self) -> Iterator[str]:
        """Say in the terminal how many there are."""
        yield f"{self.about}: {self._counted()}"

    def steps(self) -> Iterator[Step]:
        """Say how the lines were checked."""
        yield Step(
            name="line by line",
            statement=f"The derivation has {len(self.derived)} lines, and each of them holds.",
            check="each by itself: identities in letters and symbols, cancelled to 0; what is "
            "about the data, on this dataset in exact arithmetic",
        )


def _folded(numbered: Sequence[tuple[int, Line]]) -> Iterator[Block]:
    """Yield the main lines, and folds with their reasons and with the lines between them."""
    for main, run in groupby(numbered, key=lambda each: each[1].main):
        inside = list(run)
        if not main:
            first, last = inside[0][0], inside[-1][0]
            between = f"Line {first}" if first == last else f"Lines {first} to {last}"
            summary = f"{between}, on the way"
            yield Details(summary=summary, blocks=_at_length(inside))
            continue
        for number, line in inside:
            yield say(line.says)
            yield equation(*line.equation)
            summary = f"Line {number}: its reason and its check"
            yield Details(summary=summary, blocks=(_notes(line),))


def _at_length(numbered: Sequence[tuple[int, Line]]) -> tuple[Block, ...]:
    """Return lines with their numbers, reasons and checks."""
    return tuple(
        block
        for number, line in numbered
        for block in (
            say(f"**Line {number}.** {line.says}"),
            equation(*line.equation),
            _notes(line),
        )
    )


def _notes(line: Line) -> Items:
    notes: tuple[Content, ...] = (
        ("Follows: ", *phrase(line.because), "."),
        ("Checked: ", *phrase(line.check), "."),
    )
    return Items(notes)


def derivation_lines(derivation: Derivation) -> DerivationLines:
    """Return the derivation of pathways line by line.

    Raises:
        ArithmeticError: A line's check failed: a bug of symreln, and nothing is printed.
    """
    apart = not derivation.known.unlike  # every pathway has edges of its own
    found = [*(flow_lines if apart else edge_lines)(derivation)]
    bases = [*basis_lines(derivation)]  # the first one is on the assumption
    found += bases if apart else bases[: not derivation.by_edges]
    found += open_lines(derivation) if derivation.by_edges else alignment_lines(derivation)
    found += () if derivation.by_edges else mode_lines(derivation)
    if any(one.found and one.found.plateau for one in derivation.ask(narrow_pathways)):
        found += proven_once(narrow_lines)
    found += start_lines(derivation)
    found += loss_lines(derivation)
    if (routing := derivation.ask(routing_of)) is not None:
        written = {line.equation for line in found}
        more = proven_once(type(routing.network).lines, routing.network)
        found += (line for line in more if line.equation not in written)
    for step, phase in derivation.phases[1:]:
        found += _after_a_switch(step, phase, found)
    return DerivationLines(derived=checked(found, "line by line"))


def _after_a_switch(step: int, phase: Derivation, before: list[Line]) -> Iterator[Line]:
    """Yield what the gates from a step on change: weights are carried over, data are others."""
    again = [*flow_lines(phase), *basis_lines(phase), *matrix_lines(phase)]
    written = {line.equation for line in before}
    new = [line for line in again if line.equation not in written]
    yield Line(
        says=f"**From step {step} on** other gates are open. Weights are carried over, and the "
        "flow goes on with other effective datasets, bases and numbers:",
        equation=(
            rf"W_p(t \geq {step}) \text{{ from }} W_p({step}), \qquad "
            r"\Sigma^{yx}(p), \Sigma^{x}(j, p) \text{ of the gates from there on}",
        ),
        because="gates do not stand in the weights: a switch changes the data of every pathway. "
        "Weights need not be aligned with the new modes, so no closed form goes on from there",
        check=f"{len(again)} lines from the loss on, each again with these gates",
        holds=all(line.holds for line in again),
        main=True,
    )
    yield from new
