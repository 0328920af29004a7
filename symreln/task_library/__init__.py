"""Ready-made tasks and specs: one file a task, one registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.task_library.registry import Listing


def list_tasks() -> tuple[Listing, ...]:
    """Return the names that stand wherever a spec file does, each with one line."""
    from symreln.task_library.registry import list_specs  # imports flint and pydantic

    return list_specs()
