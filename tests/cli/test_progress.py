"""What is shown of long work: where, when, and what not."""

from __future__ import annotations

import io
import re
import sys
import time

import nbclient
import nbformat
import pytest

from symreln.base import progress
from symreln.base.progress import phase, shown


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def soon(monkeypatch):
    """Let everything be long work."""
    monkeypatch.setattr(progress, "PATIENCE", 0.02)
    monkeypatch.setattr(progress, "LOOK", 0.01)


@pytest.fixture
def stderr(monkeypatch, soon):
    """Return what sets stderr in the test itself: pytest does before each of its parts."""

    def begin(stream: io.StringIO) -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return begin


def wait_for(text: str, stream: io.StringIO) -> bool:
    """Wait for a text, in which # is any number."""
    pattern = re.compile(re.escape(text).replace(r"\#", r"\d+"))
    deadline = time.monotonic() + 30
    while not pattern.search(stream.getvalue()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(pattern.search(stream.getvalue()))


def test_a_command_has_one_plain_line_a_phase_where_there_is_no_terminal(stderr):
    stream = stderr(io.StringIO())
    with shown(), phase("working") as report:
        assert wait_for("working …\n", stream)
        with phase("first part"):
            assert wait_for("working: first part …\n", stream)
            report(1, 2)
            time.sleep(0.1)
        with phase("quick part"):
            pass
    assert stream.getvalue() == "working …\nworking: first part …\n"


def test_on_a_terminal_one_line_says_what_is_done_now_and_how_far_it_is(stderr, monkeypatch):
    stream = stderr(Terminal())
    monkeypatch.setenv("COLUMNS", "60")
    with shown(), phase("working"):
        with phase("part") as report:
            assert wait_for("\rworking: part # s ", stream)
            report(1, 4)
            assert wait_for(f"\rworking: part {'━' * 5}{'┄' * 15} 25%, about # s left", stream)
        assert wait_for("\rworking # s", stream)
    assert stream.getvalue().endswith("\r" + " " * 59 + "\r")
    assert {len(line) for line in stream.getvalue().split("\r") if line} == {59}


def test_in_python_progress_is_for_terminals_alone_and_ends_with_the_work(stderr):
    @phase("broken")
    def fail() -> None:
        time.sleep(0.1)
        raise ZeroDivisionError

    stream = stderr(Terminal())
    with pytest.raises(ZeroDivisionError):
        fail()
    assert re.search(r"\rbroken 0 s +\r.*\r +\r$", stream.getvalue(), re.DOTALL)
    with phase("next"):
        assert wait_for("\rnext 0 s", stream)
    plain = stderr(io.StringIO())
    with pytest.raises(ZeroDivisionError):
        fail()
    assert plain.getvalue() == ""


NOTEBOOK = """
import time
from symreln.base import progress
progress.PATIENCE = progress.LOOK = 0.1
print("before")
with progress.phase("working"), progress.phase("a <part>") as report:
    report(1, 4)
    time.sleep(1)
print("after")
"""
FIGURES = (
    'import symreln as sr\nd = sr.derive("linear-hierarchy")\nd.plot();',
    "d.plot();",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    "d.plot(plt.subplots()[1]);",
)


def test_a_notebook_shows_a_bar_below_its_cell_keeps_nothing_of_it_and_has_every_figure():
    cells = [nbformat.v4.new_code_cell(source) for source in (NOTEBOOK, "1", *FIGURES)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client, shown = nbclient.NotebookClient(notebook, kernel_name="python3"), []
    process = client.process_message

    def noted(message, cell, index):
        data = message["content"].get("data", {})
        if "display_data" in message["msg_type"] and "image/png" not in data:
            shown.append((index, message["msg_type"], data["text/plain"]))
        return process(message, cell, index)

    client.process_message = noted
    client.execute()
    own = [each[1:] for each in shown if each[0] == 0]
    kinds = ["display_data", *["update_display_data"] * (len(own) - 1)]
    assert [kind for kind, _ in own] == kinds
    assert re.match(r"working: a <part> [━┄]+ 25%, about \d s left$", own[0][1])
    assert own[-1][1] == ""
    first, _, *figures = notebook.cells
    # No warning either, of widgets that are not installed: stderr would be an output.
    assert [each.get("text") for each in first.outputs] == ["before\n", None, "after\n"]
    images = [sum("image/png" in o.get("data", {}) for o in cell.outputs) for cell in figures]
    assert images == [1, 1, 1, 1]
