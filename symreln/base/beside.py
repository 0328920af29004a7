"""Work that a process beside this one does, whose imports take as long as the work itself.

What it cannot do is done here: by the same functions, and so with the same errors.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast

from symreln.base.processors import cores

P = ParamSpec("P")
R = TypeVar("R")
#: Asks the process that runs beside this one, and waits for its answer in a thread.
_ask: Callable[..., Any] | None = None


@contextlib.contextmanager
def helper(*modules: str) -> Iterator[None]:
    """Have work that is begun done by a process of its own, which ends with the block.

    It is started where there is a core for it, and this process has not imported yet what the work
    needs.

    Args:
        modules: What it imports at once.
    """
    global _ask
    process = None if sys.modules.keys() >= {*modules} or cores() == 1 else _started(modules)
    if process is None:
        yield
        return
    before, thread = _ask, ThreadPoolExecutor(1)
    _ask = partial(thread.submit, _exchange, process)
    try:
        yield
    finally:
        _ask = before
        process.kill()
        thread.shutdown()
        process.communicate()


def _started(modules: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
    with contextlib.suppress(OSError):
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what fails there fails here again
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            process_group=0,  # Ctrl-C reaches this process alone, which ends the other
        )
    return None


def begin(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have some work done beside this; return what returns its result when it is there.

    Args:
        work: A function of a module, which changes nothing.
        args: Its arguments.
        named: Likewise.
    """
    answer: Any = None if _ask is None else _ask((work, args, named))

    @cache
    def found() -> R:
        done, result = (False, None) if answer is None else answer.result()
        if done:
            return cast("R", result)
        return work(*args, **named)

    return found


def _exchange(process: subprocess.Popen[bytes], asked: object) -> tuple[bool, Any]:
    """Return whether work was done beside this, and what it returned."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(pickle.dumps(asked))
        process.stdin.flush()
        return pickle.load(process.stdout)
    except Exception:  # it is dead, or nothing that can be sent: work that is done here
        return False, None


def _serve() -> None:
    """Do what stdin asks for until it ends."""
    gc.disable()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    for name in sys.argv[1:]:
        import_module(name)
    with contextlib.suppress(EOFError):
        while True:
            work, args, named = pickle.load(sys.stdin.buffer)
            try:
                answer = True, work(*args, **named)
            except Exception:
                answer = False, None
            answers.write(pickle.dumps(answer))
            answers.flush()


if __name__ == "__main__":
    _serve()
