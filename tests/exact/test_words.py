"""Polynomials in matrices that do not commute."""

from __future__ import annotations

import numpy as np

from symreln.exact.matrix_words import Words


def test_words_follow_the_rules_of_matrices():
    generator = np.random.default_rng(0)
    values = {name: generator.integers(-3, 4, (3, 3)) for name in "ABC"}
    a, b, c = (Words.letter(name) for name in "ABC")

    def number(words: Words) -> np.ndarray:
        total = np.zeros((3, 3), dtype=int)
        for word, factor in words.terms.items():
            product = np.eye(3, dtype=int)
            for name, turned in word:
                product = product @ (values[name].T if turned else values[name])
            total += factor * product
        return total

    whole = (a @ b.T - c.scale(2)) @ (b + a.T)
    A, B, C = (values[name] for name in "ABC")
    assert (number(whole) == (A @ B.T - 2 * C) @ (B + A.T)).all()
    assert (number(whole.T) == number(whole).T).all()
    assert ((a + b) @ c - a @ c - b @ c).is_zero
    assert not (a @ b - b @ a).is_zero
    assert (a @ b - b @ a).traced().is_zero
    assert (a @ b.T - b @ a.T).traced().is_zero
    moved = (a @ b.T).derivative({"A": b, "B": c})
    assert (moved - b @ b.T - a @ c.T).is_zero
    orthonormal = {(("A", True), ("A", False)): ()}
    assert (b @ a.T @ a @ c).under(orthonormal).terms == (b @ c).terms
    nested = {(("A", True), ("A", False)): (), (("B", True), ("B", False)): ()}
    assert (c @ b.T @ a.T @ a @ b @ c).under(nested).terms == (c @ c).terms
