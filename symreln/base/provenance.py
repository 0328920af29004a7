"""Where a number came from: versions and hyper-parameters of a run."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = ("sympy", "python-flint", "mpmath", "numpy", "scipy", "matplotlib", "pydantic")


def library_versions() -> dict[str, str]:
    """Return the versions of symreln and of the libraries that decide its results."""
    return {name: _version(name) for name in ("symreln", *_LIBRARIES)}


def environment() -> dict[str, str]:
    """Return versions and the machine, for a bug report."""
    return {
        **library_versions(),
        "scikit-learn": _version("scikit-learn"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


@cache
def _version(name: str) -> str:
    loaded = sys.modules.get(name.removeprefix("python-"))  # what is installed takes milliseconds
    try:
        return getattr(loaded, "__version__", None) or version(name)
    except PackageNotFoundError:
        return "not installed"
