"""What a derivation may take, in words and as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from symreln.base.units import shown_bytes, shown_seconds

if TYPE_CHECKING:
    from symreln.claims.cost import Estimate

_DAY = 86400.0


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


def estimate_to_json(found: Estimate) -> dict[str, Any]:
    """Return what ``derive --estimate --json`` prints."""
    return {**{k: list(v) for k, v in asdict(found).items()}, "estimate": True}
