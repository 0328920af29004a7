"""A whole certificate: a dataset, and parts that claim what holds of it.

The first part is of pathways. Where gates switch, a part of pathways follows for the gates taken
from every such step on: the same pathways, stage by stage, of which only the gates may differ. One
on shared edges follows where they are those of a routing network. A last part may be of every size
at once, of which the first part is one.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

from .numbers import CertificateError, refused, require, visible, work
from .reading import Data, Given, canonical
from .routing_claims import check_routing
from .sizes import Family
from .stages import LEVELS, Stage, check_pathways

FORMAT: Final = "symreln-certificate/4"
#: Step of a switch of gates.
MOST_STEP: Final = 10**18
KEYS: Final = "format spec parameters inputs targets parts level free_constants digest"


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, line by line, or raise CertificateError that names the field."""
    given = certificate.get("format") if isinstance(certificate, dict) else None
    require(given == FORMAT, "format", f"{FORMAT} (older ones are not read: derive again)")
    v = Given(certificate).take(KEYS)
    try:
        said = canonical(certificate)
        good = _is_digest(v.digest.value) and v.digest.value == sha256(said).hexdigest()
        v.digest.require(good, "the SHA-256 of the rest")
        v.spec.require(_is_digest(v.spec.value), "the SHA-256 of the spec")
        v.free_constants.shows(0)
        work.allow(len(said))
        return tuple(map(visible, _lines(v, int(v.digest.value, 16))))
    except CertificateError:
        raise
    except (
        ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
    ) as error:  # fmt: skip
        msg = f"certificate: a value has not the form needed ({type(error).__name__}: {error})"
        raise refused(msg) from error


def _lines(v: Any, seed: int) -> list[str]:
    first, *later = v.parts.items()
    data = Data(v, seed)
    level, lines, stages = check_pathways(data, first, 0, 0)
    if [part.value["kind"] for part in later] == ["routing"]:
        level = LEVELS[1]
        lines.append(check_routing(data, later[0], stages))
    else:
        lines += _later(data, later, stages, seed)
    v.level.shows(level)
    v.parameters.require(data.used == set(data.names), "exactly the names that occur")
    return lines


def _later(data: Data, parts: list[Given], stages: list[Stage], seed: int) -> list[str]:
    """Check the parts after the first one: gates taken later, then every size."""
    lines: list[str] = []
    before = 0
    for part in parts:
        if part.value["kind"] == "sizes":
            good = part is parts[-1] and not before
            part.require(good, "the last one, where no gates switch")
            family = Family(part, seed)
            family.require_same(data, stages)
            lines += [f"every size: {line}" for line in family.lines]
        else:
            _, shown, phase = check_pathways(data, part, before + 1, MOST_STEP)
            before = part.value["step"]
            same = _shape(phase) == _shape(stages)
            part.require(same, "of the first part's pathways, but for their gates")
            lines += [f"from step {before}: {line}" for line in shown]
    return lines


def _shape(stages: list[Stage]) -> list[Any]:
    return [[(p.name, *p.key[:2]) for p in stage.paths] for stage in stages]


__all__ = ["FORMAT", "LEVELS", "verify"]


def _is_digest(value: Any) -> bool:
    """Whether a value is a SHA-256 in hexadecimal digits."""
    return type(value) is str and re.fullmatch("[0-9a-f]{64}", value) is not None
