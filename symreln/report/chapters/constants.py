"""The table of every number that enters a prediction and is not in the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.document.model import Block, Strong, Table
from symreln.document.typeset import typeset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.constants import Constant


def constants_table(constants: Sequence[Constant]) -> list[Block]:
    """Return every number that enters the prediction and is not in the spec."""
    if not constants:
        return []
    return [
        Table(
            header=("constant", "value", "source", "from"),
            rows=tuple(
                (
                    typeset(each.name),
                    (each.shown(4) or "–") + ("" if each.error is None else f" ± {each.error:.2g}"),
                    Strong(each.source),
                    typeset(each.origin),
                )
                for each in constants
            ),
            caption=(
                "Every number that enters the prediction and is not in the spec; those assumed or "
                "fitted are the free constants."
            ),
            alignment="pllp",
        )
    ]
