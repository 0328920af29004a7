"""Work whose errors become a message on stderr and an exit code."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

import click

from symreln.base.terminal import say
from symreln.errors import SymrelnError, visible

INTERRUPTED = 130


def guarded(work: Callable[[], Any]) -> int:
    """Return the exit code of some work; every error becomes a message and its code."""
    try:
        result = work()
    except SymrelnError as error:
        return complain(str(error), error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return complain("interrupted; what was written before stays", INTERRUPTED)
    except click.ClickException as error:
        vars(error)["message"] = visible(error.message, lines=True)  # final, says click
        error.show()
        return 2
    except MemoryError:
        return complain("out of memory; a smaller problem or fewer --seeds may fit", 4)
    except OSError as error:
        return _not_written(error)
    except Exception as error:
        if os.environ.get("SYMRELN_DEBUG"):
            raise
        return complain(
            f"a bug of symreln: {type(error).__name__}: {error}\n"
            "  Please report it with the spec and the output of `symreln info`; "
            "SYMRELN_DEBUG=1 shows where it happened.",
            1,
        )
    return result if isinstance(result, int) else 0


def _not_written(error: OSError) -> int:
    """Say which file failed, and what is there all the same."""
    why = error.strerror or str(error)
    if error.filename is None:
        return complain(f"standard output: {why}; what was not printed is lost", 2)
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        why += "; it is not there or as it was before, other files are whole. Make room"
    return complain(f"{error.filename}: {why}", 2)


def complain(message: str, code: int) -> int:
    """Print a message on stderr; return the exit code."""
    say(f"symreln: {message}", err=True)
    return code
