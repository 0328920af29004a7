"""The loss in mode space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.claim import DIGITS
from symreln.claims.converged import converged_decimal, converged_loss, converged_number
from symreln.claims.orbits import PathwayOrbit, mode_orbits
from symreln.claims.widths import narrow_pathways
from symreln.document.mathtext import Summed, ordered_terms, signed_latex, to_latex, weighted
from symreln.document.model import Block, Details, Math, equation, prose
from symreln.document.numerals import decimal_latex
from symreln.document.rows import display
from symreln.document.typeset import say
from symreln.document.widths import latex_width
from symreln.document.words import Notation, is_long, scalar_latex
from symreln.exact.scalar import Scalar
from symreln.laws.loss import strength_symbol

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

#: Terms of the loss that are printed.
MOST_TERMS = 120
#: Letters of a line within the brackets of a sum over pathways.
SUM_WIDTH = 56.0


def loss_equation(derivation: Derivation) -> list[Block]:
    """Return the loss in mode space and where it goes, or why it is no sum over modes."""
    notation = Notation.of(derivation.spec)
    final = scalar_latex(derivation.least_loss, notation)
    initial = scalar_latex(derivation.initial_loss, notation)
    # Whatever the training descends, losses are shown as means.
    definition = r"L = \tfrac{1}{2P} \sum_\mu \|y_\mu - \hat{y}_\mu\|^2"
    if derivation.loss is None:
        return [
            prose(
                "The mean loss ",
                Math(definition),
                " has cross terms between stages that were not shown to vanish. The predicted "
                "loss is that of the integrated flow. Its least value is ",
                Math(final),
                ".",
            )
        ]
    d = r"d_\alpha" if not any_coupled(derivation) else r"d_{\mathrm{eff},\alpha}"
    return [
        say(
            r"The mean loss {definition} is a sum over modes $\alpha$ of multiplicity "
            r"$m_\alpha$:",
            definition=Math(definition),
        ),
        equation(
            rf"L(t) = {initial} - \sum_\alpha m_\alpha \left( s_\alpha \pi_\alpha(t) "
            rf"- \tfrac{{1}}{{2}} {d}\, \pi_\alpha(t)^2 \right).",
        ),
        prose(
            "It falls from ",
            Math(rf"\tfrac{{1}}{{2P}} \sum_\mu \|y_\mu\|^2 = {initial}"),
            " (all outputs zero)",
            *_end(derivation, final),
        ),
    ]


def loss_written_out(derivation: Derivation, notation: Notation) -> list[Block]:
    """Return the loss term by term; nothing where it is no sum over modes."""
    return [] if derivation.loss is None else _written_out(derivation, derivation.loss, notation)


def _end(derivation: Derivation, final: str) -> list[Any]:
    """Say where the loss goes from its first value."""
    if derivation.ask(narrow_pathways):
        return [
            "; pathways that are wide enough would bring it to the least-squares value ",
            Math(final),
            ".",
        ]
    if converged_loss(derivation) is None:
        return [" to ", Math(final), ", the least-squares loss of the pathways."]
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


def _written_out(derivation: Derivation, loss: sp.Expr, notation: Notation) -> list[Block]:
    """Print the loss term by term, where that can be read: the constant, then mode by mode.

    Pathways with equal modes are a sum over p, as in the tables.
    """
    terms = _by_mode(derivation, loss)
    groups = mode_orbits(derivation)
    shown = [_terms_of(group, terms, notation) for group in groups]
    long = derivation.initial_loss.is_constant and is_long(derivation.initial_loss.to_fraction())
    if long or sum(len(mode) for own in shown for mode in own) > MOST_TERMS:
        return [prose(f"Written out it has {len(terms)} terms; they are in derivation.json.")]
    printed: list[Any] = [notation.shown(term) for term in terms if not _modes_in(term, derivation)]
    for group, own in zip(groups, shown, strict=True):
        if len(group.pathways) == 1:
            printed += [term for mode in own for term in mode]
        else:
            printed += _sums([pathway.number for pathway in group.pathways], own)
    written = to_latex(printed[0]) + "".join(map(signed_latex, printed[1:]))
    rows, _ = display((f"L(t) = {written}.",), SUM_WIDTH)
    return [Details(summary="The loss written out", blocks=(equation(*rows),))]


def _sums(numbers: list[int], modes: list[list[Any]]) -> list[Any]:
    """Return the terms of modes as sums over pathways, as many modes in one as fit on a line."""

    def summed(terms: list[Any]) -> Any:
        return Summed(sp.Tuple(*numbers), *terms)

    lines: list[list[Any]] = []
    for mode in modes:
        terms = [-term for term in mode]
        if lines and latex_width(to_latex(summed(lines[-1] + terms))) <= SUM_WIDTH:
            lines[-1] += terms
        else:
            lines.append(terms)
    return [-summed(line) for line in lines]


def _modes_in(term: sp.Expr, derivation: Derivation) -> bool:
    """Whether a term of the loss has a strength."""
    modes = (mode for pathway in derivation.pathways for mode in pathway.modes)
    return not term.free_symbols.isdisjoint(strength_symbol(mode.label) for mode in modes)


def _terms_of(group: PathwayOrbit, terms: list[sp.Expr], notation: Notation) -> list[list[Any]]:
    """Return the terms of every mode of the pathway that stands for a group, in its symbols."""
    found: list[list[Any]] = []
    for mode in group.first.modes:
        strength = strength_symbol(mode.label)
        named = {strength: group.strength_symbol(mode)}
        own = [
            weighted(group.renamed(mode, notation.shown(term)), [strength]).xreplace(named)
            for term in terms
            if strength in term.free_symbols
        ]
        found += [own] if own else []
    return found


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
