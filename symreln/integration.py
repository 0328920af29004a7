"""From a derivation's exact data to the flow that is integrated. Here they become floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.dynamics.coupled_matrices import CoupledMatrices, MatrixPathway
from symreln.dynamics.gated_data import GatedData, SparseArray
from symreln.dynamics.initial import gram_scale
from symreln.dynamics.reduced_flow import ModeProbe, ReducedFlow
from symreln.errors import InputError
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.exact.sparse import SparseMatrix
    from symreln.spec.model import NetworkSpec, PathwaySpec

#: Largest size of a number in the data, or its inverse, that float64 predicts with: products of
#: four of them, which correlations squared are, stay inside the range of normal numbers.
LARGEST = 1e75


def network_of(derivation: Derivation) -> NetworkSpec:
    """Return the network whose numbers are asked for.

    Raises:
        InputError: The spec has none.
    """
    if derivation.spec.network is None:
        msg = (
            "the spec has no [network] table, and numbers need its width, initial scale, "
            "learning rate and number of steps. Add one, for example hidden = 100, "
            'init_std = "1/10000", learning_rate = "1/1000", steps = 2000'
        )
        raise InputError(msg)
    return derivation.spec.network


def reduced_flow(derivation: Derivation) -> ReducedFlow:
    """Return the flow of a derivation without free parameters, by irreducible modules.

    Raises:
        InputError: A number of the data is too large or too small for float64.
    """
    network, dataset = network_of(derivation), derivation.spec.dataset
    scale = 1 / np.sqrt(dataset.samples)
    inputs = scale * sparse_floats(dataset.sparse_inputs, "dataset.X")
    specs = [pathway.effective.pathway for pathway in derivation.pathways]
    features = []
    for spec in specs:
        rows = inputs[np.array(spec.inputs, dtype=int)]
        features.append((rows * gate_floats(spec)[None, :]).tocsr())
        features[-1].eliminate_zeros()
    writes = np.zeros((len(specs), dataset.n_y), dtype=bool)
    for p, spec in enumerate(specs):
        writes[p, list(spec.outputs)] = True
    data = GatedData(
        features=tuple(features),
        targets=scale * sparse_floats(dataset.sparse_targets, "dataset.Y"),
        writes=writes,
        stages=tuple(spec.stage for spec in specs),
        staged=network.training == "staged",
    )
    return ReducedFlow(
        data=data,
        tau=float(network.tau(dataset.samples)),
        gram_scale=float(gram_scale(network)),
    )


def mode_probes(derivation: Derivation) -> tuple[list[str], list[ModeProbe]]:
    """Return the label and the probe of every mode that learns something."""
    labels, probes = [], []
    for p, pathway in enumerate(derivation.pathways):
        for mode, (s, _, v) in zip(pathway.modes, pathway.spectrum.numpy_modes(), strict=True):
            if not mode.is_null:
                labels.append(mode.label)
                probes.append(ModeProbe(pathway=p, s=s, v=v))
    return labels, probes


def coupled_matrices(derivation: Derivation) -> CoupledMatrices:
    """Return the flow of a derivation without free parameters in the full spans."""
    network, dataset = network_of(derivation), derivation.spec.dataset
    inputs = dataset.inputs.to_numpy()
    pathways = []
    for pathway in derivation.pathways:
        spec = pathway.effective.pathway
        outputs, gate = np.zeros(dataset.n_y), gate_floats(spec)
        outputs[list(spec.outputs)] = 1
        pathways.append(
            MatrixPathway(
                inputs=inputs[list(spec.inputs)] * gate,
                gate=gate,
                outputs=outputs,
                stage=spec.stage,
            )
        )
    return CoupledMatrices(
        pathways=tuple(pathways),
        targets=dataset.targets.to_numpy(),
        staged=network.training == "staged",
        tau=float(network.tau(dataset.samples)),
        gram_scale=float(gram_scale(network)),
    )


def gate_floats(spec: PathwaySpec) -> np.ndarray:
    """Return the gate or gain of every sample, shape (P,)."""
    numbers = [float(g.to_fraction() if isinstance(g, Scalar) else g) for g in spec.gate]
    return np.array(numbers)


def sparse_floats(matrix: SparseMatrix, where: str) -> SparseArray:
    """Return a constant matrix in float64, every entry correctly rounded.

    Raises:
        InputError: An entry is too large or too small for float64.
    """
    from scipy.sparse import csr_array

    rows, columns, values = [], [], []
    bottom = int(matrix.denominator.leading_coefficient())
    for part in matrix.terms.values():
        rows.append(part.rows)
        columns.append(part.columns)
        try:
            values.append(np.array([value / bottom for value in part.values.tolist()]))
        except OverflowError:
            values.append(np.array([np.inf]))
    found = np.concatenate([np.zeros(0), *values])
    sizes = np.abs(found)
    if found.size and (sizes.min() < 1 / LARGEST or sizes.max() > LARGEST):
        wrong = sizes.max() if sizes.max() > LARGEST else sizes.min()
        size = f"{wrong:.3g}" if np.isfinite(wrong) else "beyond float64"
        msg = (
            f"{where}: an entry of size {size} cannot be predicted with in float64, which needs "
            f"numbers between {1 / LARGEST:g} and {LARGEST:g}. Scale the data or the values of "
            "the parameters; derivation.enclose has no such limit where modes are closed"
        )
        raise InputError(msg)
    places = [np.concatenate([np.zeros(0, dtype=int), *index]) for index in (rows, columns)]
    return csr_array((found, tuple(places)), shape=matrix.shape)
