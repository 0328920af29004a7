"""What differs between two results of one command.

Exact values are equal as expressions, floats to 1e-12, trained curves bit by bit, text line by
line. Certificates are not compared: that they are accepted is part of what a command prints.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

CLOSE = 1e-12
#: Curves that are predicted, not trained.
PREDICTED = (
    "closed_forms",
    "flow",
    "reduced",
    "theory",
)
#: Files that are not compared: proofs have a form of their own, figures are drawn from the curves.
SKIPPED = ("certificate.json",)
#: How a line begins that holds nothing but digests.
DIGESTS = ("% provenance ",)
#: Fields whose values are measured times or name the program's version.
VOLATILE = ("seconds", "duration", "version", "digest", "provenance")


def differences(before: Path, after: Path) -> list[str]:
    """Return a line for every difference of two folders."""
    found: list[str] = []
    for name in ("exit", "stdout", "stderr"):
        found += _text(name, before / name, after / name)
    verified = [(folder / "verified") for folder in (before, after)]
    said = [file.read_text("utf-8").strip() if file.is_file() else "none" for file in verified]
    if said[0] != said[1]:
        found.append(f"certificate: verified with exit code {said[0]}, now {said[1]}")
    old, new = before / "work" / "out", after / "work" / "out"
    for path in sorted({p.relative_to(f) for f in (old, new) for p in _files(f)}):
        one, two = old / path, new / path
        if not (one.is_file() and two.is_file()):
            found.append(f"{path}: {'added' if two.is_file() else 'is missing'}")
        elif path.suffix == ".json":
            a, b = (json.loads(file.read_text("utf-8")) for file in (one, two))
            found += (f"{path}: {line}" for line in _json(a, b, ""))
        elif path.suffix == ".npz":
            found += _arrays(str(path), one, two)
        elif path.suffix in (".tex", ".toml", ".csv", ".txt", ".md"):
            found += _text(str(path), one, two)
    return found


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if (
            path.is_file()
            and path.name not in SKIPPED
            and path.suffix not in (".pdf", ".svg", ".png")
        ):
            yield path


def _text(name: str, one: Path, two: Path) -> list[str]:
    a, b = (
        [
            line
            for line in file.read_text("utf-8", errors="replace").splitlines()
            if not line.startswith(DIGESTS)
        ]
        for file in (one, two)
    )
    if a == b:
        return []
    changed = [
        d for d in difflib.unified_diff(a, b, lineterm="", n=0) if d[:3] not in ("---", "+++")
    ]
    return [f"{name}: {line}" for line in changed if not line.startswith("@@")]


def _json(a: Any, b: Any, where: str) -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            if key in VOLATILE:
                continue
            if key not in a or key not in b:
                yield f"{where}.{key}: {'added' if key in b else 'is missing'}"
            else:
                yield from _json(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield f"{where}: {len(a)} entries, now {len(b)}"
        for n, (x, y) in enumerate(zip(a, b, strict=False)):
            yield from _json(x, y, f"{where}[{n}]")
    elif not _equal(a, b, where):
        yield f"{where}: {_short(a)}, now {_short(b)}"


def _equal(a: Any, b: Any, where: str) -> bool:
    if a == b:
        return True
    if isinstance(a, float) and isinstance(b, float):
        return isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)
    if where.endswith(".expr") and isinstance(a, str) and isinstance(b, str):
        try:
            return sp.simplify(sp.sympify(a) - sp.sympify(b)) == 0
        except (sp.SympifyError, TypeError, SyntaxError):
            return False
    return False


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:60]} … {text[-50:]}"


def _arrays(name: str, one: Path, two: Path) -> list[str]:
    with np.load(one) as a, np.load(two) as b:
        found = [f"{name}: {k} {'added' if k in b else 'is missing'}" for k in set(a) ^ set(b)]
        for key in sorted(set(a) & set(b)):
            x, y = np.asarray(a[key]), np.asarray(b[key])
            near = key in PREDICTED and x.shape == y.shape
            if near and np.allclose(x, y, rtol=CLOSE, atol=CLOSE, equal_nan=True):
                continue
            if x.shape != y.shape or x.tobytes() != y.tobytes():
                apart = "differs"
                if x.shape == y.shape and x.dtype.kind == "f":
                    apart = f"is up to {np.nanmax(np.abs(x - y)):.1e} apart"
                found.append(f"{name}: {key} {apart}")
        return found
