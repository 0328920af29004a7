"""Random exact data with known answers, shared by the tests.

Built on :class:`random.Random`, so that a failing case is named by its seed; hypothesis
strategies draw the seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TypeVar

from flint import fmpq, fmpq_mat
from hypothesis import settings
from hypothesis import strategies as st

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar

seeds = st.integers(min_value=0, max_value=2**32)


#: Whether campaigns are run in full; daily it is a tenth of them.
FULL = os.environ.get("SYMRELN_EXAMPLES") == "full"
Case = TypeVar("Case")


def examples(full: int) -> settings:
    """Return the settings of a campaign: a tenth daily, all with SYMRELN_EXAMPLES=full."""
    return settings(max_examples=full if FULL else full // 10, deadline=None)


def share(cases: Iterable[Case], random: Random) -> list[Case]:
    """Return the cases of a campaign: a tenth daily, forty at least, in their order."""
    every = list(cases)
    if FULL or len(every) <= 40:
        return every
    kept = random.sample(range(len(every)), max(40, len(every) // 10))
    return [every[place] for place in sorted(kept)]


@dataclass(frozen=True)
class Pair:
    """Sigma^{yx} and Sigma^x, with what is known about them.

    Attributes:
        kind: How it was made.
        sigma_yx: n_y × n_x.
        sigma_x: n_x × n_x.
        commutes: Whether they have a joint eigenbasis by construction; None where it is open.
        known: The joint eigenvalues {(s², d): multiplicity} where they are rational and known.
    """

    kind: str
    sigma_yx: ExactMatrix
    sigma_x: ExactMatrix
    commutes: bool | None = None
    known: dict[tuple[Fraction, Fraction], int] | None = None


def exact(matrix: fmpq_mat) -> ExactMatrix:
    numerator, denominator = matrix.numer_denom()
    return ExactMatrix.from_integers(numerator, int(denominator))


def rational_matrix(random: Random, rows: int, columns: int, size: int = 3) -> fmpq_mat:
    bottom = random.choice([1, 1, 2, 3, 6])
    entries = [fmpq(random.randint(-size, size), bottom) for _ in range(rows * columns)]
    return fmpq_mat(rows, columns, entries)


def identity(size: int) -> fmpq_mat:
    return diagonal([Fraction(1)] * size)


def diagonal(entries: list[Fraction]) -> fmpq_mat:
    size = len(entries)
    flat = [fmpq(0)] * (size * size)
    for i, value in enumerate(entries):
        flat[i * size + i] = fmpq(value.numerator, value.denominator)
    return fmpq_mat(size, size, flat)


def orthogonal(random: Random, size: int) -> fmpq_mat:
    """A rational orthogonal matrix: (1 - A)(1 + A)^{-1} with A antisymmetric (Cayley)."""
    flat = [fmpq(0)] * (size * size)
    for i in range(size):
        for j in range(i):
            value = fmpq(random.choice([0, 0, 1, -1, 2]), random.choice([1, 2, 3]))
            flat[i * size + j], flat[j * size + i] = value, -value
    a = fmpq_mat(size, size, flat)
    one = identity(size)
    return (one - a) * (one + a).inv()


def rectangle(entries: list[Fraction], rows: int, columns: int) -> fmpq_mat:
    flat = [fmpq(0)] * (rows * columns)
    for i, value in enumerate(entries[: min(rows, columns)]):
        flat[i * columns + i] = fmpq(value.numerator, value.denominator)
    return fmpq_mat(rows, columns, flat)


def known_pair(random: Random, size: int) -> Pair:
    """U S V^T and V D V^T with rational s, d that repeat often."""
    rows = random.randint(1, 8)
    s = [Fraction(random.choice([0, 0, 1, 1, 2, 3]), random.choice([1, 1, 2])) for _ in range(size)]
    d = [Fraction(random.choice([0, 1, 1, 2, 5]), random.choice([1, 1, 3])) for _ in range(size)]
    s = [value if i < rows else Fraction(0) for i, value in enumerate(s)]
    v, u = orthogonal(random, size), orthogonal(random, rows)
    known: dict[tuple[Fraction, Fraction], int] = {}
    for pair in zip([x * x for x in s], d, strict=True):
        known[pair] = known.get(pair, 0) + 1
    yx = u * rectangle(s, rows, size) * v.transpose()
    return Pair("known", exact(yx), exact(v * diagonal(d) * v.transpose()), True, known)


def dataset_pair(random: Random, size: int) -> Pair:
    """Correlations of a random dataset; often P < n_x, gated and masked."""
    samples, outputs = random.randint(1, 9), random.randint(1, 4)
    x, y = rational_matrix(random, size, samples, 1), rational_matrix(random, outputs, samples, 1)
    gate = diagonal([Fraction(random.randint(0, 1)) for _ in range(samples)])
    mask = diagonal([Fraction(random.choice([0, 1, 1])) for _ in range(size)])
    x = mask * x * gate
    scale = fmpq(1, samples)
    return Pair("dataset", exact(y * x.transpose() * scale), exact(x * x.transpose() * scale))


def white_pair(random: Random, size: int) -> Pair:
    """White inputs: any Sigma^{yx} commutes with a multiple of the identity."""
    yx = rational_matrix(random, random.randint(1, 8), size, 2)
    return Pair("white", exact(yx), exact(identity(size) * fmpq(1, random.randint(1, 5))), True)


def polynomial_pair(random: Random, size: int) -> Pair:
    """Sigma^x is a square of a polynomial in M, so they commute with irrational eigenvalues."""
    yx = rational_matrix(random, random.randint(1, size + 1), size, 1)
    m = yx.transpose() * yx
    one = identity(size)
    root = m * fmpq(random.randint(0, 2), 3) + one * fmpq(random.randint(-2, 2), 2)
    return Pair("polynomial", exact(yx), exact(root * root), True)


def shared_s_pair(random: Random, size: int) -> Pair:
    """M is a multiple of a projector; Sigma^x is any matrix that respects it: equal s, many d."""
    v = orthogonal(random, size)
    rank = random.randint(0, size)
    yx = rectangle([Fraction(2)] * rank, size, size) * v.transpose()
    left = rational_matrix(random, rank, rank, 1)
    right = rational_matrix(random, size - rank, size - rank, 1)
    parts = exact(left * left.transpose()), exact(right * right.transpose())
    return Pair("shared s", exact(yx), exact(v) @ _beside(*parts) @ exact(v).T, True)


def generic_pair(random: Random, size: int) -> Pair:
    """Two unrelated matrices; they hardly ever commute."""
    root = rational_matrix(random, size, size, 2)
    yx = rational_matrix(random, random.randint(1, 8), size, 2)
    return Pair("generic", exact(yx), exact(root * root.transpose()))


def copies_pair(random: Random, size: int) -> Pair:
    """Two copies of one commuting pair side by side, mixed by an orthogonal matrix."""
    half = max(1, size // 2)
    yx = rational_matrix(random, half, half, 1)
    m = yx.transpose() * yx
    x = m * m + identity(half) * fmpq(1, 2)
    yx, x, v = exact(yx), exact(x), exact(orthogonal(random, 2 * half))
    return Pair("copies", _beside(yx, yx) @ v.T, v @ _beside(x, x) @ v.T, True)


def zero_pair(random: Random, size: int) -> Pair:
    root = rational_matrix(random, size, size, 1)
    zero = ExactMatrix.zeros(random.randint(1, 3), size)
    if random.random() < 0.5:
        return Pair("zero targets", zero, exact(root * root.transpose()), True)
    return Pair("zero inputs", zero, ExactMatrix.zeros(size, size), True)


MAKERS = (
    known_pair, dataset_pair, white_pair, polynomial_pair, shared_s_pair, generic_pair, copies_pair,
    zero_pair,
)  # fmt: skip


def random_pair(seed: int) -> Pair:
    """One pair of every kind in turn, sizes 1 to 8."""
    random = Random(seed)
    maker = MAKERS[seed % len(MAKERS)]
    # Small sizes more often: they hit the edge cases (1 × 1, rank 0) and are quick.
    return maker(random, min(random.randint(1, 8), random.randint(1, 8)))


# -- with parameters ------------------------------------------------------------------------------


def polynomial(random: Random, names: tuple[str, ...], degree: int = 1) -> Scalar:
    """A small polynomial in the parameters."""
    total = Scalar(names, random.choice([-2, -1, 0, 1, 2]))
    for name in names:
        for power in range(1, degree + 1):
            total += Scalar.symbol(name, names) ** power * random.choice([-1, 0, 0, 1, 2])
    return total


def parametric_matrix(
    random: Random, rows: int, columns: int, names: tuple[str, ...], density: float = 0.7
) -> ExactMatrix:
    table = [
        [polynomial(random, names) if random.random() < density else 0 for _ in range(columns)]
        for _ in range(rows)
    ]
    return ExactMatrix.from_rows(table, names, columns)


def parametric_pair(seed: int) -> Pair:
    """A pair over Q(c) or Q(a, b), of six kinds in turn."""
    random = Random(seed)
    kind = ("known", "polynomial", "copies", "dataset", "generic", "shared s")[seed % 6]
    names = ("c",) if random.random() < 0.7 else ("a", "b")
    size = random.randint(1, 4 if len(names) == 1 else 3)
    one = ExactMatrix.identity(size, names)
    if kind == "known":
        v = exact(orthogonal(random, size)).promoted(names)
        s = [polynomial(random, names) for _ in range(size)]
        d = [polynomial(random, names) ** 2 for _ in range(size)]
        yx = _diagonal(s, names) @ v.T
        return Pair(kind, yx, v @ _diagonal(d, names) @ v.T, True)
    if kind == "shared s":
        v = exact(orthogonal(random, size)).promoted(names)
        scale = polynomial(random, names)
        root = parametric_matrix(random, size, size, names)
        return Pair(kind, v.T.scale(scale), root @ root.T, True)
    yx = parametric_matrix(random, random.randint(1, size), size, names)
    if kind == "generic":
        root = parametric_matrix(random, size, size, names)
        return Pair(kind, yx, root @ root.T)
    if kind == "dataset":
        x = parametric_matrix(random, size, random.randint(1, 4), names, density=0.4)
        y = parametric_matrix(random, 2, x.shape[1], names, density=0.5)
        return Pair(kind, y @ x.T, x @ x.T)
    m = yx.T @ yx
    root = m.scale(Fraction(random.randint(0, 2), 3)) + one.scale(polynomial(random, names))
    x = root @ root
    if kind == "polynomial":
        return Pair(kind, yx, x, True)
    size = min(size, 2)
    yx, x = yx.select(columns=range(size)), None
    m = yx.T @ yx
    x = m @ m + ExactMatrix.identity(size, names)
    v = exact(orthogonal(random, 2 * size)).promoted(names)
    return Pair(kind, _beside(yx, yx) @ v.T, v @ _beside(x, x) @ v.T, True)


def _diagonal(entries: list[Scalar], names: tuple[str, ...]) -> ExactMatrix:
    rows = [[x if i == j else Scalar(names, 0) for j in range(len(entries))]
            for i, x in enumerate(entries)]  # fmt: skip
    return ExactMatrix.from_rows(rows, names)


def _beside(one: ExactMatrix, other: ExactMatrix) -> ExactMatrix:
    """Two blocks on the diagonal."""
    (m, n), (p, q) = one.shape, other.shape
    first = one.placed(range(m), range(n), (m + p, n + q))
    return first + other.placed(range(m, m + p), range(n, n + q), (m + p, n + q))


def rational_point(random: Random, names: tuple[str, ...]) -> dict[str, Fraction]:
    return {name: Fraction(random.randint(-7, 7), random.choice([1, 2, 3, 5])) for name in names}
