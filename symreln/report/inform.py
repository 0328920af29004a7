"""What is printed where nothing is derived: checks of a certificate, ready-made specs, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.jsonio import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def checks_said(certificate: Path, checks: Sequence[str], *, as_json: bool) -> str:
    """Return what a certificate proves."""
    if as_json:
        return dumps({"certificate": str(certificate), "checks": list(checks)})
    lines = [*(f"  ok  {check}" for check in checks), f"{certificate}: every identity holds"]
    return "\n".join(lines) + "\n"


def tasks_said(found: Mapping[str, str], *, as_json: bool) -> str:
    """Return the ready-made specs: what each is, by its name."""
    if as_json:
        return dumps([{"name": name, "summary": summary} for name, summary in found.items()])
    return _columns(found)


def machine_said(found: Mapping[str, str], *, as_json: bool) -> str:
    """Return versions and the machine."""
    return dumps(found) if as_json else _columns(found)


def _columns(pairs: Mapping[str, str]) -> str:
    width = max(map(len, pairs))
    return "".join(f"{name:<{width}}  {value}\n" for name, value in pairs.items())
