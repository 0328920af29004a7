"""Digests of all that a task's result depends on: what computes, and what its spec says."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from symreln.base.provenance import library_versions
from symreln.errors import InputError, SpecError
from symreln.spec.files import Folder
from symreln.spec.finding import Finding
from symreln.spec.number import DecimalText
from symreln.spec.overrides import apply_overrides
from symreln.spec.tomlfile import read_toml
from symreln.tasks.registry import SPECS, spec_path

_PACKAGE = Path(__file__).resolve().parents[1]
_DATA_FILES = ("inputs", "targets", "data")


def digest(*parts: Any) -> str:
    """Return the SHA-256, in hexadecimal, of values that JSON holds."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def program() -> str:
    """Return the digest of what computes: source, libraries that decide results, processor.

    The source, not only its version: in a working tree the version stays while the program changes.
    """
    files = {
        path.relative_to(_PACKAGE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(_PACKAGE.rglob("*"))
        if path.is_file() and path.suffix not in (".pyc", ".pyo")
    }
    return digest(files, library_versions(), sys.version, platform.machine())


def content_of(source: str, overrides: Sequence[str], *, allow_outside: bool) -> str:
    """Return the digest of what a spec says after its overrides, data files included.

    Comments make no difference; the spec's name does, because it stands in the results.

    Args:
        source: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        InputError: It cannot be read (any more).
    """
    ready_made = source in SPECS
    path = spec_path(source) if ready_made else Path(source)
    try:
        tables, _ = apply_overrides(read_toml(path)[0], tuple(overrides))
        folder = Folder(path=path.parent, allow_outside=allow_outside)
        files = _digests(tables.get("dataset"), folder)
    except (SpecError, Finding) as error:
        msg = f"{source}: it cannot be read any more: {error}"
        raise InputError(msg) from error
    name = source if ready_made else path.name
    return digest(name, ready_made, json.dumps(tables, default=_tagged), files)


def _digests(dataset: Any, folder: Folder) -> dict[str, str]:
    if not isinstance(dataset, Mapping):
        return {}
    return {
        key: hashlib.sha256(folder.read(dataset[key])).hexdigest()
        for key in _DATA_FILES
        if isinstance(dataset.get(key), str)
    }


def _tagged(value: object) -> dict[str, str]:
    """Return what TOML has and JSON has not, so that 1, 1.0, "1" and true differ."""
    kind = "decimal" if isinstance(value, DecimalText) else type(value).__name__
    return {f"\0{kind}": str(value)}  # no key of TOML text holds this character
