r"""Closed forms of one mode: the time t(y) that a mode takes, checked by its derivative.

A time is given as :math:`t(y) = \sum_k c_k y^{e_k} + \sum_j \sum_{q_j(r)=0} w_j(r)\log(y - r)`,
with numbers c, polynomials q over the numbers and polynomials w of lower degree. Its derivative is
rational in y: :math:`\sum_{q(r)=0} w(r)/(y-r) = \sum_k y^k\,\mathrm{tr}(w\,h_k)/q(y)` where
:math:`q(y) - q(r) = (y - r)\sum_k h_k(r)\,y^k` and tr is the sum over the roots of q, found without
any root. Sums over the roots of x² + k² are arc tangents in real functions, those of x² - k² are
logarithms.
"""

from __future__ import annotations

from typing import Any, Final

from .numbers import Element, Ratio, convolved, power, require, times, trace
from .reading import Reader, integers, listed, take

#: Of y in a time.
MOST_EXPONENT: Final = 10**4


def _sum(a: Element, b: Element) -> Element:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    return [x + short[n] if n < len(short) else x for n, x in enumerate(long)]


def _check_time(reader: Reader, value: Any, path: str, velocity: Element, right: Ratio) -> None:
    """Check dt/dy · velocity(y) = right, as an identity in y."""
    v = take(value, path, "powers sums")
    require(isinstance(v.powers, list) and isinstance(v.sums, list), path, "two lists")
    one = [reader.constant(1)]
    parts: list[tuple[Element, Element]] = []  # dt/dy as numerators and denominators in y
    for n, item in enumerate(v.powers):
        where = f"{path}.powers[{n}]"
        exponent, number = listed(item, where, 2)
        good = type(exponent) is int and exponent and abs(exponent) < MOST_EXPONENT
        require(good, where, "[exponent, number]")
        factor, shift = reader.ratio(number, where) * exponent, power(one[0], abs(exponent - 1))
        parts.append(([factor], shift) if exponent < 1 else ([x * factor for x in shift], one))
    for n, item in enumerate(v.sums):
        where = f"{path}.sums[{n}]"
        s = take(item, where, "polynomial weight")
        q = reader.ratios(s.polynomial, f"{where}.polynomial")
        require(len(q) > 1 and q[-1], f"{where}.polynomial", "a polynomial of degree > 0")
        weight = reader.ratios(s.weight, f"{where}.weight", len(q) - 1)
        parts.append((_over_roots(q, weight), q))
    top, below = [reader.constant(0)], one
    for upper, lower in parts:
        top = _sum(convolved(top, lower), convolved(upper, below))
        below = convolved(below, lower)
    wrong = _sum(convolved(top, velocity), [x * right * -1 for x in below])
    require(not any(wrong), path, "a time whose derivative is one over the velocity")


def _over_roots(q: Element, weight: Element) -> Element:
    """Return q(y) Σ w(r)/(y - r), from low to high: h_k(r) = Σ_{j>k} q_j r^{j-k-1}."""
    degree, zero = len(q) - 1, q[0] * 0
    shown = (q[k + 1 :] + [zero] * k for k in range(degree))
    return [trace(q, times(q, weight, h)) for h in shown]


def check_balanced(time: Any, path: str, layers: int) -> None:
    r"""Check t(y) with y^L = π: dy/dt = y^{L-1}(s - d y^L), in units of τ/N^{1/L}."""
    reader = Reader(["s", "d"], path)
    s, d = (reader.ratio(f"1*{name}^1", path) for name in reader.names)
    drive = _sum([s], power(d * -1, layers))
    velocity = convolved(power(reader.constant(1), layers - 1), drive)
    _check_time(reader, time, path, velocity, reader.constant(1))


def _check_ends(value: Any, path: str) -> None:
    r"""Check the three closed forms of three edges of which the outer start alike.

    With g² = N the time t(x) in units of τ/(g s): dt/dx · (x² - δ)(s - d g x (x² - δ)) = s, where
    δ = sign · k². The identity holds for every g.
    """
    reader = Reader(["g", "s", "d", "k"], path)
    g, s, d, k = (reader.ratio(f"1*{name}^1", path) for name in reader.names)
    for n, (item, sign) in enumerate(zip(listed(value, path, 3), (-1, 0, 1), strict=True)):
        where = f"{path}[{n}]"
        v = take(item, where, "sign time")
        require(type(v.sign) is int and v.sign == sign, f"{where}.sign", str(sign))
        outer = [k * k * -sign, reader.constant(0), reader.constant(1)]
        strength = [reader.constant(0), *outer]
        drive = _sum([s], [x * d * g * -1 for x in strength])
        _check_time(reader, v.time, f"{where}.time", convolved(outer, drive), s)


def check_chain(value: Any, path: str, counts: list[Ratio], reader: Reader) -> None:
    r"""Check what holds of a chain of shared edges; ``counts`` are the n_l.

    - ``conserved``: q_l = n_l/n_1 for l > 1. As τ d(w_l²)/dt = 2 n_l π(s - dπ), the number
      w_l² - q w_1² does not move exactly where n_l = q n_1.
    - ``radicand``: N = Π n_l. With w_l = √n_l x, which the flow keeps, π = √N x^L, and with
      y^L = π the time t(y) is that of :func:`check_balanced` in units of τ/N^{1/L}. Of two
      chains the one with N is so many times faster, N^{1/L}, than the one with all n = 1.
    """
    v = take(value, path, "conserved radicand time")
    where = f"{path}.conserved"
    good = isinstance(v.conserved, list) and len(v.conserved) == len(counts) - 1
    require(good, where, "one number a later edge")
    for item, n in zip(v.conserved, counts[1:], strict=True):
        require(reader.ratio(item, where) * counts[0] == n, where, "n_l/n_1")
    total = reader.constant(1)
    for n in counts:
        total = total * n
    radicand = reader.ratio(v.radicand, f"{path}.radicand")
    require(radicand == total, f"{path}.radicand", "Π n_l")
    check_balanced(v.time, f"{path}.time", len(counts))


def check_routing(value: Any, path: str, uses: list[int]) -> tuple[int, int]:
    r"""Check the routing network for all M and K; return those of this graph.

    M input domains in K pairs each are KM pairs, all of which use the hidden edge; the M output
    domains are in equally many. From equal weights w_0 the outer edges start at x_0² = w_0²/n_1,
    the middle one at x² = w_0²/n_2, so :math:`-\delta = w_0^2 (n_2 - n_1)/(n_1 n_2)`; what passes
    while the error is s is :math:`\tau\arctan(\sqrt{-\delta}/x)/(\sqrt{-\delta N} s)`, against
    τ/(w_0 s) of single edges: the ratio is √(-δN)/w_0 over arctan √(-δ/x²), with squares
    ``factor_squared`` = N(n_2 - n_1)/(n_1 n_2) and ``angle_squared`` = n_2/n_1 - 1.
    """
    v = take(value, path, "domains partners uses chain ends equal_weights")
    m, k = integers([v.domains, v.partners], path, 10**6)
    require(uses == [k, k * m, k] and m, path, "M and K of this graph")
    reader = Reader(["M", "K"], path)
    counts = reader.ratios(v.uses, f"{path}.uses", 3)
    all_m, all_k = (reader.ratio(f"1*{name}^1", path) for name in reader.names)
    good = counts[0] == all_k == counts[2] and counts[1] == all_k * all_m
    require(good, f"{path}.uses", "K, KM and K")
    check_chain(v.chain, f"{path}.chain", counts, reader)
    _check_ends(v.ends, f"{path}.ends")
    where = f"{path}.equal_weights"
    w = take(v.equal_weights, where, "factor_squared angle_squared")
    total = counts[0] * counts[1] * counts[2]
    excess = (counts[1] - counts[0]) / counts[0]
    good = reader.ratio(w.angle_squared, where) == excess
    good = good and reader.ratio(w.factor_squared, where) == total * excess / counts[1]
    require(good, where, "n_2/n_1 - 1, and N(n_2 - n_1)/(n_1 n_2)")
    return m, k
