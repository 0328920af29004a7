"""What the commands train on."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from symreln.train.machine import Machine

if TYPE_CHECKING:
    from symreln.cli.request import Request


def training_machine(request: Request) -> AbstractContextManager[None]:
    """Return a context that trains on what the request asks for.

    Raises:
        InputError: The library is not installed, or the device is not there.
    """
    machine = Machine(
        backend=request.backend,
        device=request.device,
        precision="float32" if request.float32 else "float64",
    )
    machine.arrays(np.ones((1, 1)))  # refused now rather than after the derivation
    return machine.used()
