"""Other learning rules compared: mini-batches; weight decay of a spec."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import symreln as sr
from symreln.base.jsonio import dumps
from symreln.base.rounding import percent
from symreln.claims.integration import mode_probes, network_of, reduced_flow
from symreln.claims.prediction import closed_forms, mode_starts
from symreln.claims.probes import probe_bases
from symreln.cli.main import _guarded, cli
from symreln.document.model import Paragraph, Table, plain_text
from symreln.errors import InputError, NotSupportedError
from symreln.experiment import rules as rules_module
from symreln.experiment.confront import Validation
from symreln.experiment.metrics import compare
from symreln.experiment.rules import RuleComparison, compare_rules
from symreln.experiment.training import gated_pathways, training_settings
from symreln.laws.choice import solve
from symreln.laws.law import Regime
from symreln.laws.ops import NUMPY
from symreln.report.chapters.rules import rule_blocks
from symreln.report.terminal_validation import show_validation
from symreln.report.validation_json import validation_to_json
from symreln.train.trainers import train_gdln

SHORT = ("network.steps=1201", "network.hidden=60")

#: Any weight decay: it chooses the law, whose own is given with its numbers.
DECAYING = Regime(weight_decay=Fraction(1))


def every_step(derivation: sr.Derivation) -> np.ndarray:
    return np.arange(network_of(derivation.spec).steps, dtype=float)


def decayed(numbers: sr.Derivation, value: float) -> sr.Derivation:
    network = replace(network_of(numbers.spec), weight_decay=Fraction(value))
    return replace(numbers, spec=replace(numbers.spec, network=network))


@lru_cache(maxsize=1)
def xor() -> sr.Derivation:
    return sr.derive(sr.load("xor", overrides=SHORT))


@lru_cache(maxsize=1)
def found() -> RuleComparison:
    return compare_rules(xor(), seeds=3, rng=5)


@lru_cache(maxsize=1)
def validation() -> Validation:
    return replace(sr.validate(xor(), seeds=3, rng=5), rules=found())


def rule(subject: str, size: int):
    return next(b for b in found().batches if (b.subject, b.batch_size) == (subject, size))


def test_full_batch_is_what_the_confrontation_trains():
    assert [(b.subject, b.batch_size) for b in found().batches] == [
        (subject, size) for subject in ("relu", "gdln") for size in (4, 2, 1)
    ]
    seen = validation()
    assert seen.network is not None
    np.testing.assert_array_equal(rule("relu", 4).mean_loss, seen.network.mean_loss)
    np.testing.assert_array_equal(rule("gdln", 4).mean_loss, seen.gdln.mean_loss)
    assert rule("relu", 4).theory == seen.metrics["reduced_vs_relu"]
    assert rule("gdln", 4).theory == seen.metrics["reduced_vs_gdln"]
    for subject in ("relu", "gdln"):
        full = rule(subject, 4)
        assert (full.shift, full.noise) == (0.0, 0.0)
        assert full.band > 0


def test_smaller_batches_make_more_noise_and_shift_the_mean():
    for subject in ("relu", "gdln"):
        noise = [rule(subject, size).noise for size in (4, 2, 1)]
        shift = [rule(subject, size).shift for size in (4, 2, 1)]
        assert 0 == noise[0] < noise[1] < noise[2]
        assert 0 == shift[0] < shift[1] < shift[2]
    # With one pathway a sample, a batch's step is gradient descent with P/|batch| times the rate
    # on its own pathways: the error of finite steps grows by (P/|batch| − 1) of itself.
    assert rule("gdln", 1).shift / rule("gdln", 2).shift == pytest.approx(3, rel=0.1)


def test_given_starts_of_the_flow_scale_the_closed_forms():
    numbers = xor().at_values
    labels, _ = mode_probes(numbers)
    factors = dict.fromkeys(labels, Fraction(1, 2))
    times = np.arange(0.0, 1201.0, 50.0)
    flow = reduced_flow(numbers).trajectory(times, starts=mode_starts(numbers, factors)).losses
    # The growing amplitude alone starts; in the flow the other one is there, and dies out.
    network = network_of(numbers.spec)
    half = replace(network, hidden=network.hidden // 2)
    spec = replace(numbers.spec, network=half)
    steps = every_step(numbers)
    expected = closed_forms(replace(numbers, spec=spec), steps, flow=True, factors={}).loss[::50]
    assert np.abs(flow - expected).max() < 2e-4 * flow[0]
    unscaled = closed_forms(numbers, steps, factors={}).loss[::50]
    assert np.abs(flow - unscaled).max() > 0.05 * flow[0]


def test_weight_decay_on_an_aligned_start():
    """Weights exactly on the modes: what is left of the distance halves with the rate."""
    errors = []
    for divisor in (1, 2):
        steps = 1200 * divisor + 1
        numbers = sr.derive(
            sr.load(
                "linear-hierarchy",
                overrides=(f"network.steps={steps}", f'network.learning_rate="1/{100 * divisor}"'),
            )
        ).at_values
        value = 0.3  # between two values of s
        prediction = closed_forms(decayed(numbers, value), every_step(numbers))
        spec, (pathway,) = numbers.spec, numbers.pathways
        u, v, _ = probe_bases(pathway)
        amplitude = np.sqrt(float(numbers.strength0))
        width = u.shape[1]
        (gated,) = gated_pathways(spec)
        start = {gated.name: _weights(amplitude * v.T, amplitude * u)}
        run = train_gdln(
            spec.dataset.inputs.to_numpy(),
            spec.dataset.targets.to_numpy(),
            [replace(gated, hidden=width)],
            replace(training_settings(spec), weight_decay=value),
            initial=start,
        )
        errors.append(compare(prediction.reduced, run.mean_loss).max_abs_over_initial)
        # The growing combination alone starts: half of what the law expects, step by step.
        modes = [(m.s.to_float(), m.d.to_float(), m.multiplicity) for m in pathway.modes]
        loss = np.full(steps, float(numbers.least_loss.to_fraction()))
        for s, d, count in modes:
            if s > 0:
                numbers_of = {"strength0": amplitude**2, "tau": numbers.tau, "weight_decay": value}
                law = solve(DECAYING, np.array(s), np.array(d), ops=NUMPY, **numbers_of).in_steps()
                curve = np.array([float(one) for one in islice(law.steps(), steps)])
                loss += 0.5 * count * d * (s / d - curve) ** 2
        np.testing.assert_allclose(loss, run.mean_loss, atol=1e-12 * loss[0])
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)


def _weights(w1: np.ndarray, w2: np.ndarray):
    from symreln.train.weights import LayerWeights

    return LayerWeights(w1=w1[None], w2=w2[None])


def test_closed_prediction_is_the_family_with_weight_decay():
    numbers = xor().at_values
    mode = numbers.pathways[0].modes[0]
    s, d, value = mode.s.to_float(), mode.d.to_float(), 0.2
    times = np.arange(1201.0)
    start, tau = float(numbers.strength0), float(numbers.tau)
    numbers_of = {"tau": tau, "strength0": start, "weight_decay": value}
    law = solve(DECAYING, np.array(s), np.array(d), ops=NUMPY, **numbers_of).in_steps()
    direct = law.strengths(times)
    curve = closed_forms(decayed(numbers, value), every_step(numbers), factors={}).modes[0].best
    np.testing.assert_allclose(curve, direct, rtol=1e-12)


def test_a_batch_size_that_diverges_is_a_line_of_its_own(monkeypatch):
    train = rules_module.train

    def refuse(kind, *given, **options):
        if (kind, given[-1].batch_size) == ("gdln", 1):
            msg = "training diverged at step 7"
            raise InputError(msg)
        return train(kind, *given, **options)

    monkeypatch.setattr(rules_module, "train", refuse)
    derivation = sr.derive(sr.load("xor", overrides=("network.steps=30", "network.hidden=8")))
    compared = compare_rules(derivation, seeds=1)
    fine, bad = (
        next(b for b in compared.batches if b.subject == name and b.batch_size == 1)
        for name in ("relu", "gdln")
    )
    assert (fine.diverged, bad.diverged) == ("", "training diverged at step 7")
    assert bad.mean_loss is bad.theory is bad.shift is None
    assert fine.noise is fine.band is None  # one seed has no spread
    shown = replace(validation(), rules=compared)
    batches = next(b for b in rule_blocks(shown) if isinstance(b, Table))
    assert [plain_text(cell) for cell in batches.rows[-1]][2] == "diverged"
    json.loads(dumps(validation_to_json(shown)))


def test_a_spec_is_trained_with_its_own_weight_decay():
    spec = sr.load("xor", overrides=('network.weight_decay="1/8"',))
    assert training_settings(spec).weight_decay == 0.125


def test_what_is_asked_for_is_checked():
    with pytest.raises(InputError, match="seeds: found 0"):
        compare_rules(xor(), seeds=0)
    odd = sr.derive(sr.load("xor", overrides=('network.weight_decay="1/10"',)))
    with pytest.raises(NotSupportedError, match="weight_decay"):
        compare_rules(odd)


def test_the_option_writes_them(tmp_path):
    keys = ("--set=network.steps=30", "--set=network.hidden=8", "--tolerance=1")
    asked = ["validate", "xor", *keys, "--seeds", "2", "--rng", "1", "--quiet"]
    asked += ["--out", str(tmp_path)]
    # Within a tolerance of 100 % nothing could disagree: that is not agreement.
    assert _guarded([*asked, "--rules"]) == 3
    written = json.loads((tmp_path / "validation.json").read_text())["rules"]
    assert (written["seeds"], written["rng"], written["samples"]) == (2, 1, 4)
    assert [b["batch_size"] for b in written["batches"]] == [4, 2, 1] * 2
    assert "--rules" in CliRunner().invoke(cli, ["validate", "--help"]).output
    assert _guarded(asked) == 3
    assert json.loads((tmp_path / "validation.json").read_text())["rules"] is None


def test_progress_counts_every_training():
    derivation = sr.derive(sr.load("xor", overrides=("network.steps=65", "network.hidden=8")))
    calls: list[tuple[int, int]] = []
    compare_rules(derivation, 2, 0, lambda done, total: calls.append((done, total)))
    totals = {total for _, total in calls}
    assert len(totals) == 1
    done = [done for done, _ in calls]
    assert done == sorted(done)
    assert done[-1] == totals.pop()


def test_rules_are_in_the_document_and_in_validation_json():
    seen = validation()
    intro, *tables = rule_blocks(seen)
    assert isinstance(intro, Paragraph)
    (batches,) = (t for t in tables if isinstance(t, Table))
    assert [plain_text(row[1]) for row in batches.rows] == ["4", "2", "1"] * 2
    assert plain_text(batches.rows[2][2]) == percent(rule("relu", 1).theory.max_abs_over_initial)
    assert rule_blocks(replace(seen, rules=None)) == []
    written = json.loads(dumps(validation_to_json(seen)))["rules"]
    assert written["batches"][1]["noise_over_initial"] == rule("relu", 2).noise


def test_the_terminal_shows_every_figure_of_the_document(capsys):
    show_validation(validation(), Path(), (), as_json=False)
    shown = capsys.readouterr().out
    tables = [block for block in rule_blocks(validation()) if isinstance(block, Table)]
    (batches,) = tables
    lines = [re.split(r"\s{2,}", line.strip()) for line in shown.splitlines()]
    for row in batches.rows:
        assert [plain_text(cell) for cell in row] in lines
