r"""Closed forms of one mode: the time t(y) that a mode takes, checked by its derivative.

A time is given as :math:`t(y) = \sum_k c_k y^{e_k} + \sum_j \sum_{q_j(r)=0} w_j(r)\log(y - r)`,
with numbers c, polynomials q over the numbers and polynomials w of lower degree. Its derivative is
rational in y: :math:`\sum_{q(r)=0} w(r)/(y-r) = \sum_k y^k\,\mathrm{tr}(w\,h_k)/q(y)` where
:math:`q(y) - q(r) = (y - r)\sum_k h_k(r)\,y^k` and tr is the sum over the roots of q, found without
any root. Sums over the roots of x² + k² are arc tangents in real functions, those of x² - k² are
logarithms.
"""

from __future__ import annotations

from functools import reduce
from typing import Final

from .numbers import Element, Ratio, convolved, power, times, trace
from .reading import Given, Reader

#: Of y in a time.
MOST_EXPONENT: Final = 10**4


def _sum(a: Element, b: Element) -> Element:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    return [x + short[n] if n < len(short) else x for n, x in enumerate(long)]


def _check_time(reader: Reader, given: Given, velocity: Element, right: Ratio) -> None:
    """Check dt/dy · velocity(y) = right, as an identity in y."""
    v = given.take("powers sums")
    one = [reader.constant(1)]
    parts: list[tuple[Element, Element]] = []  # dt/dy as numerators and denominators in y
    for item in v.powers.items(least=0):
        exponent, number = item.items(2)
        n = exponent.integer(MOST_EXPONENT, -MOST_EXPONENT)
        exponent.require(n, "not 0")
        factor, shift = reader.ratio(number) * n, power(one[0], abs(n - 1))
        parts.append(([factor], shift) if n < 1 else ([x * factor for x in shift], one))
    for item in v.sums.items(least=0):
        s = item.take("polynomial weight")
        q = reader.ratios(s.polynomial)
        s.polynomial.require(len(q) > 1 and q[-1], "a polynomial of degree > 0")
        parts.append((_over_roots(q, reader.ratios(s.weight, len(q) - 1)), q))
    top, below = [reader.constant(0)], one
    for upper, lower in parts:
        top = _sum(convolved(top, lower), convolved(upper, below))
        below = convolved(below, lower)
    wrong = _sum(convolved(top, velocity), [x * right * -1 for x in below])
    given.require(not any(wrong), "a time whose derivative is one over the velocity")


def _over_roots(q: Element, weight: Element) -> Element:
    """Return q(y) Σ w(r)/(y - r), from low to high: h_k(r) = Σ_{j>k} q_j r^{j-k-1}."""
    degree, zero = len(q) - 1, q[0] * 0
    shown = (q[k + 1 :] + [zero] * k for k in range(degree))
    return [trace(q, times(q, weight, h)) for h in shown]


def _letters(*names: str) -> tuple[Reader, list[Ratio]]:
    reader = Reader(Given(list(names)))
    return reader, [reader.symbol(name) for name in names]


def _check_ends(given: Given) -> None:
    r"""Check the three closed forms of three edges of which the outer start alike.

    With g² = N the time t(x) in units of τ/(g s): dt/dx · (x² - δ)(s - d g x (x² - δ)) = s, where
    δ = sign · k². The identity holds for every g.
    """
    reader, (g, s, d, k) = _letters("g", "s", "d", "k")
    for item, sign in zip(given.items(3), (-1, 0, 1), strict=True):
        v = item.take("sign time")
        v.sign.shows(sign)
        outer = [k * k * -sign, reader.constant(0), reader.constant(1)]
        strength = [reader.constant(0), *outer]
        drive = _sum([s], [x * d * g * -1 for x in strength])
        _check_time(reader, v.time, convolved(outer, drive), s)


def check_chain(given: Given, counts: list[Ratio], reader: Reader) -> None:
    r"""Check what holds of a chain of shared edges; ``counts`` are the n_l.

    - ``conserved``: q_l = n_l/n_1 for l > 1. As τ d(w_l²)/dt = 2 n_l π(s - dπ), the number
      w_l² - q w_1² does not move exactly where n_l = q n_1.
    - ``radicand``: N = Π n_l. With w_l = √n_l x, which the flow keeps, π = √N x^L, and with
      y^L = π the time t(y) obeys dy/dt = y^{L-1}(s - d y^L) in units of τ/N^{1/L}. Of two chains
      the one with N is so many times faster, N^{1/L}, than the one with all n = 1.
    """
    v = given.take("conserved radicand time")
    shown = zip(reader.ratios(v.conserved, len(counts) - 1), counts[1:], strict=True)
    v.conserved.require(all(q * counts[0] == n for q, n in shown), "n_l/n_1")
    total = reduce(Ratio.__mul__, counts)
    v.radicand.require(reader.ratio(v.radicand) == total, "Π n_l")
    own, (s, d) = _letters("s", "d")
    layers, one = len(counts), own.constant(1)
    drive = _sum([s], power(d * -1, layers))
    _check_time(own, v.time, convolved(power(one, layers - 1), drive), one)


def check_routing(given: Given, uses: list[int]) -> tuple[int, int]:
    r"""Check the routing network for all M and K; return those of this graph.

    M input domains in K pairs each are KM pairs, all of which use the hidden edge; the M output
    domains are in equally many. From equal weights w_0 the outer edges start at x_0² = w_0²/n_1,
    the middle one at x² = w_0²/n_2, so :math:`-\delta = w_0^2 (n_2 - n_1)/(n_1 n_2)`; what passes
    while the error is s is :math:`\tau\arctan(\sqrt{-\delta}/x)/(\sqrt{-\delta N} s)`, against
    τ/(w_0 s) of single edges: the ratio is √(-δN)/w_0 over arctan √(-δ/x²), with squares
    ``factor_squared`` = N(n_2 - n_1)/(n_1 n_2) and ``angle_squared`` = n_2/n_1 - 1.
    """
    v = given.take("domains partners uses chain ends equal_weights")
    m, k = v.domains.integer(10**6), v.partners.integer(10**6)
    given.require(uses == [k, k * m, k] and m, "M and K of this graph")
    reader, (all_m, all_k) = _letters("M", "K")
    counts, all_pairs = reader.ratios(v.uses, 3), all_k * all_m
    good = all(x == y for x, y in zip(counts, (all_k, all_pairs, all_k), strict=True))
    v.uses.require(good, "K, KM and K")
    check_chain(v.chain, counts, reader)
    _check_ends(v.ends)
    w = v.equal_weights.take("factor_squared angle_squared")
    excess = all_m - reader.constant(1)  # n_2/n_1 - 1
    w.angle_squared.require(reader.ratio(w.angle_squared) == excess, "n_2/n_1 - 1")
    factor = all_k * all_k * excess  # N (n_2 - n_1)/(n_1 n_2)
    good = reader.ratio(w.factor_squared) == factor
    w.factor_squared.require(good, "N(n_2 - n_1)/(n_1 n_2)")
    return m, k
