"""What is printed where nothing is derived: an estimate, checks of a certificate, versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from symreln.base.jsonio import dumps
from symreln.base.units import shown_bytes, shown_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from symreln.claims.cost import Estimate

_DAY = 86400.0


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


def estimate_said(found: Estimate, *, as_json: bool) -> str:
    """Return what a derivation may take."""
    if as_json:
        return dumps({**{k: list(v) for k, v in asdict(found).items()}, "estimate": True})
    return f"{estimate_sentence(found)}\n"


def estimate_sentence(found: Estimate) -> str:
    """Return the estimate in words."""
    low, high = (_duration(value) for value in found.seconds)
    least, most = (shown_bytes(value) for value in found.memory)
    if (low, least) == (high, most):
        return f"deriving takes roughly {low} and {least} (an estimate)"
    return (
        f"deriving takes roughly {low} and {least} if the spectra split into few values, "
        f"roughly {high} and {most} if they do not (an estimate)"
    )


def _duration(seconds: float) -> str:
    return "more than a day" if seconds > _DAY else shown_seconds(float(f"{seconds:.1g}"))
