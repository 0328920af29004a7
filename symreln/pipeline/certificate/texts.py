"""Numbers and matrices as :mod:`symreln.verifier` reads them: one spelling each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any, Self

from flint import fmpz_mpoly

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.specs.spec import Spec
from symreln.verifier.numbers import render

Json = dict[str, Any]
Poly = dict[tuple[int, ...], int]


class Texts:
    """Spells numbers in the parameters that a certificate names.

    Args:
        names: Those parameters, in the certificate's order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._places: dict[tuple[str, ...], list[int | None]] = {}

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """Return the spelling in the parameters of a spec's data and gates."""
        return cls(spec.letters)

    def _exponents(self, key: Sequence[int], parameters: tuple[str, ...]) -> tuple[int, ...]:
        """Return exponents in the certificate's order."""
        if parameters == self.names:
            return tuple(int(e) for e in key)
        if parameters not in self._places:
            known = {name: place for place, name in enumerate(parameters)}
            self._places[parameters] = [known.get(name) for name in self.names]
        return tuple(0 if k is None else int(key[k]) for k in self._places[parameters])

    def _poly(self, value: fmpz_mpoly, parameters: tuple[str, ...]) -> Poly:
        return {self._exponents(k, parameters): int(c) for k, c in value.to_dict().items()}

    def ratio(self, value: Scalar) -> str:
        """Return a rational function: "top", or "top / below" in lowest terms."""
        top = self._poly(value.numerator, value.parameters)
        below = self._poly(value.denominator, value.parameters)
        if below[max(below)] < 0:  # the leading term depends on the order of the names
            top, below = ({k: -c for k, c in part.items()} for part in (top, below))
        if below == {(0,) * len(self.names): 1}:
            return render(top, self.names)
        return f"{render(top, self.names)} / {render(below, self.names)}"

    def ratios(self, values: Iterable[Scalar]) -> list[str]:
        """Return several rational functions."""
        return [self.ratio(value) for value in values]

    def matrix(self, matrix: ExactMatrix) -> Json:
        """Return {"rows", "columns", "denominator", "entries": [[row, column, text], …]}."""
        below = self._poly(matrix.denominator, matrix.parameters)
        common = gcd(*below.values(), *(part.content() for part in matrix.terms.values()))
        if below[max(below)] < 0:
            common = -common
        return {
            "rows": matrix.shape[0],
            "columns": matrix.shape[1],
            "denominator": render({k: c // common for k, c in below.items()}, self.names),
            "entries": self._entries(matrix, common),
        }

    def _entries(self, sparse: ExactMatrix, common: int) -> list[list]:
        """Return [row, column, text of the numerator over ``common``] in reading order."""
        found: dict[tuple[int, int], Poly] = {}
        for key, part in sparse.terms.items():
            place = self._exponents(key, sparse.parameters)
            columns = (part.rows.tolist(), part.columns.tolist(), part.values.tolist())
            for row, column, value in zip(*columns, strict=True):
                found.setdefault((row, column), {})[place] = value // common
        texts: dict[tuple, str] = {}
        entries = []
        for at, entry in sorted(found.items()):
            known = tuple(entry.items())
            if known not in texts:
                texts[known] = render(entry, self.names)
            entries.append([*at, texts[known]])
        return entries
