"""What the command line says of memory, and what it refuses before it derives."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from symreln.cli.main import cli, guarded
from symreln.train.machine import machine

SMALL = ("xor", "--seeds", "2", "--set", "network.steps=40", "--set", "network.hidden=10")


@pytest.fixture
def validated(tmp_path):
    def run(*more):
        """Exit code, stdout, stderr and error of ``symreln validate``."""
        found = {}

        def work():
            arguments = ["validate", *SMALL, "--out", str(tmp_path / "out"), *more]
            found["result"] = CliRunner().invoke(cli, arguments, standalone_mode=False)
            if found["result"].exception is not None:
                raise found["result"].exception
            return found["result"].return_value

        code, result = guarded(work), found["result"]
        return code, result.stdout, result.stderr, result.exception

    return run


def test_memory_is_told_before_and_after(validated):
    code, _, said, _ = validated("--tolerance", "1")
    assert code in (0, 3)  # whether theory agrees is no matter here
    before = re.search(r"training 2 networks, 2 at a time: memory about (\d+) MiB", said)
    after = re.search(r"peak memory (\d+) MiB, the largest process beside it (\d+) MiB", said)
    assert before
    assert after
    assert int(before[1]) < int(after[1]) < 1024
    assert said.index(before[0]) < said.index(after[0])


def test_quiet_is_quiet(validated):
    code, _, said, _ = validated("--tolerance", "1", "--quiet")
    assert code in (0, 3)
    assert said == ""


def test_a_missing_library_is_refused_before_anything_is_done(validated, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("symreln.cli.commands.Session._load", lambda session: 1 / 0)
    code, _, said, error = validated("--backend", "cupy")
    assert code == 2
    assert "'cupy': it is not installed" in str(error)
    assert "training" not in said


def test_single_precision_is_written_down(validated):
    found = {}
    for precision, more in (("float64", ()), ("float32", ("--float32",))):
        code, out, _, _ = validated("--tolerance", "1", "--json", *more)
        assert code in (0, 3)  # whether theory agrees is no matter here
        found[precision] = json.loads(out)
        assert found[precision]["network"]["precision"] == precision
    one, other = (found[name]["metrics"]["theory_vs_relu"] for name in ("float64", "float32"))
    assert one != other  # it was trained otherwise
    key = "max_abs_over_initial"
    assert other[key] == pytest.approx(one[key], abs=1e-4)
    assert machine().precision == "float64"  # nothing is left behind
