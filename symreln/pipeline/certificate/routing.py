r"""The part of a certificate on the routing network: closed forms of one mode, for all M and K.

A time is a sum of powers of its variable y and of :math:`\sum_{q(r)=0} w(r)\log(y - r)`; see
:mod:`symreln.verifier.routing`, which reads it. Where a formula is printed in other functions, its
derivative is compared with that of what is shown here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.laws.routing import DOMAINS, PARTNERS, SIGNS
from symreln.laws.three_edges import ThreeEdges, X
from symreln.verifier.numbers import render

if TYPE_CHECKING:
    from symreln.claims.routing import Routing
    from symreln.claims.texts import Json


def _text(expr: Any, letters: Sequence[sp.Symbol]) -> str:
    """Return a rational function over Q, in these letters, as a certificate spells it."""
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


def _balanced_form() -> Json:
    r"""Return t(y) with y³ = π: dt/dy = 1/(y²(s - d y³)), in units of τ/N^{1/3}.

    By partial fractions 1/s times :math:`y^{-2} + d\,y/(s - d y^3)`.
    """
    s, d, r = sp.symbols("s d r", positive=True)
    q = s - d * r**3
    sums = [_sum(q, d * r / (s * sp.diff(q, r)), r, (s, d))]
    return {"powers": [[-1, _text(-1 / s, (s, d))]], "sums": sums}


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


def routing_part(routing: Routing) -> Json:
    """Return what is claimed of a routing network, and for all M and K.

    Args:
        routing: The network.

    Raises:
        ArithmeticError: A printed form differs from what would be shown.
    """
    ends = [(path.edges[0], path.edges[-1]) for path in routing.paths]
    first, last = (list(dict.fromkeys(side)) for side in zip(*ends, strict=True))
    network, letters = routing.network, (DOMAINS, PARTNERS)
    size = sp.Symbol("kappa", positive=True)
    counts, total = network.chain.counts, network.chain.total
    n1, n2, _ = counts
    return {
        "kind": "routing",
        "pairs": [[first.index(a), last.index(b)] for a, b in ends],
        "domains": routing.domains,
        "partners": routing.partners,
        "uses": [_text(n, letters) for n in counts],
        "chain": {
            "conserved": [_text(n / n1, letters) for n in counts[1:]],
            "radicand": _text(total, letters),
            "time": _balanced_form(),
        },
        "ends": [_ends_form(network.equal_ends(sign), size) for sign in SIGNS],
        "equal_weights": {
            "factor_squared": _text(total * (n2 - n1) / (n1 * n2), letters),
            "angle_squared": _text(n2 / n1 - 1, letters),
        },
    }
