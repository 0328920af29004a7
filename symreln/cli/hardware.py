"""What the commands train on."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from symreln.train.machine import Library, Machine


def training_machine(
    backend: Library, device: str | None, *, float32: bool
) -> AbstractContextManager[None]:
    """Return a context that trains on what is asked for.

    Raises:
        InputError: The library is not installed, or the device is not there.
    """
    precision = "float32" if float32 else "float64"
    machine = Machine(backend=backend, device=device, precision=precision)
    machine.arrays(np.ones((1, 1)))  # refused now rather than after the derivation
    return machine.used()
