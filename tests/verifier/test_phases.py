"""Certificates of gates that switch: a part for the gates from every switch on, of the same
pathways."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import symreln as sr
from symreln.verifier import verify
from tests.certificates import Json, rejected
from tests.own_specs import own, path

#: Two gates that are exchanged at step 5; at step 9 the first is open everywhere.
SPEC = own(
    [[1, 0, 1, 0], [0, 1, 0, 1]],
    [[3, 0, 1, 0], [0, "a", 0, 1]],
    path("one", "k == 1", then=[{"step": 5, "gate": "k == 2"}, {"step": 9, "gate": "all"}]),
    path("two", "k == 2", then=[{"step": 5, "gate": "k == 1"}]),
    labels={"k": [1, 1, 2, 2]},
    parameters={"a": {"positive": True, "value": 2}},
)


@pytest.fixture(scope="module")
def original() -> Json:
    return json.loads(json.dumps(sr.derive(sr.load(SPEC)).certificate))


@pytest.fixture
def whole(original: Json) -> Json:
    return copy.deepcopy(original)


def test_all_of_them_are_checked(whole: Json) -> None:
    assert [part["step"] for part in whole["parts"]] == [0, 5, 9]
    lines = verify(whole)
    assert [line.split(":")[0] for line in lines] == ["stages[0]", "from step 5", "from step 9"]


def test_a_wrong_claim_in_a_phase_is_noticed(whole: Json) -> None:
    whole["parts"][2]["stages"][0]["final_loss"] = "1 / 7"
    rejected(whole, r"parts\[2\].*final_loss")


@pytest.mark.parametrize(
    "change",
    [
        {"pathway": [{"name": "three"}, SPEC["pathway"][1]]},
        {"pathway": [{"name": "one", "outputs": [0]}, SPEC["pathway"][1]]},
        {"pathway": [SPEC["pathway"][0]]},
    ],
)
def test_other_pathways_are_noticed(whole: Json, change: Any) -> None:
    """A derivation of its own, whose certificate holds, in the place of the last phase."""
    other = sr.load({**SPEC, **change})
    found = sr.derive(other.during(9) if other.switches else other).certificate
    assert verify(found)
    whole["parts"][2] = {**found["parts"][0], "step": 9}
    rejected(whole, "first part's pathways")


@pytest.mark.parametrize(
    "steps", [(1, 5, 9), (0, 0, 9), (0, 9, 5), (0, 5, 5), (0, True, 9), (0, "5", 9)]
)
def test_steps_ascend(whole: Json, steps: Any) -> None:
    for part, step in zip(whole["parts"], steps, strict=True):
        part["step"] = step
    rejected(whole, "step")
