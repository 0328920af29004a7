"""Sweeps are done once, exactly, whoever does them and whatever ends them."""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.base import pool
from symreln.cli import main as cli
from symreln.errors import InputError
from symreln.experiment.metrics import seed_floor
from symreln.sweeps import run
from symreln.sweeps.files import read_result
from symreln.sweeps.plan import read_axes
from symreln.task_library.load import load
from tests.sweeps.examples import (
    SEEDS,
    SPEC,
    Here,
    arguments,
    command,
    contents,
    files,
    plan,
    spec,
    swept,
)

__all__ = ["spec"]


@pytest.fixture
def here(monkeypatch):
    """Let the command use no other process."""
    monkeypatch.setattr(pool, "processes", lambda _: Here())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """The folder of a sweep that nothing disturbs; not to be changed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source, out = folder / "two.toml", folder / "out"
    source.write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "processes", lambda _: Here())
        assert cli._guarded([*arguments(source, out), "--json"]) == 0
    return out


@pytest.fixture
def reference(undisturbed) -> dict[str, bytes]:
    """Its files."""
    return contents(undisturbed)


@pytest.fixture
def done(undisturbed, tmp_path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(undisturbed, tmp_path / "done"))


def test_networks_are_bit_for_bit_those_of_validate(spec, done):
    found = plan(spec, done)
    for number, row in list(enumerate(found.rows))[::3]:
        own = sr.validate(sr.derive(load(str(spec), row.overrides)), seeds=SEEDS, rng=0)
        for seed in range(SEEDS):
            result = read_result(found.network(number, seed))
            assert np.array_equal(result.arrays["network"], own.network.losses[seed])
            assert np.array_equal(result.arrays["gdln"], own.gdln.losses[seed])
        theory = read_result(found.theory(number))
        assert np.array_equal(theory.arrays["theory"], own.prediction.loss)


def test_a_summary_is_what_validate_says(spec, done, reference):
    summary = json.loads(reference["sweep.json"])
    assert summary["format"] == "symreln-sweep/2"
    found = plan(spec, done)
    assert [row["over"] for row in summary["rows"]] == [list(row.over) for row in found.rows]
    own = sr.validate(sr.derive(load(str(spec), found.rows[1].overrides)), seeds=SEEDS, rng=0)
    row = summary["rows"][1]
    assert row["seeds"] == SEEDS
    assert row["level"] == own.derivation.at_values.verdict.level.value
    for pair in ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu"):
        for name, value in vars(own.metrics[pair]).items():
            interval = row["metrics"][pair][name]
            assert interval["value"] == pytest.approx(value, rel=1e-12)
            ends = getattr(own.intervals[pair], name)
            assert (interval["low"], interval["high"]) == (ends.low, ends.high)
    floor = seed_floor(own.network.losses)
    assert row["seed_floor"]["mean"]["max_abs_over_initial"] == pytest.approx(
        floor.mean.max_abs_over_initial, rel=1e-12
    )


def test_relu_networks_with_a_derived_start_are_those_of_validate(tmp_path):
    axes = read_axes(["parameters.Delta.value=1/2"])
    small = ("network.hidden=6", "network.steps=30", "network.init_std=1/10")
    found = plan("xor", tmp_path / "out", seeds=3, rng=4, overrides=small, axes=axes)
    assert swept(found) == []
    own = sr.validate(sr.derive(load("xor", found.rows[0].overrides)), seeds=3, rng=4)
    assert own.kappas, "a κ that the trainings must hear of"
    for seed in range(3):
        result = read_result(found.network(0, seed))
        assert np.array_equal(result.arrays["network"], own.network.losses[seed])
        assert np.array_equal(result.arrays["gdln"], own.gdln.losses[seed])


def test_bytes_do_not_depend_on_what_is_trained_together(spec, tmp_path, reference):
    found = plan(spec, tmp_path / "out")
    assert swept(found, workers=3) == []
    for path in files(found):
        assert path.read_bytes() == reference[f"tasks/{path.name}"]


def test_starting_again_does_only_what_is_missing(spec, done, capsys, reference, here, monkeypatch):
    out, found = done, plan(spec, done)
    gone = [found.network(0, 1), found.theory(2), found.network(2, 4)]
    for path in gone:
        path.unlink()
    (out / "tasks" / f".{gone[0].name}.{'0' * 16}.tmp").write_bytes(b"half of")
    made = []
    genuine = run.perform
    monkeypatch.setattr(run, "perform", lambda task: made.extend(task.files) or genuine(task))
    assert command(capsys, *arguments(spec, out))[0] == 0
    assert sorted(made) == sorted(gone)
    assert contents(out) == reference
    made.clear()
    assert command(capsys, *arguments(spec, out))[0] == 0
    assert made == []


def test_shards_add_up_to_the_whole(spec, tmp_path, capsys, here, reference):
    out = tmp_path / "out"
    for part in ("2/3", "3/3", "1/3"):
        code, said, _ = command(capsys, *arguments(spec, out, "--shard", part, "--json"))
        assert code == 0
        assert not (out / "sweep.json").exists()
        done = json.loads(said)["done"]
    assert done == 24
    assert command(capsys, *arguments(spec, out))[0] == 0
    assert contents(out) == reference


def test_two_runs_at_once_do_no_harm(spec, tmp_path, reference):
    found = plan(spec, tmp_path / "out")
    failures = []

    def work():
        failures.extend(swept(found, workers=2))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for path in files(found):
        assert path.read_bytes() == reference[f"tasks/{path.name}"]


def test_what_fails_is_told_and_the_rest_is_done(spec, tmp_path, capsys, here, monkeypatch):
    genuine = run._networks

    def diverging(numbers, task):
        if numbers.network.hidden == 5 and 4 in range(task.first, task.first + len(task.networks)):
            msg = "training diverged"
            raise InputError(msg)
        return genuine(numbers, task)

    monkeypatch.setattr(run, "_networks", diverging)
    out = tmp_path / "out"
    code, said, err = command(capsys, *arguments(spec, out, "--json"))
    assert code == 2
    assert err.count("seed 4: training diverged") == 2
    rows = json.loads(said)["rows"]
    assert [row["seeds"] for row in rows] == [5, 5, 4, 4]
    assert rows[2]["failures"] == [{"seed": 4, "message": "training diverged"}]
    assert rows[2]["metrics"]["theory_vs_relu"]["max_abs_over_initial"]["value"] > 0


def test_a_defect_is_told_and_the_rest_is_done(spec, tmp_path, capsys, here, monkeypatch):
    genuine = run._theory
    broken = lambda numbers: 1 / 0 if numbers.network.hidden == 5 else genuine(numbers)  # noqa: E731
    monkeypatch.setattr(run, "_theory", broken)
    code, said, err = command(capsys, *arguments(spec, tmp_path / "out", "--json"))
    assert code == 1
    assert err.count("theory: a bug of symreln: ZeroDivisionError") == 2
    assert [row["seeds"] for row in json.loads(said)["rows"]] == [5, 5, 0, 0]


def test_a_spec_that_changes_while_the_sweep_runs_is_no_part_of_it(spec, tmp_path):
    task = run.Task.of(plan(spec, tmp_path / "out"), 0)
    spec.write_text(spec.read_text().replace('"2", "0"', '"3", "0"'))
    with pytest.raises(InputError, match="changed while"):
        run.perform(task)


def test_a_changed_spec_takes_no_stale_file(spec, tmp_path, done, capsys, here):
    spec.write_text(spec.read_text().replace('"2", "0"', '"3", "0"'))
    fresh = tmp_path / "fresh"
    for out in (done, fresh):
        assert command(capsys, *arguments(spec, out))[0] == 0
    assert (done / "sweep.json").read_bytes() == (fresh / "sweep.json").read_bytes()
    assert len(list((done / "tasks").iterdir())) == 2 * len(list((fresh / "tasks").iterdir()))


class Full(Here):
    """Cannot write, as a process on a full disk."""

    def submit(self, work, /, task):
        """Return what the operating system says."""
        return super().submit(run.attempt, replace(task, theory=Path("nowhere/theory.npz")))


def test_files_that_cannot_be_written_end_the_sweep(spec, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pool, "processes", lambda _: Full())
    code, _, err = command(capsys, *arguments(spec, tmp_path / "out"))
    assert code == 2
    assert "No such file or directory" in err
    assert "nowhere" in err


def test_more_seeds_keep_those_that_are_there(here, spec, tmp_path, capsys, reference):
    out = tmp_path / "out"
    fewer = [*arguments(spec, out), "--seeds", "2"]
    assert command(capsys, *fewer)[0] == 0
    before = {path: path.stat() for path in (out / "tasks").iterdir()}
    assert len(before) == 4 * (1 + 2)
    assert command(capsys, *arguments(spec, out))[0] == 0
    # What an uninterrupted sweep of all seeds writes, byte by byte, from files not touched again.
    assert contents(out) == reference
    for path, status in before.items():
        now = path.stat()
        assert (now.st_ino, now.st_mtime_ns) == (status.st_ino, status.st_mtime_ns)


def test_more_values_keep_those_that_are_there(here, spec, tmp_path, capsys, monkeypatch):
    out, made = tmp_path / "out", []
    genuine = run.perform
    monkeypatch.setattr(run, "perform", lambda task: made.extend(task.files) or genuine(task))
    for values, count in (("3", 3), ("3,5", 3), ("5,3", 0)):
        made.clear()
        asked = ("--over", f"network.hidden={values}", "--seeds", "2", "--out", str(out), "-q")
        assert command(capsys, "sweep", str(spec), *asked)[0] == 0
        assert len(made) == count
