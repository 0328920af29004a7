"""The loss in mode space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.claims.claim import DIGITS
from symreln.claims.converged import converged_decimal, converged_loss, converged_number
from symreln.claims.widths import narrow_pathways
from symreln.document.breaking import sum_lines
from symreln.document.mathtext import ordered_terms, weighted
from symreln.document.model import Block, Details, Math, equation, prose
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say
from symreln.document.words import Notation, scalar_latex
from symreln.exact.scalar import Scalar
from symreln.laws.loss import strength_symbol

if TYPE_CHECKING:
    import sympy as sp

    from symreln.claims.derivation import Derivation
    from symreln.report.abbreviations import Abbreviations

#: Terms of the loss that are printed.
MOST_TERMS = 120


def loss_blocks(derivation: Derivation, names: Abbreviations) -> list[Block]:
    """Return the loss in mode space, written out where that can be read, and where it goes."""
    notation = Notation.of(derivation.spec)
    final = scalar_latex(derivation.final_loss, notation)
    initial = scalar_latex(derivation.initial_loss, notation)
    # Whatever the training descends, losses are shown as means.
    definition = r"L = \tfrac{1}{2P} \sum_\mu \|y_\mu - \hat{y}_\mu\|^2"
    if derivation.loss is None:
        return [
            prose(
                "The loss ",
                Math(definition),
                " has cross terms between stages that were not shown to vanish; the predicted "
                "loss is that of the integrated flow. Its least value is ",
                Math(final),
                ".",
            )
        ]
    d = r"d_\alpha" if not any_coupled(derivation) else r"d_{\mathrm{eff},\alpha}"
    return [
        say(
            r"The mean loss {definition} is, with the multiplicity $m_\alpha$ of each mode,",
            definition=Math(definition),
        ),
        equation(
            rf"L(t) = {initial} - \sum_\alpha m_\alpha \left( s_\alpha \pi_\alpha(t) "
            rf"- \tfrac{{1}}{{2}} {d}\, \pi_\alpha(t)^2 \right).",
            label="eq:loss",
        ),
        *_written_out(derivation, derivation.loss, names),
        prose(
            "It falls from ",
            Math(rf"\tfrac{{1}}{{2}} \operatorname{{tr}} \Sigma^{{y}} = {initial}"),
            " (all outputs zero)",
            *_end(derivation, final),
        ),
    ]


def _end(derivation: Derivation, final: str) -> list[Any]:
    """Say where the loss goes from its first value."""
    if derivation.ask(narrow_pathways):
        return [
            "; pathways that are wide enough would bring it to the least-squares value ",
            Math(final),
            ".",
        ]
    if converged_loss(derivation) is None:
        return [" to ", Math(final), ", the least-squares value that the pathways can reach."]
    return [
        " to what it is with every strength at its plateau",
        *_limit(derivation),
        " and not to the least-squares value ",
        Math(final),
        ": weight decay holds the strengths below.",
    ]


def _limit(derivation: Derivation) -> list[Any]:
    """Return that value between commas: exact where it is rational, else as a decimal."""
    number, decimal = derivation.ask(converged_number), converged_decimal(derivation, DIGITS)
    if decimal is None:
        return []
    where = " at the declared values" if derivation.spec.parameters else ""
    if number is None:
        shown = decimal_latex(*decimal, digits=8)
    else:
        shown = scalar_latex(Scalar.of(number), Notation.of(derivation.spec))
    return [", ", Math(shown), f"{where},"]


def _written_out(derivation: Derivation, loss: sp.Expr, names: Abbreviations) -> list[Block]:
    """Print the loss term by term, where that can be read: the constant, then mode by mode."""
    terms = _by_mode(derivation, loss)
    if len(terms) > MOST_TERMS:
        return [prose(f"Written out it has {len(terms)} terms; they are in derivation.json.")]
    modes = [strength_symbol(m.label) for pathway in derivation.pathways for m in pathway.modes]
    lines = sum_lines("L(t)", [weighted(names.short(term), modes) for term in terms])
    return [
        Details(summary="The loss written out", blocks=(equation(*lines[:-1], f"{lines[-1]}."),))
    ]


def _by_mode(derivation: Derivation, loss: sp.Expr) -> list[sp.Expr]:
    """Return the terms of the loss: those without a strength, then of mode after mode."""
    modes = [mode for pathway in derivation.pathways for mode in pathway.modes]
    places = {strength_symbol(mode.label): place for place, mode in enumerate(modes)}

    def place(term: sp.Expr) -> tuple[list[int], Any]:
        powers = {s: term.as_powers_dict()[s] for s in places.keys() & term.free_symbols}
        return sorted(places[s] for s in powers), sum(powers.values())

    return sorted(ordered_terms(loss), key=place)


def any_coupled(derivation: Derivation) -> bool:
    """Return whether couplings change what some mode's d is."""
    return any(stage.verdict.d_eff for stage in derivation.stages)
