"""Where a number came from: versions and hyper-parameters of a run."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = ("sympy", "python-flint", "mpmath", "numpy", "scipy", "matplotlib", "pydantic")


def library_versions(*others: str) -> dict[str, str]:
    """Return the versions of symreln, of the libraries that decide its results, and of others."""
    return {name: _version(name) for name in ("symreln", *_LIBRARIES, *others)}


@cache
def _version(name: str) -> str:
    loaded = sys.modules.get(name.removeprefix("python-"))  # what is installed takes milliseconds
    try:
        return getattr(loaded, "__version__", None) or version(name)
    except PackageNotFoundError:
        return "not installed"
