"""What is derived of a graph, from a spec to results that print themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symreln.base.progress import phase
from symreln.base.summaries import short_repr
from symreln.claims.claim import Step
from symreln.errors import InputError, NoClosedFormError
from symreln.exact.spectrum import joint_spectrum
from symreln.exact.truth import Truth
from symreln.graphs.components import LEVELS, components
from symreln.graphs.conserved import balances, norm_balances
from symreln.graphs.data import GraphData
from symreln.graphs.recognise import recognise
from symreln.graphs.spaces import minimal_spaces
from symreln.graphs.told import Told
from symreln.spec.arguments import instance_of
from symreln.spec.model import Spec
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from pathlib import Path

    from symreln.claims.solve import Progress, Spectrum
    from symreln.document.model import Document
    from symreln.exact.spectrum import JointSpectrum
    from symreln.graphs.components import Component
    from symreln.graphs.conserved import Balance, NormBalance
    from symreln.graphs.curves import Curves
    from symreln.graphs.diagonal import Diagonality
    from symreln.graphs.recognise import Recognised
    from symreln.graphs.routing import RoutingNetwork
    from symreln.graphs.spaces import NodeSpaces
    from symreln.network.model import Network


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GraphDerivation:
    """Everything derived of a graph on a dataset; it holds for all values of the parameters.

    Attributes:
        spec: The spec; its ``graph`` is there.
        data: The graph on the dataset: pathways, bundles, exact correlations.
        spaces: Spaces of input and output nodes that the flow does not leave.
        components: Parts that learn apart, with what is proven of each.
        balances: Conserved matrices of hidden nodes.
        norms: Conserved sums of squared norms.
        recognised: Whether it is a routing network.
    """

    spec: Spec
    data: GraphData
    spaces: NodeSpaces
    components: tuple[Component, ...]
    balances: tuple[Balance, ...]
    norms: tuple[NormBalance, ...]
    recognised: Recognised

    def _summary(self) -> list[str]:
        from symreln.report.summary import graph_summary

        return graph_summary(self)

    def _headline(self) -> str:
        return f"GraphDerivation({self.spec.title!r}, {self.level.value})"

    @property
    def graph(self) -> Network:
        """The graph."""
        return self.data.graph

    @property
    def level(self) -> Level:
        """The weakest of its components' levels."""
        return max((c.level for c in self.components), key=LEVELS.index)

    def part_text(self, component: Component) -> str:
        """Return which component this is, in words."""
        if len(self.components) == 1:
            return "all pathways"
        names = [self.graph.name(self.data.paths[place]) for place in component.paths[:3]]
        more = len(component.paths) - len(names)
        return ", ".join(f"'{name}'" for name in names) + (f" and {more} more" if more else "")

    @property
    def decision(self) -> Diagonality:
        """Whether the correlations of every component are diagonal in bases of its own.

        That of the first component for which it is not proven, else that of the first.
        """
        decisions = [component.decision for component in self.components]
        open_ones = (d for d in decisions if d.outcome is not Truth.PROVEN)
        return next(open_ones, decisions[0])

    @property
    def no_routing(self) -> str:
        """Why there is nothing to say of it as a routing network, or ""."""
        if self.recognised.is_routing and self.level is Level.COUPLED_MATRICES:
            return "its pathways have no joint eigenbasis"
        if self.recognised.is_routing and len(self.data.paths) == 1:
            return "there is one pathway"
        return self.recognised.reason

    @cached_property
    def network(self) -> RoutingNetwork | None:
        """The routing network for every M and K, where the graph is one and has modes."""
        if self.no_routing:
            return None
        from symreln.graphs.routing import RoutingNetwork

        return RoutingNetwork()

    @property
    def spectrum(self) -> JointSpectrum | None:
        """Exact modes of one pathway of a routing network: all pathways have the same."""
        return None if self.network is None else self.components[0].spectra[0]

    @cached_property
    def curves(self) -> Curves | str:
        """Strengths and loss in numbers, or why there are none."""
        from symreln.graphs.curves import curves

        try:
            return curves(self)
        except NoClosedFormError as error:
            return str(error)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What was checked."""
        found = [
            Step(
                name="spaces",
                statement="the flow does not leave the spaces of input and output nodes",
                check="every correlation maps them into each other, over the integers",
                outcome=Truth.PROVEN,
            ),
        ]
        found += [
            Step(
                name="diagonal",
                statement=f"bases make every correlation of {self.part_text(component)} diagonal",
                check=component.decision.reason,
                outcome=component.decision.outcome,
            )
            for component in self.components
        ]
        found += [step for c in self.components if c.form is not None for step in c.form.checks]
        found += [
            Step(
                name="conserved matrix",
                statement=f"balancedness at node '{balance.node}'",
                check="its derivative along the flow cancels",
                outcome=balance.outcome,
            )
            for balance in self.balances
        ]
        found += [
            Step(
                name="conserved norms",
                statement=self.norm_text(norm),
                check="the trace of its derivative along the flow cancels",
                outcome=norm.outcome,
            )
            for norm in self.norms
        ]
        if self.network is not None:
            found += self.network.steps
        return tuple(found)

    def norm_text(self, norm: NormBalance) -> str:
        """Return a conserved sum of squared norms in plain characters."""
        parts = []
        for edge, factor in zip(self.graph.edges, norm.weights, strict=True):
            if factor:
                size = "" if abs(factor) == 1 else f"{abs(factor)} "
                parts.append(f"{'-' if factor < 0 else '+'} {size}|{edge.name}|²")
        return " ".join(parts).removeprefix("+ ")

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The exact claims, checked by :func:`symreln.verify.verify`.

        Raises:
            CertificateError: The verifier rejects it: a bug of symreln.
        """
        from symreln.pipeline.certificate import certificate_of_graph
        from symreln.verify import verify

        found = certificate_of_graph(self)
        verify(found)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the derivation as JSON values, format symreln-graph/1."""
        from symreln.report.graph_json import graph_to_json
        from symreln.verify.folder import sealed_json

        return sealed_json(graph_to_json(self), self.certificate)

    def to_document(self) -> Document:
        """Return the derivation as a document."""
        from symreln.report.chapters.graph import graph_document

        return graph_document(self)

    def save(self, directory: str | Path, formats: tuple[str, ...] = ()) -> list[Path]:
        """Write derivation.json, derivation.tex and derivation.html; return the files.

        Args:
            directory: Folder, made if it is not there.
            formats: Some of "json", "tex" and "html"; all where empty.
        """
        from symreln.report.graph_write import write_graph

        return write_graph(self, directory, formats)


@phase("deriving")
def derive_graph(
    spec: Spec, *, spectrum: Spectrum = joint_spectrum, progress: Progress | None = None
) -> GraphDerivation:
    """Derive the reduced dynamics of a spec that describes its network by nodes and edges.

    Args:
        spec: A checked spec with ``graph``.
        spectrum: What finds the joint spectrum of (sigma_yx, sigma_x, values).
        progress: Called with the name of every step as it is finished, and what it found: those
            of :func:`symreln.pipeline.derive.derive`, and "graph" with sentences on what is proven.

    Raises:
        InputError: The spec has no graph.
        ArithmeticError: A check failed: a bug of symreln, and nothing is returned.
    """
    instance_of(spec, Spec, "derive_graph", "sr.derive_graph(sr.load(…))")
    if spec.graph is None:
        msg = (
            "derive_graph: the spec has pathways, no [[node]] and [[edge]]. Write sr.derive(spec)."
        )
        raise InputError(msg)
    data = GraphData(graph=spec.graph, dataset=spec.dataset)
    told = Told(data, spec, progress)
    found = GraphDerivation(
        spec=spec,
        data=data,
        spaces=minimal_spaces(data),
        components=components(data, spec, spectrum),
        balances=balances(data),
        norms=norm_balances(data),
        recognised=recognise(data),
    )
    told.conserved(found)
    for component in found.components:
        told.component(component)
    told.level(found)
    with phase("checks"):
        steps = found.steps
    failed = [
        step.name for step in steps if step.outcome is not Truth.PROVEN and step.name != "diagonal"
    ]
    if failed:
        msg = f"checks failed: {', '.join(failed)}; this is a bug of symreln"
        raise ArithmeticError(msg)
    told.checks(found)
    return found
