r"""How many pathways use an edge, for symbolic numbers of domains: counted, not read off runs.

Only counts enter the reduction, so it is enough that they are the same for all edges of a family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symreln.errors import NoClosedFormError


@dataclass(frozen=True, kw_only=True)
class Index:
    """One index of pathways.

    Attributes:
        name: Its name.
        count: It runs over 0, …, count - 1.
    """

    name: str
    count: sp.Expr


@dataclass(frozen=True, kw_only=True)
class EdgeFamily:
    r"""Edges that differ in a label: :math:`\sum_i c_i i` modulo ``modulus``.

    Attributes:
        name: What the edges are.
        coefficients: c_i by the index' name; empty for a single edge, which all pathways use.
        modulus: Number of labels, 1 for a single edge.
    """

    name: str
    coefficients: tuple[tuple[str, int], ...] = ()
    modulus: sp.Expr = sp.S.One


def pathways_of(indices: tuple[Index, ...]) -> sp.Expr:
    """Return the number of pathways, one for every combination of the indices."""
    return sp.Mul(*(index.count for index in indices))


def uses(family: EdgeFamily, indices: tuple[Index, ...]) -> sp.Expr:
    """Return how many pathways use one edge of a family; it is the same for all its edges.

    A single edge is used by all. Otherwise some index must run once over all residues of the
    modulus with coefficient ±1, a bijection of them: whatever the other indices are, exactly one
    of its values gives the edge's label, so that the others are free.

    Args:
        family: The edges.
        indices: Indices of the pathways.

    Raises:
        NoClosedFormError: Neither is the case; the edges might be used unequally.

    Example:
        >>> M, K = sp.symbols("M K", integer=True, positive=True)
        >>> pairs = (Index(name="i", count=M), Index(name="k", count=K))
        >>> uses(EdgeFamily(name="output", coefficients=(("i", 1), ("k", 1)), modulus=M), pairs)
        K
    """
    if not family.coefficients:
        return pathways_of(indices)
    known = dict(family.coefficients)
    for index in indices:
        if abs(known.get(index.name, 0)) == 1 and sp.expand(index.count - family.modulus) == 0:
            return sp.Mul(*(other.count for other in indices if other is not index))
    msg = (
        f"edges '{family.name}': no index runs over all {family.modulus} labels once, so the "
        "pathways of an edge are not counted for symbolic sizes. Give numbers for the sizes"
    )
    raise NoClosedFormError(msg)


def regular_uses(domains: sp.Expr, partners: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return how many pathways use an (input, hidden, output) edge of any regular pairing.

    Every input domain is in ``partners`` pairs, and every output domain in equally many. Summing
    over input domains gives all pairs, which the shared hidden edge carries; the output domains,
    as many as input domains, divide them equally.

    Args:
        domains: M, the number of input domains and of output domains.
        partners: K, pairs of every input domain.
    """
    domain = sp.Dummy("i", integer=True)
    pairs: Any = sp.Sum(partners, (domain, 1, domains)).doit()
    return partners, pairs, sp.cancel(pairs / domains)
