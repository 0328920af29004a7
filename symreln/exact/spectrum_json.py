"""The classes of a joint spectrum as JSON, and back: nothing that is read is believed.

Integers are hexadecimal texts: decimal ones of many digits take quadratic time. A spectrum that was
read is made of numbers that :func:`_check_spectrum` has put into their equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import fmpz, fmpz_mat, fmpz_mpoly

from symreln.exact.field import irreducible_factors
from symreln.exact.integer_matrix import IntegerMatrix
from symreln.exact.linear import evaluate, rank
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.exact.spectrum import JointSpectrum, ModeClass, Operator, commutator_of

Json = Any


def classes_to_json(spectrum: JointSpectrum) -> Json:
    """Return everything about the classes, exactly."""
    return {
        "parameters": list(spectrum.parameters),
        "classes": [_class_to_json(mode_class) for mode_class in spectrum.classes],
    }


def spectrum_from_json(
    content: Json,
    sigma_yx: ExactMatrix,
    sigma_x: ExactMatrix,
    values: Mapping[str, Fraction],
) -> JointSpectrum:
    """Return the spectrum of two correlations whose classes were written before, proven anew.

    Args:
        content: What :func:`classes_to_json` returned.
        sigma_yx: n_y × n_x, exact.
        sigma_x: n_x × n_x, exact, symmetric, over the same parameters.
        values: Parameter values at which the modes are put in order.

    Raises:
        ValueError: The content is malformed, or is not the spectrum of these correlations.
    """
    names = sigma_x.parameters
    try:
        if tuple(content["parameters"]) != names:
            msg = "it has other parameters"
            raise ValueError(msg)
        classes = tuple(_class_from_json(item, names) for item in content["classes"])
        spectrum = JointSpectrum(
            sigma_yx=sigma_yx,
            sigma_x=sigma_x,
            commutator=commutator_of(sigma_yx.T @ sigma_yx, sigma_x),
            classes=classes,
            values=dict(values),
        )
        _check_spectrum(spectrum)
    except (KeyError, TypeError, IndexError, AttributeError, ArithmeticError) as error:
        msg = f"it is malformed ({type(error).__name__}: {error})"
        raise ValueError(msg) from error
    return spectrum


def _check_spectrum(spectrum: JointSpectrum) -> None:
    """Check a spectrum by its equations, as the head of :mod:`symreln.verifier.stages` says.

    Every class: f is irreducible, f(T) W = 0, M V = lambda(T) V and, where they commute,
    Sigma^x V = d(T) V for the words V = (W, T W, …); all V together are a basis.

    Raises:
        ValueError: One of these does not hold.
    """
    spaces = []
    for mode_class in spectrum.classes:
        _require((mode_class.d is not None) == spectrum.commutes, "d is there where it means much")
        _check_class(mode_class, len(spectrum.parameters), spectrum.n_x)
        t, words = spectrum.operator_matrix(mode_class), [mode_class.generators]
        _require(evaluate(mode_class.minpoly, t, words[0]).is_zero, "f(T) W = 0")
        while len(words) < mode_class.degree:
            words.append((t @ words[-1]).reduced())
        v = ExactMatrix.beside(words)
        _require(spectrum.m @ v == evaluate(mode_class.eigenvalue, t, v), "M V = lambda(T) V")
        if mode_class.d is not None:
            holds = spectrum.sigma_x @ v == evaluate(mode_class.d, t, v)
            _require(holds, "Sigma^x V = d(T) V")
        spaces.append(v)
    _require(sum(v.shape[1] for v in spaces) == spectrum.n_x, "the classes fill the space")
    _require(rank(ExactMatrix.beside(spaces)) == spectrum.n_x, "the classes are independent")


def _require(holds: bool, what: str) -> None:
    if not holds:
        msg = f"this does not hold in it: {what}"
        raise ValueError(msg)


def _check_class(mode_class: ModeClass, parameters: int, size: int) -> None:
    degree = mode_class.degree
    lengths = {len(mode_class.eigenvalue), len(mode_class.d or mode_class.eigenvalue)}
    _require(degree >= 1 and lengths == {degree}, "lambda and d have degree below that of f")
    _require(mode_class.generators.shape == (size, mode_class.multiplicity), "W has its shape")
    _require(not mode_class.minpoly[-1].is_zero, "f has its degree")
    names = {name for name, _ in mode_class.operator.at}
    _require(not names or len(names) == parameters, "T is taken at a whole point")
    if degree > 1:
        factors = [f for f, _ in irreducible_factors(mode_class.minpoly)]
        _require(len(factors) == 1 and len(factors[0]) == degree + 1, "f is irreducible")


# -- forms ----------------------------------------------------------------------------------------


def _class_to_json(mode_class: ModeClass) -> Json:
    operator = mode_class.operator
    return {
        "minpoly": [_scalar_to_json(c) for c in mode_class.minpoly],
        "eigenvalue": [_scalar_to_json(c) for c in mode_class.eigenvalue],
        "d": None if mode_class.d is None else [_scalar_to_json(c) for c in mode_class.d],
        "generators": _matrix_to_json(mode_class.generators),
        "operator": {
            "weight_m": _scalar_to_json(operator.weight_m),
            "weight_x": _scalar_to_json(operator.weight_x),
            "at": [[name, str(value)] for name, value in operator.at],
        },
    }


def _class_from_json(item: Json, names: tuple[str, ...]) -> ModeClass:
    operator = item["operator"]
    generators = _matrix_from_json(item["generators"], names)
    return ModeClass(
        minpoly=_scalars(item["minpoly"], names),
        eigenvalue=_scalars(item["eigenvalue"], names),
        d=None if item["d"] is None else _scalars(item["d"], names),
        multiplicity=generators.shape[1],
        generators=generators,
        operator=Operator(
            weight_m=_scalar_from_json(operator["weight_m"], names),
            weight_x=_scalar_from_json(operator["weight_x"], names),
            at=tuple((str(name), Fraction(value)) for name, value in operator["at"]),
        ),
    )


def _scalars(items: Json, names: tuple[str, ...]) -> tuple[Scalar, ...]:
    return tuple(_scalar_from_json(item, names) for item in items)


def _scalar_to_json(value: Scalar) -> Json:
    return [_polynomial_to_json(value.numerator), _polynomial_to_json(value.denominator)]


def _scalar_from_json(item: Json, names: tuple[str, ...]) -> Scalar:
    top, bottom = item
    return Scalar(names, _polynomial_from_json(top, names), _polynomial_from_json(bottom, names))


def _polynomial_to_json(polynomial: fmpz_mpoly) -> Json:
    return [[[int(e) for e in key], hex(int(c))] for key, c in polynomial.to_dict().items()]


def _polynomial_from_json(item: Json, names: tuple[str, ...]) -> fmpz_mpoly:
    return polynomial_ring(names).from_dict({_exponents(k, names): int(c, 16) for k, c in item})


def _exponents(key: Json, names: tuple[str, ...]) -> tuple[int, ...]:
    if len(key) != len(names) or not all(isinstance(e, int) and e >= 0 for e in key):
        msg = "exponents do not fit the parameters"
        raise ValueError(msg)
    return tuple(key)


def _matrix_to_json(matrix: ExactMatrix) -> Json:
    """Return a matrix sparsely: places in reading order, and the integers there."""
    terms = []
    for key, part in matrix.terms.items():
        found = [(place, hex(int(v))) for place, v in enumerate(part.flint.entries()) if v]
        terms.append([list(key), [place for place, _ in found], [text for _, text in found]])
    return {
        "shape": list(matrix.shape),
        "terms": terms,
        "denominator": _polynomial_to_json(matrix.denominator),
    }


def _matrix_from_json(item: Json, names: tuple[str, ...]) -> ExactMatrix:
    rows, columns = (int(length) for length in item["shape"])
    if not (0 < rows <= 1 << 16 and 0 < columns <= rows):
        msg = "a matrix of an impossible shape"
        raise ValueError(msg)
    terms = {}
    for key, places, texts in item["terms"]:
        flat = [fmpz(0)] * (rows * columns)
        for place, text in zip(places, texts, strict=True):
            flat[place] = fmpz(int(text, 16))
        terms[_exponents(key, names)] = IntegerMatrix.of_flint(fmpz_mat(rows, columns, flat))
    denominator = _polynomial_from_json(item["denominator"], names)
    return ExactMatrix((rows, columns), names, terms, denominator)
