r"""Parts of a graph that learn apart, and what is proven of each.

Pathways that share an edge, see the same data or couple are in one *component*; edges and errors of
different components never meet, so that each follows a flow of its own and the loss is a sum.

Started alike at each place, the edges of a regular component
(:attr:`symreln.network.bundles.NetworkData.counts`) stay alike and follow the flow of one pathway,
the term of place l times :math:`n_l`
(:func:`symreln.laws.shared_chain.place_proofs`): a single chain of L edges where every n is 1, the
routing network for L = 3. Source: [Saxe2022].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_repr
from symreln.claims.solve import derive_unchecked
from symreln.exact.spectrum import joint_spectrum
from symreln.exact.truth import Truth
from symreln.laws.shared_chain import SharedChain
from symreln.network.bundles import NetworkData
from symreln.verdict.diagonal import Diagonality, decide_diagonal
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.solve import Spectrum
    from symreln.exact.spectrum import JointSpectrum
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
        spectrum: What finds a joint spectrum.
    """

    paths: tuple[int, ...]
    edges: tuple[int, ...]
    data: NetworkData
    spec: Spec
    spectrum: Spectrum = joint_spectrum

    @property
    def counts(self) -> tuple[int, ...]:
        """n_l of a regular component, from the input on; empty for others."""
        return () if isinstance(self.data.counts, str) else self.data.counts

    @property
    def reason(self) -> str:
        """Why it is not regular, or ""."""
        return self.data.counts if isinstance(self.data.counts, str) else ""

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
    data: NetworkData, spec: Spec, spectrum: Spectrum = joint_spectrum
) -> tuple[Component, ...]:
    """Return the components of a graph, in the order of their first pathways.

    Args:
        data: The whole graph on its data.
        spec: Its spec.
        spectrum: What finds a joint spectrum.
    """
    found = []
    for paths in data.parts():
        edges = tuple(sorted({edge for p in paths for edge in data.paths[p].edges}))
        found.append(
            Component(
                paths=paths, edges=edges, data=data.alone(edges), spec=spec, spectrum=spectrum
            )
        )
    return tuple(found)
