r"""Whether a graph's data diagonalise at all nodes at once, decided exactly; the scalar reduction.

**Lemma.** There are orthonormal bases of all input and output nodes in which every
:math:`\Sigma^{yx}(p)`, :math:`\Sigma^x(q,p)` and :math:`O_{pq}` is diagonal (each basis vector is
mapped to a multiple of one, and no two to the same) if and only if every product of these maps and
their transposes that returns to its node is symmetric.

(⇒ a product of diagonal maps that returns is diagonal. ⇐ Symmetric products of symmetric matrices
of one node commute, so the returning products of a node have a joint eigenbasis; a map f between
two nodes satisfies that fᵀf is a multiple of 1 on each joint eigenspace, and two such maps differ
there by a factor, because fᵀg is symmetric and a multiple of 1 there; so one eigenbasis is carried
to the next node.) Products span finite spaces, which are closed by linear algebra over Q.

This generalises the lemma of :mod:`symreln.verdict.judge`: for one path it asks that Sigma^x
commutes with (Sigma^{yx})ᵀ Sigma^{yx}.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING

from flint import fmpz_mat

from symreln.base.records import record
from symreln.exact import integers
from symreln.exact.truth import Truth

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.networks.shared_edges import EdgeData

_MAX_PRODUCTS = 4000
"""Products looked at before the decision is left open: minutes of linear algebra."""


@record
class _Arrow:
    """A map between data nodes.

    Attributes:
        name: What it is, for witnesses.
        source: Node that it maps from.
        target: Node that it maps to.
        matrix: Integer matrix, a positive multiple of the map (or of one monomial's coefficient).
        of: Which map it is: ("yx", p), ("x", q, p) or ("o", q, p); empty for a product.
        is_turned: Whether it is the transpose of that map.
    """

    name: str
    source: str
    target: str
    matrix: fmpz_mat
    of: tuple[str | int, ...] = ()
    is_turned: bool = False

    @property
    def turned(self) -> _Arrow:
        """The transpose."""
        return replace(
            self,
            name=f"{self.name}^T",
            source=self.target,
            target=self.source,
            matrix=self.matrix.transpose(),
            is_turned=not self.is_turned,
        )

    def after(self, other: _Arrow) -> _Arrow:
        """Return the product self · other, without a common factor of its entries."""
        matrix = self.matrix * other.matrix
        content = gcd(*(int(entry) for entry in matrix.entries())) or 1
        flat = [int(entry) // content for entry in matrix.entries()]
        return _Arrow(
            name=f"{self.name} {other.name}".strip(),
            source=other.source,
            target=self.target,
            matrix=fmpz_mat(matrix.nrows(), matrix.ncols(), flat),
        )


@record
class Diagonality:
    """The decision.

    Attributes:
        outcome: PROVEN where scalar modes exist for all values of the parameters; REFUTED with a
            witness; UNDECIDED where parameters occur and not every coefficient diagonalises, or
            where the products are too many.
        reason: In words, with the witness.
        word: Where REFUTED, the maps whose product is not symmetric, left to right.
        entry: Row and column at which it differs from its transpose.
    """

    outcome: Truth
    reason: str
    word: tuple[_Arrow, ...] = ()
    entry: tuple[int, int] | None = None

    @classmethod
    def of(cls, edges: EdgeData) -> Diagonality:
        """Return whether all data maps of a graph are diagonal in common bases; exact."""
        generators = _generators(edges)
        constant = all(matrix.is_constant for matrix in (*edges.sigma_yx, *edges.sigma_x.values()))
        span = _Span()
        outer = (node for node in edges.graph.nodes if not node.is_hidden)
        waiting: list[tuple[_Arrow, tuple[_Arrow, ...]]] = [
            (_Arrow(name="", source=n.name, target=n.name, matrix=integers.identity(n.size)), ())
            for n in outer
        ]
        for looked, (arrow, word) in enumerate(waiting):  # grows while it is read
            if looked > _MAX_PRODUCTS:
                reason = f"more than {_MAX_PRODUCTS} products of the maps"
                return cls(outcome=Truth.UNDECIDED, reason=reason)
            if arrow.source == arrow.target and arrow.matrix != arrow.matrix.transpose():
                return _refuted(arrow, word, constant=constant)
            if span.add(arrow):
                waiting += [
                    (g.after(arrow), (g, *word)) for g in generators if g.source == arrow.target
                ]
        return cls(
            outcome=Truth.PROVEN,
            reason="every product of the correlations that returns to its node is symmetric",
        )


def _refuted(arrow: _Arrow, word: tuple[_Arrow, ...], *, constant: bool) -> Diagonality:
    """Return what a product that returns and is not symmetric says."""
    difference = arrow.matrix - arrow.matrix.transpose()
    width = difference.ncols()
    place = next(k for k, entry in enumerate(difference.entries()) if entry != 0)
    row, column = divmod(place, width)
    what = (
        f"at node '{arrow.source}' the product {arrow.name or '1'} is not symmetric: "
        f"its entries ({row + 1}, {column + 1}) and ({column + 1}, {row + 1}) differ"
    )
    if constant:
        return Diagonality(
            outcome=Truth.REFUTED,
            reason=what,
            word=word,
            entry=(row, column),
        )
    # Coefficients of monomials may fail where their sum does not.
    return Diagonality(
        outcome=Truth.UNDECIDED, reason=f"the coefficients of the parameters: {what}"
    )


def _generators(edges: EdgeData) -> list[_Arrow]:
    """Return the maps of the data; combinations of others, in all of which the lemma is linear."""
    ends = [(path.source, path.target) for path in edges.paths]
    found: list[tuple[str, tuple[str | int, ...], tuple[str, str], ExactMatrix]] = []
    for p, sigma in enumerate(edges.sigma_yx):
        found.append((f"Sigma^yx({p + 1})", ("yx", p), ends[p], sigma))
    for (q, p), sigma in edges.sigma_x.items():
        (source, target), (other, written) = ends[p], ends[q]
        found.append((f"Sigma^x({q + 1},{p + 1})", ("x", q, p), (source, other), sigma))
        overlap = edges.overlaps[q, p]
        found.append((f"O({p + 1},{q + 1})", ("o", q, p), (written, target), overlap))
    independent = _Span()
    for name, of, (source, target), matrix in found:
        for part in matrix.terms.values():
            arrow = _Arrow(name=name, source=source, target=target, matrix=part.flint, of=of)
            independent.add(arrow)
            independent.add(arrow.turned)
    return independent.kept


class _Span:
    """Products kept so far: independent ones, by their ends."""

    def __init__(self) -> None:
        self.kept: list[_Arrow] = []
        self._flat: dict[tuple[str, str], list[list[int]]] = {}

    def add(self, arrow: _Arrow) -> bool:
        """Keep an arrow that is no combination of those with its ends; return whether it is."""
        rows = self._flat.setdefault((arrow.source, arrow.target), [])
        longer = [*rows, [int(entry) for entry in arrow.matrix.entries()]]
        if fmpz_mat(longer).rank() < len(longer):
            return False
        rows.append(longer[-1])
        self.kept.append(arrow)
        return True
