r"""Check a certificate of a family with the standard library alone: every size at once.

``python verify_family.py certificate-family.json``, or :func:`verify`; verify_numbers.py and the
other verify_family_*.py lie beside it. What is checked, and why it proves the claims, stands at the
top of ``symreln/families/certificate.py``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

try:
    from symreln.verify_family_algebra import CertificateError, Matrix, require
    from symreln.verify_family_data import Data, take
    from symreln.verify_family_stage import LEVELS, sector_stage
    from symreln.verify_numbers import checked_file
except ImportError:  # these files alone, without the package
    from verify_family_algebra import CertificateError, Matrix, require  # type: ignore[import-not-found,no-redef]
    from verify_family_data import Data, take  # type: ignore[import-not-found,no-redef]
    from verify_family_stage import LEVELS, sector_stage  # type: ignore[import-not-found,no-redef]
    from verify_numbers import checked_file  # type: ignore[import-not-found,no-redef]

FORMAT = "symreln-family-certificate/1"


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, a line a stage, or raise CertificateError that names the field."""
    keys = (
        "format symbols minimum copies items tree samples per_sample count sectors pathways stages "
        "divisors digest"
    )
    take(certificate, "whole", keys)
    good = certificate["format"] == FORMAT and certificate["digest"] == digest(certificate)
    require(good, "digest", f"{FORMAT} and its SHA-256")
    try:
        return _verify(certificate)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, CertificateError):
            raise
        msg = f"certificate of a family: a value has not the form needed ({error})"
        raise CertificateError(msg) from error


def _verify(v: dict[str, Any]) -> tuple[str, ...]:
    data = Data(v)
    targets = [sector.targets for sector in data.sectors]
    lines, seen = [], []
    for n, stage in enumerate(v["stages"]):
        path = f"stages[{n}]"
        places, level, parts, closed = take(stage, path, "pathways level sectors closed_at")
        require(not lines or lines[-1][1] != "open", path, "missing after an open stage")
        require(len(parts) == len(data.sectors), f"{path}.sectors", "one entry a sector")
        known = range(len(data.pathways))
        good = all(type(place) is int and place in known for place in places)
        require(good, f"{path}.pathways", "numbers of pathways, from 0")
        specs = [data.pathways[place] for place in places]
        seen += places
        found, meetings = [], []
        for k, (sector, part) in enumerate(zip(data.sectors, parts, strict=True)):
            one, targets[k], acts = sector_stage(
                data, sector, part, specs, targets[k], f"{path}.sectors[{k}]"
            )
            found.append(one)
            meetings += acts
        require(
            level == max(found, key=LEVELS.index), f"{path}.level", "the weakest of its sectors"
        )
        good = closed == (_closed_at(data, v, meetings) if level == LEVELS[1] else {})
        require(good, f"{path}.closed_at", "all sizes at which no pathway acts on another")
        lines.append((", ".join(spec["name"] for spec in specs), level, closed))
    whole = sorted(seen) == list(range(len(data.pathways)))
    good = len({*seen}) == len(seen) and (whole or (lines and lines[-1][1] == "open"))
    require(good and lines, "stages", "of every pathway once")
    require(data.ring.used == set(range(len(data.ring.divisors))), "divisors", "those that occur")
    where = _where(data, v)
    return tuple(
        f"stages[{n}]: {names}: {level}{_stronger(closed)}, {where}"
        for n, (names, level, closed) in enumerate(lines)
    )


def _closed_at(data: Data, v: dict[str, Any], meetings: list[Matrix]) -> dict[str, list[int]]:
    """Return the values of every size, the others free, at which no pathway acts on another."""
    excepted = {(d["symbol"], value) for d in v["divisors"] for value in d["values"] or ()}
    entries = [x.top for matrix in meetings for p in (matrix.d, matrix.e) for x in p.values()]
    found = {}
    for name in data.range.minimum:
        place = data.range.names.index(name)
        few = any(key[place] for matrix in meetings for key in matrix.rows.count.top)
        tried = {*data.range.common(entries, name)} | ({1, 2, 3} if few else {*()})
        values = [
            n
            for n in sorted(tried)
            if data.range.allows(name, n)
            and (name, n) not in excepted
            and all(matrix.vanishes(name, n) for matrix in meetings)
        ]
        found |= {name: values} if values else {}
    return found


def _stronger(closed: dict[str, list[int]]) -> str:
    values = (f"{name} = {', '.join(map(str, numbers))}" for name, numbers in closed.items())
    return f" (closed at {' or '.join(values)})" if closed else ""


def _where(data: Data, v: dict[str, Any]) -> str:
    """Return for which sizes and parameters everything is proven, in words."""
    least = data.range.minimum
    tree = v["items"] if v["tree"] else ""
    sizes = [
        f"{n} a power of 2, at least {m}" if n == tree else f"{n} >= {m}" for n, m in least.items()
    ]
    excepted = [
        f"{d['symbol']} = {', '.join(map(str, d['values']))}"
        if d["symbol"]
        else f"where {d['polynomial']} = 0"
        for d in v["divisors"]
        if d["values"] or d["symbol"] == ""
    ]
    generic = [n for n in data.range.names if n not in least and n != data.range.copies]
    parts = [f"for {' and '.join(sizes)}"]
    parts += [f"except {' or '.join(excepted)}"] * bool(excepted)
    parts += [f"for generic {', '.join(generic)}"] * bool(generic)
    return ", ".join(parts)


def verify_file(path: str | Path) -> tuple[str, ...]:
    """Read a certificate and check it; see :func:`verify`."""
    return checked_file(path, verify)


def is_family(path: str | Path) -> bool:
    """Return whether a file says that it is a certificate of this kind; False if unreadable."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, RecursionError, UnicodeDecodeError, json.JSONDecodeError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


if __name__ == "__main__":
    sys.stdout.write("\n".join(verify_file(sys.argv[1])) + "\n")
