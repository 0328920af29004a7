"""Arrays, tables and lists from Python as the rows that a spec's matrices are written in.

Containers are opened here and nothing is judged: what an entry may be is decided where every spec
is read (:mod:`symreln.specs.reader`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.specs.files import MAX_NUMBERS
from symreln.specs.finding import need

if TYPE_CHECKING:
    import sympy as sp

#: Relative error of floats that stand for a simpler fraction where that is asked for.
ROUNDING = 1e-12
#: Digits of its denominator at most.
_DIGITS = 9


def rows_of(value: object, *, transposed: bool, exact: bool, vector: bool = False) -> object:
    """Return a matrix as a list of rows, features in rows; what is no matrix as it is.

    Args:
        value: An array, a table, a SymPy matrix, or lists.
        transposed: Whether samples are its rows.
        exact: Whether a float is its decimals, rather than the simplest fraction near it.
        vector: Whether one dimension will do: one output.

    Raises:
        Finding: An array of another number of dimensions, or of too many numbers.
    """
    rows = _opened(value, vector=vector)
    if not isinstance(rows, list | tuple):
        return rows
    rows = [list(row) if getattr(row, "shape", ()) else row for row in rows]
    if vector and rows and not any(isinstance(row, list | tuple) for row in rows):
        rows, transposed = [rows], False
    opened = [_row(row, exact=exact) for row in rows]
    whole = [row for row in opened if isinstance(row, list)]
    even = len(whole) == len(opened) and len({len(row) for row in whole}) == 1
    return [list(column) for column in zip(*whole, strict=True)] if transposed and even else opened


def columns_of(value: object) -> tuple[str, ...]:
    """Return the names of a table's columns, of a DataFrame for example; none of other things."""
    names = getattr(value, "columns", None)
    return () if names is None or callable(names) else tuple(map(str, names))


def plain(value: Any) -> Any:
    """Return an option as TOML would hold it: arrays as lists, scalars of NumPy as Python's."""
    if isinstance(value, np.generic):
        return float(str(value)) if isinstance(value, np.floating) else value.item()
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, str | bytes):
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return _entry_of(value)


def symbols_of(*values: object) -> dict[str, sp.Symbol]:
    """Return the SymPy symbols in matrices, by name."""
    found: dict[str, sp.Symbol] = {}
    for value in values:
        for symbol in getattr(value, "free_symbols", ()):
            found[str(symbol)] = symbol
    return dict(sorted(found.items()))


def _opened(value: Any, *, vector: bool) -> object:
    """Return what an array holds as lists; lists as they are."""
    if hasattr(value, "toarray"):  # a sparse matrix
        value = value.toarray()
    if not hasattr(value, "__array__") or isinstance(value, np.ma.MaskedArray):
        # Lists keep masked entries as None, which an array would lose.
        return value.tolist() if isinstance(value, np.ma.MaskedArray) else value
    array = np.asarray(value)
    found = f"an array of shape {array.shape}"
    fits = array.ndim == 2 or (vector and array.ndim == 1)
    need(fits, found, "two dimensions: samples and features", "Reshape it.")
    hint = "Take .real, or real and imaginary part as two features."
    need(array.dtype.kind != "c", f"an array of {array.dtype}", "real numbers", hint)
    need(prod(array.shape) <= MAX_NUMBERS, found, f"at most {MAX_NUMBERS} numbers")
    # tolist() would lengthen the decimals of other floats than float64.
    return list(array) if array.dtype.kind == "f" and array.itemsize != 8 else array.tolist()


def _row(row: object, *, exact: bool) -> object:
    if not isinstance(row, list | tuple):
        return row
    return zeros_and_ones([_entry_of(entry, exact=exact) for entry in row])


def zeros_and_ones(values: Any) -> Any:
    """Return a list with 1 and 0 for true and false, as of a mask; what is no list as it is."""
    if not isinstance(values, list):
        return values
    return [int(value) if isinstance(value, bool) else value for value in values]


def _entry_of(entry: Any, *, exact: bool = True) -> object:
    """Return a number or a formula as the door reads it; what is neither as it is."""
    if isinstance(entry, np.floating) and not isinstance(entry, float):
        entry = float(str(entry))
    elif isinstance(entry, np.generic):
        entry = entry.item()
    elif isinstance(entry, Decimal):
        entry = Fraction(entry) if entry.is_finite() else float(entry)
    elif hasattr(entry, "free_symbols"):
        entry = _formula(entry)
    if isinstance(entry, float) and not exact and isfinite(entry):
        return _simplest(entry)
    return entry


def _formula(entry: Any) -> object:
    """Return a SymPy expression as a number or the text of a formula."""
    if entry.is_Rational:
        return Fraction(int(entry.p), int(entry.q))
    return float(entry) if entry.is_Float else str(entry)


def _simplest(value: float) -> Fraction:
    """Return a fraction of few digits within ROUNDING of a float, or the float as it is."""
    whole = Fraction(value)
    near = (whole.limit_denominator(10**digits) for digits in range(_DIGITS + 1))
    return next((f for f in near if abs(f - whole) <= ROUNDING * abs(whole)), whole)


def places_of(names: Sequence[str], wanted: object) -> object:
    """Return inputs or outputs that are asked for by the names of columns as indices.

    Args:
        names: Of the columns.
        wanted: What was asked for; a group, a list of indices and what is unknown stay as they are.
    """
    if isinstance(wanted, str):
        return [names.index(wanted)] if wanted in names else wanted
    if not isinstance(wanted, list):
        return wanted
    return [names.index(name) if name in names else name for name in wanted]
