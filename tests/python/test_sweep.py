"""sr.sweep from a file, a name and a Spec: the same rows, and a folder that goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import symreln as sr
from symreln.base import pool
from symreln.errors import InputError, NotSupportedError
from symreln.sweeps import run as runs
from tests.sweeps.examples import Here

SMALL = {"network.hidden": 12, "network.steps": 40}
OVER = {"network.init_std": ["1/10", "1/20"]}


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """Let sweeps use no other process."""
    monkeypatch.setattr(pool, "processes", lambda _: Here())


def from_arrays() -> sr.Spec:
    """What the name linear-hierarchy says, put together from NumPy arrays."""
    loaded = sr.load("linear-hierarchy", SMALL)
    x, y = (matrix.T for matrix in loaded.dataset.arrays)
    kept = ("init_std", "learning_rate", "loss", "activation")
    options = {name: getattr(loaded.network, name) for name in kept}
    return sr.spec(
        x,
        y,
        pathways=[sr.pathway(path.name) for path in loaded.pathways],
        network=sr.network(hidden=12, steps=40, **options),
    )


def test_a_name_its_spec_and_the_spec_of_arrays_give_the_same_rows(tmp_path):
    asked = {"over": OVER, "seeds": 2, "workers": 1}
    named = sr.sweep("linear-hierarchy", directory=tmp_path / "1", overrides=SMALL, **asked)
    loaded = sr.load("linear-hierarchy", SMALL)
    assert sr.sweep(loaded, directory=tmp_path / "2", **asked).rows == named.rows
    assert sr.sweep(from_arrays(), directory=tmp_path / "3", **asked).rows == named.rows
    assert [row.seeds for row in named.rows] == [2, 2]
    first, one, two = repr(named).splitlines()
    assert first == "sweep of 2 combinations"
    for line, row in zip((one, two), named.rows, strict=True):
        assert line.startswith(f"{row.over[0]}: closed; loss {row.verdict.outcome}, ")
        assert f"{row.verdict.value:.2%}; seeds 2" in line
    # The folder holds the spec, which the command takes as well.
    kept = sr.load(tmp_path / "3" / "spec.toml")
    assert kept.network == loaded.network
    assert np.array_equal(kept.dataset.arrays[0], loaded.dataset.arrays[0])


def test_the_same_spec_goes_on_where_it_was(tmp_path, monkeypatch):
    spec = sr.load("linear-hierarchy", SMALL)
    first = sr.sweep(spec, OVER, directory=tmp_path, seeds=2, workers=1)
    done = []
    monkeypatch.setattr(
        runs, "perform", lambda task, own=runs.perform: done.append(task) or own(task)
    )
    assert sr.sweep(spec, OVER, directory=tmp_path, seeds=2, workers=1).rows == first.rows
    assert not done
    removed = next((tmp_path / "tasks").glob("network-*"))
    os.unlink(removed)
    assert sr.sweep(spec, OVER, directory=tmp_path, seeds=2, workers=1).rows == first.rows
    assert [file for task in done for file in task.files] == [removed]


def test_a_folder_is_one_spec_s(tmp_path):
    sr.sweep(sr.load("linear-hierarchy", SMALL), OVER, directory=tmp_path, seeds=1, workers=1)
    before = (tmp_path / "spec.toml").read_bytes()
    other = sr.load("linear-hierarchy", {**SMALL, "network.hidden": 13})
    with pytest.raises(InputError, match="another spec"):
        sr.sweep(other, OVER, directory=tmp_path, seeds=1, workers=1)
    assert (tmp_path / "spec.toml").read_bytes() == before


SCRIPT = """
import sys
sys.stderr.isatty = lambda: True
from symreln.base import progress
progress.PATIENCE = progress.LOOK = 0.01
import symreln as sr
print("the script runs")
small = {"network.hidden": 12, "network.steps": 40}
swept = sr.sweep("linear-hierarchy", {"network.init_std": ["1/10"]}, directory="out",
                 overrides=small, seeds=2, workers=2)
print([row.seeds for row in swept.rows], swept.failures)
"""


def test_a_script_needs_no_guard_around_its_main_part(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, "utf-8")
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "the script runs\n[2] ()\n"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("source", "over", "error", "says"),
    [
        (3, OVER, InputError, "sweep: found 3; give a Spec"),
        ("routing", OVER, NotSupportedError, "nodes and edges"),
        ("contextual-C", OVER, NotSupportedError, "Give the file or the name"),
        ("xor", {"dataset.scale": [1, 2]}, InputError, "sr.sweep('xor', …)"),
        ("xor", {"network.hiden": [1, 2]}, InputError, 'Did you mean "hidden"'),
    ],
)
def test_what_cannot_be_swept_is_said_at_once(source, over, error, says, tmp_path):
    spec = sr.load(source) if isinstance(source, str) else source
    with pytest.raises(error) as raised:
        sr.sweep(spec, over, directory=tmp_path / "out")
    assert says in str(raised.value)
    assert not (tmp_path / "out" / "tasks").exists()
