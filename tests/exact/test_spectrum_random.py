"""Two routes: the exact joint spectrum against numpy's eigh on random rational pairs."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.exact.numeric import numpy_modes
from symreln.exact.spectrum import joint_spectrum
from tests.strategies import random_pair

# A tenth of the campaign, which `python -m tests.campaigns.spectrum` runs in full.
CASES = 500

# eigh's backward error is a small multiple of n·eps·‖A‖ (n <= 8: about 2e-15); 1e-12 leaves room
# for the float rounding of the matrices themselves and fails on any wrong eigenvalue, since
# numbers of this size differ by far more.
TOLERANCE = 1e-12


def close(a: np.ndarray, b: np.ndarray, scale: float) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= TOLERANCE * max(scale, 1e-300))


@pytest.mark.parametrize("shard", range(2))
def test_joint_spectrum_agrees_with_numpy(shard: int) -> None:
    for seed in range(shard, CASES, 2):
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
