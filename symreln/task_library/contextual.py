"""The contextual task: items in contexts, features shared and own.  Source: [Jarvis2025]."""

from __future__ import annotations

from math import lcm
from typing import Any

import numpy as np
from pydantic import Field

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.specs.finding import Finding, counted, nearest, need, shown
from symreln.specs.kinds import Formula, Names, Size, StrictModel, size_field
from symreln.specs.spec import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import (
    EIGHT_ONLY,
    STRUCTURES,
    check_entries,
    check_power_of_two,
    exact,
    hierarchy,
    runs,
)

_MAX_ITEMS = 1024
_MAX_CONTEXTS = 64
_MAX_ENTRIES = 50_000_000
"""Entries of X and Y together, 8 bytes each: 256 items in 16 contexts are 37 million."""


class _ContextualOptions(StrictModel):
    """Options of ``contextual``."""

    items: Size = size_field(
        default=8, ge=2, le=_MAX_ITEMS, description=f"a power of two from 2 to {_MAX_ITEMS}"
    )
    contexts: Size = size_field(
        ge=1, le=_MAX_CONTEXTS, description=f"a whole number from 1 to {_MAX_CONTEXTS}"
    )
    structures: Names = Field(
        default="hierarchy",
        description=f"one of {', '.join(STRUCTURES)}, or a list of them, one a context",
    )
    context_scale: Formula = Field(
        default=1,  # type: ignore[assignment]  # read as every other value
        description="value of an active context input: a number or a formula",
    )


def _build(options: _ContextualOptions) -> Dataset:
    """Return every item in every context, context-major.

    X has shape (n + C, nC): the item one-hot on top of the context one-hot times the scale.
    Y has shape ((C+1)(2n-1), nC): features of the common hierarchy in every context, then one
    block a context, zero in the other contexts.
    """
    items, contexts, scale = options.items, options.contexts, options.context_scale
    check_power_of_two(items)
    names = _structure_names(options)
    height = 2 * items - 1
    entries = items * contexts * (items + contexts + (contexts + 1) * height)
    check_entries(entries, _MAX_ENTRIES, f"{items} items in {contexts} contexts", ".items")
    groups = ["common", *(f"context_{k}" for k in range(1, contexts + 1))]
    return Dataset(
        inputs=_inputs(items, contexts, scale),
        targets=_targets(items, names),
        labels={
            "context": tuple(k for k in range(1, contexts + 1) for _ in range(items)),
            "item": tuple(range(1, items + 1)) * contexts,
        },
        input_groups={
            "items": tuple(range(items)),
            "contexts": tuple(range(items, items + contexts)),
        },
        output_groups=runs(groups, height),
        description=(
            f"{items} items in {contexts} contexts: {height} features shared by all contexts "
            f"(hierarchy) and {height} of each context ({', '.join(dict.fromkeys(names))})."
        ),
    )


def _structure_names(options: _ContextualOptions) -> list[str]:
    given, contexts = options.structures, options.contexts
    names: list[Any] = [given] * contexts if isinstance(given, str) else list(given)  # type: ignore[call-overload]
    found = f"{counted(len(names), 'name')} for {counted(contexts, 'context')}"
    need(len(names) == contexts, found, "one name, or one a context", path=".structures")
    for index, name in enumerate(names):
        path = ".structures" if isinstance(given, str) else f".structures[{index}]"
        if not isinstance(name, str) or name not in STRUCTURES:
            hint = nearest(name, STRUCTURES) if isinstance(name, str) else ""
            raise Finding(shown(name), f"one of {', '.join(STRUCTURES)}", hint, path)
        hint = "The published structure has eight items; the hierarchy takes any power of two."
        found, fits = f"{name} with items = {options.items}", options.items == 8
        need(fits or name not in EIGHT_ONLY, found, f"items = 8 for {name}", hint, path)
    return names


def _inputs(items: int, contexts: int, scale: Scalar) -> ExactMatrix:
    of_items, of_contexts = np.eye(items, dtype=np.int64), np.eye(contexts, dtype=np.int64)
    above, below = np.tile(of_items, contexts), np.repeat(of_contexts, items, axis=1)
    top, bottom = np.vstack([above, 0 * below]), np.vstack([0 * above, below])
    names = scale.parameters
    return exact(top, 1, names) + exact(bottom, 1, names).scale(scale)


def _targets(items: int, names: list[str]) -> ExactMatrix:
    """Return the common hierarchy in every context, and the structure of each on its own rows."""
    height, found = 2 * items - 1, [STRUCTURES[name] for name in names]
    common = lcm(*(denominator for _, denominator in found))
    targets = np.zeros(((len(names) + 1) * height, len(names) * items), dtype=np.int64)
    targets[:height] = np.tile(hierarchy(items) * common, len(names))
    for k, (build, denominator) in enumerate(found):
        block = build(items) * (common // denominator)
        targets[(k + 1) * height : (k + 2) * height, k * items : (k + 1) * items] = block
    return exact(targets, common)


TASK = Task(
    name="contextual",
    summary="items in contexts, with features shared by all contexts and features of each",
    options=_ContextualOptions,
    build=_build,
)
