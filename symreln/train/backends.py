"""Which library trains, on which device, in which precision and in how much memory."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import Array, Precision
from symreln.train.loop import Running
from symreln.train.memory import DEFAULT_MEMORY_LIMIT
from symreln.train.network import MemoryEstimate, TrainingSettings

Library = Literal["numpy", "torch", "cupy", "jax"]
LIBRARIES: tuple[str, ...] = get_args(Library)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a training runs on. The trainers themselves take the arrays that they are handed.

    Attributes:
        backend: The library.
        device: As the library calls it, such as "cuda:1" or "cpu" (for cupy a number); None for a
            graphics card where the library has one, else the processor.
        precision: float32 only where that is asked for.
        memory_limit: Bytes that a training may take.
        tell: Called before each training with the memory that it will take.
    """

    backend: Library = "numpy"
    device: str | None = None
    precision: Precision = "float64"
    memory_limit: int = DEFAULT_MEMORY_LIMIT
    tell: Callable[[MemoryEstimate], None] | None = None

    def __post_init__(self) -> None:
        if self.backend not in LIBRARIES:
            msg = f"backend: found {self.backend!r}. Give one of {', '.join(LIBRARIES)}."
            raise InputError(msg)
        if self.backend == "numpy" and self.device not in (None, "cpu"):
            msg = (
                f"device: found {self.device!r}, and numpy computes on the processor alone. Give a "
                "backend that has devices: torch, cupy or jax."
            )
            raise InputError(msg)

    @property
    def running(self) -> Running:
        """What a trainer is told of it."""
        return {"memory_limit": self.memory_limit, "tell": self.tell}

    def settings(self, settings: TrainingSettings) -> TrainingSettings:
        """Hyper-parameters in this precision."""
        return replace(settings, precision=self.precision)

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
        library = importlib.import_module(self.backend)
        try:
            return _MOVERS[self.backend](library, self, data)
        except InputError:
            raise
        except Exception as error:
            # Every library has errors of its own for a device or a driver that is not there.
            where = "" if self.device is None else f", device {self.device!r}"
            first = str(error).strip().splitlines()[0] if str(error).strip() else ""
            msg = (
                f"backend {self.backend!r}{where}: it does not take the data "
                f"({type(error).__name__}: {first}). Give a device that this machine has, or leave "
                "the backend out."
            )
            raise InputError(msg) from error


def _torch(torch: Any, machine: Machine, data: tuple[np.ndarray, ...]) -> tuple[Array, ...]:
    device = machine.device or ("cuda" if torch.cuda.is_available() else "cpu")
    return tuple(torch.as_tensor(np.array(each), device=device) for each in data)


def _cupy(cupy: Any, machine: Machine, data: tuple[np.ndarray, ...]) -> tuple[Array, ...]:
    number = (machine.device or "0").removeprefix("cuda:")
    with cupy.cuda.Device(int(number)):
        return tuple(cupy.asarray(each) for each in data)


def _jax(jax: Any, machine: Machine, data: tuple[np.ndarray, ...]) -> tuple[Array, ...]:
    if machine.precision == "float64":
        jax.config.update("jax_enable_x64", True)  # its default rounds every array to float32
    platform, _, number = (machine.device or "").partition(":")
    devices = jax.devices(platform) if platform else jax.devices()
    chosen = devices[int(number or 0)]
    return tuple(jax.numpy.asarray(each, device=chosen) for each in data)


_MOVERS: dict[str, Callable[[Any, Machine, tuple[np.ndarray, ...]], tuple[Array, ...]]] = {
    "torch": _torch,
    "cupy": _cupy,
    "jax": _jax,
}
