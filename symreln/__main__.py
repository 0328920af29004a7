"""The command ``symreln``, also as ``python -m symreln``."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    # As an exception: what was being written is removed, and what was started ended.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        from symreln.cli.main import main as command

        command()
    except KeyboardInterrupt:  # while the program is loaded
        sys.exit(130)


if __name__ == "__main__":
    main()
