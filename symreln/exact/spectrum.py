"""The joint spectrum of Sigma^{yx} and Sigma^x, exact over Q and over Q(parameters).

With M = (Sigma^{yx})^T Sigma^{yx}, orthonormal U and V with Sigma^{yx} = U S V^T and
Sigma^x = V D V^T exist if and only if M and Sigma^x commute. The modes are the joint
eigenspaces, in classes of conjugates: no normalised vector and no root is held, only spaces,
polynomials and indices of roots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from flint import fmpz_mat

from symreln.base.records import record
from symreln.errors import InputError, LimitReachedError
from symreln.exact import integers, polynomials
from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.blocks import Block, invariant_blocks
from symreln.exact.eigenvalues import EigenvalueFamily, Eigenvalues
from symreln.exact.field import Coefficients, Field, linear
from symreln.exact.linear import coordinates
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, univariate_text

#: Terms of an entry of M Sigma^x up to which its norm and the commutator's are certified: they have
#: ten times as many, and the certificate is checked in Python.
_MOST_TERMS = 1000


@record
class Operator:
    """T = weight_m·M + weight_x·Sigma^x, taken at a parameter point where ``at`` has entries.

    Where neither M nor Sigma^x tells modes apart, T is a matrix of its own.

    Attributes:
        weight_m: Weight of M.
        weight_x: Weight of Sigma^x, often 0.
        at: Parameter values; empty, or one for every parameter.
        matrix: T itself where it is no such sum; the weights are not used then.
    """

    weight_m: Scalar
    weight_x: Scalar
    at: tuple[tuple[str, Fraction], ...] = ()
    matrix: ExactMatrix | None = None

    @property
    def is_sum(self) -> bool:
        """Whether T is a sum of M and Sigma^x for all parameters."""
        return not self.at and self.matrix is None


@record(eq=False)
class ModeClass:
    """Modes that are conjugate: one for every root theta of an irreducible polynomial.

    Attributes:
        minpoly: f, irreducible over Q(parameters), coefficients low to high: polynomials over Z,
            primitive, positive leading coefficient. Degree k.
        eigenvalue: lambda(theta) = s^2 as coefficients of 1, theta, …, theta^{k-1}.
        d: d(theta) in the same form, where Sigma^x is scalar on the mode; None where it is not.
        multiplicity: m, the dimension of each mode's space.
        generators: n_x × m. With T, the columns w_i span the class as {T^j w_i : j < k}.
        operator: T.
        is_rest: Whether it is all that is orthogonal to the other classes, with s = 0 and one d.
    """

    minpoly: Coefficients
    eigenvalue: Coefficients
    d: Coefficients | None
    multiplicity: int
    generators: ExactMatrix
    operator: Operator
    is_rest: bool = False

    @property
    def degree(self) -> int:
        """k, the number of conjugate modes."""
        return len(self.minpoly) - 1

    @property
    def dimension(self) -> int:
        """Dimension of the invariant space, k·m."""
        return self.degree * self.multiplicity

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return all(coefficient.is_zero for coefficient in self.eigenvalue)

    def number(
        self, coefficients: Coefficients, root: int, *, is_sqrt: bool = False
    ) -> AlgebraicNumber:
        """Return an element of the class's field at one root theta, or its square root."""
        return AlgebraicNumber(
            minpoly=self.minpoly, coefficients=coefficients, root=root, is_sqrt=is_sqrt
        )

    def __repr__(self) -> str:
        polynomial = univariate_text([value.numerator for value in self.minpoly], "theta")
        return f"ModeClass({polynomial} = 0, multiplicity {self.multiplicity})"


@record(eq=False)
class Mode:
    """One mode: a root of a class.

    Attributes:
        mode_class: The class.
        root: Index of the root theta among the real roots of f, ascending, from 0.
        s: Singular value of Sigma^{yx}, not negative.
        d: Matching eigenvalue of Sigma^x; None where Sigma^x is not scalar on the mode's space.
        multiplicity: m.
    """

    mode_class: ModeClass
    root: int
    s: AlgebraicNumber
    d: AlgebraicNumber | None
    multiplicity: int

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return self.mode_class.is_null

    def __repr__(self) -> str:
        return f"Mode(s = {self.s.to_sympy()}, multiplicity {self.multiplicity})"


@record
class Commutator:
    """Why M and Sigma^x do not commute.

    Attributes:
        row: Row of the first non-zero entry of M Sigma^x - Sigma^x M, in reading order, from 0.
        column: Its column.
        value: The entry.
        relative_norm_squared: ‖[M, Sigma^x]‖_F² / ‖M Sigma^x‖_F².
    """

    row: int
    column: int
    value: Scalar
    relative_norm_squared: Scalar


@record(eq=False)
class JointSpectrum:
    """Joint eigenspaces of M and Sigma^x, or eigenspaces of M where they do not commute.

    Attributes:
        sigma_yx: n_y × n_x.
        sigma_x: n_x × n_x.
        commutator: None where M and Sigma^x commute, the witness where they do not.
        classes: The conjugacy classes of modes.
        values: Parameter values at which the modes are ordered.
    """

    sigma_yx: ExactMatrix
    sigma_x: ExactMatrix
    commutator: Commutator | None
    classes: tuple[ModeClass, ...]
    values: Mapping[str, Fraction]

    @property
    def commutes(self) -> bool:
        """Whether Sigma^{yx} and Sigma^x share right singular vectors."""
        return self.commutator is None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.sigma_x.parameters

    @property
    def n_x(self) -> int:
        """The number of inputs."""
        return self.sigma_x.shape[0]

    @cached_property
    def m(self) -> ExactMatrix:
        """M = (Sigma^{yx})^T Sigma^{yx}."""
        return self.sigma_yx.gram

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """All modes, s descending, then d descending, null modes last.

        The order is that at ``values``; a parameter without a value takes 1 + 1/(2 + index), a
        point with no meaning other than that it is fixed. There all do where s or d is infinite at
        ``values``.
        """
        modes = [
            Mode(
                mode_class=c,
                root=root,
                s=c.number(c.eigenvalue, root, is_sqrt=True),
                d=None if c.d is None else c.number(c.d, root),
                multiplicity=c.multiplicity,
            )
            for c in self.classes
            for root in range(c.degree)
        ]
        try:
            return _ordered(modes, ordering_point(self.parameters, self.values))
        except ZeroDivisionError:
            return _ordered(modes, ordering_point(self.parameters, {}))

    def operator_matrix(self, mode_class: ModeClass) -> ExactMatrix:
        """Return T of a class."""
        operator = mode_class.operator
        if operator.matrix is not None:
            return operator.matrix
        at = dict(operator.at)
        total = self.m.substitute(at).scale(operator.weight_m)
        if not operator.weight_x.is_zero:
            total = total + self.sigma_x.substitute(at).scale(operator.weight_x)
        return total.reduced()

    def krylov(
        self, mode_class: ModeClass, length: int, first: ExactMatrix | None = None
    ) -> list[ExactMatrix]:
        """Return w, T w, …, ``length`` of them, for a class's generators w or what is first."""
        start = mode_class.generators if first is None else first
        if length == 1:
            return [start]
        operator = self.operator_matrix(mode_class)
        return integers.iterated(lambda word: (operator @ word).reduced(), start, length)

    def spanning(self, mode_class: ModeClass) -> list[list[Coefficients]]:
        """Return columns over a class's field that are a basis of its mode of a root theta.

        For theta of degree k they are Σ_j c_j(theta) T^j w, with f(x)/(x - theta) = Σ c_j x^j, for
        the generators w: (T - theta) maps them to f(T) w = 0.
        """
        field, degree = Field(mode_class.minpoly), mode_class.degree
        weights = [field.constant(1)]
        if degree > 1:
            weights = [field.reduce(mode_class.minpoly[j + 1 :]) for j in range(degree)]
        zero = field.constant(0)
        found = [[zero] * self.n_x for _ in range(mode_class.multiplicity)]
        for word, weight in zip(self.krylov(mode_class, degree), weights, strict=True):
            for row, column, value in word.nonzero():
                own = field.scale(weight, value)
                known = found[column][row]
                found[column][row] = own if known is zero else field.add(known, own)
        return found

    def __repr__(self) -> str:
        found = "commutes" if self.commutes else "does not commute"
        n_y, n_x = self.sigma_yx.shape
        names = f"({', '.join(self.parameters)})" if self.parameters else ""
        modes = sum(mode_class.degree for mode_class in self.classes)
        return f"JointSpectrum(sigma_yx {n_y}×{n_x} over Q{names}, {found}, {modes} modes)"


def ordering_point(
    parameters: tuple[str, ...], values: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Return the parameter values that order the modes."""
    return {
        name: Fraction(values.get(name, 1 + Fraction(1, 2 + index)))
        for index, name in enumerate(parameters)
    }


def _ordered(modes: list[Mode], point: Mapping[str, Fraction]) -> tuple[Mode, ...]:
    return tuple(sorted(modes, key=lambda mode: _order(mode, point)))


def _order(mode: Mode, point: Mapping[str, Fraction]) -> tuple:
    key = () if mode.d is None else (order_key(mode.d, point),)
    return (mode.is_null, order_key(mode.s, point), *key)


def joint_spectrum(
    sigma_yx: ExactMatrix,
    sigma_x: ExactMatrix,
    values: Mapping[str, Fraction] | None = None,
) -> JointSpectrum:
    """Return the joint spectrum of Sigma^{yx} and Sigma^x.

    Args:
        sigma_yx: n_y × n_x, exact.
        sigma_x: n_x × n_x, exact, symmetric.
        values: Parameter values at which the modes are put in order.

    Raises:
        InputError: The shapes do not fit or sigma_x is not symmetric.
    """
    size = sigma_x.shape[0]
    if sigma_x.shape != (size, size) or sigma_yx.shape[1] != size or size == 0:
        msg = (
            f"joint spectrum: sigma_yx has shape {sigma_yx.shape} and sigma_x {sigma_x.shape}; "
            "needed are (n_y, n_x) and (n_x, n_x) with n_x >= 1"
        )
        raise InputError(msg)
    yx, x = sigma_yx.aligned(sigma_x)
    yx, x = yx.reduced(), x.reduced()
    if not (x - x.T).is_zero:
        msg = "joint spectrum: sigma_x is not symmetric; give X X^T / P"
        raise InputError(msg)
    witness = _commutator(yx, x)
    classes = None
    if yx.shape[0] < size and not yx.is_zero:
        classes = _from_outputs(yx, x, with_x=witness is None)
    if classes is None:
        classes = _classes(_primitive(yx.gram), _primitive(x), with_x=witness is None)
    if sum(item.dimension for item in classes) != size:
        msg = "the multiplicities do not add up to the number of inputs"
        raise ArithmeticError(msg)
    return JointSpectrum(
        sigma_yx=yx,
        sigma_x=x,
        commutator=witness,
        classes=classes,
        values=dict(values or {}),
    )


def _commutator(a: ExactMatrix, x: ExactMatrix) -> Commutator | None:
    """Return why M = AᵀA and symmetric Sigma^x do not commute, or None.

    Raises:
        LimitReachedError: They do not, and their product has too many terms.
    """
    short = a.shape[0] < a.shape[1]
    forward = a.T @ (a @ x) if short else a.gram @ x
    difference = forward - forward.T  # (M X)^T = X M, both being symmetric
    return None if difference.is_zero else _witness(forward, difference)


def _witness(forward: ExactMatrix, difference: ExactMatrix) -> Commutator:
    if len(forward.terms) > _MOST_TERMS:
        msg = (
            f"Sigma^yx^T Sigma^yx Sigma^x has entries of up to {len(forward.terms)} terms in "
            f"{len(forward.parameters)} parameters and is not symmetric, and {_MOST_TERMS} are the "
            "most of which the commutator is certified. Give some of the parameters as "
            "numbers, or take data and gains of a lower degree"
        )
        raise LimitReachedError(msg)
    row, column, value = next(difference.nonzero())
    norm = difference.frobenius(difference) / forward.frobenius(forward)
    return Commutator(row=row, column=column, value=value, relative_norm_squared=norm)


#: A polynomial matrix over Z without a common integer factor, and what it is to be multiplied by.
_Scaled = tuple[ExactMatrix, Scalar]


def _primitive(matrix: ExactMatrix) -> _Scaled:
    common = matrix.content() or 1
    return matrix.divided(common, 1), Scalar(matrix.parameters, common, matrix.denominator)


def _classes(m: _Scaled, x: _Scaled, *, with_x: bool) -> tuple[ModeClass, ...]:
    names, size = m[0].parameters, m[0].shape[0]
    matrices: list[fmpz_mat] = []
    index: list[dict[tuple[int, ...], int]] = []
    for matrix, _ in [m, x] if with_x else [m]:
        index.append({key: len(matrices) + place for place, key in enumerate(matrix.terms)})
        matrices += [part.flint for part in matrix.terms.values()]
    family = EigenvalueFamily(
        parameters=names,
        m=index[0],
        x=index[1] if with_x else None,
        zeros=(m[1].denominator, x[1].denominator),
    )
    generic = None if names or m[0].is_zero else 0
    return _merged(
        [
            _mode_class(values, block, (m[1], x[1]))
            for block in invariant_blocks(matrices or [fmpz_mat(size, size)], generic)
            for values in family.solve(block)
        ]
    )


def _from_outputs(yx: ExactMatrix, x: ExactMatrix, *, with_x: bool) -> tuple[ModeClass, ...] | None:
    r"""Return the classes from matrices of the outputs' size, which is less, or None.

    With A for Sigma^{yx}, :math:`A A^T u = \lambda u` gives :math:`M (A^T u) = \lambda A^T u`, and
    where M and Sigma^x commute, :math:`A \Sigma^x A^T u = \lambda d\, u` gives d. What is
    orthogonal to these vectors is the kernel of A. Sigma^x is a number d there if the trace and the
    square's trace that are left are d and d² for each dimension; else all is done among inputs.
    """
    size, names, back = yx.shape[1], yx.parameters, yx.T
    classes: list[ModeClass] = []
    for c in _classes(_primitive(yx @ back), _primitive(yx @ x @ back), with_x=with_x):
        if c.is_null:
            continue
        if c.degree > 1 and not (c.operator.is_sum and c.operator.weight_x.is_zero):
            return None
        field = Field(c.minpoly)
        d = None if c.d is None else field.multiply(c.d, field.inverse(c.eigenvalue))
        columns = map(polynomials.primitive, (back @ c.generators).T.numerators())
        shape, entries = (c.multiplicity, size), [entry for column in columns for entry in column]
        generators = ExactMatrix.of_polynomials(shape, names, entries).T
        classes.append(replace(c, d=d, generators=generators))
    left = size - sum(c.dimension for c in classes)  # > 0: fewer outputs than inputs
    zero, d = Scalar(names, 0), None
    if with_x:
        d = _left(x.trace(), classes, 1) / left
        if _left(x.frobenius(x), classes, 2) != d * d * left:
            return None
    rest = ModeClass(
        minpoly=linear(zero),
        eigenvalue=(zero,),
        d=None if d is None else (d,),
        multiplicity=left,
        generators=ExactMatrix((size, left), names, lambda: _kernel(yx).terms),
        operator=Operator(weight_m=Scalar(names, 1), weight_x=zero),
        is_rest=True,
    )
    return (*classes, rest)


def _kernel(matrix: ExactMatrix) -> ExactMatrix:
    """Return columns that span the kernel over Q(parameters)."""
    if matrix.is_constant:
        return ExactMatrix.from_integers(
            integers.kernel(matrix.integers()[0]), 1, matrix.parameters
        )
    chosen = polynomials.independent_rows(matrix.numerators())
    others = sorted(set(range(matrix.shape[1])) - set(chosen))
    found = coordinates(matrix.select(columns=chosen), matrix.select(columns=others))
    assert found is not None  # the chosen columns are a basis of all
    shape, every = (matrix.shape[1], len(others)), range(len(others))
    one = ExactMatrix.identity(len(others), matrix.parameters)
    return (found.placed(chosen, every, shape) - one.placed(others, every, shape)).reduced()


def _left(total: Scalar, classes: Iterable[ModeClass], power: int) -> Scalar:
    """Return a trace of a power of Sigma^x less what the classes have of it."""
    for item in classes:
        assert item.d is not None
        field = Field(item.minpoly)
        own = item.d if power == 1 else field.multiply(item.d, item.d)
        total = total - field.trace(own) * item.multiplicity
    return total


def _mode_class(values: Eigenvalues, block: Block, scales: Sequence[Scalar]) -> ModeClass:
    """Return the class of a block's joint eigenvalues, each matrix multiplied by its scale."""
    names = scales[0].parameters
    one, zero = Scalar(names, 1), Scalar(names, 0)
    eigenvalue = tuple(value * scales[0] for value in values.eigenvalue)
    minpoly, operator = values.minpoly, Operator(weight_m=one, weight_x=zero)
    if len(eigenvalue) == 1:  # T = M, whatever told spaces apart
        minpoly = linear(eigenvalue[0])
    else:
        at = tuple((n, Fraction(v)) for n, v in zip(names, values.at, strict=False))
        weights = (1 / scales[0], values.t / scales[1] if values.t else zero)
        m, x = (Scalar.of(weight.substitute(dict(at)), names) for weight in weights)
        operator = Operator(weight_m=m, weight_x=x, at=at)
    generators = ExactMatrix.from_integers(block.basis[0], 1, names)
    if block.size > 1:
        words = integers.stack_columns(block.basis, generators.shape[0])
        copies = values.vectors.repeated(block.copies)
        generators = ExactMatrix.from_integers(words, 1, names) @ copies
    return ModeClass(
        minpoly=minpoly,
        eigenvalue=eigenvalue,
        d=None if values.d is None else tuple(value * scales[1] for value in values.d),
        multiplicity=generators.shape[1],
        generators=generators,
        operator=operator,
    )


def _merged(classes: list[ModeClass]) -> tuple[ModeClass, ...]:
    """Join classes that hold the same modes in unlike blocks."""
    table: dict[tuple, list[ModeClass]] = {}
    for item in classes:
        at = item.operator.at
        key = (item.minpoly, item.eigenvalue, item.d, item.operator.weight_x, at)
        table.setdefault(key, []).append(item)
    result = []
    for group in table.values():
        first = group[0]
        if len(group) > 1:
            generators = ExactMatrix.beside([item.generators for item in group])
            first = replace(first, generators=generators, multiplicity=generators.shape[1])
        result.append(first)
    return tuple(result)
