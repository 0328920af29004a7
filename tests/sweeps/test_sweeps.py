"""Sweeps are done once, exactly, whoever does them and whatever ends them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.base import pool
from symreln.errors import InputError
from symreln.experiment.metrics import seed_floor
from symreln.sweeps import tasks
from tests.sweeps.examples import SEEDS, SPEC, Here, arguments, command, contents, here, spec

__all__ = ["here", "spec"]
AXES = ["network.hidden=3,5", "parameters.c.value=1,1/2"]
pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """The folder of a sweep that nothing disturbs; not to be changed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "two.toml").write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "processes", lambda _: Here())
        swept = sr.sweep(folder / "two.toml", AXES, directory=folder / "out", seeds=SEEDS)
    assert not swept.failures
    swept.save(folder / "out")
    return folder / "out"


@pytest.fixture
def done(undisturbed, tmp_path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(undisturbed, tmp_path / "done"))


def performed(monkeypatch) -> list[Path]:
    """Return a list that will have the files of tasks that are done from now on."""
    made, genuine = [], tasks.perform
    monkeypatch.setattr(tasks, "perform", lambda task: made.append(task.file) or genuine(task))
    return made


@pytest.mark.parametrize(
    ("name", "over", "overrides"),
    [
        ("two.toml", {"network.hidden": [5]}, {}),
        (
            "xor",
            {"parameters.Delta.value": ["1/2"]},  # with a κ that the trainings must hear of
            {"network.hidden": 6, "network.steps": 30, "network.init_std": "1/10"},
        ),
    ],
)
def test_a_sweep_says_what_validate_says_bit_for_bit(spec, tmp_path, name, over, overrides):
    source = spec if name.endswith("toml") else name
    swept = sr.sweep(
        source, over, directory=tmp_path / "out", overrides=overrides, seeds=SEEDS, rng=4
    )
    ((key, (value,)),) = over.items()
    own = sr.validate(sr.derive(sr.load(source, {**overrides, key: value})), seeds=SEEDS, rng=4)
    curves = {"gdln": [], "network": []}
    for path in sorted((tmp_path / "out" / "tasks").glob("networks-*")):
        for kind, parts in curves.items():
            parts.append(np.load(path)[kind])
    assert np.array_equal(np.concatenate(curves["network"]), own.network.losses)
    assert np.array_equal(np.concatenate(curves["gdln"]), own.gdln.losses)
    (row,) = swept.to_json()["rows"]
    assert (row["seeds"], row["over"]) == (SEEDS, [f"{key}={json.dumps(value)}"])
    assert row["level"] == own.derivation.at_values.verdict.level.value
    for pair in ("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu"):
        for metric, wanted in vars(own.metrics[pair]).items():
            interval, ends = row["metrics"][pair][metric], getattr(own.intervals[pair], metric)
            assert wanted is None or interval["value"] == pytest.approx(wanted, rel=1e-12)
            assert (interval["low"], interval["high"]) == (ends.low, ends.high)
    floor = seed_floor(own.network.losses).mean.max_abs_over_initial
    assert row["seed_floor"]["mean"]["max_abs_over_initial"] == pytest.approx(floor, rel=1e-12)


def test_starting_again_does_only_what_is_missing(spec, done, undisturbed, monkeypatch, capsys):
    gone = sorted((done / "tasks").glob("*.npz"))[::4]
    for path in gone:
        path.unlink()
    (done / "tasks" / f".{gone[0].name}.{'0' * 16}.tmp").write_bytes(b"half of")
    made = performed(monkeypatch)
    assert command(capsys, *arguments(spec, done))[0] == 0
    assert sorted(made) == gone
    assert contents(done) == contents(undisturbed)
    made.clear()
    assert command(capsys, *arguments(spec, done))[0] == 0
    assert made == []


@pytest.mark.parametrize("parts", [1, 3, 20])
def test_shards_add_up_to_the_whole(spec, tmp_path, capsys, undisturbed, parts):
    out = tmp_path / "out"
    for part in (*range(2, parts + 1), 1):
        code, said, _ = command(capsys, *arguments(spec, out, f"--shard={part}/{parts}", "--json"))
        assert (code, (out / "sweep.json").exists()) == (0, False)
    assert [row["seeds"] for row in json.loads(said)["rows"]] == 4 * [SEEDS]
    assert command(capsys, *arguments(spec, out))[0] == 0
    assert contents(out) == contents(undisturbed)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("training diverged"), 2, "seeds 8 to 9: training diverged"),
        (ZeroDivisionError("by 0"), 1, "seeds 8 to 9: a bug of symreln: ZeroDivisionError"),
    ],
)
def test_what_fails_is_told_and_the_rest_is_done(
    spec, tmp_path, capsys, monkeypatch, error, code, said
):
    genuine = tasks._networks

    def failing(task):
        if task.spec.network.hidden == 5 and 9 in task.seeds:
            raise error
        return genuine(task)

    monkeypatch.setattr(tasks, "_networks", failing)
    found, out, err = command(capsys, *arguments(spec, tmp_path / "out", "--json"))
    assert (found, err.count(said)) == (code, 2)
    rows = json.loads(out)["rows"]
    assert [row["seeds"] for row in rows] == [10, 10, 8, 8]
    (failure,) = rows[2]["failures"]
    assert said.startswith(failure["of"])
    assert failure["message"].startswith(said.partition(": ")[2])


def test_networks_of_a_theory_that_fails_are_left_out(spec, tmp_path):
    text = SPEC.replace('["1", "0", "c"], ["0", "2", "1"]', '["0", "0", "0"], ["0", "0", "0"]')
    spec.write_text(text.replace("[parameters.c]\npositive = true\nvalue = 1\n", ""))
    swept = sr.sweep(spec, {"network.hidden": [3]}, directory=tmp_path / "out")
    (row,) = swept.rows
    assert (row.seeds, row.verdict, row.level) == (0, None, "")
    assert [*swept.errors()] == [
        "sweep: network.hidden=3: theory: the targets are all zero, so there is nothing to learn "
        "and no loss to compare"
    ]
    assert "the targets are all zero" in repr(swept)


def test_names_depend_on_all_that_results_depend_on(spec, tmp_path):
    out = tmp_path / "out"

    def new(**more) -> int:
        before = set(contents(out))
        asked = {"over": {"network.hidden": [3]}, "directory": out, "seeds": 2, **more}
        sr.sweep(spec, **asked)
        return len(set(contents(out)) - before)

    assert new() == 2
    assert new() == 0
    assert new(seeds=SEEDS) == 2  # the first eight anew, and two
    assert new(rng=1) == 1  # the theory stays
    assert new(over={"network.hidden": [5, 3]}) == 2
    assert new(overrides=["network.steps=81"]) == 2
    spec.write_text(f"# a comment\n{SPEC}")
    assert new() == 0
    spec.write_text(SPEC.replace('"2", "0"', '"3", "0"'))
    assert new() == 2


def test_damage_is_said_with_its_mend(spec, done, capsys):
    path = next((done / "tasks").glob("theory-*"))
    data = path.read_bytes()
    for damaged in (b"", b"no archive", data[:-7], data[: len(data) // 2]):
        path.write_bytes(damaged)
        code, _, err = command(capsys, *arguments(spec, done))
        assert (code, f"{path.name}: it is damaged. Remove it" in err) == (2, True)
    np.savez(path, values=np.array([{}], dtype=object), allow_pickle=True)
    assert command(capsys, *arguments(spec, done))[0] == 2  # no pickle is read


def test_no_changed_byte_changes_what_is_read_unseen(done):
    path = next((done / "tasks").glob("networks-*"))
    task = tasks.Task(row=0, spec=sr.load("xor"), rng=0, theory=path)
    data, (_, whole) = path.read_bytes(), tasks.result_of(task)
    refused, places = 0, range(0, len(data), 7)
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :])
        try:
            _, found = tasks.result_of(task)
        except InputError:  # any other error would be called a bug of symreln
            refused += 1
            continue
        assert all(np.array_equal(found.get(name), array) for name, array in whole.items())
    assert refused > len(places) / 2


def test_files_that_cannot_be_written_end_the_sweep(spec, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "theory.npz")

    monkeypatch.setattr(tasks, "write_bytes", full)
    code, _, err = command(capsys, *arguments(spec, tmp_path / "out"))
    assert (code, "No space left on device" in err) == (2, True)


def test_a_row_a_combination(spec, tmp_path, capsys):
    out = tmp_path / "out"
    asked = ("--over", "network.loss=sum,mean", "--over", "network.hidden=3,40")
    code, said, _ = command(
        capsys, "sweep", str(spec), *asked, "--seeds", "2", "--workers", "3", "--out", str(out)
    )
    assert code == 0
    summary = json.loads((out / "sweep.json").read_text("utf-8"))
    assert summary["format"] == "symreln-sweep/2"
    lines = [line.split() for line in said.splitlines()]
    for row in summary["rows"]:
        loss, hidden = (text.partition("=")[2] for text in row["over"])
        (line,) = [line for line in lines if line[:3] == [loss, hidden, "2"]]
        worst = row["metrics"]["theory_vs_relu"]["max_abs_over_initial"]
        assert float(line[3]) == pytest.approx(100 * worst["value"], rel=0.06)
        assert float(line[5].strip("[,")) == pytest.approx(100 * worst["low"], rel=0.06)
    assert said.rstrip().endswith("sweep.json")


def test_a_name_its_spec_and_the_spec_of_arrays_give_the_same_rows(tmp_path):
    small = {"network.hidden": 12, "network.steps": 40}
    asked = {"over": {"network.init_std": ["1/10", "1/20"]}, "seeds": 2}
    loaded = sr.load("linear-hierarchy", small)
    x, y = (matrix.T for matrix in loaded.dataset.arrays)
    kept = ("init_std", "learning_rate", "loss", "activation", "hidden", "steps")
    network = sr.network(**{name: getattr(loaded.network, name) for name in kept})
    pathways = [sr.pathway(path.name) for path in loaded.pathways]
    arrays = sr.spec(x, y, pathways=pathways, network=network)
    named = sr.sweep("linear-hierarchy", directory=tmp_path / "1", overrides=small, **asked)
    for place, each in enumerate((loaded, arrays), start=2):
        assert sr.sweep(each, directory=tmp_path / f"{place}", **asked).rows == named.rows
    assert repr(named).startswith('sweep of 2 combinations\nnetwork.init_std="1/10": closed; loss ')
    # The folder holds the spec, which the command takes as well; it is one spec's.
    assert sr.load(tmp_path / "3" / "spec.toml").network == loaded.network
    other = sr.load("linear-hierarchy", {**small, "network.hidden": 13})
    with pytest.raises(InputError, match="another spec"):
        sr.sweep(other, directory=tmp_path / "3", **asked)


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
