"""The child that does the exact work: ``python -m symreln.limits.worker``, started by supervise."""

from __future__ import annotations

import json
import os
import sys

from symreln.limits.processes import bound_itself, die_with_parent, end_if_orphaned

#: Exit code where an allocation was refused; no command of the user's has it.
REFUSED = 75


def main() -> None:
    """Read a request from stdin, carry it out, and end with its exit code."""
    die_with_parent()  # before the imports, which take long enough for the parent to be killed
    line = sys.stdin.buffer.readline()
    if not line:  # the parent is gone already
        os._exit(1)
    message = json.loads(line)
    end_if_orphaned(message["parent"])

    from symreln.cli import guarded
    from symreln.commands import Request, Session
    from symreln.limits.steps import StepWriter

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
