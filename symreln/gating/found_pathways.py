"""A spec with gates that were found, as TOML that ``symreln derive`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symreln.base.records import record
from symreln.networks.parts import Switch
from symreln.networks.pathway import PathwaySpec
from symreln.specs.entries import BOUNDARY
from symreln.specs.model import Dataset, Spec, ValidationSpec
from symreln.specs.spec_text import spec_toml


@record(kw_only=False)
class FoundPathway:
    """A pathway whose gate was found.

    Attributes:
        name: Its name.
        gate: 0, 1 or, on the boundary of a partial gate, "/" a sample.
        stage: Its stage.
        then: Gates that it takes later, with their steps.
    """

    name: str
    gate: Sequence[int | str]
    stage: int = 1
    then: Sequence[tuple[int, Sequence[int]]] = ()

    def asked(self, data: Dataset) -> PathwaySpec:
        """Return the pathway as a spec has it: from all inputs to all outputs."""
        return PathwaySpec(
            name=self.name,
            gate=tuple(0 if gain == BOUNDARY else int(gain) for gain in self.gate),
            boundary=tuple(place for place, gain in enumerate(self.gate) if gain == BOUNDARY),
            inputs=tuple(range(data.n_x)),
            outputs=tuple(range(data.n_y)),
            stage=self.stage,
            then=tuple(
                Switch(step=step, gate=tuple(map(int, gate)), gate_text="")
                for step, gate in self.then
            ),
        )


def gates_toml(spec: Spec, pathways: Sequence[FoundPathway], title: str) -> str:
    """Return a spec with the data and the network of another and the pathways given.

    Args:
        spec: Where data, parameters and network come from.
        pathways: Stage by stage.
        title: Title of the new spec.
    """
    network = spec.network
    if network is not None and any(each.stage > 1 for each in pathways):
        network = replace(network, training="staged")
    own = tuple(each.asked(spec.dataset) for each in pathways)
    told = {"network": network, "validation": ValidationSpec(), "graph": None, "sizes": ()}
    return spec_toml(replace(spec, title=title, pathways=own, **told))
