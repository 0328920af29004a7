"""Derives for a caller in Python: ``python -m symreln.limits.worker``, started by derive_within."""

from __future__ import annotations

import sys

from symreln.base.processes import first_message


def _main() -> None:
    """Read from stdin what is to be derived, tell every spectrum, end with an exit code."""
    message = first_message()

    from symreln.limits.child import derive_told, work_within

    sys.exit(work_within(message, lambda steps: derive_told(message["request"], steps)))


if __name__ == "__main__":
    _main()
