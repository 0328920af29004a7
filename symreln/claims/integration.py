"""From a derivation's exact data to the flow that is integrated. Here they become floats."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.errors import FloatRangeError, InputError, NotSupportedError
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.exact.matrix import ExactMatrix
    from symreln.laws.coupled_matrices import CoupledMatrices, GatedData, SparseArray
    from symreln.specs.spec import NetworkSpec, PathwaySpec, Spec

#: Largest size of a number in the data, or its inverse, that float64 predicts with: products of
#: four of them, which correlations squared are, stay inside the range of normal numbers.
LARGEST = 1e75


def network_of(spec: Spec) -> NetworkSpec:
    """Return the spec's network, which numbers and training need.

    Raises:
        InputError: It has none, or a number of it is too large or too small for float64.
    """
    if spec.network is None:
        msg = (
            "the spec has no [network] table, and numbers need its width, initial scale, "
            "learning rate and number of steps. Add one (in Python network=sr.network(…)), for "
            'example hidden = 100, init_std = "1/10000", learning_rate = "1/1000", steps = 2000'
        )
        raise InputError(msg)
    network = spec.network
    for name in ("init_std", "init_std_out", "learning_rate", "weight_decay"):
        if value := getattr(network, name):
            where = f"network.{name.removesuffix('_out')}"
            _floats([(value.numerator, value.denominator)], where)
    return network


def check_range(derivation: Derivation) -> None:
    """Refuse data that float64 has no room for; see :data:`LARGEST`.

    Raises:
        InputError: A number of the network, the data or a gate is too large or too small.
    """
    network_of(derivation.spec)
    dataset = derivation.spec.dataset
    _entries(dataset.inputs, "dataset.X")
    _entries(dataset.targets, "dataset.Y")
    for pathway in derivation.pathways:
        gate_floats(pathway.effective.pathway)


def coupled_matrices(derivation: Derivation) -> CoupledMatrices:
    """Return the flow of a derivation without free parameters, through all phases.

    Layers that start apart are taken by the mean of their variances, which is exact where modes
    are closed, and other networks are refused for other modes.

    Raises:
        InputError: A number of the data is too large or too small for float64.
    """
    # Here, because closed forms are not integrated.
    from symreln.laws.coupled_matrices import CoupledMatrices

    return CoupledMatrices(
        phases=tuple(_gated_data(phase) for _, phase in derivation.phases),
        switches=derivation.spec.switches,
        tau=float(derivation.tau or 1),
        gram_scale=gram_scale(derivation),
        weight_decay=float(derivation.known.weight_decay),
    )


def _gated_data(derivation: Derivation) -> GatedData:
    """Return what pathways see and want, of the gates of one phase."""
    from symreln.laws.coupled_matrices import GatedData

    network, dataset = network_of(derivation.spec), derivation.spec.dataset
    scale = 1 / np.sqrt(dataset.samples)
    inputs = scale * sparse_floats(dataset.inputs, "dataset.X")
    specs = [pathway.effective.pathway for pathway in derivation.pathways]
    features = []
    for pathway, spec in zip(derivation.pathways, specs, strict=True):
        if spec.boundary:
            seen = scale * sparse_floats(pathway.effective.features, f"inputs of {spec.name}")
        else:
            seen = inputs[np.array(spec.inputs, dtype=int)] * gate_floats(spec)[None, :]
        features.append(seen.tocsr())
        features[-1].eliminate_zeros()
    writes = np.zeros((len(specs), dataset.n_y), dtype=bool)
    for p, spec in enumerate(specs):
        writes[p, list(spec.outputs)] = True
    return GatedData(
        features=tuple(features),
        targets=scale * sparse_floats(dataset.targets, "dataset.Y"),
        writes=writes,
        stages=tuple(spec.stage for spec in specs),
        staged=network.training == "staged",
    )


def gram_scale(derivation: Derivation) -> float:
    """Return g of Q Qᵀ = g I at the start, from which a balanced mode starts at g/2."""
    if derivation.given_start is None:
        return float(derivation.known.gram_scale)
    if not derivation.known.plain.holds:
        msg = f"strength0: the flow from a given start is written for {derivation.known.plain.why}"
        raise NotSupportedError(msg)
    return float(2 * derivation.given_start)


def gate_floats(spec: PathwaySpec) -> np.ndarray:
    """Return the gate or gain of every sample, shape (P,).

    Raises:
        InputError: A gain is too large or too small for float64.
    """
    if not spec.has_gains:
        return np.array(spec.gate, dtype=float)
    gains = [g.to_fraction() if isinstance(g, Scalar) else Fraction(g) for g in spec.gate]
    return _floats([(g.numerator, g.denominator) for g in gains], f"gate of pathway {spec.name}")


def sparse_floats(matrix: ExactMatrix, where: str) -> SparseArray:
    """Return a constant matrix in float64, every entry correctly rounded.

    Raises:
        InputError: An entry is too large or too small for float64.
    """
    # Here, because SciPy takes a quarter of a second to import, and closed forms need none.
    from scipy.sparse import csr_array

    return csr_array(_entries(matrix, where), shape=matrix.shape)


def _entries(matrix: ExactMatrix, where: str) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the entries of a constant matrix, and their rows and columns."""
    bottom = int(matrix.denominator.leading_coefficient())
    rows, columns, values = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for part in matrix.terms.values():
        rows.append(part.rows)
        columns.append(part.columns)
        values.append(_floats([(value, bottom) for value in part.values.tolist()], where))
    return np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))


def _floats(quotients: list[tuple[int, int]], where: str) -> np.ndarray:
    """Divide whole numbers, rounded correctly, within the range that is predicted with."""
    try:
        found = np.array([top / bottom for top, bottom in quotients])
    except OverflowError:
        found = np.array([np.inf])
    sizes = np.abs(found[found != 0])
    lost = sum(top != 0 for top, _ in quotients) > len(sizes)
    if lost or (len(sizes) and (sizes.max() > LARGEST or sizes.min() < 1 / LARGEST)):
        msg = (
            f"{where}: a number is too large or too small for a prediction in float64, which "
            f"takes sizes from {1 / LARGEST:g} to {LARGEST:g}. Scale the data, or give the "
            "parameters other values"
        )
        raise FloatRangeError(msg)
    return found
