"""What the commands tell a user of the machine that trains: memory before, memory after."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import numpy as np

from symreln.train.machine import DEFAULT_MEMORY_LIMIT, Machine, peak_bytes

if TYPE_CHECKING:
    from symreln.cli.request import Request
    from symreln.train.memory import MemoryEstimate


class _Teller:
    """Says on stderr what a training will take, if that is more than those before it took."""

    def __init__(self) -> None:
        self._most = -1

    def __call__(self, plan: MemoryEstimate) -> None:
        if plan.total > self._most:
            self._most = plan.total
            seeds = "1 network" if plan.seeds == 1 else f"{plan.seeds} networks"
            chunk = "one" if plan.seeds_per_chunk == 1 else str(plan.seeds_per_chunk)
            text = f"training {seeds}, {chunk} at a time: memory about {plan}"
            click.echo(f"symreln: {text}", err=True)


@contextmanager
def training_machine(request: Request) -> Iterator[None]:
    """Train on what the request asks for, and say what memory that takes; quietly if so asked.

    Raises:
        InputError: The library is not installed, or the device is not there.
    """
    machine = Machine(
        backend=request.backend,
        device=request.device,
        precision="float32" if request.float32 else "float64",
        memory_limit=request.memory_limit or DEFAULT_MEMORY_LIMIT,
        process_limit=request.memory_limit,
        tell=None if request.quiet else _Teller(),
    )
    machine.arrays(np.ones((1, 1)))  # refused now rather than after the derivation
    with machine.used():
        yield
    if not request.quiet:
        _tell_peak()


def _tell_peak() -> None:
    """Say on stderr the most memory that this process and its children had."""
    own, child = (peak_bytes(children=which) / 2**20 for which in (False, True))
    if own:
        beside = f", the largest process beside it {child:.0f} MiB" if child else ""
        click.echo(f"symreln: peak memory {own:.0f} MiB{beside}", err=True)
