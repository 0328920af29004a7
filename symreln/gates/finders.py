"""The ways to find gates: what ``symreln gates --method`` knows.

A finder is a function ``find(spec, method, **options) -> GateReport`` and a line here.
What it needs is imported when it is asked for: naming it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

Gate = Sequence[int | str]
"""0, 1 or, on the boundary of a partial gate, "/" a sample."""

FORMAT = "symreln-gates/1"


@dataclass(frozen=True, kw_only=True)
class GateReport:
    """What a finder found.

    Attributes:
        record: What gates.json holds and the terminal shows; a :class:`serialise.Result`.
        stages: Gates of a spec's pathways, stage by stage; empty where none is written.
        switches: Gates that a pathway takes later, with their steps, by its place among all.
        numbered: Whether pathways are named gate_1, gate_2, … rather than by their gates.
    """

    record: Any
    stages: Sequence[Sequence[Gate]]
    switches: Mapping[int, Sequence[tuple[int, Sequence[int]]]] = field(default_factory=dict)
    numbered: bool = False


@dataclass(frozen=True, kw_only=True)
class GateFinder:
    """One way.

    Attributes:
        name: The method's name.
        home: Module and function.
        options: Names of the command's options that it hears.
    """

    name: str
    home: str
    options: tuple[str, ...]

    def find(self, *arguments: Any, **options: Any) -> GateReport:
        """Find gates; see the function."""
        module, _, function = self.home.partition(":")
        find = getattr(import_module(module), function)
        heard = {name: options[name] for name in ("rng", *self.options)}
        return find(*arguments, **heard)


EXACT = ("samples", "stages", "limit", "against")
TRAINING = ("clusters", "every", "trainings", "runs", "replays")
FINDERS = (
    GateFinder(name="enumerate", home="symreln.gates.exact_finders:all_gates", options=EXACT),
    GateFinder(name="self-consistent", home="symreln.gates.exact_finders:selected", options=EXACT),
    GateFinder(name="kmeans", home="symreln.gates.network_finders:find", options=TRAINING),
    GateFinder(
        name="windows", home="symreln.gates.network_finders:find", options=(*TRAINING, "windows")
    ),
)
