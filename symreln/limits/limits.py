"""How much time and memory work may take."""

from __future__ import annotations

from dataclasses import dataclass

#: Exit code of a child where an allocation was refused; no command of the user's has it.
REFUSED = 75


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one piece of work.

    Attributes:
        time: Seconds, or None.
        memory: Bytes, or None.
    """

    time: float | None = None
    memory: int | None = None
