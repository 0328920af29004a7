"""The verifier accepts what was derived and nothing else."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

import symreln as sr
from symreln.claims.families.certificate import sizes_part
from symreln.claims.families.derive import derive_family_unchecked
from symreln.claims.families.stage import least_squares
from symreln.errors import CertificateError
from symreln.verifier import FORMAT, digest, verify
from symreln.verifier.numbers import PRIME, multiply, render
from symreln.verifier.reading import Given, Reader
from tests.certificates import leaves
from tests.families.examples import EXAMPLES, THIRD, tables

Json = Any
#: What may vary, and why: names claim nothing; a least size is proven with the rest; nothing stands
#: beside it at any size; a mask and the
#: sign of a feature that is learnt alone make another statement that is as true.
OTHER_STATEMENTS = re.compile(
    r"(sectors|pathways)\.\d+\.name"
    r"|(minimum|at)\.\w+"
    r"|pathways\.\d+\.outputs"
    r"|sectors\.0\.y\.[de]\.entries\.\d+\.2"
)
#: Lists whose order means nothing.
SETS = re.compile(r"symbols|divisors|stages\.\d+\.sectors\.\d+\.pathways\.\d+")


@cache
def certificate(name: str) -> str:
    return json.dumps(derive_family_unchecked(sr.load(EXAMPLES[name])).ask(sizes_part)[0])


def whole(part: Json) -> Json:
    """A certificate of nothing but a part on every size."""
    header = {"format": FORMAT, "spec": "0" * 64, "free_constants": 0, "level": None}
    found = {**header, "parameters": [], "inputs": None, "targets": None, "parts": [part]}
    return {**found, "digest": digest(found)}


def proven(part: Json) -> tuple[str, ...]:
    return verify(whole(part))


def variants(value: Json) -> list[Json]:
    """Return other values of one field."""
    if value is None:
        return ["0", []]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, str):
        return [v for v in (bumped(value), f"2*{value}", "0", f"-{value}") if v != value]
    if isinstance(value, list):
        found = [value[:-1], value[1:], [*value, *value[-1:]]]
        return [v for v in [*found, value[::-1]] if v != value]
    return [None, {k: v for n, (k, v) in enumerate(value.items()) if n} if value else {"C": [2]}]


def bumped(text: str) -> str:
    """Return a text with its first number one larger, or with 1 added."""
    changed = re.sub(r"\d+", lambda found: str(int(found[0]) + 1), text, count=1)
    return changed if changed != text else f"{text} + 1"


def mutants(name: str) -> Iterator[tuple[str, Json]]:
    """Yield every mutation of one field that could change what is claimed."""
    original = json.loads(certificate(name))
    for path in leaves(original):
        where = ".".join(map(str, path))
        if path[0] == "digest":
            continue
        holder = original
        for key in path[:-1]:
            holder = holder[key]
        kept = holder[path[-1]]
        for value in variants(copy.deepcopy(kept)):
            if SETS.fullmatch(where) and isinstance(kept, list) and value == kept[::-1]:
                continue
            holder[path[-1]] = value
            yield f"{where} = {json.dumps(value)[:60]}", original
            holder[path[-1]] = kept


def accepted(name: str, share: float) -> tuple[int, list[str]]:
    """Return (how many mutants were tried, those that the verifier accepts)."""
    random = Random(name)
    tried, found = 0, []
    for where, mutant in mutants(name):
        if random.random() >= share:
            continue
        tried += 1
        try:
            proven(mutant)
        except CertificateError:
            continue
        if not OTHER_STATEMENTS.match(where.split(" = ")[0]):
            found.append(where)
    return tried, found


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_was_derived_is_accepted(name: str) -> None:
    family = derive_family_unchecked(sr.load(EXAMPLES[name]))
    lines = proven(json.loads(certificate(name)))
    assert len(lines) == len(family.stages)
    assert all(s.level_name in line for s, line in zip(family.stages, lines, strict=True))


def test_the_range_is_said_with_all_that_is_excepted() -> None:
    """A scale of c/(C - 3) is infinite at C = 3; nothing is proven there."""
    found = derive_family_unchecked(sr.load(tables(scale="c/(C-3)", value=4))).ask(sizes_part)[0]
    first, second = proven(found)
    assert first.endswith("closed, for C >= 2, except C = 3, for generic c")
    assert second.endswith(", except C = 3, for generic c")
    unknown = derive_family_unchecked(sr.load(tables(scale="c/(C-n)", items="n", value=5)))
    assert "except where n - C = 0" in proven(unknown.ask(sizes_part)[0])[0]


def test_a_tree_has_a_power_of_two_of_items() -> None:
    found = json.loads(certificate("tree, items too"))
    assert "for n a power of 2, at least 2 and C >= 2" in proven(found)[0]
    found["minimum"]["n"] = 4
    assert "n a power of 2, at least 4" in proven(found)[0]
    for least in (1, 3, 6):
        found["minimum"]["n"], found["at"]["n"] = least, 8
        with pytest.raises(CertificateError, match="minimum"):
            proven(found)
    spec = copy.deepcopy(EXAMPLES["tree, items too"])
    spec["parameters"]["n"]["minimum"] = 3
    assert derive_family_unchecked(sr.load(spec)).ask(sizes_part)[0]["minimum"]["n"] == 4


def test_no_mutation_of_one_field_is_accepted() -> None:
    """A few of each certificate's mutants; `python -m tests.campaigns.mutations` tries all."""
    results = {name: accepted(name, 0.02) for name in ("tree", "all inputs", "joint training")}
    assert {name: found for name, (_, found) in results.items() if found} == {}
    assert sum(tried for tried, _ in results.values()) >= 40


#: The dataset and the gates that a certificate speaks of. What no pathway sees, or an open stage
#: does not claim, may differ: the same lines are then true of another dataset.
STATEMENT = re.compile(r"(sectors|pathways|items|tree)\b")


@pytest.mark.parametrize("place", [-1, 1, 0.0, False, None, "0"])
def test_a_pathway_has_one_number(place: Json) -> None:
    """Python would read -1, 0.0 or False as a place, and one pathway would pass for two."""
    found = json.loads(certificate("no multiple"))
    assert found["stages"][0]["pathways"] == [0]
    found["stages"][0]["pathways"] = [place]
    with pytest.raises(CertificateError):
        proven(found)


def test_a_stale_digest_is_refused() -> None:
    changed = whole(json.loads(certificate("tree")))
    changed["parts"][0]["pathways"][0]["name"] = "other"
    with pytest.raises(CertificateError, match="digest"):
        verify(changed)


def test_a_condition_left_out_is_refused() -> None:
    """A size at which a denominator vanishes must be listed."""
    spec = copy.deepcopy(EXAMPLES["all inputs"])
    spec["parameters"]["C"]["minimum"] = 1
    found = derive_family_unchecked(sr.load(spec)).ask(sizes_part)[0]
    listed = [d for d in found["divisors"] if d["values"]]
    assert [(d["symbol"], d["values"]) for d in listed] == [("C", [1])]
    proven(found)
    listed[0]["values"] = []
    with pytest.raises(CertificateError, match="zeros"):
        proven(found)


@pytest.mark.parametrize("closed", [{}, {"C": []}, {"C": [2, 3]}, {"C": [4]}, {"c": [2]}, [], 2])
def test_only_the_sizes_at_which_no_pathways_meet_are_closed(closed: Json) -> None:
    found = json.loads(certificate("tree"))
    assert found["stages"][1]["closed_at"] == {"C": [2]}
    found["stages"][1]["closed_at"] = closed
    with pytest.raises(CertificateError, match="closed_at"):
        proven(found)


def third(contexts: int | str) -> Json:
    """Return a certificate whose pathways see C - 1 contexts that are exchangeable."""
    items = 4 if contexts == "C" else "n"
    spec = tables(items=items, contexts=contexts, pathways=THIRD)
    return copy.deepcopy(derive_family_unchecked(sr.load(spec)).ask(sizes_part)[0])


def root_classes(found: Json) -> list[Json]:
    return found["stages"][0]["sectors"][0]["pathways"][0]


def test_no_sector_that_has_copies_can_be_left_out() -> None:
    """With C = 3, or a symbol, C - 2 combinations of inputs sum to zero; with C = 2 none does."""
    two, three, every = third(2), third(3), third("C")
    assert [len(root_classes(found)) for found in (two, three, every)] == [2, 3, 3]
    assert root_classes(every)[-1]["multiplicity"] == "1*C^1 + -2"
    for found in (three, every):
        proven(found)
        for place in range(3):
            less = copy.deepcopy(found)
            del root_classes(less)[place]
            with pytest.raises(CertificateError, match="add up to 1"):
                proven(less)


@pytest.mark.parametrize("changes", [{}, {"samples": "3*n^1"}])
def test_the_proof_for_two_contexts_is_none_for_three(changes: Json) -> None:
    lie = third(2) | {"count": "3"} | changes
    if changes:
        lie["per_sample"] = "1 / 3*n^1"
    with pytest.raises(CertificateError, match="f.T. E = 0" if changes else "samples"):
        proven(lie)


def test_an_empty_sector_has_no_class() -> None:
    """At C = 2 its projector is 0: written as D and -D it is nothing that is seen."""
    found = third(2)
    empty = third(3)
    extra = root_classes(empty)[-1]
    assert extra["multiplicity"] == "1"
    size = root_classes(found)[0]["projector"]["e"]["rows"]

    def table(entries: list[Json]) -> Json:
        return {"rows": size, "columns": size, "denominator": "1", "entries": entries}

    for d, e in (([[1, 1, "1"]], [[1, 1, "-1"]]), ([], [])):
        more = copy.deepcopy(found)
        projector = {"d": table(d), "e": table(e)}
        root_classes(more).append(extra | {"multiplicity": "0", "projector": projector})
        with pytest.raises(CertificateError):
            proven(more)
    moved = copy.deepcopy(found)
    one = next(
        c["projector"] for c in root_classes(moved) if c["projector"]["e"]["entries"][-1][0] == 1
    )
    one["d"], one["e"] = one["e"], table([])
    with pytest.raises(CertificateError, match="seen at this number"):
        proven(moved)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": "0"}, "count"),
        ({"count": "1"}, "seen at this number"),
        ({"count": "3"}, "samples"),
        ({"samples": "1*n^1", "per_sample": "1 / 1*n^1"}, "samples"),
        (
            {"symbols": ["c", "n", "u", "C"], "minimum": {"n": 2, "C": 2}, "at": {"n": 4, "C": 2}},
            "minimum",
        ),
    ],
)
def test_sizes_and_samples_are_those_of_the_dataset(changes: Json, words: str) -> None:
    found = third(2)
    with pytest.raises(CertificateError, match=words):
        proven(found | changes)


def test_inputs_that_are_always_zero_are_null() -> None:
    spec = tables(items="n", scale="0", pathways=THIRD)
    del spec["parameters"]["c"]
    found = derive_family_unchecked(sr.load(spec)).ask(sizes_part)[0]
    assert "closed, for" in proven(found)[0]
    (null,) = root_classes(found)
    assert (null["s_squared"], null["multiplicity"]) == (["0"], "1*C^1")


@pytest.mark.parametrize("space", ["inputs", "outputs", "samples"])
def test_what_no_sample_has_is_no_part_of_the_dataset(space: str) -> None:
    """Types without entries would go unnoticed where no pathway sees or writes them."""
    found = json.loads(certificate("irrational"))
    (sector,) = found["sectors"]
    sector[space].append(sector[space][-1])
    side = "columns" if space == "samples" else "rows"
    for matrix in ("x", "y") if space == "samples" else "x" if space == "inputs" else "y":
        for part in "de":
            sector[matrix][part][side] += 1
    with pytest.raises(CertificateError, match="rows and columns that are zero"):
        proven(found)


def test_a_consistent_lie_about_d_eff_is_refused() -> None:
    """With d_eff = d, its inverse and the loss that would be left, only the couplings object."""
    family = derive_family_unchecked(sr.load(EXAMPLES["tree"]))
    last = family.stages[-1]
    part = last.sectors[-1]
    first = family.stages[0].sectors[-1]
    targets = least_squares(first.learners, first.d_eff, part.sector.targets)
    wrong = {(0, 0): part.learners[0].classes[0].d}
    assert part.d_eff.keys() == wrong.keys()
    left = least_squares(part.learners, wrong, targets)
    assert family.template is not None
    loss = (left.adjoint @ left).trace() / (2 * family.template.samples)
    lie = replace(part, d_eff=wrong, final_loss=loss)
    stages = (family.stages[0], replace(last, sectors=(last.sectors[0], lie)))
    with pytest.raises(CertificateError, match="couplings"):
        proven(replace(family, stages=stages).ask(sizes_part)[0])


def test_wrong_eigenvalues_of_the_tree_are_refused() -> None:
    changed = json.loads(certificate("tree"))
    for key, text in (("root", "3*n^1 + -2"), ("wavelets_times_u", "1*n^1")):
        wrong = copy.deepcopy(changed)
        wrong["tree"][key] = text
        with pytest.raises(CertificateError, match="induction"):
            proven(wrong)


@pytest.mark.parametrize("value", [None, [], {}, "text", 3, {"format": FORMAT}])
def test_what_is_no_certificate_is_refused(value: Json) -> None:
    with pytest.raises(CertificateError):
        verify(value)


EIGHT_ITEMS = ("dataset.items=8",)


@pytest.mark.parametrize("overrides", [(), ("parameters.C.value=5",), EIGHT_ITEMS])
def test_a_family_belongs_to_its_own_derivation_only(overrides):
    own = sr.derive(sr.load("contextual-C", overrides=overrides))
    assert own.family is not None
    assert len(verify(own.certificate)) == 4
    for other in ("xor", "linear-hierarchy", "contextual-3-modular"):
        with pytest.raises(CertificateError, match=r"parts\[1\]"):
            verify(joined(sr.derive(sr.load(other)).certificate, own.family.ask(sizes_part)[0]))


def joined(certificate: Json, part: Json) -> Json:
    """A certificate with a part on every size."""
    found = {**certificate, "parts": [certificate["parts"][0], part]}
    return {**found, "digest": digest(found)}


def test_a_family_of_other_sizes_scales_or_pathways_is_foreign():
    own = sr.derive(sr.load("contextual-C"))
    assert own.family is not None
    part = own.family.ask(sizes_part)[0]
    for at, reason in (({"C": 4}, "samples"), ({"C": 1}, "range"), ({"n": 3}, "samples")):
        with pytest.raises(CertificateError, match=reason):
            verify(joined(own.certificate, {**part, "at": {**part["at"], **at}}))
    for at in ({}, {"C": 3}, {"m": 3}):
        with pytest.raises(CertificateError, match="at"):
            verify(joined(own.certificate, {**part, "at": at}))
    # Proven by itself, of as many samples and pathways of the same names.
    for overrides in (['dataset.context_scale="2*c"'], ['pathway.off.gate="context == {context}"']):
        spec = sr.load("contextual-C", overrides=overrides)
        other = derive_family_unchecked(spec).ask(sizes_part)[0]
        assert proven(other)
        with pytest.raises(CertificateError, match=r"of the (modes|first part's)"):
            verify(joined(own.certificate, other))


def foreign(**changes: Any) -> Json:
    """A family like that of contextual-C, of another dataset."""
    return derive_family_unchecked(sr.load(tables(**changes))).ask(sizes_part)[0]


def test_numbers_that_agree_modulo_a_prime_are_other_numbers() -> None:
    own = sr.derive(sr.load(tables()))
    assert verify(joined(own.certificate, foreign()))
    other = foreign(scale=f"{PRIME + 1}*c")
    assert proven(other)
    with pytest.raises(CertificateError, match="of the modes"):
        verify(joined(own.certificate, other))


def test_a_divisor_that_vanishes_modulo_a_prime_hides_nothing() -> None:
    """It never vanishes, and counts as one that occurs where a loss is padded with it."""
    own, other = sr.derive(sr.load(tables())), foreign(scale="2*c")
    read = Reader(Given(other["symbols"]))
    divisor = read.poly(f"1*C^1 + {PRIME - 3}")
    sector = other["stages"][0]["sectors"][1]
    padded = (multiply(read.poly(x), divisor) for x in sector["initial_loss"].split(" / "))
    sector["initial_loss"] = " / ".join(render(x, read.names) for x in padded)
    shown = {"polynomial": render(divisor, read.names), "symbol": None, "values": None}
    other["divisors"].append(shown)
    assert proven(other)
    with pytest.raises(CertificateError, match="of the modes"):
        verify(joined(own.certificate, other))


def test_an_open_stage_is_compared_too() -> None:
    own, other = sr.derive(sr.load(tables())), foreign(scale="2*c")
    for part, reason in ((opened(foreign()), ""), (opened(other), "of the modes")):
        assert "open" in proven(part)[0]
        if reason:
            with pytest.raises(CertificateError, match=reason):
                verify(joined(own.certificate, part))
        else:
            assert "open" in verify(joined(own.certificate, part))[-1]


def opened(part: Json) -> Json:
    """A family that claims of its first stage no more than the modes."""
    stage = part["stages"][0]
    part["stages"], stage["level"] = [stage], "open"
    for sector in stage["sectors"]:
        sector |= {"level": "open", "final_loss": None}
        for one in (one for classes in sector["pathways"] for one in classes or ()):
            one |= {"d_eff": None, "inverse_d_eff": None}
    texts = json.dumps([part["sectors"], part["stages"]])
    part["divisors"] = [d for d in part["divisors"] if occurs(part, d, texts)]
    return part


def occurs(part: Json, divisor: Json, texts: str) -> bool:
    """Whether the verifier misses a divisor that is left out."""
    rest = [other for other in part["divisors"] if other is not divisor]
    try:
        proven({**part, "divisors": rest})
    except CertificateError as error:
        return "those that occur" not in str(error)
    return divisor["polynomial"] in texts


def test_sizes_at_which_nothing_is_claimed_have_no_family() -> None:
    """At C = 3 the context inputs are 0."""
    spec = tables(scale="C-3")
    del spec["parameters"]["c"]
    own = sr.derive(sr.load(spec))
    assert own.family is not None
    assert "at C = 3 a quantity vanishes" in own.family.reason
    assert len(own.certificate["parts"]) == 1
    part = derive_family_unchecked(sr.load(spec)).ask(sizes_part)[0]
    assert proven(part)
    with pytest.raises(CertificateError, match="no divisor is 0"):
        verify(joined(own.certificate, part))


def test_a_tree_has_a_power_of_two_items() -> None:
    spec = sr.load(EXAMPLES["tree"])
    assert proven(derive_family_unchecked(spec).ask(sizes_part)[0])
    six = replace(spec, written={**spec.written, "items": "6"})
    with pytest.raises(CertificateError, match="power of 2"):
        proven(derive_family_unchecked(six).ask(sizes_part)[0])


def test_the_number_of_copies_is_no_size() -> None:
    part = json.loads(certificate("tree"))
    part["copies"] = "C"
    with pytest.raises(CertificateError, match=r"\.minimum: "):
        proven(part)


def test_squared_lengths_are_above_zero() -> None:
    """With all of them negative the loss is, and nothing else of an open stage."""
    part = foreign(structures="ring")
    assert [stage["level"] for stage in part["stages"]] == ["open"]
    (sector,) = part["sectors"]
    for kind in sector["outputs"]:
        kind[2:] = ["-1", "-1"]
    shown = part["stages"][0]["sectors"][0]
    shown["initial_loss"] = "-" + shown["initial_loss"]
    with pytest.raises(CertificateError, match="above 0"):
        proven(part)


def test_nothing_vanishes_in_the_range_that_is_said_not_to() -> None:
    """One context fewer than two leaves no sample open: s is 0 there, and was said to be more."""
    part = json.loads(certificate("tree"))
    assert part["minimum"] == {"C": 2}
    part["minimum"]["C"] = 1
    with pytest.raises(CertificateError, match="divisors"):
        proven(part)
    spec = copy.deepcopy(EXAMPLES["tree"])
    spec["parameters"]["C"]["minimum"] = 1
    found = derive_family_unchecked(sr.load(spec)).ask(sizes_part)[0]
    assert "except C = 1" in proven(found)[1]
    listed = next(d for d in found["divisors"] if d["values"] == [1])
    forged = copy.deepcopy(found)
    forged["divisors"] = [d for d in found["divisors"] if d != listed]
    with pytest.raises(CertificateError, match="product of divisors"):
        proven(forged)


@pytest.mark.parametrize(("weight", "allowed"), [(0, True), (10**9 + 1, False), (-1, False)])
def test_an_operator_weighs_the_input_correlation_within_bounds(weight: int, allowed: bool) -> None:
    """Of a class of several roots; of one root there is no operator to weigh."""
    part = json.loads(certificate("irrational"))
    pathway = part["stages"][1]["sectors"][0]["pathways"][0]
    several, single = (
        next(c for c in pathway if (len(c["minpoly"]) > 1) is many) for many in (True, False)
    )
    several["weight"] = weight
    if allowed:
        assert proven(part)
        single["weight"] = 1
    with pytest.raises(CertificateError, match=r"weight: .* from 0 to (0|1000000000)"):
        proven(part)
