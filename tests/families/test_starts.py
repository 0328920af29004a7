"""Head starts for every size against those of ordinary derivations at numbers for the sizes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.claims.families.checks import _members, _with_copies
from symreln.claims.families.derivation import FamilyDerivation, FamilyMode
from symreln.claims.families.derive import derive_family_unchecked
from symreln.claims.head_copies import Copies
from symreln.claims.head_start import mode_laws
from symreln.laws.law import STRENGTH0, TIME_CONSTANT
from symreln.laws.sigmoid_drive import GROWN, LETTERS, letters, start_factor
from tests.families.examples import EXAMPLES, off, tables
from tests.report.read_latex import read_latex
from tests.unchecked import derive_unchecked


def test_the_printed_start_is_the_one_that_is_evaluated() -> None:
    symbols = sp.symbols("s r gamma t_alpha tau F", positive=True)
    shown = GROWN.replace(r"\left[", "(").replace(r"\right]", ")").replace(r"\chi", "F")
    read = read_latex(shown, symbols)
    s, r, overlap, time, tau, factor = symbols
    assert sp.simplify(read - start_factor(s, r, overlap, time, tau, factor**4)) == 0


def test_the_printed_letters_are_those_that_are_evaluated() -> None:
    s, r, overlap, source = symbols = sp.symbols("s r gamma s_alpha", positive=True)
    values = letters(r, s, overlap, source, sp.sqrt)
    for shown, value in zip(LETTERS.split(r", \quad "), values, strict=True):
        assert sp.simplify(read_latex(shown.split(" = ")[1], symbols) - value) == 0


def at(spec: dict[str, Any], **values: int) -> dict[str, Any]:
    """Return a spec with other values."""
    tables_ = spec["parameters"]
    changed = {k: t | {"value": values.get(k, t["value"])} for k, t in tables_.items()}
    return spec | {"parameters": changed}


def pairs(
    family: FamilyDerivation, special: sr.Derivation
) -> Iterator[tuple[FamilyMode, dict[sp.Basic, Any], tuple[Copies, ...]]]:
    """Yield every mode with the values of all symbols and the closed form of the same mode."""
    laws = mode_laws(special.at_values)
    for pathway in family.pathways:
        member = special.at_values.pathways[_members(special, pathway.template)[0]]
        for mode in pathway.modes:
            if mode.law is None:
                continue
            sizes = {size.name: Fraction(size.value) for size in special.spec.sizes}
            for numbers in _with_copies(family.template, sizes, mode.sector):
                values = family.values | numbers
                if not mode.multiplicity.substitute(values).to_fraction():
                    continue
                known = mode.s.to_float(values)
                label = next(m.label for m in member.modes if np.isclose(m.s.to_float({}), known))
                at_ = {family.symbols[name]: sp.Rational(str(v)) for name, v in values.items()}
                at_ |= {TIME_CONSTANT: float(special.tau), STRENGTH0: float(special.strength0)}
                yield mode, at_, laws[label]


@pytest.mark.parametrize("items", [8, "n"])
def test_a_context_is_driven_c_times_as_fast(items):
    """Known answer (theory.md, 10): r = C s with the new direction at cos = 1/C from u."""
    family = derive_family_unchecked(sr.load(tables(items=items)))
    contexts = family.template.domain.symbol("C")
    (mode,) = (mode for mode in family.pathways[1].modes if mode.ahead)
    assert mode.ahead.driven.faster_squared == contexts**2
    assert mode.ahead.driven.along == 1
    assert mode.ahead.faster == family.symbols["C"]
    assert mode.ahead.by.sector is mode.sector
    assert all(mode.ahead is None for mode in family.pathways[0].modes)


@pytest.mark.parametrize(("contexts", "scale"), [(3, "1"), (4, "11/10"), (5, "27/20")])
def test_starts_and_half_times_are_those_of_the_ordinary_derivation(contexts, scale):
    override = (f"parameters.C.value={contexts}", f"parameters.c.value={scale}")
    special = sr.derive(sr.load("contextual-C", overrides=override))
    ahead = 0
    for mode, values, (copies,) in pairs(special.family, special):
        assert float(mode.strength0.subs(values)) == pytest.approx(
            float(copies.law.strength0), rel=1e-9
        )
        assert float(mode.half_time.subs(values)) == pytest.approx(
            float(copies.law.half_time), rel=1e-9
        )
        assert bool(copies.reached_by) == bool(mode.ahead)
        ahead += mode.ahead is not None
    assert ahead == 3


@pytest.mark.parametrize(
    "name", ["all inputs", "own context", "own context and outputs", "cross", "irrational"]
)
@pytest.mark.parametrize("contexts", [3, 4])
def test_other_gates_and_targets_too_or_it_is_said_why_not(name, contexts):
    """Whatever the size, the gate and what is written: the general formula with Φ, in floats."""
    family = derive_family_unchecked(sr.load(EXAMPLES[name]))
    special = derive_unchecked(sr.load(at(EXAMPLES[name], C=contexts)))
    driven = 0
    for mode, values, groups in pairs(family, special):
        if mode.obstacle:
            assert mode.strength0 is None
            assert all(len(copies.reached_by) > 1 for copies in groups)
            continue
        (copies,) = groups
        assert bool(copies.reached_by) == bool(mode.ahead)
        assert float(mode.strength0.subs(values)) == pytest.approx(
            float(copies.law.strength0), rel=1e-9
        )
        driven += mode.ahead is not None
    assert driven


def test_the_formula_is_the_one_that_is_known_where_the_drive_is_large():
    """((1 + s/r)/2)² ((1 + r/τ)/(1 + s/τ))^(2t), and what is left out is small."""
    s, r, tau, time = 0.09, 0.27, 1000 / 24, 1077.0
    known = ((1 + s / r) / 2) ** 2 * ((1 + r / tau) / (1 + s / tau)) ** (2 * time)
    assert float(start_factor(s, r, s / r, time, tau, 1)) == pytest.approx(known, rel=1e-5)
    assert float(start_factor(s, r, s / r, 0, tau, 1)) == pytest.approx(1, rel=1e-14)
    assert float(start_factor(s, s, 1, time, tau, 1)) == pytest.approx(1, rel=1e-14)


def test_a_start_that_is_not_derived_is_said_with_its_reason():
    text = " ".join(sr.derive(sr.load(EXAMPLES["cross"])).to_latex().split())
    assert "start of its own not derived for every size" in text
    assert "several earlier modes reach it" in text


def test_one_stage_has_no_head_start():
    family = derive_family_unchecked(sr.load(tables(pathways=off(stage=1), items=8)))
    assert not any(mode.ahead or mode.obstacle for p in family.pathways for mode in p.modes)
