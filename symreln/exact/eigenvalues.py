"""Joint eigenvalues and eigenvectors of M and Sigma^x inside one invariant block.

Every joint eigenvalue pair is expressed through one operator T = M + t·Sigma^x whose minimal
polynomial f is irreducible: lambda = lambda(theta), d = d(theta) for the roots theta of f. The
smallest integer t that works is taken.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from symreln.exact import integers, polynomials
from symreln.exact.eigenclasses import Eigenvalues, Family, linear, rows
from symreln.exact.field import Field, solve
from symreln.exact.parametric import parametric
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symreln.exact.blocks import Block


def solve_block(block: Block, family: Family) -> list[Eigenvalues]:
    """Return the joint eigenvalues of one block."""
    if block.size == 1:
        one = polynomial_ring(family.parameters).constant(1)
        values = [[action[0, 0]] for action in block.actions]
        return [linear(values, ((one,),), family)]
    found = _constant(block, family)
    if found is None:
        found = parametric(block, family)
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


# -- blocks on which everything commutes: eigenvectors are constant ------------------------------


def _constant(block: Block, family: Family) -> list[Eigenvalues] | None:
    """Return the joint eigenvalues where all actions commute, else None.

    Ends: commuting symmetric actions have at most N joint eigenvalues, any two of which differ in
    a coefficient of M or of Sigma^x. Their values of T = M + t·Sigma^x differ by a polynomial in
    the parameters and t that is not zero, and of no higher degree than T. Where none of these
    N(N-1)/2 polynomials vanishes, T generates the algebra of the actions and :func:`_split`
    succeeds. Their product has a point where it does not vanish among those of
    :func:`_points`.
    """
    for t, point in _points(block, family):
        operator = _at_point(block, family, t, point)
        if any(operator * action != action * operator for action in block.actions):
            return None
        found = _split(operator, block, family, t, point)
        if found is not None:
            return found
        if any(a * b != b * a for a, b in combinations(block.actions, 2)):
            return None
    msg = "no operator M + t·Sigma^x at any point tells the joint eigenvalues of a block apart"
    raise ArithmeticError(msg)


def _points(block: Block, family: Family) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (t, point) where no denominator vanishes, small ones first: they keep numbers short.

    They leave every algebraic set on which N(N-1)/2 factors of the degree of T and the
    denominators can vanish, whatever its shape.
    """
    names = len(family.parameters)
    of_m = max((sum(key) for key in family.m), default=0)
    of_x = 0 if family.x is None else 1 + max((sum(key) for key in family.x), default=0)
    degree = block.size * (block.size - 1) // 2 * max(of_m, of_x)
    degree += sum(int(polynomial.total_degree()) for polynomial in family.zeros)
    free = names + (family.x is not None)
    for shifts in polynomials.lattice(free, degree):
        t, *rest = shifts if family.x is not None else (0, *shifts)
        point = tuple(2 + index + shift for index, shift in enumerate(rest))
        if all(polynomial(*point) != 0 for polynomial in family.zeros):
            yield t, point


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
            result.append(linear(values, lifted, family))
            continue
        result.append(
            Eigenvalues(
                minpoly=tuple(ring.constant(c) for c in factor.coeffs()),
                t=t,
                at=point if family.parameters else None,
                eigenvalue=rows(values, family.m, family),
                d=None if family.x is None else rows(values, family.x, family),
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
        if integers.independent(trial):
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
