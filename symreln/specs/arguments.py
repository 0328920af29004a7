"""Arguments from Python, checked at the door: what was found, what is needed.

Numbers may come from NumPy. A float that is asked for exactly is its decimals, as in a spec:
0.1 is 1/10.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from symreln.errors import InputError
from symreln.specs.finding import Finding, shown
from symreln.specs.number import exact_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = TypeVar("Kind")

#: Networks that are trained at most, of each kind.
MOST_SEEDS = 100_000

_TIMES = "give a sequence of finite steps from 0 on, for example [0, 100, 200]"


def instance_of(value: object, kind: type[Kind], what: str, where: str, call: str) -> Kind:
    """Return a value that is of a kind.

    Args:
        value: What was handed in.
        kind: What it must be.
        what: The same in words.
        where: The function.
        call: How it is called.

    Raises:
        InputError: It is something else.
    """
    if isinstance(value, kind):
        return value
    msg = f"{where}: found {_named(value)}, expected {what}. Write {call}"
    raise InputError(msg)


def whole_number(value: object, where: str, least: int, most: int | None = None) -> int:
    """Return a whole number, also of NumPy's types.

    Args:
        value: What was handed in.
        where: The argument.
        least: Smallest number that is allowed.
        most: Largest one, or None.

    Raises:
        InputError: It is no whole number, or outside.
    """
    number: Any = value.item() if isinstance(value, np.generic) else value
    whole = isinstance(number, int) and not isinstance(number, bool)
    if whole and number >= least and (most is None or number <= most):
        return number
    bound = f"from {least}" if most is None else f"from {least} to {most}"
    raise _refused(where, _named(value), f"give a whole number {bound}")


def check_counts(seeds: object, rng: object, where: str) -> tuple[int, int]:
    """Return how many networks are trained and the seed of their streams.

    Raises:
        InputError: One of them is no such number.
    """
    return (
        whole_number(seeds, f"{where}: seeds", 1, MOST_SEEDS),
        whole_number(rng, f"{where}: rng", 0),
    )


def exact_value(value: object, where: str, needed: str) -> Fraction:
    """Return a number exactly.

    Args:
        value: A number of Python or NumPy, or a text such as "1/3".
        where: The argument.
        needed: What to give.

    Raises:
        InputError: It is no finite number.
    """
    number = value.item() if isinstance(value, np.generic) else value
    try:
        return exact_number(number)
    except Finding as finding:
        raise _refused(where, finding.found, needed) from finding


def exact_times(times: object) -> list[Fraction]:
    """Return times exactly, none below 0.

    Raises:
        InputError: They are no sequence of such numbers.
    """
    found = [exact_value(time, "times", _TIMES) for time in _entries(times)]
    if any(time < 0 for time in found):
        raise _refused("times", str(min(found)), _TIMES)
    return found


def float_times(times: object, *, ascending: bool = True) -> NDArray[np.float64]:
    """Return times in float64.

    Args:
        times: A sequence of numbers from 0 on.
        ascending: Whether they must ascend.

    Raises:
        InputError: They are not.
    """
    needed = f"{_TIMES}, ascending" if ascending else _TIMES
    try:
        grid = np.asarray(times if isinstance(times, np.ndarray) else list(_entries(times)), float)
    except (TypeError, ValueError, OverflowError) as error:
        raise _refused("times", "something that is no number", needed) from error
    fitting = grid.ndim == 1 and np.isfinite(grid).all() and not np.any(grid < 0)
    if not fitting or (ascending and (not len(grid) or np.any(np.diff(grid) < 0))):
        msg = f"times: {needed}"
        raise InputError(msg)
    return grid


def _entries(values: object) -> Iterable[object]:
    if isinstance(values, np.ndarray) and values.ndim:
        return values.tolist()
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | np.ndarray):
        return values
    raise _refused("times", _named(values), _TIMES)


def _refused(where: str, found: str, needed: str) -> InputError:
    return InputError(f"{where}: found {found}; {needed}")


def _named(value: object) -> str:
    """Return a value as a message shows it."""
    return shown(value) if isinstance(value, int | float | str) else f"a {type(value).__name__}"
