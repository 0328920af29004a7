"""A printed formula as a function of NumPy arrays: the values of its letters are its defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symreln.errors import InputError
from symreln.laws.law import TIME
from symreln.specs.finding import nearest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from symreln.claims.formulas import Formula, Letter

#: Size beyond which float64 has no room for the square of a number.
_LARGEST = Fraction(10) ** 150
#: Beyond it an integer is no number of a library's.
_LARGEST_INTEGER = 2**63 - 1


class NumericFormula:
    """A closed form as a function: ``f(t)``, or ``f(t, c=2)`` with other values of its letters.

    Attributes:
        name: Name of the formula.
        expr: The formula.
        letters: Its letters with what they are.
        defaults: Their values by name, None where none is declared; exact beyond float64.

    Example:
        >>> import symreln as sr
        >>> derivation = sr.derive(sr.load("linear-hierarchy"))
        >>> strength = derivation.to_numpy("pi_1_1")
        >>> strength([0, 10_000]).round(3).tolist()
        [0.0, 3.873]
    """

    def __init__(self, formula: Formula, letters: Sequence[Letter]) -> None:
        self.name, self.expr, self.letters = formula.name, formula.expr, tuple(letters)
        self._evaluated = formula.evaluated
        given = {each.symbol.name: each.value for each in letters}
        known = {name: float(v) for name, v in given.items() if v is not None and has_room(v)}
        self.defaults = given | known

    def __call__(self, t: ArrayLike, **letters: float) -> NDArray[np.float64]:
        """Return the values at times ``t`` in full-batch steps.

        Args:
            t: Times, of any shape.
            letters: Other values of letters.

        Raises:
            InputError: A letter has no value, is unknown, or follows from another that was changed,
                or the formula divides by 0 or takes numbers that float64 has no room for.
        """
        times, values = np.asarray(t, dtype=float), self._values(letters)
        with np.errstate(all="ignore"):
            found = np.broadcast_to(self._function(times, *values), times.shape).astype(float)
        if not np.isfinite(found).all():
            msg = (
                f"{self.name}: the formula divides by 0 at these values, where a mode vanishes "
                "that it was derived with, or float64 has no room for a number of it. Derive at "
                "them: derivation.at_values, or give other ones"
            )
            raise InputError(msg)
        return found

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.defaults.items())
        return f"{self.name}(t, {given})" if given else f"{self.name}(t)"

    def _values(self, given: Mapping[str, float]) -> list[float]:
        for name in given:
            if name not in self.defaults:
                msg = f"{self.name}: found the letter {name}. {nearest(name, self.defaults)}"
                raise InputError(msg.strip())
        changed = [name for name, value in given.items() if value != self.defaults[name]]
        bound = [each.symbol.name for each in self.letters if each.follows]
        stale = [name for name in bound if name not in given]
        if stale and any(name not in bound for name in changed):
            msg = (
                f"{self.name}: found another value of {', '.join(changed)}, and none of "
                f"{', '.join(stale)}, which depends on it. Give both, or derive at the other value"
            )
            raise InputError(msg)
        values = self.defaults | dict(given)
        missing = [name for name, value in values.items() if value is None]
        if missing:
            msg = f"{self.name}: {', '.join(missing)} has no value. Give it: f(t, {missing[0]}=…)"
            raise InputError(msg)
        known = [value for value in values.values() if value is not None]
        return [np.float64(value) if has_room(value) else np.nan for value in known]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_function"}

    @cached_property
    def _function(self) -> Callable[..., Any]:
        symbols = [TIME, *(each.symbol for each in self.letters)]
        return sp.lambdify(symbols, in_floats(self._evaluated), "numpy")


def has_room(value: float | Fraction | None) -> bool:
    """Whether float64 has room for a number, its square and their inverses; also for none."""
    return not value or 1 / _LARGEST <= abs(Fraction(value)) <= _LARGEST


def in_floats(expr: Any) -> Any:
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
