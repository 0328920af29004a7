r"""Pathways that move together, and copies of each other: the few numbers that a flow really needs.

The flow of all maps W = (W_1, …, W_N) is made of two operations: the linear coupling
W ↦ (Σ_j O_p O_j W_j Sigma^x(j,p))_p, and products W_p E_pᵀ W_p, E_p W_pᵀ W_p + W_p W_pᵀ E_p within
every pathway, in the flow as in a step of gradient descent. The smallest space of tuples that
contains Sigma^yx and is closed under both is never left. Symmetries make it small: 16 contexts are
as few numbers as 3, and 128 items one number a level of their hierarchy.

Odd polynomials of a tuple W, such as W_p W_pᵀ W_p, are the mixtures of its *parts*, those of one
singular value each, over all pathways. So a space is closed where the parts of a random tuple of
it, and what these couple to, lie in it.

Each of a few pairs of bases of a pathway, found by closing a vector under all tuples and their
transposes, is a corner; the tuples can be read off the corners, linearly, and each corner follows
the flow of a pathway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.laws.block_flow import MatrixCoupling

#: Leftover of a part, or of what it couples to, relative to its length, that counts as a new tuple.
#: Measured where pathways share something, 3 contexts to 8 contexts of 32 items: rounding at most
#: 7e-13, true ones 1e-2 and more. Elsewhere the two meet, so a space that is not at most half of
#: all tuples is not used.
_TUPLE_TOLERANCE = 1e-9
#: Largest dimension that is looked for; structureless pathways share nothing to find.
_MOST_TUPLES = 160
#: Entries of all maps up to which they are written as one matrix where no smaller space is found.
_FEW = 64
#: Difference of singular values that are one, relative to the largest; and what counts as none.
_EQUAL = 1e-6


@record(kw_only=False, eq=False)
class _Corner:
    """A corner of the space: one pathway, bases of its outputs and inputs."""

    pathway: int
    outputs: np.ndarray
    inputs: np.ndarray


@record(eq=False)
class _AffineCoupling:
    """E = offsets − matrix @ W, loss = ½‖targets − outputs @ W‖² + floor.

    Attributes:
        shapes, rate: As of every coupling of :mod:`symreln.laws.block_flow`.
        offsets: Shape (entries,).
        matrix: Shape (entries, entries).
        targets: Shape (rows,).
        outputs: Shape (rows, entries).
        floor: Loss that no maps can lower.
    """

    shapes: tuple[tuple[int, int], ...]
    rate: float
    offsets: np.ndarray
    matrix: np.ndarray
    targets: np.ndarray
    outputs: np.ndarray
    floor: float

    def errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every block."""
        return (self.offsets - (self.matrix @ maps).T).T

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (any,)."""
        left = self.targets[:, None] - self.outputs @ maps
        return 0.5 * np.einsum("it,it->t", left, left) + self.floor


@record(eq=False)
class _Tied:
    """Pathways as the flow of a few blocks.

    Attributes:
        coupling: Its blocks.
        corners: What every block is a corner of.
        lift: Entries of all maps by those of the blocks, shape (entries, entries of the blocks).
    """

    coupling: _AffineCoupling
    corners: tuple[_Corner, ...]
    lift: np.ndarray

    def starts(self, grams: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return Q Qᵀ of every block from that of every pathway.

        Their parts outside the identity belong to the tuples that the pathways were tied by.
        """
        found = []
        for corner in self.corners:
            # [inputs; outputs] of the pathway in the bases of the corner.
            first, second = np.split(grams[corner.pathway], [len(corner.inputs)])
            rows = np.concatenate([corner.inputs.T @ first, corner.outputs.T @ second])
            left, right = np.split(rows, [len(corner.inputs)], axis=1)
            found.append(np.hstack([left @ corner.inputs, right @ corner.outputs]))
        return found


def tie(whole: MatrixCoupling, starts: np.ndarray) -> _Tied | None:
    """Return pathways in their closed space of tuples, or None where that is no smaller.

    Pathways of few entries are returned in all their tuples instead.

    Args:
        whole: All pathways.
        starts: Tuples that the initial weights are made of beside the identity, shape
            (any, entries); the space is closed with them.
    """
    basis = _closed_space(whole, starts)
    if basis is not None:
        corners = _corners(whole, basis)
    elif whole.size <= _FEW:
        basis = np.eye(whole.size)
        corners = [_Corner(p, np.eye(a), np.eye(b)) for p, (a, b) in enumerate(whole.shapes)]
    else:
        return None
    return None if corners is None else _tied(whole, basis, corners)


def _tied(whole: MatrixCoupling, basis: np.ndarray, corners: list[_Corner]) -> _Tied:
    """Write the flow and the loss of all pathways in corners that show every tuple of a basis."""
    read = _readings(whole, basis, corners)
    tuples = np.linalg.pinv(read)
    nothing = np.zeros((1, whole.size))
    wanted = whole.residuals(nothing.T).reshape(1, -1)
    outputs = (wanted - whole.residuals(basis.T).reshape(len(basis), wanted.size)).T
    q, r = np.linalg.qr(outputs)
    inside = q.T @ wanted[0]
    outside = wanted[0] - q @ inside
    return _Tied(
        coupling=_AffineCoupling(
            shapes=tuple((c.outputs.shape[1], c.inputs.shape[1]) for c in corners),
            rate=whole.rate,
            offsets=read @ (basis @ whole.errors(nothing[0])),
            matrix=read @ (basis @ _coupled(whole, basis).T) @ tuples,
            targets=inside,
            outputs=r @ tuples,
            floor=0.5 * float(outside @ outside),
        ),
        corners=tuple(corners),
        lift=basis.T @ tuples,
    )


def _coupled(whole: MatrixCoupling, tuples: np.ndarray) -> np.ndarray:
    """Return (Σ_j O_p O_j W_j Sigma^x(j,p))_p of tuples, shape (any, entries)."""
    return whole.errors(np.zeros(whole.size)) - whole.errors(tuples.T).T


def _closed_space(whole: MatrixCoupling, starts: np.ndarray) -> np.ndarray | None:
    """Return an orthonormal basis of the tuples, shape (any, entries)."""
    random = np.random.default_rng(0)
    given = [tuple_ for tuple_ in (whole.errors(np.zeros(whole.size)), *starts) if tuple_.any()]
    basis = np.zeros((0, whole.size))
    new = _outside(basis, np.array([x / np.linalg.norm(x) for x in given] or basis))
    while len(new):
        basis = np.concatenate([basis, new])
        if len(basis) > min(_MOST_TUPLES, whole.size // 2):
            return None
        parts = _parts(whole, random.standard_normal(len(basis)) @ basis)
        acting = _coupled(whole, parts)
        largest = float(np.linalg.norm(acting, axis=1).max(initial=0.0)) or 1.0
        new = _outside(basis, np.concatenate([parts, acting / largest]))
    return basis


def _parts(whole: MatrixCoupling, entries: np.ndarray) -> np.ndarray:
    """Return the parts of a tuple, of length one, one a singular value."""
    factors = [np.linalg.svd(each, full_matrices=False) for each in whole.maps(entries)]
    found = []
    for low, high in _ranges(np.concatenate([s for _, s, _ in factors])):
        own = [(u * ((s >= low) & (s <= high))) @ vt for u, s, vt in factors]
        part = np.concatenate([each.ravel() for each in own])
        found.append(part / np.linalg.norm(part))
    return np.array(found)


def _ranges(values: np.ndarray) -> list[tuple[float, float]]:
    """Return (least, largest) of singular values that are one; without those that are none."""
    ordered = np.sort(values)
    least = _EQUAL * ordered[-1] if len(ordered) else 0.0
    ordered = ordered[ordered > least]
    groups = np.split(ordered, np.flatnonzero(np.diff(ordered) > least) + 1)
    return [(float(group[0]), float(group[-1])) for group in groups if len(group)]


def _outside(basis: np.ndarray, tuples: np.ndarray, longest: float = 1.0) -> np.ndarray:
    """Return orthonormal tuples that the given ones add to an orthonormal basis.

    Args:
        basis: Its rows are tuples.
        tuples: Likewise.
        longest: What a leftover is compared with.
    """
    for _ in range(2):
        tuples = tuples - (tuples @ basis.T) @ basis
    _, s, vt = np.linalg.svd(tuples, full_matrices=False)
    new = vt[s > _TUPLE_TOLERANCE * longest]
    new = new - (new @ basis.T) @ basis
    return np.linalg.qr(new.T)[0].T


def _corners(whole: MatrixCoupling, basis: np.ndarray) -> list[_Corner] | None:
    """Return corners in which every tuple shows, or None where a tuple stays hidden."""
    random = np.random.default_rng(1)
    generic = whole.maps(random.standard_normal(len(basis)) @ basis)
    corners: list[_Corner] = []
    rank = 0
    for pathway, (own, each) in enumerate(zip(whole.maps(basis), generic, strict=True)):
        _, s, vt = np.linalg.svd(each, full_matrices=False)
        for low, high in _ranges(s):
            if rank == len(basis):
                return corners
            inside = vt[(s >= low) & (s <= high)]
            seed = random.standard_normal(len(inside)) @ inside
            candidate = [*corners, _corner(pathway, own, seed / np.linalg.norm(seed))]
            found = int(np.linalg.matrix_rank(_readings(whole, basis, candidate), _EQUAL))
            if found > rank:
                corners, rank = candidate, found
    return corners if rank == len(basis) else None


def _corner(pathway: int, own: np.ndarray, seed: np.ndarray) -> _Corner:
    """Close a vector of a pathway's inputs under all tuples and their transposes."""
    longest = float(np.sqrt((own * own).sum(axis=0).max(initial=0.0)))
    inputs, outputs = seed[None], np.zeros((0, own.shape[1]))
    further = inputs
    while len(further):
        images = np.concatenate((own @ inputs.T).swapaxes(1, 2))
        outputs = np.concatenate([outputs, _outside(outputs, images, longest)])
        back = np.concatenate((own.swapaxes(1, 2) @ outputs.T).swapaxes(1, 2))
        further = _outside(inputs, back, longest)
        inputs = np.concatenate([inputs, further])
    return _Corner(pathway, outputs.T, inputs.T)


def _readings(whole: MatrixCoupling, basis: np.ndarray, corners: list[_Corner]) -> np.ndarray:
    """Return the entries of all corners for every tuple of the basis, shape (entries, any)."""
    maps, found = whole.maps(basis), [np.zeros((len(basis), 0))]
    for corner in corners:
        own = corner.outputs.T @ maps[corner.pathway] @ corner.inputs
        found.append(own.reshape(len(basis), own.shape[1] * own.shape[2]))
    return np.hstack(found).T
