"""Gates that move in the confrontation: when they are predicted, and what is said of them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.base.rounding import percent
from symreln.claims import mean_field
from symreln.claims.mean_field import why_no_mean_field
from symreln.document.model import Figure, Table
from symreln.experiment.confront import Validation
from symreln.experiment.metrics import compare
from symreln.report.chapters.agreement import agreement_chapter
from symreln.report.content import derivation_chapters
from symreln.report.validation_plots import validation_sketches


@lru_cache(maxsize=1)
def xor() -> Validation:
    return sr.validate(sr.derive(sr.load("xor")), seeds=4, rng=2)


def test_the_mean_field_simulation_is_compared_with_the_network():
    found = xor()
    measured = found.metrics["mean_field_vs_relu"]
    assert measured == compare(found.mean_field.losses, found.network.mean_loss)
    error = found.mean_field.error
    left = measured.max_abs_over_initial
    assert (
        f"the mean-field simulation (wide ReLU network, Monte Carlo error {percent(error)}) is "
        f"{percent(left)} from the ReLU network"
    ) in found.sentence()


def test_what_agrees_with_the_mean_field_simulation_is_no_evidence():
    """It changes gates, starts and stages together."""
    found = xor()
    assert found.metrics["mean_field_vs_relu"].max_abs_over_initial < found.tolerance
    assert not any("mean-field" in f.replaced for pair in found.diagnosis for f in pair.findings)


@pytest.mark.parametrize(
    ("name", "overrides", "why"),
    [
        ("linear-hierarchy", (), "a linear network has no gates"),
        ("xor", ('pathway[0].gate=["2", 0, 0, 0]',), "gains"),
        ("xor", (), ""),
        ("contextual-5", (), ""),
        ("contextual-3", ("network.steps=1000000",), "it takes minutes on these data"),
    ],
)
def test_where_there_is_no_mean_field_simulation_the_reason_is_said(name, overrides, why):
    numbers = sr.derive(sr.load(name, overrides=overrides)).at_values
    found = why_no_mean_field(numbers)
    assert why in found
    assert bool(why) == bool(found)


def test_the_reason_is_recorded_and_printed(monkeypatch):
    monkeypatch.setattr(mean_field, "USUAL_COST", 0)
    found = sr.validate(sr.derive(sr.load("xor", overrides=("network.steps=60",))), seeds=2)
    assert found.mean_field is None
    assert "it takes minutes" in found.to_json()["mean_field"]["why_not"]
    assert "none was run; it takes minutes" in (str(agreement_chapter(found)))
    assert len(validation_sketches(found)) == 1


def test_the_record_and_the_document_hold_the_classes():
    record = xor().to_json()["mean_field"]
    first = xor().mean_field.classes[0]
    assert record["classes"][0]["gate"] == "".join(map(str, first.gate))
    assert record["classes"][0]["carries"] == list(first.carries(xor().mean_field.steps))
    assert len(record["classes"][0]["shares"]) == len(record["steps"])
    chapter = agreement_chapter(xor())
    (table,) = [
        b for b in chapter.blocks if isinstance(b, Table) and "open samples" in str(b.header)
    ]
    begin, end = first.carries(xor().mean_field.steps)
    row = str(table.rows[0])
    for cell in ("(a)", str(first.alike), f"{sum(first.gate)} of 4", percent(first.largest)):
        assert f"value='{cell}'" in row
    assert f"value='{begin} to {end}'" in row
    drawn = [sketch.name for sketch in validation_sketches(xor())]
    assert drawn == ["loss", "gate_law", "mean_field"]
    result = derivation_chapters(xor().derivation, xor(), drawn)[0]
    for part, names in ((result, drawn[:1]), (chapter, drawn[1:])):
        assert [b.name for b in part.blocks if isinstance(b, Figure)] == names


def test_the_curve_and_the_gates_are_drawn():
    loss, _, gates = validation_sketches(xor())
    labels = [curve.label for curve in loss.shown["panels"][0].curves if curve.label]
    assert labels[-2:] == ["mean-field simulation", "theory (closed forms)"]
    pattern, shares = gates.shown["panels"]
    np.testing.assert_array_equal(pattern.cells.values[0], xor().mean_field.classes[0].gate)
    np.testing.assert_array_equal(shares.stacked[0], xor().mean_field.steps)
    assert "<svg" in gates.draw(pdf=False).svg
    assert "<svg" in loss.draw(pdf=False).svg
