"""Gates that switch, from the spec to the confrontation."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

import symreln as sr
from symreln.claims.derivation import Derivation
from symreln.claims.integration import coupled_matrices
from symreln.claims.phases import STARTING
from symreln.claims.prediction import predict_training
from symreln.experiment.aligned import gdln_alignment
from symreln.experiment.training import recorded, train_gated
from symreln.pipeline.certificate.pathway_part import pathways_part
from symreln.report import html
from symreln.task_library.load import load
from tests.cli.command import command
from tests.own_specs import SCALE, path, task

THEN = [{"step": 150, "gate": "context != {context} or item < 3"}, {"step": 400, "gate": "all"}]
SPEC = task(
    {"task": "contextual", "items": 4, "contexts": 2, "context_scale": "c"},
    {"name": "common"},
    path("off", "context != {context}", each="context", inputs="items", then=THEN),
    parameters=SCALE,
    network={"hidden": 40, "learning_rate": "1/50", "loss": "sum", "steps": 600},
)


def spec(**changes) -> sr.Spec:
    return load({**SPEC, **changes})


@lru_cache(maxsize=1)
def derivation() -> Derivation:
    return sr.derive(spec())


def static(step: int) -> sr.Spec:
    return spec().during(step)


# -- the spec --------------------------------------------------------------------------------------


def test_a_switch_holds_from_its_step_on():
    found = spec()
    assert found.switches == (150, 400)
    off = found.pathways[1]
    assert off.gate == (0, 0, 0, 0, 1, 1, 1, 1)
    assert off.during(149).gate == off.gate
    assert off.during(150).gate == (1, 1, 0, 0, 1, 1, 1, 1)
    assert off.during(150).gate_text == "context != 1 or item < 3"
    assert found.during(400).pathways[2].gate == (1,) * 8
    assert found.during(400).switches == ()
    assert found.pathways[2].during(150).gate == (1, 1, 1, 1, 1, 1, 0, 0)


# -- the derivation --------------------------------------------------------------------------------


def test_each_phase_is_the_derivation_of_its_gates():
    for step, phase in zip((0, 150, 400), (derivation(), *derivation().later), strict=True):
        alone = sr.derive(static(step))
        assert phase.verdict.level is alone.verdict.level
        assert phase.ask(pathways_part) == alone.ask(pathways_part)
    assert derivation().final_loss == sr.derive(static(400)).final_loss
    assert derivation().initial_loss == sr.derive(static(0)).initial_loss
    names = [step.name for step in derivation().steps]
    later = [name for name in names if name.startswith("from step ")]
    assert {name.split(":")[0] for name in later} == {"from step 150", "from step 400"}
    # Nothing that rests on a start at t = 0.
    assert not any("trajectories" in name or "finite steps" in name for name in later)


# -- the prediction --------------------------------------------------------------------------------


def test_a_switch_to_the_same_gates_changes_nothing():
    """Two routes: the full spans of all phases, and the fewest blocks of one."""
    same = [{"name": "common"}, {**SPEC["pathway"][1]}]
    same[1]["then"] = [{"step": 150, "gate": "context != {context}"}]
    switched = predict_training(sr.derive(spec(pathway=same)).at_values, flow=True)
    plain = predict_training(sr.derive(static(0)).at_values, flow=True)
    np.testing.assert_allclose(switched.reduced, plain.reduced, rtol=1e-11, atol=1e-16)
    np.testing.assert_allclose(switched.flow_loss, plain.flow_loss, rtol=1e-7)
    plain_curves = {curve.label: curve.best for curve in plain.modes}
    assert set(plain_curves) < {curve.label for curve in switched.modes}
    for curve in switched.modes:
        label = curve.label.removesuffix("@150")
        np.testing.assert_allclose(curve.best, plain_curves[label], atol=1e-11)


def test_the_curve_bends_at_the_switch():
    found = predict_training(derivation().at_values)
    plain = predict_training(sr.derive(static(0)).at_values)
    np.testing.assert_allclose(found.reduced[:150], plain.reduced[:150], rtol=1e-11, atol=1e-16)
    assert abs(found.reduced[150] - plain.reduced[150]) > 1e-3 * plain.reduced[0]
    times = np.array([0.0, 100.0, 150.0, 151.5, 599.0])
    some = derivation().evaluate(times)
    whole = derivation().evaluate()
    np.testing.assert_allclose(some.loss[[0, 1, 2, 4]], whole.loss[[0, 100, 150, 599]], rtol=1e-7)
    late = derivation().evaluate(times[2:])
    np.testing.assert_allclose(late.loss, some.loss[2:], rtol=1e-7)


# -- training --------------------------------------------------------------------------------------


def test_weights_are_carried_over_exactly():
    """The same gates before and after: bit by bit the training without a switch."""
    plain = static(0).at_values()
    same = [{**SPEC["pathway"][0]}, {**SPEC["pathway"][1]}]
    same[1]["then"] = [{"step": step, "gate": "context != {context}"} for step in (100, 599)]
    options = {"seeds": 3, "rng": 7, "record": recorded("gdln", plain, 3)}
    whole = train_gated(plain, {}, **options)
    parts = train_gated(spec(pathway=same).at_values(), {}, **options)
    np.testing.assert_array_equal(whole.losses, parts.losses)
    np.testing.assert_array_equal(whole.snapshots["maps"][:, -1], parts.snapshots["maps"][:, -1])
    assert parts.snapshot_steps == (599,)
    assert parts.settings == whole.settings


def test_the_confrontation_trains_the_gates_of_every_phase():
    narrow = replace(spec().network, init_std=spec().network.init_std / 1000)
    found = sr.validate(sr.derive(replace(spec(), network=narrow)), seeds=3, rng=1)
    near = found.metrics["theory_vs_gdln"].max_abs_over_initial
    plain = predict_training(sr.derive(static(0)).at_values).loss
    far = np.abs(found.gdln.mean_loss - plain)[150:].max() / plain[0]
    assert near < 0.1 < far
    # Compared with the modes of the gates that were taken last.
    numbers = found.derivation.at_values
    assert str(found.gdln_alignment) == str(gdln_alignment(numbers.last, found.gdln))
    assert str(found.gdln_alignment) != str(gdln_alignment(numbers, found.gdln))
    last = coupled_matrices(found.derivation.at_values.last).phases[0].features[1]
    assert (last.toarray() != 0).any(axis=0).all()


# -- what is written -------------------------------------------------------------------------------


def test_json_and_documents_have_every_phase():
    found = derivation().to_json()
    assert [phase["step"] for phase in found["phases"]] == [150, 400]
    assert found["pathways"][1]["then"][0] == {"step": 150, "gate": "context != 1 or item < 3"}
    assert found["phases"][0]["pathways"][1]["gate"] == "context != 1 or item < 3"
    first = found["phases"][0]["pathways"][0]["modes"][0]
    assert first["s"]["expr"]
    assert all(first[key] is None for key in STARTING)
    last = sr.derive(static(400)).to_json()
    assert found["phases"][1]["verdict"] == last["verdict"]
    assert found["loss"]["final"] == last["loss"]["final"]
    text = html.render(derivation().to_document())
    assert "Gates that switch" in text
    assert "From step 400 the verdict is" in text


def test_certificates_of_every_phase_are_written_verified_and_removed(tmp_path):
    derivation().save(tmp_path, ["json"])
    done = command("verify", tmp_path)
    assert (done.code, "from step 400: stages[0]" in done.out) == (0, True)
    sr.derive(static(0)).save(tmp_path, ["json"])
    assert command("verify", tmp_path).code == 0
