"""The joint spectrum at extreme shapes, ranks and numbers, and its texts against its balls."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symreln.exact import enclosure
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import joint_spectrum
from tests.exact.test_spectrum import check_identities
from tests.strategies import examples, parametric_pair, seeds

LARGE = (10**18 + 9, 2**89 - 1, 6**30)


def large_fraction(random: Random) -> Fraction:
    return Fraction(random.randint(-9, 9) * 10 ** random.choice([0, 20]), random.choice(LARGE))


@examples(160)
@given(seed=seeds, n_x=st.integers(1, 5), n_y=st.integers(0, 5), samples=st.integers(1, 4))
def test_datasets_with_large_denominators(seed: int, n_x: int, n_y: int, samples: int) -> None:
    """Correlations of few samples with numbers of any length: P < n_x, rank 0, wide and tall."""
    random = Random(seed)

    def draw(rows: int) -> ExactMatrix:
        entries = [
            [random.choice([0, 1, large_fraction(random)]) for _ in range(samples)]
            for _ in range(rows)
        ]
        return ExactMatrix.from_rows(entries, columns=samples)

    x, y = draw(n_x), draw(n_y)
    check_identities(
        joint_spectrum((y @ x.T).scale(Fraction(1, samples)), (x @ x.T).scale(Fraction(1, samples)))
    )


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (40, 1), (0, 3), (60, 4), (4, 12)])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 10**30 + 57), Fraction(10**40)])
def test_shapes_and_scales(shape: tuple[int, int], scale: Fraction) -> None:
    random = Random(shape[0])
    rows = [[random.randint(-3, 3) for _ in range(shape[1])] for _ in range(shape[0])]
    yx = ExactMatrix.from_rows(rows, columns=shape[1]).scale(scale)
    identity = ExactMatrix.identity(shape[1]).scale(scale)
    spectrum = joint_spectrum(yx, identity)
    check_identities(spectrum)
    assert all(mode.d.scalar == scale for mode in spectrum.modes)
    if 0 not in shape:
        s = [mode.s.to_float() for mode in spectrum.modes for _ in range(mode.multiplicity)]
        floats = np.linalg.svd(np.array(rows, dtype=float), compute_uv=False) * float(scale)
        expected = np.zeros(shape[1])
        expected[: len(floats)] = floats
        # float64 SVD: a few units in the last place of the largest.
        assert np.abs(np.array(s) - expected).max() < 1e-13 * expected.max()


@examples(240)
@given(seed=st.integers(0, 3000), positive=st.booleans(), numerator=st.integers(1, 60))
def test_texts_are_their_numbers(seed: int, positive: bool, numerator: int) -> None:
    """to_sympy at parameter values against the certified ball there, for every s and d."""
    pair = parametric_pair(seed)
    spectrum = joint_spectrum(pair.sigma_yx, pair.sigma_x)
    names = spectrum.parameters
    symbols = {name: sp.Symbol(name, positive=True) if positive else sp.Symbol(name, real=True)
               for name in names}  # fmt: skip
    sign = 1 if positive else -1
    values = {name: sign * Fraction(numerator, 7 + i) for i, name in enumerate(names)}
    at = {symbols[n]: sp.Rational(v.numerator, v.denominator) for n, v in values.items()}
    for mode in spectrum.modes:
        for number in (mode.s,) if mode.d is None else (mode.s, mode.d):
            if not number.is_radical:
                continue
            # 200 digits: a radicand may cancel to a fraction of its terms' size.
            text = sp.N(number.to_sympy(symbols).subs(at), 40, maxn=400)
            with enclosure.precision(400):
                ball = number.ball(values, 400)
                gap = abs(arb(str(sp.re(text))) - ball)
                size = 1 + ball.abs_upper()
                assert not gap.abs_lower() > size * arb(10) ** -30, (seed, number)
