"""The parts of a graph that learn apart: levels, modes, closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Code,
    Math,
    Section,
    Strong,
    Table,
    equation,
    prose,
)
from symreln.document.typeset import say, typeset
from symreln.document.words import decimal_cell, number_cell
from symreln.laws.depth import Depth

if TYPE_CHECKING:
    from symreln.document.inlines import Content
    from symreln.exact.spectrum import JointSpectrum
    from symreln.graphs.chains import SharedChain
    from symreln.graphs.components import Component
    from symreln.graphs.derivation import GraphDerivation
    from symreln.laws.law import Law

#: Parts that are shown, and rows of a table; derivation.json has all.
MOST_PARTS = 12
MOST_ROWS = 24


def chapter(derivation: GraphDerivation) -> Section:
    """Return the chapter on the components of a graph."""
    parts = derivation.components
    blocks: list[Block] = [
        prose(
            "Pathways that share an edge, see the same data or couple are in one part. Edges and "
            "errors of different parts never meet: each part follows a flow of its own, and the "
            f"loss is a sum over them. This graph has {len(parts)}."
        ),
        _levels(derivation),
    ]
    for number, component in enumerate(parts[:MOST_PARTS], start=1):
        blocks.append(_part(derivation, component, number))
    if len(parts) > MOST_PARTS:
        blocks.append(prose(f"{len(parts) - MOST_PARTS} more parts are in derivation.json."))
    return Section(title="Parts that learn apart", label="sec:parts", blocks=tuple(blocks))


def _levels(derivation: GraphDerivation) -> Table:
    rows: list[tuple[Content, ...]] = [
        (
            str(number),
            typeset(derivation.part_text(component)),
            ", ".join(map(str, component.counts)) or "–",
            Strong(component.level.value),
        )
        for number, component in enumerate(derivation.components[:MOST_ROWS], start=1)
    ]
    return Table(
        header=("part", "pathways", "uses of an edge at each place", "verdict"),
        rows=tuple(rows),
        alignment="rpll",
        caption="Parts of the graph.",
    )


def _part(derivation: GraphDerivation, component: Component, number: int) -> Section:
    blocks: list[Block] = [prose(*typeset(f"{component.why[:1].upper()}{component.why[1:]}."))]
    if component.form is not None:
        blocks += _closed(component.form, component)
    elif component.is_regular:
        blocks.append(
            prose(
                "Every pathway is used alike at each place, so that one matrix a place follows "
                "the reduced flow, its term multiplied by the uses; the matrices are kept whole."
            )
        )
    elif component.ordinary is not None:
        blocks.append(
            say(
                "These are parallel pathways with one hidden layer each. What is proven of "
                "them is what `symreln derive` says of the same pathways written as "
                "`[[pathway]]`."
            )
        )
    else:
        blocks.append(prose("It is not regular: ", *typeset(component.reason), "."))
    blocks += _modes(derivation, component)
    return Section(title=f"Part {number}", label=f"sec:part-{number}", blocks=tuple(blocks))


def _lines(mode: Law) -> list[str]:
    """Return the lines of a solution: an implicit one has its function T in a line of its own."""
    if not isinstance(mode, Depth):
        return [mode.to_latex()]
    name = to_latex(mode.root)
    share = rf"\left({to_latex(mode.d / mode.s)}\, \pi\right)^{{{to_latex(mode.root_power)}}}"
    return [
        rf"t &= {to_latex(mode.scale)} \left[T({name}) - T({name}_0)\right], \quad "
        rf"{name} = {share},",
        rf"T({name}) &= {to_latex(mode.stage)}",
    ]


def _closed(form: SharedChain, component: Component) -> list[Block]:
    used = ", ".join(map(str, component.counts))
    if form.chain is None:
        return [equation(form.mode.equation), equation(*_lines(form.mode))]
    lines = [rf"{to_latex(item.expr)} = \mathrm{{const}}" for item in form.chain.conserved]
    blocks: list[Block] = [
        prose(
            f"Edges at the {form.layers} places are used by {used} pathways each. Started alike "
            "at each place, edges stay alike, and a mode of strengths ",
            Math("w_l"),
            " follows one pathway's flow with every term multiplied by the uses. Conserved:",
        ),
        *(equation(line) for line in lines),
        prose("From a balanced start, where these are 0, the strength ", Math(r"\pi"), " closes:"),
        equation(rf"\tau \dot{{\pi}} = {to_latex(form.rate)}"),
        prose(f"It is solved by the family “{form.family}”:"),
        equation(*_lines(form.mode)),
    ]
    if form.gain != 1:
        blocks.append(
            prose(
                "Against pathways with edges of their own, from the same strength, it is faster "
                "by exactly ",
                Math(to_latex(form.gain)),
                ".",
            )
        )
    return blocks


def _modes(derivation: GraphDerivation, component: Component) -> list[Block]:
    found: list[Block] = []
    data = component.data
    for place, (first, spectrum) in enumerate(
        zip(component.equal_data, component.spectra, strict=True)
    ):
        if first == place and len(found) < MOST_PARTS:
            name = data.bundles[place].effective.pathway.name
            alike = component.equal_data.count(place) - 1
            more = f" and {alike} with equal data" if alike else ""
            found.append(_mode_table(derivation, spectrum, f"{name}{more}"))
    return found


def _mode_table(derivation: GraphDerivation, spectrum: JointSpectrum, name: str) -> Block:
    symbols, values = derivation.spec.symbols, derivation.spec.values
    learning = [mode for mode in spectrum.modes if not mode.is_null]
    null = sum(mode.multiplicity for mode in spectrum.modes if mode.is_null)
    joint = spectrum.commutes
    rows: list[tuple[Content, ...]] = []
    for k, mode in enumerate(learning[:MOST_ROWS], start=1):
        rows.append(
            (
                number_cell(mode.s, symbols, values, f"s_{{{k}}}"),
                *((number_cell(mode.d, symbols, values, f"d_{{{k}}}"),) if joint else ()),
                decimal_cell(mode.s, values),
                str(mode.multiplicity),
            )
        )
    if not rows:
        return prose("The pathway ", Code(name), " learns nothing: its modes all have s = 0.")
    left = len(learning) - len(rows)
    notes = [f"Null modes (s = 0): {null}."] if null else []
    notes += [f"{left} more are in derivation.json."] if left else []
    if not joint:
        notes.append("Sigma^x has no eigenvalues on them: it does not commute with M.")
    return Table(
        header=(Math("s"), *((Math("d"),) if joint else ()), "s at values", "multiplicity"),
        rows=tuple(rows),
        alignment="c" * (3 if joint else 2) + "r",
        caption=typeset(" ".join([f"Exact modes of {name}.", *notes])),
    )
