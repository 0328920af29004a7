"""``symreln gates --method kmeans|windows`` and ``symreln replay`` as a user calls them."""

import json
from pathlib import Path

import numpy as np
import pytest

from symreln.cli.main import main
from symreln.gating.observed import observe
from symreln.gating.replay import _spec_schedule, schedule_errors
from symreln.task_library.load import load
from tests.gating.trained import planted

SMALL = [
    "--set",
    "network.hidden=30",
    "--set",
    "network.steps=801",
    "--set",
    "network.init_std=1e-3",
]


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--quiet"])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_kmeans_of_xor(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = ["--out", str(tmp_path), "--seeds", "3", "--every", "50"]
    assert call("gates", "xor", "--method", "kmeans", "--clusters", "4", *SMALL, *out) == 0
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "gates.json").read_text())
    assert (found["format"], found["method"], found["clusters"]) == ("symreln-gates/2", "kmeans", 4)
    assert found["criterion"] == "given"
    assert sum(each["share"] for each in found["centroids"]) == pytest.approx(1)
    for each in found["centroids"]:
        opened = "".join("1" if value > 0.5 else "0" for value in each["centroid"])
        assert opened == each["pattern"]
        between = [k for k, value in enumerate(each["centroid"]) if 0.1 < value < 0.9]
        assert each["partial"] == between
    assert found["stability"]["runs"] == 3
    assert found["stability"]["clusters"] == {"4": 3}
    assert 0 <= found["stability"]["runs_with_all_spec_gates"] <= 3
    assert f"{found['stability']['runs_with_all_spec_gates']} of 3" in shown
    assert len(found["replay"]["errors"]["algorithm 1"]["each"]) == 2
    assert len(found["coverage"]["exact"]) == len(found["coverage"]["steps"]) == 16
    spec = load(str(tmp_path / "gates.toml"))
    patterns = ["".join(map(str, pathway.gate)) for pathway in spec.pathways]
    kept = [each["pattern"] for each in found["centroids"] if each["pathway"]]
    assert patterns == list(dict.fromkeys(kept))
    assert spec.dataset.labels == load("xor").dataset.labels
    # The other spelling is the same method.
    again = ["--out", str(tmp_path / "again"), *out[2:]]
    assert call("gates", "xor", "--method", "kmeans", "--clusters", "4", *SMALL, *again) == 0
    assert json.loads((tmp_path / "again" / "gates.json").read_text()) == found


def test_windows_of_xor_are_a_spec_that_switches(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path), "--seeds", "2", "--every", "50"]
    many = ["--windows", "6", "--clusters", "6"]
    assert call("gates", "xor", "--method", "windows", *SMALL, *out, *many) == 0
    found = json.loads((tmp_path / "gates.json").read_text())
    assert found["windows_criterion"] == "given"
    assert found["networks"]["every"] == 10
    starts = [piece["from_step"] for piece in found["pieces"]]
    assert starts == sorted(starts)
    assert starts[0] == 0
    assert set(found["replay"]["errors"]) == {
        "algorithm 1",
        "one window",
        "windows",
        "every unit its own gate in each window",
    }
    spec = load(str(tmp_path / "gates.toml"))
    for piece in found["pieces"]:
        patterns = [each["pattern"] for each in piece["clusters"]]
        assert all(each["pathway"] for each in piece["clusters"])  # else a gate would be kept
        now = spec.during(piece["from_step"]).pathways
        assert ["".join(map(str, pathway.gate)) for pathway in now] == patterns
    assert len(spec.switches) > 0
    assert spec.network == load("xor", [text for text in SMALL if "=" in text]).network


def test_derive_takes_what_was_found(tmp_path: Path) -> None:
    out = ["--seeds", "1", "--out", str(tmp_path / "found")]
    assert call("gates", "xor", "--method", "kmeans", "--clusters", "4", *SMALL, *out) == 0
    found = json.loads((tmp_path / "found" / "gates.json").read_text())
    assert "stability" not in found
    given = str(tmp_path / "found" / "gates.toml")
    derived = ["--out", str(tmp_path / "derived"), "--format", "json"]
    assert call("derive", given, *derived) == 0
    derivation = json.loads((tmp_path / "derived" / "derivation.json").read_text())
    assert derivation["free_constants"] == 1  # half of the units, for every pathway


def test_replay_of_a_spec(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    arguments = ["--every", "20", "--out", str(tmp_path)]
    assert call("replay", "xor", *SMALL, *arguments) == 0
    found = json.loads((tmp_path / "replay.json").read_text())
    assert (found["format"], found["curve"]) == ("symreln-replay/1", [])
    spec = load("xor", [text for text in SMALL if "=" in text]).at_values()
    trained = observe(spec, seeds=2, steps=tuple(range(1, 801, 20)))
    errors = schedule_errors(trained, _spec_schedule(spec, trained))
    assert found["spec"]["each"] == pytest.approx(errors.each, abs=1e-9)
    assert not (tmp_path / "replay.svg").exists()
    assert "% of L(0)" in capsys.readouterr().out


def test_gates_of_a_spec_take_part_as_they_switch(tmp_path: Path) -> None:
    found = tmp_path / "switching.toml"
    table = "\n".join(
        f'[[pathway]]\nname = "p{k}"\ngate = "all"\nthen = [{{step = 100, gate = "sample == {k}"}}]'
        for k in (1, 2, 3, 4)
    )
    found.write_text(
        'title = "x"\n[dataset]\ntask = "xor"\nDelta = 0\n' + table + "\n[network]\nhidden = 30\n"
        'init_std = "1/1000"\nlearning_rate = "1/100"\nsteps = 801\n'
    )
    spec = load(str(found))
    # Looks are after updates 1, 2, …, 200. One unit opens all samples and then the second alone;
    # one is closed for most of the first phase only; one is open on two samples, as no pathway is.
    active = np.zeros((1, 200, 3, 4), dtype=bool)
    active[0, :99, 0] = active[0, 60:, 1] = True
    active[0, 99:, 0, 1] = True
    active[0, :, 2, :2] = True
    schedule = _spec_schedule(spec, planted(active, np.ones(3)))
    assert schedule.starts == (0, 100)
    assert schedule.gates[:, 0].astype(int).tolist() == [
        [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]],
        [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]],
    ]


def spec_text(inputs: str, targets: str, hidden: int = 4, activation: str = "relu") -> str:
    return (
        f"[dataset]\nX = {inputs}\nY = {targets}\n[[pathway]]\nname = 'all'\ngate = 'all'\n"
        f"[network]\nhidden = {hidden}\ninit_std = 0.1\nlearning_rate = 0.01\nsteps = 60\n"
        f"activation = '{activation}'\n"
    )


PLAIN = "[[1, 0, 1], [0, 1, 1]]", "[[1, 2, 3]]"


@pytest.mark.parametrize("method", ["kmeans", "windows"])
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (spec_text(*PLAIN), ["--clusters", "50"], "K-means: found K = 50 for"),
        (spec_text("[[1, 1], [2, 2]]", "[[1, 1]]"), [], "all 2 samples have the same inputs"),
        (
            spec_text("[[1, 0, 1], [2, 2, 2]]", "[[1, 0, 0]]"),
            [],
            "samples 0 and 2 (counted from 0) have the same inputs and different targets",
        ),
        (spec_text(*PLAIN, activation="linear"), [], "network.activation is 'linear'"),
        (spec_text(*PLAIN).split("[network]")[0], [], "network"),
        (
            spec_text("[[1, 2, 3]]", "[[1, 2, 3]]", hidden=1),
            ["--rng", "1", "--seeds", "1"],
            "hidden units of 1 networks are dead",
        ),
    ],
)
def test_bad_input(
    method: str,
    text: str,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
) -> None:
    spec = tmp_path / "given.toml"
    spec.write_text(text)
    out = ["--out", str(tmp_path / "out"), "--every", "10", *arguments]
    assert call("gates", str(spec), "--method", method, *out) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out" / "gates.json").exists()


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("kmeans", "--samples"),
        ("windows", "--limit"),
        ("kmeans", "--windows"),
        ("kmeans", "--stages"),
        ("enumerate", "--stages"),
        ("enumerate", "--clusters"),
        ("enumerate", "--seeds"),
    ],
)
def test_options_of_another_method(
    method: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert call("gates", "xor", "--method", method, option, "3", "--out", str(tmp_path)) == 2
    message = capsys.readouterr().err
    assert f"{option} has no meaning with --method {method}" in message


def test_more_windows_than_looks(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    arguments = ["--method", "windows", "--windows", "500", "--out", str(tmp_path)]
    assert call("gates", "xor", *SMALL, *arguments) == 2
    assert "found 500 windows for 40 looks" in capsys.readouterr().err
