"""Gates from the data alone: ``symreln gates --method enumerate`` and ``self-consistent``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.gating.consistent import GrowingGate
from symreln.gating.enumerate import RealisableGates, pattern
from symreln.gating.found_pathways import gate_pathway
from symreln.gating.samples import remarks
from symreln.gating.search import GateStage, predicted_stages
from symreln.gating.serialise import GATES, Result, number_text
from symreln.networks.gate_orbits import SampleGroup
from symreln.networks.pathway import PathwaySpec
from symreln.specs.spec import Spec

#: Gates up to which a spec with one pathway a gate is written for an enumeration.
_MOST_PATHWAYS = 64
#: Gates up to which all are listed; beyond, one of each kind.
_LISTED = 20_000
#: Kinds of gates that the terminal lists; gates.json has all.
_SHOWN = 20


@record(eq=False)
class _ExactGates(Result):
    """What gates.json says of gates that follow from the data.

    Attributes:
        method: The method's name.
        found: The gates that the inputs allow.
        remarks: What to know of the data.
        symmetries: Of an enumeration: order of the group of permutations of the samples.
        kinds: Likewise: one gate of each kind, how many a symmetry of the inputs makes of it,
            whether a direction drawn at random can give it, and one that has it.
        samples: Likewise, how many samples there are.
        open: Likewise, how many of the gates a direction drawn at random can give.
        gates: Likewise, all of them, where they are not too many.
        stages: Of self-consistent gates: what is selected, stage by stage.
        pathways: Of a spec with these gates.
    """

    JSON = (
        *("format", "*", "count=found.count", "symmetries?", "kinds?", "samples?", "open?"),
        *("gates?", "stages?"),
    )
    file, format = "gates.json", GATES
    method: str
    found: RealisableGates = field(metadata={"prose": True})
    remarks: tuple[str, ...]
    symmetries: int | None = None
    kinds: Sequence[dict[str, Any]] = ()
    samples: int | None = None
    open: int | None = None
    gates: tuple[str, ...] = ()
    stages: tuple[GateStage, ...] = ()
    pathways: Sequence[PathwaySpec] = field(metadata={"prose": True})

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield f"{self.found.count} gates"
        yield from _first([f"  {x['pattern']}  orbit of size {x['size']}" for x in self.kinds])
        for stage in self.stages:
            yield stage.headline
            yield from _first([f"  {candidate_line(x.pattern, x)}" for x in stage.candidates])
        yield from (f"note: {text}" for text in self.remarks)


def all_gates(spec: Spec, *, limit: int | None = None) -> _ExactGates:
    """List all gates that the inputs allow.

    Args:
        spec: Without free parameters.
        limit: Number of gates above which to stop.

    Raises:
        LimitReachedError: There are too many gates.
    """
    found = RealisableGates.of(spec.dataset.inputs, limit)
    with phase("symmetries of the gates"):
        group = SampleGroup.of(spec.dataset.inputs)
        orbits = found.orbits(group)
    chosen = [2 * gate.astype(int) - 1 for gate in found.gates if gate.any()]
    notes = remarks(spec.dataset)
    if len(chosen) > _MOST_PATHWAYS:
        notes += (
            f"no gates.toml: {len(chosen)} gates that open are more than {_MOST_PATHWAYS} pathways",
        )
        chosen = []
    return _ExactGates(
        method="enumerate",
        found=found,
        remarks=notes,
        symmetries=group.order,
        kinds=[
            {
                "pattern": pattern(found.gates[index]),
                "size": size,
                "open": bool(found.open[index]),
                "witness": found.witnesses[index].tolist(),
            }
            for index, size in orbits
        ],
        samples=found.samples,
        open=int(found.open.sum()),
        gates=tuple(map(pattern, found.gates)) if found.count <= _LISTED else (),
        pathways=[
            gate_pathway(spec.dataset, signs, f"gate_{n}")
            for n, signs in enumerate(chosen, start=1)
        ],
    )


def selected(spec: Spec, *, stages: int = 8, limit: int | None = None) -> _ExactGates:
    """List the gates that early training from small weights selects, stage by stage.

    Args:
        spec: Without free parameters.
        stages: Stages to follow at most.
        limit: Number of gates above which to stop.

    Raises:
        LimitReachedError: There are too many gates.
    """
    found = RealisableGates.of(spec.dataset.inputs, limit)
    followed = tuple(predicted_stages(spec.dataset, found, most=stages))
    return _ExactGates(
        method="self-consistent",
        found=found,
        remarks=remarks(spec.dataset),
        stages=followed,
        pathways=[
            gate_pathway(spec.dataset, signs, f"stage_{stage.stage}_{place}", stage.stage)
            for stage in followed
            for place, signs in enumerate(stage.winners, start=1)
        ],
    )


def candidate_line(name: str, each: GrowingGate, at: str = "", spec: Spec | None = None) -> str:
    """Return what is said of a self-consistent gate; ``at`` says where its fractions are."""
    line = f"{name}  orbit of size {each.size}  speed {number_text(each.speed, spec)}"
    if each.fractions:
        fractions = dict.fromkeys(number_text(number) for number in each.fractions)
        line += f"  fractions {', '.join(fractions)}{at}"
    return line


def _first(lines: list[str]) -> list[str]:
    """Return the first lines, and one on what is not shown, if anything is."""
    more = len(lines) - _SHOWN
    return lines[:_SHOWN] + [f"  … and {more} more kinds in gates.json"] * (more > 0)
