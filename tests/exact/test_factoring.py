"""Factors of polynomials with coefficients of any size."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from symreln.exact.factoring import _over_rationals, factorisation
from symreln.exact.scalar import polynomial_ring
from tests.strategies import examples, seeds

RING = polynomial_ring(("a", "b"))
A, B = RING.gens()


def product(content, factors):
    result = RING.constant(content)
    for factor, exponent in factors:
        result *= factor**exponent
    return result


@pytest.mark.parametrize("size", [1, 2**62, 2**63, 10**30, 10**400])
@pytest.mark.parametrize("content", [1, -6])
def test_two_factors_with_coefficients_beyond_a_machine_word(size, content):
    p, q = A * size + B + 1, A - B * size + 3
    found, factors = factorisation(p * q * content)
    assert found == content
    assert {str(f) for f, _ in factors} == {str(p), str(q)}
    assert all(exponent == 1 for _, exponent in factors)


@examples(240)
@given(seeds)
def test_both_routes_agree(seed):
    random = Random(seed)
    whole = RING.constant(random.choice([-4, 1, 9]))
    for _ in range(random.randint(1, 3)):
        terms = {
            (random.randint(0, 2), random.randint(0, 2)): random.randint(-9, 9) for _ in range(3)
        }
        factor = RING.from_dict({key: value for key, value in terms.items() if value}) or A
        whole *= factor ** random.randint(1, 2)
    content, factors = factorisation(whole)
    again, others = _over_rationals(whole)
    assert content == again
    assert sorted((str(f), e) for f, e in factors) == sorted((str(f), e) for f, e in others)
    assert product(content, factors) == whole
