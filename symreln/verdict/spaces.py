r"""Spaces that the flow of a graph does not leave: found and checked exactly.

Let node n have a space with orthonormal basis R_n (input nodes: of inputs; output nodes: of
outputs; hidden nodes: of units). The flow keeps :math:`W_e = R_t B_e R_s^T` on every edge for all
time if the start has that form and the data stay inside:

.. math:: \Sigma^{yx}(b) = P_{out} \Sigma^{yx}(b) P_{in},\qquad
   \Sigma^x(b, c)\,{\cal V}_c \subseteq {\cal V}_b,\qquad
   O_{bc}\,{\cal U}_c \subseteq {\cal U}_b

for all bundles b, c, with the projectors P on the spaces V (input) and U (output): every term of
:math:`\tau\dot W_e` then begins with R_t and ends with R_sᵀ, and flows from a start are unique.
That is decided exactly. Bases are integer columns; with parameters in the data, the spaces hold the
coefficient matrix of every monomial, so that they serve all values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import fmpz_mat

from symreln.base.summaries import short_repr
from symreln.exact import integers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from symreln.exact.matrix import ExactMatrix
    from symreln.networks.bundles import NetworkData


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class NodeSpaces:
    """A space at every node that it was found for.

    Attributes:
        data: The graph on its data.
        bases: Independent integer columns by the node's name, shape (size, dimension), of
            input and output nodes.
    """

    data: NetworkData
    bases: Mapping[str, fmpz_mat]

    def dimension(self, node: str) -> int:
        """Return the dimension of a node's space."""
        return self.bases[node].ncols()

    def check(self) -> None:
        """Check the three conditions on the data over Z, whatever the spaces were made from.

        Raises:
            ArithmeticError: One does not hold.
        """
        for target, image in _images(self.data, self.bases):
            if not _contains(self.bases[target], image):
                msg = f"the space of node '{target}' is left by the flow"
                raise ArithmeticError(msg)


def minimal_spaces(data: NetworkData) -> NodeSpaces:
    """Return the smallest spaces of input and output nodes that the data ask for.

    With parameters they are the smallest that serve all coefficient matrices.
    """
    ends = [node for node in data.graph.nodes if not node.is_hidden]
    return _closed(data, {node.name: fmpz_mat(node.size, 0) for node in ends})


def _closed(data: NetworkData, bases: dict[str, fmpz_mat]) -> NodeSpaces:
    """Return the spaces enlarged until nothing leads out of them; checked."""
    dimensions = None
    while dimensions != (dimensions := {name: b.ncols() for name, b in bases.items()}):
        for target, image in _images(data, bases):
            bases[target] = _grown(bases[target], [image])
    found = NodeSpaces(data=data, bases=bases)
    found.check()
    return found


def _images(data: NetworkData, bases: Mapping[str, fmpz_mat]) -> Iterable[tuple[str, fmpz_mat]]:
    """Yield (node, columns that its space must hold)."""
    for bundle, sigma in zip(data.bundles, data.sigma_yx, strict=True):
        for matrix in _coefficients([sigma]):
            yield bundle.target, matrix
            yield bundle.source, matrix.transpose()
    for (c, b), sigma in data.sigma_x.items():
        for matrix in _coefficients([sigma]):
            yield data.bundles[b].source, matrix.transpose() * bases[data.bundles[c].source]
        (overlap,) = _coefficients([data.overlaps[c, b]])
        yield data.bundles[b].target, overlap * bases[data.bundles[c].target]


def _coefficients(matrices: Iterable[ExactMatrix]) -> list[fmpz_mat]:
    """Return the integer coefficient matrices of every monomial that occurs."""
    return [part.flint for whole in matrices for part in whole.terms.values()]


def _grown(basis: fmpz_mat, images: list[fmpz_mat]) -> fmpz_mat:
    """Return a basis of the span of a basis and more columns, the old columns first."""
    whole = integers.stack_columns([basis, *images], basis.nrows())
    if not whole.ncols():
        return basis
    # Independent modulo a prime is independent; a column that is lost by bad luck is missed by
    # ``check`` and never in silence.
    return integers.select_columns(whole, integers.pivot_columns(whole))


def _contains(basis: fmpz_mat, columns: fmpz_mat) -> bool:
    """Return whether columns lie in a space, exactly."""
    if integers.is_zero(columns):
        return True
    return bool(basis.ncols()) and integers.coordinates(basis, columns) is not None
