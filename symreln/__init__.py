"""symreln: a symbolic derivation engine for the learning dynamics of neural networks.

>>> import symreln as sr
>>> spec = sr.load("xor")
>>> derivation = sr.derive(spec)
>>> derivation.verdict.level.value
'closed'
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

# Exact results may have more digits than Python writes by default: importing symreln raises that.
# As symreln.verifier.numbers does for those who have the verifier alone; importing that from here
# would take a tenth of a second.
if (
    sys.flags.int_max_str_digits in (-1, sys.int_info.default_max_str_digits)
    and 0 < sys.get_int_max_str_digits() < 200_000
):
    sys.set_int_max_str_digits(200_000)

__version__ = "0.1.0"

# Imported at first use: `symreln --help` must not pay for SymPy, SciPy or Matplotlib. Names and
# their modules are those of the stub, as SPEC 1 of Scientific Python has it.
_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_HOMES = {
    name: module
    for module, name in re.findall(r"^from (\S+) import \w+ as (\w+)$", _STUB, re.MULTILINE)
}

__all__ = ["__version__", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    msg = f"module 'symreln' has no attribute '{name}'"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(type(sys)):
    """This package, in which `sr.report` stays the call when the room of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, type(sys)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
