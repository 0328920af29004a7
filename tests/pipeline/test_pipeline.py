"""The whole derivation against known answers."""

from __future__ import annotations

from fractions import Fraction

import pytest

import symreln as sr
from symreln.errors import InputError
from symreln.exact.radicals import _square_part
from symreln.exact.scalar import Scalar
from symreln.specs.spec import Parameter
from tests.cases import CASES, derived, found_modes, matrix_spec


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_known_answers(case):
    derivation = derived(case.name)
    assert derivation.verdict.level is case.level
    assert [p.name for p in derivation.pathways] == list(case.modes)
    for pathway in derivation.pathways:
        found = found_modes(pathway, derivation.spec.symbols)
        assert sorted(found, key=str) == sorted((m.key for m in case.modes[pathway.name]), key=str)


def test_values_with_many_digits_come_back():
    # At a = 10^-30 the radicands have 120 digits; factoring them for their squares takes for ever.
    a = Scalar.symbol("a", ("a",))
    parameter = Parameter(name="a", value=Fraction(1, 10**30))
    spec = matrix_spec([[1, 0], [0, 1]], [[1, 1], [0, a]], [[1, 1]], parameters=(parameter,))
    assert sr.derive(spec).at_values.closed


def test_squares_are_taken_out_of_numbers_of_any_size():
    prime = 2**127 - 1
    assert _square_part(12 * 49 * 10**40) == (14 * 10**20, 3)
    # Above 128 bits large primes are not searched for, but their squares are seen.
    assert _square_part(-12 * prime**2) == (2 * prime, -3)
    h, r = _square_part(12 * 7**3 * prime * (2**89 - 1))
    assert (h, h * h * r) == (14, 12 * 7**3 * prime * (2**89 - 1))


@pytest.mark.parametrize("case", CASES[:6], ids=lambda case: case.name)
def test_every_printed_trajectory_is_proven(case):
    derivation = derived(case.name)
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            assert mode.strength.residual() == 0
            assert mode.family == "two-layer balanced"
            # What is printed is derived for this mode: its own s, and d_eff, not d.
            symbols = derivation.spec.symbols
            assert mode.strength.s == mode.s.to_sympy(symbols)
            assert mode.strength.d == mode.d_eff.to_sympy(symbols)


@pytest.mark.parametrize("call", [sr.derive, sr.race, sr.gates, sr.replay, sr.depth])
def test_what_is_no_spec_is_said_with_what_to_write(call):
    with pytest.raises(
        InputError, match=rf'{call.__name__}: found a list; .*sr.{call.__name__}\("'
    ):
        call([[1, 0], [0, 1]])
