"""Records do what ``dataclass(frozen=True, kw_only=True)`` does."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from symreln.base.records import record


@record
class Base:
    a: int
    b: Any = 2
    kept: ClassVar[int] = 7
    known: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def double(self) -> int:
        return 2 * self.a


@record
class Child(Base):
    c: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", self.c + 1)


@record
class Nothing:
    pass


def test_equal_fields_are_equal_and_have_one_hash() -> None:
    assert Base(a=1) == Base(a=1, b=2)
    assert hash(Base(a=1)) == hash(Base(a=1, b=2))
    assert Base(a=1) != Base(a=2)
    assert Base(a=1) != Child(a=1)
    assert Child(a=1) == Child(a=1)
    assert Child(a=1, c=5) != Child(a=1)
    assert Base(a=1) != (1, 2)
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1


def test_nothing_changes() -> None:
    one = Child(a=1)
    assert (one.a, one.b, one.c, one.known, one.double) == (1, 2, 4, {}, 2)
    for name in ("a", "c", "known", "kept", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, 5)
    for name in ("a", "known", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(one, name)
    assert (one.a, one.c, one.kept, one.known) == (1, 4, 7, {})
