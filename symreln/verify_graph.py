r"""Check a graph's certificate with exact integer arithmetic and the standard library alone.

``python verify_graph.py certificate.json`` with the other ``verify_*.py`` beside it, or
:func:`verify`. What is checked, and why it proves the claims, stands at the top of
``symreln/graphs/certificate.py``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify import LEVELS, digest
    from symreln.verify_graph_components import check_component, joined
    from symreln.verify_graph_forms import check_routing
    from symreln.verify_graph_paths import Bundle, bundles_of, maps_of, read_graph, read_paths
    from symreln.verify_graph_spaces import check_spaces
    from symreln.verify_graph_words import check_conserved
    from symreln.verify_numbers import CertificateError, checked_file, integers, require, take
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from verify import LEVELS, digest  # type: ignore[no-redef]
    from verify_graph_components import check_component, joined  # type: ignore[no-redef]
    from verify_graph_forms import check_routing  # type: ignore[no-redef]
    from verify_graph_paths import Bundle, bundles_of, maps_of, read_graph, read_paths  # type: ignore[no-redef]
    from verify_graph_spaces import check_spaces  # type: ignore[no-redef]
    from verify_graph_words import check_conserved  # type: ignore[no-redef]
    from verify_numbers import CertificateError, checked_file, integers, require, take  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]

FORMAT = "symreln-graph-certificate/1"
KEYS = (
    "format parameters inputs targets nodes edges pathways spaces conserved components routing "
    "level free_constants digest"
)


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, line by line, or raise CertificateError that names the field."""
    given = certificate.get("format") if isinstance(certificate, dict) else None
    require(given == FORMAT, "format", FORMAT)
    v = take(certificate, "whole", KEYS)
    require(v.digest == digest(certificate), "digest", "the SHA-256 of the rest")
    require(integers([v.free_constants], "free_constants", 0), "free_constants", "0")
    names = v.parameters
    good = isinstance(names, list) and all(type(n) is str and n.isidentifier() for n in names)
    require(good and len(set(names)) == len(names), "parameters", "a list of unlike names")
    unit = (0,) * len(names)
    data = Data(names=names, unit=unit, used=set(), texts={}, where="parameters", fits=[])
    data.point = [int(v.digest, 16) % (10**9 + n) for n in range(len(names))]
    try:
        return tuple(_lines(data, v))
    except (
        ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError,
        ValueError,
    ) as error:  # fmt: skip
        if isinstance(error, CertificateError):
            raise
        msg = f"certificate, {data.where} or after: a value has not the form needed ({error})"
        raise CertificateError(msg) from error


def _lines(data: Data, v: SimpleNamespace) -> list[str]:
    data.x, data.y = data.matrix(v.inputs, "inputs"), data.matrix(v.targets, "targets")
    require(data.x.shape[1] == data.y.shape[1], "targets", "as many samples as inputs")
    graph = read_graph(data, v.nodes, v.edges)
    paths = read_paths(data, graph, v.pathways)
    bundles = bundles_of(data, graph, paths)
    maps = maps_of(data, bundles)
    ends = {n.name: len(n.inputs or n.outputs) for n in graph.nodes if n.inputs or n.outputs}
    v.ends = ends
    dimension = check_spaces(v.spaces, "spaces", ends, maps)
    edge_paths = [tuple(p.edges) for p in paths]
    matrices, norms = check_conserved(
        v.conserved, "conserved", graph.hidden, edge_paths, [p.bundle for p in paths]
    )
    lines = [
        f"{len(paths)} pathways in {len(bundles)} bundles; invariant spaces of dimension "
        f"{dimension} in all",
        f"{matrices} conserved matrices and {norms} conserved sums of norms",
    ]
    levels, regular = _components(data, v, paths, bundles, maps, lines)
    _routing(v.routing, paths, regular if levels != [LEVELS[3]] else [None], lines)
    weakest = max(levels, key=LEVELS.index)
    require(v.level == weakest, "level", weakest)
    require(data.used == set(data.names), "parameters", "exactly the names that occur")
    return lines


def _components(
    data: Data, v: Any, paths: Any, bundles: list[Bundle], maps: Any, lines: list[str]
) -> tuple[list[str], list[list[int] | None]]:
    expected = joined(paths, maps)
    good = isinstance(v.components, list) and len(v.components) == len(expected)
    require(good, "components", "one entry for all pathways that meet")
    levels, regular = [], []
    for n, (item, members) in enumerate(zip(v.components, expected, strict=True)):
        where = f"components[{n}]"
        level, counts = check_component(data, item, where, members, paths, bundles, maps, v)
        levels.append(level)
        regular.append(counts)
        used = "" if counts is None else f", edges used {', '.join(map(str, counts))} times"
        lines.append(f"{where}: {len(members)} pathways{used}: {level}")
    return levels, regular


def _routing(value: Any, paths: Any, regular: list[list[int] | None], lines: list[str]) -> None:
    """Check that the claim for all M and K is there exactly for a routing network."""
    counts = regular[0] if len(regular) == 1 else None
    is_one = counts is not None and len(counts) == 3 and counts[1] == len(paths) > 1
    is_one = is_one and counts is not None and counts[0] == counts[2]
    require((value is not None) == is_one, "routing", "null exactly where it is no such network")
    if is_one and counts is not None:
        m, k = check_routing(value, "routing", counts)
        lines.append(f"routing: M = {m}, K = {k}; closed forms and speeds for all M and K")


def verify_file(path: str | Path) -> tuple[str, ...]:
    """Read a certificate, from stdin where the path is "-", and check it; see :func:`verify`."""
    return checked_file(path, verify)


def is_graph(path: str | Path) -> bool:
    """Return whether a file says that it is a certificate of this kind; False if unreadable."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, RecursionError, UnicodeDecodeError, json.JSONDecodeError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


if __name__ == "__main__":
    sys.stdout.write("\n".join(verify_file(sys.argv[1])) + "\n")
