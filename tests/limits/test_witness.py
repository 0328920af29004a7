"""What the witness encloses holds the exact values, however poor the floats it starts from are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.exact.enclosure import ball as ball_of
from symreln.exact.enclosure import precision
from symreln.limits import projecting
from symreln.limits.partial import Told
from symreln.limits.steps import StepWriter, read_steps
from symreln.limits.witness import witness
from tests.limits.test_stages import structureless


def told_of(spec, path) -> Told:
    writer = StepWriter(path)
    witness(spec, writer, lambda: False)
    spec_line = {"step": "spec", "header": {}, "pathways": [], "versions": {}}
    return Told([], [spec_line, *read_steps(path)])


def holds(told, spec):
    """Check every box against the exact modes."""
    for pathway in sr.derive(spec).at_values.pathways:
        line = told.boxes[pathway.number]
        exact = [
            (mode.s, mode.d) for mode in pathway.spectrum.modes for _ in range(mode.multiplicity)
        ]
        assert len(line["enclosures"]) == len(exact)
        left = list(exact)
        for box in line["enclosures"]:
            match = next((e for e in left if _holds(box["s"], e[0]) and _holds_d(box, e[1])), None)
            assert match is not None, box
            left.remove(match)


def _holds(ball, number) -> bool:
    low = Fraction(ball["decimal"]) - Fraction(ball["radius"])
    high = Fraction(ball["decimal"]) + Fraction(ball["radius"])
    value = number.enclose(digits=60)
    with precision(300):
        return bool(value >= ball_of(low) and value <= ball_of(high))


def _holds_d(box, number) -> bool:
    return box["d"] is None or number is None or _holds(box["d"], number)


@pytest.mark.parametrize("name", ["contextual-3", "xor", "iris", "linear-hierarchy"])
def test_boxes_hold_the_exact_values_of_every_stage(name, tmp_path):
    spec = sr.load(name)
    told = told_of(spec, tmp_path / "boxes")
    holds(told, spec)
    commutes = [p.commutes.value for p in sr.derive(spec).pathways]
    for truth, (_, line) in zip(commutes, sorted(told.boxes.items()), strict=True):
        assert line["commutes"] in (truth, "undecided")
        joint = truth == "proven"
        assert all((box["d"] is not None) == joint for box in line["enclosures"])


@pytest.fixture(params=["near", "poor"])
def from_floats(request, monkeypatch):
    """Have later stages enclosed by inverses that floats propose, good ones or poor ones."""
    monkeypatch.setattr(projecting, "QUICK_BITS", -1)
    if request.param == "poor":
        monkeypatch.setattr(projecting, "MOST_STEPS", 1)
        monkeypatch.setattr(projecting, "NEAR_ENOUGH", Fraction(1, 2))
        monkeypatch.setattr(np.linalg, "inv", lambda a, known=np.linalg.inv: known(a) * 0.99)
    return request.param


@pytest.mark.parametrize("name", ["contextual-3", "contextual-different", 5])
def test_boxes_of_later_stages_hold_them_when_floats_propose_the_inverse(
    name, tmp_path, from_floats
):
    spec = sr.load(name) if isinstance(name, str) else structureless(name, name, 8)
    told = told_of(spec, tmp_path / "boxes")
    holds(told, spec)
    later = [p for p in sr.derive(spec).pathways if p.stage > 1]
    for pathway in later:
        line = told.boxes[pathway.number]
        truth = pathway.commutes.value
        assert line["commutes"] == ("refuted" if truth == "refuted" else "undecided")
        assert line["commutator"] is None
        assert all(box["d"] is None for box in line["enclosures"])
