"""Values that do not change: dataclasses of which all but ``__init__`` is shared code.

A dataclass's own repr prints every field of every value within it: a confrontation's is a third of
a million characters. The shared one prints a line a field instead, or the class's summary.
"""

from __future__ import annotations

import dataclasses
import operator
import reprlib
import textwrap
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any, Self, TypeVar, dataclass_transform, overload

Class = TypeVar("Class", bound=type)

#: Lines of a repr, of a summary's, and characters of a line.
_MOST_LINES = 28
_SUMMARY_LINES = 10
_LINE = 100


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
        own["__repr__"] = _screen_repr
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


# -- reprs ----------------------------------------------------------------------------------------


def _screen_repr(self: Any) -> str:
    """Return a repr of a dataclass of at most a screen.

    Where the class has a method ``_summary()``, its first ten lines; else every field, in a line
    each where they do not fit in one. ``_headline()``, where there is one, is what stands for an
    instance within others.
    """
    summary = getattr(self, "_summary", None)
    if summary is not None:
        lines = [line for text in summary() for line in _wrapped(text)]
        return "\n".join(_cut(lines, _SUMMARY_LINES))
    name = type(self).__name__
    fields = [f for f in dataclasses.fields(self) if f.repr]
    short = f"{name}({', '.join(f'{f.name}={_brief(getattr(self, f.name))}' for f in fields)})"
    if len(short) <= _LINE:
        return short
    lines = [f"  {f.name}={_brief(getattr(self, f.name), _LINE - len(f.name) - 4)}" for f in fields]
    return "\n".join([f"{name}(", *_cut(lines, _MOST_LINES), ")"])


def _wrapped(text: str) -> list[str]:
    together = text.replace(" %", "\xa0%")
    found = textwrap.wrap(together, _LINE, subsequent_indent="  ")
    return [line.replace("\xa0", " ") for line in found] or [""]


def _cut(lines: list[str], most: int) -> list[str]:
    left = len(lines) - most
    return lines if left <= 0 else [*lines[: most - 1], f"  … {left + 1} more lines"]


class _Short(reprlib.Repr):
    """Reprs of what stands within others, in a line."""

    def repr1(self, x: Any, level: int) -> str:
        headline = getattr(type(x), "_headline", None)
        if headline is not None:
            return headline(x)
        if isinstance(x, Enum):
            return str(x.value)
        if hasattr(x, "dtype") and hasattr(x, "flat"):
            return f"array {' × '.join(map(str, x.shape)) or 'scalar'}"
        if type(x).__repr__ is _screen_repr:
            return f"{type(x).__name__}(…)"
        return super().repr1(x, level)


_SHORT = _Short()
_ROOM = {f"max{kind}": _LINE for kind in ("string", "long", "other")}
vars(_SHORT).update(maxlevel=3, maxdict=4, maxlist=4, maxtuple=4, maxset=4, **_ROOM)


def _brief(value: object, room: int = _LINE) -> str:
    """Return one line of at most ``room`` characters about a value.

    Example:
        >>> _brief(tuple(range(1000)))
        '(0, 1, 2, 3, ...)'
    """
    text = " ".join(_SHORT.repr(value).split())
    return text if len(text) <= room else text[: max(room - 1, 1)] + "…"
