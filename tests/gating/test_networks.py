"""Gates of trained networks as a user asks for them: K-means, replays, and their files."""

from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.errors import InputError
from symreln.gating.confronted import ClassShare
from symreln.gating.observed import nearest_observer, observe, predicted_shares
from symreln.gating.replay import replay_errors

SMALL = {"network.hidden": 30, "network.steps": 801, "network.init_std": "1/1000"}


@pytest.fixture(scope="module")
def kmeans():
    return sr.gates(sr.load("xor", SMALL), "kmeans", seeds=3, every=50, clusters=4)


def test_kmeans_of_xor(kmeans, tmp_path: Path) -> None:
    found = kmeans.to_json()
    assert (found["format"], found["method"]) == ("symreln-gates/3", "kmeans")
    assert (len(found["centroids"]), found["networks"]["every"]) == (4, 50)
    assert sum(each["share"] for each in found["centroids"]) == pytest.approx(1)
    for each in found["centroids"]:
        opened = "".join("1" if value > 0.5 else "0" for value in each["centroid"])
        assert opened == each["pattern"]
        assert each["partial"] == [k for k, v in enumerate(each["centroid"]) if 0.1 < v < 0.9]
    runs = found["stability"]
    assert (runs["runs"], runs["clusters"]) == (3, {"4": 3})
    assert 0 <= runs["runs_with_all_spec_gates"] <= 3
    assert len(found["replay"]["each"]) == 2
    assert len(found["coverage"]["exact"]) == len(found["coverage"]["steps"]) == 16
    text = "\n".join(kmeans.lines())
    assert f"all gates of the spec in {runs['runs_with_all_spec_gates']} of 3" in text
    assert text.count("\n") < 30
    kmeans.save(tmp_path)
    spec = sr.load(tmp_path / "gates.toml")
    patterns = ["".join(map(str, pathway.gate)) for pathway in spec.pathways]
    kept = [each["pattern"] for each in found["centroids"] if "1" in each["pattern"]]
    assert patterns == list(dict.fromkeys(kept))
    assert spec.dataset.labels == sr.load("xor").dataset.labels
    assert sr.derive(spec).to_json()["free_constants"] == 1  # half of the units, for each pathway
    again = sr.gates(sr.load("xor", SMALL), "kmeans", seeds=3, every=50, clusters=4)
    assert again.to_json() == found
    one = sr.gates(sr.load("xor", SMALL), "kmeans", seeds=1, clusters=4).to_json()
    assert "stability" not in one
    assert one["networks"]["every"] == 100


def test_replay_of_gates_that_switch() -> None:
    """Each unit takes the gate, or none, that leaves its outputs nearest when the phase ends."""
    pathways = [
        {"name": f"p{k}", "gate": "all", "then": [{"step": 500, "gate": f"sample == {k}"}]}
        for k in (1, 2, 3, 4)
    ]
    network = {"hidden": 30, "init_std": "1/1000", "learning_rate": "1/100", "steps": 801}
    data = {"task": "xor", "Delta": 0}
    spec = sr.load({"dataset": data, "pathway": pathways, "network": network}).at_values()
    answer = sr.replay(spec)
    found = answer.to_json()
    assert (found["format"], found["own"], found["units"]) == ("symreln-replay/2", {}, [])
    first = {"w1": lambda step, weights: weights[0]}
    trained = observe(spec, seeds=2, steps=(499, 800), observers=first)
    seen, gates = trained.seen["w1"] @ trained.inputs, {}
    for look, (start, known) in enumerate({0: [[1] * 4], 500: np.eye(4).tolist()}.items()):
        options = np.array([[0] * 4, *known])
        off = [np.square(np.maximum(seen[:, look], 0) - g * seen[:, look]).sum(-1) for g in options]
        gates[start] = options[np.argmin(off, axis=0)]
    assert found["spec"]["each"] == pytest.approx(replay_errors(trained, gates).each, abs=1e-9)
    assert [*answer.files()] == ["replay.json"]
    assert "% of L(0)" in next(answer.lines())


def test_own_gates_and_few_units_of_networks() -> None:
    answer = sr.replay(sr.load("xor", SMALL), curve=True, every=1)
    found = answer.to_json()
    own = [each["mean"] for each in found["own"].values()]
    assert [*found["own"]] == ["1", "4", "16", "64", "256", "801"]
    assert own[0] > 10 * own[-2]
    assert own[-1] < 1e-9
    for points in found["units"]:
        counts, errors = zip(*((p["count"], p["distance"]) for p in points), strict=True)
        assert counts == tuple(sorted(counts))
        assert errors == tuple(sorted(errors, reverse=True))
        assert counts[0] == 4  # one unit a gate nearly is the network
        assert errors[0] < 0.02
    assert "4 units" in [*answer.lines()][-1]


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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network.weight_decay": "1/100"}, "replayed without network.weight_decay"),
        ({"pathway.sample_1.gate": ["1/2", 0, 0, 0]}, "'sample_1' has gains"),
        ({"network.steps": 1}, "network.steps of at least 2"),
    ],
)
def test_no_replay_of_what_it_has_not(given: dict, message: str) -> None:
    with pytest.raises(InputError) as told:
        sr.replay(sr.load("xor", given), curve=True)
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


def test_shares_agree_within_three_standard_errors_or_a_thousandth() -> None:
    known = {"pattern": "10", "predicted": 0.5, "predicted_error": 0.03, "units": 0.5}
    for measured, spread, seeds, agrees in (
        (0.64, 0.08, 4, True),  # error √(0.03² + 0.04²) = 0.05
        (0.66, 0.08, 4, False),
        (0.62, 0.08, 100, False),  # error 0.031
    ):
        share = ClassShare(**known, measured=measured, spread=spread)
        assert share.agrees(seeds) is agrees
    exact = {**known, "predicted_error": 0.0, "spread": 0.0}
    assert ClassShare(**exact, measured=0.5009).agrees(2)
    assert not ClassShare(**exact, measured=0.5011).agrees(2)
