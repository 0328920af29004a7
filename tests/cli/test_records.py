"""Records beside ``dataclass(frozen=True)``: what one says, the other does."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from symreln.base.records import record


def _classes(made: Any) -> dict[str, type]:
    """Return the same classes, each made by a decorator of keywords."""

    @made
    class Base:
        a: int
        b: Any = 2
        kept: ClassVar[int] = 7
        known: dict = field(default_factory=dict, init=False, repr=False, compare=False)

        @cached_property
        def double(self) -> int:
            return 2 * self.a

    @made
    class Child(Base):
        c: int = 3

        def __post_init__(self) -> None:
            object.__setattr__(self, "c", self.c + 1)

    @made
    class Nothing:
        pass

    return {each.__name__: each for each in (Base, Child, Nothing)}


KINDS = {"record": _classes(record), "dataclass": _classes(dataclass(frozen=True, kw_only=True))}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> dict[str, Any]:
    return KINDS[request.param]


def test_equal_fields_are_equal_and_have_one_hash(kind: dict[str, Any]) -> None:
    base, child = kind["Base"], kind["Child"]
    assert base(a=1) == base(a=1, b=2)
    assert hash(base(a=1)) == hash(base(a=1, b=2))
    assert base(a=1) != base(a=2)
    assert base(a=1) != child(a=1)
    assert child(a=1) == child(a=1)
    assert child(a=1, c=5) != child(a=1)
    assert base(a=1) != (1, 2)
    assert kind["Nothing"]() == kind["Nothing"]()
    assert len({kind["Nothing"](), kind["Nothing"]()}) == 1


def test_nothing_changes(kind: dict[str, Any]) -> None:
    one = kind["Child"](a=1)
    assert (one.a, one.b, one.c, one.known, one.double) == (1, 2, 4, {}, 2)
    for name in ("a", "c", "known", "kept", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, 5)
    for name in ("a", "known", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(one, name)
    assert (one.a, one.c, one.kept, one.known) == (1, 4, 7, {})
