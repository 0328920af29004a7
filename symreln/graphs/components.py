r"""Parts of a graph that learn apart, and what is proven of each.

Pathways that share an edge, see the same data or couple are in one *component*; edges and errors of
different components never meet, so that each follows a flow of its own and the loss is a sum.

A component is *regular* where all its pathways have L edges, every edge has one place in all its
pathways, edges at one place are used by equally many pathways (:math:`n_l` at place l), and all
pathways have equal data and do not couple. Started alike at each place, its edges stay alike and
follow the flow of one pathway, the term of place l times :math:`n_l`
(:func:`symreln.graphs.chains.place_proofs`): a single chain of L edges where every n is 1, the
routing network for L = 3. Source: [Saxe2022].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_repr
from symreln.claims.solve import derive_unchecked
from symreln.exact.spectrum import joint_spectrum
from symreln.exact.truth import Truth
from symreln.graphs.chains import SharedChain
from symreln.graphs.data import GraphData
from symreln.graphs.diagonal import Diagonality, decide_diagonal
from symreln.graphs.recognise import unequal_data
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.solve import Spectrum
    from symreln.exact.spectrum import JointSpectrum
    from symreln.network.model import Network
    from symreln.spec.model import Spec

LEVELS = (Level.CLOSED, Level.CLOSED_BY_SYMMETRY, Level.COUPLED_MODES, Level.COUPLED_MATRICES)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Component:
    """One part.

    Attributes:
        paths: Its pathways, by their place among those of the whole graph; ascending.
        edges: Its edges, by their place in the whole graph; ascending.
        data: The part alone, on the same dataset; its pathways in the same order.
        spec: The spec of the whole.
        counts: n_l of a regular component, from the input on; empty for others.
        reason: Why it is not regular, or "".
        spectrum: What finds a joint spectrum.
    """

    paths: tuple[int, ...]
    edges: tuple[int, ...]
    data: GraphData
    spec: Spec
    counts: tuple[int, ...] = ()
    reason: str = ""
    spectrum: Spectrum = joint_spectrum

    @property
    def is_regular(self) -> bool:
        """Whether all its pathways are alike."""
        return bool(self.counts)

    @cached_property
    def spectra(self) -> tuple[JointSpectrum, ...]:
        """Exact modes of every bundle; bundles of equal data have one object."""
        found: list[JointSpectrum] = []
        for place, first in enumerate(self.equal_data):
            if first < place:
                found.append(found[first])
            else:
                seen = self.data.bundles[place].effective
                found.append(self.spectrum(seen.sigma_yx, seen.sigma_x, self.spec.values))
        return tuple(found)

    def numbered_spectra(self) -> Iterator[tuple[int, JointSpectrum]]:
        """Yield (number of a pathway of the whole, from 1, its modes) of every pathway."""
        for bundle, spectrum in zip(self.data.bundles, self.spectra, strict=True):
            for place in bundle.paths:
                yield self.paths[place] + 1, spectrum

    @cached_property
    def equal_data(self) -> tuple[int, ...]:
        """For every bundle the first one that has its correlations."""
        seen = [(b.effective.sigma_x, s) for b, s in zip(
            self.data.bundles, self.data.sigma_yx, strict=True)]  # fmt: skip
        return tuple(
            next(n for n, (x, yx) in enumerate(seen) if x == mine[0] and yx == mine[1])
            for mine in seen
        )

    @cached_property
    def decision(self) -> Diagonality:
        """Whether bases of its nodes make all its correlations diagonal."""
        if not self.is_regular:
            return decide_diagonal(self.data)
        commutator = self.spectra[0].commutator
        if commutator is None:
            return Diagonality(outcome=Truth.PROVEN, reason="Sigma^x commutes with M")
        where = f"entry ({commutator.row}, {commutator.column}) of their commutator"
        return Diagonality(
            outcome=Truth.REFUTED,
            reason=f"Sigma^x does not commute with M = (Sigma^yx)ᵀ Sigma^yx: {where} is not 0",
        )

    @cached_property
    def ordinary(self) -> Derivation | None:
        """The derivation of parallel pathways with a hidden layer each; None where it is not so.

        Then the graph says nothing that a list of pathways does not, and the exact decision on
        couplings is theirs.
        """
        edges = [edge for path in self.data.paths for edge in path.edges]
        apart = len(set(edges)) == len(edges)
        if self.is_regular or not apart or any(len(p.edges) != 2 for p in self.data.paths):
            return None
        pathways = tuple(self.spec.pathways[place] for place in self.paths)
        spec = replace(self.spec, pathways=pathways, graph=None, network=None)
        return derive_unchecked(spec, spectrum=self.spectrum)

    @cached_property
    def level(self) -> Level:
        """What is proven of its modes; the last two say what holds in any case."""
        if self.is_regular:
            if self.decision.outcome is not Truth.PROVEN:
                return Level.COUPLED_MATRICES
            return Level.CLOSED if max(self.counts) == 1 else Level.CLOSED_BY_SYMMETRY
        if self.ordinary is not None:
            return self.ordinary.verdict.level
        proven = self.decision.outcome is Truth.PROVEN
        return Level.COUPLED_MODES if proven else Level.COUPLED_MATRICES

    @cached_property
    def form(self) -> SharedChain | None:
        """The closed form of its modes where they close by themselves."""
        if not self.is_regular or self.level is Level.COUPLED_MATRICES:
            return None
        return SharedChain(counts=tuple(sp.Integer(n) for n in self.counts))

    @property
    def why(self) -> str:
        """Why it has this level."""
        if self.is_regular and self.decision.outcome is Truth.PROVEN:
            if max(self.counts) == 1:
                return "one chain of edges, and Sigma^x commutes with M"
            return "edges at each place are used alike, and Sigma^x commutes with M"
        if self.ordinary is not None:
            return self.ordinary.stages[0].verdict.reasons[-1]
        proven = self.decision.outcome is Truth.PROVEN
        return self.decision.reason if not proven else f"{self.decision.reason}; {self.reason}"


def components(
    data: GraphData, spec: Spec, spectrum: Spectrum = joint_spectrum
) -> tuple[Component, ...]:
    """Return the components of a graph, in the order of their first pathways.

    Args:
        data: The whole graph on its data.
        spec: Its spec.
        spectrum: What finds a joint spectrum.
    """
    found = []
    for paths in _joined(data):
        edges = tuple(sorted({edge for p in paths for edge in data.paths[p].edges}))
        part = GraphData(graph=_part(data.graph, edges), dataset=data.dataset)
        counts, reason = regular_counts(part)
        found.append(
            Component(
                paths=paths,
                edges=edges,
                data=part,
                spec=spec,
                counts=counts,
                reason=reason,
                spectrum=spectrum,
            )
        )
    return tuple(found)


def _joined(data: GraphData) -> list[tuple[int, ...]]:
    """Return the pathways that share an edge or a bundle, or whose bundles couple."""
    links = [[("edge", e) for e in path.edges] for path in data.paths]
    for place, own in enumerate(links):
        mine = data.bundle_of[place]
        own += [("bundle", mine), *(("bundle", c) for c, b in data.sigma_x if b == mine)]
    group: dict[tuple[str, int], set[int]] = {}
    for place, own in enumerate(links):
        joined = {place}.union(*(group.get(link, set()) for link in own))
        for member in joined:
            group.update(dict.fromkeys(links[member], joined))
    distinct = {min(members): members for members in group.values()}
    return [tuple(sorted(members)) for _, members in sorted(distinct.items())]


def _part(graph: Network, edges: tuple[int, ...]) -> Network:
    """Return a graph of some edges and their nodes, in the same order."""
    chosen = tuple(graph.edges[e] for e in edges)
    names = {name for edge in chosen for name in (edge.source, edge.target)}
    return replace(graph, nodes=tuple(n for n in graph.nodes if n.name in names), edges=chosen)


def regular_counts(data: GraphData) -> tuple[tuple[int, ...], str]:
    """Return n_l of a regular component, or () and why it is none.

    Args:
        data: A component alone.
    """
    paths = [path.edges for path in data.paths]
    if len({len(path) for path in paths}) != 1:
        return (), "its pathways have different numbers of edges"
    places = [Counter(path[place] for path in paths) for place in range(len(paths[0]))]
    if sum(map(len, places)) != len({edge for path in paths for edge in path}):
        return (), "an edge stands at different places of its pathways"
    if any(len(set(uses.values())) != 1 for uses in places):
        return (), "edges at one place are used by different numbers of pathways"
    if reason := unequal_data(data):
        return (), reason
    return tuple(next(iter(uses.values())) for uses in places), ""
