"""Projectors on conjugate modes, exact in Q(parameters)(theta)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.exact.field import Field
from symreln.exact.linear import conjugate_projectors, subspace_projector
from symreln.exact.matrix import ExactMatrix
from symreln.exact.modes import JointSpectrum, ModeClass
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import joint_spectrum
from tests.strategies import parametric_pair, random_pair

Parts = tuple[ExactMatrix, ...]


def product(field: Field, a: Parts, b: Parts) -> Parts:
    """(Σ theta^i A_i)(Σ theta^j B_j) over the field."""
    size = field.degree
    total = [ExactMatrix.zeros(*a[0].shape, a[0].parameters) for _ in range(size)]
    zero, one = Scalar(field.parameters, 0), Scalar(field.parameters, 1)
    for i in range(size):
        for j in range(size):
            weights = field.reduce([zero] * (i + j) + [one])
            if a[i].is_zero or b[j].is_zero:
                continue
            part = (a[i] @ b[j]).reduced()
            total = [t + part.scale(w) for t, w in zip(total, weights, strict=True)]
    return tuple(total)


def check(spectrum: JointSpectrum, mode_class: ModeClass) -> None:
    """P² = P, T P = theta P, and the sum over all roots is the projector on the class."""
    parts = conjugate_projectors(spectrum, mode_class)
    field = Field(mode_class.minpoly)
    degree = field.degree
    assert len(parts) == degree
    nothing = ExactMatrix.zeros(*parts[0].shape, parts[0].parameters)
    assert product(field, parts, parts) == parts
    assert all(part == part.T for part in parts)
    operator = spectrum.operator_matrix(mode_class)
    constant = (operator, *[nothing] * (degree - 1))
    zero, one = Scalar(field.parameters, 0), Scalar(field.parameters, 1)
    # theta as an element: for degree 1 it is a number of the ground field.
    theta = field.reduce([zero, one])
    scaled = tuple(ExactMatrix.identity(spectrum.n_x, spectrum.parameters).scale(w) for w in theta)
    assert product(field, constant, parts) == product(field, scaled, parts)
    whole = nothing
    for power, part in enumerate(parts):
        whole = whole + part.scale(field.trace(field.reduce([zero] * power + [one])))
    words = [mode_class.generators]
    while len(words) < degree:
        words.append(operator @ words[-1])
    assert whole == subspace_projector(ExactMatrix.beside(words))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 400))
def test_projectors_over_number_fields(seed: int) -> None:
    pair = random_pair(seed)
    spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
    for mode_class in spectrum.classes:
        if mode_class.degree <= 4:
            check(spectrum, mode_class)


@pytest.mark.parametrize("seed", range(0, 36))
def test_projectors_with_parameters(seed: int) -> None:
    pair = parametric_pair(seed)
    spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
    for mode_class in spectrum.classes:
        if mode_class.degree * mode_class.multiplicity <= 2:
            check(spectrum, mode_class)


def test_the_golden_ratio() -> None:
    """M = [[2, 1], [1, 1]] has the eigenvector (phi, 1) at phi²."""
    spectrum = joint_spectrum(ExactMatrix.from_rows([[1, 1], [1, 0]]), ExactMatrix.identity(2))
    parts = conjugate_projectors(spectrum, spectrum.classes[0])
    theta = (3 + sp.sqrt(5)) / 2
    found = parts[0].to_sympy() + theta * parts[1].to_sympy()
    v = sp.Matrix([(1 + sp.sqrt(5)) / 2, 1])
    assert (found * (v.T * v)[0] - v * v.T).applyfunc(sp.expand) == sp.zeros(2, 2)


def test_against_float_vectors() -> None:
    pair = random_pair(11)
    spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
    checked = 0
    for mode, (_, _, v) in zip(spectrum.modes, spectrum.numpy_modes(), strict=True):
        parts = conjugate_projectors(spectrum, mode.mode_class)
        minpoly = [float(c.to_fraction()) for c in reversed(mode.mode_class.minpoly)]
        theta = sorted(np.roots(minpoly).real)[mode.root]
        total = sum(theta**i * part.to_numpy() for i, part in enumerate(parts))
        assert np.abs(total - v @ v.T).max() < 1e-7  # np.roots is the weaker side
        checked += mode.mode_class.degree > 1
    assert checked
