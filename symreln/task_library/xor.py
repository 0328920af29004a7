"""XoR with a third input that carries Delta times the label.  Source: [Jarvis2025], section 3."""

from __future__ import annotations

from pydantic import Field

from symreln.exact.matrix import ExactMatrix
from symreln.specs.kinds import Formula, StrictModel
from symreln.specs.spec import Dataset
from symreln.specs.task import Task

_CORNERS = ((1, 1), (-1, -1), (1, -1), (-1, 1))
"""Samples 1 to 4: the two of class +1 (signs agree) first, so that gates read as classes."""


class _XorOptions(StrictModel):
    """Options of ``xor``."""

    Delta: Formula = Field(
        default=0,  # type: ignore[assignment]  # read as every other value
        description="strength of the third input: a number or a formula",
    )


def _build(options: _XorOptions) -> Dataset:
    """Return the four corners with the label as third input, times Delta.

    X has shape (3, 4), Y shape (1, 4). Delta = 0 is XoR; at a large Delta a linear map solves it.
    """
    delta = options.Delta
    labels = tuple(a * b for a, b in _CORNERS)
    rows = [*zip(*_CORNERS, strict=True), [delta * label for label in labels]]
    return Dataset(
        inputs=ExactMatrix.from_rows(rows, delta.parameters),
        targets=ExactMatrix.from_rows([labels]),
        labels={"label": labels, "sample": (1, 2, 3, 4)},
        input_groups={"signs": (0, 1), "hint": (2,)},
        description=f"The four corners of XoR; a third input carries {delta} times the label.",
    )


TASK = Task(
    name="xor",
    summary="XoR of two signs, with a third input that carries Delta times the label",
    options=_XorOptions,
    build=_build,
)
