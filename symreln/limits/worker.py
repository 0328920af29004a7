"""The child that does the exact work: ``python -m symreln.limits.worker``, started by supervise."""

from __future__ import annotations

import json
import os
import sys

from symreln.limits.processes import bound_itself, die_with_parent


def main() -> None:
    """Read a request from stdin, carry it out, and end with its exit code."""
    from symreln.cli import guarded
    from symreln.commands import Request, Session
    from symreln.limits.steps import StepWriter

    die_with_parent()
    line = sys.stdin.buffer.readline()
    if not line:  # the parent is gone already
        os._exit(1)
    message = json.loads(line)
    request = Request.from_json(message["request"])
    bound_itself(request.time_limit, request.memory_limit)
    session = Session(request=request, steps=StepWriter(message["steps"]))
    sys.exit(guarded(session.execute))


if __name__ == "__main__":
    main()
