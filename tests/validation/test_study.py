"""The convergence study: orders that are known, measured; and what is said where they are not."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.claims.probes import probe_bases
from symreln.cli.commands import execute
from symreln.cli.request import Request
from symreln.document.model import Table
from symreln.errors import NotSupportedError
from symreln.experiment import study as study_module
from symreln.experiment.changed import changed, steps_for_scale
from symreln.experiment.metrics import Interval
from symreln.experiment.study import (
    RATE,
    SCALE,
    Study,
    check_study,
    study,
)
from symreln.experiment.training import SAME, Variation
from symreln.report.chapters.study import order_rows, order_text, study_blocks, study_sentence
from symreln.train.weights import LayerWeights
from tests.pathways.examples import RATIONAL, one_hot_contexts
from tests.validation.test_confront import linear, xor

SMALL = {"hidden": 60, "init_std": Fraction(1, 200), "steps": 301, "learning_rate": Fraction(1, 50)}


@lru_cache(maxsize=1)
def found() -> Study:
    return study(sr.derive(one_hot_contexts([RATIONAL], [(1,)], network=SMALL)), {}, 3, 0)


def of(subject: str, halved: str):
    (one,) = [o for o in found().orders if (o.subject, o.halved) == (subject, halved)]
    return one


@pytest.mark.parametrize("subject", ["theory", "relu", "gdln"])
def test_finite_steps_are_of_order_1_in_the_rate(subject):
    one = of(subject, RATE)
    assert one.predicted == 1
    assert one.confirmed
    # What is left of the limit is of the order of the rate itself: s/τ is 1/50.
    assert one.order.value == pytest.approx(1, abs=0.05)


def test_what_alignment_drops_is_of_order_2_in_the_scale():
    one = of("gdln", SCALE)
    assert one.predicted == 2
    assert one.confirmed
    assert one.order.value == pytest.approx(2, abs=0.05)
    assert abs(one.drift) < 0.05
    assert one.order.low <= one.order.value <= one.order.high


def test_what_closed_forms_drop_is_known_exactly_at_the_start():
    # At t = 0 the flow's strengths are 0 and the closed forms' π0, and nowhere are they farther
    # apart: the loss differs by Σ s π0 − d π0²/2 over all modes.
    one = of("closed", SCALE)
    assert one.confirmed
    numbers = sr.derive(one_hot_contexts([RATIONAL], [(1,)], network=SMALL)).at_values
    initial = float(numbers.initial_loss.to_fraction())
    for factor, value in zip((1, 0.5, 0.25), one.values, strict=True):
        start = 60 * (0.005 * factor) ** 2 / 2
        change = sum(
            mode.multiplicity * (mode.s.to_float() * start - mode.d.to_float() * start**2 / 2)
            for mode in numbers.pathways[0].modes
            if not mode.is_null
        )
        # compare() takes the flow's first loss as the unit, which is the initial loss.
        assert value == pytest.approx(change / initial, rel=1e-3)


def test_orders_are_confirmed_in_words_and_otherwise_not():
    assert study_sentence(found()) == "convergence: all 5 deviations shrink at the predicted order"
    wrong = replace(found().orders[0], predicted=2)
    assert wrong.confirmed is False
    told = study_sentence(replace(found(), orders=(wrong, *found().orders[1:])))
    assert "1 of 5 deviations do NOT shrink at the predicted order" in told
    assert "where 2 is predicted" in told
    grows = replace(found().orders[0], values=tuple(reversed(found().orders[0].values)))
    assert grows.confirmed is False
    rounding = replace(found().orders[0], order=Interval(value=None, low=None, high=None))
    assert rounding.confirmed is None
    assert "rounding" in order_text(rounding)
    assert "no order is measured" in study_sentence(replace(found(), orders=(rounding,)))


def test_distances_are_measured_at_every_level():
    levels = [(each.halved, each.factor) for each in found().distances]
    factors = [Fraction(1), Fraction(1, 2), Fraction(1, 4)]
    assert levels == [(RATE, f) for f in factors] + [(SCALE, f) for f in factors]
    assert [each.steps for each in found().distances][:3] == [300, 600, 1200]
    for each in found().distances:
        assert set(each.pairs) == {"reduced_vs_relu", "reduced_vs_gdln"}
        near = each.pairs["reduced_vs_gdln"].max_abs_over_initial
        assert near.low <= near.value <= near.high


def test_a_wrong_start_is_not_of_order_2(monkeypatch):
    # Half of the growing part is thrown away too: that is no small change, whatever the scale.
    genuine = study_module.growing_part

    def halved(u, v, weights):
        kept = genuine(u, v, weights)
        return LayerWeights(w1=kept.w1 / 2, w2=kept.w2 / 2)

    monkeypatch.setattr(study_module, "growing_part", halved)
    again = study(sr.derive(one_hot_contexts([RATIONAL], [(1,)], network=SMALL)), {}, 2, 0)
    (one,) = [o for o in again.orders if (o.subject, o.halved) == ("gdln", SCALE)]
    assert one.confirmed is False
    assert "do NOT shrink" in study_sentence(again)


def test_the_growing_part_is_a_projection_onto_balanced_aligned_weights():
    numbers = linear(0).derivation.at_values
    u, v, _ = probe_bases(numbers.pathways[0])
    draw = np.random.default_rng(5)
    weights = LayerWeights(
        w1=draw.standard_normal((2, 9, len(v))), w2=draw.standard_normal((2, len(u), 9))
    )
    kept = study_module.growing_part(u, v, weights)
    again = study_module.growing_part(u, v, kept)
    np.testing.assert_allclose(again.w1, kept.w1, atol=1e-12)
    np.testing.assert_allclose(again.w2, kept.w2, atol=1e-12)
    # Balanced: W1 W1ᵀ = W2ᵀ W2; and what was dropped is orthogonal to what is kept.
    np.testing.assert_allclose(
        kept.w1 @ kept.w1.swapaxes(1, 2), kept.w2.swapaxes(1, 2) @ kept.w2, atol=1e-12
    )
    left = np.sum((weights.w1 - kept.w1) * kept.w1) + np.sum((weights.w2 - kept.w2) * kept.w2)
    assert left == pytest.approx(0, abs=1e-10)


def test_orders_that_are_not_predicted_are_not_measured_and_the_reason_is_said():
    network = {"hidden": 20, "steps": 61, "init_std": Fraction(1, 50)}
    numbers = sr.derive(xor(**network)).at_values
    few = study(numbers, {}, 2, 0)
    assert {one.subject for one in few.orders if one.halved == RATE} == {"theory", "relu", "gdln"}
    decayed = changed(numbers, SAME)
    spec = replace(
        decayed.spec, network=replace(decayed.spec.network, weight_decay=Fraction(1, 100))
    )
    assert "weight_decay" in study_module.why_no_growing_part(replace(decayed, spec=spec))


def test_steps_of_a_smaller_start_of_three_layers_are_found():
    overrides = ("network.layers=3", "network.hidden=20", "network.init_std=1/20")
    numbers = sr.derive(sr.load("linear-hierarchy", overrides=overrides)).at_values
    smaller = changed(numbers, Variation(std=Fraction(1, 2)), 10)
    steps = steps_for_scale(changed(numbers, SAME, 400), smaller)
    # Of three layers a mode takes a time like 1/(σ √H) to rise: twice as long, and a little more.
    assert 400 < steps < 1200


def test_gates_that_switch_are_refused():
    spec = sr.load("xor", overrides=("pathway[0].then=[{step=20, gate=[0, 1, 0, 0]}]",))
    with pytest.raises(NotSupportedError, match="gates switch at given steps"):
        check_study(sr.derive(spec).at_values)


def test_the_option_writes_the_study(tmp_path, capsys):
    request = Request(
        command="validate",
        spec="linear-hierarchy",
        overrides=("network.steps=60", "network.hidden=8"),
        out=str(tmp_path),
        seeds=2,
        quiet=True,
        study=True,
    )
    execute(Request.of(asdict(request)))
    written = json.loads((tmp_path / "validation.json").read_text())["study"]
    assert written["seeds"] == 2
    assert {order["halved"] for order in written["orders"]} == {RATE, SCALE}
    assert all(order["confirmed"] in (True, False, None) for order in written["orders"])
    assert "convergence" in capsys.readouterr().out


def test_the_document_has_both_tables():
    validation = replace(linear(0), study=found())
    orders, distances = [b for b in study_blocks(validation) if isinstance(b, Table)]
    assert len(orders.rows) == len(order_rows(found())) == 5
    assert len(distances.rows) == 6
    assert study_blocks(linear(0)) == []
