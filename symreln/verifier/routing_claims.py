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

*For all* M and K are claimed: the counts, the conserved differences, the speed N^{1/3} = K M^{1/3}
against unshared pathways from a balanced start, and the limit of the speed from equal small
weights. M input domains in K pairs each are KM pairs, all of which use the hidden edge; the M
output domains are in equally many. From equal weights w_0 the outer edges start at x_0² = w_0²/n_1,
the middle one at x² = w_0²/n_2, so :math:`-\delta = w_0^2 (n_2 - n_1)/(n_1 n_2)`; what passes while
the error is s is :math:`\tau\arctan(\sqrt{-\delta}/x)/(\sqrt{-\delta N} s)`, against τ/(w_0 s) of
single edges: the ratio is √(-δN)/w_0 over arctan √(-δ/x²), with squares ``factor_squared`` = N(n_2
- n_1)/(n_1 n_2) and ``angle_squared`` = n_2/n_1 - 1.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce

from .matrices import Matrix, equal
from .mode_claims import Pathway
from .numbers import Ratio
from .reading import Data, Given, Reader
from .stages import LEVELS, Stage


def _letters(*names: str) -> tuple[Reader, list[Ratio]]:
    reader = Reader(Given(list(names)))
    return reader, [reader.symbol(name) for name in names]


def _check_chain(given: Given, counts: list[Ratio], reader: Reader) -> None:
    r"""Check what holds of a chain of three shared edges; ``counts`` are the n_l.

    - ``conserved``: q_l = n_l/n_1 for l > 1. As τ d(w_l²)/dt = 2 n_l π(s - dπ), the number
      w_l² - q w_1² does not move exactly where n_l = q n_1.
    - ``radicand``: N = Π n_l. With w_l = √n_l x, which the flow keeps, π = √N x³ and
      dπ/dt = 3 N^{1/3} π^{4/3} (s - dπ)/τ: of two chains the one with N is N^{1/3} times as fast as
      the one with all n = 1.
    """
    v = given.take("conserved radicand")
    shown = zip(reader.ratios(v.conserved, 2), counts[1:], strict=True)
    v.conserved.require(all(q * counts[0] == n for q, n in shown), "n_l/n_1")
    total = reduce(Ratio.__mul__, counts)
    v.radicand.require(reader.ratio(v.radicand) == total, "Π n_l")


def check_routing(data: Data, given: Given, stages: list[Stage]) -> str:
    """Check a routing network on a dataset, and what holds for all M and K; return a line.

    Args:
        data: The dataset.
        given: The part of the certificate.
        stages: What was proven of its pathways.
    """
    v = given.take("kind pairs domains partners uses chain equal_weights")
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
    w = v.equal_weights.take("factor_squared angle_squared")
    excess = all_m - reader.constant(1)  # n_2/n_1 - 1
    w.angle_squared.require(reader.ratio(w.angle_squared) == excess, "n_2/n_1 - 1")
    factor = all_k * all_k * excess  # N (n_2 - n_1)/(n_1 n_2)
    good = reader.ratio(w.factor_squared) == factor
    w.factor_squared.require(good, "N(n_2 - n_1)/(n_1 n_2)")
    return f"routing: M = {m}, K = {k}; {LEVELS[1]}, speeds for all M and K"


def _seen(data: Data, p: Pathway) -> tuple[Matrix, Matrix]:
    """Return Sigma^{yx} and Sigma^x of a pathway, in the order of its own ends, times P."""
    places = {output: n for n, output in enumerate(p.key[1])}
    targets = data.y.moved(places, range(data.samples), (len(places), data.samples))
    return targets @ p.features.T, p.features @ p.features.T
