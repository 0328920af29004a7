"""A worker process: ``python -m symreln.sweep.worker PARENT``, started by :mod:`.local`.

Reads requests from stdin, one line of JSON each, and writes their files; answers on stdout. Ends
when its stdin closes, and with the process that started it, also in the middle of a task.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

from symreln.base.processes import end_with_parent

if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))  # before what takes longer to import

from symreln.errors import SymrelnError
from symreln.sweep.files import TaskFolder
from symreln.sweep.tasks import perform


def serve(requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until they end."""
    _say(replies, {"ready": True})
    for line in requests:
        asked = json.loads(line)
        _say(replies, _answer(asked["folder"], asked["request"]))


def _answer(folder: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        files = TaskFolder(path=Path(folder))
        for name, data in perform(request).items():
            files.write(name, data)
    except SymrelnError as error:
        return {"error": str(error), "exit_code": error.exit_code}
    except MemoryError:
        return {"error": "out of memory", "exit_code": 4}
    except OSError as error:
        what = f"{error.filename or folder}: {error.strerror or error}"
        return {"error": what, "exit_code": 2}
    except Exception as error:
        # Whatever it is, the other tasks have their own chance.
        return {"error": f"a bug of symreln: {type(error).__name__}: {error}", "exit_code": 1}
    return {"done": True}


def _say(replies: IO[str], answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer) + "\n")
    replies.flush()


def main() -> None:
    """Serve stdin and stdout."""
    replies, sys.stdout = sys.stdout, sys.stderr  # a stray print must not break an answer
    try:
        serve(sys.stdin, replies)
    except BrokenPipeError:
        os._exit(0)  # the run that asked is gone; nothing is left to flush


if __name__ == "__main__":
    main()
