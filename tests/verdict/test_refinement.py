"""Degenerate classes in the basis that suits all pathways: found, proven, or excluded."""

from __future__ import annotations

import copy
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.claims.probes import probe_bases
from symreln.errors import CertificateError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import joint_spectrum
from symreln.specs.spec import Spec
from symreln.verdict.judge import Level
from symreln.verdict.refinement import _split_spectrum
from symreln.verifier import digest, verify
from tests.cases import matrix_spec
from tests.exact.test_spectrum import check_identities
from tests.laws.full_flow import GatedNetwork, aligned_start, strengths
from tests.strategies import examples
from tests.verdict.examples import common_and, irrational_basis, oblique_samples

ROTATION = np.array([[2, -2, 1], [1, 2, 2], [2, 1, -2]])  # three times an orthogonal matrix


def learned(spec: Spec) -> Counter:
    """How often every (s², d, d_eff) of degree 1 occurs among the modes that learn something."""
    found: Counter = Counter()
    for pathway in sr.derive(spec).pathways:
        for mode in pathway.modes:
            if not mode.is_null:
                assert mode.d is not None
                assert mode.d_eff is not None
                values = (n.scalar.to_fraction() for n in (mode.s, mode.d, mode.d_eff) if n.scalar)
                found[tuple(values)] += mode.multiplicity
    return found


@examples(100)
@given(data=st.data(), n=st.integers(2, 4), turned=st.booleans())
def test_white_inputs_and_any_gates_close_by_symmetry(data, n: int, turned: bool) -> None:
    """Of X = Y = 1 every sample is a mode of the pathways that see it; d_eff is their number."""
    gate = st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(any)
    gates = data.draw(st.lists(gate, min_size=1, max_size=4))
    x = np.eye(n, dtype=int)
    scale = 1
    if turned and n == 3:
        x, scale = ROTATION @ x, 9
    spec = matrix_spec(x.tolist(), np.eye(n, dtype=int).tolist(), gates, network={})
    derivation = sr.derive(spec)
    counts = np.sum(gates, axis=0)
    meet = counts.max() > 1
    assert derivation.verdict.level is (Level.CLOSED_BY_SYMMETRY if meet else Level.CLOSED)
    one = Fraction(scale, n)
    expected = Counter()
    for row in gates:
        for count in counts[np.flatnonzero(row)].tolist():
            expected[Fraction(scale, n * n), one, one * count] += 1
    assert learned(spec) == expected
    assert verify(derivation.certificate)


def test_a_basis_that_does_not_suit_is_refused_by_the_verifier() -> None:
    """The common class turned by 45°: its sums do not close on the halves."""
    certificate = copy.deepcopy(sr.derive(common_and(2, (1, 0))).certificate)
    classes = certificate["parts"][0]["stages"][0]["pathways"][0]["classes"]
    for one, sign in zip(classes, ("1", "-1"), strict=True):
        assert one["generators"]["columns"] == 1
        one["generators"]["entries"] = [[0, 0, "1"], [1, 0, sign]]
        one["gram_inverse"]["entries"], one["gram_inverse"]["denominator"] = [[0, 0, "1"]], "2"
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="parts whose sums close"):
        verify(certificate)


def test_the_common_basis_may_be_irrational() -> None:
    derivation = sr.derive(irrational_basis())
    assert derivation.verdict.level is Level.COUPLED_MODES
    (one,) = derivation.pathways[0].spectrum.classes
    assert (one.degree, one.multiplicity) == (2, 1)
    assert verify(derivation.certificate) == ("stages[0]: p1, p2: coupled modes",)


def test_a_matrix_that_is_no_sum_of_m_and_sigma_x_splits() -> None:
    white = ExactMatrix.from_rows([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    spectrum = joint_spectrum(white, white)
    found = _split_spectrum(spectrum, ExactMatrix.from_rows([[1, 1, 0], [1, 0, 0], [0, 0, 5]]))
    assert found is not None
    check_identities(found)
    assert sorted(c.degree for c in found.classes) == [1, 2]
    assert (
        _split_spectrum(
            joint_spectrum(
                ExactMatrix.from_rows([[1, 0], [0, 2]]), ExactMatrix.from_rows([[1, 0], [0, 1]])
            ),
            ExactMatrix.from_rows([[0, 1], [1, 0]]),
        )
        is None
    )


def test_what_no_basis_closes_leaves_its_modes_in_the_flow() -> None:
    """The one mode of each sample is simple; the common pathway's map turns its sample away."""
    spec = oblique_samples()
    derivation = sr.derive(spec)
    assert derivation.verdict.level is Level.COUPLED_MATRICES
    assert not derivation.stages[0].verdict.split
    assert [c.multiplicity for c in derivation.pathways[0].spectrum.classes] == [2]
    modes = [probe_bases(pathway)[:2] for pathway in derivation.pathways]
    start = aligned_start(modes, 1e-2, np.random.default_rng(0))
    flow = GatedNetwork.of(spec).flow(start, np.linspace(0, 3, 12))
    left = [[strengths(m, w)[1] for m, w in zip(modes, at, strict=True)] for at in flow]
    assert max(first for first, *_ in left) > 1e-3
    assert min(np.max(left, axis=0)[1:]) > 1e-3
