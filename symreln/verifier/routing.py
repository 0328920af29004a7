r"""The routing network: which pathways share edges, and what its modes obey for all M and K.

A part ``routing`` follows a part of pathways: ``pairs`` has, of each of them, the input domain,
whose edge it begins with, and the output domain, whose edge it ends with; all share one hidden edge
between. Every one of the M input and of the M output domains is in K pairs, so that the three kinds
of edges are used by n = (K, KM, K) pathways. The first part proves that the modes of every pathway
do not act on other pathways, and here it is checked that all pathways have the same correlations.
Edges that start alike by kind, aligned with the modes (s, d) of one pathway, stay alike: with
strengths w_l in a mode, :math:`\tau\dot w_l = n_l\prod_{m\ne l} w_m (s - d\pi)`, π = Π w_m.
*Proof.* Let R_n have orthonormal columns, those of an input or output domain being a pathway's
modes there, and :math:`W_e = R_t B_e R_s^T`. In the term :math:`W_{after}^T E W_{before}^T` of a
pathway every two bases that meet cancel, so that it is R_t (…) R_sᵀ, with what is the same for all
pathways of the edge between. ∎ Modes that close by themselves in every pathway close here by
symmetry.

*For all* M and K are claimed: the counts, the conserved differences, the closed forms of a balanced
start and of equal outer edges, the speed N^{1/3} = K M^{1/3} against unshared pathways, and the
limit of the speed from equal small weights. M input domains in K pairs each are KM pairs, all of
which use the hidden edge; the M output domains are in equally many. From equal weights w_0 the
outer edges start at x_0² = w_0²/n_1, the middle one at x² = w_0²/n_2, so
:math:`-\delta = w_0^2 (n_2 - n_1)/(n_1 n_2)`; what passes while the error is s is
:math:`\tau\arctan(\sqrt{-\delta}/x)/(\sqrt{-\delta N} s)`, against τ/(w_0 s) of single edges: the
ratio is √(-δN)/w_0 over arctan √(-δ/x²), with squares ``factor_squared`` = N(n_2 - n_1)/(n_1 n_2)
and ``angle_squared`` = n_2/n_1 - 1.

A time is given as :math:`t(y) = \sum_k c_k y^{e_k} + \sum_j \sum_{q_j(r)=0} w_j(r)\log(y - r)`,
with numbers c, polynomials q over the numbers and polynomials w of lower degree. Its derivative is
rational in y: :math:`\sum_{q(r)=0} w(r)/(y-r) = \sum_k y^k\,\mathrm{tr}(w\,h_k)/q(y)` where
:math:`q(y) - q(r) = (y - r)\sum_k h_k(r)\,y^k` and tr is the sum over the roots of q, found without
any root. Sums over the roots of x² + k² are arc tangents in real functions, those of x² - k² are
logarithms.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from typing import Final

from .matrices import Matrix, equal
from .modes import Pathway
from .numbers import Element, Ratio, convolved, power, times, trace
from .reading import Data, Given, Reader
from .stages import LEVELS, Stage

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


def _check_chain(given: Given, counts: list[Ratio], reader: Reader) -> None:
    r"""Check what holds of a chain of three shared edges; ``counts`` are the n_l.

    - ``conserved``: q_l = n_l/n_1 for l > 1. As τ d(w_l²)/dt = 2 n_l π(s - dπ), the number
      w_l² - q w_1² does not move exactly where n_l = q n_1.
    - ``radicand``: N = Π n_l. With w_l = √n_l x, which the flow keeps, π = √N x³, and with
      y³ = π the time t(y) obeys dy/dt = y²(s - d y³) in units of τ/N^{1/3}. Of two chains
      the one with N is so many times faster, N^{1/3}, than the one with all n = 1.
    """
    v = given.take("conserved radicand time")
    shown = zip(reader.ratios(v.conserved, 2), counts[1:], strict=True)
    v.conserved.require(all(q * counts[0] == n for q, n in shown), "n_l/n_1")
    total = reduce(Ratio.__mul__, counts)
    v.radicand.require(reader.ratio(v.radicand) == total, "Π n_l")
    own, (s, d) = _letters("s", "d")
    one = own.constant(1)
    drive = _sum([s], power(d * -1, 3))
    _check_time(own, v.time, convolved(power(one, 2), drive), one)


def check_routing(data: Data, given: Given, stages: list[Stage]) -> str:
    """Check a routing network on a dataset, and what holds for all M and K; return a line.

    Args:
        data: The dataset.
        given: The part of the certificate.
        stages: What was proven of its pathways.
    """
    v = given.take("kind pairs domains partners uses chain ends equal_weights")
    closed = [stage.level for stage in stages] == [LEVELS[0]]
    given.require(closed, "a part after one closed stage of pathways")
    paths = stages[0].paths
    m, k = (number.integer(len(paths), 1) for number in (v.domains, v.partners))
    shown = v.pairs.items(len(paths))
    pairs = [tuple(end.integer(m - 1) for end in pair.items(2)) for pair in shown]
    good = len(set(pairs)) == len(pairs) > 1
    for side in (0, 1):
        good = good and list(Counter(pair[side] for pair in pairs).values()) == [k] * m
        ends = {(pair[side], p.key[side]) for pair, p in zip(pairs, paths, strict=True)}
        good = good and len(ends) == m
    v.pairs.require(good, "K pairs of every domain, which has its own inputs or outputs")
    first, *others = (_seen(data, p) for p in paths)
    good = all(equal(a, b) for seen in others for a, b in zip(seen, first, strict=True))
    v.pairs.require(good, "of equal correlations")
    reader, (all_m, all_k) = _letters("M", "K")
    counts, all_pairs = reader.ratios(v.uses, 3), all_k * all_m
    good = all(x == y for x, y in zip(counts, (all_k, all_pairs, all_k), strict=True))
    v.uses.require(good, "K, KM and K")
    _check_chain(v.chain, counts, reader)
    _check_ends(v.ends)
    w = v.equal_weights.take("factor_squared angle_squared")
    excess = all_m - reader.constant(1)  # n_2/n_1 - 1
    w.angle_squared.require(reader.ratio(w.angle_squared) == excess, "n_2/n_1 - 1")
    factor = all_k * all_k * excess  # N (n_2 - n_1)/(n_1 n_2)
    good = reader.ratio(w.factor_squared) == factor
    w.factor_squared.require(good, "N(n_2 - n_1)/(n_1 n_2)")
    return f"routing: M = {m}, K = {k}; {LEVELS[1]}, closed forms and speeds for all M and K"


def _seen(data: Data, p: Pathway) -> tuple[Matrix, Matrix]:
    """Return Sigma^{yx} and Sigma^x of a pathway, in the order of its own ends, times P."""
    places = {output: n for n, output in enumerate(p.key[1])}
    targets = data.y.moved(places, range(data.samples), (len(places), data.samples))
    return targets @ p.features.T, p.features @ p.features.T
