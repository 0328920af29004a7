"""Rebuild the committed derivations, or check that a rebuild gives the same.

``python -m derivations.rebuild`` writes them, ``--check`` compares. Library versions are left out
of the comparison, and floats (overlap matrices, which depend on the last bits of the linear algebra
library) are compared to 1e-9; everything else is compared as text. Figures are compared by name:
their bytes depend on Matplotlib's version.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import symreln as sr
from symreln.report.write import write_derivation

HERE = Path(__file__).parent
NAMES = ("xor", "contextual-3", "contextual-different")
FLOAT_TOLERANCE = 1e-9
#: How the line that names the libraries' versions begins, and a document's last
#: one, with digests of texts that hold them.
VERSION_LINES = ("Made with ", "% provenance ")


def build(name: str, folder: Path) -> None:
    """Derive a ready-made spec and write what is committed."""
    write_derivation(sr.derive(sr.load(name)), folder, formats=("json", "tex"))


def differences(name: str, built: Path) -> list[str]:
    """Return what differs between the committed derivation and a new one, one line each."""
    committed = HERE / name
    found = []
    names = {_relative(committed, p) for p in _files(committed)}
    new = {_relative(built, p) for p in _files(built)}
    found += [f"{name}/{missing}: only in the commit" for missing in sorted(names - new)]
    found += [f"{name}/{extra}: only in the new build" for extra in sorted(new - names)]
    for common in sorted(names & new):
        if common.endswith(".json"):
            old, now = (json.loads((f / common).read_text("utf-8")) for f in (committed, built))
            found += [f"{name}/{common}: {line}" for line in json_differences(old, now)]
        elif common.endswith(".tex"):
            found += [
                f"{name}/{common}: {line}"
                for line in text_differences(
                    (committed / common).read_text("utf-8"), (built / common).read_text("utf-8")
                )
            ]
    return found


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []


def _relative(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def json_differences(old: Any, new: Any, path: str = "$") -> list[str]:
    """Return where two JSON values differ; versions are passed over, floats compared closely."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in {**old, **new} if key not in ("versions", "provenance")]
        return [
            line
            for key in keys
            for line in (
                json_differences(old[key], new[key], f"{path}.{key}")
                if key in old and key in new
                else [f"{path}.{key} is on one side only"]
            )
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, (a, b) in pairs for line in json_differences(a, b, f"{path}[{i}]")]
    if isinstance(old, float) and isinstance(new, float):
        return [] if abs(old - new) <= FLOAT_TOLERANCE else [f"{path}: {old} became {new}"]
    same = type(old) is type(new) and old == new
    return [] if same else [f"{path}: {str(old)[:80]!r} became {str(new)[:80]!r}"]


def text_differences(old: str, new: str) -> list[str]:
    """Return the changed lines of two texts; lines with versions are passed over."""
    sides = [[x for x in t.splitlines() if not x.startswith(VERSION_LINES)] for t in (old, new)]
    changed = difflib.unified_diff(*sides, lineterm="", n=0)
    return [line for line in changed if not line.startswith(("---", "+++", "@@"))]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="which ones; all by default")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    failures: list[str] = []
    for name in options.names:
        if not options.check:
            build(name, HERE / name)
            print(f"wrote derivations/{name}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            build(name, Path(folder))
            found = differences(name, Path(folder))
        print(f"derivations/{name}: {'differs' if found else 'same as committed'}")
        failures += found
    for line in failures[:40]:
        print(f"  {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
