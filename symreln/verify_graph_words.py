r"""The graph verifier's conserved quantities: derivatives in letters; the standard library alone.

A word is a product of matrices, each a letter (name, transposed); letters do not commute. What is
the zero sum of words vanishes for all matrices of fitting shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

try:
    from symreln.verify_graph_linear import PRIME, rank
    from symreln.verify_numbers import integers, require, take
except ImportError:  # the files alone, without the package
    from verify_graph_linear import PRIME, rank  # type: ignore[no-redef]
    from verify_numbers import integers, require, take  # type: ignore[no-redef]

Letter = tuple[str, int, bool]  # "W" of an edge or "E" of a bundle, its number, transposed
Words = dict[tuple[Letter, ...], int]
Path = tuple[int, ...]


def _turned(word: tuple[Letter, ...]) -> tuple[Letter, ...]:
    return tuple((kind, n, not flipped) for kind, n, flipped in reversed(word))


def _velocity(edge: int, paths: list[Path], bundle_of: list[int]) -> Words:
    r"""Return τ dW_e/dt, the sum of W_afterᵀ E_b W_beforeᵀ over the pathways of an edge."""
    total: Words = {}
    for path, bundle in zip(paths, bundle_of, strict=True):
        for place in (n for n, e in enumerate(path) if e == edge):
            after = [("W", e, True) for e in path[place + 1 :]]
            before = [("W", e, True) for e in path[:place]]
            word = (*after, ("E", bundle, False), *before)
            total[word] = total.get(word, 0) + 1
    return total


def _derivative(quantity: Words, velocity: dict[int, Words]) -> Words:
    """Return the derivative of a sum of words in W along the flow, by the product rule."""
    total: Words = {}
    for word, factor in quantity.items():
        for place, (_, edge, flipped) in enumerate(word):
            for inner, times in velocity[edge].items():
                middle = _turned(inner) if flipped else inner
                whole = (*word[:place], *middle, *word[place + 1 :])
                total[whole] = total.get(whole, 0) + factor * times
    return {word: value for word, value in total.items() if value}


def check_conserved(
    value: Any, path: str, hidden: dict[str, Any], paths: list[Path], bundle_of: list[int]
) -> tuple[int, int]:
    """Check all conserved matrices and norms; return how many there are of each.

    Args:
        value: What the certificate says.
        path: Its place there.
        hidden: (edges in, edges out) by the name of every hidden node.
        paths: Edges of every pathway.
        bundle_of: The bundle of every pathway.
    """
    v = take(value, path, "balances norms")
    edges = sorted({edge for p in paths for edge in p})
    velocity = {edge: _velocity(edge, paths, bundle_of) for edge in edges}
    expected = list(_components(hidden, paths))
    good = isinstance(v.balances, list) and len(v.balances) == len(expected)
    require(good, f"{path}.balances", "one entry for all edges that pathways join at a node")
    for n, (item, known) in enumerate(zip(v.balances, expected, strict=True)):
        where = f"{path}.balances[{n}]"
        b = take(item, where, "node incoming outgoing")
        require((b.node, b.incoming, b.outgoing) == known, where, "the edges joined at a node")
        most = max(edges)
        integers([*b.incoming, *b.outgoing], where, most)
        quantity = {(("W", e, True), ("W", e, False)): 1 for e in b.outgoing}
        quantity |= {(("W", e, False), ("W", e, True)): -1 for e in b.incoming}
        require(not _derivative(quantity, velocity), where, "a matrix that does not move")
    _norms(v.norms, f"{path}.norms", edges, paths)
    return len(v.balances), len(v.norms)


def _components(hidden: dict[str, Any], paths: list[Path]) -> Iterator[tuple[str, Any, Any]]:
    """Yield node, edges in and edges out of all edges that pathways join at a hidden node."""
    for name, (into, out) in hidden.items():
        groups: list[set[int]] = []
        for path in paths:
            met = {e for e in path if e in into or e in out}
            if met:
                apart = [g for g in groups if g.isdisjoint(met)]
                joined = met.union(*(g for g in groups if not g.isdisjoint(met)))
                groups = [*apart, joined]
        for group in sorted(groups, key=min):
            yield name, [e for e in into if e in group], [e for e in out if e in group]


def _norms(value: Any, path: str, edges: list[int], paths: list[Path]) -> None:
    r"""Check sums of squared norms: complete, independent, and conserved.

    Along the flow :math:`\tau\,d\|W_e\|^2/dt = 2\sum_{p\ni e} tr(W_p^T E_b)`: the same number of
    pathway p for all its edges. So Σ λ_e ‖W_e‖² does not move where λ sums to 0 along each pathway.
    """
    require(isinstance(value, list), path, "a list")
    rows = []
    for n, item in enumerate(value):
        where = f"{path}[{n}]"
        good = isinstance(item, list) and all(type(x) is int and abs(x) < PRIME for x in item)
        require(good and len(item) > max(edges), where, "an integer for every edge")
        good = not any(x for e, x in enumerate(item) if e not in edges)
        require(good and all(sum(item[e] for e in p) == 0 for p in paths), where, "conserved")
        rows.append(item)
    used = [[int(edge in p) for edge in edges] for p in paths]
    good = rank(rows) == len(rows) == len(edges) - rank(used)
    require(good, path, "independent, and as many as there are")
