"""Reads our own printed LaTeX back into SymPy: the second route that checks the printer.

From the tree that MathML, Typst and widths are made of; it shares nothing with the printer but the
names of symbols.
"""

from collections.abc import Iterator

import sympy as sp

from symreln.document.symbols import symbol_latex
from symreln.document.tex import Atom, Row, parse

Names = dict[Atom, sp.Symbol]


def read_latex(latex: str, symbols) -> sp.Expr:
    """Return what a formula says; letters that are no symbols end in an error."""
    return _sum(iter(parse(latex)), {parse(symbol_latex(s.name))[0]: s for s in symbols})


def _sum(atoms: Iterator[Atom], names: Names) -> sp.Expr:
    """Read terms up to the end, or to a bracket that closes."""
    total, term, divided = sp.S.Zero, None, False
    sign = 1
    for atom in atoms:
        if atom.name in ("+", "-"):
            total += 0 if term is None else sign * term
            sign, term = (-1 if atom.name == "-" else 1), None
        elif atom.name == ")":
            assert atom.above is None
            break
        elif atom.name == "/":
            divided = True
        elif atom.name != r"\cdot" and atom != Atom("{", ((),)):
            factor = _factor(atom, atoms, names)
            term = factor if term is None else term / factor if divided else term * factor
            divided = False
    assert term is not None
    return total + sign * term


def _factor(atom: Atom, atoms: Iterator[Atom], names: Names) -> sp.Expr:
    """Read an atom with its power; brackets and functions take from those that follow."""

    def inside(row: Row) -> sp.Expr:
        return _sum(iter(row), names)

    letter = atom._replace(above=None)
    if letter in names:
        base = names[letter]
    elif atom.name == "(":
        base = _sum(atoms, names)
    elif atom.name == r"\ln":
        base = sp.log(_factor(next(atoms), atoms, names))
    elif atom.name == r"\frac":
        base = inside(atom.inside[0]) / inside(atom.inside[1])
    elif atom.name == r"\sqrt":
        degree = inside(atom.inside[1]) if len(atom.inside) > 1 else 2
        base = inside(atom.inside[0]) ** (sp.S.One / degree)
    elif atom.name in ("{", r"\left"):
        base = inside(atom.inside[0])
    else:
        base = sp.E if letter == Atom("e") else sp.Rational(atom.name)
    return base if atom.above is None else base ** inside(atom.above)
