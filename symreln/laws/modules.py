"""Gated data fall into orthogonal modules, many of them copies of each other.

The correlations of symmetric data generate a small algebra. Its irreducible modules are found
without knowing the symmetry: the eigenvectors of a generic word span one vector of every copy, and
the subspace that one of them generates (:mod:`symreln.laws.invariant_subspace`) is its module. The
flow of one copy is exact for all, so the work no longer depends on the number of copies.

The word is random, so what it suggests is checked before it is used: closure to the tolerance of
spinning; copies, by further random words that must act on an eigenspace as scalars; and the count,
by ranks and traces of every pathway. Where a check fails, modules are merged, up to the whole: a
sum of modules is a module, only a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.laws.gated_data import GatedModule
from symreln.laws.invariant_subspace import InvariantSubspaces, SubspaceSearch, norm_bound

if TYPE_CHECKING:
    from symreln.laws.gated_data import GatedData

#: Eigenvalues closer than this share of the word's norm are taken for one. Measured: equal ones
#: differ by 5e-16, different ones by 5e-5 and more, from 3 contexts to 16 contexts of 128 items. An
#: eigenvector is known to rounding over the gap, 1e-16/1e-6, the tolerance of spinning.
GAP = 1e-6
#: How far from a scalar a further word may act on an eigenspace of copies, relative to its norm.
#: Measured on copies: below 1e-15. An error of this size in a correlation moves a strength by 1e-11
#: times the relaxations that it lives, some hundreds, within the 1e-9 of the tests.
_COPY_TOLERANCE = 1e-11
#: Relative error of the traces of squares that must add up over all modules: their rounding is
#: some 1e-15, one copy too many or too few among 128 is 1e-2 of its level.
_TRACE_TOLERANCE = 1e-10
#: Length of an input vector's features, relative to a bound of the largest, that counts as zero;
#: see SPAN_TOLERANCE in spans.
_NULL_TOLERANCE = 1e-11
#: Lengths of the words that test copies, and columns of an eigenspace that they are tested on.
WORDS, TESTED = 3, 4


@record(kw_only=False, eq=False)
class Split:
    """Modules that together are the gated data.

    Attributes:
        modules: One of every kind.
        floor: Loss of what lies outside all modules: it stays.
    """

    modules: tuple[GatedModule, ...]
    floor: float


@dataclass(eq=False)
class _Part:
    copies: int
    spun: InvariantSubspaces


@dataclass(eq=False)
class _Cluster:
    """An eigenspace of a word on a pathway's inputs."""

    lowest: float
    highest: float
    basis: np.ndarray
    copies: bool


def split(data: GatedData) -> Split:
    """Return the modules of gated data; the whole as one where they cannot be told apart."""
    spinner = SubspaceSearch(data)
    parts = _parts(spinner)
    if parts is None or not _traces_add_up(spinner, parts):
        parts = [_whole(spinner)]
    return _written(spinner, parts)


def whole(data: GatedData) -> Split:
    """Return gated data as one module."""
    spinner = SubspaceSearch(data)
    return _written(spinner, [_whole(spinner)])


def _written(spinner: SubspaceSearch, parts: list[_Part]) -> Split:
    inside = sum(part.copies * _energy(spinner, part.spun) for part in parts)
    return Split(
        modules=tuple(_module(spinner, part) for part in parts),
        floor=_difference(spinner.data.energy, inside),
    )


def _difference(whole: float, inside: float) -> float:
    """Return what is outside the modules; nothing where rounding alone would be left.

    Both are sums of squares, each right to some 1e-15 of itself; the difference means nothing
    below that.
    """
    outside = whole - inside
    return outside if outside > 1e-13 * whole else 0.0


def _energy(spinner: SubspaceSearch, spun: InvariantSubspaces) -> float:
    found = (t @ u for t, u in zip(spinner.blocks_transposed, spun.outputs, strict=True))
    return 0.5 * sum(float(np.vdot(y, y)) for y in found)


def _parts(spinner: SubspaceSearch) -> list[_Part] | None:
    """Return modules that exhaust the inputs of every pathway, or None."""
    data, parts = spinner.data, []
    order = sorted(range(len(data.features)), key=lambda p: -data.features[p].shape[0])
    for p in order:
        if not data.writes[p].any():
            continue
        missing = _rank(spinner, p) - sum(m.copies * m.spun.inputs[p].shape[1] for m in parts)
        if missing == 0:
            continue
        found = _parts_of(spinner, p, parts) if missing > 0 else None
        if found is None:
            return None
        parts += found
    return parts


def _rank(spinner: SubspaceSearch, p: int) -> int:
    """Return the rank of a pathway's features, decided on their null vectors themselves."""
    feature = spinner.data.features[p]
    if not spinner.norms[p]:
        return 0
    values, vectors = np.linalg.eigh((feature @ feature.T).toarray())
    # The root of an eigenvalue's rounding: below it the Gram matrix cannot tell, features can.
    unsure = vectors[:, values < 1e-12 * spinner.norms[p] ** 2]
    return feature.shape[0] - unsure.shape[1] + _visible(spinner, p, unsure).shape[1]


def _visible(spinner: SubspaceSearch, p: int, basis: np.ndarray) -> np.ndarray:
    """Return the part of a subspace of inputs that has features at all, orthonormal."""
    if not basis.shape[1] or not spinner.norms[p]:
        return basis[:, :0]
    _, s, vt = np.linalg.svd(spinner.transposed[p] @ basis, full_matrices=False)
    return basis @ vt[s > _NULL_TOLERANCE * spinner.norms[p]].T


def _parts_of(spinner: SubspaceSearch, p: int, known: list[_Part]) -> list[_Part] | None:
    """Return modules for the inputs of a pathway that the known ones leave, or None."""
    word = _word(spinner, p)
    clusters = _clusters(spinner, p, word)
    left = np.array([c.basis.shape[1] for c in clusters])
    for part in known:
        left -= part.copies * _touched(part.spun, p, word, clusters)
    found: list[_Part] = []
    for place, cluster in enumerate(clusters):
        if left[place] == 0:
            continue
        part = _part_from(spinner, p, word, clusters, place)
        if part is None or left[place] != cluster.basis.shape[1]:
            return None
        left -= part.copies * _touched(part.spun, p, word, clusters)
        if left.min() < 0:
            return None
        found.append(part)
    return found


def _part_from(
    spinner: SubspaceSearch, p: int, word: np.ndarray, clusters: list[_Cluster], place: int
) -> _Part | None:
    """Spin one vector of an eigenspace of copies, else whole eigenspaces until they are closed."""
    cluster = clusters[place]
    if cluster.copies:
        mixture = spinner.rng.standard_normal(cluster.basis.shape[1])
        seed = cluster.basis @ (mixture / np.linalg.norm(mixture))
        spun = spinner.spin(p, seed[:, None])
        touched = _touched(spun, p, word, clusters)
        sizes = np.array([c.basis.shape[1] for c in clusters])
        copies = int(sizes[place] // max(touched[place], 1))
        met = touched > 0
        if np.array_equal(copies * touched[met], sizes[met]):
            return _Part(copies, spun)
    chosen = {place}
    while True:
        spun = spinner.spin(p, np.hstack([clusters[c].basis for c in sorted(chosen)]))
        touched = _touched(spun, p, word, clusters)
        met = set(np.flatnonzero(touched).tolist())
        if met <= chosen:
            return _Part(1, spun)
        chosen |= met


def _touched(
    spun: InvariantSubspaces, p: int, word: np.ndarray, clusters: list[_Cluster]
) -> np.ndarray:
    """Return how many dimensions of every eigenspace a module contains."""
    basis = spun.inputs[p]
    values = np.linalg.eigvalsh(basis.T @ word @ basis) if basis.shape[1] else np.zeros(0)
    return np.array(
        [
            int(((values > c.lowest - GAP / 2) & (values < c.highest + GAP / 2)).sum())
            for c in clusters
        ]
    )


def _word(spinner: SubspaceSearch, p: int) -> np.ndarray:
    """Return a random symmetric word on the inputs of a pathway, of norm about 1.

    Its parts are scaled to one norm each, so that small correlations show beside large ones.
    """
    data, rng = spinner.data, spinner.rng
    own = data.features[p].T
    parts = [data.features[p] @ own]
    for j, feature in enumerate(data.features):
        if j != p and data.linked[p, j]:
            cross = feature @ own
            parts.append(cross.T @ cross)
    for (members, _), block in zip(data.atoms, spinner.blocks, strict=True):
        if p in members:
            cross = block @ own
            parts.append(cross.T @ cross)
    total = np.zeros(parts[0].shape)
    for part in parts:
        dense = part.toarray()
        norm = _norm(dense, rng)
        total += dense * (rng.uniform(0.5, 1.5) / norm if norm else 0.0)
    return total / np.linalg.norm(total, 2)


def _norm(matrix: np.ndarray, rng: np.random.Generator) -> float:
    """Estimate the norm of a positive matrix from below by a few of its powers."""
    vector = rng.standard_normal(len(matrix))
    size = 0.0
    for _ in range(8):
        # The word has fourth powers of the data, whose squares float64 may have no room for.
        vector = matrix @ (vector / np.linalg.norm(vector))
        most = float(np.abs(vector).max(initial=0.0)) or 1.0
        vector = vector / most
        size = most * float(np.linalg.norm(vector))
        if not size:
            break
    return size


def _clusters(spinner: SubspaceSearch, p: int, word: np.ndarray) -> list[_Cluster]:
    """Return the eigenspaces of a word that have features, and whether they look like copies."""
    values, vectors = np.linalg.eigh(word)
    cuts = np.flatnonzero(np.diff(values) > GAP) + 1
    found = []
    for part in np.split(np.arange(len(values)), cuts):
        basis = vectors[:, part]
        if values[part[0]] < GAP:
            basis = _visible(spinner, p, basis)
        if basis.shape[1]:
            ends = float(values[part[0]]), float(values[part[-1]])
            found.append(_Cluster(*ends, basis, copies=basis.shape[1] == 1))
    _test_copies(spinner, p, [c for c in found if not c.copies])
    return found


def _test_copies(spinner: SubspaceSearch, p: int, clusters: list[_Cluster]) -> None:
    """Mark the eigenspaces on which random words act as scalars.

    Words lead from the inputs of the pathway to every object; vectors of copies that correspond
    to each other have images of equal lengths and angles there. A random part of the eigenspace
    shows any other symmetric matrix than a scalar.
    """
    if not clusters:
        return
    columns, ends = [], [0]
    for cluster in clusters:
        count = min(TESTED, cluster.basis.shape[1])
        mixture = spinner.rng.standard_normal((cluster.basis.shape[1], count))
        columns.append(cluster.basis @ np.linalg.qr(mixture)[0])
        ends.append(ends[-1] + count)
        cluster.copies = True
    state: dict = {("inputs", p): np.hstack(columns)}
    for _ in range(WORDS):
        state = _word_step(spinner, state)
        largest = max(float((image * image).sum(axis=0).max()) for image in state.values())
        for image in state.values():
            for cluster, a, b in zip(clusters, ends[:-1], ends[1:], strict=True):
                gram = image[:, a:b].T @ image[:, a:b]
                off = gram - np.eye(b - a) * np.trace(gram) / (b - a)
                cluster.copies &= bool(np.abs(off).max() <= _COPY_TOLERANCE * largest)


def _word_step(spinner: SubspaceSearch, state: dict) -> dict:
    """Apply a random mixture of all correlations, object by object."""
    data, rng = spinner.data, spinner.rng
    result: dict = {}

    def add(key: tuple, image: np.ndarray) -> None:
        result[key] = result[key] + image if key in result else image

    for a, ((members, _), block) in enumerate(zip(data.atoms, spinner.blocks, strict=True)):
        scale = spinner.block_norms[a]
        samples = sum(
            rng.uniform(0.5, 1.5) / spinner.norms[j] * (spinner.transposed[j] @ state["inputs", j])
            for j in members
            if ("inputs", j) in state and spinner.norms[j]
        )
        wanted = samples
        if scale and ("outputs", a) in state:
            wanted = wanted + spinner.blocks_transposed[a] @ state["outputs", a] / scale
        if scale and not isinstance(samples, int):
            add(("outputs", a), block @ samples / scale)
        for j in members:
            if not isinstance(wanted, int) and spinner.norms[j]:
                weight = rng.uniform(0.5, 1.5) / spinner.norms[j]
                add(("inputs", j), weight * (data.features[j] @ wanted))
    return result


def _traces_add_up(spinner: SubspaceSearch, parts: list[_Part]) -> bool:
    """Whether squares of features and of correlations are those of all copies together."""
    data = spinner.data
    for p, feature in enumerate(data.features):
        if not data.writes[p].any():
            continue
        seen = [(part, spinner.transposed[p] @ part.spun.inputs[p]) for part in parts]
        whole = float(feature.data @ feature.data)
        inside = sum(part.copies * float(np.vdot(x, x)) for part, x in seen)
        if abs(whole - inside) > _TRACE_TOLERANCE * whole:
            return False
        for a, ((members, _), block) in enumerate(zip(data.atoms, spinner.blocks, strict=True)):
            if p not in members:
                continue
            cross = block @ feature.T
            inside = 0.0
            for part, x in seen:
                image = part.spun.outputs[a].T @ (block @ x)
                inside += part.copies * float(np.vdot(image, image))
            whole = float(cross.data @ cross.data)
            if abs(whole - inside) > _TRACE_TOLERANCE * whole:
                return False
    return True


def _whole(spinner: SubspaceSearch) -> _Part:
    """Return the spans of all features and of everything that is wanted of them, as one module."""
    inputs = []
    for p, feature in enumerate(spinner.data.features):
        writes = bool(spinner.data.writes[p].any())
        inputs.append(_visible(spinner, p, np.eye(feature.shape[0])[:, : None if writes else 0]))
    outputs = []
    for (members, _), block in zip(spinner.data.atoms, spinner.blocks, strict=True):
        basis = np.zeros((block.shape[0], 0))
        for p in members:
            images = block @ (spinner.transposed[p] @ inputs[p])
            scale = spinner.norms[p] * norm_bound(block)
            new = spinner.new_directions(basis, images / scale) if scale else basis[:, :0]
            basis = np.hstack([basis, new])
        outputs.append(basis)
    return _Part(1, InvariantSubspaces(inputs=inputs, outputs=outputs))


def _module(spinner: SubspaceSearch, part: _Part) -> GatedModule:
    """Write a module in its own coordinates."""
    data, spun = spinner.data, part.spun
    seen = [t @ v for t, v in zip(spinner.transposed, spun.inputs, strict=True)]
    scaled = [x / (norm or 1.0) for x, norm in zip(seen, spinner.norms, strict=True)]
    basis = spinner.new_directions(np.zeros((data.targets.shape[1], 0)), np.hstack(scaled))
    wanted = np.hstack(
        [t @ u for t, u in zip(spinner.blocks_transposed, spun.outputs, strict=True)]
        or [np.zeros((data.targets.shape[1], 0))]
    )
    inside = basis.T @ wanted
    outside = wanted - basis @ inside
    widths = [u.shape[1] for u in spun.outputs]
    writes = np.zeros((len(data.features), sum(widths)), dtype=bool)
    ends = np.cumsum([0, *widths])
    for (members, _), a, b in zip(data.atoms, ends[:-1], ends[1:], strict=True):
        writes[members, a:b] = True
    return GatedModule(
        copies=part.copies,
        inputs=tuple(spun.inputs),
        features=tuple(x.T @ basis for x in seen),
        targets=inside.T,
        writes=writes,
        sees=data.sees,
        stages=data.stages if data.staged else (1,) * len(data.stages),
        floor=0.5 * float(np.vdot(outside, outside)),
    )
