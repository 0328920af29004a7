"""The routing task: items of input domains reported in output domains.  Source: [Saxe2022]."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from symreln.specs.finding import need
from symreln.specs.kinds import Size, StrictModel, size_field
from symreln.specs.spec import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import (
    check_entries,
    check_power_of_two,
    exact,
    hierarchy,
    runs,
)

_MAX_DOMAINS = 32
_MAX_ITEMS = 64
_MAX_ENTRIES = 20_000_000
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
        default=4, ge=2, le=_MAX_ITEMS, description=f"a power of two from 2 to {_MAX_ITEMS}"
    )


def _build(options: _RoutingOptions) -> Dataset:
    """Return every item of every trained pair of an input and an output domain, source-major.

    Input domain i is paired with the output domains i, i + 1, …, i + K - 1, counted around. X has
    shape (Mn, MKn): the item one-hot in its domain, so that inputs are white in every pair. Y has
    shape (M(2n-1), MKn): the features of a hierarchy in the output domain.
    """
    domains, partners, items = options.domains, options.partners, options.items
    check_power_of_two(items)
    found, most = f"{partners} partners for {domains} domains", f"at most {domains}, as domains"
    need(partners <= domains, found, most, path=".partners")
    what = f"{domains} domains with {partners} partners and {items} items"
    entries = domains * partners * items * domains * (3 * items - 1)
    check_entries(entries, _MAX_ENTRIES, what, ".domains")
    pairs = [(i, (i + k) % domains) for i in range(domains) for k in range(partners)]
    height, one_hot = 2 * items - 1, np.eye(domains, dtype=np.int64)
    return Dataset(
        inputs=exact(np.kron(one_hot[:, [i for i, _ in pairs]], np.eye(items, dtype=np.int64))),
        targets=exact(np.kron(one_hot[:, [j for _, j in pairs]], hierarchy(items))),
        labels={
            "source": tuple(i + 1 for i, _ in pairs for _ in range(items)),
            "target": tuple(j + 1 for _, j in pairs for _ in range(items)),
            "item": tuple(range(1, items + 1)) * len(pairs),
        },
        input_groups=runs((f"source_{i + 1}" for i in range(domains)), items),
        output_groups=runs((f"target_{i + 1}" for i in range(domains)), height),
        description=(
            f"{items} items, {domains} input and {domains} output domains; every input domain is "
            f"trained with {partners} output domains, of {height} features (hierarchy) each."
        ),
    )


TASK = Task(
    name="routing",
    summary="items of M input domains reported in K of M output domains each",
    options=_RoutingOptions,
    build=_build,
)
