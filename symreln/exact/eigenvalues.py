"""Joint eigenvalues and eigenvectors of M and Sigma^x inside one invariant block.

Every joint eigenvalue pair is expressed through one operator T = M + t·Sigma^x whose minimal
polynomial f is irreducible: lambda = lambda(theta), d = d(theta) for the roots theta of f. The
smallest integer t that works is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat, fmpz_mpoly

from symreln.exact import integers, polynomials
from symreln.exact.field import Field, solve
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.exact.blocks import Block

Exponents = tuple[int, ...]
Coefficients = tuple[Scalar, ...]


@dataclass(frozen=True, kw_only=True)
class Family:
    """The coefficient matrices of M and Sigma^x, as indices into one list of integer matrices.

    Attributes:
        parameters: Names of the parameters.
        m: Index of M's coefficient matrix for every monomial.
        x: The same for Sigma^x; None where only M is decomposed.
        zeros: Polynomials that must not vanish where T is taken at a point.
    """

    parameters: tuple[str, ...]
    m: Mapping[Exponents, int]
    x: Mapping[Exponents, int] | None
    zeros: tuple[fmpz_mpoly, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Eigenvalues:
    """The roots of one irreducible polynomial, with their eigenvectors in a block.

    Attributes:
        minpoly: f, coefficients low to high, polynomials over Z.
        t: T = M + t·Sigma^x.
        at: The point at which T is taken, where eigenvectors do not depend on the parameters;
            None for T itself.
        eigenvalue: lambda(theta), low to high, padded to the degree of f.
        d: d(theta), or None.
        vectors: Coordinates of the generators over the block's words.
    """

    minpoly: tuple[fmpz_mpoly, ...]
    t: int
    at: tuple[int, ...] | None
    eigenvalue: Coefficients
    d: Coefficients | None
    vectors: tuple[tuple[fmpz_mpoly, ...], ...]


def solve_block(block: Block, family: Family) -> list[Eigenvalues]:
    """Return the joint eigenvalues of one block."""
    if block.size == 1:
        one = polynomial_ring(family.parameters).constant(1)
        values = [[action[0, 0]] for action in block.actions]
        return [_linear(values, ((one,),), family)]
    found = _constant(block, family)
    if found is None:
        found = _parametric(block, family)
    return [_through_m(values) for values in found]


def _through_m(values: Eigenvalues) -> Eigenvalues:
    """Return the same eigenvalues with T = M where M alone generates their field.

    A block may need t > 0 to come apart though single classes of it do not; one form for all
    makes equal classes of unlike blocks equal.
    """
    if values.t == 0 or values.at is not None:
        return values
    names = values.eigenvalue[0].parameters
    field = Field([Scalar(names, coefficient) for coefficient in values.minpoly])
    minpoly = field.minimal_polynomial(values.eigenvalue)
    if len(minpoly) != len(values.minpoly):
        return values
    zero, one = Scalar(names, 0), Scalar(names, 1)
    powers = [field.constant(1)]
    while len(powers) < field.degree:
        powers.append(field.multiply(powers[-1], values.eigenvalue))
    # Coordinates of d over 1, lambda, lambda², …: a linear system over the ground field.
    ground = Field((zero, one))
    matrix = [[(power[row],) for power in powers] for row in range(field.degree)]
    assert values.d is not None
    found = solve(ground, matrix, [[(value,)] for value in values.d])
    return replace(
        values,
        minpoly=tuple(coefficient.numerator for coefficient in minpoly),
        t=0,
        eigenvalue=tuple(one if power == 1 else zero for power in range(field.degree)),
        d=tuple(row[0][0] for row in found),
    )


def _combine(
    values: Sequence[fmpq], index: Mapping[Exponents, int], parameters: tuple[str, ...]
) -> Scalar:
    """Return Σ monomial · value."""
    common = 1
    for place in index.values():
        common = int(fmpz(common).lcm(values[place].q))
    ring = polynomial_ring(parameters)
    top = ring.from_dict({key: (values[place] * common).p for key, place in index.items()})
    return Scalar(parameters, top, common)


def _rows(
    values: Sequence[Sequence[fmpq]], index: Mapping[Exponents, int], family: Family
) -> Coefficients:
    degree = len(values[0])
    return tuple(
        _combine([value[power] for value in values], index, family.parameters)
        for power in range(degree)
    )


def _linear(
    values: Sequence[Sequence[fmpq]], vectors: tuple[tuple[fmpz_mpoly, ...], ...], family: Family
) -> Eigenvalues:
    """Return a rational eigenvalue; T = M then, whatever told the spaces apart."""
    eigenvalue = _rows(values, family.m, family)
    return Eigenvalues(
        minpoly=(-eigenvalue[0].numerator, eigenvalue[0].denominator),
        t=0,
        at=None,
        eigenvalue=eigenvalue,
        d=None if family.x is None else _rows(values, family.x, family),
        vectors=vectors,
    )


# -- blocks on which everything commutes: eigenvectors are constant ------------------------------


def _constant(block: Block, family: Family) -> list[Eigenvalues] | None:
    for attempt in count():
        point = _point(family, attempt)
        for t in (attempt,) if not family.parameters else (0, attempt):
            if t and family.x is None and not family.parameters:
                break
            operator = _at_point(block, family, t, point)
            if any(operator * action != action * operator for action in block.actions):
                return None
            found = _split(operator, block, family, t, point)
            if found is not None:
                return found
    raise AssertionError  # the attempts are endless


def _point(family: Family, attempt: int) -> tuple[int, ...]:
    """Return a small point where no denominator vanishes; small keeps the numbers short."""
    names = len(family.parameters)
    for shift in count(attempt):
        point = tuple(2 + index + shift for index in range(names))
        if all(polynomial(*point) != 0 for polynomial in family.zeros):
            return point
    raise AssertionError


def _at_point(block: Block, family: Family, t: int, point: tuple[int, ...]) -> fmpq_mat:
    total = fmpq_mat(block.size, block.size)
    for index, factor in ((family.m, 1), (family.x or {}, t)):
        for exponents, place in index.items():
            weight = fmpz(factor)
            for base, exponent in zip(point, exponents, strict=True):
                weight *= fmpz(base) ** exponent
            if weight:
                total = total + block.actions[place] * fmpq(weight)
    return total


def _split(
    operator: fmpq_mat, block: Block, family: Family, t: int, point: tuple[int, ...]
) -> list[Eigenvalues] | None:
    """Split by the factors of T's characteristic polynomial; None where T generates too little.

    T commutes with the family, so h(T) v = c v on a generator v extends to all T^j v.
    """
    ring = polynomial_ring(family.parameters)
    result: list[Eigenvalues] = []
    for factor, exponent in integers.integer_factors(operator.charpoly().numer()):
        degree = factor.degree()
        if degree == block.size:
            vectors = integers.select_columns(integers.identity(block.size), [0])
        else:
            numerator, _ = integers.of_rational_matrix(factor, operator).numer_denom()
            vectors = _generators(integers.kernel(numerator), operator, degree, exponent)
        values = _as_polynomials(operator, block.actions, vectors, degree)
        if values is None:
            return None
        lifted = tuple(
            tuple(ring.constant(entry) for entry in column)
            for column in integers.columns_of(vectors)
        )
        if degree == 1:
            result.append(_linear(values, lifted, family))
            continue
        result.append(
            Eigenvalues(
                minpoly=tuple(ring.constant(c) for c in factor.coeffs()),
                t=t,
                at=point if family.parameters else None,
                eigenvalue=_rows(values, family.m, family),
                d=None if family.x is None else _rows(values, family.x, family),
                vectors=lifted,
            )
        )
    return result


def _generators(space: fmpz_mat, operator: fmpq_mat, degree: int, wanted: int) -> fmpz_mat:
    """Return vectors of an invariant space whose Krylov spaces fill it."""
    if degree == 1:
        return space
    numerator, _ = operator.numer_denom()
    height = space.nrows()
    chosen: list[list[fmpz]] = []
    filled = fmpz_mat(height, 0)
    for column in integers.columns_of(space):
        seed = integers.from_columns([column], height)
        trial = integers.stack_columns([filled, *integers.krylov(numerator, seed, degree)], height)
        if integers.rank_modulo_prime(trial) == trial.ncols():
            chosen.append(column)
            filled = trial
        if len(chosen) == wanted:
            break
    return integers.from_columns(chosen, height)


def _as_polynomials(
    operator: fmpq_mat, actions: Sequence[fmpq_mat], vectors: fmpz_mat, degree: int
) -> list[list[fmpq]] | None:
    """Return for every action c its h with c = h(T) on the vectors, coefficients low to high."""
    result: list[list[fmpq]] = []
    basis: fmpz_mat | None = None
    numerator, scale = operator.numer_denom()
    height = vectors.nrows()
    first = integers.select_columns(vectors, [0])
    for action in actions:
        h = _at_sight(operator, action, degree)
        if h is None:
            if basis is None:
                basis = integers.stack_columns(integers.krylov(numerator, first, degree), height)
            top, bottom = action.numer_denom()
            found = integers.coordinates(basis, top * first)
            if found is None:
                return None
            h = [found[power, 0] * fmpq(scale) ** power / fmpq(bottom) for power in range(degree)]
            if vectors.ncols() > 1:
                image = fmpq_mat(height, vectors.ncols())
                for coefficient in reversed(h):
                    image = operator * image + fmpq_mat(vectors) * coefficient
                if image != action * fmpq_mat(vectors):
                    return None
        result.append(h)
    return result


def _at_sight(operator: fmpq_mat, action: fmpq_mat, degree: int) -> list[fmpq] | None:
    """Return h with action = h(T) where the action is a number or T itself, else None.

    Powers of T on a vector, which decide in general, are as long as their exponents are high.
    """
    zeros = [fmpq(0)] * (degree - 1)
    if degree > 1 and action == operator:
        return [fmpq(0), fmpq(1), *zeros[1:]]
    value = action[0, 0]
    if action == fmpq_mat(integers.identity(action.nrows())) * value:
        return [value, *zeros]
    return None


# -- blocks whose eigenvectors depend on the parameters -------------------------------------------


def _parametric(block: Block, family: Family) -> list[Eigenvalues]:
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
    chosen: list[list[fmpz_mpoly]] = []
    filled: list[list[fmpz_mpoly]] = []
    for index in range(size):
        unit = [one if i == index else zero for i in range(size)]
        vector = polynomials.evaluate_on_vector(others, operator, unit)
        if all(entry.is_zero() for entry in vector):
            continue
        vector = polynomials.primitive(vector)
        trial = [*filled, *_krylov(operator, vector, degree)]
        if len(polynomials.independent_rows(trial)) == len(trial):
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
