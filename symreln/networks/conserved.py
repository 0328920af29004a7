r"""What the flow of a graph conserves, each proven by cancelling its derivative.

At a hidden node every pathway uses one edge that comes in and one that goes out. Join the edges of
the node that a pathway uses together; for every connected component of that relation

.. math:: Q = \sum_{e\ out} W_e^T W_e - \sum_{e\ in} W_e W_e^T

does not move: both sums gather the same :math:`\sum_p W_{after}^T E(p) W_{before}^T` and its
transpose. That is balancedness, for any graph and any gates. Beyond it, squared norms
:math:`\sum_e \lambda_e \|W_e\|^2` are conserved for every λ whose sum along each pathway is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz_mat

from symreln.base.linked import linked
from symreln.exact import integers
from symreln.exact.truth import Truth
from symreln.exact.words import Words, derivative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.networks.bundles import NetworkData


@dataclass(frozen=True, kw_only=True)
class Balance:
    """A conserved matrix at a hidden node, shape (size of the node, the same).

    Attributes:
        node: Name of the node.
        incoming: Indices of its edges W_e with -W_e W_eᵀ.
        outgoing: Indices of its edges W_e with +W_eᵀ W_e.
        outcome: PROVEN where its derivative along the flow cancels.
    """

    node: str
    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    outcome: Truth

    def value(self, weights: Sequence[np.ndarray]) -> np.ndarray:
        """Return the matrix at given weights."""
        parts = [weights[edge].T @ weights[edge] for edge in self.outgoing]
        parts += [-(weights[edge] @ weights[edge].T) for edge in self.incoming]
        return np.sum(parts, axis=0)


@dataclass(frozen=True, kw_only=True)
class NormBalance:
    """A conserved number Σ λ_e ‖W_e‖².

    Attributes:
        weights: λ_e, one integer an edge.
        outcome: PROVEN where its derivative along the flow cancels.
    """

    weights: tuple[int, ...]
    outcome: Truth


def letters(data: NetworkData) -> list[Words]:
    """Return the matrix W_e of every edge as a letter."""
    return [Words.letter(edge_letter(place)) for place in range(len(data.graph.edges))]


def edge_letter(edge: int) -> str:
    """Return the name of an edge's weights among letters."""
    return f"W{edge}"


def velocities(data: NetworkData) -> dict[str, Words]:
    r"""Return τ dW_e/dt of every edge in letters; the error of bundle b is the letter E{b}."""
    weights = letters(data)
    parts: dict[str, list[Words]] = {edge_letter(e): [] for e in range(len(weights))}
    for number, path in enumerate(data.paths):
        error = Words.letter(f"E{data.bundle_of[number]}")
        for place, edge in enumerate(path.edges):
            after = Words.product(weights[e] for e in reversed(path.edges[place + 1 :]))
            before = Words.product(weights[e] for e in reversed(path.edges[:place]))
            parts[edge_letter(edge)].append(after.T @ error @ before.T)
    return {name: Words.total(found) for name, found in parts.items()}


def balances(data: NetworkData) -> tuple[Balance, ...]:
    """Return the conserved matrices of every hidden node, one a component; all are proven.

    A derivative that did not cancel would be a bug: it is UNDECIDED then, and nothing is claimed.
    """
    velocity = velocities(data)
    found = []
    for node in data.graph.nodes:
        if not node.is_hidden:
            continue
        for incoming, outgoing in _components(data, node.name):
            quantity = _quantity(data, incoming, outgoing)
            zero = derivative(quantity, velocity).is_zero
            found.append(
                Balance(
                    node=node.name,
                    incoming=incoming,
                    outgoing=outgoing,
                    outcome=Truth.PROVEN if zero else Truth.UNDECIDED,
                )
            )
    return tuple(found)


def norm_balances(data: NetworkData) -> tuple[NormBalance, ...]:
    """Return conserved sums of squared norms that span all of this kind; all are proven.

    Among them are the traces of :func:`balances`. Edges that no pathway uses keep their weights;
    they are left out.
    """
    used = sorted({edge for path in data.paths for edge in path.edges})
    place = {edge: k for k, edge in enumerate(used)}
    rows = [[0] * len(used) for _ in data.paths]
    for row, path in zip(rows, data.paths, strict=True):
        for edge in path.edges:
            row[place[edge]] = 1
    kernel = integers.kernel(fmpz_mat(rows)) if rows else fmpz_mat(0, 0)
    velocity = velocities(data)
    found = []
    for column in integers.columns_of(kernel):
        weights = [0] * len(data.graph.edges)
        for edge, value in zip(used, column, strict=True):
            weights[edge] = int(value)
        outcome = Truth.PROVEN if _norm_is_kept(data, weights, velocity) else Truth.UNDECIDED
        found.append(NormBalance(weights=tuple(weights), outcome=outcome))
    return tuple(found)


def _norm_is_kept(data: NetworkData, weights: list[int], velocity: Mapping[str, Words]) -> bool:
    parts = [
        (letter @ letter.T).scale(factor)
        for letter, factor in zip(letters(data), weights, strict=True)
        if factor
    ]
    return derivative(Words.total(parts), velocity).traced().is_zero


def _quantity(data: NetworkData, incoming: tuple[int, ...], outgoing: tuple[int, ...]) -> Words:
    weights = letters(data)
    out = Words.total(weights[e].T @ weights[e] for e in outgoing)
    return out - Words.total(weights[e] @ weights[e].T for e in incoming)


def _components(data: NetworkData, node: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return (edges in, edges out) of every component of the edges that pathways use together."""
    into, out = data.graph.incoming[node], data.graph.outgoing[node]
    pairs = [{edge for edge in path.edges if edge in into or edge in out} for path in data.paths]
    used = [set().union(*(pairs[k] for k in part)) for part in linked(pairs)]
    return [
        (tuple(e for e in into if e in members), tuple(e for e in out if e in members))
        for members in sorted(filter(None, used), key=min)
    ]
