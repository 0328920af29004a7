"""Who draws figures and cuts fonts: a process beside this one, or this one.

Matplotlib and fontTools take as long to import as to work, and a derivation leaves a core idle. A
command that will write documents therefore starts a process that imports them meanwhile; it gets
what it draws as JSON and hands back the same bytes that this process would have made. Where it
cannot be started, or dies, this process does the work, by the same function.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from symreln.base.processors import cores
from symreln.base.progress import phase
from symreln.document.model import Drawing

if TYPE_CHECKING:
    from types import TracebackType

    from symreln.report.drawer_process import Answer, Order
    from symreln.report.sketches import Sketch

PROCESS = "symreln.report.drawer_process"


class Drawer:
    """Draws in this process, or in one of its own between ``with`` and the end of the block.

    Orders are carried out one after the other, while this process goes on: what an order returns
    is called for the result.

    Args:
        beside: Whether to start a process, where there is a core for it.
    """

    def __init__(self, *, beside: bool = False) -> None:
        self._beside = beside
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: _Pending | None = None

    def __enter__(self) -> Self:
        """Start the process where one is wanted."""
        if self._beside and sys.executable and cores() > 1:
            with contextlib.suppress(OSError):
                self._process = _start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave no process behind."""
        self._dismiss()

    def draw(
        self, sketches: Sequence[Sketch], *, pdf: bool = True
    ) -> Callable[[], tuple[Drawing, ...]]:
        """Order drawings; the answer has one a sketch.

        Args:
            sketches: What to draw.
            pdf: Whether drawings carry a PDF for LaTeX; it takes as long as all the rest.
        """
        answer = self._order({"sketches": list(sketches), "pdf": pdf})
        return lambda: tuple(map(_drawing, answer()["drawings"]))

    def font(self, characters: Iterable[str]) -> Callable[[], bytes]:
        """Order the font of a page, see :func:`symreln.report.font.math_font`."""
        answer = self._order({"characters": "".join(sorted(characters))})
        return lambda: base64.b64decode(answer()["font"])

    def _order(self, order: Order) -> Callable[[], Answer]:
        # One order at a time: two processes that both write and do not read would wait for ever.
        if self._waiting is not None:
            self._waiting()
        self._waiting = _Pending(self, order)
        self._tell(order)
        return self._waiting

    def _tell(self, order: Order) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            self._dismiss()

    def _hear(self) -> Answer | None:
        """Return the answer of the process, None where it has none."""
        if self._process is None:
            return None
        assert self._process.stdout is not None
        try:
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError):  # it died, within a line or before
            self._dismiss()
            return None

    def _dismiss(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):  # what was buffered for it cannot be written
                stream.close()


class _Pending:
    """An order under way; calling it returns the answer."""

    def __init__(self, drawer: Drawer, order: Order) -> None:
        self._drawer = drawer
        self._order = order
        self._answer: Answer | None = None

    def __call__(self) -> Answer:
        if self._answer is None:
            with phase("font" if "characters" in self._order else "figures"):
                self._answer = self._drawer._hear() or _here(self._order)
        return self._answer


def _here(order: Order) -> Answer:
    from symreln.report.drawer_process import carry_out

    return carry_out(order)


def _drawing(values: dict[str, Any]) -> Drawing:
    pdf = base64.b64decode(values["pdf"])
    return Drawing(name=values["name"], svg=values["svg"], pdf=pdf)


def _start() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    paths = filter(None, [root, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        # -P: what lies in the working folder is not imported.
        [sys.executable, "-P", "-m", PROCESS, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Nothing that it says is for the user: what it cannot do is done, or fails, here.
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
