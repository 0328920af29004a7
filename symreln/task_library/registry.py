"""The registry: every task, and every ready-made spec. A new task is a file and a line here."""

from __future__ import annotations

from pathlib import Path

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


def spec_path(name: str) -> Path:
    """Return the file of a ready-made spec."""
    return Path(__file__).parent / "specs" / f"{name}.toml"
