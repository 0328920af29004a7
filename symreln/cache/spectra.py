"""Joint spectra from the cache: read, put into their equations, and only then used.

The key is what a spectrum depends on, its two correlations; the parameters' values only order the
modes. Checking takes about a third of computing at most, and the derivation's certificate covers
what was read exactly as it covers what was computed: a forged entry can cost time, no more.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.cache.key import key_of
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.exact.spectrum_json import classes_to_json, spectrum_from_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.cache.store import Store
    from symreln.exact.matrix import ExactMatrix

KIND = "spectrum"
#: Seconds: what was computed faster is not worth a file.
WORTH_KEEPING = 0.05


def cached_spectrum(
    store: Store,
    compute: Callable[..., JointSpectrum] = joint_spectrum,
    keep_from: float | None = None,
) -> Callable[..., JointSpectrum]:
    """Return ``compute`` with a memory: same arguments, same results.

    Args:
        store: Where spectra are kept.
        compute: What finds the spectrum of (sigma_yx, sigma_x, values).
        keep_from: Seconds from which a computation is worth keeping; WORTH_KEEPING by default.
    """
    if store.folder is None:
        return compute

    def spectrum(
        sigma_yx: ExactMatrix,
        sigma_x: ExactMatrix,
        values: Mapping[str, Fraction] | None = None,
    ) -> JointSpectrum:
        key = _key(sigma_yx, sigma_x)
        content = store.get(KIND, key)
        if content is not None:
            yx, x = sigma_yx.aligned(sigma_x)
            try:
                return spectrum_from_json(content, yx.reduced(), x.reduced(), values or {})
            except ValueError as error:
                store.notes.append(f"cache: a spectrum is ignored and made again: {error}")
        start = time.perf_counter()
        found = compute(sigma_yx, sigma_x, values)
        worth = WORTH_KEEPING if keep_from is None else keep_from
        if time.perf_counter() - start >= worth:
            store.put(KIND, key, classes_to_json(found))
        return found

    return spectrum


def _key(*matrices: ExactMatrix) -> str:
    return key_of(KIND, *(_digest(matrix) for matrix in matrices))


def _digest(matrix: ExactMatrix) -> str:
    """Return the digest of a matrix as it is held: equal matrices may differ, and are then missed.

    Arrays are digested as they are; turning large ones into FLINT's takes longer than the rest.
    """
    found = hashlib.sha256(
        repr((matrix.shape, matrix.parameters, str(matrix.denominator))).encode()
    )
    for key, part in matrix.terms.items():
        found.update(f"integers {key}".encode())
        found.update(",".join(map(str, (*part.places.tolist(), *part.values.tolist()))).encode())
    return found.hexdigest()
