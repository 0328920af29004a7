r"""Pathways of one module move together: the few numbers that its flow really needs.

The flow of all maps W = (W_1, …, W_N) is made of two operations: the linear coupling
W ↦ (Σ_j O_p O_j W_j Sigma^x(j,p))_p, and products A_p B_pᵀ C_p within every pathway (the roots in
:mod:`symreln.laws.block_flow` are series of them). The smallest space of tuples that contains
Sigma^yx and is closed under both is never left. Exchangeable pathways, and symmetries inside one,
make it small: 16 contexts are as few numbers as 3.

A space closed under A Bᵀ C is a sum of full matrix spaces, each acting in some pathways, often
repeatedly. One pair of bases in one pathway for each, found by spinning a vector, is faithful: the
tuples can be read off the blocks, linearly, and each block follows the flow of a pathway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.laws.block_flow import AffineCoupling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.laws.gated_data import GatedModule

#: Leftover of a product, relative to the longest of its round, that counts as a new tuple.
#: Measured where pathways share something, 3 contexts to 16 contexts of 128 items: rounding at most
#: 7e-13, true ones 1e-2 and more. Elsewhere the two meet, so a space that is not at most half of
#: all tuples is not used.
_TUPLE_TOLERANCE = 1e-9
#: Largest dimension that is looked for; structureless pathways share nothing to find.
_MOST_TUPLES = 160
#: Entries of all maps up to which a module without a smaller space is written as one matrix.
_FEW = 64
#: Eigenvalues of a random tuple's Gram matrix that are one, relative to the largest.
_EQUAL = 1e-6
#: Random products a round, at least.
_PRODUCTS = 6


@record(kw_only=False, eq=False)
class _Block:
    """A faithful corner of the space: one pathway, bases of its outputs and inputs."""

    pathway: int
    outputs: np.ndarray
    inputs: np.ndarray


@record(eq=False)
class ReducedModule:
    """A module as the flow of a few blocks.

    Attributes:
        module: The module.
        coupling: Its blocks.
        corners: What every block is a corner of.
        lift: [W_1, …, W_N] of every entry of the blocks, shape (entries, u, Σ w_p).
    """

    module: GatedModule
    coupling: AffineCoupling
    corners: tuple[_Block, ...]
    lift: np.ndarray

    def starts(self, grams: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the start of every block from that of every pathway.

        Args:
            grams: Q Qᵀ/g on [inputs; outputs] of a copy, shape (w_p + u) squared, one a pathway;
                their parts outside the identity belong to the tuples that the module was tied by.
        """
        from scipy.linalg import block_diag

        found = []
        for corner in self.corners:
            whole = block_diag(corner.inputs, corner.outputs)
            found.append(whole.T @ grams[corner.pathway] @ whole)
        return found

    def functional(self, pathway: int, weights: np.ndarray) -> np.ndarray:
        """Return tr(weightsᵀ W_p) of one copy as a linear function of the entries.

        Args:
            pathway: p.
            weights: Shape (u, w_p).
        """
        own = self.lift[:, :, self.module.columns[pathway]]
        return np.tensordot(own, weights, axes=([1, 2], [0, 1]))


def _reduced(module: GatedModule, basis: np.ndarray, blocks: list[_Block]) -> ReducedModule:
    """Write the flow and the loss of a module in blocks that show every tuple of a basis."""
    read = _readings(module, basis, blocks)
    tuples = np.linalg.pinv(read)
    coupled = coupling(module, basis)
    projected = np.tensordot(basis, coupled, axes=([1, 2], [1, 2]))
    outputs = (basis @ module.stacked).reshape(len(basis), module.targets.size).T
    wanted = module.targets.ravel()
    q, r = np.linalg.qr(outputs)
    inside = q.T @ wanted
    outside = wanted - q @ inside
    weight = np.sqrt(module.copies)
    return ReducedModule(
        module=module,
        coupling=AffineCoupling(
            shapes=tuple((b.outputs.shape[1], b.inputs.shape[1]) for b in blocks),
            rate=module.rate,
            offsets=read @ np.tensordot(basis, module.sigma_yx, axes=([1, 2], [0, 1])),
            matrix=read @ projected @ tuples,
            targets=weight * inside,
            outputs=weight * (r @ tuples),
            floor=module.copies * (0.5 * float(outside @ outside) + module.floor),
        ),
        corners=tuple(blocks),
        lift=np.tensordot(tuples.T, basis, axes=1),
    )


def coupling(module: GatedModule, maps: np.ndarray) -> np.ndarray:
    """Return [Σ_j O_p O_j W_j Sigma^x(j,p)]_p of [W_1, …, W_N], shape (u, Σ w_p)."""
    return module.mask * (maps @ module.sigma_x)


def tie(module: GatedModule, starts: np.ndarray | None = None) -> ReducedModule | None:
    """Return the module in its closed space of tuples, or None where that is no smaller.

    A module of few entries is returned in all its tuples instead.

    Args:
        module: The module.
        starts: Tuples that the initial weights are made of beside the identity, shape
            (any, u, Σ w_p); the space is closed with them.
    """
    basis = _closed_space(module, starts)
    if basis is None:
        return _all_tuples(module) if module.mask.sum() <= _FEW else None
    blocks = _blocks(module, basis)
    return None if blocks is None else _reduced(module, basis, blocks)


def _all_tuples(module: GatedModule) -> ReducedModule:
    """Return a module with every pathway's map as a block."""
    places = np.argwhere(module.mask)
    basis = np.zeros((len(places), *module.mask.shape))
    basis[np.arange(len(places)), places[:, 0], places[:, 1]] = 1
    directions = np.eye(len(module.targets))
    blocks = [
        _Block(p, directions[:, writes], np.eye(module.features[p].shape[0]))
        for p, writes in enumerate(module.writes)
    ]
    return _reduced(module, basis, blocks)


def _closed_space(module: GatedModule, starts: np.ndarray | None) -> np.ndarray | None:
    """Return an orthonormal basis of the tuples, shape (k, u, Σ w_p)."""
    shape = module.sigma_yx.shape
    most = min(_MOST_TUPLES, int(module.mask.sum()) // 2)
    rng = np.random.default_rng(0)
    basis = np.zeros((0, *shape))
    given = module.sigma_yx[None]
    new = _outside(basis, given if starts is None else np.concatenate([given, starts]))
    norm = float(np.linalg.norm(module.sigma_x, 2)) if module.sigma_x.size else 0.0
    while len(new):
        basis = np.concatenate([basis, new])
        if len(basis) > most:
            return None
        new = _outside(basis, coupling(module, new), norm)
        if not len(new):
            new = _outside(basis, _products(module, basis, rng))
    return basis


def _products(module: GatedModule, basis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return random products A Bᵀ C in every pathway; they span what all products span."""
    count = max(_PRODUCTS, len(basis))
    mixtures = rng.standard_normal((3, count, len(basis))) / np.sqrt(len(basis))
    a, b, c = (np.tensordot(mixture, basis, axes=1) for mixture in mixtures)
    result = np.zeros_like(a)
    for place in module.columns:
        result[:, :, place] = a[:, :, place] @ (b[:, :, place].swapaxes(1, 2) @ c[:, :, place])
    return result


def _outside(basis: np.ndarray, tuples: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Return orthonormal tuples that the given ones add to the basis.

    Args:
        basis: Orthonormal tuples.
        tuples: Images or products of them.
        scale: What a leftover is compared with; the longest of the tuples by default.
    """
    shape = tuples.shape[1:]
    width = int(np.prod(shape))
    flat, known = tuples.reshape(len(tuples), width), basis.reshape(len(basis), width)
    longest = scale or float(np.sqrt((flat * flat).sum(axis=1).max(initial=0.0)))
    if not longest:
        return tuples[:0]
    for _ in range(2):
        flat = flat - (flat @ known.T) @ known
    _, s, vt = np.linalg.svd(flat, full_matrices=False)
    new = vt[s > _TUPLE_TOLERANCE * longest]
    new = new - (new @ known.T) @ known
    return np.linalg.qr(new.T)[0].T.reshape(len(new), *shape)


def _blocks(module: GatedModule, basis: np.ndarray) -> list[_Block] | None:
    """Return corners in which every tuple shows, or None where a tuple stays hidden."""
    rng = np.random.default_rng(1)
    generic = np.tensordot(rng.standard_normal(len(basis)), basis, axes=1)
    blocks: list[_Block] = []
    rank = 0
    for pathway, place in enumerate(module.columns):
        own = basis[:, :, place]
        for seed in _seeds(generic[:, place], rng):
            block = _corner(pathway, own, seed)
            candidate = [*blocks, block]
            found = int(np.linalg.matrix_rank(_readings(module, basis, candidate), _EQUAL))
            if found > rank:
                blocks, rank = candidate, found
            if rank == len(basis):
                return blocks
    return None if len(basis) else []


def _seeds(generic: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return a random vector of every eigenspace of WᵀW with an eigenvalue above zero."""
    if not generic.size:
        return []
    _, s, vt = np.linalg.svd(generic, full_matrices=False)
    values = s * s / (s[0] * s[0] or 1.0)
    seeds = []
    for part in np.split(np.arange(len(values)), np.flatnonzero(-np.diff(values) > _EQUAL) + 1):
        if values[part[0]] > _EQUAL**2:
            mixture = rng.standard_normal(len(part)) @ vt[part]
            seeds.append(mixture / np.linalg.norm(mixture))
    return seeds


def _corner(pathway: int, own: np.ndarray, seed: np.ndarray) -> _Block:
    """Close a vector of a pathway's inputs under all tuples and their transposes."""
    norm = float(np.sqrt((own * own).sum(axis=0).max(initial=0.0)))
    inputs, outputs = seed[None], np.zeros((0, own.shape[1]))
    while True:
        images = (own @ inputs.T).swapaxes(1, 2).reshape(-1, own.shape[1])
        more = _outside(outputs[:, None], images[:, None], norm)[:, 0]
        outputs = np.concatenate([outputs, more])
        back = (own.swapaxes(1, 2) @ outputs.T).swapaxes(1, 2).reshape(-1, own.shape[2])
        further = _outside(inputs[:, None], back[:, None], norm)[:, 0]
        inputs = np.concatenate([inputs, further])
        if not len(further):
            return _Block(pathway, outputs.T, inputs.T)


def _readings(module: GatedModule, basis: np.ndarray, blocks: list[_Block]) -> np.ndarray:
    """Return the entries of all blocks for every tuple of the basis, shape (entries, k)."""
    found = [np.zeros((len(basis), 0))]
    for block in blocks:
        own = basis[:, :, module.columns[block.pathway]]
        corner = block.outputs.T @ own @ block.inputs
        found.append(corner.reshape(len(basis), block.outputs.shape[1] * block.inputs.shape[1]))
    return np.hstack(found).T
