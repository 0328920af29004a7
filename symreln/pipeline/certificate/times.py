r"""Closed forms of one mode as a certificate shows them: sums over roots instead of logarithms.

A time is a sum of powers of its variable y and of :math:`\sum_{q(r)=0} w(r)\log(y - r)`; see
:mod:`symreln.verifier.times`, which reads it. Where a formula is printed in other functions, its
derivative is compared with that of what is shown here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd, lcm
from typing import Any

import sympy as sp

from symreln.laws.routing import DOMAINS, PARTNERS, RoutingNetwork
from symreln.laws.three_edges import ThreeEdges, X
from symreln.verifier.numbers import render

Json = dict[str, Any]


def _text(expr: Any, letters: Sequence[sp.Symbol]) -> str:
    """Return a rational function over Q, in these letters, as a certificate spells it."""
    letters = letters or (sp.Symbol("x"),)  # a polynomial needs a variable
    names = [letter.name for letter in letters]
    top, below = sp.fraction(sp.cancel(sp.together(expr)))
    parts = [sp.Poly(part, *letters, domain="QQ") for part in (top, below)]
    scale: Any = lcm(*(int(c.q) for part in parts for c in part.coeffs()))
    tables: list[Any] = [{key: int(c * scale) for key, c in part.terms() if c} for part in parts]
    common = gcd(*(c for table in tables for c in table.values()))
    sign = 1 if tables[1][max(tables[1])] > 0 else -1
    tables = [{key: sign * c // common for key, c in table.items()} for table in tables]
    if tables[1] == {(0,) * len(names): 1}:
        return render(tables[0], names)
    return f"{render(tables[0], names)} / {render(tables[1], names)}"


def _sum(polynomial: Any, weight: Any, root: sp.Symbol, letters: Sequence[sp.Symbol]) -> Json:
    """Return a sum over the roots of a polynomial, its weight a polynomial of lower degree."""
    q: Any = sp.Poly(polynomial, root)
    field: Any = q.set_domain(sp.FractionField(sp.QQ, letters))
    top, below = (
        sp.Poly(part, root).set_domain(field.domain) for part in sp.fraction(sp.together(weight))
    )
    w: Any = (top * sp.invert(below, field)).rem(field)

    def listed(found: Any, length: int) -> list[str]:
        values = found.all_coeffs()[::-1]
        values += [sp.S.Zero] * (length - len(values))
        return [_text(value, letters) for value in values]

    return {"polynomial": listed(q, q.degree() + 1), "weight": listed(w, q.degree())}


def _balanced_form(layers: int) -> Json:
    r"""Return t(y) with y^L = π: dt/dy = 1/(y^{L-1}(s - d y^L)), in units of τ/N^{1/L}.

    By partial fractions 1/s times :math:`y^{1-L} + d\,y/(s - d y^L)`.
    """
    s, d, r = sp.symbols("s d r", positive=True)
    letters = (s, d)
    q = s - d * r**layers
    sums = [_sum(q, d * r / (s * sp.diff(q, r)), r, letters)]
    powers: list[list[Any]] = []
    if layers == 1:
        sums = [_sum(q, 1 / sp.diff(q, r), r, letters)]
    elif layers == 2:
        sums.append(_sum(r, 1 / s, r, letters))
    else:
        powers = [[2 - layers, _text(1 / (s * (2 - layers)), letters)]]
    return {"powers": powers, "sums": sums}


def _ends_form(form: ThreeEdges, size: sp.Symbol) -> Json:
    """Return t(x) of three edges of which the outer start alike, in units of τ/(g s), g² = N.

    Args:
        form: With symbols s and d; delta is its sign times ``size`` squared.
        size: The symbol k.

    Raises:
        ArithmeticError: The printed start integral differs from what is shown.
    """
    g, s, d, k, r = sp.symbols("g s d k r", positive=True)
    letters = (g, s, d, k)
    named: dict[sp.Basic, sp.Basic] = {form.s: s, form.d: d, size: k}
    end = replace(form, total=g**2).end_polynomial.xreplace({**named, X: r})
    sums = [_sum(end, form.weight(r).xreplace(named), r, letters)]
    powers: list[list[Any]] = []
    if form.sign:
        shift = form.sign * k**2
        sums.append(_sum(r**2 - shift, 1 / (2 * r), r, letters))
    else:
        shift = sp.S.Zero
        powers = [[-1, "-1"]]
    printed = sp.diff(form.start_integral.xreplace(named), X)
    if sp.cancel(sp.together(printed - 1 / (X**2 - shift))) != 0:
        msg = "the start integral that is printed is not the one certified"
        raise ArithmeticError(msg)
    return {"sign": form.sign, "time": {"powers": powers, "sums": sums}}


def chain_json(counts: Sequence[sp.Expr], letters: Sequence[sp.Symbol] = ()) -> Json:
    """Return what is claimed of a chain of shared edges.

    Args:
        counts: n_l, numbers or in ``letters``.
        letters: Symbols of the counts.
    """
    return {
        "conserved": [_text(n / counts[0], letters) for n in counts[1:]],
        "radicand": _text(sp.Mul(*counts), letters),
        "time": _balanced_form(len(counts)),
    }


def routing_json(domains: int, partners: int) -> Json:
    """Return what is claimed of the routing network for all M and K.

    Args:
        domains: M of the graph at hand.
        partners: K.
    """
    network, letters = RoutingNetwork(), (DOMAINS, PARTNERS)
    size = sp.Symbol("kappa", positive=True)
    counts, total = network.chain.counts, network.chain.total
    n1, n2, _ = counts
    return {
        "domains": domains,
        "partners": partners,
        "uses": [_text(n, letters) for n in counts],
        "chain": chain_json(counts, letters),
        "ends": [_ends_form(network.equal_ends(sign), size) for sign in (-1, 0, 1)],
        "equal_weights": {
            "factor_squared": _text(total * (n2 - n1) / (n1 * n2), letters),
            "angle_squared": _text(n2 / n1 - 1, letters),
        },
    }
