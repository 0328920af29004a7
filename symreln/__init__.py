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
    name: f"symreln.{module}"
    for module, names in {
        "api": "Derivation NetworkDerivation derive",
        "calls.depth": "depth",
        "calls.gates": "gates race replay",
        "calls.inform": "info schema tasks verify",
        "calls.open": "open",
        "calls.reproduce": "reproduce",
        "calls.sweep": "sweep",
        "claims.from_weights": "from_weights",
        "confrontation": "Validation run validate",
        "exact.truth": "Truth",
        "specs.build": "network pathway spec",
        "specs.model": "Dataset NetworkSpec Parameter PathwaySpec Spec ValidationSpec",
        "task_library.load": "load",
        "verdict.judge": "Level",
    }.items()
    for name in names.split()
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
