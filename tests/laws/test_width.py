"""Pathways with fewer units than modes: exact order, the plateau's stability, trained networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.claims.narrow import learned_counts, width_of
from symreln.claims.prediction import predict_training
from symreln.errors import NoClosedFormError, NotSupportedError
from symreln.experiment.training import gated_pathways, training_settings
from symreln.train.trainers import train_gdln
from tests.cases import matrix_spec
from tests.own_specs import LINEAR, own
from tests.strategies import examples


def diagonal(outputs, inputs, hidden, **network):
    """Sample i is inputs[i] along axis i, its target outputs[i]: s = x y/P, d = x²/P."""
    size = len(inputs)
    x, y = (
        [[values[i] if i == j else 0 for j in range(size)] for i in range(size)]
        for values in (inputs, outputs)
    )
    given_ = {"hidden": hidden, "init_std": Fraction(1, 10**6), "learning_rate": Fraction(1, 20)}
    return matrix_spec(x, y, [[1] * size], network=given_ | network)


def found_of(spec):
    derivation = sr.derive(spec)
    (one,) = derivation.narrow
    assert one.found is not None
    return derivation, one.found


def balls(derivation) -> tuple[float, float]:
    width = derivation.ask(width_of)
    return (np.nan, np.nan) if width is None else (float(width.loss), float(width.least_loss))


def trained(spec):
    """Return (loss of every step, map in the end) of one trained GDLN."""
    x, y = (m.to_numpy() for m in (spec.dataset.inputs, spec.dataset.targets))
    settings_ = training_settings(spec)
    run = train_gdln(x, y, gated_pathways(spec), settings_, seeds=1, rng=3, workers=1)
    (weights,) = run.weights
    return run.losses[0], weights.w2[0] @ weights.w1[0]


def test_the_strongest_modes_stay_where_nothing_replaces_them():
    # d = 1/4, s = 2, 3/2, 3/4, 1/4: two of them, π = 8 and 6; the others leave ½ (3² + 1²)/4.
    derivation, found = found_of(diagonal([8, 6, 3, 1], [1, 1, 1, 1], 2, steps=1500))
    assert found.plateau == found.least == (1, 1, 0, 0)
    assert found.escapes == ()
    assert balls(derivation) == (1.25, 1.25)
    loss, product = trained(derivation.spec)
    np.testing.assert_allclose(product, np.diag([8, 6, 0, 0]), atol=1e-3)
    assert loss[-1] == pytest.approx(1.25, rel=1e-6)
    curves = derivation.evaluate()
    assert curves.loss[-1] == pytest.approx(1.25, rel=1e-9)
    assert [curve.best[-1] for curve in curves.modes] == pytest.approx([8, 6, 0, 0])
    assert predict_training(derivation).reduced[-1] == pytest.approx(1.25, rel=1e-9)


def test_the_strongest_is_replaced_by_the_one_that_explains_more():
    # s = 4 and 3/2, d = 8 and 1/2: first π = 1/2 (s²/d = 2), then 3 (s²/d = 9/2).
    derivation, found = found_of(diagonal([2, 3], [4, 1], 1, steps=1))
    assert (found.plateau, found.least) == ((1, 0), (0, 1))
    assert found.escapes == ((0, 1),)
    assert balls(derivation) == (2.25, 1.0)
    long = diagonal([2, 3], [4, 1], 1, steps=1500)
    loss, product = trained(long)
    near = np.abs(loss - 2.25) < 0.02
    assert near.sum() > 300  # the plateau
    np.testing.assert_allclose(product, np.diag([0, 3]), atol=1e-3)
    assert loss[-1] == pytest.approx(1.0, rel=1e-6)


@examples(120)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=2, max_size=4, unique=True),
    st.integers(1, 3),
)
def test_escapes_are_the_unstable_directions(modes, units):
    # By the eigenvalues of the linearised flow of weights, at the plateau, by numpy.
    outputs, inputs = zip(*modes, strict=True)
    derivation = sr.derive(diagonal(outputs, inputs, units))
    if not derivation.narrow:
        assert len(modes) <= units
        return
    (one,) = derivation.narrow
    found = one.found
    assert found is not None
    s = np.array([e.mode.s.to_float() for e in found.modes])
    d = np.array([e.mode.d.to_float() for e in found.modes])
    if found.plateau is None:
        assert "equal s" in one.undecided
        return
    if any(e.mode.multiplicity > 1 for e in found.modes):
        return
    held = np.flatnonzero(found.plateau)
    w1, w2 = np.zeros((units, len(s))), np.zeros((len(s), units))
    for unit, alpha in enumerate(held):
        w1[unit, alpha] = w2[alpha, unit] = np.sqrt(s[alpha] / d[alpha])

    def slope(flat):
        a, b = flat[: w1.size].reshape(w1.shape), flat[w1.size :].reshape(w2.shape)
        error = np.diag(s) - b @ a * d
        return np.concatenate([(b.T @ error).ravel(), (error @ a.T).ravel()])

    point = np.concatenate([w1.ravel(), w2.ravel()])
    assert np.abs(slope(point)).max() < 1e-12
    step = 1e-5
    jacobian = [
        (slope(point + step * e) - slope(point - step * e)) / (2 * step) for e in np.eye(len(point))
    ]
    top = np.linalg.eigvalsh(np.array(jacobian)).max()
    # Central differences of cubics: exact up to 1e-16/1e-5 and third derivatives times 1e-10.
    assert bool(top > 1e-8) is bool(found.escapes)
    plateau, least = balls(derivation)
    assert (plateau - least > 1e-12) is bool(found.escapes)


def test_equal_modes_share_what_is_there():
    derivation, found = found_of(diagonal([2, 2, 2, 1], [1, 1, 1, 1], 2))
    assert found.plateau == (2, 0)
    assert learned_counts(derivation) == {"pi_1_1": 2, "pi_1_2": 0}
    # ½ (4 + 1)/4 is left of ½ 13/4; the curves fall from one to the other.
    assert balls(derivation) == (0.625, 0.625)
    loss = derivation.evaluate([0, 10**6]).reduced
    assert loss == pytest.approx([13 / 8, 0.625], rel=1e-6)


def test_a_tie_of_s_is_left_open():
    # s = 1/2 twice, s²/d = 1 and 1/4.
    derivation = sr.derive(diagonal([2, 1], [1, 2], 1))
    (one,) = derivation.narrow
    assert "equal s" in one.undecided
    assert derivation.ask(width_of).loss is None
    assert learned_counts(derivation) == {}


# -- parameters: what is decided at declared values is not said of all -----------------------------


def symbolic(value: str):
    x = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "2"]]
    y = [["a", "0", "0"], ["0", "5", "0"], ["0", "0", "1+a"]]
    network = LINEAR | {"hidden": 2, "init_std": "1/10000", "learning_rate": "1/50", "steps": 200}
    parameters = {"a": {"positive": True, "value": value}}
    return sr.derive(sr.load(own(x, y, parameters=parameters, network=network)))


def test_the_document_says_that_it_is_decided_at_declared_values():
    derivation = symbolic("2")
    text = derivation.to_latex()
    assert "decided at the declared values of the parameters" in text
    assert "loss comes at the declared values to" in text
    assert "formulas hold for a pathway that is wide enough" in text
    entry = derivation.to_json()["width"]["pathways"][0]
    assert entry["at_declared_values"] is True


def test_modes_that_replace_others_have_no_curves() -> None:
    """The second mode, with the larger s²/d, replaces the first: the loss falls from 4 to 1."""
    x, y = [[3, 0], [0, 1], [-3, 0], [0, -1]], [[2, 0], [0, 4], [-2, 0], [0, -4]]
    network = sr.network(
        hidden=1, init_std="1/1000", learning_rate="1/50", steps=2000, activation="linear",
        loss="mean",
    )  # fmt: skip
    spec = sr.spec(np.array(x), np.array(y), pathways=[sr.pathway("all")], network=network)
    derivation = sr.derive(spec)
    assert derivation.final_loss == 1
    assert derivation.to_json()["loss"]["final"]["expr"] == "1"
    with pytest.raises(NoClosedFormError, match="replace each other"):
        derivation.to_numpy("loss")
    with pytest.raises(NotSupportedError, match="replace some that are learned"):
        derivation.evaluate()
