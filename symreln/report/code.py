"""Formulas as statements of Python, by SymPy's printers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import sympy as sp
from sympy.printing.numpy import NumPyPrinter

from symreln.laws.law import TIME

#: Beyond it an integer is no number of a library's.
_LARGEST_INTEGER = 2**63 - 1


class PythonPrinter(NumPyPrinter):
    """Formulas in a library that has NumPy's names; numbers are Python's.

    SymPy's own types are too narrow for what its printer passes, hence ``Any``.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._kf = {
            name: own.replace("numpy.", f"{module}.") for name, own in NumPyPrinter._kf.items()
        }
        super().__init__({"fully_qualified_modules": True})

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        whole = rational or expr.base.is_number
        return str(self._hprint_Pow(expr, whole, f"{self._module}.sqrt"))

    def _print_Max(self, expr: Any) -> str:
        parts = [str(self.doprint(each)) for each in expr.args]
        return reduce(lambda one, other: f"{self._module}.maximum({one}, {other})", parts)


def statements(
    exprs: Iterable[Any], printer: Any, form: str
) -> tuple[list[str], list[str], list[str]]:
    """Return expressions as text, after statements of what occurs in them more than once.

    Args:
        exprs: What is computed.
        printer: SymPy's, of the language.
        form: How the language names a number, a format of the name and of what it is.

    Returns:
        Statements that have no time, those that have, and the expressions.
    """
    names = sp.numbered_symbols("_x")
    parts, left = sp.cse(list(map(_in_floats, exprs)), symbols=names, order="none")
    moving: set[Any] = {TIME}
    still, timed = list[str](), list[str]()
    for name, part in parts:
        own = timed if part.free_symbols & moving else still
        if own is timed:
            moving.add(name)
        own.append(form.format(name, printer.doprint(part)))
    return still, timed, list(map(printer.doprint, left))


def _in_floats(expr: Any) -> Any:
    """Return an expression with floats for what no library has: long integers, ln 2."""
    parts: Any = sp.preorder_traversal(expr)
    values = {
        each: each.evalf(17)
        for each in parts
        if (each.is_Function and each.is_number)
        or (each.is_Rational and max(abs(each.p), each.q) > _LARGEST_INTEGER)
    }
    given = {each: value for each, value in values.items() if value.is_Float}
    return expr.xreplace(given) if given else expr
