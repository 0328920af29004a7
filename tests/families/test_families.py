"""Derivations for every size against ordinary derivations at numbers for the sizes."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import symreln as sr
from symreln.claims.families.certificate import conditions_of, sizes_closed_at, sizes_part
from symreln.claims.families.checks import broken_at, compare_at, wrong_image
from symreln.claims.families.derive import derive_family_unchecked
from symreln.claims.families.stage import Basis
from symreln.exact.truth import Truth
from symreln.specs.model import Spec
from symreln.verdict.judge import Level
from symreln.verifier import verify
from tests.families.examples import COMMON_ITEMS, EXAMPLES, OFF, THIRD, off, tables
from tests.unchecked import derive_unchecked
from tests.verifier.test_sizes import whole


def at(name: str, **values: int) -> Spec:
    """Return an example with other declared sizes."""
    spec = EXAMPLES[name]
    parameters = {
        key: table | {"value": values.get(key, table["value"])}
        for key, table in spec["parameters"].items()
    }
    return sr.load(spec | {"parameters": parameters})


def sizes_of(spec: Spec) -> dict[str, Fraction]:
    return {size.name: Fraction(size.value) for size in spec.sizes}


CASES = [
    *(("tree", {"C": contexts}) for contexts in (2, 3, 4, 5, 6)),
    *(("tree, items too", {"C": c, "n": n}) for c, n in ((2, 2), (3, 4), (4, 8), (2, 16))),
    *(("items alone", {"n": n}) for n in (2, 4, 8)),
    *((name, {"C": c}) for name in EXAMPLES for c in (2, 4) if not name.startswith(("tree", "it"))),
]


@pytest.mark.parametrize(("name", "values"), CASES)
def test_every_size_is_the_ordinary_derivation_at_that_size(
    name: str, values: dict[str, int]
) -> None:
    family = derive_family_unchecked(at(name))
    special = at(name, **values)
    assert family.template is not None
    assert not wrong_image(family.template, special.dataset, sizes_of(special))
    assert not broken_at(family, sizes_of(special))
    compare_at(family, derive_unchecked(special), sizes_of(special))


def least(spec: dict[str, Any], **minimum: int) -> dict[str, Any]:
    """Return the tables with other least sizes."""
    spec = copy.deepcopy(spec)
    for name, value in minimum.items():
        spec["parameters"][name]["minimum"] = value
    return spec


#: Tables, and the numbers of contexts at which their last stage is closed and not only by symmetry.
STRONGER = {
    "two gates meet in no third context": (EXAMPLES["tree"], (2,)),
    "a single context": (least(EXAMPLES["tree"], C=1), (2,)),
    "two at least three": (least(EXAMPLES["tree"], C=3), ()),
    "input of the context": (EXAMPLES["all inputs"], (2,)),
    "nothing is proven at three": (
        tables(scale="c*(C-3)", pathways=off(inputs=None), value=4),
        (2,),
    ),
    "only inputs of third contexts": (tables(pathways=THIRD), (2,)),
    "closed everywhere": (EXAMPLES["own context"], ()),
    "listed items": (EXAMPLES["irrational"], (2,)),
}


@pytest.mark.parametrize("name", STRONGER)
def test_a_stronger_level_is_listed_exactly_where_it_holds(name: str) -> None:
    spec, closed = STRONGER[name]
    family = derive_family_unchecked(sr.load(spec))
    last = family.stages[-1]
    assert sizes_closed_at(family, last) == ({"C": closed} if closed else {})
    # With one context its gate is never open, so no spec of numbers says that.
    for contexts in range(max(2, spec["parameters"]["C"]["minimum"]), 6):
        special = copy.deepcopy(spec)
        special["parameters"]["C"]["value"] = contexts
        if broken_at(family, {"C": Fraction(contexts)}) or last.level is None:
            continue
        found = derive_unchecked(sr.load(special)).stages[-1].verdict.level
        assert found is (Level.CLOSED if contexts in closed else last.level)


def test_two_contexts_for_every_number_of_items_are_closed() -> None:
    """No third context in which two gates could meet."""
    spec = sr.load(tables(items="n", contexts=2))
    family = derive_family_unchecked(spec)
    assert [stage.level for stage in family.stages] == [Level.CLOSED, Level.CLOSED]
    assert "closed" in verify(whole(family.ask(sizes_part)[0]))[-1]
    compare_at(family, derive_unchecked(spec), sizes_of(spec))


OWN = "context == {context}"
#: Pathways that see what few contexts have not: others, two others, any but the only one.
LAYOUTS: dict[str, list[dict[str, Any]]] = {
    "common": [{"name": "common", "gate": "all"}],
    "items": off(),
    "items alone": [OFF | {"stage": 1}],
    "contexts": THIRD,
    "contexts to all": [OFF | {"inputs": "contexts", "stage": 1}],
    "all to own": off(inputs=None, outputs="context_{context}"),
    "all after items": COMMON_ITEMS,
    "own context": off(gate=OWN, inputs=None),
    "every context": off(gate="all", outputs="context_{context}"),
    "own after others": [*THIRD, OFF | {"name": "own", "gate": OWN, "inputs": "contexts"}],
    "own beside others": [
        *THIRD,
        OFF | {"name": "own", "gate": OWN, "inputs": "contexts", "stage": 1},
    ],
}
CLOSED = (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)
#: With one context the gate of the others is never open, so no spec of numbers says that.
FEW = [
    (name, contexts)
    for name, pathways in LAYOUTS.items()
    for contexts in (1, 2, 3, 4)
    if contexts > 1 or not any("!=" in pathway["gate"] for pathway in pathways)
]


@pytest.mark.parametrize(
    ("name", "contexts", "scale"),
    [(*few, "c") for few in FEW] + [("common", 1, "0"), ("common", 3, "0"), ("contexts", 2, "0")],
)
def test_few_contexts_are_the_ordinary_derivations(name: str, contexts: int, scale: str) -> None:
    """Sectors that are empty at this number are left out, and no level is weaker for them."""
    spec = tables(items="n", contexts=contexts, scale=scale, pathways=LAYOUTS[name])
    if scale == "0":
        del spec["parameters"]["c"]
    family = derive_family_unchecked(sr.load(spec))
    verify(whole(family.ask(sizes_part)[0]))
    for items in (4, 8):
        spec["parameters"]["n"]["value"] = items
        special = sr.load(spec)
        assert family.template is not None
        assert not wrong_image(family.template, special.dataset, sizes_of(special))
        assert not broken_at(family, sizes_of(special))
        ordinary = derive_unchecked(special)
        compare_at(family, ordinary, sizes_of(special))
        levels = [stage.verdict.level for stage in ordinary.stages[: len(family.stages)]]
        assert [s.level for s in family.stages] == [x if x in CLOSED else None for x in levels]


@pytest.mark.parametrize(("name", "contexts"), FEW)
def test_sectors_that_are_empty_at_some_sizes_have_no_modes_there(name: str, contexts: int) -> None:
    """The number of contexts is a symbol from 1, so that C - 1 and C - 2 copies may be none."""
    spec = least(tables(items=4, pathways=LAYOUTS[name]), C=1)
    family = derive_family_unchecked(sr.load(spec))
    verify(whole(family.ask(sizes_part)[0]))
    spec["parameters"]["C"]["value"] = contexts
    sizes = {"C": Fraction(contexts)}
    broken = broken_at(family, sizes)
    assert not broken or contexts == 1  # no sample is open then, or s is 0
    if not broken:
        compare_at(family, derive_unchecked(sr.load(spec)), sizes)


def test_a_fixed_number_of_contexts_is_derived_with_its_checks() -> None:
    derivation = sr.derive(sr.load(tables(items="n", contexts=2, pathways=THIRD)))
    assert derivation.family is not None
    assert [step.outcome for step in derivation.family.steps] == [Truth.PROVEN] * 3
    (pathway,) = derivation.family.pathways
    # The other context's input, and the own one, which is never on: two inputs, two modes.
    assert [int(mode.multiplicity.to_fraction()) for mode in pathway.modes] == [1, 1]


def test_a_wrong_result_is_noticed() -> None:
    family = derive_family_unchecked(at("tree"))
    other = at("scale with a size", C=4)
    with pytest.raises(ArithmeticError, match="modes of pathway"):
        compare_at(family, derive_unchecked(other), sizes_of(other))


def test_a_wrong_loss_or_level_is_noticed() -> None:
    spec = at("tree")
    family, derivation = derive_family_unchecked(spec), derive_unchecked(spec)
    first, last = family.stages
    root, wavelets = last.sectors
    more = replace(wavelets, final_loss=wavelets.initial_loss)
    better = replace(wavelets, level=Level.CLOSED)
    for part, words in ((more, "loss that stage 2 leaves"), (better, "level of stage 2")):
        wrong = replace(family, stages=(first, replace(last, sectors=(root, part))))
        with pytest.raises(ArithmeticError, match=words):
            compare_at(wrong, derivation, sizes_of(spec))


def test_a_wrong_dataset_is_noticed() -> None:
    family = derive_family_unchecked(at("tree"))
    assert family.template is not None
    scaled = at("scale with a size", C=4)
    assert "X" in wrong_image(family.template, scaled.dataset, sizes_of(scaled))
    crossed = at("cross", C=4)
    assert "Y" in wrong_image(family.template, crossed.dataset, sizes_of(crossed))


def test_wrong_basis_vectors_are_noticed() -> None:
    spec = at("tree")
    template = derive_family_unchecked(spec).template
    assert template is not None

    def stretched(*sizes: Any) -> list[Basis]:
        return [replace(basis, scale=2 * basis.scale) for basis in template.basis(*sizes)]

    def missing(*sizes: Any) -> list[Basis]:
        return template.basis(*sizes)[:1]

    for basis, words in ((stretched, "squared lengths"), (missing, "number of basis vectors")):
        wrong = replace(template, basis=basis)
        assert words in wrong_image(wrong, spec.dataset, sizes_of(spec))


def test_contextual_for_all_sizes_has_the_known_modes() -> None:
    """Known answer: with tree eigenvalues 2n - 1 and n/u - 1, worked out by hand."""
    family = derive_family_unchecked(at("tree, items too"))
    symbols = family.symbols
    c, n, C, u = (symbols[name] for name in ("c", "n", "C", "u"))
    common, off_k = family.pathways
    found = {
        (mode.s.coefficients[0].to_sympy(symbols) - expected).simplify()
        for mode, expected in zip(
            common.modes,
            (
                (2 * n - 1) * (C + 1) * (C + n * c**2) / (n * C) ** 2,
                (2 * n - 1) * c**2 / (n * C**2),
                0,
                (n / u - 1) * (C + 1) / (C * n**2),
            ),
            strict=True,
        )
    }
    assert found == {0}
    last = off_k.modes[-1]
    assert last.d_eff is not None
    assert last.d_eff.to_sympy(symbols) == 1 / (n * C)
    assert (last.d.to_sympy(symbols) - (C - 1) / (n * C)).simplify() == 0
    assert last.multiplicity.to_sympy(symbols) == u
    assert common.modes[1].multiplicity.to_sympy(symbols) == C - 1


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (tables(pathways=off(gate="context < {context} or context > 1")), "tells contexts apart"),
        (tables(pathways=off(gate="context != {context} or context == 4")), "tells contexts apart"),
        (tables(pathways=[{"name": "first", "gate": "context == 1"}]), "tells contexts apart"),
        (tables(pathways=[{"name": "third", "gate": "context <= 3"}]), "tells contexts apart"),
        (tables(pathways=[{"name": "one", "gate": "all", "inputs": [0, 1]}]), "inputs of pathway"),
        (tables(items=32, pathways=[{"name": "a", "gate": "item == 1"}]), "one by one"),
    ],
)
def test_what_is_not_the_same_for_every_size_is_said(spec: dict, words: str) -> None:
    family = derive_family_unchecked(sr.load(spec))
    assert family.template is None
    assert words in family.reason


def test_a_gate_is_read_beyond_the_declared_sizes() -> None:
    """At C = 3 this gate is that of the other contexts; at C = 9 it is not."""
    gate = "context != {context} and context < 9"
    assert derive_family_unchecked(sr.load(tables(pathways=off(gate=gate)))).template is None


@pytest.mark.parametrize("name", ["joint training", "open stage", "no eigenbasis", "no multiple"])
def test_what_does_not_close_is_said_and_not_followed(name: str) -> None:
    family = derive_family_unchecked(at(name))
    assert not family.complete
    assert family.stages[-1].level is None
    assert family.stages[-1].obstacle
    open_parts = [part for part in family.stages[-1].sectors if part.obstacle]
    assert open_parts
    assert all(not part.d_eff and part.final_loss is None for part in open_parts)


def test_a_size_at_which_a_denominator_vanishes_is_excepted() -> None:
    """With all inputs a pathway has a mode of the C - 1 other contexts: nothing at C = 1."""
    spec = copy.deepcopy(EXAMPLES["all inputs"])
    spec["parameters"]["C"]["minimum"] = 1
    family = derive_family_unchecked(sr.load(spec))
    assert [(c.symbol, c.values) for c in family.ask(conditions_of)] == [("C", (1,))]
    assert broken_at(family, {"C": Fraction(1)})
    assert not broken_at(family, {"C": Fraction(2)})


def test_one_context_is_covered_where_nothing_vanishes() -> None:
    spec = tables(pathways=[{"name": "common", "gate": "all"}], value=1)
    spec["parameters"]["C"]["minimum"] = 1
    loaded = sr.load(spec)
    family = derive_family_unchecked(loaded)
    assert family.ask(conditions_of) == ()
    compare_at(family, derive_unchecked(loaded), {"C": Fraction(1)})


def test_derive_gives_the_family_with_its_checks() -> None:
    derivation = sr.derive(at("tree"))
    assert derivation.family is not None
    assert [step.outcome for step in derivation.family.steps] == [Truth.PROVEN] * 4
    assert sr.derive(sr.load("xor")).family is None
