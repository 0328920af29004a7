"""Where coupled modes come to rest, and what they conserve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.equilibria import conserved_sums, races_of, resting_loss
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Table, equation, prose
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import typeset
from symreln.document.words import decimal_cell, number_cell
from symreln.report.chapters.resting import on_a_line, sharing, why_a_point

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.equilibria import Race
    from symreln.document.inlines import Content

#: Modes of the table that are printed; the rest is in derivation.json.
MOST_MODES = 40


def equilibria(derivation: Derivation) -> list[Block]:
    """Return the equilibria, how they were proven stable, and the conserved quantities."""
    ended = [race for race in derivation.ask(races_of) if race.end is not None]
    blocks: list[Block] = []
    if ended:
        blocks += [_why(derivation, ended), _table(derivation, ended), *_unstable(ended)]
    for race in derivation.ask(races_of):
        if race.line is not None:
            blocks += on_a_line(race, derivation.strength0)
    if any(race.line is not None for race in derivation.ask(races_of)):
        blocks.append(why_a_point())
    blocks += [*sharing(derivation.ask(races_of)), *_loss(derivation)]
    blocks += [
        prose(
            *typeset(f"Where {', '.join(race.labels[:6])}"),
            *_more(race),
            " come to rest is not decided: ",
            *typeset(race.undecided),
            ".",
        )
        for race in derivation.ask(races_of)
        if race.undecided
    ]
    return [*blocks, *_conserved(derivation)]


def _more(race: Race) -> tuple[str, ...]:
    left = len(race.labels) - 6
    return (f" and {left} more",) if left > 0 else ()


def _why(derivation: Derivation, ended: list[Race]) -> Block:
    definite = all(race.totals.is_convex(race.values) for race in ended)
    later = len(derivation.stages) > 1
    whole = len(ended) == len(derivation.ask(races_of))
    shared = any(race.shared for race in ended)
    form = (
        " is symmetric and positive definite (checked exactly)"
        if definite
        else " is symmetric and positive semidefinite, definite on the modes that stay (checked "
        "exactly)"
    )
    return prose(
        "Aligned modes" if whole else "The aligned modes in this table",
        ", their stage seeing what converged earlier stages leave," if later else "",
        " come to rest at the equilibrium below from every positive start. With ",
        Math(r"L"),
        " as a function of the strengths"
        + (", of those that are alike of their sum, " if shared else ", "),
        Math(r"m_a \kappa_{ab}"),
        form,
        ", so that ",
        Math(r"\tau \dot{L} = -2 \sum_a m_a \pi_a (s_a - \sum_b \kappa_{ab} \pi_b)^2 \leq 0"),
        ", and ",
        Math("L"),
        " has one minimum over ",
        Math(r"\pi \geq 0"),
        ": drives of the modes that stay vanish, those of the others are not positive. That it "
        "attracts is shown by ",
        Math(r"\sum_a (m_a/2) (\pi_a - \pi^*_a - \pi^*_a \ln \pi_a)"),
        ", which falls along the flow (Goh, 1977, for species that compete).",
    )


def _table(derivation: Derivation, ended: list[Race]) -> Table:
    rows = [row for race in ended for row in _rows(derivation, race)]
    left = len(rows) - MOST_MODES
    caption = "Where coupled modes come to rest, at the declared values of parameters."
    if left > 0:
        caption += f" {left} more are in derivation.json."
    return Table(
        header=("strength", Math(r"\pi^*"), "decimal", Math(r"\sum_b \kappa_{ab} \pi^*_b - s_a")),
        rows=tuple(rows[:MOST_MODES]),
        caption=caption,
        alignment="lccc",
    )


def _rows(derivation: Derivation, race: Race) -> list[tuple[Content, ...]]:
    symbols, values = derivation.spec.symbols, derivation.spec.values
    assert race.end is not None
    found: dict[str, tuple[Content, ...]] = {}
    for modes, strength in race.strengths(race.end):
        name = " + ".join(symbol_latex(mode.label) for mode in modes)
        cell = number_cell(strength, symbols, values)
        found[modes[0].label] = (Math(name), cell, decimal_cell(strength, values), Math("0"))
    for mode, shortfall in race.losers(race.end):
        cell = number_cell(shortfall, symbols, values)
        found[mode.label] = (Math(symbol_latex(mode.label)), Math("0"), Math("0"), cell)
    return [found[label] for label in race.labels if label in found]


def _unstable(ended: list[Race]) -> list[Block]:
    listed = [race for race in ended if race.unstable is not None and len(race.modes) > 1]
    if not listed:
        return []
    count = sum(len(race.unstable or ()) for race in listed)
    return [
        prose(
            f"Of the modes that compete, every choice of survivors was tried where they are few: "
            f"{count} more equilibria have positive strengths, and in each some mode that is "
            "absent grows as soon as it is there. They are in derivation.json."
        )
    ]


def _loss(derivation: Derivation) -> list[Block]:
    rest = resting_loss(derivation)
    if rest is None:
        return []
    symbols, values = derivation.spec.symbols, derivation.spec.values
    least = derivation.final_loss
    # Who stays is decided at the declared values, and so is what there is to compare.
    where = ", at the declared values" if values and rest != least else ""
    text: list = ["The loss of the modes at rest is ", Math(to_latex(rest.to_sympy(symbols)))]
    if rest.substitute(values) == least.substitute(values):
        return [prose(*text, f"{where}, the least that the pathways can reach.")]
    return [
        prose(
            *text,
            f"{where}, above the least that the pathways can reach, ",
            Math(to_latex(least.to_sympy(symbols))),
            ": there some strength is negative or another direction is used, which an aligned "
            "positive start never reaches. Random weights hold a little of the opposite sign, and "
            "where it lowers the loss it grows in the end; the matrix reduction below has it from "
            "the start.",
        )
    ]


def _conserved(derivation: Derivation) -> list[Block]:
    lines = [
        rf"\tau \frac{{d}}{{dt}} \Bigl( {to_latex(total)} \Bigr) &= {to_latex(rate)}"
        for race in derivation.ask(races_of)
        for total, rate in conserved_sums(race, derivation.spec.symbols)
    ]
    if not lines:
        return []
    return [
        prose(
            "A combination ",
            Math(r"C^{\top} \kappa = 0"),
            " makes ",
            Math(r"\sum_a C_a \ln \pi_a"),
            " grow at the constant rate ",
            Math(r"2\, C^{\top} s/\tau"),
            "; where that is 0 it is conserved:",
        ),
        equation(*lines[:MOST_MODES]),
    ]
