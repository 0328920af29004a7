r"""The verifier's numbers: polynomials over Z and ratios of two; the standard library alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import reduce
from itertools import product
from math import gcd, lcm, prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    from symreln.errors import CertificateError
except ImportError:  # without the package
    CertificateError = ValueError  # type: ignore[assignment,misc]

Poly = dict[tuple[int, ...], int]  # exponents to a coefficient that is not zero

#: Digits of an integer that are written and read: half a second for the longest. Python's own
#: bound, 4300, guards programs that read numbers of any length; what a spec may hold is bounded
#: in symreln.spec.number, and what is derived from it in symreln.network.effective.
MOST_DIGITS = 200_000


def allow_long_integers() -> None:
    """Raise Python's bound on the digits of integers; one that the user has set is kept."""
    chosen = sys.flags.int_max_str_digits not in (-1, sys.int_info.default_max_str_digits)
    if not chosen and 0 < sys.get_int_max_str_digits() < MOST_DIGITS:
        sys.set_int_max_str_digits(MOST_DIGITS)


allow_long_integers()


#: Pairs of terms from which on polynomials are multiplied as integers, and coefficients below which
#: that is quicker than term by term.
MOST_PAIRS = 400
SMALL = 1 << 512


def add(a: Poly, b: Poly, sign: int = 1) -> Poly:
    """Return a + sign·b."""
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, 0) + sign * value
    return {key: value for key, value in total.items() if value}


def multiply(a: Poly, b: Poly) -> Poly:
    """Return a·b."""
    if len(a) * len(b) > MOST_PAIRS:
        degrees = (map(max, zip(*part, strict=True)) for part in (a, b))
        spans = [x + y + 1 for x, y in zip(*degrees, strict=True)]
        small = all(max(map(abs, part.values())) < SMALL for part in (a, b))
        if small and prod(spans) < len(a) * len(b):
            return _multiplied_whole(a, b, spans)
    total: Poly = {}
    for (x, p), (y, q) in product(a.items(), b.items()):
        key = tuple(map(int.__add__, x, y))
        total[key] = total.get(key, 0) + p * q
    return {key: value for key, value in total.items() if value}


def _multiplied_whole(a: Poly, b: Poly, spans: list[int]) -> Poly:
    """Return a·b by one product of integers, a slot a monomial (Kronecker's substitution)."""
    largest = [max(map(abs, part.values())) for part in (a, b)]
    size = (largest[0] * largest[1] * min(len(a), len(b))).bit_length() // 8 + 1  # and a sign
    count = prod(spans)
    half = int.from_bytes((b"\0" * (size - 1) + b"\x80") * count, "little")
    found = _slots(a, spans, size) * _slots(b, spans, size) + half
    raw, middle = found.to_bytes(size * count, "little"), 1 << (8 * size - 1)
    total: Poly = {}
    for n, key in enumerate(product(*map(range, reversed(spans)))):
        value = int.from_bytes(raw[n * size : (n + 1) * size], "little") - middle
        if value:
            total[key[::-1]] = value
    return total


def _slots(polynomial: Poly, spans: list[int], size: int) -> int:
    """Return the integer that a polynomial is where every monomial is a power of 256^size."""
    places = [prod(spans[:n]) for n in range(len(spans))]
    signs = {1: bytearray(size * prod(spans)), -1: bytearray(size * prod(spans))}
    for key, value in polynomial.items():
        start = size * sum(map(int.__mul__, key, places))
        signs[1 if value > 0 else -1][start : start + size] = abs(value).to_bytes(size, "little")
    return int.from_bytes(signs[1], "little") - int.from_bytes(signs[-1], "little")


def quotient(a: Poly, b: Poly) -> Poly | None:
    """Return a/b where that is a polynomial over Z, else None."""
    lead = max(b)
    found: Poly = {}
    left = dict(a)
    while left:
        most = max(left)
        shift = tuple(map(int.__sub__, most, lead))
        if min(shift, default=0) < 0 or left[most] % b[lead]:
            return None
        factor = found[shift] = left[most] // b[lead]
        for key, value in b.items():
            place = tuple(map(int.__add__, key, shift))
            if rest := left.get(place, 0) - factor * value:
                left[place] = rest
            else:
                del left[place]
    return found


def divides(a: Poly, b: Poly) -> bool:
    """Whether b is a multiple of a, both up to numbers, and a is more than a number."""
    content = gcd(*a.values())
    constant = len(a) == 1 and not any(max(a))
    return not constant and quotient(b, {key: v // content for key, v in a.items()}) is not None


def common_multiple(a: Poly, b: Poly) -> Poly:
    """Return a common multiple, the least one where the polynomial parts divide each other."""
    x, y = gcd(*a.values()), gcd(*b.values())
    left, right = ({key: v // n for key, v in p.items()} for p, n in ((a, x), (b, y)))
    if quotient(left, right) is not None:
        found = left
    else:
        found = right if quotient(right, left) is not None else multiply(left, right)
    return {key: value * lcm(x, y) for key, value in found.items()}


class Ratio:
    """A rational function top/below; equal ones may be spelled differently."""

    __slots__ = ("below", "top")

    def __init__(self, top: Poly, below: Poly) -> None:
        common = gcd(*top.values(), *below.values())
        if common > 1:
            top, below = ({key: v // common for key, v in p.items()} for p in (top, below))
        one = {(0,) * len(next(iter(below))): 1}
        if not top:
            below = one
        elif len(below) > 1 or any(next(iter(below))):
            if (whole := quotient(top, below)) is not None:
                top, below = whole, one
            elif (whole := quotient(below, top)) is not None:
                top, below = one, whole
        self.top, self.below = top, below

    def __bool__(self) -> bool:
        return bool(self.top)

    def __add__(self, other: Ratio) -> Ratio:
        if self.below == other.below:
            return Ratio(add(self.top, other.top), self.below)
        below = common_multiple(self.below, other.below)
        parts = (multiply(r.top, quotient(below, r.below) or {}) for r in (self, other))
        return Ratio(reduce(add, parts), below)

    def __mul__(self, other: Ratio | int) -> Ratio:
        if isinstance(other, int):
            return Ratio({k: v * other for k, v in self.top.items() if other}, self.below)
        return Ratio(multiply(self.top, other.top), multiply(self.below, other.below))

    def __truediv__(self, other: Ratio | int) -> Ratio:
        if isinstance(other, int):
            return Ratio(self.top, {key: value * other for key, value in self.below.items()})
        if self.below == other.below:
            return Ratio(self.top, other.top)
        return Ratio(multiply(self.top, other.below), multiply(self.below, other.top))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ratio):
            return False
        # One of them is often in lowest terms: the other's factor is short, cross products are not.
        for one, more in ((self, other), (other, self)):
            if (factor := quotient(more.below, one.below)) is not None:
                return multiply(one.top, factor) == more.top
        return multiply(self.top, other.below) == multiply(other.top, self.below)

    __hash__ = None  # type: ignore[assignment]


# -- reading ---------------------------------------------------------------------------------------


def checked_file(path: str | Path, verify: Callable[[Any], tuple[str, ...]]) -> tuple[str, ...]:
    """Read a certificate, from stdin where the path is "-", and return what ``verify`` says."""
    needed = "Give the certificate.json of a derivation, or its folder"
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return verify(json.loads(raw.decode("utf-8")))
    except OSError as error:
        reason = error.strerror or error
        msg = f"certificate {path}: {reason}. {needed}; one that was cut short has none"
        raise CertificateError(msg) from error
    except (RecursionError, UnicodeDecodeError, json.JSONDecodeError) as error:
        msg = f"certificate {path}: found no JSON ({error}). {needed}"
        raise CertificateError(msg) from error


def require(holds: object, path: str, needed: str) -> None:
    """Raise CertificateError, which names the field, unless ``holds``."""
    if not holds:
        msg = f"certificate, {path}: this needs to be {needed}, and is not"
        raise CertificateError(msg)


def render(polynomial: Poly, names: Any) -> str:
    """Return the one spelling of a polynomial: terms from the highest power down."""
    terms = sorted(polynomial.items(), reverse=True)
    shown = (
        str(c) + "".join(f"*{n}^{e}" for n, e in zip(names, key, strict=True) if e)
        for key, c in terms
    )
    return " + ".join(shown) or "0"


def take(value: Any, path: str, keys: str) -> SimpleNamespace:
    """Return an object that must have exactly these keys."""
    require(isinstance(value, dict) and set(value) == set(keys.split()), path, f"keys: {keys}")
    return SimpleNamespace(**value)


def integers(value: Any, path: str, most: int) -> Any:
    """Return a list that must hold integers from 0 to ``most``."""
    good = isinstance(value, list) and set(map(type, value)) <= {int}
    good = good and (not value or (min(value) >= 0 and max(value) <= most))
    require(good, path, f"integers from 0 to {most}")
    return value
