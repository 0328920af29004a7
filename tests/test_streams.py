"""Closed streams, full disks and signals: the right exit code, nothing lost, nobody left behind."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symreln.base import jsonio, signals
from symreln.base.progress import phase
from symreln.cli import main as cli
from symreln.verifier.numbers import MOST_DIGITS

ROOT = str(Path(cli.__file__).parents[2])
POSIX = pytest.mark.skipif(os.name != "posix", reason="streams by number")
DERIVE = "derive xor --format json --out {out}"


def shell(command: str, out: Path) -> subprocess.CompletedProcess[str]:
    """Run ``symreln`` as a shell does, with its redirections."""
    return subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m symreln {command}'.format(out=out)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


@POSIX
@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full", "<&-"])
def test_messages_that_nobody_hears_change_nothing(tmp_path, stream):
    if "full" in stream and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    found = shell(f"{DERIVE} {stream}", tmp_path)
    assert found.returncode == 0
    assert "verdict: closed" in found.stdout
    assert (tmp_path / "derivation.json").is_file()


@POSIX
@pytest.mark.parametrize("command", ["tasks", "--help", DERIVE])
@pytest.mark.parametrize("stream", [">&-", ">/dev/full", ">&- 2>&-"])
def test_results_that_cannot_be_printed_end_in_2_and_files_stay(tmp_path, command, stream):
    if "full" in stream and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    found = shell(f"{command} {stream}", tmp_path)
    assert found.returncode == 2
    if "2>&-" not in stream:
        assert "standard output: " in found.stderr
        assert "files that were written stay" in found.stderr
    if command is DERIVE:
        assert json.loads((tmp_path / "derivation.json").read_text("utf-8"))["format"]
        assert (tmp_path / "certificate.json").is_file()


@POSIX
def test_a_file_never_gets_the_number_of_a_closed_stream(tmp_path):
    """Else what is printed would be written into it."""
    program = (
        "from symreln.base import streams; streams.prepare(); import os;"
        f"number = os.open({str(tmp_path / 'own')!r}, os.O_WRONLY | os.O_CREAT); assert number > 2"
    )
    command = f'"{sys.executable}" -c "{program}" <&- >&- 2>&-'
    environment = {**os.environ, "PYTHONPATH": ROOT}
    assert subprocess.run(["bash", "-c", command], check=False, env=environment).returncode == 0


def test_a_full_disk_names_the_file_and_leaves_no_half_of_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "derivation.json").write_text("old", "utf-8")
    genuine = os.fsync

    def full(handle: int) -> None:  # after the certificate
        if stat.S_ISREG(os.fstat(handle).st_mode) and any(tmp_path.rglob("certificate.json")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        genuine(handle)

    monkeypatch.setattr(jsonio.os, "fsync", full)
    asked = ["derive", "xor", "--format", "json", "--out", str(tmp_path)]
    assert cli._guarded(asked) == 2
    err = capsys.readouterr().err
    assert f"symreln: {tmp_path / 'derivation.json'}: No space left on device" in err
    assert {path.name for path in tmp_path.iterdir()} == {"derivation.json"}
    assert (tmp_path / "derivation.json").read_text("utf-8") == "old"


def test_a_file_that_cannot_be_made_is_named_by_its_own_name(tmp_path):
    path = tmp_path / "missing" / "result.json"
    with pytest.raises(FileNotFoundError) as caught:
        jsonio.write_text(path, "{}")
    assert caught.value.filename == str(path)


@POSIX
@pytest.mark.parametrize(
    ("number", "code", "says"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
def test_signals_have_codes_and_a_short_message(tmp_path, number, code, says):
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "symreln", "run", "xor"),
            *("--seeds", "200", "--out", str(tmp_path / "out")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    for _ in range(600):  # until the derivation is written: the training that follows takes longer
        if (tmp_path / "out" / "derivation.json").exists():
            break
        time.sleep(0.1)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert says in err
    assert "Traceback" not in err


@POSIX
def test_an_interrupt_before_the_work_is_silent():
    program = "import os, signal, symreln.__main__; os.kill(os.getpid(), signal.SIGINT)"
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert (found.returncode, found.stderr) == (130, b"")


@pytest.mark.parametrize("chosen", [None, 9000])
def test_importing_symreln_is_quick_and_raises_the_bound_on_digits(chosen):
    """What it imports is a window in which Ctrl-C prints a traceback: nothing of its own."""
    program = (
        "import sys, symreln; print(sys.get_int_max_str_digits(), "
        "[name for name in sys.modules if name.startswith('symreln.')])"
    )
    given = {} if chosen is None else {"PYTHONINTMAXSTRDIGITS": str(chosen)}
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT, **given},
    )
    assert found.stdout == f"{chosen or MOST_DIGITS} []\n"


@POSIX
def test_an_interrupt_during_exec_of_a_text_has_its_code(tmp_path):
    # Dataclasses are made so: Python would end a process of -m by the signal itself.
    (tmp_path / "interrupted.py").write_text(
        """
import os, signal, sys
from symreln.cli import main as cli
text = "os.kill(os.getpid(), signal.SIGINT)" + chr(10) + "while True: pass"
cli.cli.main = lambda **_: exec(text)
sys.exit(cli.run_process())
"""
    )
    found = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        timeout=60,
    )
    assert found.returncode == 130
    assert b"interrupted" in found.stderr


@POSIX
@pytest.mark.parametrize("lost", ["becomes another", "in a phase", "at the end"])
@pytest.mark.parametrize(
    ("number", "code", "says"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
def test_a_signal_whose_exception_is_lost_ends_the_command(capsys, lost, number, code, says):
    reached = []

    def work():
        try:
            os.kill(os.getpid(), number)
            while True:
                pass
        except BaseException:  # as C code does
            if lost == "becomes another":
                raise ImportError from None
        if lost == "in a phase":
            with phase("training"):
                reached.append(lost)
        return 0

    old = signal.signal(signal.SIGINT, signals.interrupt)
    try:
        with signals.ended_by_signals():
            assert cli.guarded(work) == code
            assert cli.guarded(lambda: 0) == 0
    finally:
        signal.signal(signal.SIGINT, old)
    assert not reached
    assert says in (err := capsys.readouterr().err)
    assert "bug" not in err


def test_every_exit_code_is_in_the_help_and_in_the_page_of_commands():
    page = (Path(ROOT) / "docs" / "commands.md").read_text("utf-8")
    listed = page[page.index("## Exit codes") :].split("\n\n")[1]
    for code in ("0", "1", "2", "3", "4", "130", "143"):
        assert f"\n  {code} " in cli.EXIT_CODES
        assert f"\n| {code}" in listed
