r"""Scalar modes of a graph whose data diagonalise: one strength an edge and mode.

With aligned weights :math:`W_e = \sum_\alpha r_{t,\alpha}\, w_{e,\alpha}\, r_{s,\alpha}^T` every
mode follows a flow of its own, with numbers in place of matrices:

.. math:: \tau\dot w_e = \sum_{p\ni e} \prod_{f \in p,\, f\ne e} w_f
          \Big[s_b - \sum_c o_{bc}\, T_c\, d_{cb}\Big]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.errors import NoClosedFormError
from symreln.exact.truth import Truth
from symreln.laws.network_flow import NetworkFlow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from symreln.networks.bundles import NetworkData
    from symreln.networks.model import Network
    from symreln.verdict.diagonal import Arrow, Diagonality

    #: Unit vectors of a mode by data node; nodes that it does not reach are missing.
    Vectors = Mapping[str, np.ndarray]

_TOLERANCE = 1e-9
"""Below this share of the largest, float64 values count as 0: eigenvalues of the random
combination below have gaps of about 1e-3, and their vectors errors of about 1e-13."""


@record(eq=False)
class ScalarMode:
    """One mode across the nodes that it reaches; float64.

    Attributes:
        vectors: Unit vector by the name of a data node; nodes that it does not reach are missing.
        flow: Its scalar flow: every edge has weights of shape (1, 1). Loss without the constant.
    """

    vectors: Mapping[str, np.ndarray]
    flow: NetworkFlow

    @property
    def strengths(self) -> tuple[float, ...]:
        """The numbers s of every bundle."""
        return tuple(float(s[0, 0]) for s in self.flow.sigma_yx)


def scalar_modes(data: NetworkData, decision: Diagonality) -> tuple[ScalarMode, ...]:
    """Return the scalar modes.

    Raises:
        NoClosedFormError: The data are not proven to diagonalise.
        InputError: A parameter without a value occurs in the data.
    """
    if decision.outcome is not Truth.PROVEN:
        msg = f"the graph has no scalar modes ({decision.outcome.value}): {decision.reason}"
        raise NoClosedFormError(msg)
    full = NetworkFlow.of(data)
    return tuple(
        ScalarMode(vectors=vectors, flow=_scalar_flow(data, full, vectors))
        for vectors in _joint_bases(data, decision)
    )


def _joint_bases(data: NetworkData, decision: Diagonality) -> list[dict[str, np.ndarray]]:
    """Return unit vectors node by node, each mode with the nodes that it reaches."""
    arrows = [(arrow, _scaled(arrow)) for arrow in decision.arrows]
    sizes = {node.name: node.size for node in data.graph.nodes if not node.is_hidden}
    known: dict[str, list[np.ndarray]] = {name: [] for name in sizes}
    modes: list[dict[str, np.ndarray]] = []
    for name, size in sizes.items():
        free = _complement(known[name], size)
        loops = [m for arrow, m in arrows if arrow.source == arrow.target == name]
        for vector in _joint_eigenvectors(loops, free):
            mode = {name: vector}
            for arrow, matrix in arrows:
                if arrow.source == name and arrow.target not in mode:
                    _carry(mode, arrow.target, matrix @ vector, matrix)
            for node, found in mode.items():
                known[node].append(found)
            modes.append(mode)
    return modes


def _carry(mode: dict[str, np.ndarray], node: str, image: np.ndarray, matrix: np.ndarray) -> None:
    """Add the direction to which a mode is carried, where it is."""
    length = float(np.linalg.norm(image))
    if length > _TOLERANCE * np.linalg.norm(matrix):
        mode[node] = image / length


def _joint_eigenvectors(loops: list[np.ndarray], free: np.ndarray) -> list[np.ndarray]:
    """Return joint eigenvectors, in a space with orthonormal columns ``free``.

    A generic combination of commuting symmetric matrices has their joint eigenspaces; the
    combination is the same at every call.
    """
    weights = np.random.default_rng(0).uniform(1, 2, len(loops))
    total = sum((w * m for w, m in zip(weights, loops, strict=True)), np.zeros((len(free),) * 2))
    _, vectors = np.linalg.eigh(free.T @ total @ free)
    return list((free @ vectors).T)


def _complement(known: list[np.ndarray], size: int) -> np.ndarray:
    """Return an orthonormal basis of all that is orthogonal to known unit vectors."""
    if not known:
        return np.eye(size)
    left = np.linalg.svd(np.array(known).T)[0]
    return left[:, len(known) :]


def _scaled(arrow: Arrow) -> np.ndarray:
    """Return an arrow's matrix with its largest entry 1."""
    rows = [[int(entry) for entry in row] for row in arrow.matrix.tolist()]
    largest = max(abs(entry) for row in rows for entry in row)
    return np.array([[entry / largest for entry in row] for row in rows])


def _scalar_flow(
    data: NetworkData, full: NetworkFlow, vectors: Mapping[str, np.ndarray]
) -> NetworkFlow:
    def column(name: str) -> np.ndarray:
        found = vectors.get(name)
        return np.zeros((data.graph.node(name).size, 1)) if found is None else found[:, None]

    into = [column(bundle.source) for bundle in data.bundles]
    out = [column(bundle.target) for bundle in data.bundles]
    return NetworkFlow(
        shapes=((1, 1),) * len(data.graph.edges),
        paths=full.paths,
        bundle_of=full.bundle_of,
        sigma_yx=tuple(out[b].T @ s @ into[b] for b, s in enumerate(full.sigma_yx)),
        sigma_x={(c, b): into[c].T @ s @ into[b] for (c, b), s in full.sigma_x.items()},
        overlaps={(c, b): out[b].T @ o @ out[c] for (c, b), o in full.overlaps.items()},
        half_power=0.0,
    )


def learning(modes: Sequence[ScalarMode]) -> list[ScalarMode]:
    """Return the modes of a part that have a drive, some s that is not 0 in float64."""
    largest = max((abs(s) for mode in modes for s in mode.strengths), default=0.0)
    return [m for m in modes if max(map(abs, m.strengths), default=0.0) > _TOLERANCE * largest]


def lacking_units(data: NetworkData, modes: int) -> str:
    """Return which hidden node is too small for its modes, and how to mend it; empty for none."""
    for node in data.graph.nodes:
        if node.is_hidden and node.size < modes:
            return (
                f"node '{node.name}' has {node.size} units for {modes} modes, and which of them "
                f"it learns is not derived; give it at least {modes} (size, or network.hidden)"
            )
    return ""


def aligned_weights(
    graph: Network, parts: Iterable[tuple[Sequence[int], Sequence[Vectors]]], start: float
) -> list[np.ndarray]:
    """Return weights of all edges with one amplitude in every mode that learns something.

    Mode k of a part takes the k-th unit of every hidden node.

    Args:
        graph: The whole graph.
        parts: The edges of every component with the vectors of its modes, for which it has units
            enough.
        start: The amplitude.
    """
    found = [np.zeros(graph.shape(place)) for place in range(len(graph.edges))]
    for edges, modes in parts:
        for place in edges:
            edge = graph.edges[place]
            for number, vectors in enumerate(modes):
                ends = [
                    _vector(graph, vectors, name, number) for name in (edge.target, edge.source)
                ]
                if ends[0] is not None and ends[1] is not None:
                    found[place] += start * np.outer(ends[0], ends[1])
    return found


def _vector(graph: Network, vectors: Vectors, name: str, number: int) -> np.ndarray | None:
    node = graph.node(name)
    return np.eye(node.size)[number] if node.is_hidden else vectors.get(name)
