r"""What drives the weights of a graph: exact correlations of every bundle of pathways.

Pathways with the same input node, output node and gate see the same data; together they are a
*bundle*, and the flow knows only the sum of their products of weights.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from symreln.base.linked import linked
from symreln.base.records import record
from symreln.exact.matrix import ExactMatrix
from symreln.networks.effective import effective_dataset
from symreln.networks.pathway import PathwaySpec
from symreln.networks.targets import Targets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symreln.networks.dataset import Dataset
    from symreln.networks.effective import EffectiveDataset
    from symreln.networks.model import Network, Path


@record(eq=False)
class Bundle:
    """Pathways that see the same data.

    Attributes:
        source: Name of their input node.
        target: Name of their output node.
        paths: Indices of the pathways.
        effective: The effective dataset that all of them see.
    """

    source: str
    target: str
    paths: tuple[int, ...]
    effective: EffectiveDataset


@record(eq=False)
class NetworkData:
    r"""A graph on a dataset: pathways, bundles and their exact correlations.

    Gradient flow with the bundle b of pathway p and :math:`T_b` the sum of the products
    of weights along the pathways of b:

    .. math:: \tau\dot W_e = \sum_{p \ni e} W_{after}^T E_b W_{before}^T,\qquad
       E_b = \Sigma^{yx}(b) - \sum_c O_{bc} T_c \Sigma^x(c, b)

    Attributes:
        graph: The graph.
        dataset: The dataset; gates of the graph have one entry for each of its samples.
    """

    graph: Network
    dataset: Dataset

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All pathways."""
        return self.graph.paths(self.dataset.samples)

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """The pathways by the data that they see, in the order of their first."""
        members: dict[tuple, list[int]] = {}
        for place, path in enumerate(self.paths):
            members.setdefault((path.source, path.target, path.gate), []).append(place)
        goal = Targets.of(self.dataset.targets)
        return tuple(
            Bundle(
                source=source,
                target=target,
                paths=tuple(places),
                effective=effective_dataset(
                    self.dataset, PathwaySpec.along(self.graph, self.paths[places[0]]), goal
                ),
            )
            for (source, target, _), places in members.items()
        )

    @cached_property
    def bundle_of(self) -> dict[int, int]:
        """Index of the bundle of every pathway."""
        return {path: place for place, b in enumerate(self.bundles) for path in b.paths}

    @cached_property
    def sigma_yx(self) -> tuple[ExactMatrix, ...]:
        """Sigma^{yx} of every bundle, shape (outputs of its target, inputs of its source)."""
        return tuple(
            b.effective.sigma_yx.select(rows=self.graph.node(b.target).outputs)
            for b in self.bundles
        )

    @cached_property
    def sigma_x(self) -> dict[tuple[int, int], ExactMatrix]:
        """Sigma^x(c, b), shape (inputs of c, inputs of b), of bundles that couple.

        Those are the pairs that write to a common output on common samples; others are left out.
        """
        found: dict[tuple[int, int], ExactMatrix] = {}
        for c, b in product(range(len(self.bundles)), repeat=2):
            if not self._shares_outputs(c, b):
                continue
            cross = self.bundles[c].effective.cross_sigma_x(self.bundles[b].effective)
            if not cross.is_zero:
                found[c, b] = cross
        return found

    @cached_property
    def overlaps(self) -> dict[tuple[int, int], ExactMatrix]:
        """O_{bc} = O_bᵀO_c of the same pairs by (c, b): 1 where an output of c is one of b's."""
        return {(c, b): self._overlap(c, b) for c, b in self.sigma_x}

    def parts(self) -> list[tuple[int, ...]]:
        """Return the pathways that share an edge or a bundle, or whose bundles couple; by place."""
        links = []
        for place, path in enumerate(self.paths):
            mine = self.bundle_of[place]
            met = {mine, *(c for c, b in self.sigma_x if b == mine)}
            links.append([*(("edge", e) for e in path.edges), *(("bundle", b) for b in met)])
        return linked(links)

    def alone(self, edges: Iterable[int]) -> NetworkData:
        """Return some edges with their nodes, in the same order, on the same dataset."""
        chosen = tuple(self.graph.edges[e] for e in sorted(edges))
        names = {name for edge in chosen for name in (edge.source, edge.target)}
        nodes = tuple(node for node in self.graph.nodes if node.name in names)
        graph = replace(self.graph, nodes=nodes, edges=chosen)
        return NetworkData(graph=graph, dataset=self.dataset)

    @property
    def inequality(self) -> str:
        """How the pathways' data differ or couple, or ""."""
        if len(self.bundles) != len(self.paths):
            return "two pathways see the same samples"
        if any(c != b for c, b in self.sigma_x):
            return "the outputs of two pathways meet on common samples"
        own = [self.sigma_x.get((b, b)) for b in range(len(self.bundles))]
        if any(sigma != own[0] for sigma in own):
            return "Sigma^x differs between pathways"
        if any(sigma != self.sigma_yx[0] for sigma in self.sigma_yx):
            return "Sigma^yx differs between pathways"
        return ""

    @cached_property
    def counts(self) -> tuple[int, ...] | str:
        """n_l, how many pathways use an edge at place l, or why it is not the same for all.

        The pathways are *regular* where all have L edges, every edge has one place in all of them,
        edges at one place are used by equally many, and all have equal data and do not couple.
        """
        paths = [path.edges for path in self.paths]
        if len({len(path) for path in paths}) != 1:
            return "its pathways have different numbers of edges"
        places = [Counter(path[place] for path in paths) for place in range(len(paths[0]))]
        if sum(map(len, places)) != len({edge for path in paths for edge in path}):
            return "an edge stands at different places of its pathways"
        if any(len(set(uses.values())) != 1 for uses in places):
            return "edges at one place are used by different numbers of pathways"
        return self.inequality or tuple(next(iter(uses.values())) for uses in places)

    @property
    def routing(self) -> tuple[int, int] | str:
        """M and K of a routing network, or why it is none.

        Pathways of three edges share one middle edge; every first edge is in K of them and every
        last edge, too; their data are equal, and they do not couple. The theorem of
        :mod:`symreln.laws.routing` needs no more.
        """
        paths = [path.edges for path in self.paths]
        if any(len(path) != 3 for path in paths):
            return "a pathway has other than three edges"
        first, hidden, last = (Counter(path[place] for path in paths) for place in range(3))
        if len(hidden) != 1:
            return "the pathways do not share one hidden edge"
        # Used equally often, they are equally many: their number times their use is all pathways.
        if len({*first.values(), *last.values()}) != 1:
            return "the outer edges are not used by equally many pathways"
        return self.inequality or (len(first), next(iter(first.values())))

    def _outputs(self, bundle: int) -> tuple[int, ...]:
        return self.graph.node(self.bundles[bundle].target).outputs

    def _shares_outputs(self, c: int, b: int) -> bool:
        return not set(self._outputs(c)).isdisjoint(self._outputs(b))

    def _overlap(self, c: int, b: int) -> ExactMatrix:
        wanted, given = self._outputs(b), self._outputs(c)
        return ExactMatrix.from_rows([[int(i == j) for j in given] for i in wanted])
