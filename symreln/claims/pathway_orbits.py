"""Pathways that have the same modes are shown once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from symreln.base.records import record
from symreln.base.summaries import short_list
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.document.symbols import symbol_latex
from symreln.exact.algebraic import AlgebraicNumber, ratio
from symreln.laws.law import strength_symbol


@record
class PathwayOrbit:
    """Pathways with equal lists of modes.

    Attributes:
        pathways: In the order of the spec; the first stands for all.
    """

    pathways: tuple[PathwayDerivation, ...]

    @property
    def first(self) -> PathwayDerivation:
        """The pathway that stands for all."""
        return self.pathways[0]

    @property
    def title(self) -> str:
        """The pathways in words."""
        if len(self.pathways) == 1:
            return f"pathway {self.first.number}, ‘{self.first.name}’"
        shown = [f"{p.number} (‘{p.name}’)" for p in self.pathways[:6]]
        more = f" and {len(self.pathways) - 6} more" if len(self.pathways) > 6 else ""
        return f"pathways p = {', '.join(shown)}{more}"

    @property
    def short_name(self) -> str:
        """The pathways' names, short enough for a legend."""
        return short_list([pathway.name for pathway in self.pathways])

    def symbol(self, mode: ModeDerivation, letter: str = "pi") -> str:
        """Return the LaTeX of a mode's strength (or of its s), with p for several pathways."""
        return symbol_latex(self._name(mode, letter))

    def strength_symbol(self, mode: ModeDerivation) -> sp.Symbol:
        """Return the symbol of a mode's strength, likewise."""
        return strength_symbol(self._name(mode, "pi"))

    def _name(self, mode: ModeDerivation, letter: str) -> str:
        index = str(self.first.number) if len(self.pathways) == 1 else "p"
        return f"{letter}_{index}_{mode.number}"

    def d_letter(self, mode: ModeDerivation) -> str:
        """Return what the d in a mode's solution is called: "d", or "d_eff" where it is not d."""
        return "d" if mode.d_eff is None or mode.d_eff == mode.d else "d_eff"

    @property
    def learning(self) -> list[ModeDerivation]:
        """The modes that learn something."""
        return self.first.learning

    @property
    def height_latex(self) -> str:
        """LaTeX of what the modes' heights are: s/d, or s/d_eff where couplings lower them."""
        coupled = any(self.d_letter(mode) == "d_eff" for mode in self.learning)
        return r"s/d_{\mathrm{eff}}" if coupled else "s/d"

    def height(self, mode: ModeDerivation, symbols: Mapping[str, sp.Symbol]) -> sp.Expr | None:
        """Return the limit of a mode's strength in the symbols that its tables define.

        Where coupled modes have no limit of their own it is s/d, that of the pathway alone; None
        without a joint eigenbasis.
        """
        if mode.d is None or mode.d.is_zero:
            return None
        height = ratio(mode.s, mode.d)
        if height is not None:
            return height.to_sympy(symbols)
        s, d = (
            number.to_sympy(symbols, self._name(mode, letter))
            for number, letter in ((mode.s, "s"), (mode.d, "d"))
        )
        return s / d

    def strength(self, mode: ModeDerivation) -> Any:
        """Return a mode's closed form in the symbols that its tables define, or None."""
        found = None if mode.strength is None else mode.strength.printed
        return None if found is None else self.renamed(mode, found)

    def renamed(self, mode: ModeDerivation, expr: sp.Basic) -> Any:
        """Return an expression of a mode in the symbols that its tables define.

        A number without radicals stands in the closed form by a symbol with the number of the
        first pathway; here that is p for several pathways.
        """
        place = f"{self.first.number}_{mode.number}"
        names = {
            f"s_{place}": self._name(mode, "s"),
            f"d_{place}": self._name(mode, self.d_letter(mode)),
        }
        found: Any = expr.xreplace(
            {
                symbol: sp.Symbol(names[symbol.name], **symbol.assumptions0)
                for symbol in expr.free_symbols
                if isinstance(symbol, sp.Symbol) and symbol.name in names
            }
        )
        return found


def mode_orbits(derivation: Derivation) -> list[PathwayOrbit]:
    """Group the pathways of a derivation by their lists of modes."""
    return derivation.ask(_mode_orbits)


def _mode_orbits(derivation: Derivation) -> list[PathwayOrbit]:
    groups: dict[tuple, list[PathwayDerivation]] = {}
    for pathway in derivation.pathways:
        key = (pathway.spectrum.commutes, tuple(_mode_key(mode) for mode in pathway.modes))
        groups.setdefault(key, []).append(pathway)
    return [PathwayOrbit(pathways=tuple(members)) for members in groups.values()]


def _mode_key(mode: ModeDerivation) -> tuple:
    numbers = tuple(_number_key(number) for number in (mode.s, mode.d, mode.d_eff))
    return (mode.multiplicity, mode.family, *numbers)


def _number_key(number: AlgebraicNumber | None) -> tuple | None:
    if number is None:
        return None
    return (number.minpoly, number.coefficients, number.root, number.is_sqrt)
