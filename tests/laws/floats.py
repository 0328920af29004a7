"""The two-layer law in float64, for tests that compare with it."""

from __future__ import annotations

import numpy as np

from symreln.laws.choice import solve
from symreln.laws.law import Regime
from symreln.laws.ops import NUMPY


def two_layers(s, d, strength0, times, tau):
    """Return the strengths of decoupled modes, broadcast over the times in steps."""
    more = {"strength0": strength0, "tau": tau}
    return solve(Regime(), np.asarray(s), np.asarray(d), ops=NUMPY, **more).strengths(times)
