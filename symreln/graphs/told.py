"""What a graph's derivation tells as it goes, so that a limit leaves what is proven by then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.claims.solve import Progress
    from symreln.graphs.components import Component
    from symreln.graphs.data import GraphData
    from symreln.graphs.derivation import GraphDerivation
    from symreln.spec.model import Spec


class Told:
    """Steps under the names of :func:`.pipeline.derive`; pathways are the gated paths.

    Args:
        data: The graph on its data.
        spec: Its spec.
        progress: Who is told; nobody where it is None.
    """

    def __init__(self, data: GraphData, spec: Spec, progress: Progress | None) -> None:
        self._data, self._spec, self._progress = data, spec, progress
        if progress is not None:
            effective = [
                replace(data.bundles[data.bundle_of[n]].effective, pathway=pathway)
                for n, pathway in enumerate(spec.pathways)
            ]
            progress("effective datasets", effective)

    def conserved(self, found: GraphDerivation) -> None:
        """Tell spaces and conserved quantities."""
        if self._progress is None:
            return
        dimension = sum(
            found.spaces.dimension(node.name) for node in found.graph.nodes if not node.is_hidden
        )
        sentences = [
            f"the flow does not leave spaces of dimension {dimension} in all at the outer nodes",
            *(f"a conserved matrix at node '{b.node}'" for b in found.balances),
            *(f"{found.norm_text(norm)} is conserved" for norm in found.norms),
        ]
        self._progress("graph", {"sentences": sentences})

    def component(self, component: Component) -> None:
        """Tell the modes of a component, pathway by pathway."""
        if self._progress is None:
            return
        data = component.data
        for bundle, spectrum in zip(data.bundles, component.spectra, strict=True):
            for place in bundle.paths:
                self._progress("spectrum", (component.paths[place] + 1, spectrum))

    def level(self, found: GraphDerivation) -> None:
        """Tell the verdict, which is found here."""
        level = found.level
        if self._progress is not None:
            reasons = [f"{found.part_text(c)}: {c.level.value}: {c.why}" for c in found.components]
            content = {"level": level.value, "reasons": reasons, "family": "reduction per edge"}
            self._progress("graph verdict", {"stage": self._spec.stages[0], **content})

    def checks(self, found: GraphDerivation) -> None:
        """Tell what was checked."""
        if self._progress is not None:
            self._progress("checks", found.steps)
