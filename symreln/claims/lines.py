"""The derivation line by line: from the loss of the network to its printed formulas.

Every line is checked before it is printed: in letters, for all sizes; with every number a symbol;
or, where it is about the data, on this dataset in exact arithmetic. A check that fails raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.claims.derivation import Derivation, StageDerivation
from symreln.claims.edge_lines import edge_lines, open_lines
from symreln.claims.flow_lines import (
    IN_LETTERS,
    alignment_lines,
    basis_lines,
    flow_lines,
    whole_map,
)
from symreln.claims.linear_flow import is_linear, linear_lines
from symreln.claims.narrow import narrow_pathways
from symreln.claims.probes import symbolic_laws
from symreln.claims.rules import rule_of
from symreln.claims.start_lines import start_lines
from symreln.document.document_model import Block, Content, Details, Items, equation
from symreln.document.typeset import phrase, say
from symreln.laws.coupled_modes import competition_lines
from symreln.laws.flow_letters import reduced_loss_holds
from symreln.laws.line import Line, checked, proven_once
from symreln.laws.shared_chain import SharedChain
from symreln.laws.width import narrow_lines
from symreln.verdict.judge import Level
from symreln.verdict.residual import plateau_errors, plateau_gain


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
            "its reason and how it was checked, are folded in the page and listed in "
            "derivation.json."
        )
        for main, run in groupby(numbered, key=lambda each: each[1].main):
            inside = list(run)
            if main:
                for number, line in inside:
                    yield from (say(line.says), equation(*line.equation))
                    summary = f"Line {number}: its reason and its check"
                    yield Details(summary=summary, blocks=(_notes(line),))
            else:
                first, last = inside[0][0], inside[-1][0]
                between = f"Line {first}" if first == last else f"Lines {first} to {last}"
                yield Details(summary=f"{between}, on the way", blocks=_at_length(inside))

    def lines(self) -> Iterator[str]:
        """Say in the terminal how many there are."""
        yield f"{self.about}: {self._counted()}"


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
    """Return the derivation line by line.

    Raises:
        ArithmeticError: A line's check failed: a bug of symreln, and nothing is printed.
    """
    apart = not derivation.known.unlike  # every pathway has edges of its own
    found = [*(flow_lines if apart else edge_lines)(derivation)]
    bases = [*basis_lines(derivation)]  # the first one is on the assumption
    found += bases if apart else bases[: not derivation.by_edges]
    found += open_lines(derivation) if derivation.by_edges else alignment_lines(derivation)
    found += () if derivation.by_edges else _mode_lines(derivation)
    if any(one.found and one.found.plateau for one in derivation.ask(narrow_pathways)):
        found += proven_once(narrow_lines)
    found += start_lines(derivation)
    found += _loss_lines(derivation)
    if (routing := derivation.ask(rule_of("routing"))) is not None:
        written = {line.equation for line in found}
        more = proven_once(type(routing.network).lines, routing.network)
        found += (line for line in more if line.equation not in written)
    for step, phase in derivation.phases[1:]:
        found += _after_a_switch(step, phase, found)
    return DerivationLines(derived=checked(found, "line by line"))


def _after_a_switch(step: int, phase: Derivation, before: list[Line]) -> Iterator[Line]:
    """Yield what the gates from a step on change: weights are carried over, data are others."""
    again = [*flow_lines(phase), *basis_lines(phase), *_matrix_lines(phase)]
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


# -- what closes: modes, their solutions and the loss ----------------------------------------------


def _mode_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield the equations of modes and their solutions."""
    levels = {stage.verdict.level for stage in derivation.stages}
    sharing = derivation.known.sharing
    if sharing is not None:
        yield from proven_once(SharedChain.lines, SharedChain.of(sharing))
    elif Level.CLOSED_BY_SYMMETRY in levels:
        yield _sum_closes(derivation)
    for law in symbolic_laws(derivation):
        yield from proven_once(type(law).lines, law)
    if Level.COUPLED_MODES in levels:
        yield from proven_once(competition_lines)
    if Level.COUPLED_MATRICES in levels:
        yield from _matrix_lines(derivation)


def _matrix_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield what is integrated where modes do not close."""
    if is_linear(derivation):
        yield from proven_once(linear_lines)
        return
    yield Line(
        says="**Nothing closes further.** Assumption 2.1.2 is not used: the matrices $B$ stay "
        "matrices, the reduction above is integrated as it stands, and its loss is",
        equation=(
            r"L = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_p \operatorname{tr} "
            r"B_p^{\top} S_p + \tfrac{1}{2} \sum_{p, j} \operatorname{tr} B_p^{\top} K_{pj} B_j "
            rf"G_{{jp}}, \qquad B_p = {whole_map(derivation.known.layers).replace('W', 'B')}",
        ),
        because="the loss in correlations, in these bases",
        check=f"both sides subtracted, bases shortened by orthonormality, {IN_LETTERS}",
        holds=reduced_loss_holds(derivation.known.layers),
        main=True,
    )


def reach_least_loss(derivation: Derivation) -> bool:
    """Whether the plateaus s/d_eff of every closed stage reach the least loss, from its definition.

    The normal equations, entry by entry, and what the plateaus take off the loss.
    """
    return all(map(_reaches_least_loss, derivation.stages))


def _reaches_least_loss(stage: StageDerivation) -> bool:
    if not stage.verdict.level.closes:
        return True
    learned = stage.verdict.converged
    reached = all(error.is_zero for error in plateau_errors(learned))
    return reached and stage.initial_loss - plateau_gain(learned) == stage.final_loss


def _sum_closes(derivation: Derivation) -> Line:
    whole = whole_map(derivation.known.layers, "j").replace("W", "B")
    return Line(
        says="Pathways couple, and their sum **closes by symmetry**: modes that couple have the "
        "same $s$ and the same start, and on each the actions of all pathways add up to the same "
        r"multiple $d_{\mathrm{eff}}$ of its own drive, so that they stay equal. Below, $d$ stands "
        r"for $d_{\mathrm{eff}}$:",
        equation=(
            rf"\Bigl( S_p - \sum_j K_{{pj}} {whole} G_{{jp}} \Bigr)_{{\alpha\alpha}} = s_\alpha - "
            r"d_{\mathrm{eff}}\, \pi_\alpha, \qquad d_{\mathrm{eff}} = \sum_j k_{pj}\, g_{jp}",
        ),
        because="equal equations from equal starts; the second form is where $K_{pj} = k_{pj}$ and "
        "$G_{jp} = g_{jp}$ on the modes, with $k_{pp} = 1$ and $g_{pp}$ the pathway's own $d$; in "
        "general single actions may point elsewhere, as long as their sum does not",
        check="the errors of all pathways where every strength is $s/d_{\\mathrm{eff}}$, from "
        "their definition, entry by entry: 0; the couplings in the certificate",
        holds=derivation.ask(reach_least_loss),
        main=True,
    )


def _loss_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield the loss as a function of the strengths, where these have a formula."""
    if derivation.loss is None:
        return
    yield Line(
        says="The loss in the strengths, with $m_\\alpha$ equal modes each:",
        equation=(
            r"L(t) = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_\alpha m_\alpha \left( "
            r"s_\alpha \pi_\alpha(t) - \tfrac{1}{2} d_\alpha\, \pi_\alpha(t)^2 \right)",
        ),
        because="the loss in correlations, with diagonal matrices; modes do not meet in it",
        check="no error is left at the plateaus, and the sum over modes there is what they take "
        "off the loss of the samples, exact, stage by stage",
        holds=derivation.ask(reach_least_loss),
    )
