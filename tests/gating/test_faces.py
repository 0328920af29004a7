"""Rays between which ψ is linear on a face: one choice of samples each, and none is left out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from symreln.exact.linear import rank
from symreln.exact.matrix import ExactMatrix
from symreln.verdict.directions import columns
from symreln.verdict.faces import _off, _walls


def directions(inputs, pairs):
    """Return rays as integers whose first entry that is not zero is positive."""
    found = []
    for chosen, other in pairs:
        (ray,) = columns(_off(inputs, chosen, other))
        lead = next(entry for entry in ray if entry)
        found.append(tuple(entry / lead for entry in ray))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_every_ray_has_one_choice(seed):
    rng = np.random.default_rng(seed)
    height = int(rng.integers(2, 5))
    entries = rng.integers(-1, 2, size=(height, int(rng.integers(4, 8))))
    entries = entries[:, entries.any(axis=0)]
    inputs = ExactMatrix.from_rows([[int(x) for x in row] for row in entries])
    edge = range(inputs.shape[1])
    full = rank(inputs)
    every = []
    for chosen in combinations(edge, full - 1):
        if not chosen or rank(inputs.select(columns=chosen)) == len(chosen):
            beside = (z for z in edge if z not in chosen)
            more = (z for z in beside if rank(inputs.select(columns=[*chosen, z])) == full)
            every.append((chosen, next(more)))
    found = directions(inputs, _walls(inputs, list(edge)))
    assert sorted(found) == sorted(set(directions(inputs, every)))
    assert len(every) >= len(found)
