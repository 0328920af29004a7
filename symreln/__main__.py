"""The command ``symreln``, also as ``python -m symreln``: a process with streams and signals."""

from __future__ import annotations

import sys

from symreln.base.signals import end_silently, ended_by_signals, set_interrupt

set_interrupt(end_silently)  # all that follows takes a tenth of a second and has nothing to tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    from symreln.base import streams
    from symreln.cli.main import run_process

    streams.prepare()
    with ended_by_signals():
        code = run_process()
    sys.exit(code)


if __name__ == "__main__":
    main()
