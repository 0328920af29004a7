"""Modes that are not on the first page, numbers without radicals, and singular vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import sympy as sp

from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.pathway_orbits import PathwayOrbit, mode_orbits
from symreln.document.document_model import Block, Content, Details, Figure, Math, Table
from symreln.document.letter_widths import latex_width
from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import NONE, Notation, Values, evaluable
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.field import Coefficients
from symreln.exact.singular import Columns
from symreln.report.chapters.printed_formulas import (
    MOST_ROWS,
    NUMBERS,
    modes_table,
    other_modes,
)
from symreln.specs.spec import Spec

#: Terms and printed letters up to which a polynomial is printed.
MOST_POLYNOMIAL_TERMS, LONGEST_POLYNOMIAL = 8, 70.0


def spectrum_blocks(derivation: Derivation, notation: Notation) -> list[Block]:
    """Return the modes that are not on the first page, and the vectors of all.

    Args:
        derivation: What is shown.
        notation: How numbers are printed.
    """
    others = [modes_table(derivation, [chosen], notation) for chosen in other_modes(derivation)]
    folded = [Details(summary="The other modes", blocks=tuple(others))] if others else []
    numbers = _definitions(derivation)
    return [*numbers, *folded, *_vector_blocks(derivation)]


def _definitions(derivation: Derivation) -> Iterator[Block]:
    """Define the numbers that have no radical form: polynomial, which root, decimal."""
    rows = tuple(
        _definition(name, number, derivation.spec.values)
        for group in mode_orbits(derivation)
        for mode in group.learning[:MOST_ROWS]
        for name, number in _named(group, mode)
        if not number.is_radical
    )
    if rows:
        yield Table(
            header=("number", "is a root of", "which", "decimal"),
            rows=rows,
            caption="Numbers without a form in square roots, certified: real roots are counted "
            "upwards from 1. Polynomials that are not printed here are in derivation.json.",
            alignment="lprl",
            label=NUMBERS,
        )


def _named(group: PathwayOrbit, mode: ModeDerivation) -> list[tuple[str, AlgebraicNumber]]:
    """Return the numbers of a mode with the names that its formulas give them."""
    letters = ["s", "d", *["d_eff"] * (group.d_letter(mode) == "d_eff")]
    found = ((letter, getattr(mode, letter)) for letter in letters)
    return [(group.symbol(mode, letter), number) for letter, number in found if number is not None]


def _definition(name: str, number: AlgebraicNumber, values: Values) -> tuple[Content, ...]:
    known = evaluable(number, values)
    decimal = Math(decimal_latex(*number.decimal(values), digits=12)) if known else NONE
    root = number.defining_root(values if known else None) + 1
    return (Math(name), Math(_polynomial_latex(number)), str(root), decimal)


def _polynomial_latex(number: AlgebraicNumber) -> str:
    """Return a number's polynomial, or its degree where it is long."""
    x = sp.Symbol("x")
    coefficients = number.defining_polynomial
    if sum(not c.is_zero for c in coefficients) <= MOST_POLYNOMIAL_TERMS:
        polynomial = sp.Add(*(c.to_sympy() * x**power for power, c in enumerate(coefficients)))
        printed = to_latex(polynomial)
        if latex_width(printed) <= LONGEST_POLYNOMIAL:
            return printed
    return rf"\text{{polynomial of degree }} {number.degree}"


#: Rows and columns up to which vectors are a table, and the width of an exact entry of it.
_VECTOR_ROWS, _VECTOR_COLUMNS, _WIDEST = 32, 12, 10.0
#: Pathways with vectors in a figure, tables of those with equal modes, and rows of a figure.
_DRAWN, _LINES = 3, 500
_SIDES: tuple[tuple[Literal["outputs", "inputs"], str], ...] = (("outputs", "U"), ("inputs", "V"))


def _vector_blocks(derivation: Derivation) -> Iterator[Block]:
    """Yield what the modes of every pathway distinguish."""
    groups = [group for group in mode_orbits(derivation) if group.learning]
    if not groups:
        return
    several = any(mode.multiplicity > 1 for group in groups for mode in group.learning)
    choice = several * (
        " Of a mode of several dimensions the columns are a choice, which keeps the symmetries of "
        "the data: any rotation of them is as good."
    )
    yield say(
        "What a mode distinguishes are its singular vectors: columns of $V$ over the inputs, of "
        f"$U$ over the outputs.{choice} As exact matrices they are `derivation.pathways[i].u` and "
        "`.v`."
    )
    yield Figure(
        name="vectors",
        caption="Singular vectors: rows of V are inputs, of U outputs; columns are modes by "
        "decreasing s. Blue is positive, red negative. derivation.json has those of all pathways.",
        alt="Heat maps of singular vectors.",
    )
    tables = tuple(table for group in groups for table in _tables(derivation, group))
    if tables:
        yield Details(summary="Singular vectors as tables", blocks=tables)


def drawn_vectors(derivation: Derivation) -> list[list[PathwayOrbit]]:
    """Return the pathways whose vectors have a figure: a few, those of a list side by side.

    Each row takes a line of pixels. Where exact vectors take time, for they have many rows, one of
    those with equal modes.
    """
    found = []
    for group in mode_orbits(derivation)[:_DRAWN]:
        rows = max(len(_names(derivation, group.first, side)) for side in (0, 1))
        if group.learning and rows <= _LINES:
            few = rows <= _VECTOR_ROWS
            found.append(_beside(derivation, group, 0, 1)[0] if few else _each(group)[:1])
    return found


def _names(derivation: Derivation, pathway: PathwayDerivation, side: int) -> list[str]:
    """Return what a pathway's outputs or inputs are called."""
    what, own = _SIDES[side][0], pathway.effective.pathway
    return derivation.spec.dataset.names_of(what, getattr(own, what))


def _each(group: PathwayOrbit) -> list[PathwayOrbit]:
    return [PathwayOrbit(pathways=(pathway,)) for pathway in group.pathways]


def _beside(derivation: Derivation, group: PathwayOrbit, *sides: int) -> list[list[PathwayOrbit]]:
    """Return pathways with equal modes as one where their vectors are equal too, else one by one.

    Lists of those that see the same, with as many columns as there is room for.

    Args:
        derivation: Whose pathways they are.
        group: These.
        sides: Of U and V, which are asked for.
    """
    names = [[_names(derivation, each, side) for side in sides] for each in group.pathways]
    modes = [[both[side] for side in sides for both in p.vectors.values()] for p in group.pathways]
    vectors = [[(each.entries, each.squares) for each in own] for own in modes]
    seen: dict[str, list[PathwayOrbit]] = {}
    for one, own in zip(_each(group), names, strict=True):
        seen.setdefault(str(own), []).append(one)
    if len(seen) == 1 and all(own == vectors[0] for own in vectors):
        return [[group]]
    most = max(1, _VECTOR_COLUMNS // sum(mode.multiplicity for mode in group.learning))
    return [each[n : n + most] for each in seen.values() for n in range(0, len(each), most)]


def _tables(derivation: Derivation, group: PathwayOrbit) -> Iterator[Table]:
    """Yield the columns of inputs and outputs, where they are few enough to be read."""
    width = sum(mode.multiplicity for mode in group.learning)
    for side in (1, 0):
        rows = [len(_names(derivation, pathway, side)) for pathway in group.pathways]
        if min(rows) > 1 and max(rows) <= _VECTOR_ROWS and width <= _VECTOR_COLUMNS:
            for beside in _beside(derivation, group, side)[:_DRAWN]:
                yield _table(derivation, beside, side)


def _table(derivation: Derivation, beside: Sequence[PathwayOrbit], side: int) -> Table:
    """Return the columns of pathways that see the same, beside each other."""
    heads: list[Content] = [
        Math(one.symbol(m)) for one in beside for m in one.learning for _ in range(m.multiplicity)
    ]
    columns = [
        column
        for one in beside
        for both in one.first.vectors.values()
        for column in _printed(both[side], derivation.spec)
    ]
    names = [*_names(derivation, beside[0].first, side), "squared length"]
    whose = PathwayOrbit(pathways=tuple(each for one in beside for each in one.pathways))
    what, letter = _SIDES[side]
    return Table(
        header=(what[:-1], *heads),
        rows=tuple(
            (typeset(name), *(column[place] for column in columns))
            for place, name in enumerate(names)
        ),
        caption=f"Columns of {letter} of {whose.title}, before they are divided by their length.",
        alignment="l" + "r" * len(heads),
    )


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
