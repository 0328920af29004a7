"""The derivation as a student reads it, line by line, and where its modes start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy as sp

from symreln.claims.derivation import Derivation, StageDerivation
from symreln.claims.equilibria import competition_matrix
from symreln.claims.lines import derivation_lines
from symreln.claims.rules import said_at
from symreln.claims.starts import printed_starts
from symreln.document.document_model import Block, Details, Equation, Section, equation, prose
from symreln.document.mathtext import to_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation
from symreln.pipeline.from_weights import white_inputs
from symreln.report.chapters.printed_formulas import formula_blocks, formulas_later
from symreln.verdict.judge import Level

#: Equations of a system that are printed, and those of the first page.
MOST_EQUATIONS, FIRST_EQUATIONS = 40, 8


def derivation_chapter(derivation: Derivation, notation: Notation) -> Section:
    """Return the chapter from the loss of the network to the formulas of the first page.

    Args:
        derivation: What is shown.
        notation: How numbers are printed.
    """
    blocks = [
        *_family(derivation),
        *derivation.ask(derivation_lines).says(),
        *said_at(derivation, "reduction"),
        *said_at(derivation, "end"),
        *_share(derivation),
        *said_at(derivation, "start"),
        *_whole_matrices(derivation),
        *_folded(derivation, notation),
    ]
    return Section(title="The derivation, line by line", blocks=tuple(blocks), label="sec:lines")


def _family(derivation: Derivation) -> Iterator[Block]:
    """Say which law the modes take, where they close."""
    learning = (m for p in derivation.pathways for m in p.modes if m.strength and not m.is_null)
    mode = next(learning, None)
    if mode is not None:
        yield say(
            "Sources: [@Saxe2014], [@Saxe2019]. The law of the modes is “{family}”: {why}.",
            family=mode.family,
            why=typeset(mode.why),
        )


def _share(derivation: Derivation) -> Iterator[Block]:
    """Say what κ is, where modes start from it."""
    network = derivation.spec.network
    if network is None or derivation.given_start is not None or not derivation.known.plain.holds:
        return
    starts = derivation.ask(printed_starts)
    half = "all units" if network.activation == "linear" else "half of the units"
    if any(each.kappa is not None for each in starts):
        otherwise = f"; where no early phase says it, {half} are taken"
        yield say(
            "The share $\\kappa$ of units that take part, each weighted with what it grows into, "
            "is a Monte Carlo estimate over isolated hidden units in the early phase"
            + otherwise * any(each.kappa is None for each in starts)
            + "."
        )
    else:
        yield prose(f"Taking part are {half}.")
    own = [p.number for p in derivation.pathways if p.effective.pathway.hidden is not None]
    if own and derivation.spec.graph is None:  # nodes are drawn as they are
        which = ", ".join(map(str, own))
        yield say(
            f"In pathways with hidden units of their own ({which}) $\\sigma$ is scaled so that "
            "the initial strength is the same."
        )


def _whole_matrices(derivation: Derivation) -> Iterator[Block]:
    """Say that the whole matrices have a solution, where weights would have to be given."""
    if white_inputs(derivation):
        yield say(
            "The inputs are white, so that the whole weight matrices have a closed form, without "
            "alignment or small weights: from weights with $W_2^{\\top} W_2 - W_1 W_1^{\\top} = "
            "\\lambda I$ that you give, `symreln.from_weights(derivation, w1, w2)` has it, in "
            "floats and in certified balls (Braun and others 2022, Dominé and others 2024). "
            "Weights from the initialisation distribution fulfil this in the mean only."
        )


def _folded(derivation: Derivation, notation: Notation) -> Iterator[Block]:
    """Yield what is too long to be read: other solutions, and systems."""
    solutions = tuple(formula_blocks(formulas_later(derivation), notation))
    if solutions:
        yield Details(summary="Closed forms of the other modes", blocks=solutions)
    for stage in () if derivation.closed else derivation.stages:
        system = written_system(derivation, stage)
        if system is not None and len(system.lines) > FIRST_EQUATIONS:
            yield Details(summary=f"The system of stage {stage.stage}", blocks=(system,))


def written_system(derivation: Derivation, stage: StageDerivation) -> Equation | None:
    """Return the system of a stage of coupled modes, equation by equation.

    None where modes do not couple, or where some s² is not rational.
    """
    if stage.verdict.level is not Level.COUPLED_MODES or derivation.by_edges:
        return None
    drives = _symbolic_drives(stage, derivation.spec.symbols)
    if drives is None:
        return None
    notation = Notation.of(derivation.spec)
    lines = tuple(
        rf"\tau {_dotted(p)} &= 2 {to_latex(p)} \left( {notation.latex(drive)} \right)"
        for p, drive in drives.items()
    )
    return equation(*lines[:MOST_EQUATIONS])


def _symbolic_drives(
    stage: StageDerivation, symbols: Mapping[str, sp.Symbol]
) -> dict[sp.Symbol, sp.Expr] | None:
    """Return s_a − Σ_b kappa_ab π_b of strengths; None where an s² is not rational, or too long."""
    nodes = [(p, mode) for p, pathway in enumerate(stage.pathways) for mode in pathway.learning]
    matrix = competition_matrix(stage, [(p, mode.class_index) for p, mode in nodes])
    if matrix is None:
        return None
    s = [mode.s.to_sympy(symbols) for _, mode in nodes]
    names = [sp.Symbol(mode.label, positive=True) for _, mode in nodes]
    try:
        return {
            name: s[row]
            - sp.Add(
                *(
                    matrix.entry(row, column).to_sympy(symbols) * s[row] / s[column] * other
                    for column, other in enumerate(names)
                )
            )
            for row, name in enumerate(names)
        }
    except OverflowError:  # SymPy looks for factors of numbers beyond float64
        return None


def _dotted(symbol: sp.Symbol) -> str:
    r"""Return the LaTeX of a symbol's time derivative: the dot stands over the letter alone."""
    letter, underscore, index = to_latex(symbol).partition("_")
    return rf"\dot{{{letter}}}{underscore}{index}"
