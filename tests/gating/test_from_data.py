"""Specs without pathways: the gates of the paper from the data alone, and everything after."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import symreln as sr
from symreln.errors import FloatRangeError, InputError
from symreln.gating import from_data
from symreln.report.content import derivation_document
from symreln.report.latex import render
from symreln.report.written_spec import spec_toml
from symreln.specs.files import parse_toml
from symreln.specs.reader import read_spec

NETWORK = sr.network(hidden=200, init_std="1/10000", learning_rate="1/25", loss="mean", steps=1200)
X, Y = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]]), np.array([1, 1, -1, -1])


@pytest.fixture(scope="module")
def xor() -> sr.Derivation:
    return sr.derive(sr.spec(X, Y, network=NETWORK))


@pytest.fixture(scope="module")
def contextual() -> sr.Derivation:
    whole = sr.load("contextual-3").at_values()
    rows = (whole.dataset.inputs.to_numpy().T, whole.dataset.targets.to_numpy().T)
    how = sr.network(hidden=700, init_std="1/140000", learning_rate="1/250", steps=2001)
    labels = {"context": whole.dataset.labels["context"]}
    return sr.derive(sr.spec(*rows, labels=labels, network=how))


def test_contextual_data_alone_give_the_gates_of_the_paper(contextual):
    given = sr.derive(sr.load("contextual-3").at_values())
    found = [(p.gate, p.inputs, p.stage) for p in contextual.spec.pathways]
    assert found == [(p.gate, p.inputs, p.stage) for p in given.spec.pathways]
    names = ["common", "not_context_1", "not_context_2", "not_context_3"]
    assert [p.name for p in contextual.spec.pathways] == names
    for one, other in zip(contextual.modes, given.modes, strict=True):
        assert (one.s, one.d_eff, one.multiplicity) == (other.s, other.d_eff, other.multiplicity)


def test_its_gates_have_modes_and_no_constant_is_set_by_hand(contextual):
    """Closed forms of later pathways would assume a share of units; the prediction does not."""
    told = contextual.to_json()
    assert told["free_constants"] == 0
    assert {unit["kind"] for unit in told["found"]["units"]} == {"pathway"}


def test_its_timeline_is_in_the_order_of_the_stages(contextual):
    drops = contextual.to_json()["timeline"]
    assert drops[0]["unit"] == "common"
    # Where its leading mode's closed form has half risen, 88, and 3 more by the finite steps.
    assert abs(drops[0]["step"] - 91) < 10
    assert drops[0]["loss_after"] == pytest.approx(1 - 165 / 528, abs=0.02)  # s²/2d over L(0)
    assert drops[-1]["unit"].startswith("not_context")
    for before, after in pairwise(drops):
        assert before["step"] < after["step"]
        assert before["loss_after"] == after["loss_before"]


@pytest.mark.parametrize(
    ("changed", "drops"),
    [
        ({"hidden": 40, "steps": 3000}, 1),  # draws that drop one after the other are one drop
        ({"hidden": 200, "steps": 430}, 1),  # it ends in the middle of the drop
        ({"hidden": 40, "steps": 380}, 0),  # it ends before
        ({"init_std": "1/2", "steps": 50}, 1),  # it begins with the drop
        ({"init_std": "1/2", "steps": 2}, 1),
        ({"init_std": "1/2", "steps": 1}, 0),
    ],
)
def test_a_drop_is_one_wherever_training_ends(changed, drops):
    found = sr.derive(sr.spec(X, Y, network={**NETWORK, **changed}))
    timeline = found.to_json()["timeline"]
    assert len(timeline) == drops
    for drop in timeline:
        assert drop["loss_after"] < drop["loss_before"] - 0.02
        assert drop["step"] < found.spec.network.steps


def test_xor_has_four_partial_gates_each_certified(xor):
    found = xor.to_json()["found"]
    assert {unit["gate"] for unit in found["units"]} == {"10//", "01//", "//10", "//01"}
    for unit in found["units"]:
        assert unit["certified"]
        assert unit["speed"] == pytest.approx(np.sqrt(2) / 4)
        assert unit["kind"] == "neuron"
        assert 380 < unit["half_time"] < 560  # where networks' loss falls
    assert sum(unit["share"] for unit in found["units"]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("power", [-50, 50])
def test_gates_and_shares_are_those_of_targets_of_any_size(xor, power):
    targets = [f"{each}e{power}" for each in Y.tolist()]
    how = {"init_std": f"1e{power // 2 - 4}", "learning_rate": f"4e{-power - 2}"}
    large = sr.derive(sr.spec(X, targets, network={**NETWORK, **how}))
    one, other = (each.to_json()["found"]["units"] for each in (xor, large))
    for before, after in zip(one, other, strict=True):
        assert (after["gate"], after["share"]) == (before["gate"], pytest.approx(before["share"]))


def test_samples_in_another_order_have_the_same_gates(xor):
    order = [2, 0, 3, 1]
    moved = sr.derive(sr.spec(X[order], Y[order], network=NETWORK))
    one, other = (each.to_json()["found"]["units"] for each in (xor, moved))
    moved = {"".join(unit["gate"][k] for k in order) for unit in one}
    assert moved == {unit["gate"] for unit in other}


def test_the_saved_spec_has_its_gates_and_says_where_they_are_from(xor, tmp_path):
    xor.save(tmp_path)
    opened = sr.open(tmp_path)
    for again in (
        opened.spec,
        read_spec(parse_toml(spec_toml(xor.spec).encode(), "found.toml")[0], tasks=()),
    ):
        assert again.find == "data"
        gates = [
            [(p.name, p.gate, p.boundary, p.inputs, p.stage) for p in each.pathways]
            for each in (again, xor.spec)
        ]
        assert gates[0] == gates[1]
    assert opened.to_json()["found"] == xor.to_json()["found"]


@pytest.mark.parametrize("method", ["enumerate", "self-consistent"])
def test_gates_of_another_finder_are_not_said_to_be_from_the_data(method):
    assert not sr.gates(sr.spec(X, Y, network=NETWORK), method=method).to_spec().find


def test_a_label_names_gates_and_each_name_is_one_that_a_file_takes():
    gates = [(1, 1, -1, -1), (-1, 1, 1, -1), (-1, -1, 1, 1), (1, 1, 1, 1)]
    for labels, names in (
        ({"c": ["a", "a", "b", "b"]}, ["c_a", "gate_2", "c_b", "common"]),
        ({"gate": [2, 2, 1, 1]}, ["gate_2", "gate_2_", "gate_1", "common"]),
        ({"c": [1, 1, 2, 2], "not_c": [3, 1, 1, 3]}, ["c_1", "not_c_1", "c_2", "common"]),
        ({"c": ["{x}", "{x}", "{", "{"]}, ["c_{x}", "gate_2", "c_{", "common"]),
        ({"c": [1, 1, 1, 1]}, ["gate_1", "gate_2", "gate_3", "common"]),
        ({"c": ["v" * 80] * 2 + ["w"] * 2}, ["not_c_w", "gate_2", "c_w", "common"]),
    ):
        spec = sr.spec(X, Y, labels=labels, network=NETWORK)
        assert from_data._names(spec.dataset, gates) == names
        sr.spec(X, Y, pathways=[sr.pathway(name) for name in names])


def test_one_trained_network_says_nothing_of_chance(xor, tmp_path):
    report = sr.validate(xor, seeds=1, diagnosis=False)
    report.save(tmp_path)
    assert "by chance" not in report.met.sentence
    assert report.to_json()["units"]["by_chance"] == []


def test_the_effective_network_ends_with_training_and_its_gates_do_not(xor):
    with pytest.raises(InputError, match=r"to step 1199\. Raise network\.steps"):
        xor.evaluate([0, 1500])
    assert xor.predict([0, 5000]).values.shape == (2, 4, 1)


def test_partial_gates_are_of_the_values_of_parameters(xor):
    inputs, free = [[1, 1], [-1, -1], [1, -1], [-1, "a"]], {"a": {"positive": True, "value": 1}}
    given = sr.derive(sr.spec(inputs, Y, network=NETWORK, parameters=free))
    assert given.to_json()["found"] == xor.to_json()["found"]


def test_from_another_strength_the_found_gates_are_predicted_as_given_ones(xor, tmp_path):
    started = xor.starting_at("1/1000")
    assert started.evaluate([0, 300]).judged == "closed"
    started.save(tmp_path)
    assert sr.open(tmp_path).strength0 == started.strength0


def test_networks_are_judged_by_the_effective_network(xor):
    report = sr.validate(xor, seeds=6, diagnosis=False)
    told = report.to_json()
    assert told["judged"] == "effective"
    assert told["verdict"] == "agrees"
    assert told["free_constants"] == 0
    assert told["metrics"]["effective_vs_relu"] == told["metrics"]["theory_vs_relu"]
    assert report.distance("theory_vs_relu") < 0.03
    # It is what is judged here, and stands beside no given gates.
    assert "without the gates of the spec" not in render(derivation_document(xor, report))
    # Units are where they are predicted: as near as two sets of draws would be.
    assert report.met.by_chance == pytest.approx(told["units"]["by_chance"])
    for apart, chance in zip(report.met.distances, report.met.by_chance, strict=True):
        assert apart < 2.5 * chance < 0.3


def test_where_nothing_grows_nothing_is_found():
    short = {**NETWORK, "steps": 20}
    with pytest.raises(InputError, match="no hidden unit whose output is felt"):
        sr.derive(sr.spec(X, Y, network=short))


@pytest.mark.parametrize("scale", ["1e100", "1e-100"])
def test_numbers_that_float64_has_no_room_for_are_refused(scale):
    large = [[f"{each}*{scale}" for each in row] for row in X.tolist()]
    with pytest.raises(FloatRangeError, match=r"dataset\.X.*Scale the data"):
        sr.derive(sr.spec(large, Y, network=NETWORK))


def test_the_document_has_timeline_figure_and_the_state_in_closed_form(contextual, tmp_path):
    contextual.save(tmp_path, formats=["html", "tex"])
    page = (tmp_path / "derivation.html").read_text()
    told = ("effective network of", "The timeline", "Gates over time", "The state at the horizon")
    assert all(each in page for each in told)
    assert (tmp_path / "figures" / "timeline.pdf").read_bytes()[:4] == b"%PDF"
