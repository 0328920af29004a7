"""What fails where theory and training disagree: proven first, then one thing replaced at a time.

Known negatives: networks are trained on the right spec, and the theory confronted with them is
wrong in one place. Where what is wrong is an assumption, that one is named; where the theory itself
is, nothing is. Known positives are never flagged.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

import symreln as sr
from symreln.claims.prediction import predict_training
from symreln.experiment import variations
from symreln.experiment.diagnosis import HALF
from symreln.experiment.metrics import Distance, Interval, alone
from symreln.experiment.rows import BATCHES, FORMS, GATES, SCALE, STEP, WIDTH, Row, left_of, named
from symreln.experiment.variations import Variation, predicted_again
from symreln.report.sentences import _fails
from tests.cases import matrix_spec
from tests.experiment.test_confront import NETWORK, SWAPPED, TWO, linear, one_pathway, relu
from tests.unchecked import derive_unchecked
from tests.verdict.examples import one_hot_contexts

CROSS, SIGNS = [[1, -1, 1, -1], [1, -1, -1, 1]], [[1, 1, -1, -1]]


@lru_cache(maxsize=1)
def two() -> sr.Validation:
    """Two pathways of one stage, closed: the right theory."""
    return sr.validate(derive_unchecked(one_hot_contexts(*TWO, network=NETWORK)), seeds=3)


@lru_cache(maxsize=1)
def contexts() -> sr.Validation:
    """Every item in every context: one output an item, and one an item and context."""
    places = [(k, i) for k in range(4) for i in range(2)]
    x = [[int(i == item) for _, i in places] for item in range(2)]
    x += [[int(k == context) for k, _ in places] for context in range(4)]
    y = [*x[:2], *([int(p == place) for p in places] for place in places)]
    gates = [[1] * 8, *([int(k != off) for k, _ in places] for off in range(4))]
    network = {"hidden": 100, "loss": "sum", "steps": 601, "activation": "relu"}
    network |= {"init_std": Fraction(1, 20000), "learning_rate": Fraction(1, 25)}
    spec = matrix_spec(x, y, gates, network=network)
    later = (replace(p, inputs=(0, 1), stage=2) for p in spec.pathways[1:])
    return sr.validate(sr.derive(replace(spec, pathways=(spec.pathways[0], *later))), seeds=4)


@lru_cache(maxsize=2)
def sharp(rate: Fraction) -> sr.Validation:
    """Second layers that start large: sharper at their end than balanced ones of 2 s."""
    wide = {"init_std_out": Fraction(1, 10), "learning_rate": rate, "steps": 151}
    return sr.validate(sr.derive(one_pathway(**wide)), seeds=8)


def by_name(found: sr.Validation, pair: str = "theory_vs_relu") -> dict[str, Row]:
    return {row.assumption: row for row in found.failing[pair]}


# -- a wrong theory is no assumption that fails ----------------------------------------------------


def twice_the_rate(numbers, kappas):
    spec = Variation(rate=Fraction(2)).of(numbers.spec, numbers.spec.network.steps)
    return predicted_again(replace(numbers, spec=spec), kappas).loss


def swapped_gates(numbers, kappas):
    others = one_hot_contexts(*SWAPPED).pathways
    own = zip(numbers.spec.pathways, others, strict=True)
    paths = tuple(replace(path, gate=other.gate) for path, other in own)
    return predict_training(derive_unchecked(replace(numbers.spec, pathways=paths))).loss


def nothing_is_learned(numbers, kappas):
    return np.full(numbers.spec.network.steps, float(numbers.initial_loss.to_fraction()))


def confronted(found: sr.Validation, wrong, monkeypatch) -> sr.Validation:
    """Replace the theory of a validation by a wrong one, for changed experiments too."""

    def predicted(numbers, kappas):
        loss = wrong(numbers, dict(kappas))
        return SimpleNamespace(loss=loss, reduced=loss)

    made = wrong(found.derivation.at_values, dict(found.kappas))
    monkeypatch.setattr(variations, "predicted_again", predicted)
    theory = replace(found.prediction, reduced=made, closed_loss=made)
    case = replace(found, judged_curves=theory)
    vars(case).update(prediction=theory, error=found.error)  # that of the theory as it is
    return case


@pytest.mark.parametrize("wrong", [twice_the_rate, swapped_gates, nothing_is_learned])
def test_a_wrong_theory_disagrees_and_no_assumption_is_blamed(wrong, monkeypatch):
    found = confronted(two(), wrong, monkeypatch)
    assert found.verdict == "disagrees"
    assert found.failed == {"theory_vs_gdln": (), "theory_vs_relu": ()}
    assert "the distance is unexplained: no replacement is shown to remove" in found.sentence()
    assert all(entry["unexplained"] for entry in found.to_json()["failing"])


def test_gates_are_not_blamed_for_a_wrong_rate(monkeypatch):
    found = confronted(relu(), twice_the_rate, monkeypatch)
    # The effective network agrees with the network whatever is wrong with the theory.
    assert found.metrics["effective_vs_relu"].max_abs_over_initial < found.tolerance
    assert GATES not in found.failed["theory_vs_relu"]
    why = by_name(found)[GATES].why_not
    assert why == "the GDLN, whose gates and starts are the theory's, disagrees too"


# -- assumptions that fail are named ---------------------------------------------------------------


def test_what_is_proven_is_the_first_reason():
    """Pathways open in one context alone are no ReLU network's: no hidden unit keeps them."""
    small = {"network.hidden": 60, "network.init_std": "1/12000", "network.steps": 1500}
    found = sr.validate(sr.load("contextual-3-modular", small), seeds=3)
    first = found.failing["theory_vs_relu"][0]
    assert first.assumption == GATES
    assert first.proven.startswith("no hidden unit of a ReLU network keeps the gate of '")
    assert found.failed["theory_vs_relu"][0] == GATES
    clause = next(x for x in found.clauses() if x.startswith("against the ReLU network"))
    assert "the assumption that fails is the gate pattern" in clause
    assert "proven: no hidden unit" in clause
    entry = found.to_json()["diagnosis"][0]
    assert (entry["proven"], entry["explains"]) == (first.proven, True)
    assert entry["distance_after"] is entry["interval"] is None


@pytest.mark.parametrize("std", [Fraction(1, 5), HALF])
def test_large_initial_weights_are_the_initial_scale(std):
    found = sr.validate(sr.derive(one_pathway(init_std=std, steps=401)), seeds=8)
    assert found.verdict == "disagrees"
    for rows in found.failing.values():
        (scale,) = named(rows)
        assert scale.assumption == SCALE
        assert scale.after.value <= found.tolerance  # halved until it agrees
        assert "lazy" in scale.measured  # a mode starts at half of its plateau or beyond
    assert "the assumption that fails is the initial scale, which is too large" in found.sentence()
    assert any("GDLN: initial scale, replaced by" in row[0] for row in found.metric_rows())


def test_closed_forms_are_replaced_by_their_reduction():
    # |b|² = 4 and s/d = 2 leave |a|² + |b|² = sqrt(32): descent is stable below 2/(d sqrt(32)).
    found = sharp(Fraction(95, 100))
    assert set(found.disagreements) == {"theory_vs_gdln", "theory_vs_relu"}
    for pair, failed in found.failed.items():
        # Smaller steps take it away, and so does less of what makes it sharp.
        assert failed == (STEP, SCALE)
        row = by_name(found, pair)[FORMS]
        assert row.replaced == "the integrated reduction, step by step"
        assert row.after.high < row.before / 2
    assert sharp(Fraction(1, 20)).diagnosis == ()


def test_steps_that_amplify_rounding_are_the_step_size_of_an_aligned_start():
    """Three layers at a rate that no step settles at: even the theory's own network leaves it."""
    network = {"layers": 3, "hidden": 20, "init_std": Fraction(1, 100), "steps": 301}
    found = sr.validate(sr.derive(one_pathway(learning_rate=Fraction(74, 100), **network)), seeds=1)
    assert found.failed["descent_vs_aligned"] == (STEP,)
    assert left_of(found.failing["descent_vs_aligned"]) < 1e-9
    said = "against the GDLN that started aligned the assumption that fails is the step size"
    assert said in found.sentence()


def test_gates_that_no_unit_keeps_are_named_where_the_gdln_bears_the_theory_out():
    """XoR with two classes as gates: linear in each."""
    network = {"hidden": 400, "loss": "sum", "steps": 1001, "init_std": Fraction(1, 1000)}
    network |= {"activation": "relu"}
    spec = matrix_spec(CROSS, SIGNS, [[1, 0, 1, 0], [0, 1, 0, 1]], network=network)
    found = sr.validate(sr.derive(spec), seeds=3)
    assert found.disagreements == ("theory_vs_relu",)
    assert found.failed == {"theory_vs_relu": (GATES,)}


def test_right_theories_are_never_flagged():
    found = sr.validate(sr.derive(one_pathway()), seeds=8, rng=0)
    assert (found.verdict, found.diagnosis, found.uninformative) == ("agrees", (), None)
    assert "unexplained" not in found.sentence()


def test_gates_of_the_data_explain_one_hot_outputs():
    found = contexts()
    assert found.failed == {"theory_vs_relu": (GATES,)}
    rows = by_name(found)
    assert rows[GATES].before > 0.25
    assert rows[GATES].after.high < 0.4 * rows[GATES].before
    units = found.effective.count
    assert rows[GATES].replaced == f"gates of the data alone: an effective network of {units} units"
    assert rows[SCALE].after.low > rows[SCALE].before / 2
    assert "the assumption that fails is the gate pattern" in found.sentence()


def test_few_units_are_the_width_and_a_smaller_start_does_not_mend_them():
    found = sr.validate(
        sr.derive(one_pathway(hidden=3, init_std=Fraction(1, 100), steps=1001)), seeds=64
    )
    assert found.failed["theory_vs_gdln"] == (WIDTH,)
    scale = by_name(found, "theory_vs_gdln")[SCALE]
    assert scale.after.value == pytest.approx(scale.before, rel=0.05)


def test_batches_are_named_where_theory_and_training_disagree():
    keys = ("network.batch_size=1", "network.steps=301", 'network.learning_rate="1/10"')
    spec = sr.load("xor", overrides=("network.hidden=40", *keys, 'validation.tolerance="3%"'))
    found = sr.validate(spec, seeds=3, rng=1)
    assert any(BATCHES in failed for failed in found.failed.values())
    assert "full batches, which the networks are not trained by" in found.sentence()
    assert found.to_json()["network"]["batch_size"] == 1


def test_a_linear_network_has_no_gates():
    assert two().disagreements == ("theory_vs_relu",)
    assert two().failed == {"theory_vs_relu": (GATES,)}
    assert "one pathway, always open, as in a linear network" in two().sentence()


def test_directions_that_turn_are_assumption_2_1_1():
    network = NETWORK | {"activation": "linear"}
    spec = matrix_spec([[1, 0], [2, 1]], [[1, 3], [0, 2]], [[1, 1]], network=network)
    found = sr.validate(derive_unchecked(spec), seeds=3)
    assert (found.verdict, found.diagnosis) == ("agrees", ())
    turned, kept = (found.metrics[f"{each}_vs_gdln"] for each in ("modes", "theory"))
    assert turned.max_abs_over_initial > 2 * found.tolerance > 10 * kept.max_abs_over_initial
    # Where correlations commute nothing is said of it.
    assert "modes_vs_gdln" not in linear(0).metrics


# -- the first stage's start -----------------------------------------------------------------------


# -- three values ----------------------------------------------------------------------------------


def tried(name: str, after: float, radius: float | None = None) -> Row:
    ends = alone(after)
    if radius is not None:
        ends = Interval(value=after, low=after - radius, high=after + radius)
    return Row(
        pair="theory_vs_gdln",
        assumption=name,
        replaced="…",
        before=0.2,
        distance=Distance(
            max_abs_over_initial=ends,
            mean_abs_over_initial=alone(None),
            drop_time_error_steps=alone(None),
            log10_tail_rms=alone(None),
        ),
    )


@pytest.mark.parametrize(
    ("after", "radius", "explains", "undecided"),
    [
        (0.05, 0.04, True, False),
        (0.05, 0.06, False, True),
        (0.12, 0.04, False, True),
        (0.12, 0.01, False, False),
        (0.1, 0.0, False, False),  # half of the distance is not more than half
    ],
)
def test_an_assumption_is_named_where_its_whole_interval_says_so(
    after, radius, explains, undecided
):
    row = tried(STEP, after, radius)
    assert (row.explains, row.undecided) == (explains, undecided)
    assert named([row]) == ((row,) if explains else ())
    assert ("undecided" in _fails("here", [row], 0.05)) is undecided


@pytest.mark.parametrize(
    ("gates", "scale", "failed"),
    [
        (0.01, 0.01, (SCALE,)),  # a smaller start mends fixed gates: they are not what fails
        (0.01, 0.19, (GATES,)),
        (0.11, 0.09, (SCALE,)),
        (0.1, 0.1, ()),
    ],
)
def test_more_than_half_of_the_distance_names_an_assumption(gates, scale, failed):
    rows = tried(GATES, gates), tried(SCALE, scale)
    assert tuple(row.assumption for row in named(rows)) == failed
    assert left_of(rows) == ({GATES: gates, SCALE: scale}[failed[0]] if failed else None)
