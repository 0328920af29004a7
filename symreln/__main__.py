"""The command ``symreln``, also as ``python -m symreln``."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    main_process = os.getpid()

    def end(number: int, _: object) -> None:
        if os.getpid() == main_process:
            os.write(2, b"symreln: ended (SIGTERM); what was written before stays\n")
        # As an exception: what was being written is removed, and what was started ended.
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    # Pydantic would look through all that is installed for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from symreln.cli.main import main as command

        command()
    except KeyboardInterrupt:  # while the program is loaded
        sys.exit(130)
    finally:
        # The end of the interpreter would look for garbage among all that is left: a tenth of the
        # time of a short command.
        gc.freeze()


if __name__ == "__main__":
    main()
