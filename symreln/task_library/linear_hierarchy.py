"""The linear hierarchy: items with the properties of a binary tree.  Source: [Saxe2019]."""

from __future__ import annotations

from itertools import pairwise

from pydantic import Field

from symreln.exact.matrix import ExactMatrix
from symreln.specs.kinds import StrictModel
from symreln.specs.spec import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import check_power_of_two, exact, hierarchy

_MAX_ITEMS = 2048
"""X and Y then hold 12 million numbers, 100 MB."""


class _LinearHierarchyOptions(StrictModel):
    """Options of ``linear-hierarchy``."""

    items: int = Field(
        default=8, ge=2, le=_MAX_ITEMS, description=f"a power of two from 2 to {_MAX_ITEMS}"
    )


def _build(options: _LinearHierarchyOptions) -> Dataset:
    """Return n one-hot items with 2n - 1 tree features.

    X has shape (n, n), Y shape (2n - 1, n).
    """
    items = options.items
    check_power_of_two(items)
    height = 2 * items - 1
    starts = [2**level - 1 for level in range(items.bit_length() + 1)]
    levels = {f"level_{k}": tuple(range(*ends)) for k, ends in enumerate(pairwise(starts))}
    return Dataset(
        inputs=ExactMatrix.identity(items),
        targets=exact(hierarchy(items)),
        labels={"item": tuple(range(1, items + 1))},
        output_groups=levels,
        description=f"{items} one-hot items with the {height} properties of a binary tree.",
    )


TASK = Task(
    name="linear-hierarchy",
    summary="one-hot items with the properties of a binary tree",
    options=_LinearHierarchyOptions,
    build=_build,
)
