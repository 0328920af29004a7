"""Joint eigenvalues in a block whose eigenvectors depend on the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpz, fmpz_mpoly

from symreln.exact import polynomials
from symreln.exact.eigenclasses import Coefficients, Eigenvalues, Exponents, Family
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.exact.blocks import Block


def parametric(block: Block, family: Family) -> list[Eigenvalues]:
    """Return the joint eigenvalues of a block over Q(parameters)."""
    scale = 1
    for action in block.actions:
        scale = int(fmpz(scale).lcm(action.numer_denom()[1]))
    m = _table(block, family.m, scale, family.parameters)
    x = None if family.x is None else _table(block, family.x, scale, family.parameters)
    # Two joint eigenvalues coincide under T for at most one t, so the search ends.
    for t in range(block.size**2 + 1):
        found = _parametric_split(m, x, t, scale, family)
        if found is not None:
            return found
    msg = "no operator M + t·Sigma^x tells the joint eigenvalues of a block apart"
    raise ArithmeticError(msg)


def _table(
    block: Block, index: Mapping[Exponents, int], scale: int, parameters: tuple[str, ...]
) -> polynomials.Table:
    ring = polynomial_ring(parameters)
    size = range(block.size)
    return [
        [
            ring.from_dict(
                {key: (block.actions[place][i, j] * scale).p for key, place in index.items()}
            )
            for j in size
        ]
        for i in size
    ]


def _parametric_split(
    m: polynomials.Table, x: polynomials.Table | None, t: int, scale: int, family: Family
) -> list[Eigenvalues] | None:
    one = polynomial_ring(family.parameters).constant(1)
    operator = m
    if t and x is not None:
        operator = [
            [a + b * t for a, b in zip(left, right, strict=True)]
            for left, right in zip(m, x, strict=True)
        ]
    whole = polynomials.characteristic(operator, family.parameters)
    result: list[Eigenvalues] = []
    factors = polynomials.factor_univariate(whole, family.parameters)
    for place, (factor, exponent) in enumerate(factors):
        others = [one]
        for other, (rest, power) in enumerate(factors):
            for _ in range(power if other != place else 0):
                others = polynomials.multiply(others, rest)
        degree = len(factor) - 1
        vectors = _parametric_vectors(operator, factor, others, exponent)
        values = _parametric_values(operator, m, x, vectors, degree, scale, t, family)
        if values is None:
            return None
        eigenvalue, d = values
        minpoly: Sequence[fmpz_mpoly] = (
            (-eigenvalue[0].numerator, eigenvalue[0].denominator)
            if degree == 1
            else _unscaled(factor, scale, family.parameters)
        )
        result.append(
            Eigenvalues(
                minpoly=tuple(minpoly),
                t=0 if degree == 1 else t,
                at=None,
                eigenvalue=eigenvalue,
                d=d,
                vectors=tuple(tuple(vector) for vector in vectors),
            )
        )
    return result


def _unscaled(
    factor: Sequence[fmpz_mpoly], scale: int, parameters: tuple[str, ...]
) -> list[fmpz_mpoly]:
    """Return f(scale·x), primitive: the polynomial of T where ``factor`` is that of scale·T."""
    powers = [coefficient * scale**power for power, coefficient in enumerate(factor)]
    return polynomials.primitive(powers)


def _parametric_vectors(
    operator: polynomials.Table,
    factor: Sequence[fmpz_mpoly],
    others: Sequence[fmpz_mpoly],
    wanted: int,
) -> list[list[fmpz_mpoly]]:
    """Return generators of the kernel of factor(T), as images of the other factors."""
    size = len(operator)
    degree = len(factor) - 1
    one = factor[0] * 0 + 1
    zero = factor[0] * 0
    images = []
    for index in range(size):
        unit = [one if i == index else zero for i in range(size)]
        vector = polynomials.evaluate_on_vector(others, operator, unit)
        if any(not entry.is_zero() for entry in vector):
            images.append(polynomials.primitive(vector))
    # At one point dependent vectors are told at once; where too few seem independent, exactly.
    for rows in (polynomials.rows_at_point, polynomials.independent_rows):
        chosen: list[list[fmpz_mpoly]] = []
        filled: list[list[fmpz_mpoly]] = []
        for vector in images:
            trial = [*filled, *_krylov(operator, vector, degree)]
            if len(rows(trial)) == len(trial):
                chosen.append(vector)
                filled = trial
            if len(chosen) == wanted:
                return chosen
    msg = "the kernel of a factor is smaller than its multiplicity"
    raise ArithmeticError(msg)


def _krylov(
    operator: polynomials.Table, vector: Sequence[fmpz_mpoly], length: int
) -> list[list[fmpz_mpoly]]:
    words = [list(vector)]
    while len(words) < length:
        words.append(polynomials.apply(operator, words[-1]))
    return words


def _parametric_values(
    operator: polynomials.Table,
    m: polynomials.Table,
    x: polynomials.Table | None,
    vectors: Sequence[Sequence[fmpz_mpoly]],
    degree: int,
    scale: int,
    t: int,
    family: Family,
) -> tuple[Coefficients, Coefficients | None] | None:
    """Return lambda(theta) and d(theta), the same for every generator, or None."""
    # M = T - t·Sigma^x, so one member is enough; with t = 0 and degree > 1 it is x.
    theta = tuple(Scalar(family.parameters, int(power == 1)) for power in range(degree))
    if x is None and degree > 1:
        return theta, None
    member = m if x is None else x
    answer: list[Scalar] | None = None
    for vector in vectors:
        target = polynomials.apply(member, vector)
        found = polynomials.solve(_krylov(operator, vector, degree), [target], family.parameters)
        if found is None or (answer is not None and found[0] != answer):
            return None
        answer = found[0]
    assert answer is not None
    # The block's tables are scale·M and scale·Sigma^x, so T^j carries scale^j.
    values = tuple(value * scale**power / scale for power, value in enumerate(answer))
    if x is None:
        return values, None
    if degree == 1:
        moved = polynomials.solve(
            [vectors[0]], [polynomials.apply(m, vectors[0])], family.parameters
        )
        if moved is None:
            return None
        eigenvalue = (moved[0][0] / scale,)
        for vector in vectors[1:]:
            other = polynomials.solve([vector], [polynomials.apply(m, vector)], family.parameters)
            if other is None or other[0][0] / scale != eigenvalue[0]:
                return None
        return eigenvalue, values
    return tuple(a - b * t for a, b in zip(theta, values, strict=True)), values
