r"""The verifier's one arithmetic: polynomials over Z, ratios of two, and Q(parameters)[x]/f.

What is refused is refused here, in text that no certificate can make look like another one.
"""

from __future__ import annotations

import sys
import threading
from bisect import insort
from functools import reduce
from itertools import product
from math import gcd, inf, isqrt, lcm, prod
from typing import Any, Final

try:
    from symreln.errors import CertificateError  # pyright: ignore[reportAssignmentType]
except ImportError:  # this folder alone, without the package

    class CertificateError(ValueError):
        """A certificate is malformed or one of its identities does not hold."""


Poly = dict[tuple[int, ...], int]  # exponents to a coefficient that is not zero

#: Digits of an integer that are written and read: half a second for the longest. Python's own
#: bound, 4300, guards programs that read numbers of any length.
MOST_DIGITS: Final = 200_000
#: Terms of a polynomial: those of a denominator double with every new factor.
MOST_TERMS: Final = 50_000
#: What checking may cost, see :data:`work`: at least, for every character, and for every character
#: and row of a square matrix of so many characters.
LEAST_WORK: Final = 1_000_000
WORK_PER_CHARACTER: Final = 50
WORK_PER_ROW: Final = 0.25
#: Ranks are taken modulo this: they are lower bounds of the true ones.
PRIME: Final = 2**61 - 1


def _allow_long_integers() -> None:
    """Raise Python's bound on the digits of integers; one that the user has set is kept."""
    chosen = sys.flags.int_max_str_digits not in (-1, sys.int_info.default_max_str_digits)
    if not chosen and 0 < sys.get_int_max_str_digits() < MOST_DIGITS:
        sys.set_int_max_str_digits(MOST_DIGITS)


_allow_long_integers()


def visible(text: object) -> str:
    """Return text with everything escaped that a terminal would not print as itself."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def refused(message: str) -> CertificateError:
    """Return the error of a certificate that is not accepted, its text escaped."""
    return CertificateError(visible(message))


def require(holds: object, path: str, needed: str) -> None:
    """Raise CertificateError, which names the field, unless ``holds``."""
    if not holds:
        msg = f"certificate, {path}: this needs to be {needed}, and is not"
        raise refused(msg)


class _Work(threading.local):
    """What a certificate may still cost, in pairs of terms, about a microsecond each.

    A short certificate can ask for more arithmetic than anyone waits for. What was derived needs
    work in proportion to what it multiplies: of L characters, matrices have up to √L rows, and each
    entry meets as many. So :meth:`allow` is told the length, and what multiplies, divides or packs
    says what it is about to do.
    """

    left = inf

    def allow(self, length: int) -> None:
        """Begin with a certificate of that many characters."""
        each = WORK_PER_CHARACTER + WORK_PER_ROW * isqrt(length)
        self.left = LEAST_WORK + int(each * length)

    def spend(self, units: int) -> None:
        """Note work, before it is done."""
        self.left -= units
        if self.left < 0:
            msg = (
                "certificate: it asks for more work than one of its length needs. What was derived "
                "does not; if this one was, its data have too many digits, or too many parameters"
            )
            raise refused(msg)


work: Final = _Work()


# -- polynomials -----------------------------------------------------------------------------------


def add(a: Poly, b: Poly) -> Poly:
    """Return a + b."""
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, 0) + value
    return {key: value for key, value in total.items() if value}


def multiply(a: Poly, b: Poly) -> Poly:
    """Return a·b."""
    work.spend(len(a) * len(b) + 1)
    total: Poly = {}
    for (x, p), (y, q) in product(a.items(), b.items()):
        key = tuple(map(int.__add__, x, y))
        total[key] = total.get(key, 0) + p * q
        if len(total) > MOST_TERMS:
            msg = f"certificate: a polynomial has more than {MOST_TERMS} terms"
            raise refused(msg)
    return {key: value for key, value in total.items() if value}


def quotient(a: Poly, b: Poly) -> Poly | None:
    """Return a/b where that is a polynomial over Z, else None."""
    lead = max(b)
    found: Poly = {}
    left = dict(a)
    work.spend(len(a) + len(b))
    if len(a) > 1 < len(b):  # values at integers divide each other where polynomials do
        at = list(range(2, 2 + len(lead)))
        if (below := value_at(b, at)) and value_at(a, at) % below:
            return None
    order = sorted(left)
    while left:
        most = order.pop()
        if most not in left:
            continue
        shift = tuple(map(int.__sub__, most, lead))
        if min(shift, default=0) < 0 or left[most] % b[lead]:
            return None
        factor = found[shift] = left[most] // b[lead]
        work.spend(len(b) + 1)
        for key, value in b.items():
            place = tuple(map(int.__add__, key, shift))
            if rest := left.get(place, 0) - factor * value:
                if place not in left:
                    insort(order, place)
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


def render(polynomial: Poly, names: Any) -> str:
    """Return the one spelling of a polynomial: terms from the highest power down."""
    terms = sorted(polynomial.items(), reverse=True)
    shown = (
        str(c) + "".join(f"*{n}^{e}" for n, e in zip(names, key, strict=True) if e)
        for key, c in terms
    )
    return " + ".join(shown) or "0"


class Ratio:
    """A rational function top/below; equal ones may be spelled differently."""

    __slots__ = ("below", "top")

    def __init__(self, top: Poly, below: Poly) -> None:
        common = gcd(*top.values(), *below.values())
        if common > 1:
            top, below = ({key: v // common for key, v in p.items()} for p in (top, below))
        one = {(0,) * len(next(iter(below))): 1}
        if len(below) > 1 or any(next(iter(below))):
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

    def __sub__(self, other: Ratio) -> Ratio:
        return self + other * -1

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


# -- elements of Q(parameters)[x]/f ----------------------------------------------------------------

Element = list[Ratio]  # low to high


def times(f: Element, a: Element, b: Element) -> Element:
    """Return a·b modulo f."""
    left, degree = [a[0] * 0] * (len(a) + len(b) - 1), len(f) - 1
    used = ([(n, x) for n, x in enumerate(part) if x] for part in (a, b))
    for (n, x), (m, y) in product(*used):
        left[n + m] = left[n + m] + x * y
    while len(left) > degree:
        if top := left.pop():
            lead = top / f[-1] * -1
            for m in range(degree):
                place = len(left) - degree + m
                left[place] = left[place] + lead * f[m]
    return left + [f[0] * 0] * (degree - len(left))


def power(one: Ratio, exponent: int) -> Element:
    """Return x^exponent."""
    return [one * 0] * exponent + [one]


def trace(f: Element, a: Element) -> Ratio:
    """Return the sum of a over the roots of f."""
    total, x = f[0] * 0, power(f[-1] / f[-1], 1)
    for place in range(len(f) - 1):
        total = total + a[place]
        a = times(f, a, x)
    return total


# -- modulo a prime --------------------------------------------------------------------------------


def value_at(polynomial: Poly, point: list[int]) -> int:
    """Return a polynomial's value."""
    return sum(n * prod(map(pow, point, powers)) for powers, n in polynomial.items())


def rank(vectors: list[dict[Any, int]]) -> int:
    """Return the rank of vectors, given as dicts, modulo the prime."""
    pivots: dict[Any, dict[Any, int]] = {}
    for vector in vectors:
        left = dict(vector)
        for row, pivot in pivots.items():
            if factor := left.get(row, 0) % PRIME:
                work.spend(len(pivot))
                for key, item in pivot.items():
                    left[key] = (left.get(key, 0) - factor * item) % PRIME
        found = next((key for key, item in left.items() if item % PRIME), None)
        if found is not None:
            inverse = pow(left[found], -1, PRIME)
            pivots[found] = {key: item * inverse % PRIME for key, item in left.items() if item}
    return len(pivots)
