"""What the verifier reads: strict JSON, numbers and matrices, each with its one spelling."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from fractions import Fraction
from math import gcd
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from .matrices import Matrix, Part, products
from .numbers import PRIME, Poly, Ratio, divides, refused, render, require, value_at

#: Bytes of a file that is read, and of one that is JSON; lists and objects in that.
MOST_BYTES: Final = 1 << 26
MOST_JSON: Final = 1 << 24
MOST_LISTS: Final = 500_000
#: Digits of an integer that is no text; numbers are texts (see numbers.MOST_DIGITS).
MOST_PLACE_DIGITS: Final = 4300
#: Power of a parameter in a polynomial.
MOST_POWER: Final = 9999
#: Rows, and columns, of a matrix; and both multiplied.
MOST_ROWS: Final = 10**6
MOST_CELLS: Final = 10**8

_LONG_INTEGER = re.compile(rb"[\[,:]\s*-?\d{%d}" % (MOST_PLACE_DIGITS + 1))


def read_bytes(path: str | Path) -> bytes:
    """Return what a regular file holds, or stdin where the path is "-".

    Raises:
        CertificateError: It cannot be read, is no file of data, or is too long.
    """
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            with open(handle, "rb") as stream:
                regular = stat.S_ISREG(os.fstat(handle).st_mode)
                require(regular, str(path), "a file, not a folder, pipe or device")
                raw = stream.read(MOST_BYTES + 1)
    except OSError as error:
        msg = (
            f"certificate {path}: {error.strerror or error}. Give the certificate.json of a "
            "derivation, or its folder; a graph other than the routing network has none"
        )
        raise refused(msg) from error
    require(len(raw) <= MOST_BYTES, str(path), f"of at most {MOST_BYTES} bytes")
    return raw


def read_json(path: str | Path) -> Any:
    """Return a file's JSON, read strictly; see :func:`parsed`."""
    return parsed(read_bytes(path), str(path))


def parsed(raw: bytes, name: str) -> Any:
    """Return JSON that says every key once and holds no integer of too many digits.

    Raises:
        CertificateError: It is none.
    """
    good = len(raw) <= MOST_JSON and raw.count(b"[") + raw.count(b"{") <= MOST_LISTS
    require(good, name, f"JSON of at most {MOST_JSON} bytes and {MOST_LISTS} lists")
    require(not _LONG_INTEGER.search(raw), name, f"of places below 10^{MOST_PLACE_DIGITS}")
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_unlike, parse_constant=_none)
    except (RecursionError, ValueError) as error:
        msg = (
            f"certificate {name}: found no JSON ({error}). Give the certificate.json of a "
            "derivation, or its folder"
        )
        raise refused(msg) from error


def _unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            msg = f"the key {key!r} stands there twice"
            raise ValueError(msg)
        found[key] = value
    return found


def _none(name: str) -> None:
    msg = f"{name} is no number"
    raise ValueError(msg)


def digest(value: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    return hashlib.sha256(canonical(value)).hexdigest()


def canonical(value: dict[str, Any]) -> bytes:
    """Return everything but the digest as the JSON that the digest is of."""
    return json.dumps({k: v for k, v in value.items() if k != "digest"}, sort_keys=True).encode()


class Given:
    """A value of a certificate and the place where it stands, which refusals name."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.value, self.path = value, path

    def __getitem__(self, key: str | int) -> Given:
        place = f"[{key}]" if isinstance(key, int) else f".{key}"
        return Given(self.value[key], f"{self.path}{place}".lstrip("."))

    def require(self, holds: object, needed: str) -> None:
        """Raise CertificateError, which names the place, unless ``holds``."""
        require(holds, self.path or "whole", needed)

    @property
    def there(self) -> bool:
        """Whether it is not null."""
        return self.value is not None

    def shows(self, expected: Any, needed: str = "") -> None:
        """Check that it is this JSON value: 1 is neither true nor 1.0."""
        same = [json.dumps(value, sort_keys=True) for value in (self.value, expected)]
        self.require(same[0] == same[1], needed or str(expected))

    def take(self, keys: str) -> SimpleNamespace:
        """Return the fields of an object that must have exactly these keys."""
        good = isinstance(self.value, dict) and set(self.value) == set(keys.split())
        self.require(good, f"keys: {keys}")
        return SimpleNamespace(**{key: self[key] for key in self.value})

    def items(self, length: int | None = None, least: int = 1) -> list[Given]:
        """Return what is in a list that must hold something, or ``length`` things."""
        good = isinstance(self.value, list)
        good = good and (len(self.value) >= least if length is None else len(self.value) == length)
        self.require(good, f"a list of {'something' if length is None else length}")
        return [self[n] for n in range(len(self.value))]

    def integers(self, most: int) -> list[int]:
        """Return a list that must hold integers from 0 to ``most``."""
        value = self.value
        good = isinstance(value, list) and set(map(type, value)) <= {int}
        good = good and (not value or (min(value) >= 0 and max(value) <= most))
        self.require(good, f"integers from 0 to {most}")
        return value

    def integer(self, most: int, least: int = 0) -> int:
        """Return an integer in a range."""
        good = type(self.value) is int and least <= self.value <= most
        self.require(good, f"an integer from {least} to {most}")
        return self.value

    def ascending(self, most: int) -> list[int]:
        """Return different integers from 0 to ``most`` that must be in order."""
        self.require(sorted(set(self.integers(most))) == self.value, "ascending indices")
        return self.value

    def text(self) -> str:
        """Return a text, of characters only."""
        good = type(self.value) is str and not re.search("[\ud800-\udfff]", self.value)
        self.require(good, "a text")
        return self.value


def named(name: str) -> str:
    """Return a name as it is printed: quoted unless it is of plain words."""
    return name if re.fullmatch(r"[\w{}-]+( [\w{}-]+)*", name) else repr(name)


class Reader:
    """Reads numbers in some parameters.

    Args:
        given: The parameters.
        seed: Decides the point at which ranks are taken.

    Attributes:
        used: Parameters that have occurred.
    """

    def __init__(self, given: Given, seed: int = 1) -> None:
        names = self.names = [name.text() for name in given.items(least=0)]
        good = all(map(str.isidentifier, names)) and len(set(names)) == len(names)
        given.require(good, "a list of unlike names")
        self.unit: tuple[int, ...] = (0,) * len(names)
        self.one: Poly = {self.unit: 1}
        self.used: set[str] = set()
        self.texts: dict[str, Poly] = {}
        self.where = given.path
        self.point = [seed % (10**9 + n) for n in range(len(names))]
        self.seed = seed

    def constant(self, value: int) -> Ratio:
        """Return an integer."""
        return Ratio({self.unit: value} if value else {}, self.one)

    def poly(self, given: str) -> Poly:
        """Read a polynomial."""
        if given not in self.texts:
            try:
                total = self._parsed(given)
            except (KeyError, ValueError):
                total = None
            good = total is not None and render(total, self.names) == given
            require(good, self.where, f"a number in normal form: {given[:60]}")
            self.texts[given] = total or {}
        return self.texts[given]

    def _parsed(self, given: str) -> Poly:
        total: Poly = {}
        for term in given.split(" + "):
            number, *factors = term.split("*")
            powers = dict.fromkeys(self.names, 0)
            for factor in factors:
                name, power = factor.split("^")
                powers[name] += int(power if len(power) <= len(str(MOST_POWER)) else "")
                self.used.add(name)
            total[tuple(powers.values())] = int(number)
        return {key: value for key, value in total.items() if value}

    def symbol(self, name: str) -> Ratio:
        """Return a parameter."""
        place = self.names.index(name)
        return Ratio({tuple(int(n == place) for n in range(len(self.names))): 1}, self.one)

    def ratio(self, given: Given) -> Ratio:
        """Read a ratio of polynomials, in lowest terms over the integers."""
        self.where = given.path  # for the message where the text is no number
        top, *below = map(self.poly, given.value.split(" / "))
        for bottom in below:
            good = bottom and bottom != self.one and bottom[max(bottom)] > 0
            good = good and top and gcd(*top.values(), *bottom.values()) == 1
            good = good and not (divides(top, bottom) or divides(bottom, top))
            given.require(good, "a number with a denominator above 1, in lowest terms")
        return Ratio(top, *(below or [self.one]))

    def ratios(self, given: Given, length: int | None = None) -> list[Ratio]:
        """Read a list of numbers, of that length if one is given."""
        return [self.ratio(item) for item in given.items(length)]

    def matrix(self, given: Given, rows: int | None = None, columns: int | None = None) -> Matrix:
        """Read a matrix, of that many rows and columns if these are given."""
        v, self.where = given.take("rows columns denominator entries"), given.path
        height, width = v.rows.integer(MOST_ROWS), v.columns.integer(MOST_ROWS)
        given.require(height * width <= MOST_CELLS, f"of at most {MOST_CELLS} places")
        terms: Any = {}
        known: dict[str, Poly] = {}
        last = (-1, -1)
        v.entries.require(isinstance(v.entries.value, list), "a list")
        for i, j, number in v.entries.value:
            good = type(i) is int is type(j) and last < (i, j) and 0 <= j < width and i >= 0
            entry = known[number] = self.poly(number)
            if not good or not entry:
                given.require(False, "ascending places of numbers that are not 0")
            last = (i, j)
            for key, value in entry.items():
                terms.setdefault(key, {}).setdefault(i, {})[j] = value
        below = self.poly(v.denominator.value)
        wanted = height if rows is None else rows, width if columns is None else columns
        good = last < (height, 0) and below and below[max(below)] > 0
        good = good and (height, width) == wanted
        given.require(good, f"a {wanted[0]} x {wanted[1]} matrix, its denominator positive")
        contents = [value for entry in known.values() for value in entry.values()]
        given.require(gcd(*contents, *below.values()) == 1, "in lowest terms")
        return Matrix((height, width), terms, below)

    def at_point(self, polynomial: Poly) -> int:
        """Return a polynomial's value at the point, modulo the prime."""
        return value_at(polynomial, self.point) % PRIME

    def ratio_at_point(self, number: Ratio) -> int:
        """Return a number's value at the point, modulo the prime, where it is finite there."""
        return self.at_point(number.top) * pow(self.at_point(number.below), -1, PRIME) % PRIME

    def exactly_at_point(self, number: Ratio) -> Fraction:
        """Return a number's value at the point, where it is finite there."""
        return Fraction(value_at(number.top, self.point), value_at(number.below, self.point))


class Data(Reader):
    """A dataset, and what the stages of one part of a certificate have learnt of it.

    Args:
        given: The certificate's ``parameters``; ``inputs``: X as written, shape (n_x, P);
            ``targets``: Y, shape (n_y, P).
        seed: Decides the point at which ranks are taken.
    """

    def __init__(self, given: Any, seed: int) -> None:
        super().__init__(given.parameters, seed)
        self.x, self.y = self.matrix(given.inputs), self.matrix(given.targets)
        given.inputs.require(all(self.x.shape), "at least one input and one sample")
        given.targets.require(self.y.shape[0], "at least one output")
        same = self.x.shape[1] == self.y.shape[1]
        given.targets.require(same, "as many samples as inputs")
        self.samples = self.x.shape[1]
        self.per_sample = self.constant(1) / self.samples
        self.symmetries: list[Any] = []
        self.fits: list[Any] = []
        self.loss = self.y.inner(self.y) / (2 * self.samples)

    def drive(self, seen: Matrix) -> Matrix:
        """Return what earlier stages leave of the targets, times samples × columns."""
        learned: list[Part] = [part for fit in self.fits for part in fit(seen)]
        return products([(self.constant(1), self.y, seen, None), *learned])
