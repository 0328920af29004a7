"""Whether a certificate and one for every size are of one derivation: standard library alone.

Both are verified by themselves before. Here their stages are laid beside each other: the same
number of samples for a number of contexts that the pathways show as well, the same pathways stage
by stage, and no level that is weaker than the one proven for every size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from symreln.verify_family_algebra import CertificateError, poly

#: From the strongest.
_LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices")


def require_pair_of_files(certificate: Path, family: Path) -> None:
    """Read two files that were verified and compare them; see :func:`require_pair`."""
    require_pair(*(json.loads(path.read_text(encoding="utf-8")) for path in (certificate, family)))


def require_pair(certificate: Mapping[str, Any], family: Mapping[str, Any]) -> None:
    """Refuse two certificates, each verified, that are not of one derivation.

    Raises:
        CertificateError: They are not.
    """
    stages = certificate["stages"]
    if len(family["stages"]) > len(stages):
        _refuse("the stages differ in number")
    copies: set[int] = set()
    for number, (general, stage) in enumerate(zip(family["stages"], stages, strict=False), 1):
        specs = [family["pathways"][place] for place in general["pathways"]]
        found = _copies([pathway["name"] for pathway in stage["pathways"]], specs)
        if found is None:
            _refuse(f"stage {number} has other pathways")
        else:
            copies |= found
        if general["level"] != "open" and _strength(stage["level"]) > _strength(general["level"]):
            _refuse(f"stage {number} has another level")
    if not _has_sizes(certificate["targets"]["columns"], family, copies):
        _refuse("no size has as many samples and pathways")


def _strength(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else len(_LEVELS)


def _copies(names: list[str], specs: list[Mapping[str, Any]]) -> set[int] | None:
    """Return how many copies occur of pathways that every context has, None for other names."""
    patterns = [re.compile(_pattern(spec)) for spec in specs]
    counts = [sum(bool(pattern.fullmatch(name)) for name in names) for pattern in patterns]
    if sum(counts) != len(names):
        return None
    if any(n != 1 for n, spec in zip(counts, specs, strict=True) if not spec["each"]):
        return None
    return {n for n, spec in zip(counts, specs, strict=True) if spec["each"]}


def _pattern(spec: Mapping[str, Any]) -> str:
    fixed = [re.escape(part) for part in re.split(r"\{[^}]*\}", spec["name"])]
    return "(.+)".join(fixed) if spec["each"] else re.escape(spec["name"])


def _has_sizes(wanted: int, family: Mapping[str, Any], copies: set[int]) -> bool:
    """Whether some sizes give the number of samples, and the copies that every context has."""
    names = family["symbols"]
    samples, count = (poly(_text(family[key]), tuple(names)) for key in ("samples", "count"))
    sizes = [name for name in names if name in family["minimum"] or name == family["items"]]
    ranges = [range(family["minimum"].get(name, 1), wanted + 1) for name in sizes]
    for values in product(*ranges):
        at = dict(zip(sizes, values, strict=True))
        fits = copies <= {_value(count, names, at)}
        if fits and _value(samples, names, at) == wanted:
            return True
    return False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value[0]


def _value(polynomial: Mapping[tuple[int, ...], Any], names: list[str], at: dict[str, int]) -> Any:
    total: Any = 0
    for powers, coefficient in polynomial.items():
        term = coefficient
        for name, power in zip(names, powers, strict=True):
            term *= at.get(name, 0) ** power
        total += term
    return total


def _refuse(reason: str) -> None:
    msg = (
        "certificate-family.json belongs to another derivation than certificate.json beside it: "
        f"{reason}. Derive again into a folder of its own"
    )
    raise CertificateError(msg)
