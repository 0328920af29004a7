"""The joint spectrum: known answers, exact identities, parametric against numeric."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy as sp

from symreln.exact.linear import evaluate, rank, right_inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.numeric import numpy_modes
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from tests.strategies import parametric_pair, random_pair, rational_point

# -- known answers --------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [(), ("c",)])
def test_classes_that_only_sigma_x_separates_are_written_through_m(names: tuple) -> None:
    """Two copies of an irrational pair with unlike d, mixed: T = M suffices for each of them."""
    scale = Scalar.symbol("c", names) if names else 1
    small = ExactMatrix.from_rows([[scale, 1], [0, 1]], names)
    twice = small.placed([0, 1], [0, 1], (4, 4)) + small.placed([2, 3], [2, 3], (4, 4))
    mix = ExactMatrix.from_rows([[3, 0, 4, 0], [0, 3, 0, 4], [-4, 0, 3, 0], [0, -4, 0, 3]]).scale(
        Fraction(1, 5)
    )
    spectrum = joint_spectrum(
        twice @ mix.promoted(names),
        mix.T @ ExactMatrix.from_entries((4, 4), range(4), range(4), [1, 1, 2, 2]) @ mix,
    )
    assert spectrum.commutes
    assert [(c.degree, c.multiplicity) for c in spectrum.classes] == [(2, 1), (2, 1)]
    assert sorted(str(c.d[0]) for c in spectrum.classes) == ["1", "2"]
    assert all(c.operator.weight_x.is_zero and c.d[1].is_zero for c in spectrum.classes)
    assert spectrum.classes[0].minpoly == spectrum.classes[1].minpoly


# -- exact identities -----------------------------------------------------------------------------


def class_words(spectrum: JointSpectrum, place: int) -> ExactMatrix:
    """A basis (W, T W, …) of the space of all conjugate modes of a class."""
    mode_class = spectrum.classes[place]
    words = [mode_class.generators]
    while len(words) < mode_class.degree:
        words.append(spectrum.operator_matrix(mode_class) @ words[-1])
    return ExactMatrix.beside(words)


def check_identities(spectrum: JointSpectrum) -> int:
    """Σ P = 1; f(T) V = 0, M V = λ(T) V, Sigma^x V = d(T) V; U S Vᵀ = Sigma^{yx}."""
    words = [class_words(spectrum, place) for place in range(len(spectrum.classes))]
    projectors = [basis @ right_inverse(basis) for basis in words]
    total = sum(projectors[1:], projectors[0])
    assert total == ExactMatrix.identity(spectrum.n_x, spectrum.parameters)
    rational = 0
    for mode_class, p, v in zip(spectrum.classes, projectors, words, strict=True):
        operator = spectrum.operator_matrix(mode_class)
        assert p @ p == p
        assert p.trace() == mode_class.dimension
        assert evaluate(mode_class.minpoly, operator, v).is_zero
        assert spectrum.m @ v == evaluate(mode_class.eigenvalue, operator, v)
        if mode_class.d is not None:
            assert spectrum.sigma_x @ v == evaluate(mode_class.d, operator, v)
        rational += mode_class.degree == 1
    # Σ_α s_α u_α v_αᵀ = Sigma^{yx} ΣP, and null modes add nothing to it.
    learned = [
        spectrum.sigma_yx @ p
        for mode_class, p in zip(spectrum.classes, projectors, strict=True)
        if not mode_class.is_null
    ]
    nothing = ExactMatrix.zeros(*spectrum.sigma_yx.shape, spectrum.parameters)
    assert sum(learned, nothing) == spectrum.sigma_yx
    seen = sum(c.dimension for c in spectrum.classes if not c.is_null)
    assert seen == rank(spectrum.sigma_yx)
    assert spectrum.commutes == (spectrum.m @ spectrum.sigma_x == spectrum.sigma_x @ spectrum.m)
    return rational


def test_exact_identities_on_random_pairs() -> None:
    rational = 0
    for seed in range(120):
        pair = random_pair(seed)
        rational += check_identities(joint_spectrum(pair.sigma_yx, pair.sigma_x))
    assert rational > 120


def test_exact_identities_with_parameters() -> None:
    rational = 0
    for seed in range(60):
        pair = parametric_pair(seed)
        spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
        # Projectors on irrational classes over Q(a, b) are long; their size is no gain here.
        if all(c.degree * c.multiplicity <= 2 for c in spectrum.classes):
            rational += check_identities(spectrum)
    assert rational > 30


# -- two routes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shard", range(4))
def test_parametric_answers_against_numeric_ones(shard: int) -> None:
    """Substituting into the answer is answering the substituted question.

    Numbers are repeated by multiplicity, so points where modes collide are compared as well.
    Both sides are certified to 1e-20; what is left is one rounding to float64.
    """
    for seed in range(shard, 160, 4):
        pair = parametric_pair(seed)
        spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
        if pair.commutes:
            assert spectrum.commutes, seed
        random = Random(seed)
        for _ in range(2):
            point = rational_point(random, spectrum.parameters)
            here = joint_spectrum(pair.sigma_yx.substitute(point), pair.sigma_x.substitute(point))
            assert here.commutes or not spectrum.commutes
            ours = expanded(spectrum, point, with_d=spectrum.commutes)
            theirs = expanded(here, {}, with_d=spectrum.commutes)
            assert np.allclose(ours, theirs, rtol=1e-14, atol=1e-20), (seed, point)


def expanded(spectrum: JointSpectrum, point: dict, *, with_d: bool) -> list[tuple[float, float]]:
    return sorted(
        (mode.s.to_float(point), mode.d.to_float(point) if with_d else 0.0)
        for mode in spectrum.modes
        for _ in range(mode.multiplicity)
    )


@pytest.mark.parametrize("shard", range(2))
def test_float_modes_at_parameter_values_solve_the_eigenproblem(shard: int) -> None:
    for seed in range(shard, 60, 2):
        pair = parametric_pair(seed)
        point = rational_point(Random(seed), pair.sigma_x.parameters)
        spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x, point)
        numbers = numpy_modes(spectrum)
        v = np.hstack([v for _, v in numbers])
        s = np.concatenate([[s] * v.shape[1] for s, v in numbers])
        yx = pair.sigma_yx.substitute(point).to_numpy()
        x = pair.sigma_x.substitute(point).to_numpy()
        m = yx.T @ yx
        size = np.linalg.norm(m) + np.linalg.norm(x) + 1e-300
        # 1e-13 is what numpy_modes promises of V; size is the scale of what it multiplies.
        assert np.abs(v.T @ v - np.eye(len(x))).max() < 1e-13
        assert np.abs(m @ v - v * s**2).max() < 1e-13 * size, seed
        if spectrum.commutes:
            d = np.concatenate([[m.d.to_float(point)] * m.multiplicity for m in spectrum.modes])
            assert np.abs(x @ v - v * d).max() < 1e-13 * size, seed


def test_conjugate_modes_1e45_apart_keep_their_vectors() -> None:
    """M = [[1, e], [e, 1 + e²]]: eigenvalues about 1 ± e, irrational; vectors (1, ±1)/√2."""
    tiny = Fraction(1, 10**45)
    spectrum = joint_spectrum(ExactMatrix.from_rows([[1, tiny], [0, 1]]), ExactMatrix.identity(2))
    assert [c.degree for c in spectrum.classes] == [2]
    (_, first), (_, second) = numpy_modes(spectrum)
    half = np.sqrt(0.5)
    assert np.abs(first[:, 0] * np.sign(first[0, 0]) - [half, half]).max() < 1e-15
    assert np.abs(second[:, 0] * np.sign(second[0, 0]) - [half, -half]).max() < 1e-15


def test_a_point_where_modes_collide_gets_a_full_basis() -> None:
    """M = c·[[0, 1], [1, 0]] + 1 has eigenvalues 1 ± c: equal at c = 0."""
    c = Scalar.symbol("c", ("c",))
    root = ExactMatrix.from_rows([[c, 1], [1, c]], ("c",))
    for value in (0, 1, 3):
        numbers = numpy_modes(joint_spectrum(root, root @ root, {"c": Fraction(value)}))
        basis = np.hstack([v for _, v in numbers])
        assert np.abs(basis.T @ basis - np.eye(2)).max() < 1e-15
        assert sorted(s for s, _ in numbers) == sorted([abs(value - 1), value + 1])


def test_modes_are_ordered_at_the_given_values() -> None:
    """s = c against s = 1: who comes first depends on c."""
    c = Scalar.symbol("c", ("c",))
    yx = ExactMatrix.from_rows([[c, 0], [0, 1]], ("c",))
    one = ExactMatrix.identity(2, ("c",))
    symbols = {"c": sp.Symbol("c", positive=True)}
    for value, first in ((2, "c"), (Fraction(1, 2), "1")):
        spectrum = joint_spectrum(yx, one, {"c": Fraction(value)})
        assert str(spectrum.modes[0].s.to_sympy(symbols)) == first


# -- random rational pairs against numpy -----------------------------------------------------------

# eigh's backward error is a small multiple of n·eps·‖A‖ (n <= 8: about 2e-15); 1e-12 leaves room
# for the float rounding of the matrices themselves and fails on any wrong eigenvalue, since
# numbers of this size differ by far more.
TOLERANCE = 1e-12


def close(a: np.ndarray, b: np.ndarray, scale: float) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= TOLERANCE * max(scale, 1e-300))


@pytest.mark.parametrize("shard", range(2))
def test_joint_spectrum_agrees_with_numpy(shard: int) -> None:
    for seed in range(shard, 500, 2):
        check(seed)


def check(seed: int) -> None:
    pair = random_pair(seed)
    spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
    name = f"seed {seed} ({pair.kind})"
    yx, x = pair.sigma_yx.to_numpy(), pair.sigma_x.to_numpy()
    m = yx.T @ yx
    size = len(x)
    scale_m, scale_x = np.linalg.norm(m, 2), np.linalg.norm(x, 2)

    commutator = np.abs(m @ x - x @ m).max()
    assert spectrum.commutes == (commutator <= TOLERANCE * scale_m * scale_x), name
    if pair.commutes is not None:
        assert spectrum.commutes == pair.commutes, name

    numbers = numpy_modes(spectrum)
    counts = [mode.multiplicity for mode in spectrum.modes]
    assert [v.shape for _, v in numbers] == [(size, count) for count in counts], name
    v = np.hstack([v for _, v in numbers])
    s = np.repeat([s for s, _ in numbers], counts)
    assert v.shape == (size, size), name
    assert close(v.T @ v, np.eye(size), 1.0), name
    assert close(m @ v, v * s**2, scale_m), name
    assert np.all(np.diff(s) <= 0), name
    # A route that shares nothing with ours: sorted eigenvalues with their multiplicities.
    assert close(np.sort(s**2), np.linalg.eigvalsh(m), scale_m), name
    if spectrum.commutes:
        d = np.repeat([mode.d.to_float() for mode in spectrum.modes], counts)
        assert close(x @ v, v * d, scale_x), name
        assert close(np.sort(d), np.linalg.eigvalsh(x), scale_x), name
        # A mixture with an irrational weight tells the pairs (s, d) from other pairings.
        weight = np.sqrt(2) * (scale_m / scale_x if scale_x else 1.0)
        mixed = np.linalg.eigvalsh(m + weight * x)
        assert close(np.sort(s**2 + weight * d), mixed, scale_m + weight * scale_x), name
    if pair.known is not None:
        found = {
            (mode.s.coefficients[0].to_fraction(), mode.d.coefficients[0].to_fraction()): count
            for mode, count in zip(spectrum.modes, counts, strict=True)
        }
        assert found == pair.known, name
