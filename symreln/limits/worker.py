"""The child that does the exact work: ``python -m symreln.limits.worker``, started by supervise."""

from __future__ import annotations

import sys

from symreln.base.processes import bound_itself, first_message


def main() -> None:
    """Read a request from stdin, carry it out, and end with its exit code."""
    message = first_message()

    from symreln.base import streams
    from symreln.cli.commands import Session
    from symreln.cli.main import guarded
    from symreln.cli.request import Request
    from symreln.limits.partial import REFUSED
    from symreln.limits.steps import StepWriter

    streams.prepare()
    request = Request.from_json(message["request"])
    bound_itself(request.time_limit, request.memory_limit)
    session = Session(request=request, steps=StepWriter(message["steps"]))

    def work() -> int:
        try:
            return session.execute()
        except MemoryError:
            return REFUSED

    sys.exit(guarded(work))


if __name__ == "__main__":
    main()
