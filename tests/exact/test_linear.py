"""Inverses, pseudo-inverses, ranks, determinants over Q and Q(parameters)."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from flint import fmpq_mat

from symreln.errors import InputError
from symreln.exact import polynomials
from symreln.exact.linear import (
    characteristic,
    complement_projector,
    coordinates,
    evaluate,
    inverse,
    pseudo_inverse,
    rank,
)
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from tests.certificates import contextual
from tests.strategies import exact, parametric_matrix, rational_matrix, rational_point


def assert_moore_penrose(a: ExactMatrix) -> None:
    p = pseudo_inverse(a)
    assert a @ p @ a == a
    assert p @ a @ p == p
    assert a @ p == (a @ p).T
    assert p == p.T


def test_pseudo_inverse_over_q() -> None:
    for seed in range(60):
        random = Random(seed)
        size = random.randint(1, 6)
        root = exact(rational_matrix(random, size, random.randint(1, 6)))
        assert_moore_penrose(root @ root.T)


def test_pseudo_inverse_with_parameters() -> None:
    for seed in range(50):
        random = Random(seed)
        names = ("c",) if seed % 3 else ("a", "b")
        size = random.randint(1, 4 if seed % 3 else 3)
        root = parametric_matrix(random, size, random.randint(1, 4), names, density=0.5)
        assert_moore_penrose(root @ root.T)


def test_pseudo_inverse_at_a_point_is_that_of_the_value_where_the_rank_holds() -> None:
    compared = 0
    for seed in range(60):
        random = Random(seed)
        root = parametric_matrix(random, 3, 2, ("c",))
        a = root @ root.T
        point = rational_point(random, ("c",))
        if rank(a.substitute(point)) == rank(a):
            compared += 1
            assert pseudo_inverse(a).substitute(point) == pseudo_inverse(a.substitute(point))
    assert compared > 40


def test_pseudo_inverse_of_the_five_context_task_is_quick() -> None:
    x, _ = contextual(8, 5, Scalar.symbol("c", ("c",)), ("c",))
    sigma_x = (x @ x.T).scale(Fraction(1, 40))
    start = time.process_time()
    assert_moore_penrose(sigma_x)
    assert time.process_time() - start < 0.3  # the demand; measured 0.01 s


def test_pseudo_inverse_refuses_what_is_not_symmetric() -> None:
    with pytest.raises(InputError, match="symmetric"):
        pseudo_inverse(ExactMatrix.from_rows([[0, 1], [0, 0]]))
    with pytest.raises(InputError, match="square"):
        inverse(ExactMatrix.zeros(2, 3))


def test_inverse() -> None:
    done = 0
    for seed in range(60):
        random = Random(seed)
        names = ((), ("c",), ("a", "b"))[seed % 3]
        size = random.randint(1, 3)
        a = parametric_matrix(random, size, size, names, density=0.9)
        if rank(a) < size:
            with pytest.raises(ZeroDivisionError):
                inverse(a)
            continue
        done += 1
        one = ExactMatrix.identity(size, names)
        assert a @ inverse(a) == one
        assert inverse(a) @ a == one
    assert done > 30


def test_rank_against_numpy_at_a_generic_point() -> None:
    for seed in range(60):
        random = Random(seed)
        names = ((), ("c",), ("a", "b"))[seed % 3]
        inner = random.randint(1, 3)
        left = parametric_matrix(random, random.randint(1, 4), inner, names)
        right = parametric_matrix(random, inner, random.randint(1, 4), names)
        a = left @ right
        # Small numbers at a point without meaning: its rank is the generic one.
        point = {name: Fraction(17, 13 + index) for index, name in enumerate(names)}
        assert rank(a) == np.linalg.matrix_rank(a.substitute(point).to_numpy()), seed


def test_projectors() -> None:
    c = Scalar.symbol("c", ("c",))
    columns = ExactMatrix.from_rows([[1, 0, 1], [c, 1, c], [0, c, 0]], ("c",))
    p = complement_projector(columns)
    assert p @ p == p
    assert p == p.T
    assert (p @ columns).is_zero
    assert p.trace() == 1
    assert complement_projector(ExactMatrix.zeros(2, 0)) == ExactMatrix.identity(2)


def test_characteristic_polynomials_vanish_on_their_matrix() -> None:
    for seed in range(40):
        random = Random(seed)
        names = ((), ("c",), ("a", "b"))[seed % 3]
        size = random.randint(1, 4)
        a = parametric_matrix(random, size, size, names).scale(Fraction(1, 3))
        coefficients = characteristic(a)
        assert len(coefficients) == size + 1
        assert coefficients[-1] == 1
        assert evaluate(coefficients, a, ExactMatrix.identity(size, names)).is_zero


# -- polynomials ----------------------------------------------------------------------------------


def test_packed_characteristic_polynomial_against_substitution() -> None:
    """One integer determinant for a determinant of polynomials: compared at rational points."""
    for seed in range(50):
        random = Random(seed)
        names = (("c",), ("a", "b"), ("a", "b", "c"))[seed % 3]
        size = random.randint(1, 5)
        a = parametric_matrix(random, size, size, names)
        if random.random() < 0.5:
            a = a @ a  # larger coefficients and degrees, negative ones too
        found = polynomials.characteristic(a.numerators(), names)
        point = rational_point(random, names)
        values = [Scalar(names, v).substitute(point).to_fraction() for v in found]
        numeric = fmpq_mat(size, size, [
            _fmpq(entry) for row in a.substitute(point).to_fractions()
            for entry in row
        ]).charpoly()  # fmt: skip
        assert values == [Fraction(int(v.p), int(v.q)) for v in numeric.coeffs()], seed


def _fmpq(value: Fraction):
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


def test_coordinates_of_what_is_there_and_none_of_what_is_not() -> None:
    done = 0
    for seed in range(80):
        random = Random(seed)
        columns = parametric_matrix(random, 4, 2, ("c",)).scale(Fraction(1, 3))
        if rank(columns) < 2:
            assert coordinates(columns, columns) is None
            continue
        weights = parametric_matrix(random, 2, 3, ("c",)).scale(Fraction(2, 5))
        target = columns @ weights
        assert coordinates(columns, target) == weights
        other = target + ExactMatrix.from_rows([[1, 0, 0]] + [[0] * 3] * 3)
        outside = rank(ExactMatrix.beside([columns, other])) == 3
        assert (coordinates(columns, other) is None) == outside
        done += outside
    assert done > 30


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_constant_matrix_is_inverted_by_what_hangs_together(size: int) -> None:
    """Blocks of one size in shuffled places, some of them equal."""
    random = Random(size)
    places = random.sample(range(6 * size), 6 * size)
    kinds = [[[random.randint(1, 9) + 40 * (a == b) for b in range(size)] for a in range(size)]
             for _ in range(2)]  # fmt: skip
    rows, columns, values = [], [], []
    for block in range(6):
        own = places[block * size : (block + 1) * size]
        for a, b in product(range(size), repeat=2):
            rows.append(own[a])
            columns.append(own[b])
            values.append(kinds[block % 2][a][b])
    matrix = ExactMatrix.from_entries((6 * size, 6 * size), rows, columns, values, 7)
    assert inverse(matrix) @ matrix == ExactMatrix.identity(6 * size)
    hollow = matrix.masked(rows=range(1, 6 * size))
    with pytest.raises(ZeroDivisionError, match="singular"):
        inverse(hollow)
