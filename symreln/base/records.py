"""Values that do not change: dataclasses of which all but ``__init__`` is shared code."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Self, TypeVar, dataclass_transform, overload

from symreln.base.summaries import screen_repr

Class = TypeVar("Class", bound=type)


@overload
def record(cls: Class, /) -> Class: ...
@overload
def record(*, kw_only: bool = True, eq: bool = True) -> Callable[[Class], Class]: ...
@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,)
)
def record(cls: Any = None, /, *, kw_only: bool = True, eq: bool = True) -> Any:
    """Make a dataclass whose instances do not change, and whose repr is of at most a screen.

    All but ``__init__`` is shared code: ``dataclass(frozen=True)`` compiles five functions a class,
    which for all classes takes a twentieth of a short command's time.

    Args:
        cls: A class with fields, whose bases are records where they have fields.
        kw_only: Whether fields are given by name alone.
        eq: Whether instances with equal fields are equal, and have one hash.
    """
    if cls is None:
        return partial(record, kw_only=kw_only, eq=eq)
    dataclasses.dataclass(cls, kw_only=kw_only, eq=False, repr=False)
    own = {"__setattr__": _set_once(cls), "__delattr__": _keep}
    if cls.__repr__ is object.__repr__:
        own["__repr__"] = screen_repr
    if eq:
        own |= _compared(cls)
    for name, function in own.items():
        if vars(cls).get(name) is None:  # a class with an __eq__ of its own has None for a hash
            setattr(cls, name, function)
    return cls


def _set_once(cls: Any) -> Callable[[Any, str, object], None]:
    given = {
        field.name
        for field in dataclasses.fields(cls)
        if field.init or field.default_factory is not dataclasses.MISSING
    }

    def set_once(self: Any, name: str, value: object) -> None:
        values = self.__dict__
        if name in values or name not in given:
            msg = f"cannot assign to field {name!r}"
            raise dataclasses.FrozenInstanceError(msg)
        values[name] = value

    return set_once


def _keep(_: object, name: str) -> None:
    msg = f"cannot delete field {name!r}"
    raise dataclasses.FrozenInstanceError(msg)


def _compared(cls: Any) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    # With the class, because of a single name it would return no tuple: the same array is equal.
    values = operator.attrgetter("__class__", *names)

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


class Immutable:
    """A dataclass whose values are their own copies; a pickle has their fields alone."""

    def __copy__(self) -> Self:
        """Return itself: nothing of it changes."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself."""
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Return what makes it again."""
        given = {
            each.name: getattr(self, each.name)
            for each in dataclasses.fields(self)  # pyright: ignore[reportArgumentType]
            if each.init
        }
        # A view of a mapping is no pickle; the class makes one again.
        values = {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in given.items()}
        return _made, (type(self), values)


def _made(kind: type, values: Mapping[str, Any]) -> Any:
    return kind(**values)
