"""Polynomials in matrices that do not commute; their other rules are those of every proof."""

from __future__ import annotations

from symreln.exact.matrix_words import Words


def test_a_rule_is_used_on_neighbours_that_another_one_has_made():
    a, b, c = (Words.letter(name) for name in "ABC")
    nested = {(("A", True), ("A", False)): (), (("B", True), ("B", False)): ()}
    assert (c @ b.T @ a.T @ a @ b @ c).under(nested).terms == (c @ c).terms
