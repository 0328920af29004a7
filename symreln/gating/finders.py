"""The ways to find gates: what ``symreln gates --method`` knows.

A finder is a function ``find(spec, method, **options)`` and a line here; its result has
``pathways``, of a spec with these gates.
What it needs is imported when it is asked for: naming it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from symreln.base.records import record

FORMAT = "symreln-gates/2"


@record
class _GateFinder:
    """One way.

    Attributes:
        name: The method's name.
        home: Module and function.
        options: Names of the command's options that it hears.
    """

    name: str
    home: str
    options: tuple[str, ...]

    def find(self, *arguments: Any, **options: Any) -> Any:
        """Find gates; see the function."""
        module, _, function = self.home.partition(":")
        find = getattr(import_module(module), function)
        heard = {name: options[name] for name in ("rng", *self.options)}
        return find(*arguments, **heard)


_EXACT = ("samples", "limit")
TRAINING = ("clusters", "every", "seeds")
FINDERS = (
    _GateFinder(name="enumerate", home="symreln.gating.exact_finders:all_gates", options=_EXACT),
    _GateFinder(
        name="self-consistent",
        home="symreln.gating.exact_finders:selected",
        options=(*_EXACT, "stages"),
    ),
    _GateFinder(name="kmeans", home="symreln.gating.network_finders:find", options=TRAINING),
    _GateFinder(
        name="windows", home="symreln.gating.network_finders:find", options=(*TRAINING, "windows")
    ),
)
