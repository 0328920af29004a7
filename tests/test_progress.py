"""What is shown of long work: where, when, and what not."""

from __future__ import annotations

import io
import re
import sys
import threading
import time

import nbclient
import nbformat
import pytest

import symreln as sr
from symreln.base import progress
from symreln.base.progress import Progress, phase


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
def terminal(monkeypatch, soon):
    """A terminal that nobody sees, in a process of somebody who works in Python."""

    def begin() -> Terminal:  # in the test itself: pytest sets stderr before each of its parts
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.delitem(sys.modules, "symreln.cli.main", raising=False)
        return stream

    return begin


def seen(stream) -> str:
    """What a stream shows, without colours; the bar as one |."""
    return re.sub(r"[━╸╺]+", "|", re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()))


def wait_for(text, stream, seconds=30):
    """Wait for a text, in which # is any number."""
    pattern = re.compile(re.escape(text).replace(r"\#", r"\d+"))
    deadline = time.monotonic() + seconds
    while not pattern.search(seen(stream)) and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(pattern.search(seen(stream)))


def test_a_command_has_one_plain_line_a_phase_where_there_is_no_terminal(monkeypatch, soon):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(quiet=False)("working") as report:
        assert wait_for("working …\n", stream)
        with phase("first part"):
            assert wait_for("working: first part …\n", stream)
            report(1, 2)
            time.sleep(0.1)
        with phase("quick part"):
            pass
    assert stream.getvalue() == "working …\nworking: first part …\n"


def test_on_a_terminal_one_line_says_what_is_done_now_and_how_far_it_is(terminal):
    stderr = terminal()
    with Progress(quiet=False)("working"), phase("part") as report:
        assert wait_for("\rworking: part | # s\r", stderr)
        report(1, 4)
        assert wait_for("\rworking: part | 25%, about # s left\r", stderr)
    assert re.search(r"\rworking: \d+\.\d s +\r\n$", stderr.getvalue())
    assert stderr.getvalue().count("\n") == 1
    assert all(len(line) < 80 for line in re.split(r"[\r\n]", seen(stderr)))


def test_the_bar_is_as_full_as_the_work_is_done_and_fills_the_line(terminal, monkeypatch):
    stderr = terminal()
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Progress(quiet=False)("working") as report:
        report(1, 2)
        assert wait_for("50%", stderr)
    plain = re.sub(r"\x1b\[[\d;]*m", "", stderr.getvalue())
    line = next(line for line in plain.split("\r") if "50%" in line)
    assert len(line) == 59
    full, _, left = re.search(r"(━+)([╸╺])( *|━+)", line).groups()
    assert abs(len(full) - len(left)) <= 1


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_silences_everything_within(terminal, quiet):
    stderr = terminal()
    with Progress(quiet=quiet)("working"), phase("part"), Progress(quiet=False)("inner"):
        time.sleep(0.15)
    assert (stderr.getvalue() == "") is quiet


def test_what_is_quick_is_silent(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(quiet=False)("working"), phase("part"):
        time.sleep(0.7)
    assert stream.getvalue() == ""


def test_short_phases_one_after_the_other_are_not_a_long_silence(terminal, monkeypatch):
    stderr = terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0.3)
    monkeypatch.setattr(progress, "_last", (0.0, 0.0))
    working = Progress(quiet=False)
    for _ in range(4):
        with working("a part"):
            time.sleep(0.15)
        monkeypatch.setattr(progress, "LOOK", 0.1)
    assert "\ra part |" in seen(stderr)


def test_in_python_progress_is_for_terminals_and_notebooks_alone(monkeypatch, soon, terminal):
    stderr = terminal()

    @phase("working")
    def work() -> None:
        time.sleep(0.1)

    work()
    assert "working" in stderr.getvalue()
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    work()
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


def test_a_notebook_shows_a_bar_below_its_cell_and_keeps_nothing_of_it():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(NOTEBOOK), nbformat.v4.new_code_cell("1")]
    )
    client, shown = nbclient.NotebookClient(notebook, kernel_name="python3"), []
    process = client.process_message

    def noted(message, cell, index):
        if "display_data" in message["msg_type"]:
            shown.append((index, message["msg_type"], message["content"]["data"]))
        return process(message, cell, index)

    client.process_message = noted
    client.execute()
    first, *_, last = shown
    assert {index for index, _, _ in shown} == {0}
    assert [kind for _, kind, _ in shown] == [
        "display_data",
        *["update_display_data"] * (len(shown) - 1),
    ]
    assert re.match(r"working: a <part> [━╸╺]+ 25%, about \d s left$", first[2]["text/plain"])
    assert "working: a &lt;part&gt;" in first[2]["text/html"]
    assert last[2] == {"text/html": "", "text/plain": ""}
    # No warning either, of widgets that are not installed: stderr would be an output.
    assert [each.get("text") for each in notebook.cells[0].outputs] == ["before\n", None, "after\n"]


FIGURES = (
    'import symreln as sr\nd = sr.derive("linear-hierarchy")\nd.plot();',
    "d.plot();",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    "d.plot(plt.subplots()[1]);",
)


def test_every_figure_of_a_notebook_is_shown():
    cells = [nbformat.v4.new_code_cell(source) for source in FIGURES]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    images = [
        sum("image/png" in each.get("data", {}) for each in cell.outputs) for cell in notebook.cells
    ]
    assert images == [1, 1, 1, 1]


def test_a_process_of_a_command_shows_nothing_by_itself(monkeypatch, terminal):
    stderr = terminal()
    monkeypatch.setitem(sys.modules, "symreln.cli.main", sys)
    with phase("working"):
        time.sleep(0.1)
    assert stderr.getvalue() == ""


def test_other_threads_and_missing_streams_change_nothing(monkeypatch, terminal):
    stderr = terminal()

    def elsewhere() -> None:
        with phase("elsewhere") as report:
            report(1, 2)
            time.sleep(0.1)

    with phase("here"):
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
    assert "elsewhere" not in stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", None)
    with Progress(quiet=False)("working"):
        time.sleep(0.1)


def test_an_error_ends_the_line_and_the_next_work_begins_anew(terminal):
    stderr = terminal()

    @phase("broken")
    def fail() -> None:
        time.sleep(0.1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert stderr.getvalue().endswith("\n")
    with phase("next"):
        assert wait_for("\rnext |", stderr)


def test_deriving_and_validating_say_what_they_do(terminal):
    stderr = terminal()
    small = ("network.hidden=24", "network.steps=400", "network.init_std=1/100")
    derivation = sr.derive(sr.load("contextual-3", overrides=small))
    assert "κ of the early phase" in re.findall(r"\rderiving: ([^|\r]+) \|", seen(stderr))
    sr.validate(derivation, seeds=2)
    assert "training" in re.findall(r"\rvalidating: ([^|\r]+) \|", seen(stderr))


def test_a_command_that_derives_in_silence_with_quiet(monkeypatch, soon, capsys, tmp_path):
    from symreln.cli import main as cli

    asked = ["derive", "xor", "--format", "json", "--out", str(tmp_path)]
    assert cli._guarded(asked) == 0
    assert "deriving …" in capsys.readouterr().err
    assert cli._guarded([*asked, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
