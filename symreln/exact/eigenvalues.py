"""Joint eigenvalues and eigenvectors of M and Sigma^x inside one invariant block.

Every joint eigenvalue pair is expressed through one operator T = M + t·Sigma^x whose minimal
polynomial f is irreducible: lambda = lambda(theta), d = d(theta) for the roots theta of f. The
smallest integer t that works is taken. Where everything on the block commutes, T is taken at a
point and the eigenvectors are constant; otherwise all of it is done over Q(parameters).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from math import lcm, prod

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat, fmpz_mpoly

from symreln.base.records import record
from symreln.exact import integers, polynomials
from symreln.exact.blocks import Block
from symreln.exact.field import Coefficients, Field, irreducible_factors
from symreln.exact.linear import characteristic, coordinates, evaluate
from symreln.exact.matrix import ExactMatrix, Exponents
from symreln.exact.scalar import Scalar, polynomial_ring


@record
class EigenvalueFamily:
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

    def solve(self, block: Block) -> list[Eigenvalues]:
        """Return the joint eigenvalues of one block."""
        found = _constant(block, self)
        if found is None:
            found = _parametric(block, self)
        return [_through_m(each) if each.t and not each.at else each for each in found]


@record
class Eigenvalues:
    """The roots of one irreducible polynomial, with their eigenvectors in a block.

    Attributes:
        minpoly: f of T, coefficients low to high, polynomials over Z.
        t: T = M + t·Sigma^x.
        at: The point at which T is taken, where eigenvectors do not depend on the parameters;
            empty for T itself.
        eigenvalue: lambda(theta), low to high, padded to the degree of f.
        d: d(theta), or None.
        vectors: Coordinates of the generators over the block's words, in columns.
    """

    minpoly: Coefficients
    t: int = 0
    at: tuple[int, ...] = ()
    eigenvalue: Coefficients
    d: Coefficients | None
    vectors: ExactMatrix


def _combined(
    values: Sequence[Sequence[fmpq]], index: Mapping[Exponents, int], names: tuple[str, ...]
) -> Coefficients:
    """Return Σ monomial·value for every power of theta."""
    ring, result = polynomial_ring(names), []
    for power in range(len(values[0])):
        at = {key: values[place][power] for key, place in index.items()}
        common = lcm(*(int(value.q) for value in at.values()))
        top = ring.from_dict({key: (value * common).p for key, value in at.items()})
        result.append(Scalar(names, top, common))
    return tuple(result)


def _through_m(values: Eigenvalues) -> Eigenvalues:
    """Return the same eigenvalues with T = M where M alone generates their field.

    A block may need t > 0 to come apart though single classes of it do not; one form for all
    makes equal classes of unlike blocks equal.
    """
    names, field = values.minpoly[0].parameters, Field(values.minpoly)
    minpoly = field.minimal_polynomial(values.eigenvalue)
    if len(minpoly) != len(values.minpoly) or values.d is None:
        return values
    one, own = field.constant(1), values.eigenvalue
    powers = integers.iterated(lambda power: field.multiply(power, own), one, field.degree)
    # Coordinates of d over 1, lambda, lambda², …: they are independent, so it has them.
    found = coordinates(
        ExactMatrix.from_rows(powers, names).T, ExactMatrix.from_rows([values.d], names).T
    )
    assert found is not None
    d = tuple(row[0] for row in found.rows())
    return replace(values, minpoly=minpoly, t=0, eigenvalue=Field(minpoly).theta, d=d)


# -- blocks on which everything commutes: eigenvectors are constant ------------------------------


def _constant(block: Block, family: EigenvalueFamily) -> list[Eigenvalues] | None:
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


def _points(block: Block, family: EigenvalueFamily) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (t, point) where no denominator vanishes, small ones first: they keep numbers short.

    They leave every algebraic set on which N(N-1)/2 factors of the degree of T and the
    denominators can vanish, whatever its shape.
    """
    names, first = len(family.parameters), int(family.x is None)
    of_m = max((sum(key) for key in family.m), default=0)
    of_x = 0 if family.x is None else 1 + max((sum(key) for key in family.x), default=0)
    degree = block.size * (block.size - 1) // 2 * max(of_m, of_x)
    degree += sum(int(polynomial.total_degree()) for polynomial in family.zeros)
    # A polynomial of this total degree that vanishes at all whole numbers >= 0 of such a sum is
    # zero: by induction over their number and the degree, it vanishes where the last is 0, so that
    # the last variable divides it, and the quotient, of one degree less, vanishes at the rest,
    # moved by 1.
    for total in range(degree + 1):
        for raised in reversed([*combinations_with_replacement(range(first, names + 1), total)]):
            t, *shifts = map(raised.count, range(names + 1))
            point = tuple(2 + index + shift for index, shift in enumerate(shifts))
            if all(polynomial(*point) != 0 for polynomial in family.zeros):
                yield t, point


def _at_point(block: Block, family: EigenvalueFamily, t: int, point: tuple[int, ...]) -> fmpq_mat:
    total = fmpq_mat(block.size, block.size)
    for index, factor in ((family.m, 1), (family.x or {}, t)):
        for exponents, place in index.items():
            weight = factor * prod(map(pow, point, exponents))
            if weight:
                total = total + block.actions[place] * fmpq(weight)
    return total


def _split(
    operator: fmpq_mat, block: Block, family: EigenvalueFamily, t: int, point: tuple[int, ...]
) -> list[Eigenvalues] | None:
    """Split by the factors of T's characteristic polynomial; None where T generates too little.

    T commutes with the family, so h(T) v = c v on a generator v extends to all T^j v.
    """
    result: list[Eigenvalues] = []
    for factor, exponent in integers.integer_factors(operator.charpoly().numer()):
        degree = factor.degree()
        if degree == block.size:
            vectors = integers.select_columns(integers.identity(block.size), [0])
        else:
            numerator, _ = integers.of_matrix(factor, operator).numer_denom()
            vectors = _generators(integers.kernel(numerator), operator, degree, exponent)
        values = _as_polynomials(operator, block.actions, vectors, degree)
        if values is None:
            return None
        names = family.parameters
        result.append(
            Eigenvalues(
                minpoly=tuple(Scalar(names, int(c)) for c in factor.coeffs()),
                t=t,
                at=point,
                eigenvalue=_combined(values, family.m, names),
                d=None if family.x is None else _combined(values, family.x, names),
                vectors=ExactMatrix.from_integers(vectors, 1, names),
            )
        )
    return result


def _krylov(matrix: fmpz_mat, vector: fmpz_mat, length: int) -> list[fmpz_mat]:
    """Return [vector, matrix·vector, …], ``length`` of them."""
    return integers.iterated(lambda word: matrix * word, vector, length)


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
        trial = integers.stack_columns([filled, *_krylov(numerator, seed, degree)], height)
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
    numerator, scale = operator.numer_denom()
    height = vectors.nrows()
    first = integers.select_columns(vectors, [0])
    basis = integers.stack_columns(_krylov(numerator, first, degree), height)
    for action in actions:
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


# -- blocks whose eigenvectors depend on the parameters -------------------------------------------


def _parametric(block: Block, family: EigenvalueFamily) -> list[Eigenvalues]:
    """Return the joint eigenvalues of a block over Q(parameters)."""
    m = block.combined(family.m, family.parameters)
    x = None if family.x is None else block.combined(family.x, family.parameters)
    # Two joint eigenvalues coincide under T for at most one t, so the search ends.
    for t in range(block.size**2 + 1):
        found = _parametric_split(m, x, t)
        if found is not None:
            return found
    msg = "no operator M + t·Sigma^x tells the joint eigenvalues of a block apart"
    raise ArithmeticError(msg)


def _parametric_split(m: ExactMatrix, x: ExactMatrix | None, t: int) -> list[Eigenvalues] | None:
    operator = m + x.scale(t) if t and x is not None else m
    result: list[Eigenvalues] = []
    factors = irreducible_factors(characteristic(operator))
    for place, (factor, exponent) in enumerate(factors):
        degree = len(factor) - 1
        image = ExactMatrix.identity(m.shape[0], m.parameters)
        for rest, power in (*factors[:place], *factors[place + 1 :]):
            for _ in range(power):
                image = evaluate(rest, operator, image)
        spaces = _krylov_spaces(operator, image, degree, exponent)
        # T's eigenvalue; M = T - t·Sigma^x, so that Sigma^x is enough.
        eigenvalue, d = Field(factor).theta, None
        if x is not None:
            d = _as_polynomial(x, spaces)
            if d is None:
                return None
            eigenvalue = tuple(a - b * t for a, b in zip(eigenvalue, d, strict=True))
        result.append(
            Eigenvalues(
                minpoly=factor,
                t=t,
                eigenvalue=eigenvalue,
                d=d,
                vectors=ExactMatrix.beside([space.select(columns=[0]) for space in spaces]),
            )
        )
    return result


def _krylov_spaces(
    operator: ExactMatrix, image: ExactMatrix, degree: int, wanted: int
) -> list[ExactMatrix]:
    """Return (v, T v, …) for columns v of the image, primitive, that generate it."""
    names, height = image.parameters, image.shape[0]
    spaces = []
    for column in image.T.numerators():
        if any(not entry.is_zero() for entry in column):
            entries = polynomials.primitive(column)
            word = ExactMatrix.of_polynomials((height, 1), names, entries)
            words = integers.iterated(lambda each: operator @ each, word, degree)
            spaces.append(ExactMatrix.beside(words))
    # At one point dependent vectors are told at once; where too few seem independent, exactly.
    for rows in (polynomials.rows_at_point, polynomials.independent_rows):
        chosen: list[ExactMatrix] = []
        filled: polynomials.Table = []
        for space in spaces:
            trial = [*filled, *space.T.numerators()]
            if len(rows(trial)) == len(trial):
                chosen.append(space)
                filled = trial
            if len(chosen) == wanted:
                return chosen
    msg = "the kernel of a factor is smaller than its multiplicity"
    raise ArithmeticError(msg)


def _as_polynomial(action: ExactMatrix, spaces: Sequence[ExactMatrix]) -> Coefficients | None:
    """Return h with action = h(T) on every generator, low to high; None where there is none."""
    answer: Coefficients | None = None
    value, width = action.entry(0, 0), spaces[0].shape[1]
    if action == ExactMatrix.identity(action.shape[0], action.parameters).scale(value):
        return (value, *[value * 0] * (width - 1))  # as Sigma^x of one-hot inputs: nothing to solve
    for space in spaces:
        found = coordinates(space, action @ space.select(columns=[0]))
        if found is None:
            return None
        h = tuple(row[0] for row in found.rows())
        if answer is not None and h != answer:
            return None
        answer = h
    return answer
