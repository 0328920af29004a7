"""Reductions that are integrated: coupled modes and coupled matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.mode_system import symbolic_system
from symreln.claims.rules import said_at
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Citation, Details, Math, equation, prose
from symreln.document.typeset import say
from symreln.document.words import Notation, scalar_latex
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    import sympy as sp

    from symreln.claims.derivation import Derivation, StageDerivation

#: Equations of a system that are printed.
_MOST_EQUATIONS = 40
#: Equations above which they are folded away on a page.
_FOLDED_EQUATIONS = 8


def not_closed(derivation: Derivation) -> list[Block]:
    """Return the equations of a derivation whose modes do not all close."""
    blocks: list[Block] = []
    if any(stage.verdict.level is Level.COUPLED_MODES for stage in derivation.stages):
        blocks += [
            prose(
                "The strengths of an aligned start obey a competitive Lotka–Volterra system ",
                Citation("Saxe2022"),
                ":",
            ),
            equation(
                r"\tau \dot{\pi}_a = 2 \pi_a \Bigl( s_a - \sum_b \kappa_{ab}\, \pi_b \Bigr), "
                r"\qquad \kappa_{aa} = d_a, \quad \kappa_{ab} = k_{ab}\, g_{ba}.",
                label="eq:lotka",
            ),
        ]
        for stage in derivation.stages:
            blocks += _systems(derivation, stage)
        blocks += said_at(derivation, "reduction")
    notation = Notation.of(derivation.spec)
    return [
        *blocks,
        *matrix_reduction(),
        say(
            "The least loss that the pathways can reach{later} is {final_loss}; it starts "
            "from {initial_loss} with all outputs zero.",
            later=" with the gates taken last" if derivation.later else "",
            final_loss=Math(scalar_latex(derivation.final_loss, notation)),
            initial_loss=Math(scalar_latex(derivation.initial_loss, notation)),
        ),
    ]


def matrix_reduction() -> list[Block]:
    """Return the reduction that holds at every level."""
    return [
        say(
            r"The reduction that always holds keeps matrices. With $W^{(1)}_p = R_p B^{(1)}_p "
            r"V_p^{\top}$ and $W^{(2)}_p = U_p B^{(2)}_p R_p^{\top}$, $R_p$ orthonormal,"
        ),
        equation(
            r"\tau \dot{B}^{(1)}_p &= B^{(2)\,\top}_p \hat{E}_p, \qquad "
            r"\tau \dot{B}^{(2)}_p = \hat{E}_p B^{(1)\,\top}_p,",
            r"\hat{E}_p &= S_p - \sum_j K_{pj}\, B^{(2)}_j B^{(1)}_j G_{jp},",
            label="eq:matrices",
        ),
        say(
            r"where $\hat{E}_p$ is what all pathways leave of $S_p = U_p^{\top} \Sigma^{yx}(p) "
            r"V_p$, with $K_{pj} = U_p^{\top} O_p O_j U_j$ "
            r"and $G_{jp} = V_j^{\top} \Sigma^{x}(j, p) V_p$, the sum over the pathways that "
            "$p$ sees. It is exact: $V_p$ spans the pathway's inputs, and $U_p$ the targets, "
            "enlarged by every $O_p O_j U_j$ until no error points out of it. It starts from "
            r"the expected Gram matrix $\mathbb{E}[Q_p Q_p^{\top}] = 2 \pi_0 I$ of $Q_p = "
            r"[B^{(1)\top}_p;\, B^{(2)}_p]$, on which alone the maps depend."
        ),
    ]


def _dotted(symbol: sp.Symbol) -> str:
    r"""Return the LaTeX of a symbol's time derivative: the dot stands over the letter alone."""
    letter, underscore, index = to_latex(symbol).partition("_")
    return rf"\dot{{{letter}}}{underscore}{index}"


def _systems(derivation: Derivation, stage: StageDerivation) -> list[Block]:
    """Print the system of a stage of coupled modes, equation by equation."""
    if stage.verdict.level is not Level.COUPLED_MODES:
        return []
    system = symbolic_system(stage, derivation.spec.symbols)
    if system is None:
        return [prose("Some s² is not rational; the system is integrated in numbers.")]
    notation = Notation.of(derivation.spec)
    lines = tuple(
        rf"\tau {_dotted(p)} &= 2 {to_latex(p)} \left( {notation.latex(drive)} \right)"
        for p, drive in zip(system.strengths, system.drives, strict=True)
    )
    shown = equation(*lines[:_MOST_EQUATIONS])
    if len(lines) > _FOLDED_EQUATIONS:
        return [Details(summary=f"The system, {len(lines)} modes", blocks=(shown,))]
    return [prose("Written out:"), shown]
