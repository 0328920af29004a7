"""From the reduced flow to modes, their solutions and the loss: the lines of what closes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symreln.claims.flow_lines import IN_LETTERS, whole_map
from symreln.claims.linear_flow import is_linear, linear_lines
from symreln.claims.relaxation import diverging
from symreln.laws.coupled_modes import competition_lines
from symreln.laws.flow_letters import reduced_loss_holds
from symreln.laws.line import Line, proven_once
from symreln.laws.shared_chain import SharedChain
from symreln.verdict.judge import Level
from symreln.verdict.residual import plateau_errors, plateau_gain

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, StageDerivation
    from symreln.laws.law import Law


def mode_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield the equations of modes and their solutions."""
    levels = {stage.verdict.level for stage in derivation.stages}
    sharing = derivation.known.sharing
    if sharing is not None:
        yield from proven_once(SharedChain.lines, SharedChain.of(sharing))
    elif Level.CLOSED_BY_SYMMETRY in levels:
        yield _sum_closes(derivation)
    laws: dict[tuple[type[Law], int], Law] = {}
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            if mode.strength is not None and not mode.is_null:
                laws.setdefault((type(mode.strength), derivation.known.layers), mode.strength)
    for law in laws.values():
        yield from proven_once(type(law).lines, law.in_symbols())
    if derivation.ask(diverging) is not None:
        for law in laws.values():
            yield law.in_symbols().settling_line()
    if Level.COUPLED_MODES in levels:
        yield from proven_once(competition_lines)
    if Level.COUPLED_MATRICES in levels:
        yield from matrix_lines(derivation)


def matrix_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield what is integrated where modes do not close."""
    known = derivation.known
    if is_linear(derivation):
        yield from proven_once(linear_lines)
        return
    yield Line(
        says="**Nothing closes further.** Assumption 2.1.2 is not used: the matrices $B$ stay "
        "matrices, the reduction above is integrated as it stands, and its loss is",
        equation=(
            r"L = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_p \operatorname{tr} "
            r"B_p^{\top} S_p + \tfrac{1}{2} \sum_{p, j} \operatorname{tr} B_p^{\top} K_{pj} B_j "
            rf"G_{{jp}}, \qquad B_p = {whole_map(known.layers).replace('W', 'B')}",
        ),
        because="the loss in correlations, in these bases",
        check=f"both sides subtracted, bases shortened by orthonormality, {IN_LETTERS}",
        holds=reduced_loss_holds(known.layers),
        main=True,
    )


def reach_least_loss(derivation: Derivation) -> bool:
    """Whether the plateaus s/d_eff of every closed stage reach the least loss, from its definition.

    The normal equations, entry by entry, and what the plateaus take off the loss.
    """
    return all(map(_reaches_least_loss, derivation.stages))


def _reaches_least_loss(stage: StageDerivation) -> bool:
    if stage.verdict.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
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


def loss_lines(derivation: Derivation) -> Iterator[Line]:
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
