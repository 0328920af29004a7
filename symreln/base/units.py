"""Seconds and bytes as people write them."""

from __future__ import annotations

import math
import re

from symreln.errors import InputError

_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "ms": 1e-3}
_MEGA = 1 << 20
_BYTES = {
    "": _MEGA,
    "kb": 1 << 10,
    "mb": _MEGA,
    "m": _MEGA,
    "mib": _MEGA,
    "gb": 1 << 30,
    "g": 1 << 30,
    "gib": 1 << 30,
    "tb": 1 << 40,
}
_TEXT = re.compile(r"\s*(\d{1,15}(?:\.\d{0,9})?)\s*([A-Za-z]{0,3})\s*", re.ASCII)


def seconds(text: str) -> float:
    """Return seconds.

    Raises:
        InputError: It is no time above 0.

    Example:
        >>> seconds("90"), seconds("1.5 min")
        (90.0, 90.0)
    """
    return _value(text, _SECONDS, "a time above 0, such as 90, 90s, 5min or 2h")


def megabytes(text: str) -> int:
    """Return bytes; a bare number counts megabytes, of 2^20 bytes.

    Raises:
        InputError: It is no size above 0.

    Example:
        >>> megabytes("512"), megabytes("2GB")
        (536870912, 2147483648)
    """
    return math.ceil(_value(text, _BYTES, "a size above 0, such as 500 (MB), 500MB or 2GB"))


def _value(text: str, units: dict[str, float] | dict[str, int], expected: str) -> float:
    found = _TEXT.fullmatch(text)
    unit = None if found is None else units.get(found[2].lower())
    value = 0.0 if found is None or unit is None else float(found[1]) * unit
    if not value > 0:
        msg = f"found {text[:40]!r}; expected {expected}"
        raise InputError(msg)
    return value


def shown_seconds(value: float) -> str:
    """Return a duration with a unit that fits.

    Example:
        >>> shown_seconds(0.25), shown_seconds(90), shown_seconds(7200)
        ('0.25 s', '90 s', '120 min')
    """
    return f"{value / 60:.3g} min" if value >= 600 else f"{value:.3g} s"


def shown_bytes(value: float) -> str:
    """Return a size with a unit that fits.

    Example:
        >>> shown_bytes(3 << 30), shown_bytes(200 << 20)
        ('3 GB', '200 MB')
    """
    return f"{value / (1 << 30):.3g} GB" if value >= 1 << 30 else f"{value / _MEGA:.3g} MB"
