"""The routing task: items of input domains reported in output domains.  Source: [Saxe2022]."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from symreln.exact.matrix import ExactMatrix
from symreln.specs.finding import Finding
from symreln.specs.kinds import Size, StrictModel, size_field
from symreln.specs.model import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import check_power_of_two, hierarchy

_MAX_DOMAINS = 32
MAX_ITEMS = 64
MAX_ENTRIES = 20_000_000
"""Entries of X and Y together, 8 bytes each: 16 domains with 16 partners and 16 items are 3
million."""


class _RoutingOptions(StrictModel):
    """Options of ``routing``."""

    domains: Size = size_field(
        ge=1,
        le=_MAX_DOMAINS,
        description=f"input domains, and as many output domains, from 1 to {_MAX_DOMAINS}",
    )
    partners: Size = size_field(
        ge=1,
        le=_MAX_DOMAINS,
        description="output domains that every input domain is trained with, at most domains",
    )
    items: int = Field(
        default=4, ge=2, le=MAX_ITEMS, description=f"a power of two from 2 to {MAX_ITEMS}"
    )


def _build(options: _RoutingOptions) -> Dataset:
    """Return every item of every trained pair of an input and an output domain, source-major.

    Input domain i is paired with the output domains i, i + 1, …, i + K - 1, counted around. X has
    shape (Mn, MKn): the item one-hot in its domain, so that inputs are white in every pair. Y has
    shape (M(2n-1), MKn): the features of a hierarchy in the output domain.
    """
    domains, partners, items = options.domains, options.partners, options.items
    check_power_of_two(items)
    if partners > domains:
        found = f"{partners} partners for {domains} domains"
        raise Finding(found, f"at most the number of domains, {domains}", path=".partners")
    _check_size(domains, partners, items)
    pairs = [(i, (i + k) % domains) for i in range(domains) for k in range(partners)]
    height = 2 * items - 1
    return Dataset(
        inputs=_inputs(pairs, domains, items),
        targets=_targets(pairs, domains, items),
        labels={
            "source": tuple(i + 1 for i, _ in pairs for _ in range(items)),
            "target": tuple(j + 1 for _, j in pairs for _ in range(items)),
            "item": tuple(range(1, items + 1)) * len(pairs),
        },
        input_groups=_groups("source", domains, items),
        output_groups=_groups("target", domains, height),
        description=(
            f"{items} items, {domains} input and {domains} output domains; every input domain is "
            f"trained with {partners} output domains, of {height} features (hierarchy) each."
        ),
        task="routing",
        options={"domains": str(domains), "partners": str(partners), "items": str(items)},
    )


def _groups(name: str, domains: int, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}_{i + 1}": tuple(range(i * width, (i + 1) * width)) for i in range(domains)}


def _check_size(domains: int, partners: int, items: int) -> None:
    entries = domains * partners * items * domains * (3 * items - 1)
    if entries > MAX_ENTRIES:
        found = f"{domains} domains with {partners} partners and {items} items, {entries} numbers"
        expected = f"at most {MAX_ENTRIES} numbers in X and Y together"
        raise Finding(found, expected, "Use fewer domains or items.", ".domains")


def _inputs(pairs: list[tuple[int, int]], domains: int, items: int) -> ExactMatrix:
    samples = np.arange(len(pairs) * items)
    rows = np.array([i for i, _ in pairs])[samples // items] * items + samples % items
    shape = (domains * items, len(samples))
    return ExactMatrix.from_entries(shape, rows, samples, np.ones_like(samples))


def _targets(pairs: list[tuple[int, int]], domains: int, items: int) -> ExactMatrix:
    features, holders, values = hierarchy(items).arrays()
    height = 2 * items - 1
    rows = [j * height + features for _, j in pairs]
    samples = [place * items + holders for place in range(len(pairs))]
    return ExactMatrix.from_entries(
        (domains * height, len(pairs) * items),
        np.concatenate(rows),
        np.concatenate(samples),
        np.tile(values, len(pairs)),
    )


TASK = Task(
    name="routing",
    summary="items of M input domains reported in K of M output domains each",
    options=_RoutingOptions,
    build=_build,
)
