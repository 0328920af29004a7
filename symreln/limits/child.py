"""The child's side: work that tells its finished steps and ends at its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symreln.base import streams
from symreln.base.guard import guarded
from symreln.base.processes import bound_itself
from symreln.limits.limits import REFUSED
from symreln.pipeline.derive import derive
from symreln.report.steps import StepWriter
from symreln.task_library.load import load


def work_within(message: dict[str, Any], work: Callable[[StepWriter], int]) -> int:
    """Do in this process what the watching one asks for; return the exit code.

    Args:
        message: What it said first.
        work: Does it, given where finished steps are told.
    """
    streams.prepare()
    bound_itself(message["limits"]["time"], message["limits"]["memory"])
    steps = StepWriter(message["steps"])

    def done() -> int:
        try:
            return work(steps)
        except MemoryError:
            return REFUSED

    return guarded(done)


def derive_told(request: dict[str, Any], steps: StepWriter) -> int:
    """Derive a spec and tell every spectrum; return the exit code 0."""
    spec = load(**request)
    steps.spec(spec)
    derive(spec, spectrum=steps.joint_spectrum, progress=steps.progress)
    return 0
