"""symreln: a symbolic derivation engine for the learning dynamics of neural networks.

>>> import symreln as sr
>>> spec = sr.load("xor")
>>> derivation = sr.derive(spec)
>>> derivation.verdict.level.value
'closed'
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

# Exact results may have more digits than Python writes by default: importing symreln raises that.
# As symreln.verifier.numbers does for those who have the verifier alone; importing that from here
# would take a tenth of a second.
if (
    sys.flags.int_max_str_digits in (-1, sys.int_info.default_max_str_digits)
    and 0 < sys.get_int_max_str_digits() < 200_000
):
    sys.set_int_max_str_digits(200_000)

if TYPE_CHECKING:
    from symreln.api import Derivation, NetworkDerivation, derive
    from symreln.calls.depth import depth
    from symreln.calls.gates import gates, race, replay
    from symreln.calls.inform import info, schema, tasks, verify
    from symreln.calls.open import open
    from symreln.calls.reproduce import reproduce
    from symreln.calls.sweep import sweep
    from symreln.claims.from_weights import from_weights
    from symreln.confrontation import Validation, run, validate
    from symreln.exact.truth import Truth
    from symreln.specs.build import network, pathway, spec
    from symreln.specs.model import (
        Dataset,
        NetworkSpec,
        Parameter,
        PathwaySpec,
        Spec,
        ValidationSpec,
    )
    from symreln.task_library.load import load
    from symreln.verdict.judge import Level

__version__ = "0.1.0"

# Imported at first use: `symreln --help` must not pay for SymPy, SciPy or Matplotlib.
_HOMES = {
    "Dataset": "symreln.specs.model",
    "Derivation": "symreln.api",
    "Level": "symreln.verdict.judge",
    "NetworkSpec": "symreln.specs.model",
    "Parameter": "symreln.specs.model",
    "PathwaySpec": "symreln.specs.model",
    "Spec": "symreln.specs.model",
    "Truth": "symreln.exact.truth",
    "Validation": "symreln.confrontation",
    "ValidationSpec": "symreln.specs.model",
    "derive": "symreln.api",
    "NetworkDerivation": "symreln.api",
    "from_weights": "symreln.claims.from_weights",
    "load": "symreln.task_library.load",
    "network": "symreln.specs.build",
    "pathway": "symreln.specs.build",
    "spec": "symreln.specs.build",
    "depth": "symreln.calls.depth",
    "gates": "symreln.calls.gates",
    "race": "symreln.calls.gates",
    "replay": "symreln.calls.gates",
    "info": "symreln.calls.inform",
    "schema": "symreln.calls.inform",
    "tasks": "symreln.calls.inform",
    "verify": "symreln.calls.inform",
    "reproduce": "symreln.calls.reproduce",
    "sweep": "symreln.calls.sweep",
    "run": "symreln.confrontation",
    "open": "symreln.calls.open",
    "validate": "symreln.confrontation",
}

__all__ = [
    "Dataset",
    "Derivation",
    "Level",
    "NetworkDerivation",
    "NetworkSpec",
    "Parameter",
    "PathwaySpec",
    "Spec",
    "Truth",
    "Validation",
    "ValidationSpec",
    "__version__",
    "depth",
    "derive",
    "from_weights",
    "gates",
    "info",
    "load",
    "network",
    "open",
    "pathway",
    "race",
    "replay",
    "reproduce",
    "run",
    "schema",
    "spec",
    "sweep",
    "tasks",
    "validate",
    "verify",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    msg = f"module 'symreln' has no attribute '{name}'"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
