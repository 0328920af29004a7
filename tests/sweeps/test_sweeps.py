"""Sweeps are done once, exactly, whoever does them and whatever ends them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import symreln as sr
from symreln.base import pool
from symreln.errors import InputError, NotSupportedError
from tests.campaigns.random_specs import toml_of
from tests.cli.command import Here, command
from tests.cli.test_limits import gone, wait_for
from tests.own_specs import LINEAR, own, path

SPEC = toml_of(
    own(
        [["2", "0", "1"], ["0", "1", "1"]],
        [["1", "0", "c"], ["0", "2", "1"]],
        path("all"),
        parameters={"c": {"positive": True, "value": 1}},
        network=LINEAR | {"hidden": 4, "init_std": "1/10", "steps": 80},
    )
)
OVER = ["network.hidden=3,5", "parameters.c.value=1,1/2"]
SEEDS = 4


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Start no processes; other programs do, and :func:`swept`."""
    monkeypatch.setattr(pool, "processes", Here)


@pytest.fixture(scope="module")
def spec(tmp_path_factory) -> Path:
    """The spec in a file."""
    path = tmp_path_factory.mktemp("spec") / "two.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def swept(spec):
    """A sweep that nothing disturbs, and its folder."""
    out = spec.parent / "out"
    found = sr.sweep(spec, OVER, directory=out, seeds=SEEDS, workers=2)
    found.save(out)
    return found, out


def written(folder: Path) -> dict[str, tuple[bytes, int]]:
    """What each combination's file holds, and when it was written."""
    every = folder.glob("tasks/*.json")
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in every}


def typed(spec: Path, out: Path, *more: object) -> list:
    over = [word for text in OVER for word in ("--over", text)]
    return ["sweep", spec, *over, "--seeds", SEEDS, "--out", out, "-q", *more]


def test_a_sweep_says_what_validate_says(swept):
    found, _ = swept
    assert [row["over"] for row in found.to_json()["rows"]] == [
        [f"network.hidden={hidden}", f"parameters.c.value={c}"]
        for hidden in ("3", "5")
        for c in ("1", "1/2")
    ]
    row, told = found.rows[2], found.to_json()["rows"][2]
    own = sr.validate(
        sr.load(found.found.source, {"network.hidden": 5}), seeds=SEEDS, diagnosis=False
    )
    assert (row.seeds, row.level, row.judged) == (SEEDS, "coupled matrices", own.judged)
    assert row.verdict == own.verdicts["loss"]
    assert row.metrics == own.intervals
    assert row.floor == own.floor
    interval = told["metrics"]["theory_vs_relu"]["max_abs_over_initial"]
    assert interval == vars(own.intervals["theory_vs_relu"].max_abs_over_initial)
    assert found.exit_code == 0
    assert [*found.files()] == ["sweep.json"]


def test_only_what_is_missing_is_done_whole_or_in_parts(spec, swept, tmp_path):
    (_, done), out = swept, tmp_path / "out"
    parts = [command(*typed(spec, out, f"--shard={part}/3", "--json")) for part in (2, 3, 1)]
    assert [each.code for each in parts] == [0, 0, 0]
    assert not (out / "sweep.json").exists()
    assert [row["seeds"] for row in json.loads(parts[-1].out)["rows"]] == 4 * [SEEDS]
    before = written(out)
    gone = sorted((out / "tasks").iterdir())[1]
    gone.unlink()
    shown = command(*typed(spec, out))
    assert shown.code == 0
    after = written(out)
    assert [name for name in after if after[name] != before[name]] == [gone.name]
    assert {name: data for name, (data, _) in after.items()} == {
        name: data for name, (data, _) in written(done).items()
    }
    assert (out / "sweep.json").read_bytes() == (done / "sweep.json").read_bytes()
    assert shown.out.rstrip().endswith("sweep.json")


def test_names_depend_on_all_that_results_depend_on(spec, tmp_path):
    out, own = tmp_path / "out", tmp_path / "own.toml"
    own.write_text(SPEC)

    def new(**more) -> int:
        before = {*written(out)}
        asked = {"over": {"network.hidden": [3]}, "seeds": 2, **more}
        sr.sweep(own, directory=out, **asked)
        return len({*written(out)} - before)

    assert [new(), new(), new(seeds=3), new(rng=1)] == [1, 0, 1, 1]
    assert [new(over={"network.hidden": [5, 3]}), new(overrides=["network.steps=81"])] == [1, 1]
    own.write_text(f"# a comment\n{SPEC}")
    assert new() == 0
    own.write_text(SPEC.replace('"2", "0"', '"3", "0"'))
    assert new() == 1


def test_what_fails_is_told_and_the_rest_is_done(spec, tmp_path):
    over = {"network.init_std": ["1/10", "1000"]}
    found = sr.sweep(spec, over, directory=tmp_path, seeds=2)
    assert [row.seeds for row in found.rows] == [2, 0]
    assert found.exit_code == 2
    (said,) = found.errors()
    assert said.startswith('sweep: network.init_std="1000": ')
    assert "diverge" in said
    assert "diverge" in repr(found)
    assert found.to_json()["rows"][1]["failure"] in said


def test_damage_is_said_with_its_mend(spec, swept, tmp_path):
    _, done = swept
    path = next((done / "tasks").iterdir())
    whole = path.read_bytes()
    try:
        for damaged in (b"", b"no JSON", whole[:-7], b"[]", b'{"verdict": 3}', b"\xff"):
            path.write_bytes(damaged)
            found = command(*typed(spec, done))
            assert (found.code, f"{path.name}: it is damaged. Remove it" in found.err) == (2, True)
    finally:
        path.write_bytes(whole)


WRONG = [
    ([], InputError, "no --over"),
    (["network.hidden"], InputError, "KEY=VALUE"),
    (["network.hidden="], InputError, "no value"),
    (["network.hidden=[]"], InputError, "no value"),
    (["network.hidden=3,,5"], InputError, "no value"),
    (["network.hidden=3,5,3"], InputError, "3 stands there twice"),
    (["network hidden=3"], InputError, "network hidden"),
    (["=3"], InputError, "--over"),
    (["network.hidden=1", "network.hidden=2"], InputError, "another --over"),
    (["network.hidden=[1"], InputError, "--over"),
    (["network.steps=3,4"], InputError, "--set gives this key too"),
    (["network.hiden=1,2"], InputError, 'Did you mean "hidden"'),
    (["network.steps=60,0"], InputError, "network.steps=0"),
    ((3, {"network.hidden": [4]}), InputError, "sweep: found 3; give a Spec"),
    (("routing", {"network.steps": [5, 6]}), NotSupportedError, "nodes and edges"),
    (("contextual-C", {"network.steps": [5]}), NotSupportedError, "Give the file or the name"),
    (("xor", {"dataset.scale": [1, 2]}), InputError, "sr.sweep('xor', …)"),
]


@pytest.mark.parametrize(("asked", "error", "said"), WRONG)
def test_what_is_wrong_is_said_before_any_training(asked, error, said, spec, tmp_path):
    source, over = (spec, asked) if isinstance(asked, list) else asked
    if isinstance(source, str):
        source = sr.load(source)
    overrides = ["network.steps=5"] * ("--set" in said)
    with pytest.raises(error) as told:
        sr.sweep(source, over, directory=tmp_path / "out", overrides=overrides)
    assert said in str(told.value)
    assert not (tmp_path / "out" / "tasks").exists()


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


@pytest.mark.parametrize("what", ["worker", "interrupt"])
def test_what_is_killed_goes_on_where_it_was(what, spec, tmp_path):
    out = tmp_path / "out"
    values = ",".join(map(str, range(3, 7)))
    asked = ["sweep", spec, "--over", f"network.hidden={values}", "--seeds", "32", "--out", out]
    asked = [sys.executable, "-m", "symreln", *map(str, asked), "--workers", "1", "-q"]
    client = psutil.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not written(out):
        assert client.poll() is None, "the command ended before it was killed"
        time.sleep(0.005)
    own = [each for each in client.children() if "spawn_main" in " ".join(each.cmdline())]
    if what == "worker":
        own[0].kill()
    else:
        client.send_signal(signal.SIGINT)
    _, said = client.communicate(timeout=60)
    ends = {"worker": 4, "interrupt": 130}
    says = {"worker": b"start the same command again", "interrupt": b"symreln: interrupted; what"}
    assert client.returncode == ends[what]
    assert says[what] in said
    assert b"Traceback" not in said
    wait_for(lambda: all(map(gone, own)))  # nobody goes on for a command that was killed
    before = written(out)
    assert before
    assert not (out / "sweep.json").exists()
    if what == "worker":
        assert subprocess.run(asked, capture_output=True, check=True).stderr == b""
        assert before.items() <= written(out).items(), "what was done is not done again"
        assert len(written(out)) == 4
