"""Names for long parts that the formulas of one document share.

Only print is shortened: derivation.json has every formula in full. That putting the definitions
back gives exactly the formula that was proven is checked for every formula before a name is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record
from symreln.document.breaking import equation_lines, name_common, put_back
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, equation, prose
from symreln.document.numerals import in_decimals
from symreln.document.widths import latex_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.claims.orbits import PathwayOrbit

#: Printed width in letters from which a part that occurs again is worth a name.
LONG = 12.0
#: Formulas that are searched for common parts; a document shows hardly more.
_MOST_FORMULAS = 200


@record
class Abbreviations:
    """What a document calls the long parts of its formulas.

    Attributes:
        definitions: (name, part), each in terms of those before it.
        shortened: Formula -> the same with names in it; a formula that is absent has none.
        decimals: Whether fractions are shown as decimals where they have few places.
    """

    definitions: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()
    shortened: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)
    decimals: bool = False

    def short(self, expr: sp.Expr) -> sp.Expr:
        """Return a formula as it is printed."""
        found = self.shortened.get(expr, expr)
        return in_decimals(found) if self.decimals else found

    def latex(self, expr: sp.Expr) -> str:
        """Return the LaTeX of a formula as it is printed."""
        return to_latex(self.short(expr))

    def blocks(self) -> list[Block]:
        """Return the definitions, for the place where the document first uses them."""
        if not self.definitions:
            return []
        lines = [
            line
            for name, part in self.definitions
            for line in _aligned(equation_lines(to_latex(name), self.short(part)))
        ]
        return [
            prose(
                "Long parts that occur again have names, ",
                *_listed([Math(to_latex(name)) for name, _ in self.definitions]),
                ". Putting the definitions back gives the formulas of derivation.json; this was "
                "checked for each of them.",
            ),
            equation(*lines),
        ]


#: For a document that has none.
NO_NAMES = Abbreviations()


def _listed(names: list[Math]) -> list[Math | str]:
    return [part for name in names for part in (", ", name)][1:]


def _aligned(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines of one definition, aligned with the others at the equals sign."""
    if len(lines) != 1:
        return lines
    return (lines[0].replace(" = ", " ={}& ", 1),)


def abbreviate(numbers: Iterable[sp.Expr], formulas: Iterable[sp.Expr] = ()) -> Abbreviations:
    """Name the long common parts of some expressions.

    Where putting the names back would not give an expression again exactly, as SymPy compares
    them, none is given.

    Args:
        numbers: Expressions that are searched for common parts.
        formulas: Expressions that are made of the numbers; names are used in them too.
    """
    searched = tuple(dict.fromkeys(numbers))[:_MOST_FORMULAS]
    definitions, shortened = name_common(searched, prefix="q", shortest=LONG)
    if not definitions:
        return NO_NAMES
    names = [name for name, _ in definitions]
    parts = put_back(definitions, [part for _, part in definitions])
    others = tuple(dict.fromkeys(formulas))
    wholes = searched + others
    if put_back(definitions, shortened) != searched:
        return NO_NAMES
    for expr in others:
        short = _with_names(expr, names, parts)
        shortened += (short if put_back(definitions, [short]) == (expr,) else expr,)
    changed = {a: b for a, b in zip(wholes, shortened, strict=True) if a != b}
    return Abbreviations(definitions=definitions, shortened=changed)


def _with_names(expr: sp.Expr, names: list[sp.Symbol], parts: tuple[sp.Expr, ...]) -> sp.Expr:
    """Put names in place of their parts; later parts hold earlier ones, so they come first."""
    found: Any = expr
    for name, part in reversed(list(zip(names, parts, strict=True))):
        found = found.xreplace({part: name})
        if part.is_Mul:
            found = _with_product(found, name, part)
    return found


def _with_product(expr: sp.Expr, name: sp.Symbol, part: sp.Expr) -> sp.Expr:
    """Put a name in place of a product, also inside longer products that have its factors."""
    coefficient, factors = part.as_coeff_mul()
    wanted = set(factors)

    def named(product: Any) -> Any:
        number, there = product.as_coeff_mul()
        rest = [factor for factor in there if factor not in wanted]
        if len(there) - len(rest) < len(wanted):
            return product
        return sp.Mul(number / coefficient, name, *rest)

    found: Any = expr.replace(lambda node: node.is_Mul, named)
    return found


def abbreviations(derivation: Derivation, groups: list[PathwayOrbit], most: int) -> Abbreviations:
    """Name the long common parts of the formulas that a document of ``derivation`` prints.

    Args:
        derivation: What is printed.
        groups: Pathways that are printed together.
        most: Modes of a pathway that are printed.
    """
    modes = [
        (group, mode)
        for group in groups
        for mode in [m for m in group.first.modes if not m.is_null][:most]
    ]
    numbers = [expr for _, mode in modes for expr in _numbers(derivation, mode)]
    decimals = derivation.spec.dataset.decimals
    # Searching takes time, and without a long number there is nothing to find.
    if not any(latex_width(to_latex(expr)) >= LONG for expr in dict.fromkeys(numbers)):
        return replace(NO_NAMES, decimals=decimals)
    solutions = [group.strength(mode) for group, mode in modes]
    losses = [] if derivation.loss is None else list(sp.Add.make_args(derivation.loss))
    found = abbreviate(numbers, [*(s for s in solutions if s is not None), *losses])
    return replace(found, decimals=decimals)


def _numbers(derivation: Derivation, mode: ModeDerivation) -> list[sp.Expr]:
    symbols = derivation.spec.symbols
    found = [n for n in (mode.s, mode.d, mode.d_eff) if n is not None and n.is_radical]
    heights = [] if mode.strength is None else [mode.strength.plateau]
    return [number.to_sympy(symbols) for number in found] + heights
