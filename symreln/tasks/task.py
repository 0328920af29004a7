"""What a task is: a name, its options, and a function that builds its dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symreln.errors import Problem, SpecError
from symreln.spec.expression import Declared
from symreln.spec.model import Dataset
from symreln.spec.schema import StrictModel


@dataclass(frozen=True, kw_only=True)
class Task:
    """A dataset that a spec can name.

    Attributes:
        name: What ``dataset.task`` says.
        summary: One line.
        options: Model of the keys of ``[dataset]`` besides ``task``.
        build: Makes the dataset from checked options; raises SpecError for what the model cannot
            see, with key paths below ``dataset``.
    """

    name: str
    summary: str
    options: type[StrictModel]
    build: Callable[[Any, Declared], Dataset]


def wrong_option(*, option: str, found: str, expected: str, hint: str = "") -> SpecError:
    """Return the error that an option of a task has the wrong value."""
    path = f"dataset.{option}"
    return SpecError([Problem(path=path, found=found, expected=expected, hint=hint)])


def check_power_of_two(items: int, smallest: int = 2) -> None:
    """Check that a binary tree has this many leaves.

    Raises:
        SpecError: It is no power of two, or too small.
    """
    if items < smallest or items & (items - 1):
        lower = 1 << max(1, items.bit_length() - 1)
        raise wrong_option(
            option="items",
            found=str(items),
            expected=f"a power of two, at least {smallest}",
            hint=f"The hierarchy is a binary tree: {lower} and {2 * lower} are near.",
        )
