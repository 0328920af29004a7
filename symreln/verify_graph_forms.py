r"""The graph verifier's closed forms of one mode: rational identities; the standard library alone.

A time is given as :math:`t(y) = \sum_k c_k y^{e_k} + \sum_j \sum_{q_j(r)=0} w_j(r)\log(y - r)`,
with numbers c, polynomials q over the numbers and polynomials w of lower degree. Its derivative is
rational in y: :math:`\sum_{q(r)=0} w(r)/(y-r) = \sum_k y^k\,\mathrm{tr}(w\,h_k)/q(y)` where
:math:`q(y) - q(r) = (y - r)\sum_k h_k(r)\,y^k` and tr is the sum over the roots of q, found by
:func:`symreln.verify_modes.trace` without any root. Sums over the roots of x² + k² are arc tangents
in real functions, those of x² - k² are logarithms.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify_modes import Element, times, trace
    from symreln.verify_numbers import Ratio, integers, require, take
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    from verify_modes import Element, times, trace  # type: ignore[no-redef]
    from verify_numbers import Ratio, integers, require, take  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]


def numbers(*names: str) -> Data:
    """Return a reader of numbers in some letters."""
    unit = (0,) * len(names)
    return Data(names=list(names), unit=unit, used=set(), texts={}, where="letters", fits=[])


def _sum(a: Element, b: Element) -> Element:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    return [x + short[n] if n < len(short) else x for n, x in enumerate(long)]


def _product(data: Data, a: Element, b: Element) -> Element:
    found = [data.constant(0)] * max(0, len(a) + len(b) - 1)
    for n, x in enumerate(a):
        for m, y in enumerate(b):
            found[n + m] = found[n + m] + x * y
    return found


def slope(data: Data, value: Any, path: str) -> tuple[Element, Element]:
    """Return dt/dy of a time as (numerator, denominator), polynomials in y from low to high."""
    v = take(value, path, "powers sums")
    require(isinstance(v.powers, list) and isinstance(v.sums, list), path, "two lists")
    one = [data.constant(1)]
    top: Element = []
    below = one
    for n, item in enumerate(v.powers):
        where = f"{path}.powers[{n}]"
        good = isinstance(item, list) and len(item) == 2 and type(item[0]) is int
        require(good and item[0] and abs(item[0]) < 10**4, where, "[exponent, number]")
        shift, factor = item[0] - 1, data.ratio(item[1], where) * item[0]
        zeros = [data.constant(0)] * abs(shift)
        part = ([*zeros, factor], one) if shift >= 0 else ([factor], [*zeros, *one])
        top, below = _added(data, (top, below), part)
    for n, item in enumerate(v.sums):
        where = f"{path}.sums[{n}]"
        s = take(item, where, "polynomial weight")
        q = data.ratios(s.polynomial, f"{where}.polynomial")
        require(len(q) > 1 and q[-1], f"{where}.polynomial", "a polynomial of degree > 0")
        weight = data.ratios(s.weight, f"{where}.weight", len(q) - 1)
        top, below = _added(data, (top, below), (_over_roots(data, q, weight), q))
    return top, below


def _added(data: Data, a: tuple[Element, Element], b: tuple[Element, Element]) -> Any:
    crossed = _sum(_product(data, a[0], b[1]), _product(data, b[0], a[1]))
    return crossed, _product(data, a[1], b[1])


def _over_roots(data: Data, q: Element, weight: Element) -> Element:
    """Return q(y) Σ w(r)/(y - r), from low to high: h_k(r) = Σ_{j>k} q_j r^{j-k-1}."""
    degree = len(q) - 1
    found = []
    for k in range(degree):
        h = [q[k + 1 + n] if k + 1 + n <= degree else data.constant(0) for n in range(degree)]
        found.append(trace(data, q, times(data, q, weight, h)))
    return found


def solves(data: Data, time: Any, path: str, velocity: Element, right: Ratio) -> None:
    """Check dt/dy · velocity(y) = right, as an identity."""
    top, below = slope(data, time, path)
    left = _product(data, top, velocity)
    wrong = _sum(left, [x * right * -1 for x in below])
    require(not any(wrong), path, "a time whose derivative is one over the velocity")


def power(data: Data, exponent: int, factor: Ratio) -> Element:
    """Return factor · y^exponent."""
    return [data.constant(0)] * exponent + [factor]


def check_balanced(time: Any, path: str, layers: int) -> None:
    r"""Check t(y) with y^L = π: dy/dt = y^{L-1}(s - d y^L), in units of τ/N^{1/L}."""
    data = numbers("s", "d")
    s, d = data.ratio("1*s^1", path), data.ratio("1*d^1", path)
    drive = _sum([s], power(data, layers, d * -1))
    velocity = _product(data, power(data, layers - 1, data.constant(1)), drive)
    solves(data, time, path, velocity, data.constant(1))


def check_ends(value: Any, path: str) -> None:
    r"""Check the three closed forms of three edges of which the outer start alike.

    With g² = N the time t(x) in units of τ/(g s): dt/dx · (x² - δ)(s - d g x (x² - δ)) = s, where
    δ = sign · k². The identity holds for every g.
    """
    data = numbers("g", "s", "d", "k")
    g, s, d, k = (data.ratio(f"1*{name}^1", path) for name in data.names)
    require(isinstance(value, list) and len(value) == 3, path, "three forms")
    for n, (item, sign) in enumerate(zip(value, (-1, 0, 1), strict=True)):
        where = f"{path}[{n}]"
        v = take(item, where, "sign time")
        require(type(v.sign) is int and v.sign == sign, f"{where}.sign", str(sign))
        outer = [k * k * -sign, data.constant(0), data.constant(1)]
        strength = [data.constant(0), *outer]
        drive = _sum([s], [x * d * g * -1 for x in strength])
        solves(data, v.time, f"{where}.time", _product(data, outer, drive), s)


def check_chain(value: Any, path: str, counts: list[Ratio], data: Data) -> None:
    r"""Check what holds of a chain of shared edges; ``counts`` are the n_l.

    - ``conserved``: q_l = n_l/n_1 for l > 1. As τ d(w_l²)/dt = 2 n_l π(s - dπ), the number
      w_l² - q w_1² does not move exactly where n_l = q n_1.
    - ``radicand``: N = Π n_l. With w_l = √n_l x, which the flow keeps, π = √N x^L, and with
      y^L = π the time t(y) is that of :func:`check_balanced` in units of τ/N^{1/L}. Of two
      chains the one with N is so many times faster, N^{1/L}, than the one with all n = 1.
    """
    v = take(value, path, "conserved radicand time")
    quotients = data.ratios(v.conserved, f"{path}.conserved") if len(counts) > 1 else []
    require(len(v.conserved) == len(counts) - 1, f"{path}.conserved", "one number a later edge")
    for q, n in zip(quotients, counts[1:], strict=True):
        require(q * counts[0] == n, f"{path}.conserved", "n_l/n_1")
    total = data.constant(1)
    for n in counts:
        total = total * n
    require(data.ratio(v.radicand, f"{path}.radicand") == total, f"{path}.radicand", "Π n_l")
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
    data = numbers("M", "K")
    counts = data.ratios(v.uses, f"{path}.uses", 3)
    symbols = SimpleNamespace(m=data.ratio("1*M^1", path), k=data.ratio("1*K^1", path))
    pairs = symbols.m * symbols.k
    good = counts[0] * symbols.m == pairs == counts[1] and counts[2] * symbols.m == pairs
    require(good, f"{path}.uses", "K, KM and K")
    check_chain(v.chain, f"{path}.chain", counts, data)
    check_ends(v.ends, f"{path}.ends")
    where = f"{path}.equal_weights"
    w = take(v.equal_weights, where, "factor_squared angle_squared")
    total = counts[0] * counts[1] * counts[2]
    excess = (counts[1] + counts[0] * -1) / counts[0]
    angle = data.ratio(w.angle_squared, where) == excess
    factor = data.ratio(w.factor_squared, where) == total * excess / counts[1]
    require(angle and factor, where, "n_2/n_1 - 1, and N(n_2 - n_1)/(n_1 n_2)")
    return m, k
