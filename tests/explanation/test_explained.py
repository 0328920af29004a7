"""Networks with a known answer, explained from their weights; and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.calls.paper_page import Page
from symreln.errors import CertificateError, InputError, SpecError
from symreln.explanation.history import read_history
from symreln.explanation.recorded import recorded
from tests.cli.command import command

X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
Y = np.array([1.0, -1, -1, 1])
HIDDEN, RATE, STEPS, EVERY = 60, 0.05, 1201, 20
GIVEN = sr.network(hidden=HIDDEN, init_std="1/1000", learning_rate=RATE, steps=STEPS, loss="mean")


def trained(x, y, *, hidden=HIDDEN, rate=RATE, steps=STEPS, std=1e-3, biased=False, batch=None):
    """Train a network in the plainest way; return its history."""
    random = np.random.default_rng(5)
    x, y = np.asarray(x, float).T, np.asarray(y, float).reshape(len(y), -1).T
    w, b = (
        std * random.standard_normal((hidden, len(x))),
        std * random.standard_normal((len(y), hidden)),
    )
    shift, held, kept = np.zeros((hidden, 1)), np.zeros((len(y), 1)), []
    for step in range(steps):
        seen = w @ x + shift
        error = y - b @ np.maximum(seen, 0) - held
        if step % EVERY == 0:
            loss = 0.5 * np.square(error).sum() / x.shape[1]
            kept.append((step, w.copy(), b.copy(), shift[:, 0].copy(), held[:, 0].copy(), loss))
        part = slice(None) if batch is None else random.choice(x.shape[1], batch, replace=False)
        drive = ((b.T @ error) * (seen > 0))[:, part]
        size = drive.shape[1]
        b = b + rate * error[:, part] @ np.maximum(seen, 0)[:, part].T / size
        w = w + rate * drive @ x[:, part].T / size
        if biased:
            shift = shift + (biased is True) * rate * drive.mean(axis=1, keepdims=True)
            held = held + rate * error[:, part].mean(axis=1, keepdims=True)
    names = ("steps", "W1", "W2", "b1", "b2", "losses")
    found = dict(zip(names, map(np.array, zip(*kept, strict=True)), strict=True))
    left = {True: (), "outputs": ("b1",), False: ("b1", "b2")}[biased]
    return {name: rows for name, rows in found.items() if name not in left}


@pytest.fixture(scope="module")
def history():
    return trained(X, Y)


@pytest.fixture(scope="module")
def explained(history):
    return sr.explain(history, X, Y)


def test_a_network_on_xor_is_four_neurons(explained):
    """One for each sample, open on it alone and sliding along two others."""
    told = explained.to_json()
    assert {unit["gate"] for unit in told["units"]} == {"1//0", "0//1", "/10/", "/01/"}
    assert all(unit["certified"] for unit in told["units"])
    assert told["replay"][0]["count"] == 4
    assert told["replay"][0]["max_abs_over_initial"] < 0.01
    assert told["needed"]["0.01"] == 4
    # All units, from their own weights, are the network itself.
    assert told["replay"][-1]["count"] == HIDDEN
    assert told["replay"][-1]["max_abs_over_initial"] < 1e-9
    assert told["theory"]["judged"] == "closed"
    assert told["theory"]["max_abs_over_initial"] < 0.06


def test_gates_that_are_held_slide_along_their_boundaries():
    """Of two samples that are not orthogonal each pushes units onto the boundary of the other.

    Closed there without sliding they would turn into it, and leave a fifth of the loss.
    """
    x, y = np.array([[1.0, 0], [0.5, 0.9]]), np.array([1.0, -1])
    told = sr.explain(trained(x, y), x, y).to_json()
    assert {unit["gate"] for unit in told["units"]} == {"1/", "/1"}
    left = {row["assumption"]: row for row in told["left"]}
    assert left["gates that stay"]["distance_before"] < 0.01


def test_steps_are_replaced_alone(explained):
    left = {row["assumption"]: row for row in explained.to_json()["left"]}
    steps = left["infinitely small steps"]
    assert steps["distance_after"] == explained.to_json()["theory"]["max_abs_over_initial"]
    assert abs(steps["distance_before"] - steps["distance_after"]) > 1e-3


def test_the_rate_is_measured(explained, history):
    told = explained.to_json()
    assert told["rate"]["value"] == pytest.approx(RATE, rel=1e-4)
    assert told["rate"]["off"] < 1e-6
    assert told["free_constants"] == 2
    assert sr.explain(history, X, Y, network=GIVEN).to_json()["free_constants"] == 0


def test_a_spec_of_data_alone_needs_no_network(explained, history, tmp_path, monkeypatch):
    """In Python as from the command line."""
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=X, Y=Y[:, None])
    (tmp_path / "spec.toml").write_text('[dataset]\ndata = "data.npz"\n')
    told = sr.explain(history, "spec.toml").to_json()
    assert told["free_constants"] == 2
    assert told["units"] == explained.to_json()["units"]
    np.savez("history.npz", **history)
    assert command("explain", "history.npz", "spec.toml", "--out", "out", "--quiet").code == 0
    assert json.loads((tmp_path / "out/explanation.json").read_text()) == json.loads(
        json.dumps(told)
    )


def test_strengths_of_the_network_lie_on_their_formulas(explained, history):
    """Each neuron's measured strength is that of its own map, computed here."""
    told = explained.to_json()
    for unit in told["units"]:
        at = unit["strength"]["steps"].index(STEPS - 1)
        assert unit["strength"]["measured"][at] == pytest.approx(2**0.5 / 2, rel=0.02)
        assert unit["strength"]["derived"][at] == pytest.approx(2**0.5 / 2, rel=0.02)
    for window in told["windows"]:
        assert sum(row["share"] for row in window["gates"]) + window["closed"] == pytest.approx(1)
    assert told["loss"]["implied"] == pytest.approx(history["losses"].tolist(), rel=1e-12)
    assert told["loss"]["max_abs_over_initial"] < 1e-12


def test_units_that_have_a_gate_exactly_are_counted(explained, history):
    """Off its boundary: by the signs of the weights, here."""
    told, signs = explained.to_json(), {"1": 1, "0": -1, "/": 0}
    gates = np.array([[signs[each] for each in unit["gate"]] for unit in told["units"]])
    for window in (told["windows"][0], told["windows"][-1]):
        look = history["steps"].tolist().index(window["to"])
        w, b = history["W1"][look], history["W2"][look][0]
        weight = np.linalg.norm(w, axis=1) * np.abs(b)
        opened = 2.0 * (w @ X.T > 0) - 1
        same = (np.abs(opened[:, None] - gates) * np.abs(gates) == 0).all(axis=2).any(axis=1)
        assert window["exact"] == pytest.approx(weight[same].sum() / weight.sum(), rel=1e-6)


def test_what_theory_leaves_most_is_the_largest_gain(explained):
    """Of its own distance: the flow is further off, and no part of what its steps leave."""
    told = explained.to_json()
    theory, rows = told["theory"]["max_abs_over_initial"], told["left"]
    assert rows[0]["distance_before"] > theory
    gains = {
        row["assumption"]: row["distance_before"] - row["distance_after"]
        for row in rows
        if row["distance_after"] is not None
        and "unit" not in row["assumption"]
        and row["distance_before"] <= theory
    }
    (line,) = (each for each in explained.lines() if "leaves most" in each)
    assert f"leaves most is {max(gains, key=gains.get)}:" in line


def test_what_leaves_more_than_the_theory_is_no_part_of_it():
    """Held gates are further from this network than its theory."""
    x, y = np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([1, -1, 0.5])
    network = trained(x, y, hidden=20, rate=0.1)
    found = sr.explain(network, x, y)
    left = {row["assumption"]: row for row in found.to_json()["left"]}
    theory = found.to_json()["theory"]["max_abs_over_initial"]
    assert left["gates that stay"]["distance_before"] > theory
    assert not any("leaves most is gates that stay" in line for line in found.lines())
    # Shares are those at a checkpoint, and so its step is what they are said of.
    assert {window["to"] for window in found.to_json()["windows"]} <= {*network["steps"].tolist()}


def test_a_late_recording_is_said(explained, history):
    """Without the first half the outputs are there when it begins."""
    half = len(history["steps"]) // 2
    late = sr.explain({name: rows[half:] for name, rows in history.items()}, X, Y)
    (line,) = (each for each in late.lines() if "first checkpoint" in each)
    assert f"step {history['steps'][half]}, outputs" in line
    assert line.endswith("Record from step 0")
    assert not any("first checkpoint" in line for line in explained.lines())


def test_a_scale_that_is_not_the_initial_one_is_said(explained, history):
    """Outputs are small yet; the theory of the same weights at step 0 is early."""
    late = {name: rows[2:] for name, rows in history.items()}
    lines = [*sr.explain(late, X, Y).lines()]
    assert any("their scale is that of step 40" in line for line in lines)
    for other in (explained, sr.explain(late, X, Y, network=GIVEN)):
        assert not any("initial weights are not seen" in line for line in other.lines())


def test_its_files_are_derived_again(explained, tmp_path):
    explained.save(tmp_path)
    spec = sr.load(tmp_path / "spec.toml")
    assert [p.gate for p in spec.pathways] == [p.gate for p in explained.to_spec().pathways]
    modes = [(m.s, m.d_eff) for m in sr.derive(spec).modes]
    assert modes == [(m.s, m.d_eff) for m in explained.derivation.modes]
    said = json.loads((tmp_path / "explanation.json").read_text())
    assert said["format"] == "symreln-explanation/1"
    assert "\n# init_std and learning_rate were measured on" in (tmp_path / "spec.toml").read_text()
    assert sr.open(tmp_path).spec.network == explained.to_spec().network
    page = (tmp_path / "explanation.html").read_text()
    assert "The network explained" in page
    assert "4 within 1" in page
    assert r"\section" in (tmp_path / "explanation.tex").read_text()


@pytest.mark.parametrize("name", ["explanation.json", "spec.toml", "explanation.html"])
def test_its_folder_is_verified(explained, tmp_path, name):
    """Nothing is left uncovered, and nothing can be changed."""
    explained.save(tmp_path)
    assert not any("not covered" in line for line in sr.verify(tmp_path))
    changed = tmp_path / name
    changed.write_text(changed.read_text().replace("0", "1", 1))
    with pytest.raises(CertificateError, match=name):
        sr.verify(tmp_path)


def test_the_keys_of_its_json_are_in_the_manual(explained):
    told = explained.to_json()
    text = (Path(__file__).parents[2] / "docs/explain.md").read_text("utf-8")
    table = text.partition("## Explanation files")[2].partition("## Recording")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert {"format", *rows} == {*told}
    for key in {*rows} - {"free_constants", "begins", "needed", "spec", "provenance"}:
        first = told[key][0] if isinstance(told[key], list) else told[key]
        assert {*first} <= {*re.findall(r"`(\w+)`", rows[key])}, key


def test_a_page_of_the_paper_judges_an_explanation(explained, history, tmp_path):
    """By the units that are needed and by its theory, each beside the figure that shows it."""
    page = Page("own", tmp_path, full=False, rng=0)
    page.explain(history, X, Y, "xor")
    told, (few, theory) = explained.to_json(), page.to_json()["statements"]
    assert few["outcome"] == "confirmed"
    assert few["text"].endswith("needed are 4 within 1 %, 4 within 2 %, 4 within 5 %.")
    within = told["theory"]["max_abs_over_initial"] <= 0.05
    assert theory["outcome"] == ("confirmed" if within else "not confirmed")
    assert {"needed-xor.svg", "page.html"} <= {*page.files("")}
    assert (tmp_path / "xor-explained/explanation.json").is_file()


def test_biases_descend_with_the_units():
    """Replayed from its own weights a network with both biases is itself, at the measured rate."""
    network = trained(X, [1.5, -0.5, -0.5, 1.5], biased=True)
    told = sr.explain(network, X, [1.5, -0.5, -0.5, 1.5]).to_json()
    assert told["rate"]["value"] == pytest.approx(RATE, rel=1e-4)
    assert told["replay"][-1]["max_abs_over_initial"] < 1e-9
    assert told["loss"]["max_abs_over_initial"] < 1e-12


def test_a_bias_that_is_there_from_the_beginning_is_replaced_alone():
    """Units see one input of one sign: half of them are closed for good, and all keep their gates.

    So those with gates that are held are the network; with the last bias they are what is here.
    """
    x, y = np.array([[1.0], [2.0]]), np.array([2.5, 4.0])
    network = trained(x, y, biased="outputs")
    told = sr.explain(network, x, y).to_json()
    assert [unit["gate"] for unit in told["units"]] == ["11"]
    dead = network["W1"][-1][:, 0] < 0
    weight = np.abs(network["W1"][-1][:, 0] * network["W2"][-1][0])
    assert told["windows"][-1]["closed"] == pytest.approx(
        weight[dead].sum() / weight.sum(), rel=1e-5
    )
    assert 0 < told["windows"][0]["closed"] < 1
    left = {row["assumption"]: row for row in told["left"]}
    assert left["gates that stay"]["distance_before"] < 1e-9
    at = network["steps"].tolist().index(told["begins"])
    w, b, bias = network["W1"][at].copy(), network["W2"][at].copy(), network["b2"][-1]
    losses = []
    for _ in range(told["begins"], STEPS):
        seen = w @ x.T
        error = y - b @ np.maximum(seen, 0) - bias
        losses.append(0.5 * np.square(error).mean())
        drive = b.T @ error * (seen > 0)
        b, w = b + RATE * error @ np.maximum(seen, 0).T / 2, w + RATE * drive @ x / 2
    apart = np.abs(np.array(losses)[::EVERY] - network["losses"][at:]) / network["losses"][0]
    row = left["a bias of the outputs as it is at the end"]
    assert row["distance_before"] == pytest.approx(apart.max(), rel=1e-6)
    assert row["distance_after"] == left["gates that stay"]["distance_before"]


def test_outputs_beside_the_targets_are_replayed():
    """Two outputs of one target: where weights begin large, their difference has to decay."""
    network = trained(X, np.c_[Y, Y], std=0.3)
    told = sr.explain(network, X, np.c_[Y, Y]).to_json()
    assert told["replay"][-1]["max_abs_over_initial"] < 1e-9


def test_mini_batches_are_what_is_left():
    network = trained(X, Y, batch=2, std=1e-2, steps=601)
    told = sr.explain(network, X, Y).to_json()
    assert told["rate"]["off"] > 0.01
    left = {row["assumption"]: row for row in told["left"]}
    batches = left["full batches at one rate"]
    assert batches["distance_before"] > 1e-3
    assert batches["distance_after"] is None
    assert "batches" in batches["why_not"]


def test_a_rate_that_is_given_is_the_one_that_is_replayed(history):
    given = {**GIVEN, "learning_rate": RATE / 2}
    told = sr.explain(history, X, Y, network=given).to_json()
    assert told["rate"]["measured"] == pytest.approx(RATE, rel=1e-4)
    assert told["replay"][-1]["max_abs_over_initial"] > 0.3


def test_of_many_long_inputs_nothing_is_derived():
    """Exact residuals of sixty inputs of 53 bits would take minutes; all else is said."""
    x = np.random.default_rng(0).standard_normal((80, 60))
    told = sr.explain(trained(x, np.sign(x[:, 0]), steps=201), x, np.sign(x[:, 0])).to_json()
    assert told["theory"]["why_not"].startswith("exact residuals of 60 inputs with so many digits")
    assert told["units"]
    assert told["replay"][-1]["max_abs_over_initial"] < 1e-9


def test_large_initial_weights_may_have_no_theory():
    """Of seven gates that all learn the same a step is too large; all else is said."""
    x = np.random.default_rng(0).standard_normal((12, 2))
    x[:, 1] = 1
    network = trained(x, np.sign(x[:, 0]), hidden=100, rate=0.2, steps=61, std=0.3)
    explanation = sr.explain(network, x, np.sign(x[:, 0]))
    told = explanation.to_json()
    assert len(told["units"]) == 7
    assert told["theory"]["judged"] is told["theory"]["max_abs_over_initial"] is None
    assert "diverges" in told["theory"]["why_not"]
    left = {row["assumption"]: row for row in told["left"]}
    assert left["gates that stay"]["distance_after"] < 1e-9
    assert any("theory of these gates: none" in line for line in explanation.lines())
    assert any("another training: initial weights are large" in x for x in explanation.lines())


@pytest.mark.parametrize(("rate", "said"), [(RATE / 2, "is 0.5 times"), (RATE, "is 4 times")])
def test_a_rate_that_is_not_of_the_weights_is_said(history, rate, said):
    """The second is that of a sum over the four samples."""
    loss = "mean" if rate < RATE else "sum"
    given = {**GIVEN, "learning_rate": rate, "loss": loss}
    lines = list(sr.explain(history, X, Y, network=given).lines())
    (line,) = (each for each in lines if said in each)
    assert ("there are 4 samples" in line) == (loss == "sum")


def test_gates_that_come_later_are_what_the_theory_has_too_early():
    x = np.random.default_rng(0).uniform(-1, 1, (12, 2)).round(1)
    y = np.sign(x[:, 0] * x[:, 1])
    lines = sr.explain(trained(x, y, std=1e-4, rate=0.1), x, y).lines()
    (line,) = (each for each in lines if each.startswith("of what this theory leaves most"))
    assert "gates of later stages" in line


@pytest.mark.parametrize(
    ("sign", "looks", "said"), [(-1, None, "it rises: other data"), (1, 3, "of this beginning")]
)
def test_a_loss_that_rises_or_hardly_falls_is_said(history, sign, looks, said):
    seen = {name: rows[:looks] for name, rows in history.items() if name != "losses"}
    assert said in next(iter(sr.explain(seen, X, sign * Y, network=GIVEN).lines()))


def test_a_rate_with_which_units_diverge_is_named_beside_that_of_the_weights(history):
    given = {**GIVEN, "learning_rate": 400 * RATE}
    with pytest.raises(InputError, match=r"diverge.*is 400 times that with which the weights"):
        sr.explain(history, X, Y, network=given)


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (2.0, r"losses: found 2 times .* as MSELoss of PyTorch\. Divide them by 2"),
        (4.0, r"losses: found 4 times .* sum over samples"),
        (3.3, r"losses: found 3\.3 times 1/\(2P\)"),
    ],
)
def test_losses_of_another_convention_are_refused(history, factor, message):
    with pytest.raises(InputError, match=message):
        sr.explain({**history, "losses": factor * history["losses"]}, X, Y)


@pytest.mark.parametrize(
    ("factor", "message"),
    [(2 / 3, "as MSELoss of PyTorch"), (2, "over outputs without the half"), (8, "of squares")],
)
def test_losses_of_several_outputs_are_recognised(factor, message):
    targets = np.c_[Y, 2 * Y, Y]
    network = trained(X, targets, steps=201)
    with pytest.raises(InputError, match=message):
        sr.explain({**network, "losses": factor * network["losses"]}, X, targets)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((2 * X, Y), r"losses: found .*Give the data that the network was trained on"),
        ((X, -Y), r"losses: found .*scaled as it saw them.*not of mini-batches"),
        ((X[:, :1], Y), r"W1: found 2 inputs .*expected 1"),
        ((X, np.c_[Y, Y]), r"W2: found 1 output.*expected 2"),
    ],
)
def test_other_data_are_refused(history, data, message):
    with pytest.raises(InputError, match=message):
        sr.explain(history, *data)


def test_losses_that_vary_over_samples_do_not_hide_other_data():
    """All samples are there: their losses have no standard error that would excuse a difference."""
    x = np.random.default_rng(3).standard_normal((20, 2))
    network = trained(x, x[:, 0], steps=201)
    with pytest.raises(InputError, match="Give the data that the network was trained on"):
        sr.explain(network, x + 0.2, x[:, 0])


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({}, InputError, "found no targets"),
        ({"Y": Y[:3]}, SpecError, "samples"),
        ({"Y": 0 * Y}, InputError, "the targets are all zero"),
        (
            {"Y": Y, "network": {"hidden": 7, "init_std": 1, "learning_rate": 1, "steps": 5}},
            InputError,
            r"network\.hidden: found 7, where the weights have 60",
        ),
    ],
)
def test_what_does_not_fit_is_refused(history, asked, error, message):
    with pytest.raises(error, match=message):
        sr.explain(history, X, **{"Y": None, **asked})


def test_weights_that_do_not_descend_need_a_rate():
    random = np.random.default_rng(0)
    drawn = {
        "steps": [0, 100, 200],
        "W1": random.standard_normal((3, HIDDEN, 2)),
        "W2": random.standard_normal((3, 1, HIDDEN)),
    }
    with pytest.raises(InputError, match=r"rate of descent.*Record them more often"):
        sr.explain(drawn, X, Y)


def test_a_network_whose_units_are_dead_is_refused():
    """Its weights decay; at no look is one of its units open."""
    random, decay = np.random.default_rng(0), np.array([1.0, 0.9, 0.8])[:, None, None]
    dead = {"steps": [0, 10, 20], "W1": -decay * np.ones((3, HIDDEN, 2))}
    dead["W2"] = decay * random.standard_normal((1, 1, HIDDEN))
    network = sr.network(hidden=HIDDEN, init_std=0.1, learning_rate=0.1, steps=21)
    with pytest.raises(InputError, match="hidden units are dead: at step 20"):
        sr.explain(dead, np.abs(X[:, :2]) + 1, Y, network=network)


def test_a_look_says_what_the_units_leave(history):
    """The loss of the weights, by hand; and its error where samples are drawn."""
    found = recorded(read_history(history), X.T, Y[None])
    w, b = history["W1"][-1], history["W2"][-1]
    left = Y - (b @ np.maximum(w @ X.T, 0))[0]
    assert found.losses[-1] == pytest.approx(0.5 * np.mean(left**2), rel=1e-12)
    assert found.outputs[-1] == pytest.approx(1, abs=0.05)
    assert 0 < found.begins < len(found.steps) / 2
