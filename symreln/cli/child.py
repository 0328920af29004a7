"""Does a command within its limits: ``python -m symreln.cli.child``, started by :mod:`.limited`."""

from __future__ import annotations

import sys

from symreln.base.processes import first_message


def main() -> None:
    """Read a request from stdin, carry it out, and end with its exit code."""
    message = first_message()

    from symreln.cli.commands import execute
    from symreln.cli.request import Request
    from symreln.limits.child import work_within

    request = Request.of(message["request"])
    sys.exit(work_within(message, lambda steps: execute(request, steps=steps)))


if __name__ == "__main__":
    main()
