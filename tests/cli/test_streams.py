"""Pipes, full disks and signals: the right exit code, and nothing lost."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from symreln.base import jsonio
from symreln.verifier.numbers import MOST_DIGITS
from tests.cli.command import command
from tests.own_process import printed

POSIX = pytest.mark.skipif(os.name != "posix", reason="streams by number")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run ``symreln`` as a shell does, with its redirections."""
    typed = ["bash", "-c", f'"{sys.executable}" -m symreln {command}']
    return subprocess.run(typed, capture_output=True, text=True, check=False, timeout=120)


@POSIX
def test_a_reader_that_leaves_ends_a_command_quietly():
    found = shell("tasks --json | head -c 1; exit ${PIPESTATUS[0]}")
    assert found.returncode in (0, 1)  # 0: all was written before the reader left
    assert (found.stdout, found.stderr) == ("{", "")


def test_a_full_disk_names_the_file_and_leaves_no_half_of_it(tmp_path, monkeypatch):
    (tmp_path / "derivation.json").write_text("old", "utf-8")
    genuine = os.fsync

    def full(handle: int) -> None:  # after the certificate
        if stat.S_ISREG(os.fstat(handle).st_mode) and any(tmp_path.rglob("certificate.json")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        genuine(handle)

    monkeypatch.setattr(jsonio.os, "fsync", full)
    found = command("derive", "xor", "--format", "json", "--out", tmp_path)
    assert found.code == 2
    assert f"symreln: {tmp_path / 'derivation.json'}: No space left on device" in found.err
    assert {path.name for path in tmp_path.iterdir()} == {"derivation.json"}
    assert (tmp_path / "derivation.json").read_text("utf-8") == "old"


@POSIX
@pytest.mark.parametrize(
    ("number", "code", "says"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "symreln: ended (SIGTERM)")],
)
def test_signals_have_codes_and_a_short_message(tmp_path, number, code, says):
    asked = ["run", "xor", "--seeds", "200", "--format", "json", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-m", "symreln", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for _ in range(600):  # until the derivation is written: the training that follows takes longer
        if (tmp_path / "out" / "derivation.json").exists():
            break
        time.sleep(0.1)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert err.count(says) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("chosen", [None, 9000])
def test_importing_symreln_is_quick_and_raises_the_bound_on_digits(chosen):
    """It imports nothing of its own."""
    program = (
        "import sys, symreln; print(sys.get_int_max_str_digits(), "
        "[name for name in sys.modules if name.startswith('symreln.')])"
    )
    given = {} if chosen is None else {"PYTHONINTMAXSTRDIGITS": str(chosen)}
    assert printed(program, **given) == f"{chosen or MOST_DIGITS} []\n"
