"""A whole certificate: a dataset, and parts that claim what holds of it.

The first part is of pathways or of a graph. Where gates switch, a part of pathways follows for the
gates taken from every such step on: the same pathways, stage by stage, of which only the gates may
differ. A last part may be of every size at once. It is proven by itself, and belongs to the first
part if it says the same of the sizes at hand; without another part it needs no dataset.
"""

from __future__ import annotations

from typing import Any, Final

from .families import check_sizes, require_same
from .graphs import check_graph
from .numbers import CertificateError, refused, require, visible
from .reading import Data, digest, integers, is_digest, listed, take
from .stages import LEVELS, Stage, check_pathways

FORMAT: Final = "symreln-certificate/3"
KEYS: Final = "format spec parameters inputs targets parts level free_constants digest"


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, line by line, or raise CertificateError that names the field."""
    given = certificate.get("format") if isinstance(certificate, dict) else None
    require(given == FORMAT, "format", f"{FORMAT} (older ones are not read: derive again)")
    v = take(certificate, "whole", KEYS)
    good = is_digest(v.digest) and v.digest == digest(certificate)
    require(good, "digest", "the SHA-256 of the rest")
    require(is_digest(v.spec), "spec", "the SHA-256 of the spec")
    require(integers([v.free_constants], "free_constants", 0), "free_constants", "0")
    try:
        return tuple(map(visible, _lines(v)))
    except CertificateError:
        raise
    except (
        ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
    ) as error:  # fmt: skip
        msg = f"certificate: a value has not the form needed ({type(error).__name__}: {error})"
        raise refused(msg) from error


def _lines(v: Any) -> list[str]:
    kinds = [part.get("kind") for part in listed(v.parts, "parts")]
    seed = int(v.digest, 16)
    if kinds == ["sizes"]:
        bare = v.inputs is v.targets is v.level is None and v.parameters == []
        require(bare, "inputs", "null where all that is claimed is of every size")
        return check_sizes(v.parts[0], "parts[0]", seed)[0]
    data = Data(v.parameters, seed, v.inputs, v.targets)
    lines = _parts(data, v, kinds)
    require(data.used == set(data.names), "parameters", "exactly the names that occur")
    return lines


def _parts(data: Data, v: Any, kinds: list[Any]) -> list[str]:
    first, *later = v.parts
    if kinds[0] == "graph":
        require(not later, "parts", "one where it is a graph")
        level, lines = check_graph(data, first, "parts[0]")
    else:
        require(kinds[0] == "pathways", "parts[0].kind", "pathways or graph")
        level, lines, stages = check_pathways(data, first, "parts[0]")
        _step(first["step"], "parts[0].step", 0, 0)
        lines += _later(data, later, stages, int(v.digest, 16))
    require(v.level == level, "level", level)
    return lines


def _later(data: Data, parts: list[Any], stages: list[Stage], seed: int) -> list[str]:
    """Check the parts after the first one: gates taken later, then every size."""
    lines: list[str] = []
    before, most = 0, 10**18
    for n, part in enumerate(parts, 1):
        path = f"parts[{n}]"
        if part["kind"] == "sizes":
            require(n == len(parts) and not before, path, "the last one, where no gates switch")
            shown, family = check_sizes(part, path, seed)
            require_same(data, stages, family, path)
            lines += [f"every size: {line}" for line in shown]
        else:
            require(part["kind"] == "pathways", f"{path}.kind", "pathways or sizes")
            before = _step(part["step"], f"{path}.step", before + 1, most)
            _, shown, phase = check_pathways(data, part, path)
            same = _shape(phase) == _shape(stages)
            require(same, path, "of the first part's pathways, but for their gates")
            lines += [f"from step {before}: {line}" for line in shown]
    return lines


def _step(value: Any, path: str, least: int, most: int) -> int:
    (step,) = integers([value], path, most)
    require(step >= least, path, "0 in the first part, and above the one before in others")
    return step


def _shape(stages: list[Stage]) -> list[Any]:
    return [[(p.name, *p.key[:2]) for p in stage.paths] for stage in stages]


__all__ = ["FORMAT", "LEVELS", "verify"]
