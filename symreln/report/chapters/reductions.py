"""Reductions that are integrated: coupled modes and coupled matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.linear_flow import SOLUTION, is_linear
from symreln.claims.mode_system import symbolic_system
from symreln.claims.rules import said_at
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, equation, prose
from symreln.document.typeset import say
from symreln.document.words import Notation
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    import sympy as sp

    from symreln.claims.derivation import Derivation, StageDerivation

#: Equations of a system that are printed.
_MOST_EQUATIONS = 40
#: Equations above which they are folded away on a page.
_FOLDED_EQUATIONS = 8


def mode_equations() -> list[Block]:
    """Return what the strengths of coupled modes obey."""
    return [
        say(
            "The strengths of an aligned start obey a competitive Lotka–Volterra system "
            "[@Saxe2022]:"
        ),
        equation(
            r"\tau \dot{\pi}_a = 2 \pi_a \Bigl( s_a - \sum_b \kappa_{ab}\, \pi_b \Bigr), "
            r"\qquad \kappa_{aa} = d_a, \quad \kappa_{ab} = k_{ab}\, g_{ba}.",
            label="eq:lotka",
        ),
    ]


def not_closed(derivation: Derivation) -> list[Block]:
    """Return what the equations of the first page come to, where not all modes close."""
    blocks: list[Block] = []
    if any(stage.verdict.level is Level.COUPLED_MODES for stage in derivation.stages):
        for stage in derivation.stages:
            blocks += _systems(derivation, stage)
        blocks += said_at(derivation, "reduction")
    if is_linear(derivation):
        return []
    if derivation.level is Level.COUPLED_MATRICES:
        return [*blocks, say("The coupled matrices obey [#eq:matrices]."), _matrix_start()]
    return [*blocks, *matrix_equations(), _matrix_start()]


def matrix_reduction() -> list[Block]:
    """Return the reduction that holds at every level."""
    return [*matrix_equations(), _matrix_start()]


def linear_solution() -> list[Block]:
    """Return the weights of a single layer, of which strengths are entries."""
    return [
        say(
            "A single layer's flow is linear in its weights, and they have a solution whether or "
            r"not correlations commute, of which strengths are $\pi = u^{\top} W_p v$:"
        ),
        equation(SOLUTION[0], f"{SOLUTION[2]}.", label="eq:matrices"),
    ]


def matrix_equations() -> list[Block]:
    """Return the equations of the reduction that holds at every level."""
    return [
        say(
            r"The reduction to matrices holds at every level. With $W^{(1)}_p = R_p B^{(1)}_p "
            r"V_p^{\top}$, $W^{(2)}_p = U_p B^{(2)}_p R_p^{\top}$ and orthonormal $R_p$,"
        ),
        equation(
            r"\tau \dot{B}^{(1)}_p &= B^{(2)\,\top}_p \hat{E}_p, \qquad "
            r"\tau \dot{B}^{(2)}_p = \hat{E}_p B^{(1)\,\top}_p,",
            r"\hat{E}_p &= S_p - \sum_j K_{pj}\, B^{(2)}_j B^{(1)}_j G_{jp},",
            label="eq:matrices",
        ),
        say(
            r"with $S_p = U_p^{\top} \Sigma^{yx}(p) V_p$, $K_{pj} = U_p^{\top} O_p O_j U_j$ and "
            r"$G_{jp} = V_j^{\top} \Sigma^{x}(j, p) V_p$. The sum runs over the pathways that "
            r"learn with $p$ or before it; $\hat{E}_p$ is the error that all of them leave."
        ),
    ]


def _matrix_start() -> Block:
    return say(
        "This reduction is exact. $V_p$ spans the pathway's inputs. $U_p$ spans the targets and "
        "every $O_p O_j U_j$, so that no error points out of it. The flow starts from the "
        r"expected Gram matrix $\mathbb{E}[Q_p Q_p^{\top}] = 2 \pi_0 I$ of $Q_p = "
        r"[B^{(1)\top}_p;\, B^{(2)}_p]$, which determines it."
    )


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
