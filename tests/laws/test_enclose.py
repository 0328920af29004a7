"""Certified balls of every family through a derivation, from a start that is given."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.claims.balls import MOST_DIGITS
from symreln.errors import InputError, LimitReachedError
from symreln.laws.choice import law_of, started
from symreln.laws.law import Start
from symreln.laws.ops import NUMPY
from tests.laws.test_choice import load

TIMES = (0, 1, 40, Fraction(1001, 3), 900, 40)
FAMILIES = {
    "one layer": {"layers": 1},
    "plain": {},
    "apart": {"init_std": ["1/50", "1/200"]},
    "decay": {"weight_decay": "1/4"},
    "layers 3": {"layers": 3},
    "layers 7": {"layers": 7},
}


#: Many layers are integrated in float64 from above their plateau.
STARTS = [(name, Fraction(1, 10**5)) for name in FAMILIES] + [
    (name, Fraction(40)) for name in FAMILIES if "layers" not in name
]


@pytest.mark.parametrize(("name", "strength0"), STARTS)
def test_enclosed_from_a_given_start_is_what_floats_say(name, strength0):
    derivation = sr.derive(load(**FAMILIES[name]))
    known = derivation.known
    balls = derivation.starting_at(strength0).enclose(TIMES, 40)
    modes = derivation.pathways[0].modes
    s, d = (
        np.array([[x.to_float()] for x in part])
        for part in zip(*((m.s, m.d_eff) for m in modes), strict=True)
    )
    expected = law_of(known).start(known)
    start = Start(strength0=strength0, imbalance=0 if expected is None else expected.imbalance)
    law = started(known, s, d, derivation.tau, ops=NUMPY, start=start).in_steps()
    floats = law.strengths(np.array(TIMES, float))
    for mode, curve in zip(modes, floats, strict=True):
        found = balls[mode.label]
        assert min(ball.rel_accuracy_bits() for ball in found) > 132
        np.testing.assert_allclose([float(ball) for ball in found], curve, rtol=1e-8)
        assert found[2].overlaps(found[5])


def test_start_is_above_0():
    derivation = sr.derive(load(layers=4))
    for wrong in (0, Fraction(-1, 2)):
        with pytest.raises(InputError, match="above 0"):
            derivation.starting_at(wrong)


def test_precision_has_an_end():
    derivation = sr.derive(load(layers=3))
    with pytest.raises(LimitReachedError, match="bits"):
        derivation.starting_at(1).enclose([1], digits=MOST_DIGITS)
