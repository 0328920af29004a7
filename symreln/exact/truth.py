"""Three-valued truth: what is proven, what is refuted, what is neither."""

from __future__ import annotations

from enum import Enum


class Truth(Enum):
    """Outcome of an exact decision; compare with ``is Truth.PROVEN``.

    Example:
        >>> import symreln as sr
        >>> {step.outcome for step in sr.derive("linear-hierarchy").steps} == {sr.Truth.PROVEN}
        True
    """

    PROVEN = "proven"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> bool:
        msg = "a Truth has three values: compare it with `is Truth.PROVEN`, do not test it"
        raise TypeError(msg)
