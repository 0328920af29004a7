r"""What drives the weights of a graph: exact correlations of every bundle of pathways.

Pathways with the same input node, output node and gate see the same data; together they are a
*bundle*, and the flow knows only the sum of their products of weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.exact.matrix import ExactMatrix
from symreln.network.effective import effective_dataset
from symreln.network.targets import Targets
from symreln.spec.model import PathwaySpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.network.effective import EffectiveDataset
    from symreln.network.model import Network, Path
    from symreln.spec.model import Dataset


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
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


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GraphData:
    r"""A graph on a dataset: pathways, bundles and their exact correlations.

    The flow of theory.md 2 with the bundle b of pathway p and :math:`T_b` the sum of the products
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

    def seen_by(self, pathways: Sequence[PathwaySpec]) -> list[EffectiveDataset]:
        """Return what every pathway sees, under the names of a spec; one a path, in their order."""
        return [
            replace(self.bundles[self.bundle_of[n]].effective, pathway=pathway)
            for n, pathway in enumerate(pathways)
        ]

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

    def _outputs(self, bundle: int) -> tuple[int, ...]:
        return self.graph.node(self.bundles[bundle].target).outputs

    def _shares_outputs(self, c: int, b: int) -> bool:
        return not set(self._outputs(c)).isdisjoint(self._outputs(b))

    def _overlap(self, c: int, b: int) -> ExactMatrix:
        wanted, given = self._outputs(b), self._outputs(c)
        return ExactMatrix.from_rows([[int(i == j) for j in given] for i in wanted])
