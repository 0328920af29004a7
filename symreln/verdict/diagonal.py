r"""Whether a graph's data diagonalise at all nodes at once, decided exactly; the scalar reduction.

**Lemma.** There are orthonormal bases of all input and output nodes in which every
:math:`\Sigma^{yx}(b)`, :math:`\Sigma^x(c,b)` and :math:`O_{bc}` is diagonal (each basis vector is
mapped to a multiple of one, and no two to the same) if and only if every product of these maps and
their transposes that returns to its node is symmetric.

(⇒ a product of diagonal maps that returns is diagonal. ⇐ Symmetric products of symmetric matrices
of one node commute, so the returning products of a node have a joint eigenbasis; a map f between
two nodes satisfies that fᵀf is a multiple of 1 on each joint eigenspace, and two such maps differ
there by a factor, because fᵀg is symmetric and a multiple of 1 there; so one eigenbasis is carried
to the next node.) Products span finite spaces, which are closed by linear algebra over Q.

This generalises the lemma of :mod:`symreln.verdict.judge`: for one bundle it asks that Sigma^x
commutes with (Sigma^{yx})ᵀ Sigma^{yx}.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from flint import fmpz_mat

from symreln.base.records import record
from symreln.exact import integers
from symreln.exact.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.exact.matrix import ExactMatrix
    from symreln.networks.bundles import NetworkData

_MAX_PRODUCTS = 4000
"""Products looked at before the decision is left open: minutes of linear algebra."""


@record
class Arrow:
    """A map between data nodes.

    Attributes:
        name: What it is, for witnesses.
        source: Node that it maps from.
        target: Node that it maps to.
        matrix: Integer matrix, a positive multiple of the map (or of one monomial's coefficient).
        of: Which map it is: ("yx", b), ("x", c, b) or ("o", c, b); empty for a product.
        is_turned: Whether it is the transpose of that map.
    """

    name: str
    source: str
    target: str
    matrix: fmpz_mat
    of: tuple[str | int, ...] = ()
    is_turned: bool = False

    @property
    def turned(self) -> Arrow:
        """The transpose."""
        return Arrow(
            name=f"{self.name}^T",
            source=self.target,
            target=self.source,
            matrix=self.matrix.transpose(),
            of=self.of,
            is_turned=not self.is_turned,
        )

    def after(self, other: Arrow) -> Arrow:
        """Return the product self · other."""
        matrix = self.matrix * other.matrix
        content = _content(matrix)
        return Arrow(
            name=f"{self.name} {other.name}".strip(),
            source=other.source,
            target=self.target,
            matrix=matrix if content <= 1 else _divided(matrix, content),
        )


@record
class Diagonality:
    """The decision.

    Attributes:
        outcome: PROVEN where scalar modes exist for all values of the parameters; REFUTED with a
            witness; UNDECIDED where parameters occur and not every coefficient diagonalises, or
            where the products are too many.
        reason: In words, with the witness.
        arrows: Products that span all from each node to each, where PROVEN.
        word: Where REFUTED, the maps whose product is not symmetric, left to right.
        entry: Row and column at which it differs from its transpose.
    """

    outcome: Truth
    reason: str
    arrows: tuple[Arrow, ...] = ()
    word: tuple[Arrow, ...] = ()
    entry: tuple[int, int] | None = None


def decide_diagonal(data: NetworkData) -> Diagonality:
    """Return whether all data maps of a graph are diagonal in common bases; exact."""
    generators = _generators(data)
    constant = all(matrix.is_constant for matrix in (*data.sigma_yx, *data.sigma_x.values()))
    span = _Span()
    waiting: list[tuple[Arrow, tuple[Arrow, ...]]] = [(arrow, ()) for arrow in _identities(data)]
    for looked, (arrow, word) in enumerate(waiting):  # grows while it is read
        if looked > _MAX_PRODUCTS:
            return Diagonality(
                outcome=Truth.UNDECIDED, reason=f"more than {_MAX_PRODUCTS} products of the maps"
            )
        if arrow.source == arrow.target and not _symmetric(arrow.matrix):
            return _refuted(arrow, word, constant=constant)
        if span.add(arrow):
            waiting += [
                (g.after(arrow), (g, *word)) for g in generators if g.source == arrow.target
            ]
    return Diagonality(
        outcome=Truth.PROVEN,
        reason="every product of the correlations that returns to its node is symmetric",
        arrows=tuple(span.kept),
    )


def _refuted(arrow: Arrow, word: tuple[Arrow, ...], *, constant: bool) -> Diagonality:
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


def _generators(data: NetworkData) -> list[Arrow]:
    found: list[Arrow] = []
    for b, bundle in enumerate(data.bundles):
        name = f"Sigma^yx({b + 1})"
        found += _arrows(name, ("yx", b), bundle.source, bundle.target, data.sigma_yx[b])
    for (c, b), sigma in data.sigma_x.items():
        into, out = data.bundles[b], data.bundles[c]
        overlap = data.overlaps[c, b]
        found += _arrows(f"Sigma^x({c + 1},{b + 1})", ("x", c, b), into.source, out.source, sigma)
        found += _arrows(f"O({b + 1},{c + 1})", ("o", c, b), out.target, into.target, overlap)
    # Combinations of other maps bring nothing new: all that is asked is linear in each map.
    independent = _Span()
    for arrow in found:
        independent.add(arrow)
        independent.add(arrow.turned)
    return independent.kept


def _arrows(
    name: str, of: tuple[str | int, ...], source: str, target: str, matrix: ExactMatrix
) -> list[Arrow]:
    return [
        Arrow(name=name, source=source, target=target, matrix=part.flint, of=of)
        for part in matrix.terms.values()
    ]


def _identities(data: NetworkData) -> list[Arrow]:
    return [
        Arrow(name="", source=node.name, target=node.name, matrix=integers.identity(node.size))
        for node in data.graph.nodes
        if not node.is_hidden
    ]


class _Span:
    """Products kept so far: independent ones, by their ends."""

    def __init__(self) -> None:
        self.kept: list[Arrow] = []
        self._flat: dict[tuple[str, str], list[list[int]]] = {}

    def add(self, arrow: Arrow) -> bool:
        """Keep an arrow that is no combination of those with its ends; return whether it is."""
        rows = self._flat.setdefault((arrow.source, arrow.target), [])
        longer = [*rows, [int(entry) for entry in arrow.matrix.entries()]]
        if fmpz_mat(longer).rank() < len(longer):
            return False
        rows.append(longer[-1])
        self.kept.append(arrow)
        return True


def _symmetric(matrix: fmpz_mat) -> bool:
    return matrix == matrix.transpose()


def _content(matrix: fmpz_mat) -> int:
    return gcd(*(int(entry) for entry in matrix.entries()))


def _divided(matrix: fmpz_mat, divisor: int) -> fmpz_mat:
    flat: Sequence[int] = [int(entry) // divisor for entry in matrix.entries()]
    return fmpz_mat(matrix.nrows(), matrix.ncols(), list(flat))
