"""The modes of a derivation that learn something, and their vectors in float64."""

from __future__ import annotations

import numpy as np

from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.exact.numeric import numpy_modes
from symreln.laws.law import Law


def learning_modes(
    derivation: Derivation,
) -> list[tuple[PathwayDerivation, ModeDerivation]]:
    """Return every mode with s > 0, pathway by pathway.

    Null modes start at zero and stay there, see :func:`symreln.pipeline.derive.derive`.
    """
    return [(p, m) for p in derivation.pathways for m in p.learning]


def symbolic_laws(derivation: Derivation) -> list[Law]:
    """Return a law of every kind that modes have, with symbols for its numbers."""
    laws = [mode.strength for _, mode in learning_modes(derivation)]
    return [law.in_symbols() for law in {type(law): law for law in laws if law}.values()]


def from_start(times: np.ndarray) -> tuple[np.ndarray, int]:
    """Return (times with t = 0, where the flow starts, in front; the place of the first time)."""
    return (times, 0) if times[0] == 0 else (np.concatenate([[0.0], times]), 1)


def mode_bases(pathway: PathwayDerivation) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return (U, V) of every mode of a pathway that learns something, by label.

    At the values at which its modes are ordered, where there are parameters.
    """
    sigma_yx = pathway.effective.sigma_yx.substitute(pathway.spectrum.values).to_numpy()
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for mode, (s, v) in zip(pathway.modes, numpy_modes(pathway.spectrum), strict=True):
        if not mode.is_null:
            with np.errstate(over="ignore"):
                u = sigma_yx @ v / s
            if not np.isfinite(u).all():  # s is below the normal range of float64
                u = sigma_yx @ v / np.abs(sigma_yx @ v).max()
                u /= np.linalg.norm(u, axis=0)
            found[mode.label] = (u, v)
    return found


def probe_bases(pathway: PathwayDerivation) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return (U, V, label of every column) of the modes of a pathway that learn something."""
    bases, shape = mode_bases(pathway), pathway.spectrum.sigma_yx.shape
    u, v = (
        np.hstack([np.zeros((size, 0)), *(pair[side] for pair in bases.values())])
        for side, size in enumerate(shape)
    )
    return u, v, [label for label, (one, _) in bases.items() for _ in range(one.shape[1])]
