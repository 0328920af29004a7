"""Certificates of gates that are taken later, tied to the main one: standard library alone.

Where gates switch, certificate.json holds up to the first switch and names under "phases" the step
and the SHA-256 of the certificate from every switch on. Each lies beside it as
certificate-step-N.json, is of the same data and pathways, and only their gates may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    from symreln.verify_numbers import CertificateError, checked_file, require, take
except ImportError:  # the files alone, without the package
    from verify_numbers import (  # type: ignore[no-redef]
        CertificateError,
        checked_file,
        require,
        take,
    )

MAIN = "certificate.json"
_DIGITS = frozenset("0123456789abcdef")


def read_phases(certificate: Any) -> list[tuple[int, str]]:
    """Return (step, digest) of the certificates that one names; none where gates do not switch."""
    if "phases" not in certificate:
        return []
    value = certificate["phases"]
    require(isinstance(value, list) and value, "phases", "a list of [step, digest], or left out")
    found = []
    for n, item in enumerate(value):
        v = take(item, f"phases[{n}]", "step digest")
        good = type(v.step) is int and v.step > (found[-1][0] if found else 0)
        require(good, f"phases[{n}].step", "a whole number, from 1 up, above the one before")
        good = type(v.digest) is str and len(v.digest) == 64 and set(v.digest) <= _DIGITS
        require(good, f"phases[{n}].digest", "a SHA-256 in hexadecimal digits")
        found.append((v.step, v.digest))
    return found


def phases_beside(
    path: Path, certificate: Any, verify: Callable[[Any], tuple[str, ...]]
) -> tuple[str, ...]:
    """Check the certificates that a verified one names, and that its folder holds no others.

    Args:
        path: Where the verified certificate lies.
        certificate: It, as JSON values.
        verify: What checks one by itself.

    Returns:
        What was proven, line by line, each with the name of its file.
    """
    lines: list[str] = []
    named = read_phases(certificate)
    for step, digest in named:
        beside = path.parent / f"certificate-step-{step}.json"
        if not beside.is_file():
            msg = (
                f"certificate {path}: it names a certificate from step {step} on, and {beside} "
                "is not there. Derive again, or put it beside"
            )
            raise CertificateError(msg)
        found: list[Any] = []
        checks = checked_file(
            beside, lambda phase, found=found: found.append(phase) or verify(phase)
        )
        require_phase(certificate, found[0], digest, beside.name)
        lines += [f"{beside.stem}: {check}" for check in checks]
    if path.name == MAIN:
        require_no_others(path.parent, [step for step, _ in named])
    return tuple(lines)


def require_phase(certificate: Any, phase: Any, digest: str, name: str) -> None:
    """Refuse a verified certificate that is not the one a main certificate names.

    Raises:
        CertificateError: It is another one, or of other data or pathways.
    """
    _agree(phase["digest"] == digest, name, f"with the SHA-256 that {MAIN} names ({digest})")
    _agree("phases" not in phase, name, "without phases of its own")
    for key in ("inputs", "targets"):
        _agree(phase[key] == certificate[key], name, f"of the {key} of {MAIN}")
    same = list(_pathways(phase)) == list(_pathways(certificate))
    _agree(same, name, f"of the pathways of {MAIN}, stage by stage, but for their gates")


def require_no_others(folder: Path, steps: list[int]) -> None:
    """Refuse certificates of phases that nothing names: they would seem to belong.

    Raises:
        CertificateError: There is one.
    """
    known = {f"certificate-step-{step}.json" for step in steps}
    others = sorted(p.name for p in folder.glob("certificate-step-*.json") if p.name not in known)
    if others:
        msg = (
            f"certificate {folder / MAIN}: {others[0]} lies beside it and is not named by it. "
            "Remove it, or derive again"
        )
        raise CertificateError(msg)


def _pathways(certificate: Any) -> Iterator[tuple[Any, ...]]:
    for n, stage in enumerate(certificate["stages"]):
        for p in stage["pathways"]:
            yield n, p["name"], p["inputs"], p["outputs"]


def _agree(holds: object, name: str, needed: str) -> None:
    if not holds:
        msg = f"certificate {name}: this needs to be {needed}, and is not"
        raise CertificateError(msg)
