"""From the reduced flow to modes, their solutions and the loss: the lines of what closes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from symreln.claims.flow_lines import IN_LETTERS, MATRICES, whole_map
from symreln.laws.coupled_modes import competition_lines
from symreln.laws.flow_letters import reduced_loss_holds
from symreln.laws.line import Line
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.on_data import StageOnData
    from symreln.laws.law import Law


def mode_lines(derivation: Derivation, stages: list[StageOnData]) -> Iterator[Line]:
    """Yield the equations of modes and their solutions."""
    levels = {stage.verdict.level for stage in derivation.stages}
    if Level.CLOSED_BY_SYMMETRY in levels:
        closed = [s for s in stages if s.stage.verdict.level is Level.CLOSED_BY_SYMMETRY]
        yield _sum_closes(closed)
    laws: dict[tuple[type[Law], int], Law] = {}
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            if mode.strength is not None and not mode.is_null:
                laws.setdefault((type(mode.strength), derivation.known.layers), mode.strength)
    for law in laws.values():
        yield from law.in_symbols().lines()
    if Level.COUPLED_MODES in levels:
        yield from competition_lines()
    if levels & set(MATRICES):
        yield from _matrices(derivation)


def _matrices(derivation: Derivation) -> Iterator[Line]:
    """Yield what is integrated where modes do not close."""
    known = derivation.known
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
    if derivation.strength0 is None or known.units is None:
        return
    yield Line(
        says="It starts from the expected Gram matrix of all weights of a pathway, on which alone "
        "its maps depend:",
        equation=(
            r"\mathbb{E}[Q_p Q_p^{\top}] = N \sigma^2 I = 2 \pi_0 I, \qquad Q_p = "
            r"\begin{pmatrix} B^{(1)\top}_p \\ B^{(2)}_p \end{pmatrix}",
        ),
        because=r"independent entries of equal variance, over $N$ units; $\pi_0$ is below",
        check="the spec's numbers put in, exact",
        holds=known.gram_scale == 2 * derivation.strength0,
    )


def _sum_closes(stages: Iterable[StageOnData]) -> Line:
    return Line(
        says="Pathways couple, and their sum **closes by symmetry**: modes that couple have the "
        "same $s$ and the same start, and on each the actions of all pathways add up to the same "
        r"multiple $d_{\mathrm{eff}}$ of its own drive, so that they stay equal. Below, $d$ stands "
        r"for $d_{\mathrm{eff}}$:",
        equation=(
            r"\Bigl( S_p - \sum_j K_{pj} B_j G_{jp} \Bigr)_{\alpha\alpha} = s_\alpha - "
            r"d_{\mathrm{eff}}\, \pi_\alpha, \qquad d_{\mathrm{eff}} = \sum_j k_{pj}\, g_{jp}",
        ),
        because="equal equations from equal starts; the second form is where $K_{pj} = k_{pj}$ and "
        "$G_{jp} = g_{jp}$ on the modes, and in general single actions may point elsewhere, as "
        "long as their sum does not",
        check="the errors of all pathways where every strength is $s/d_{\\mathrm{eff}}$, from "
        "their definition, entry by entry: 0; the couplings in the certificate",
        holds=all(stage.sums_close() for stage in stages),
        main=True,
    )


def loss_lines(derivation: Derivation, stages: list[StageOnData]) -> Iterator[Line]:
    """Yield the loss as a function of the strengths, where it is one."""
    if derivation.loss is None:
        return
    yield Line(
        says="The loss in the strengths, with $m_\\alpha$ equal modes each:",
        equation=(
            r"L(t) = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_\alpha m_\alpha \left( "
            r"s_\alpha \pi_\alpha(t) - \tfrac{1}{2} d_\alpha\, \pi_\alpha(t)^2 \right)",
        ),
        because="the loss in correlations, with diagonal matrices; modes do not meet in it",
        check="the loss summed over the samples, with every strength at a third of its plateau, "
        "against the sum over modes, exact, stage by stage",
        holds=all(stage.loses_by_modes() for stage in stages),
        main=True,
    )
