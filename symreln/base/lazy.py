"""Modules that are imported when something of them is first asked for.

As SPEC 1 of Scientific Python has it: who derives in Python need not import what writes pages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _LazyModule:
    """Stands for a module of this package.

    Attributes:
        home: Its name below ``symreln``.

    Example:
        >>> _LazyModule("base.rounding").percent(0.5)
        '50 %'
    """

    def __init__(self, home: str) -> None:
        self.home = home

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(f"symreln.{self.home}"), name)


def lazy(room: str, names: str) -> tuple[Any, ...]:
    """Return stand-ins for modules of a room, by their names with spaces between."""
    return tuple(_LazyModule(f"{room}.{name}") for name in names.split())
