"""Singular vectors: which distinction each mode is, as a table and a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from symreln.claims.orbits import mode_orbits
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Figure, Math, Table
from symreln.document.typeset import say, typeset
from symreln.document.widths import latex_width
from symreln.document.words import NONE

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.orbits import PathwayOrbit
    from symreln.document.inlines import Content
    from symreln.exact.field import Coefficients
    from symreln.exact.singular import Columns
    from symreln.specs.model import Spec

#: Rows and columns up to which vectors are a table, and the width of an exact entry of it.
MOST_ROWS, MOST_COLUMNS, _WIDEST = 32, 12, 10.0
#: Pathways whose vectors are drawn, and rows up to which they are.
_DRAWN, _LINES = 3, 500
SIDES: tuple[tuple[Literal["outputs", "inputs"], str], ...] = (("outputs", "U"), ("inputs", "V"))


def vector_blocks(derivation: Derivation) -> list[Block]:
    """Return what the modes of every pathway distinguish."""
    groups = [group for group in mode_orbits(derivation) if group.learning]
    if not groups:
        return []
    several = any(mode.multiplicity > 1 for group in groups for mode in group.learning)
    choice = (
        " Of a mode of several dimensions the columns are a choice, which keeps the symmetries of "
        "the data: any rotation of them is as good."
        if several
        else ""
    )
    tables = [table for group in groups for table in _tables(derivation, group)]
    return [
        say(
            "What a mode distinguishes are its singular vectors: columns of $V$ over the inputs, "
            f"of $U$ over the outputs.{choice} As exact matrices they are "
            "`derivation.pathways[i].u` and `.v`."
        ),
        *tables,
        *(
            [
                Figure(
                    name="vectors",
                    caption="Singular vectors: rows of V are inputs, of U outputs; columns are "
                    "modes by decreasing s, of several dimensions side by side. Blue is positive, "
                    "red negative.",
                    alt="Heat maps of the singular vectors of every pathway.",
                )
            ]
            if drawn_vectors(derivation)
            else []
        ),
    ]


def drawn_vectors(derivation: Derivation) -> list[PathwayOrbit]:
    """Return the pathways whose vectors have a figure: a few, with a line of pixels for each row.

    Pathways in one symmetry orbit are one.
    """
    return [
        group
        for group in mode_orbits(derivation)[:_DRAWN]
        if group.learning
        and max(len(getattr(group.first.effective.pathway, side)) for side, _ in SIDES) <= _LINES
    ]


def _tables(derivation: Derivation, group: PathwayOrbit) -> list[Table]:
    """Return the columns of inputs and outputs, where they are few enough to be read."""
    width = sum(mode.multiplicity for mode in group.learning)
    if width > MOST_COLUMNS:
        return []
    heads: list[Content] = [
        Math(group.symbol(mode)) for mode in group.learning for _ in range(mode.multiplicity)
    ]
    found = []
    for side, (what, letter) in reversed([*enumerate(SIDES)]):
        names = derivation.spec.dataset.names_of(what, getattr(group.first.effective.pathway, what))
        if not 1 < len(names) <= MOST_ROWS:
            continue
        columns = [
            column
            for both in group.first.vectors.values()
            for column in _printed(both[side], derivation.spec)
        ]
        rows = [
            (typeset(name), *(column[place] for column in columns))
            for place, name in enumerate([*names, "squared length"])
        ]
        found.append(
            Table(
                header=(what[:-1], *heads),
                rows=tuple(rows),
                caption=f"Columns of {letter} of {group.title}, before they are divided by their "
                "length.",
                alignment="l" + "r" * width,
            )
        )
    return found


def _printed(columns: Columns, spec: Spec) -> list[list[Content]]:
    """Return each column with its squared length: exact where that is short, else of length 1."""
    found: list[list[Content]] = []
    for place, (entries, square) in enumerate(zip(columns.entries, columns.squares, strict=True)):
        texts: dict[Coefficients, str] = {
            each: to_latex(each[0].to_sympy(spec.symbols))
            for each in {*entries, square}
            if len(each) == 1
        }
        if len(square) == 1 and all(latex_width(text) <= _WIDEST for text in texts.values()):
            found.append([Math(texts[entry]) for entry in (*entries, square)])
        elif (unit := columns.to_numpy(spec.values)) is not None:
            found.append([*(Math(f"{value:.3f}") for value in unit[:, place]), Math("1")])
        else:
            found.append([NONE] * (len(entries) + 1))
    return found
