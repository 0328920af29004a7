"""The page of a race over a parameter: who wins where, and the phase diagram with its slider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.document.mathtext import slashed_latex
from symreln.document.model import (
    Code,
    Content,
    Document,
    Drawing,
    Figure,
    Inline,
    Interactive,
    Math,
    Paragraph,
    Section,
    Table,
    Text,
    prose,
)
from symreln.document.symbols import symbol_latex
from symreln.gating.serialise import number_text
from symreln.report import html
from symreln.report.live_race import live_race, race_slider
from symreln.report.live_script import live_script
from symreln.report.live_values import Live

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sympy as sp

    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.gating.race_pieces import Race, RacePiece
    from symreln.gating.race_report import RaceReport
    from symreln.specs.model import Spec

_NOTE = (
    "The slider moves the parameter over the exact speeds, which the page computes; it needs "
    "scripts for that."
)
_ABOUT = (
    "Growth rates of hidden units while weights are small decide which gate is learned first. "
    "Boundaries are exact; between them the order does not change."
)


def race_page(found: RaceReport, drawing: Drawing) -> str:
    """Return the page of a race as HTML.

    Args:
        found: The race.
        drawing: Its figure.
    """
    race = found.race
    live = Live(sliders=(race_slider(race, found.spec),), race=live_race(race, found.spec))
    title = (found.spec.title, ": race of gates over ", Math(symbol_latex(race.parameter)))
    return html.render(
        Document(
            title=title,
            subtitle="Speeds of gates, compared by symreln",
            blocks=(
                Section(title="Result", blocks=_result(race, found.spec), label="sec:result"),
                Section(title="Speeds", blocks=_speeds(race), label="sec:speeds"),
            ),
            figures=(drawing,),
            interactive=Interactive(script=live_script(live), note=_NOTE),
        )
    )


def _result(race: Race, spec: Spec) -> tuple[Table | Paragraph, ...]:
    """Return who wins where."""
    name = Math(symbol_latex(race.parameter))
    rows = tuple((part.where(name, _number), *_order(part, race, spec)) for part in race.pieces)
    table = Table(
        header=("values", "fastest first", "growth rates between boundaries, in units of 1/τ"),
        rows=rows,
        caption="The order of gates over the parameter; = are of equal speed.",
        alignment="lpl",
    )
    doubt = f"Not proven to be the fastest: {race.why}." if race.why else ""
    return (prose(_ABOUT), table, *([prose(doubt)] if doubt else []))


def _speeds(race: Race) -> tuple[Table | Figure, ...]:
    """Return what changes where, and the figure."""
    rows = tuple(
        (
            _equals(race.parameter, each.value),
            "speeds cross" if each.kind == "speed" else "starts or stops to exist",
            Code(", ".join(race.names[name] for name in each.between)),
            "yes" if each.changes_winner else "no",
        )
        for each in race.boundaries
    )
    boundaries = Table(
        header=("value", "what changes", "gates", "another winner"),
        rows=rows,
        caption="Boundaries of the phase diagram.",
        alignment="llpl",
    )
    figure = Figure(
        name="race",
        caption="Speeds of gates over the parameter, with the boundaries.",
        alt="Speeds of gates against the parameter.",
    )
    return (*([boundaries] if rows else []), figure)


def _order(part: RacePiece, race: Race, spec: Spec) -> tuple[Content, Content]:
    """Return the gates by decreasing speed, and their speeds."""
    if part.why:
        return part.why, ""
    ranks = [" = ".join(race.names[name] for name in rank) for rank in part.order]
    rates: list[Inline | str] = []
    for rank in part.ranks:
        if rank[0].rate is not None:
            rates += [*([" > "] if rates else []), _number(rank[0].rate, spec.symbols)]
    return Code(" > ".join(ranks)) if ranks else "no gate grows", tuple(rates)


def _equals(name: str, value: AlgebraicNumber) -> Content:
    return (Math(f"{symbol_latex(name)} = "), _number(value))


def _number(value: AlgebraicNumber, symbols: Mapping[str, sp.Symbol] | None = None) -> Inline:
    """Return an exact number, or its decimals where radicals do not say it."""
    if not value.is_radical:
        return Text(number_text(value))
    return Math(slashed_latex(value.to_sympy(symbols)))
