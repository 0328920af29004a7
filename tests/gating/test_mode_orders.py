"""Orders of learning over a parameter: known boundaries, NumPy's singular values beside them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.errors import InputError, NotSupportedError

POSITIVE = {"a": {"positive": True, "value": 1}}


def crossed(**more):
    """Three modes; two of them are roots of degree 4 in a."""
    targets = [["a", 1, 0], [1, 2, 0], [0, 0, "3/2"]]
    asked = {"pathways": [sr.pathway("shared")], "parameters": POSITIVE, **more}
    return sr.spec(np.eye(3, dtype=int), targets, samples="columns", **asked)


@pytest.fixture(scope="module")
def answer():
    return sr.design(crossed(), ["pi_1_1", "pi_1_2", "pi_1_3"])


def test_a_boundary_is_where_singular_values_meet(answer):
    # det of [[a, 1], [1, 2]] is 2a − 1: its singular values have 3/2 where a = 7/2.
    found = answer.found
    assert [float(each) for each in found.boundaries] == [3.5]
    before, at, after = found.pieces
    assert (before.wanted, at.wanted, after.wanted) == (True, False, False)
    assert at.order == (("pi_1_1",), ("pi_1_2", "pi_1_3"))
    assert after.order == (("pi_1_1",), ("pi_1_3",), ("pi_1_2",))
    assert found.witnesses[0] < Fraction(7, 2)


@pytest.mark.parametrize("value", [Fraction(1, 10), 2, 3, Fraction(7, 2), Fraction(18, 5), 9])
def test_the_order_is_that_of_numpy(answer, value):
    found = answer.found
    inside = next(
        each
        for each in found.pieces
        if (each.piece.low is None or float(each.piece.low) <= value)
        and (each.piece.high is None or value <= float(each.piece.high))
    )
    matrix = np.array([[float(value), 1, 0], [1, 2, 0], [0, 0, 1.5]])
    block = np.linalg.svd(matrix[:2, :2], compute_uv=False)
    # At the declared value 1 the modes are the larger one of the block, 3/2, and the other one.
    speeds = {"pi_1_1": block[0], "pi_1_2": 1.5, "pi_1_3": block[1]}
    told = [speeds[name] for rank in inside.order for name in rank]
    assert told == pytest.approx(sorted(speeds.values(), reverse=True))
    # What the modes are called where they are numbered anew.
    there = {mode.label: float(mode.s) for mode in sr.derive(answer.at(value)).at_values.modes}
    for name, label in () if value == Fraction(7, 2) else found.labels_at(Fraction(value)).items():
        assert there[label] == pytest.approx(speeds[name] / 3)


def test_pathways_stand_for_their_first_mode():
    asked = [sr.pathway("one", "context == 1"), sr.pathway("many", "context != 1")]
    labels = {"context": [1, 2, 3, 4]}
    more = {"samples": "columns", "pathways": asked, "labels": labels, "parameters": POSITIVE}
    spec = sr.spec([[1, 1, 1, 1]], [["a", 1, 1, 1]], **more)
    found = sr.design(spec, ["one", "many"], over="a").found
    assert [float(each) for each in found.boundaries] == [3.0]  # three samples against one
    assert [each.order for each in found.pieces] == [
        (("many",), ("one",)),
        (("one", "many"),),
        (("one",), ("many",)),
    ]


def test_an_irrational_boundary_is_said_and_not_asked():
    spec = sr.spec(
        np.eye(4, dtype=int),
        [["a", "a", "-a", "-a"], [1, -1, 0, 0], [0, 0, 1, -1]],
        samples="columns",
        pathways=[sr.pathway("shared")],
        parameters=POSITIVE,
    )
    answer = sr.design(spec, ["pi_1_2", "pi_1_1"])
    assert [float(each) for each in answer.found.boundaries] == pytest.approx([2**-0.5])
    head, below, at, _ = answer.lines()
    assert head == "pi_1_2 > pi_1_1 over a"
    assert "(as asked for)" in below
    assert "equally fast" in at
    assert answer.to_json()["pieces"][1]["order"] == []
    impossible = sr.design(crossed(), ["pi_1_3", "pi_1_1"])
    assert impossible.found.achieved == ()
    assert next(impossible.lines()).endswith(": for no value")


@pytest.mark.parametrize("touching", ["a**2 - 2", "a - 2"])
def test_where_modes_touch_the_order_is_not_the_wanted_one(touching):
    targets = [[f"1 + ({touching})**2", 0], [0, 1]]
    more = {"pathways": [sr.pathway("p")], "parameters": POSITIVE}
    found = sr.design(sr.spec([[1, 0], [0, 1]], targets, **more), ["pi_1_1", "pi_1_2"]).found
    assert [piece.wanted for piece in found.pieces] == [True, False, True]
    assert [float(each) ** 2 for each in found.boundaries] == pytest.approx(
        [2 if "**2" in touching else 4]
    )


def test_where_others_meet_is_no_boundary():
    # pi_1_2 and pi_1_3 change places at an irrational value, where pi_1_1 is the fastest.
    targets = [["a + 9", 0, 0], [0, "a**2", 0], [0, 0, 2]]
    more = {"pathways": [sr.pathway("p")], "parameters": POSITIVE}
    found = sr.design(sr.spec(np.eye(3, dtype=int), targets, **more), ["pi_1_1", "pi_1_2"]).found
    assert found.boundaries == ()
    assert [piece.wanted for piece in found.pieces] == [True]


@pytest.mark.parametrize(
    ("value", "found"), [(-1, "a > 0"), (0, "a > 0"), (float("nan"), "number"), ("x", "number")]
)
def test_a_value_outside_of_what_is_declared_is_refused(answer, value, found):
    with pytest.raises(InputError, match=found):
        answer.at(value)


def test_a_decimal_value_is_exact(answer):
    (parameter,) = answer.at(0.1).parameters
    assert parameter.value == Fraction(1, 10)
    assert answer.at("1/3").parameters[0].value == Fraction(1, 3)


@pytest.mark.parametrize(
    ("spec", "order", "more", "error", "message"),
    [
        (crossed(), ["pi_1_1"], {}, InputError, "at least two names"),
        (crossed(), "pi_1_1,pi_1_2", {}, InputError, "Give names"),
        (crossed(), [1, 2], {}, InputError, "Give names"),
        (crossed(), ["pi_1_1", "pi_1_1"], {}, InputError, "each once"),
        (crossed(), ["pi_1_1", "shared"], {}, InputError, "is of a pathway"),
        (crossed(), ["pi_1_1", "pi_9_9"], {}, InputError, "expected a mode that learns"),
        (crossed(), ["pi_1_1", "pi_1_2"], {"over": "b"}, InputError, 'found the text "b"'),
        ("linear-hierarchy", ["pi_1_1", "pi_1_2"], {}, InputError, "no parameter"),
        ("contextual-3", ["pi_1_1", "pi_2_1"], {}, NotSupportedError, "later stage"),
        ("routing", ["a", "b"], {}, NotSupportedError, "nodes and edges"),
    ],
)
def test_what_cannot_be_designed_is_refused(spec, order, more, error, message):
    with pytest.raises(error, match=message):
        sr.design(spec, order, **more)
