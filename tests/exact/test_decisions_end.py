"""Exact decisions end: points leave every algebraic set, and no prime is taken for zero."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from symreln.exact.algebraic import AlgebraicNumber, _reference_point
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.specs.expression import Declared
from tests.exact.test_spectrum import check_identities


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail rather than wait for ever."""

    def stop(*_: object) -> None:
        msg = f"no answer within {seconds} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def spectrum(rows: list[list[str]], names: tuple[str, ...]) -> JointSpectrum:
    """The spectrum of white inputs and targets that are polynomials in the parameters."""
    entries = [[Declared(names=names).parse(text) for text in row] for row in rows]
    size = len(rows[0])
    white = [[int(i == j) for j in range(size)] for i in range(size)]
    with within(30):
        return joint_spectrum(
            ExactMatrix.from_rows(entries, names), ExactMatrix.from_rows(white, names)
        )


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "1"], ["-1", "b - 1"]],  # M is a number on the line b = a + 1
        [["1 + 2*(a - b + 1)", "a - b + 1"], ["a - b + 1", "1"]],  # so it is, constant vectors
        [["1 + 2*(a - 2)*(b - 3)", "(a - 2)*(b - 3)"], ["(a - 2)*(b - 3)", "1"]],
    ],
)
def test_points_leave_the_sets_on_which_modes_coincide(rows: list[list[str]]) -> None:
    found = spectrum(rows, ("a", "b"))
    check_identities(found)
    assert [c.degree for c in found.classes] == [2]


def test_points_leave_a_hyperplane_of_three_parameters() -> None:
    zero = "(a - 2*b + c)"
    found = spectrum([[f"1 + 2*{zero}", zero], [zero, "1"]], ("a", "b", "c"))
    check_identities(found)
    assert [c.degree for c in found.classes] == [2]


def test_a_number_that_vanishes_where_numbers_are_compared() -> None:
    """s = |μ| with μ = 0 at a = 3/2, where functions of a are compared: no one factor has it."""
    found = spectrum([["4*a", "4", "0"], ["4", "8", "4"], ["0", "4", "3"]], ("a",))
    check_identities(found)
    assert _reference_point(("a",)) == {"a": Fraction(3, 2)}
    smallest = found.modes[-1].s
    with within(30):
        assert len({mode.s for mode in found.modes}) == 3
        roots = {at: smallest.defining_root({"a": at}) for at in (Fraction(7, 5), Fraction(2))}
    assert roots == dict.fromkeys(roots, 3)  # of ±s, ascending
    square = ring_square("2*a - 3")
    with within(30):
        assert len(square.defining_polynomial) == 3


def ring_square(text: str) -> AlgebraicNumber:
    value = Declared(names=("a",)).parse(text)
    return AlgebraicNumber.rational(value * value, is_sqrt=True)
