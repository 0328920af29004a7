"""Signals that end a command, and how it then ends.

Standard library alone, and little of it: this is loaded before everything else.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

#: An exit code that says which signal is this and its number.
SIGNALLED = 128
INTERRUPTED = 130


def end_silently(*_: object) -> None:
    """Handle an interrupt while there is nothing to tidy up and nothing to tell."""
    os._exit(INTERRUPTED)


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C during work.

    A kind of its own: Python ends a process by the signal itself, whatever its exit code, where a
    plain KeyboardInterrupt once passed through ``exec`` of a text, as the making of a dataclass is.
    """


#: Exit code that a signal has asked for since the work began that notes it; 0: none came.
_asked = 0
_noting = False


def _note(code: int) -> None:
    global _asked
    if _noting:
        _asked = code


@contextlib.contextmanager
def signals_noted() -> Iterator[None]:
    """Do work that a signal ends, whatever becomes of the exception that it is.

    C code may turn an exception into another one, as an import into ImportError, and what Python
    calls from a destructor loses it. What ends the work then is raised as what it was.

    Raises:
        _Interrupted: Ctrl-C came.
        SystemExit: Another signal came (:func:`ended_by_signals`).
    """
    global _asked, _noting
    outer, _noting, _asked = (_noting, _asked), True, 0
    try:
        yield
    except BaseException as error:
        raise_noted(error)
        raise
    else:
        raise_noted()
    finally:
        _noting, _asked = outer


def raise_noted(error: BaseException | None = None) -> None:
    """Raise what a signal has asked for that came during the work; nothing if none did."""
    if _asked:
        raise (_Interrupted() if _asked == INTERRUPTED else SystemExit(_asked)) from error


@contextlib.contextmanager
def signals_settled() -> Iterator[None]:
    """Do what an end must leave behind: what came before is not raised during it, but after."""
    global _asked
    before, _asked = _asked, 0
    try:
        yield
    finally:
        _asked = before or _asked


def interrupt(*_: object) -> None:
    """Handle an interrupt while there is work that it ends."""
    _note(INTERRUPTED)
    raise _Interrupted


def set_interrupt(handler: object) -> None:
    """Set what Ctrl-C does, unless whoever started this process has it ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)  # pyright: ignore[reportArgumentType]


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turn signals that would end this process at once into an exception, so that children end.

    It is a SystemExit with 128 + the signal's number: 143 for SIGTERM, 129 for SIGHUP.
    """
    names = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    # What is ignored stays so (nohup).
    found = [each for each in names if each and signal.getsignal(each) is not signal.SIG_IGN]

    def stop(number: int, _frame: object) -> None:
        _note(SIGNALLED + number)
        raise SystemExit(SIGNALLED + number)

    try:
        old = {number: signal.signal(number, stop) for number in found}
    except ValueError:  # not the main thread: nobody sends it signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def signal_name(number: int) -> str:
    """Return a signal's name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Start child processes that no Ctrl-C reaches: their parent ends them, without a word."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
