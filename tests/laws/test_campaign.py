"""The campaign against solve_ivp: a small one in every run, 1000 sets a family where slow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws.campaign import FAMILIES, error

#: The integrations at rtol 1e-11 are themselves off by up to a few 1e-9 (depth 30).
TOLERANCE = 1e-8


def worst(name: str, count: int, seed: int) -> tuple[float, tuple]:
    family, rng = FAMILIES[name], np.random.default_rng(seed)
    sets = [family.draw(rng) for _ in range(count)]
    return max(((error(family, drawn), drawn) for drawn in sets), key=lambda pair: pair[0])


@pytest.mark.parametrize("name", FAMILIES)
def test_family_is_what_integration_of_the_weights_gives(name):
    found, parameters = worst(name, 25, 1)
    assert found < TOLERANCE, parameters


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_family_on_a_thousand_sets(name):
    found, parameters = worst(name, 1000, 2)
    print(f"{name}: worst of 1000 {found:.2g}")
    assert found < TOLERANCE, parameters
