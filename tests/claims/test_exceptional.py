"""Exceptional sets against exact derivations at points: outside nothing changes, inside it does."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import symreln as sr
from symreln.claims.derivation import Derivation, PathwayDerivation
from symreln.claims.exceptional import ExceptionalSets, exceptional_sets
from symreln.exact.scalar import Scalar
from symreln.specs.expression import Declared
from tests.unchecked import derive_unchecked

BITS = 200
slow = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
CLOSED = (sr.Level.CLOSED, sr.Level.CLOSED_BY_SYMMETRY)


def tables(x: list, y: list, **others) -> dict:
    return {
        "dataset": {"X": x, "Y": y},
        "parameters": {"a": {}},
        "pathway": [{"name": "only"}],
        **others,
    }


UNIT = [[1, 0], [0, 1]]
#: What happens on every set by hand: (tables, {polynomial: effects}); "?" where it is possible.
BY_HAND = {
    # Two orthogonal inputs: s = |a|/2, 1/2 and d = a²/2, 1/2; for Y = X all comes together.
    "every kind": (
        tables([["a", 0], [0, 1]], UNIT),
        {"a": {"null", "jump"}, "a - 1": {"degenerate"}, "a + 1": {"degenerate"}},
    ),
    # Y has the eigenvalues (2 + a ± a√5)/2: equal at 0, opposite at -2.
    "conjugates": (
        tables(UNIT, [["1", "a"], ["a", "1+a"]]),
        {"a": {"degenerate"}, "a + 2": {"degenerate"}, "a**2 - a - 1": {"null"}},
    ),
    "commutator": (tables([[1, "a"], [0, 1]], [[1, 0], [0, 2]]), {"a": {"commutes"}}),
    "poles": (
        tables([["1/(a-1)", 0], [0, 1]], [[1, 2]], pathway=[{"name": "p", "gate": ["1/(a+5)", 1]}]),
        {"a - 1": {"undefined"}, "a + 5": {"undefined"}},
    ),
    "a gate that closes": (
        tables(UNIT, [[1, 0], [0, 2]], pathway=[{"name": "p", "gate": [1, "a**2 - 4"]}]),
        {"a - 2": {"null", "jump"}, "a + 2": {"null", "jump"}},
    ),
    # s = |a b|/2 and 1/2, d = a²/2 and 1/2.
    "crossing": (
        tables([["a", 0], [0, 1]], [["b", 0], [0, 1]], parameters={"a": {}, "b": {}}),
        {"a*b - 1": {"crossing"}, "a*b + 1": {"crossing"}, "a": {"null", "jump?"}, "b": {"null"}},
    ),
}


def by_polynomial(found: ExceptionalSets) -> dict[str, Any]:
    return {item.text.replace("_", ""): item for item in (*found.sets, *found.outside)}


def effects(item: Any) -> set[str]:
    said = [consequence.values() for consequence in item.consequences]
    return {each["effect"] + "?" * (not each["proven"]) for each in said}


def sets_of(given_tables: dict | str) -> ExceptionalSets:
    found = sr.derive(given_tables).exceptional
    assert found is not None
    return found


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    given_tables, expected = BY_HAND[name]
    table = {text: effects(item) for text, item in by_polynomial(sets_of(given_tables)).items()}
    for polynomial, happens in expected.items():
        assert happens <= table[polynomial], (polynomial, table)
    assert not any("degenerate" in table[p] for p in expected if "degenerate" not in expected[p])


def test_the_contextual_task_by_hand() -> None:
    """s² and d of the context mode are c times and c² times a number; it meets three others."""
    found = sets_of("contextual-3")
    assert found.domain == "c > 0"
    table = by_polynomial(found)
    assert effects(table["c"]) == {"null", "jump"}
    assert table["c"].excluded == "no root with c > 0"
    assert [item.text for item in found.sets] == ["10*c**2 - 7", "10*c**2 - 3", "10*c**2 - 1"]
    assert all(effects(item) == {"crossing"} for item in found.sets)
    assert not found.breaking
    assert found.undecided == ()
    (line,) = found.lines()
    assert line == "these formulas hold for all values of c, except at c = 0 (excluded by c > 0)"
    assert sr.derive("linear-hierarchy").exceptional is None


def test_what_a_later_stage_does_where_an_earlier_one_jumps_is_left_open() -> None:
    """At a = 0 the first pathway learns nothing, and the second one finds its share."""
    two = {"name": "two", "stage": 2, "inputs": [1]}
    stages = [{"name": "one", "gate": [1, 0], "inputs": [0]}, two]
    found = sets_of(tables([["a", 0], [1, 1]], [["1", "a"]], pathway=stages))
    every = [c for item in found.sets for c in item.consequences]
    assert {c.values()["effect"] for c in every if c.stage == 1} == {"null", "jump"}
    assert {c.proven for c in every if c.stage == 2} == {False}


def test_declared_ranges_leave_out_what_they_exclude() -> None:
    ranged = {"a": {"minimum": "-1/2", "maximum": 1}}
    found = sets_of(tables([["a", 0], [0, 1]], UNIT, parameters=ranged))
    assert {item.text for item in found.sets} == {"a_", "a_ - 1"}
    assert [(item.text, item.excluded) for item in found.outside] == [
        ("a_ + 1", "no root with a_ >= -1/2 and a_ <= 1")
    ]


FOUR = tables(
    [["a", 0, 0, 0], [0, "a", 0, 0], [0, 0, "b", 0], [0, 0, 0, "b"]],
    [["e", "-e", 1, 0], ["e", "e", 0, 1]],
    parameters={
        "a": {"positive": True, "value": 2},
        "b": {"minimum": "1/2", "maximum": 3, "value": 1},
        "e": {"value": "-3/2"},
        "g": {"nonnegative": True, "value": "1/2"},
    },
    pathway=[{"name": "plain", "gate": [1, 1, 0, 0]}, {"name": "gained", "gate": [0, 0, "g", "g"]}],
    network={"hidden": 100, "init_std": "1/1000", "learning_rate": "1/200", "steps": 900},
)


def test_symbols_in_data_targets_and_gains_at_once() -> None:
    derivation = sr.derive(FOUR)
    a, b, e, g = (derivation.spec.symbols[f"{name}_"] for name in "abeg")
    rows = [pathway.modes[0] for pathway in derivation.pathways]
    found = [[x.to_sympy(derivation.spec.symbols) for x in (m.s, m.d)] for m in rows]
    # Y of the first two samples is e times √2 times a rotation; P = 4.
    assert sp.expand(found[0][0] - sp.sqrt(2) * a * sp.Abs(e) / 4) == 0
    assert [found[0][1], *found[1]] == [a**2 / 4, b * g / 4, b**2 * g**2 / 4]
    (text,) = derivation.exceptional.lines()
    assert text == (
        "these formulas hold for all values of a_, b_, e_, g_, except at e_ = 0, g_ = 0, "
        "a_ = 0 (excluded by a_ > 0), b_ = 0 (excluded by b_ >= 1/2 and b_ <= 3)"
    )
    assert derivation.to_json()["exceptional"]["domain"] == "a_ > 0, b_ >= 1/2 and b_ <= 3, g_ >= 0"
    trained = sr.validate(derivation, seeds=8, rng=0, diagnosis=False)
    assert trained.network is None
    assert trained.agrees


def test_a_level_may_get_stronger_and_the_formulas_stay() -> None:
    """Two pathways race for the same modes, the second through a gain: even where it is 1."""
    race = [{"name": "one"}, {"name": "two", "gate": ["g", "g"]}]
    spec = sr.load(
        tables(UNIT, [[1, 0], [0, 2]], parameters={"g": {"positive": True}}, pathway=race)
    )
    generic, there = derive_unchecked(spec), derived_at(spec, {"g_": Fraction(1)})
    assert not exceptional_sets(generic).breaking
    assert there.verdict.level.rank < generic.verdict.level.rank
    assert_same(generic, there, {"g_": Fraction(1)})


LONG = tables(
    [[1, "a", 0, 1], [0, 1, "b", 0], ["b", 0, 1, 1]],
    [[1, 2, 0, 1], [0, 1, 1, 0]],
    parameters={"a": {}, "b": {}},
)


@pytest.mark.parametrize("given_tables", [FOUR, LONG, "contextual-3"], ids=["4", "long", "c"])
def test_document_and_json_have_every_set(given_tables: dict | str) -> None:
    derivation = sr.derive(given_tables)
    found, sets = derivation.to_json()["exceptional"], derivation.exceptional
    both = [*sets.sets, *sets.outside]
    for entry, item in zip([*found["sets"], *found["outside"]], both, strict=True):
        read = Declared(names=sets.parameters).parse(entry["polynomial"])
        assert read == Scalar(sets.parameters, item.polynomial)
        assert bool(entry["excluded"]) == bool(item.excluded)
        assert entry["breaking"] == (not item.harmless)
    paper = derivation.to_latex(full=True)
    assert "Exceptional values of the parameters" in paper
    assert ("a polynomial of degree" in paper) == any(len(item.text) > 48 for item in both)


# -- properties ------------------------------------------------------------------------------------


def entries(names: tuple[str, ...]):
    """Return a strategy of entries, most of them without a symbol."""
    plain = st.sampled_from([0, 0, 0, 1, 1, -1, 2])
    symbols = [text for n in names for text in (n, f"{n}+1", f"2*{n}", f"{n}**2", f"1/({n}+2)")]
    return plain | plain | st.sampled_from(symbols)


@st.composite
def specs(draw):
    """Return a spec of up to three gated pathways over a few samples, one or two parameters."""
    names = draw(st.sampled_from([("a",), ("a", "b")]))
    samples = draw(st.integers(2, 4))
    rows = st.lists(entries(names), min_size=samples, max_size=samples)
    x, y = (draw(st.lists(rows, min_size=1, max_size=most)) for most in (3, 2))
    gate = st.lists(st.sampled_from([1, 1, 0, *names]), min_size=samples, max_size=samples)
    pathways = []
    for index in range(draw(st.integers(1, 3))):
        opened = draw(gate)
        assume(any(opened))
        stage = draw(st.integers(1, 2)) if index else 1
        pathways.append({"name": f"p{index}", "gate": opened, "stage": stage})
    used = [n for n in names if any(n in str(v) for v in (x, y, [p["gate"] for p in pathways]))]
    assume(used)
    return sr.load(tables(x, y, parameters={name: {} for name in used}, pathway=pathways))


def value_at(item: Any, point: Mapping[str, Fraction]) -> Fraction:
    names = item.polynomial.context().names()
    return Scalar(names, item.polynomial).substitute(point).to_fraction()


def derived_at(spec: sr.Spec, values: Mapping[str, Fraction]) -> Derivation | None:
    """Return the derivation at a point; None where data are infinite or a pathway is closed."""
    try:
        there = spec.at(values)
    except ZeroDivisionError:
        return None
    return derive_unchecked(there) if all(p.open_samples for p in there.pathways) else None


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
        if one.verdict.level not in CLOSED:
            break  # what a later stage learns follows a loss that was not followed
        assert one.final_loss.substitute(point).to_fraction() == two.final_loss.to_fraction()


small = st.fractions(min_value=-3, max_value=3, max_denominator=3) | st.integers(-3, 3).map(
    Fraction
)


@slow
@given(specs(), small, small)
def test_outside_the_sets_the_generic_answer_holds(spec, a, b):
    generic = derive_unchecked(spec)
    found = exceptional_sets(generic)
    point = {name: {"a_": a, "b_": b}[name] for name in found.parameters}
    assume(all(value_at(item, point) != 0 for item in (*found.sets, *found.outside)))
    assume(all("jumps" in text for text in found.undecided))
    # The residual of a stage that does not close is among what was not followed.
    assume(all(stage.verdict.level in CLOSED for stage in generic.stages[:-1]))
    assert_same(generic, derive_unchecked(spec.at(point)), point)


@slow
@given(specs())
def test_at_every_rational_root_what_is_proven_happens(spec):
    generic = derive_unchecked(spec)
    for item in exceptional_sets(generic).sets:
        for root in item.roots:
            if len(generic.spec.parameters) > 1 or root.scalar is None:
                continue
            value = root.scalar.to_fraction()
            there = derived_at(spec, {item.names[0]: value})
            if there is not None:
                check_consequences(generic, there, item, value)


def check_consequences(generic: Derivation, there: Derivation, item: Any, value: Fraction) -> None:
    first = generic.stages[0].stage
    for consequence in (each.values() for each in item.consequences):
        if not consequence["proven"] or consequence["stage"] != first:
            continue  # a later stage learns what is left at the point, not its limit
        for name in consequence["pathways"]:
            one, two = (next(p for p in d.pathways if p.name == name) for d in (generic, there))
            match consequence["effect"]:
                case "null":
                    assert learning(two) < learning(one)
                case "commutes":
                    assert (one.spectrum.commutes, two.spectrum.commutes) == (False, True)
                case "degenerate":
                    assert len(two.modes) < len(one.modes)
                case "jump" if generic.stages[0].verdict.level is sr.Level.CLOSED:
                    limit = generic.stages[0].final_loss.substitute({item.names[0]: value})
                    assert limit.to_fraction() < there.stages[0].final_loss.to_fraction()


def learning(pathway: PathwayDerivation) -> int:
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)
