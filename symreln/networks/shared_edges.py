r"""The paths of a graph on a dataset, what drives its edges, and how paths share them.

Every path is a pathway that sees an effective dataset. With the paths p that use an edge,

.. math:: \tau\dot W_e = \sum_{p \ni e} W_{after}^T E_p W_{before}^T,\qquad
   E_p = \Sigma^{yx}(p) - \sum_q O_{pq} T_q \Sigma^x(q, p),

T_q the product of the weights along q. Source: [Saxe2022].
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from symreln.base.linked import linked
from symreln.base.records import record
from symreln.exact.matrix import ExactMatrix
from symreln.networks.effective import EffectiveDataset
from symreln.networks.pathway import PathwaySpec
from symreln.networks.targets import Targets

if TYPE_CHECKING:
    from symreln.networks.dataset import Dataset
    from symreln.networks.gdln import Network, Path


@record
class Sharing:
    """How paths that are alike share their edges.

    Attributes:
        uses: n_l, how many paths use the edge of a path at place l, from the input on.
        paths: How many paths learn together.
        widths: Units of the hidden nodes of a path, in order; None where paths differ in them,
            () where the network says it for all.
    """

    uses: tuple[int, ...]
    paths: int
    widths: tuple[int, ...] | None

    @property
    def is_shared(self) -> bool:
        """Whether an edge is used by several paths."""
        return max(self.uses) > 1


@record(eq=False)
class EdgeData:
    """A graph on a dataset.

    Attributes:
        graph: The graph.
        dataset: The dataset; gates of the graph have one entry for each of its samples.
    """

    graph: Network
    dataset: Dataset

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All paths."""
        return self.graph.paths(self.dataset.samples)

    @cached_property
    def uses(self) -> Counter[int]:
        """How many paths use each edge, by its place."""
        return Counter(edge for path in self.paths for edge in path.edges)

    @cached_property
    def seen(self) -> tuple[EffectiveDataset, ...]:
        """The effective dataset of every path."""
        goal = Targets.of(self.dataset.targets)
        return tuple(
            EffectiveDataset.of(self.dataset, PathwaySpec.along(self.graph, path), goal)
            for path in self.paths
        )

    @cached_property
    def sigma_yx(self) -> tuple[ExactMatrix, ...]:
        """Sigma^{yx} of every path, shape (outputs of its last node, inputs of its first)."""
        return tuple(
            each.sigma_yx.select(rows=self._outputs(place)) for place, each in enumerate(self.seen)
        )

    @cached_property
    def sigma_x(self) -> dict[tuple[int, int], ExactMatrix]:
        """Sigma^x(q, p) by (q, p), of paths that write to a common output on common samples."""
        found: dict[tuple[int, int], ExactMatrix] = {}
        for q, p in product(range(len(self.paths)), repeat=2):
            if not set(self._outputs(q)).isdisjoint(self._outputs(p)):
                cross = self.seen[q].cross_sigma_x(self.seen[p])
                if not cross.is_zero:
                    found[q, p] = cross
        return found

    @cached_property
    def overlaps(self) -> dict[tuple[int, int], ExactMatrix]:
        """O_{pq} of the same pairs by (q, p): 1 where an output of q is one of p's."""
        return {
            (q, p): ExactMatrix.from_rows(
                [[int(i == j) for j in self._outputs(q)] for i in self._outputs(p)]
            )
            for q, p in self.sigma_x
        }

    @cached_property
    def sharing(self) -> Sharing | str:
        """How paths share edges; why no single equation says what their edges do, where none does.

        One does where all paths have as many edges, edges at one place are used by equally many,
        and paths that share one have equal data and do not couple. Paths with edges of their own
        may do both.
        """
        paths = [path.edges for path in self.paths]
        uses = [tuple(self.uses[edge] for edge in path) for path in paths]
        if len(set(map(len, paths))) != 1:
            return "pathways have different numbers of edges"
        if len(set(uses)) != 1:
            return "edges at one place are used by different numbers of pathways"
        together = 1
        if max(uses[0]) > 1:
            if sum(len(set(place)) for place in zip(*paths, strict=True)) != len(self.uses):
                return "an edge stands at different places of its pathways"
            parts = linked(paths)
            for part in parts:
                if unlike := self._unlike(part):
                    return unlike
            if len(set(map(len, parts))) != 1:
                return "its parts have different numbers of pathways"
            together = len(parts[0])
        sizes = {
            tuple(self.graph.node(name).size for name in path.nodes[1:-1]) for path in self.paths
        }
        widths = sizes.pop() if len(sizes) == 1 else None
        return Sharing(uses=uses[0], paths=together, widths=widths)

    def _unlike(self, part: tuple[int, ...]) -> str:
        """Return how the data of paths that share edges differ or couple, or ""."""
        if any((q in part or p in part) and q != p for q, p in self.sigma_x):
            return "the outputs of two pathways meet on common samples"
        first, *others = part
        for place in others:
            if self.sigma_x.get((place, place)) != self.sigma_x.get((first, first)):
                return "Sigma^x differs between pathways"
            if self.sigma_yx[place] != self.sigma_yx[first]:
                return "Sigma^yx differs between pathways"
        return ""

    @property
    def routing(self) -> tuple[int, int] | None:
        """M and K of a routing network; None of others.

        Several paths of three edges share the middle one, and their outer edges are used by equally
        many: the theorem of :mod:`symreln.laws.routing_network` needs no more.
        """
        sharing = self.sharing
        if isinstance(sharing, str) or len(sharing.uses) != 3:
            return None
        first, middle, last = sharing.uses
        if first != last or middle != len(self.paths) or middle == 1:
            return None
        return middle // first, first

    def _outputs(self, path: int) -> tuple[int, ...]:
        return self.graph.node(self.paths[path].target).outputs
