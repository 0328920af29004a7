"""Gates of trained networks as a user asks for them: K-means, replays, and their files."""

from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.errors import InputError
from symreln.gating.observed import nearest_observer, observe, predicted_shares
from symreln.gating.replay import _spec_schedule, schedule_errors
from tests.gating.planted import planted

SMALL = {"network.hidden": 30, "network.steps": 801, "network.init_std": "1/1000"}


@pytest.fixture(scope="module")
def kmeans():
    return sr.gates(sr.load("xor", SMALL), "kmeans", seeds=3, every=50, clusters=4)


def test_kmeans_of_xor(kmeans, tmp_path: Path) -> None:
    found = kmeans.to_json()
    assert (found["format"], found["method"], found["clusters"]) == ("symreln-gates/2", "kmeans", 4)
    assert (found["criterion"], found["networks"]["every"]) == ("given", 50)
    assert sum(each["share"] for each in found["centroids"]) == pytest.approx(1)
    for each in found["centroids"]:
        opened = "".join("1" if value > 0.5 else "0" for value in each["centroid"])
        assert opened == each["pattern"]
        assert each["partial"] == [k for k, v in enumerate(each["centroid"]) if 0.1 < v < 0.9]
    runs = found["stability"]
    assert (runs["runs"], runs["clusters"]) == (3, {"4": 3})
    assert 0 <= runs["runs_with_all_spec_gates"] <= 3
    assert len(found["replay"]["errors"]["algorithm 1"]["each"]) == 2
    assert len(found["coverage"]["exact"]) == len(found["coverage"]["steps"]) == 16
    text = "\n".join(kmeans.lines())
    assert f"all gates of the spec in {runs['runs_with_all_spec_gates']} of 3" in text
    assert text.count("\n") < 30
    kmeans.save(tmp_path)
    spec = sr.load(tmp_path / "gates.toml")
    patterns = ["".join(map(str, pathway.gate)) for pathway in spec.pathways]
    kept = [each["pattern"] for each in found["centroids"] if each["pathway"]]
    assert patterns == list(dict.fromkeys(kept))
    assert spec.dataset.labels == sr.load("xor").dataset.labels
    assert sr.derive(spec).to_json()["free_constants"] == 1  # half of the units, for each pathway
    again = sr.gates(sr.load("xor", SMALL), "kmeans", seeds=3, every=50, clusters=4)
    assert again.to_json() == found
    one = sr.gates(sr.load("xor", SMALL), "kmeans", seeds=1, clusters=4).to_json()
    assert "stability" not in one
    assert one["networks"]["every"] == 100


def test_replay_of_a_spec(tmp_path: Path) -> None:
    spec = sr.load("xor", SMALL)
    answer = sr.replay(spec, every=20)
    found = answer.to_json()
    assert (found["format"], found["curve"]) == ("symreln-replay/1", [])
    trained = observe(spec.at_values(), seeds=2, steps=tuple(range(1, 801, 20)))
    errors = schedule_errors(trained, _spec_schedule(spec.at_values(), trained))
    assert found["spec"]["each"] == pytest.approx(errors.each, abs=1e-9)
    assert [*answer.files()] == ["replay.json"]
    assert "% of L(0)" in next(answer.lines())
    # The more windows, the nearer are each unit's own gates; K gates have no fewer than they can.
    large = {**SMALL, "network.init_std": "1/5", "network.steps": 61}
    curve = sr.replay(sr.load("xor", large), curve=True, every=1)
    points = curve.to_json()["curve"]
    own = {each["windows"]: each["mean"] for each in points if each["clusters"] is None}
    assert own[1] > 3 * own[max(own)]
    assert {each["gates"] for each in points} == {"own", "clusters"}
    assert [*curve.files()] == ["replay.json", "replay.svg"]
    assert "K = 4" in "\n".join(curve.lines())


def test_gates_of_a_spec_take_part_as_they_switch() -> None:
    pathways = [
        {"name": f"p{k}", "gate": "all", "then": [{"step": 100, "gate": f"sample == {k}"}]}
        for k in (1, 2, 3, 4)
    ]
    network = {"hidden": 30, "init_std": "1/1000", "learning_rate": "1/100", "steps": 801}
    data = {"task": "xor", "Delta": 0}
    spec = sr.load({"dataset": data, "pathway": pathways, "network": network})
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


def tables(x: list, y: list, hidden: int = 4, **network: object) -> dict:
    net = {"hidden": hidden, "init_std": 0.1, "learning_rate": 0.01, "steps": 60, **network}
    return {"dataset": {"X": x, "Y": y}, "pathway": [{"name": "all"}], "network": net}


PLAIN = [[1, 0, 1], [0, 1, 1]], [[1, 2, 3]]


@pytest.mark.parametrize(
    ("given", "asked", "message"),
    [
        (tables(*PLAIN), {"clusters": 50}, "K-means: found K = 50 for"),
        (tables([[1, 1], [2, 2]], [[1, 1]]), {}, "all 2 samples have the same inputs"),
        (tables([[1, 0, 1], [2, 2, 2]], [[1, 0, 0]]), {}, "samples 0 and 2 (counted from 0)"),
        (tables(*PLAIN, activation="linear"), {}, "network.activation is 'linear'"),
        (tables(*PLAIN, batch_size=2), {}, "network.batch_size = 2"),
        ("depth", {}, "a linear network has no gates"),
        ({**tables(*PLAIN), "network": None}, {}, "network"),
        (tables(*PLAIN, steps=1), {}, "network.steps of at least 2"),
        (
            tables([[1, 2, 3]], [[1, 2, 3]], hidden=1),
            {"rng": 1, "seeds": 1},
            "hidden units of 1 networks are dead",
        ),
    ],
)
def test_bad_input(given: dict | str, asked: dict, message: str) -> None:
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if value is not None}
    with pytest.raises(InputError) as told:
        sr.gates(sr.load(given), "kmeans", every=10, **asked)
    assert message in str(told.value)


def test_a_quarter_of_the_predicted_weight_ends_on_each_sample_of_xor():
    """By symmetry; and what no unit learns, or decays, has no shares."""
    spec = sr.load("xor", {"parameters.Delta.value": 0}).at_values()
    inputs = spec.dataset.inputs.to_numpy()
    alone = [(tuple(2 * row - 1),) for row in np.eye(4, dtype=int)]
    nearest = nearest_observer(inputs, [*alone, ((1, 1, 1, 1),)])
    shares, errors = predicted_shares(spec, nearest, 5)
    assert shares.sum() == pytest.approx(1)
    assert shares[:4] == pytest.approx(0.25, abs=0.02)
    assert np.all(errors[:4] < 0.01)
    for key, value in (("network.steps", 3), ("network.weight_decay", "1/100")):
        other = sr.load("xor", {"parameters.Delta.value": 0, key: value}).at_values()
        assert predicted_shares(other, nearest, 5) is None
