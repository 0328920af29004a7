"""Keys: the digest of all that a result depends on, found without building the dataset."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from symreln.errors import SpecError
from symreln.spec.files import Folder
from symreln.spec.finding import Finding
from symreln.spec.number import DecimalText
from symreln.spec.overrides import apply_overrides
from symreln.spec.tomlfile import read_toml

_PACKAGE = Path(__file__).resolve().parents[1]
_SPECS = _PACKAGE / "tasks" / "specs"
_DATA_FILES = ("inputs", "targets", "data")


def key_of(*parts: str) -> str:
    """Return the SHA-256 of texts together with that of the program; no two lists agree."""
    return hashlib.sha256(json.dumps([program(), *parts]).encode()).hexdigest()


@lru_cache(maxsize=1)
def program() -> str:
    """Return the digest of symreln's source and of the packages that are installed beside it.

    The source, not only its version: in a working tree the version stays while the program changes;
    every file, because style sheets, data and specs stand in the results too.
    The packages by the names of their folders of metadata, which hold the versions: asking each
    for its version takes longer than all the rest.
    """
    machine = [sys.version, sys.platform, os.environ.get("PROCESSOR_ARCHITECTURE", _machine())]
    return hashlib.sha256(
        json.dumps([program_source(), *machine, *_installed()]).encode()
    ).hexdigest()


def program_source() -> str:
    """Return the digest of symreln's source alone."""
    found = hashlib.sha256()
    for name, path in sorted(_sources(str(_PACKAGE), "")):
        with open(path, "rb") as stream:
            data = stream.read()
        found.update(f"{name}\0{len(data)}\0".encode())
        found.update(data)
    return found.hexdigest()


def _sources(folder: str, lead: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as listing:
        for item in listing:
            if item.is_dir():
                if item.name != "__pycache__":
                    yield from _sources(item.path, f"{lead}{item.name}/")
            elif not item.name.endswith((".pyc", ".pyo")):
                yield lead + item.name, item.path


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else ""


def _installed() -> list[str]:
    names: set[str] = set()
    for folder in sys.path:
        with contextlib.suppress(OSError), os.scandir(folder or ".") as listing:
            names |= {e.name for e in listing if e.name.endswith((".dist-info", ".egg-info"))}
    return sorted(names)


def spec_key(
    source: str,
    overrides: Iterable[str],
    *,
    allow_outside: bool,
    fresh: bool = False,
    **more: str,
) -> str | None:
    """Return the key of what is made from a spec, or None where the spec cannot be read.

    Comments and the order of overrides that do not meet make no difference; the spec's name does,
    because it stands in the results.

    Args:
        source: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.
        fresh: Whether to read the program's files again, which may have changed since.
        more: What else the result depends on.
    """
    if fresh:
        program.cache_clear()
    content = spec_content(source, overrides, allow_outside=allow_outside)
    return None if content is None else key_of(*content, json.dumps(more))


def spec_content(
    source: str, overrides: Iterable[str], *, allow_outside: bool
) -> tuple[str, ...] | None:
    """Return what a spec says, as texts, or None where it cannot be read.

    Args:
        source: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.
    """
    ready_made = f"{source}.toml" in os.listdir(_SPECS)
    path = _SPECS / f"{source}.toml" if ready_made else Path(source)
    try:
        tables, _ = apply_overrides(read_toml(path)[0], tuple(overrides))
        dataset = tables.get("dataset")
        files = _digests(dataset, Folder(path=path.parent, allow_outside=allow_outside))
        content = _canonical(tables)
    except (SpecError, Finding, TypeError, RecursionError):
        return None  # the reader says what is wrong
    name = source if ready_made else path.name
    return name, str(ready_made), content, json.dumps(files)


def _digests(dataset: Any, folder: Folder) -> dict[str, str]:
    if not isinstance(dataset, Mapping):
        return {}
    return {
        key: hashlib.sha256(folder.read(dataset[key])).hexdigest()
        for key in _DATA_FILES
        if isinstance(dataset.get(key), str)
    }


def _canonical(tables: Mapping[str, Any]) -> str:
    """Return tables as text, equal for equal tables only: 1, 1.0, "1" and true differ.

    The order of keys is kept: parameters and groups are listed in it.
    """
    return json.dumps(tables, default=_tagged, ensure_ascii=True)


def _tagged(value: object) -> dict[str, str]:
    kind = "decimal" if isinstance(value, DecimalText) else type(value).__name__
    return {f"\0{kind}": str(value)}  # no key of TOML text holds this character
