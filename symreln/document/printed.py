"""Formulas that this program has printed, read back: no text is ever executed.

An ``ast`` whitelist over declared names; powers of numbers are bounded before they are computed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import sympy as sp

from symreln.errors import InputError

#: Characters and depth of a formula, the largest power of a number and its bits.
LONGEST, DEEPEST, MOST_POWER, MOST_BITS = 200_000, 200, 64, 1 << 20
_FUNCTIONS: Mapping[str, Any] = {
    "sqrt": sp.sqrt,
    "exp": sp.exp,
    "log": sp.log,
    "LambertW": sp.LambertW,
}


def read_printed(text: str, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return the formula of a text.

    Args:
        text: As ``str`` of a SymPy expression prints it.
        symbols: Those that may occur, by name.

    Raises:
        InputError: It is no such formula.

    Example:
        >>> read_printed("sqrt(30)*c/12 + 1/2", {"c": sp.Symbol("c")})
        sqrt(30)*c/12 + 1/2
    """
    if len(text) > LONGEST:
        msg = f"formula: {len(text)} characters, more than {LONGEST}"
        raise InputError(msg)
    try:
        return _value(ast.parse(text, mode="eval").body, symbols, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"formula: found text that is none ({type(error).__name__})"
        raise InputError(msg) from error


def _value(node: ast.expr, symbols: Mapping[str, sp.Symbol], depth: int) -> Any:
    if depth > DEEPEST:
        too_deep = "brackets nested too deep"
        raise _refused(too_deep)
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return sp.Integer(number)
        case ast.Constant(value=float() as number):
            return sp.Float(number)
        case ast.Name(id=name) if name in symbols:
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, symbols, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(inner, symbols, depth + 1))
        case ast.BinOp(left=left, op=operator, right=right):
            one, other = (_value(each, symbols, depth + 1) for each in (left, right))
            return _joined(operator, one, other)
    raise _refused(ast.unparse(node)[:60])


def _joined(operator: ast.operator, one: Any, other: Any) -> Any:
    match operator:
        case ast.Add():
            return one + other
        case ast.Sub():
            return one - other
        case ast.Mult():
            return one * other
        case ast.Div() if other != 0:
            return one / other
        case ast.Pow() if not one.is_number or _small(one, other):
            return one**other
    raise _refused(f"{type(operator).__name__} of {other}"[:60])


def _small(one: Any, other: Any) -> bool:
    """Whether a power of a number is small enough to be computed."""
    if not other.is_Rational or abs(other) > MOST_POWER:
        return False
    bits = max(int(one.p).bit_length(), int(one.q).bit_length()) if one.is_Rational else 1
    return bits * MOST_POWER <= MOST_BITS


def _refused(what: str) -> InputError:
    return InputError(f"formula: found {what}, which no printed formula holds")
