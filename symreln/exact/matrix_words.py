"""Sums of products of matrices, each a letter: exact identities that hold for every size.

A letter is a named matrix or its transpose; letters do not commute. What is the zero sum here is
zero for all matrices of fitting shapes that obey the rules used.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import reduce
from itertools import product
from typing import Any

import sympy as sp

from symreln.base.records import record

Letter = tuple[str, bool]
"""Name of a matrix, and whether it is transposed."""

Word = tuple[Letter, ...]
Rules = Mapping[tuple[Letter, Letter], Word]
"""What two neighbouring letters may be replaced by, such as RᵀR by nothing."""


@record(kw_only=False, eq=False)
class Words:
    """A sum of words with coefficients.

    Attributes:
        terms: Coefficient of every word, none of them zero. The empty word is the identity.
    """

    terms: dict[Word, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[tuple[Word, Any]]) -> Words:
        """Return Σ coefficient·word; words may occur more than once."""
        found: dict[Word, Any] = {}
        for word, value in pairs:
            found[word] = found.get(word, 0) + value
        # A product without sums is in lowest terms.
        sums = {w for w, v in found.items() if isinstance(v, sp.Expr) and v.has(sp.Add)}
        simple = {word: sp.cancel(v) if word in sums else v for word, v in found.items()}
        return cls({word: value for word, value in simple.items() if value != 0})

    @classmethod
    def letter(cls, name: str) -> Words:
        """Return one matrix."""
        return cls({((name, False),): 1})

    @classmethod
    def product(cls, factors: Iterable[Words]) -> Words:
        """Return a product, the identity where there are no factors."""
        return reduce(operator.matmul, factors, cls({(): 1}))

    @classmethod
    def total(cls, parts: Iterable[Words]) -> Words:
        """Return a sum."""
        return cls.of(pair for part in parts for pair in part.terms.items())

    def __add__(self, other: Words) -> Words:
        return Words.total((self, other))

    def __sub__(self, other: Words) -> Words:
        return self + other.scale(-1)

    def __matmul__(self, other: Words) -> Words:
        pairs = product(self.terms.items(), other.terms.items())
        return Words.of((left + right, a * b) for (left, a), (right, b) in pairs)

    def scale(self, factor: Any) -> Words:
        """Return the sum times a number or an expression."""
        return Words.of((word, factor * value) for word, value in self.terms.items())

    @property
    def T(self) -> Words:
        """The transpose."""
        return Words({_transposed(word): value for word, value in self.terms.items()})

    @property
    def is_zero(self) -> bool:
        """Whether nothing is left: zero for all matrices."""
        return not self.terms

    def under(self, rules: Rules) -> Words:
        """Return the sum after replacing neighbours until no rule applies.

        Every rule must make a word shorter, or replace a letter by others that no rule starts
        from again; then this ends.
        """
        return Words.of((_shortened(word, rules), value) for word, value in self.terms.items())

    def traced(self) -> Words:
        """Return the sum with every word as the first of those with the same trace.

        tr(AB) = tr(BA) and tr(A) = tr(Aᵀ): the trace vanishes if the sum returned does.
        """
        return Words.of(
            (min(w[k:] + w[:k] for w in (word, _transposed(word)) for k in range(len(w) or 1)), v)
            for word, v in self.terms.items()
        )

    def derivative(self, velocity: Mapping[str, Words]) -> Words:
        """Return the time derivative by the product rule.

        Args:
            velocity: Derivative of every matrix that moves; others are constant.
        """
        return Words.of(
            (word[:place] + inner + word[place + 1 :], value * factor)
            for word, value in self.terms.items()
            for place, (name, turned) in enumerate(word)
            if (moves := velocity.get(name)) is not None
            for inner, factor in (moves.T if turned else moves).terms.items()
        )


def _transposed(word: Word) -> Word:
    return tuple((name, not turned) for name, turned in reversed(word))


def _shortened(word: Word, rules: Rules) -> Word:
    place = 0
    while place < len(word) - 1:
        pair = (word[place], word[place + 1])
        if pair in rules:
            word = word[:place] + rules[pair] + word[place + 2 :]
            place = max(place - 1, 0)
        else:
            place += 1
    return word
