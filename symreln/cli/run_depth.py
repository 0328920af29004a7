"""The work of ``symreln depth``: train, compare, write, print."""

from __future__ import annotations

from typing import Any

from symreln.calls.depth import depth
from symreln.cli.answered import answered
from symreln.cli.hardware import training_machine
from symreln.train.machine import Library


def depth_for_user(*, backend: Library, device: str | None, float32: bool, **asked: Any) -> int:
    """Do what the command is asked for; takes its options, returns the exit code."""
    with training_machine(backend, device, float32=float32):
        return answered("training", depth, **asked)
