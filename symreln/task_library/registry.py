"""The registry: every task, and every ready-made spec. A new task is a file and a line here."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from symreln.specs.files import read_toml
from symreln.specs.task import Task
from symreln.task_library import contextual, linear_hierarchy, real_data, routing, xor

TASKS: tuple[Task, ...] = (
    linear_hierarchy.TASK,
    xor.TASK,
    contextual.TASK,
    routing.TASK,
    real_data.DIGITS,
    real_data.IRIS,
)

SPECS: tuple[str, ...] = (
    "linear-hierarchy",
    "xor",
    "xor-linear",
    "contextual-3",
    "contextual-4",
    "contextual-5",
    "contextual-different",
    "contextual-C",
    "contextual-3-modular",
    "routing",
    "depth",
    "iris",
    "iris-classes",
    "digits",
)
"""Ready-made specs, in the order in which they are listed; one file each in ``specs/``."""

_FOLDER = Path(__file__).parent / "specs"


class Listing(NamedTuple):
    """One line of the list of what there is.

    Attributes:
        name: What to write for it.
        summary: What it is.
    """

    name: str
    summary: str


def spec_path(name: str) -> Path:
    """Return the file of a ready-made spec."""
    return _FOLDER / f"{name}.toml"


@lru_cache(maxsize=1)
def list_specs() -> tuple[Listing, ...]:
    """Return the ready-made specs, each with its title."""
    return tuple(
        Listing(name=name, summary=str(read_toml(spec_path(name))[0]["title"])) for name in SPECS
    )
