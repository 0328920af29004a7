"""Whether a graph on its data is a routing network: decided exactly, pathway by pathway."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.graphs.data import GraphData


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """What was found.

    Attributes:
        domains: M, or 0 where it is no routing network.
        partners: K, or 0.
        reason: What stands in the way, or "".
    """

    domains: int = 0
    partners: int = 0
    reason: str = ""

    @property
    def is_routing(self) -> bool:
        """Whether it is a routing network."""
        return not self.reason


def recognise(data: GraphData) -> Recognised:
    """Return M and K where every pathway shares one hidden edge and all are used alike.

    What is asked: pathways of three edges; one middle edge; every first edge in K of them and
    every last edge, too; equal data for all, and no coupling. The theorem of
    :mod:`symreln.graphs.routing` needs no more.
    """
    paths = [path.edges for path in data.paths]
    if any(len(path) != 3 for path in paths):
        return Recognised(reason="a pathway has other than three edges")
    first, hidden, last = (Counter(path[place] for path in paths) for place in range(3))
    if len(hidden) != 1:
        return Recognised(reason="the pathways do not share one hidden edge")
    # Used equally often, they are equally many: their number times their use is all pathways.
    if len({*first.values(), *last.values()}) != 1:
        return Recognised(reason="the outer edges are not used by equally many pathways")
    reason = unequal_data(data)
    if reason:
        return Recognised(reason=reason)
    return Recognised(domains=len(first), partners=next(iter(first.values())))


def unequal_data(data: GraphData) -> str:
    """Return how the pathways' data differ or couple, or ""."""
    if len(data.bundles) != len(data.paths):
        return "two pathways see the same samples"
    if any(c != b for c, b in data.sigma_x):
        return "the outputs of two pathways meet on common samples"
    own = [data.sigma_x.get((b, b)) for b in range(len(data.bundles))]
    if any(sigma != own[0] for sigma in own):
        return "Sigma^x differs between pathways"
    if any(sigma != data.sigma_yx[0] for sigma in data.sigma_yx):
        return "Sigma^yx differs between pathways"
    return ""
