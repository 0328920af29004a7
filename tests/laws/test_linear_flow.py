"""One layer learns linearly on any data: its weights have a solution where modes do not close."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.claims.linear_flow import linear_lines
from symreln.errors import InputError, NoClosedFormError, NotSupportedError
from tests.own_specs import own

NETWORK = {"hidden": 5, "layers": 1, "init_std": "1/100", "steps": 200, "loss": "mean"}
NETWORK |= {"activation": "linear"}
HALVES = [1, 1, 1, 1, 2, 2, 2, 2]
#: samples, inputs, outputs, learning rate, gates of the pathways, rows that the last one writes.
KINDS = {
    "tall": (8, 5, 3, "1/20", ["all"], None),
    "wide": (4, 9, 3, "1/40", ["all"], None),
    "jumps over the goal": (8, 4, 2, "1/5", ["all"], None),
    "two pathways": (8, 3, 3, "1/12", ["half == 1", "half == 2"], [0, 2]),
}


def spec_of(kind: str, **keys):
    samples, inputs, outputs, rate, gates, rows = KINDS[kind]
    draw = np.random.default_rng(1).integers(-3, 4, (samples, inputs + outputs))
    pathways = [{"name": f"p{n}", "gate": gate} for n, gate in enumerate(gates)]
    pathways[-1] |= {} if rows is None else {"outputs": rows}
    data = {"X": draw[:, :inputs].T.tolist(), "Y": draw[:, inputs:].T.tolist()}
    labels = {"labels": {"half": HALVES[:samples]}} if len(gates) > 1 else {}
    network = NETWORK | {"learning_rate": rate} | keys
    return sr.load({"dataset": data | labels, "pathway": pathways, "network": network})


def trained(spec) -> tuple[np.ndarray, np.ndarray, list[list[np.ndarray]]]:
    """Own gradient descent from 0, the mean start: losses, outputs and weights at every step."""
    x, y = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    gates = [np.array(each.gate, float) for each in spec.pathways]
    maps = [np.zeros((len(each.outputs), len(x))) for each in spec.pathways]
    losses, outputs, weights = [], [], []
    for _ in range(spec.network.steps):
        out = np.zeros_like(y)
        for each, gate, w in zip(spec.pathways, gates, maps, strict=True):
            out[list(each.outputs)] += w @ (x * gate)
        losses.append(0.5 * ((out - y) ** 2).sum() / x.shape[1])
        outputs.append(out.T)
        weights.append([w.copy() for w in maps])
        for each, gate, w in zip(spec.pathways, gates, maps, strict=True):
            error = (y - out)[list(each.outputs)] @ (x * gate).T / x.shape[1]
            w += float(spec.network.learning_rate) * error
    return np.array(losses), np.array(outputs), weights


@pytest.mark.parametrize("kind", KINDS)
def test_any_data_are_learned_as_gradient_descent_does(kind):
    spec = spec_of(kind)
    derivation = sr.derive(spec)
    losses, outputs, weights = trained(spec)
    found = derivation.evaluate()
    assert derivation.level.value == "coupled matrices"
    np.testing.assert_allclose(found.loss, losses, rtol=1e-11, atol=1e-13 * losses[0])
    np.testing.assert_allclose(derivation.predict().values, outputs, atol=1e-11)
    for place, pathway in enumerate(derivation.pathways):
        u, _, v, _ = pathway.to_numpy()
        rows = list(pathway.effective.pathway.outputs)
        own = np.array([u[rows, 0] @ each[place] @ v[:, 0] for each in weights])
        curve = next(each for each in found.modes if each.pathway == pathway.name)
        np.testing.assert_allclose(curve.best, own, atol=1e-11)
    times, drawn = derivation.plot().figure.axes[1].lines[0].get_data()
    np.testing.assert_allclose(drawn, derivation.evaluate(np.asarray(times)).loss)


def test_the_document_has_the_solution_and_its_proof():
    assert all(line.holds for line in linear_lines())
    text = sr.derive(spec_of("two pathways")).to_latex()
    assert text.count(r"\Sigma^{yx}(p)\, \Sigma^{x}(p)^{+} \left(1 - E\right)") == 2
    for wrong in ("integrated", "B^{(2)}", "Gram", "no closed form"):
        assert wrong not in text


def test_what_it_does_not_say_is_refused():
    derivation = sr.derive(spec_of("tall"))
    refusals = [
        (NotSupportedError, "mean, 0", lambda: derivation.starting_at("1/10").evaluate()),
        (NoClosedFormError, "no closed form", lambda: derivation.to_numpy("loss")),
        (InputError, "diverge", lambda: sr.derive(spec_of("tall", learning_rate=1)).evaluate()),
        (NotSupportedError, "closed forms are confronted", lambda: sr.validate(derivation)),
    ]
    for kind, text, asked in refusals:
        with pytest.raises(kind, match=text):
            asked()


def test_modes_that_no_step_takes_over_their_goal_move_between_steps():
    """The largest d/τ is .7: nothing jumps."""
    spec = sr.load(own([[1, 1], [0, 1]], [[1, 2]], network=NETWORK | {"learning_rate": "1/2"}))
    found = sr.derive(spec).evaluate(np.linspace(0, 3, 25)).loss
    np.testing.assert_allclose(found[::8], trained(spec)[0][:4], rtol=1e-12)
    falls = -np.diff(found)
    assert 0.5 < falls[0] / falls[1] < 2
    assert (np.diff(falls) < 0).all()


@pytest.mark.parametrize("rate", [1, 2, 3, 4])
def test_steps_of_a_closed_mode_that_jump_over_its_plateau_are_those_of_gradient_descent(rate):
    """(1 - d/tau)**t is real at whole steps alone: a step's value holds up to the next."""
    network = NETWORK | {"learning_rate": rate, "steps": 9}
    spec = sr.load(own([[1, 0], [0, 1]], [[2, 0], [0, 1]], network=network))
    losses, derivation = trained(spec)[0], sr.derive(spec)
    program, steps = {}, np.arange(9.0)
    exec(derivation.to_python(), program)
    np.testing.assert_allclose(derivation.evaluate().loss, losses, atol=1e-15)
    np.testing.assert_allclose(derivation.to_numpy("loss")(steps), losses, atol=1e-15)
    np.testing.assert_allclose(program["loss"](steps), losses, atol=1e-15)
    strength = derivation.to_numpy("pi_1_1")([2.5, 2])
    assert (strength[0] == strength[1]) == (rate >= 2)  # d is 1/2


def test_steps_of_a_closed_mode_that_diverge_are_refused():
    network = NETWORK | {"learning_rate": "5/2", "loss": "sum"}
    with pytest.warns(UserWarning, match=r"relaxes by 2\.5 a step"):
        derivation = sr.derive(own([[1, 0], [0, 1]], [[2, 0], [0, 1]], network=network))
    with pytest.raises(InputError, match=r"2 is the limit\). Lower it below 2"):
        derivation.evaluate()
