"""The contextual task: items in contexts, features shared and own.  Source: [Jarvis2025]."""

from __future__ import annotations

from math import lcm

import numpy as np
from pydantic import Field

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.specs.finding import Finding, counted, nearest, shown
from symreln.specs.kinds import Formula, Names, Size, StrictModel, size_field
from symreln.specs.model import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import (
    EIGHT_ONLY,
    STRUCTURES,
    Structure,
    check_power_of_two,
    hierarchy,
)

MAX_ITEMS = 1024
_MAX_CONTEXTS = 64
MAX_ENTRIES = 50_000_000
"""Entries of X and Y together, 8 bytes each: 256 items in 16 contexts are 37 million."""


class _ContextualOptions(StrictModel):
    """Options of ``contextual``."""

    items: Size = size_field(
        default=8, ge=2, le=MAX_ITEMS, description=f"a power of two from 2 to {MAX_ITEMS}"
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
    items, contexts = options.items, options.contexts
    check_power_of_two(items)
    names = _structure_names(options)
    _check_size(items, contexts)
    scale = options.context_scale
    blocks = [hierarchy(items), *(STRUCTURES[name](items) for name in names)]
    height = 2 * items - 1
    groups = [f"context_{k}" for k in range(1, contexts + 1)]
    return Dataset(
        inputs=_inputs(items, contexts, scale),
        targets=_targets(blocks, items, contexts),
        labels={
            "context": tuple(k for k in range(1, contexts + 1) for _ in range(items)),
            "item": tuple(range(1, items + 1)) * contexts,
        },
        input_groups={
            "items": tuple(range(items)),
            "contexts": tuple(range(items, items + contexts)),
        },
        output_groups={
            name: tuple(range(b * height, (b + 1) * height))
            for b, name in enumerate(["common", *groups])
        },
        description=(
            f"{items} items in {contexts} contexts: {height} features shared by all contexts "
            f"(hierarchy) and {height} of each context ({', '.join(dict.fromkeys(names))})."
        ),
        task="contextual",
        options={
            "items": str(items),
            "contexts": str(contexts),
            "structures": ", ".join(names),
            "context_scale": str(scale),
        },
    )


def _structure_names(options: _ContextualOptions) -> list[str]:
    given, contexts = options.structures, options.contexts
    names: list[object] = [given] * contexts if isinstance(given, str) else list(given)  # type: ignore[call-overload]
    if len(names) != contexts:
        found = f"{counted(len(names), 'name')} for {counted(contexts, 'context')}"
        raise Finding(found, "one name, or one a context", path=".structures")
    checked = []
    for index, name in enumerate(names):
        path = ".structures" if isinstance(given, str) else f".structures[{index}]"
        if not isinstance(name, str) or name not in STRUCTURES:
            hint = nearest(name, STRUCTURES) if isinstance(name, str) else ""
            raise Finding(shown(name), f"one of {', '.join(STRUCTURES)}", hint, path)
        if name in EIGHT_ONLY and options.items != 8:
            found = f"{name} with items = {options.items}"
            hint = "The published structure has eight items; the hierarchy takes any power of two."
            raise Finding(found, f"items = 8 for {name}", hint, path)
        checked.append(name)
    return checked


def _check_size(items: int, contexts: int) -> None:
    entries = items * contexts * (items + contexts + (contexts + 1) * (2 * items - 1))
    if entries > MAX_ENTRIES:
        found = f"{items} items in {contexts} contexts, {entries} numbers"
        expected = f"at most {MAX_ENTRIES} numbers in X and Y together"
        raise Finding(found, expected, "Use fewer items or contexts.", ".items")


def _inputs(items: int, contexts: int, scale: Scalar) -> ExactMatrix:
    shape = (items + contexts, items * contexts)
    samples = np.arange(items * contexts)
    ones = np.ones_like(samples)
    names = scale.parameters
    of_items = ExactMatrix.from_entries(shape, samples % items, samples, ones, 1, names)
    rows = items + samples // items
    of_contexts = ExactMatrix.from_entries(shape, rows, samples, ones, 1, names)
    return of_items + of_contexts.scale(scale)


def _targets(blocks: list[Structure], items: int, contexts: int) -> ExactMatrix:
    height = 2 * items - 1
    common = lcm(*(block.denominator for block in blocks))
    rows, samples, values = [], [], []
    for place, block in enumerate(blocks):
        features, holders, entries = block.arrays()
        active = range(contexts) if place == 0 else (place - 1,)
        for context in active:
            rows.append(place * height + features)
            samples.append(context * items + holders)
            values.append(entries * (common // block.denominator))
    return ExactMatrix.from_entries(
        ((contexts + 1) * height, items * contexts),
        np.concatenate(rows),
        np.concatenate(samples),
        np.concatenate(values),
        common,
    )


TASK = Task(
    name="contextual",
    summary="items in contexts, with features shared by all contexts and features of each",
    options=_ContextualOptions,
    build=_build,
)
