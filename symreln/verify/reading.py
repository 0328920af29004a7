"""What the verifier reads: strict JSON, numbers and matrices, each with its one spelling."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterable
from math import gcd
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from .matrices import Matrix, Part, assembled, common_below, products
from .numbers import PRIME, Poly, Ratio, divides, quotient, refused, render, require, value_at

#: Bytes of a file that is read.
MOST_BYTES: Final = 1 << 27
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
            "derivation, or its folder; one that was cut short has none"
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
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        msg = f"the key {next(n for n in names if names.count(n) > 1)!r} stands there twice"
        raise ValueError(msg)
    return found


def _none(name: str) -> None:
    msg = f"{name} is no number"
    raise ValueError(msg)


def digest(value: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: item for key, item in value.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def is_digest(value: Any) -> bool:
    """Whether a value is a SHA-256 in hexadecimal digits."""
    return type(value) is str and re.fullmatch("[0-9a-f]{64}", value) is not None


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


def listed(value: Any, path: str, length: int | None = None) -> Any:
    """Return a list that must hold something, or ``length`` things."""
    good = isinstance(value, list) and (len(value) == length if length is not None else value)
    require(good, path, f"a list of {'something' if length is None else length}")
    return value


def text(value: Any, path: str) -> str:
    """Return a text, of characters only."""
    good = type(value) is str and not re.search("[\ud800-\udfff]", value)
    require(good, path, "a text")
    return value


def named(name: str) -> str:
    """Return a name as it is printed: quoted unless it is of plain words."""
    return name if re.fullmatch(r"[\w{}-]+( [\w{}-]+)*", name) else repr(name)


class Reader:
    """Reads numbers in some parameters.

    Args:
        names: The parameters.
        path: Where they stand.
        seed: Decides the point at which ranks are taken.

    Attributes:
        used: Parameters that have occurred.
        divisors: The only factors that denominators may have, where that is asked; else None.
    """

    def __init__(self, names: Any, path: str, seed: int = 1) -> None:
        good = isinstance(names, list) and all(type(n) is str and n.isidentifier() for n in names)
        require(good and len(set(names)) == len(names), path, "a list of unlike names")
        self.names, self.unit = names, (0,) * len(names)
        self.one = {self.unit: 1}
        self.used: set[str] = set()
        self.texts: dict[str, Poly] = {}
        self.where = path
        self.point = [seed % (10**9 + n) for n in range(len(names))]
        self.divisors: list[Poly] | None = None
        self.needed: set[int] = set()

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

    def ratio(self, given: Any, path: str) -> Ratio:
        """Read a ratio of polynomials, in lowest terms over the integers."""
        self.where = path  # for the message where the text is no number
        top, *below = map(self.poly, given.split(" / "))
        for bottom in below:
            good = bottom and bottom != self.one and bottom[max(bottom)] > 0
            good = good and top and gcd(*top.values(), *bottom.values()) == 1
            good = good and not (divides(top, bottom) or divides(bottom, top))
            require(good, path, "a number with a denominator above 1, in lowest terms")
            self.split(bottom, path)
        return Ratio(top, *(below or [self.one]))

    def split(self, below: Poly, path: str) -> None:
        """Check that a polynomial is a product of divisors and a number, where there are such."""
        for n, factor in enumerate(self.divisors or ()):
            while (rest := quotient(below, factor)) is not None:
                below = rest
                self.needed.add(n)
        good = self.divisors is None or (len(below) == 1 and self.unit in below)
        require(good, path, "a product of divisors")

    def ratios(self, value: Any, path: str, length: int | None = None) -> list[Ratio]:
        """Read a list of numbers, of that length if one is given."""
        return [self.ratio(item, path) for item in listed(value, path, length)]

    def matrix(
        self, value: Any, path: str, rows: int | None = None, columns: int | None = None
    ) -> Matrix:
        """Read a matrix, of that many rows and columns if these are given."""
        v = take(value, path, "rows columns denominator entries")
        self.where = path
        integers([v.rows, v.columns], path, MOST_ROWS)
        require(isinstance(v.entries, list), path, "of a list of entries")
        require(v.rows * v.columns <= MOST_CELLS, path, f"of at most {MOST_CELLS} places")
        terms: Any = {}
        known: dict[str, Poly] = {}
        last, width = (-1, -1), v.columns
        for i, j, given in v.entries:
            good = type(i) is int is type(j) and last < (i, j) and 0 <= j < width and i >= 0
            entry = known.get(given)
            if entry is None:
                entry = known[given] = self.poly(given)
            if not good or not entry:
                require(False, path, "ascending places of numbers that are not 0")
            last = (i, j)
            for key, number in entry.items():
                part = terms.get(key)
                if part is None:
                    part = terms[key] = {}
                if i in part:
                    part[i][j] = number
                else:
                    part[i] = {j: number}
        below = self.poly(v.denominator)
        good = last < (v.rows, 0) and below and below[max(below)] > 0
        good = good and v.rows == (v.rows if rows is None else rows)
        good = good and width == (width if columns is None else columns)
        shape = f"{v.rows if rows is None else rows} x {width if columns is None else columns}"
        require(good, path, f"a {shape} matrix, its denominator positive")
        contents = [number for entry in known.values() for number in entry.values()]
        require(gcd(*contents, *below.values()) == 1, path, "in lowest terms")
        if below != self.one:
            self.split(below, path)
        return Matrix((v.rows, width), terms, below)

    def integer_matrix(self, value: Any, path: str, rows: int, columns: int | None) -> Matrix:
        """Read a matrix of integers."""
        found = self.matrix(value, path, rows, columns)
        require(found.below == self.one and found.terms.keys() <= {self.unit}, path, "of integers")
        return found

    def common(self, below: Iterable[Poly]) -> Poly:
        """Return a common multiple of polynomials."""
        return common_below(below, self.one)

    def assembled(self, entries: dict[tuple[int, int], Ratio], shape: tuple[int, int]) -> Matrix:
        """Return the matrix of these entries."""
        return assembled(entries, shape, self.one)

    def at_point(self, polynomial: Poly) -> int:
        """Return a polynomial's value at the point, modulo the prime."""
        return value_at(polynomial, self.point)

    def ratio_at_point(self, number: Ratio) -> int:
        """Return a number's value at the point, modulo the prime, where it is finite there."""
        return self.at_point(number.top) * pow(self.at_point(number.below), -1, PRIME) % PRIME


class Data(Reader):
    """A dataset, and what the stages of one part of a certificate have learnt of it.

    Args:
        names: Parameters.
        seed: Decides the point at which ranks are taken.
        inputs: X as written, shape (n_x, P).
        targets: Y, shape (n_y, P).
    """

    def __init__(self, names: Any, seed: int, inputs: Any, targets: Any) -> None:
        super().__init__(names, "parameters", seed)
        self.x, self.y = self.matrix(inputs, "inputs"), self.matrix(targets, "targets")
        require(all(self.x.shape), "inputs", "at least one input and one sample")
        require(self.y.shape[0], "targets", "at least one output")
        require(self.x.shape[1] == self.y.shape[1], "targets", "as many samples as inputs")
        self.samples = self.x.shape[1]
        self.per_sample = self.constant(1) / self.samples
        self.symmetries: list[Any] = []
        self.fits: list[Any] = []
        self.loss = self.y.inner(self.y) / (2 * self.samples)

    def afresh(self) -> Data:
        """Return the same data before anything is learnt."""
        found = copy.copy(self)
        found.symmetries, found.fits = [], []
        return found

    def drive(self, seen: Matrix) -> Matrix:
        """Return what earlier stages leave of the targets, times samples × columns."""
        learned: list[Part] = [part for fit in self.fits for part in fit(seen)]
        return products([(self.constant(1), self.y, seen, None), *learned])
