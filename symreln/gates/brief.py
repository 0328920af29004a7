"""Short texts of results that hold arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Letters of a value that are shown.
LONGEST = 70


class Brief:
    """A dataclass, declared with ``repr=False``, whose text is a line a field, arrays by shape."""

    def __repr__(self: DataclassInstance) -> str:
        lines = [f"  {each.name}: {_shown(getattr(self, each.name))}" for each in fields(self)]
        return "\n".join([type(self).__name__, *lines])


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}" if value.size > 8 else str(value.tolist())
    if isinstance(value, tuple | list | dict) and len(value) > 8:
        return f"{len(value)} entries"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
