r"""Long formulas made readable: broken over lines, and common parts given names.

Both only regroup: the terms of the lines add up to the expression, and putting the definitions back
returns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import sympy as sp

from symreln.document.mathtext import ordered_terms, signed_latex, to_latex
from symreln.document.widths import latex_width

_LINE_WIDTH = 52.0  # letters: a line of the printed page, less room for the left-hand side
# A part shorter than this is easier to read where it stands than under a name.
_MIN_NAMED = 7.0


def term_groups(
    terms: Sequence[sp.Expr], width: float = _LINE_WIDTH
) -> tuple[tuple[sp.Expr, ...], ...]:
    """Return the terms of a sum in the order given, one group for each line.

    A line holds as many terms as fit into ``width`` letters, and at least one.
    """
    groups: list[list[sp.Expr]] = [[]]
    used = 0.0
    for term in terms:
        first = not groups[0]
        advance = latex_width(to_latex(term) if first else signed_latex(term))
        if groups[-1] and used + advance > width:
            groups.append([])
            used = 0.0
        groups[-1].append(term)
        used += advance
    return tuple(map(tuple, groups))


def break_lines(expr: sp.Expr, width: float = _LINE_WIDTH) -> list[str]:
    """Return ``expr`` as lines of LaTeX, broken at the signs of its top-level sum."""
    if latex_width(to_latex(expr)) <= width:
        return [to_latex(expr)]
    return _lines(ordered_terms(expr), width)


def _lines(terms: Sequence[sp.Expr], width: float) -> list[str]:
    first, *rest = term_groups(terms, width)
    lines = [to_latex(first[0]) + "".join(map(signed_latex, first[1:]))]
    # The empty group makes the leading sign a binary operator.
    return lines + ["{}" + "".join(map(signed_latex, group)) for group in rest]


def equation_lines(left: str, expr: sp.Expr, width: float = _LINE_WIDTH) -> tuple[str, ...]:
    r"""Return the lines of an equation ``left = expr``, aligned where there are several.

    Args:
        left: LaTeX of the left-hand side.
        expr: Right-hand side.
        width: Letters of the right-hand side that fit on a line.
    """
    return _aligned(left, break_lines(expr, width))


def sum_lines(left: str, terms: Sequence[sp.Expr], width: float = _LINE_WIDTH) -> tuple[str, ...]:
    """Return the lines of an equation of ``left`` and a sum whose terms keep their order.

    Args:
        left: LaTeX of the left-hand side.
        terms: Terms of the right-hand side, at least one.
        width: Letters of the right-hand side that fit on a line.
    """
    return _aligned(left, _lines(terms, width))


def _aligned(left: str, lines: list[str]) -> tuple[str, ...]:
    first, *rest = lines
    if not rest:
        return (f"{left} = {first}",)
    return (f"{left} ={{}}& {first}", *(rf"& {line}" for line in rest))


def name_common(
    exprs: Sequence[sp.Expr], *, prefix: str = "k", shortest: float = _MIN_NAMED
) -> tuple[tuple[tuple[sp.Symbol, sp.Expr], ...], tuple[sp.Expr, ...]]:
    """Give names to parts that occur more than once.

    Args:
        exprs: Expressions to shorten together.
        prefix: Names are ``prefix_1``, ``prefix_2``, …, which no parameter has.
        shortest: Printed width in letters below which a part stays where it is.

    Returns:
        The definitions, each in terms of those before it, and the shortened expressions.
    """
    stand_ins = (sp.Dummy(f"part{index}") for index in range(10**6))
    parts: Any = sp.cse(list(exprs), symbols=stand_ins, order="canonical", list=True)
    found, reduced = parts
    names = (sp.Symbol(f"{prefix}_{index}") for index in count(1))
    replaced: dict[sp.Basic, sp.Basic] = {}
    definitions: list[tuple[sp.Symbol, sp.Expr]] = []
    for stand_in, part in found:
        shown = part.xreplace(replaced)
        if latex_width(to_latex(shown)) < shortest:
            replaced[stand_in] = shown
        else:
            name = next(names)
            definitions.append((name, shown))
            replaced[stand_in] = name
    return tuple(definitions), tuple(expr.xreplace(replaced) for expr in reduced)


def put_back(
    definitions: Sequence[tuple[sp.Symbol, sp.Expr]], exprs: Sequence[sp.Expr]
) -> tuple[sp.Expr, ...]:
    """Return ``exprs`` with every name replaced by what it stands for."""
    values: dict[Any, Any] = {}
    for name, part in definitions:
        values[name] = part.xreplace(values)
    restored: list[Any] = [expr.xreplace(values) for expr in exprs]
    return tuple(restored)
