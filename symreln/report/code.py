"""Formulas as statements of a programming language, for programs and for pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp

from symreln.base.records import record
from symreln.laws.law import TIME

#: How expressions bind.
_SUM, _PRODUCT, _ATOM = range(3)
#: Beyond it an integer is no number of a library's.
_LARGEST_INTEGER = 2**63 - 1


@record
class Language:
    """How a language writes formulas.

    Attributes:
        functions: By the names of SymPy's.
        root: A square root of what has letters.
        power: A power; its parts are in brackets where they need them.
        statement: A statement that names a number.
        letter: What a letter is called.
    """

    functions: Mapping[str, str]
    root: str
    power: str
    statement: str
    letter: str = "{}"


class Code:
    """Statements of expressions: what occurs again is computed once, what has no time before it.

    SymPy's printers and its search for common parts take longer.

    Args:
        language: That of the statements.
        exprs: All that is computed.
        own: Letters that have their own names.

    Attributes:
        still: Statements that have no time.
        moving: Those that have.
        letters: Other letters that occur.
    """

    def __init__(self, language: Language, exprs: Iterable[Any], own: Iterable[Any] = ()) -> None:
        self.still, self.moving, self.letters = list[str](), list[str](), set[str]()
        self._language = language
        self._names = {TIME: "t"} | {letter: str(letter) for letter in own}
        self._uses, self._in_time = Counter[Any](), {TIME}
        for expr in exprs:
            self._count(expr)

    def _count(self, expr: Any) -> None:
        self._uses[expr] += 1
        if self._uses[expr] == 1:
            for each in expr.args:
                self._count(each)
            if not self._in_time.isdisjoint(expr.args):
                self._in_time.add(expr)

    def text(self, expr: Any, binds: int = _SUM) -> str:
        """Return an expression, in brackets where it binds less than this."""
        if self._uses[expr] > 1:
            self._name(expr)
        if expr in self._names:
            return self._names[expr]
        text, own = self._written(expr)
        return text if own >= binds else f"({text})"

    def _name(self, expr: Any) -> None:
        """Compute an expression in a statement of its own."""
        if expr.args and expr not in self._names:
            text, _ = self._written(expr)
            name = self._names[expr] = f"_x{len(self._names)}"
            statements = self.moving if expr in self._in_time else self.still
            statements.append(self._language.statement.format(name, text))

    def _written(self, expr: Any) -> tuple[str, int]:
        """Return an expression, and how it binds."""
        if expr.is_Symbol:
            self.letters.add(str(expr))
            return self._language.letter.format(expr), _ATOM
        if not expr.args or (expr.is_number and expr.is_Function):
            return _literal(expr), _ATOM if expr.is_Integer and expr >= 0 else _PRODUCT
        parts = self._operands(expr)
        if expr.is_Add:
            return " + ".join(self.text(each, _PRODUCT) for each in parts), _SUM
        if expr.is_Mul:
            return self._product(parts), _PRODUCT
        if expr.is_Pow:
            return self._power(*parts)
        function = self._language.functions[type(expr).__name__]
        return f"{function}({', '.join(map(self.text, parts))})", _ATOM

    def _operands(self, expr: Any) -> list[Any]:
        """Return the operands; of an expression in time what has none, as far as it goes, named."""
        still = [each for each in expr.args if each not in self._in_time]
        if expr not in self._in_time or not still:
            return list(expr.args)
        one = still[0] if len(still) == 1 else expr.func(*still, evaluate=False)
        self._name(one)
        moving = [each for each in expr.args if each in self._in_time]
        return list(expr.args) if one in expr.args else [one, *moving]

    def _product(self, factors: Sequence[Any]) -> str:
        above, below = list[str](), list[str]()
        for each in factors:
            if each.is_Pow and each.exp.is_Number and each.exp < 0 and each not in self._names:
                text, binds = self._power(each.base, -each.exp)
                below.append(text if binds == _ATOM else f"({text})")
            else:
                above.append(self.text(each, _PRODUCT))
        under = "*".join(below) if len(below) < 2 else f"({'*'.join(below)})"
        return "/".join(filter(None, ["*".join(above) or "1", under]))

    def _power(self, base: Any, power: Any) -> tuple[str, int]:
        if power is sp.S.One:
            return self.text(base, _ATOM), _ATOM
        if power is sp.S.NegativeOne:
            return f"1/{self.text(base, _ATOM)}", _PRODUCT
        if power is sp.S.Half and not base.is_number:
            return self._language.root.format(self.text(base)), _ATOM
        return self._language.power.format(
            self.text(base, _ATOM), self.text(power, _ATOM)
        ), _PRODUCT


def _literal(number: Any) -> str:
    if number.is_Rational and max(abs(number.p), number.q) <= _LARGEST_INTEGER:
        return str(number)
    return json.dumps(float(number))
