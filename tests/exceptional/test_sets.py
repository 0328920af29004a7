"""Exceptional sets against exact derivations at points: outside nothing changes, inside it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from symreln.claims.derivation import Derivation, PathwayDerivation
from symreln.claims.exceptional import exceptional_sets
from symreln.claims.exceptional.claim import ExceptionalSet, ExceptionalSets
from symreln.claims.exceptional.conditions import Effect
from symreln.exact.scalar import Scalar
from symreln.task_library.load import load
from symreln.verdict.judge import Level
from tests.report.sample import words_of
from tests.unchecked import derive_unchecked

BITS = 200
slow = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def entries(names: tuple[str, ...]):
    """Return a strategy of entries, most of them without a symbol."""
    plain = st.sampled_from([0, 0, 0, 1, 1, -1, 2])
    symbols = [text for n in names for text in (n, f"{n}+1", f"2*{n}", f"{n}**2", f"1/({n}+2)")]
    return plain | plain | st.sampled_from(symbols)


@st.composite
def specs(draw, names: tuple[str, ...]):
    """Return a spec of up to three gated pathways over a few samples, with these parameters."""
    inputs, outputs, samples = (
        draw(st.integers(1, 3)),
        draw(st.integers(1, 2)),
        draw(st.integers(2, 4)),
    )
    entry = entries(names)
    rows = st.lists(entry, min_size=samples, max_size=samples)
    x = draw(st.lists(rows, min_size=inputs, max_size=inputs))
    y = draw(st.lists(rows, min_size=outputs, max_size=outputs))
    gate = st.lists(st.sampled_from([1, 1, 0, *names]), min_size=samples, max_size=samples)
    count = draw(st.integers(1, 3))
    pathways = []
    for index in range(count):
        opened = draw(gate)
        assume(any(opened))
        stage = draw(st.integers(1, 2)) if index else 1
        pathways.append({"name": f"p{index}", "gate": opened, "stage": stage})
    used = [n for n in names if any(n in str(v) for v in (x, y, [p["gate"] for p in pathways]))]
    assume(used)
    tables = {
        "dataset": {"X": x, "Y": y},
        "parameters": {name: {} for name in used},
        "pathway": pathways,
    }
    return load(tables)


TWO = {
    "dataset": {
        "X": [["1", "a", "0"], ["b", "1", "0"], ["0", "0", "a*b"]],
        "Y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    },
    "parameters": {"a": {}, "b": {"positive": True}},
    "pathway": [{"name": "p1", "gate": [1, 1, 0]}, {"name": "p2", "gate": [0, 0, 1]}],
}


def value_at(item: ExceptionalSet, point: Mapping[str, Fraction]) -> Fraction:
    return Scalar(item.ring, item.polynomial).substitute(point).to_fraction()


def spec_at(spec, values: Mapping[str, Fraction]):
    """Return a spec with these parameters at these values, the others left as symbols."""
    dataset = replace(
        spec.dataset,
        inputs=spec.dataset.inputs.substitute(values),
        targets=spec.dataset.targets.substitute(values),
    )
    return replace(
        spec,
        dataset=dataset,
        parameters=tuple(p for p in spec.parameters if p.name not in values),
        pathways=tuple(pathway.at(values) for pathway in spec.pathways),
    )


def pairs(pathway: PathwayDerivation, point: Mapping[str, Fraction]) -> list:
    """Return balls of s² and, where the pathway commutes, d, with the multiplicity, in order."""
    found = []
    for mode in pathway.modes:
        s = mode.s.ball({n: point[n] for n in mode.s.parameters}, BITS)
        d = mode.d.ball({n: point[n] for n in mode.d.parameters}, BITS) if mode.d else None
        found.append((s, d, mode.multiplicity))
    return sorted(
        found, key=lambda t: (float(t[0].mid()), 0 if t[1] is None else float(t[1].mid()))
    )


def assert_same(generic: Derivation, there: Derivation, point: Mapping[str, Fraction]) -> None:
    """Assert that the generic derivation holds at a point as the derivation at the point."""
    for one, two in zip(generic.stages, there.stages, strict=True):
        assert two.verdict.level.rank <= one.verdict.level.rank
    for one, two in zip(generic.pathways, there.pathways, strict=True):
        assert one.commutes is two.commutes
        expected, found = pairs(one, point), pairs(two, {})
        assert [m for _, _, m in expected] == [m for _, _, m in found]
        for a, b in zip(expected, found, strict=True):
            assert a[0].overlaps(b[0])
            assert (a[1] is None) == (b[1] is None)
            assert a[1] is None or a[1].overlaps(b[1])
    for one, two in zip(generic.stages, there.stages, strict=True):
        if one.verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
            assert one.final_loss.substitute(point).to_fraction() == two.final_loss.to_fraction()
        else:
            break  # what a later stage learns follows a loss that was not followed


def check_outside(spec, point: dict[str, Fraction]) -> None:
    generic = derive_unchecked(spec)
    found = exceptional_sets(generic)
    assert found is not None
    point = {name: point[name] for name in found.parameters}
    assume(all(value_at(item, point) != 0 for item in (*found.sets, *found.outside)))
    if found.undecided:
        assume(all("jumps" in text for text in found.undecided))
    there = derive_unchecked(spec_at(spec, point))
    if any(
        s.verdict.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY) for s in generic.stages[:-1]
    ):
        return  # the residual of such a stage is among what was not followed
    assert_same(generic, there, point)


small = st.fractions(min_value=-3, max_value=3, max_denominator=3)
whole = st.integers(-3, 3).map(Fraction)


@slow
@given(specs(("a",)), small | whole)
def test_outside_the_sets_of_one_parameter_the_generic_answer_holds(spec, a):
    check_outside(spec, {"a_": a})


@slow
@given(specs(("a", "b")), small | whole, small | whole)
def test_outside_the_sets_of_two_parameters_the_generic_answer_holds(spec, a, b):
    check_outside(spec, {"a_": a, "b_": b})


@slow
@given(specs(("a",)))
def test_at_every_rational_root_what_is_proven_happens(spec):
    generic = derive_unchecked(spec)
    found = exceptional_sets(generic)
    assert found is not None
    for item in found.sets:
        for value in rational(item):
            there = derived_at(spec, {item.names[0]: value})
            if there is not None:
                check_consequences(generic, there, item, value)


def rational(item: ExceptionalSet) -> list[Fraction]:
    return [root.scalar.to_fraction() for root in item.roots if root.scalar is not None]


def derived_at(spec, values: Mapping[str, Fraction]) -> Derivation | None:
    """Return the derivation at a point; None where data are infinite or a pathway is closed."""
    try:
        there = spec_at(spec, values)
    except ZeroDivisionError:
        return None
    return derive_unchecked(there) if all(p.open_samples for p in there.pathways) else None


def check_consequences(
    generic: Derivation, there: Derivation, item: ExceptionalSet, value: Fraction
) -> None:
    first = generic.stages[0].stage
    for consequence in item.consequences:
        if not consequence.proven or consequence.stage != first:
            continue  # a later stage learns what is left at the point, not its limit
        for name in consequence.pathways:
            one, two = (next(p for p in d.pathways if p.name == name) for d in (generic, there))
            if consequence.effect is Effect.NULL:
                assert learning(two) < learning(one)
            elif consequence.effect is Effect.COMMUTES:
                assert two.spectrum.commutes
                assert not one.spectrum.commutes
            elif consequence.effect is Effect.DEGENERATE:
                assert len(two.modes) < len(one.modes)
            elif (
                consequence.effect is Effect.JUMP
                and generic.stages[0].verdict.level is Level.CLOSED
            ):
                limit = generic.stages[0].final_loss.substitute({item.names[0]: value})
                assert limit.to_fraction() < there.stages[0].final_loss.to_fraction()


def learning(pathway: PathwayDerivation) -> int:
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)


def by_polynomial(found: ExceptionalSets) -> dict[str, ExceptionalSet]:
    return {str(item.polynomial): item for item in (*found.sets, *found.outside)}


def effects(item: ExceptionalSet) -> set[Effect]:
    return {consequence.effect for consequence in item.consequences}


def sets_of(tables: dict) -> ExceptionalSets:
    found = exceptional_sets(derive_unchecked(load(tables)))
    assert found is not None
    return found


def test_no_parameters_no_sets():
    assert exceptional_sets(derive_unchecked(load("linear-hierarchy"))) is None


def test_the_contextual_task_by_hand():
    """s² and d of the context mode are c times and c² times a number; it meets three others."""
    found = exceptional_sets(derive_unchecked(load("contextual-3")))
    assert found is not None
    assert found.domain == "c > 0"
    table = by_polynomial(found)
    assert effects(table["c"]) == {Effect.NULL, Effect.JUMP}
    assert table["c"].excluded == "no root with c > 0"
    assert [str(item.polynomial) for item in found.sets] == [
        "10*c^2 - 7",
        "10*c^2 - 3",
        "10*c^2 - 1",
    ]
    assert all(effects(item) == {Effect.CROSSING} for item in found.sets)
    assert not found.breaking
    assert found.undecided == ()


def test_every_kind_in_one_spec_by_hand():
    """Two orthogonal inputs: s = |a|/2, 1/2 and d = a²/2, 1/2; for Y = X all comes together."""
    tables = {
        "dataset": {"X": [["a", 0], [0, 1]], "Y": [["1", 0], [0, 1]]},
        "parameters": {"a": {}},
        "pathway": [{"name": "only"}],
    }
    table = by_polynomial(sets_of(tables))
    assert set(table) == {"a_", "a_ - 1", "a_ + 1"}
    assert effects(table["a_"]) == {Effect.NULL, Effect.JUMP}
    spec = load(tables)
    there = derived_at(spec, {"a_": Fraction(0)})
    assert there.verdict.level is Level.CLOSED
    assert learning(there.pathways[0]) == 1
    assert there.final_loss.to_fraction() == Fraction(1, 4)
    for name in ("a_ - 1", "a_ + 1"):
        assert effects(table[name]) == {Effect.DEGENERATE}
        (value,) = rational(table[name])
        assert len(derived_at(spec, {"a_": value}).pathways[0].modes) == 1


def test_conjugate_modes_that_coincide_by_hand():
    """Y = [[1, a], [a, 1+a]] has the eigenvalues (2+a ± a√5)/2: equal at 0, opposite at -2."""
    tables = {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [["1", "a"], ["a", "1+a"]]},
        "parameters": {"a": {}},
        "pathway": [{"name": "only"}],
    }
    table = by_polynomial(sets_of(tables))
    assert set(table) == {"a_", "a_ + 2", "a_^2 - a_ - 1"}
    for name in ("a_", "a_ + 2"):
        assert effects(table[name]) == {Effect.DEGENERATE}
        (value,) = rational(table[name])
        assert len(derived_at(load(tables), {"a_": value}).pathways[0].modes) == 1
    golden = table["a_^2 - a_ - 1"]
    assert effects(golden) == {Effect.NULL}
    assert [float(value) for value in golden.roots] == pytest.approx([-0.6180339887, 1.6180339887])


def test_a_positive_parameter_leaves_out_what_it_excludes():
    tables = {
        "dataset": {"X": [["a", 0], [0, 1]], "Y": [["1", 0], [0, 1]]},
        "parameters": {"a": {"minimum": "-1/2", "maximum": 1}},
        "pathway": [{"name": "only"}],
    }
    found = sets_of(tables)
    assert {str(item.polynomial) for item in found.sets} == {"a_", "a_ - 1"}
    assert [(str(i.polynomial), i.excluded) for i in found.outside] == [
        ("a_ + 1", "no root with a_ >= -1/2 and a_ <= 1")
    ]


def test_a_commutator_that_vanishes_is_found_and_confirmed():
    tables = {
        "dataset": {"X": [[1, "a"], [0, 1]], "Y": [[1, 0], [0, 2]]},
        "parameters": {"a": {}},
        "pathway": [{"name": "only"}],
    }
    table = by_polynomial(sets_of(tables))
    assert Effect.COMMUTES in effects(table["a_"])
    levels = [derive_unchecked(load(tables)), derived_at(load(tables), {"a_": Fraction(0)})]
    assert [d.verdict.level for d in levels] == [Level.COUPLED_MATRICES, Level.CLOSED]


def test_a_level_may_get_stronger_and_the_formulas_stay():
    """Two pathways race for the same modes, the second through a gain: even where it is 1."""
    tables = {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [[1, 0], [0, 2]]},
        "parameters": {"g": {"positive": True}},
        "pathway": [{"name": "one"}, {"name": "two", "gate": ["g", "g"]}],
    }
    assert not sets_of(tables).breaking
    (chapter,) = exceptional_sets(derive_unchecked(load(tables))).says()
    assert "a stronger level may hold there, with the same formulas" in words_of(chapter)
    generic, there = derive_unchecked(load(tables)), derived_at(load(tables), {"g_": Fraction(1)})
    assert there.verdict.level.rank < generic.verdict.level.rank
    assert_same(generic, there, {"g_": Fraction(1)})


def test_poles_of_data_and_of_gains_are_listed():
    tables = {
        "dataset": {"X": [["1/(a-1)", 0], [0, 1]], "Y": [[1, 2]]},
        "parameters": {"a": {}},
        "pathway": [{"name": "only", "gate": ["1/(a+5)", 1]}],
    }
    table = by_polynomial(sets_of(tables))
    assert effects(table["a_ - 1"]) == effects(table["a_ + 5"]) == {Effect.UNDEFINED}


@pytest.mark.parametrize("gate", [["g", 1], [1, "g**2 - 4"]])
def test_a_gate_that_closes_is_exceptional(gate):
    tables = {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [[1, 0], [0, 2]]},
        "parameters": {"g": {}},
        "pathway": [{"name": "only", "gate": gate}],
    }
    table = by_polynomial(sets_of(tables))
    closing = {"g_"} if gate[0] == "g" else {"g_ - 2", "g_ + 2"}
    assert all(Effect.NULL in effects(table[name]) for name in closing)


def test_of_conjugate_modes_only_as_many_vanish_as_is_said():
    """det Y = a - 1: at a = 1 one of two conjugate modes is lost; for Y = a U both of them are."""
    tables = {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [["1", "a"], ["0", "a-1"]]},
        "parameters": {"a": {}},
        "pathway": [{"name": "only"}],
    }
    item = by_polynomial(sets_of(tables))["a_ - 1"]
    (null,) = [c for c in item.consequences if c.effect is Effect.NULL]
    assert (null.count, null.exact, null.proven) == (1, True, True)
    assert learning(derived_at(load(tables), {"a_": Fraction(1)}).pathways[0]) == 1
    tables["dataset"]["Y"] = [["a", "a"], ["0", "a"]]
    item = by_polynomial(sets_of(tables))["a_"]
    (null,) = [c for c in item.consequences if c.effect is Effect.NULL]
    assert null.count is None
    assert learning(derived_at(load(tables), {"a_": Fraction(0)}).pathways[0]) == 0


@pytest.mark.parametrize("a", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_on_a_set_of_two_parameters_at_least_as_many_vanish_as_is_said(a):
    generic = derive_unchecked(load(TWO))
    item = by_polynomial(exceptional_sets(generic))["a_*b_ - 1"]
    (null,) = [c for c in item.consequences if c.effect is Effect.NULL]
    assert (null.count, null.exact, null.proven) == (1, False, True)
    there = derive_unchecked(spec_at(generic.spec, {"a_": a, "b_": 1 / a}))
    assert learning(there.pathways[0]) == 1


def merged(pathway: PathwayDerivation, point: Mapping[str, Fraction]) -> list[tuple]:
    """Return s² and d of every single mode, in order, rounded."""
    return sorted(
        (round(float(s.mid()), 8), round(float(d.mid()), 8))
        for s, d, count in pairs(pathway, point)
        for _ in range(count)
    )


def point_on(item: ExceptionalSet, given: Mapping[str, Fraction]) -> dict[str, Fraction] | None:
    """Return a rational point of a set, some coordinates given, where one is found linearly."""
    whole = Scalar(item.ring, item.polynomial)
    for name in item.names:
        others = {n: given[n] for n in item.ring if n != name}
        line = whole.substitute(others).numerator
        if int(line.total_degree()) == 1:
            at_0, at_1 = (
                Scalar((name,), line).substitute({name: Fraction(v)}).to_fraction() for v in (0, 1)
            )
            return {**others, name: at_0 / (at_0 - at_1)}
    return None


@slow
@given(specs(("a", "b")), small | whole, small | whole)
def test_where_modes_coincide_pairs_and_loss_stay(spec, a, b):
    generic = derive_unchecked(spec)
    found = exceptional_sets(generic)
    assert found is not None
    every = (*found.sets, *found.outside)
    for item in every:
        if Effect.DEGENERATE not in effects(item) or not item.harmless:
            continue
        point = point_on(item, {"a_": a, "b_": b})
        if point is None or any(value_at(x, point) == 0 for x in every if not x.harmless):
            continue
        there = derive_unchecked(spec_at(spec, point))
        for one, two in zip(generic.stages[0].pathways, there.stages[0].pathways, strict=True):
            if one.spectrum.commutes:
                assert merged(one, point) == merged(two, {})
                distinct = len(two.modes) < len(one.modes)
                claims = [
                    c
                    for c in item.consequences
                    if c.effect is Effect.DEGENERATE and one.name in c.pathways and c.stage == 1
                ]
                assert distinct or not any(c.proven for c in claims)
        if generic.stages[0].verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
            limit = generic.stages[0].final_loss.substitute(point)
            assert limit.to_fraction() == there.stages[0].final_loss.to_fraction()


def test_modes_that_cross_in_s_may_meet_in_d_at_points_of_the_set():
    """s = |a b|/2 and 1/2, d = a²/2 and 1/2: on a b = 1 they differ in d but where a² is 1."""
    tables = {
        "dataset": {"X": [["a", 0], [0, 1]], "Y": [["b", 0], [0, 1]]},
        "parameters": {"a": {}, "b": {}},
        "pathway": [{"name": "only"}],
    }
    item = by_polynomial(sets_of(tables))["a_*b_ - 1"]
    proven = {c.effect: c.proven for c in item.consequences}
    assert proven == {Effect.CROSSING: True, Effect.DEGENERATE: False}
    spec = load(tables)
    meeting = derive_unchecked(spec_at(spec, {"a_": Fraction(1), "b_": Fraction(1)}))
    crossing = derive_unchecked(spec_at(spec, {"a_": Fraction(2), "b_": Fraction(1, 2)}))
    assert (len(meeting.pathways[0].modes), len(crossing.pathways[0].modes)) == (1, 2)


def test_what_a_later_stage_does_where_an_earlier_one_jumps_is_left_open():
    """At a = 0 the first pathway learns nothing, so that the second one finds its share again."""
    tables = {
        "dataset": {"X": [["a", 0], [1, 1]], "Y": [["1", "0"]]},
        "parameters": {"a": {}},
        "pathway": [
            {"name": "one", "gate": [1, 0], "inputs": [0]},
            {"name": "two", "stage": 2, "inputs": [0]},
        ],
    }
    found = sets_of(tables)
    later = [c for item in found.sets for c in item.consequences if c.stage == 2]
    first = [c for item in found.sets for c in item.consequences if c.stage == 1]
    assert {c.effect for c in first} == {Effect.NULL, Effect.JUMP}
    assert later
    assert not any(c.proven for c in later)
