"""What trainings run on: a library, a device, a precision.

The trainers train whatever arrays they are handed, on the library that these belong to. For data
that are still numpy's a machine says where they go:

>>> with Machine(precision="float32").used():
...     machine().precision
'float32'
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

import numpy as np

from symreln.base.records import record
from symreln.errors import InputError
from symreln.train.arrays import Array, Precision

Library = Literal["numpy", "torch"]
_LIBRARIES: tuple[str, ...] = get_args(Library)


@record
class Machine:
    """What trainings run on.

    Attributes:
        backend: The library.
        device: As torch calls it, such as "cuda:1" or "cpu"; None for a graphics card where there
            is one, else the processor.
        precision: float32 only where that is asked for.
    """

    backend: Library = "numpy"
    device: str | None = None
    precision: Precision = "float64"

    def __post_init__(self) -> None:
        if self.backend not in _LIBRARIES:
            msg = f"backend: found {self.backend!r}. Give one of {', '.join(_LIBRARIES)}."
            raise InputError(msg)
        if self.backend == "numpy" and self.device not in (None, "cpu"):
            msg = (
                f"device: found {self.device!r}, and numpy computes on the processor alone. Give a "
                "backend that has devices: torch."
            )
            raise InputError(msg)

    @contextmanager
    def used(self) -> Iterator[None]:
        """A context in which trainings run on this machine."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def arrays(self, *data: np.ndarray) -> tuple[Array, ...]:
        """Data as arrays of the library on the device.

        Raises:
            InputError: The library is not installed, or has no such device.
        """
        if self.backend == "numpy":
            return data
        if importlib.util.find_spec(self.backend) is None:
            msg = (
                f"backend {self.backend!r}: it is not installed. Install it (pip install "
                f"{self.backend}), or leave the backend out: numpy computes on the processor."
            )
            raise InputError(msg)
        torch = importlib.import_module(self.backend)
        try:
            device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
            return tuple(torch.as_tensor(np.array(each), device=device) for each in data)
        except Exception as error:
            # It has errors of many kinds for a device or a driver that is not there.
            where = "" if self.device is None else f", device {self.device!r}"
            said = (str(error).strip().splitlines() or [""])[0]
            msg = (
                f"backend {self.backend!r}{where}: it does not take the data "
                f"({type(error).__name__}: {said}). Give a device that this machine has, or leave "
                "the backend out."
            )
            raise InputError(msg) from error


_CURRENT: ContextVar[Machine] = ContextVar("machine", default=Machine())  # noqa: B039 - frozen


def machine() -> Machine:
    """The machine that trainings run on."""
    return _CURRENT.get()
