r"""How pathways of one stage disturb each other's modes, decided exactly.

Pathway j enters the error of pathway p as O_p O_j W_j Sigma^x(j,p). Let class i of j be spanned by
the Krylov vectors of its generators under T_j, with projector E_i, and class a of p be generated
by w under T_p (both as in :class:`symreln.exact.spectrum.ModeClass`). If the strengths of class i
are the function phi(theta) of its root, the error contains, on class a, combinations of

.. math:: A_k = O_p \Sigma^{yx}(j) E_i T_j^k \Sigma^x(j,p) w, \qquad k < \deg i,

and of the same with :math:`T_p^l w` for w. The flow keeps all modes of a class scalar if these, or
their sums over classes that move together, are :math:`\Sigma^{yx}(p) q(T_p) w` with a polynomial
q. Where the target's modes are simple, their eigenbasis is unique and this is necessary too while
the strengths of the sources differ. Where their multiplicity exceeds one, another basis of the
class may do what the class as a whole does not, unless the action leaves
:math:`\Sigma^{yx}(p)` times the class. Everything is rational: no root is computed. That
K = U_pᵀ U_j and G = V_jᵀ Sigma^x V_p are diagonal is not sufficient, because U_j may point out of
the span of U_p.

*Which classes act* is decided among the inputs: :math:`M_j = \lambda(T_j)` with lambda(theta) ≠ 0
makes Sigma^{yx}(j) one to one on a class with s > 0, so that, where p writes every output that j
writes, all A_k vanish if and only if :math:`S_i^T \Sigma^x(j,p) T_p^l w = 0` for all l. Otherwise,
and wherever they are asked for, the actions themselves are computed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.linked import linked
from symreln.base.records import record
from symreln.exact.integer_matrix import merged
from symreln.exact.linear import rank
from symreln.exact.matrix import ExactMatrix
from symreln.verdict.stage_symmetry import Node, StageSymmetry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symreln.exact.scalar import Scalar
    from symreln.exact.spectrum import ModeClass
    from symreln.verdict.mode_classes import Coefficients, PathwayModes

#: A_k on T_p^l w, indexed [k][l].
Actions = tuple[tuple[ExactMatrix, ...], ...]


@record(eq=False)
class ModeCoupling:
    """One class of modes of a source pathway acting on one class of a target pathway.

    Attributes:
        target: (pathway, mode class) that is acted on.
        source: (pathway, mode class) that acts.
        stage: The modes of all pathways of the stage.
        like: A coupling that a symmetry maps to this one: factors and overlaps are the same.
    """

    target: Node
    source: Node
    stage: tuple[PathwayModes, ...]
    like: ModeCoupling | None = None

    @cached_property
    def actions(self) -> Actions:
        """A_k on T_p^l w, indexed [k][l]; not all zero."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[tuple[ExactMatrix, ...]]:
        """Yield them by k: the first one mostly decides, and later ones are of longer numbers."""
        (p, a), (j, i) = self.target, self.source
        return _class_actions(self.stage[p], a, self.stage[j], i)

    @cached_property
    def factors(self) -> tuple[Coefficients, ...] | None:
        """For every k the polynomial q with A_k = Sigma^{yx}(p) q(T_p) w.

        None where there is no such polynomial: the action leaves the target's span or mixes its
        modes.
        """
        if self.like is not None:
            return self.like.factors
        drive = self.stage[self.target[0]].drive(self.target[1])
        found = []
        for row in self._rows():
            q = drive.polynomial(row)
            if q is None:
                return None
            found.append(q)
        return tuple(found)

    @property
    def target_class(self) -> ModeClass:
        """The class that is acted on."""
        p, a = self.target
        return self.stage[p].classes[a]

    @property
    def source_class(self) -> ModeClass:
        """The class that acts."""
        j, i = self.source
        return self.stage[j].classes[i]

    @cached_property
    def leaves_span(self) -> bool:
        """Whether A_k leaves Sigma^{yx}(p) times the target's class, which is not null.

        Sigma^{yx} is one to one on the class: its image may fill all outputs.
        """
        if self.like is not None:
            return self.like.leaves_span
        p, a = self.target
        target = self.stage[p]
        sigma_yx = target.effective.sigma_yx
        if self.target_class.dimension == len(target.effective.pathway.outputs):
            return False
        image, size = sigma_yx @ target.basis(a), self.target_class.dimension
        actions = (ExactMatrix.beside([image, *row]) for row in self._rows())
        return any(rank(both) > size for both in actions)

    @property
    def leaks_in_every_basis(self) -> bool:
        """Whether no joint eigenbasis of the two classes maps modes to modes.

        Asked of couplings on null classes and of those without factors. The parts of the action
        that belong to the modes of another basis of the source add up to the action: if every
        part stayed on simple modes of the target, or in its span, so would their sum.
        """
        return self.target_class.is_null or self.target_class.multiplicity == 1 or self.leaves_span

    @property
    def overlap_squared(self) -> Scalar | None:
        """K s_p s_j, where k I = U_pᵀ O_p O_j U_j in the common basis.

        None where the two modes do not share their input directions or k is no number.
        """
        return self._overlaps[0]

    @property
    def input_overlap(self) -> Scalar | None:
        """g, where g I = V_jᵀ Sigma^x(j,p) V_p in the common basis, or None."""
        return self._overlaps[1]

    @cached_property
    def _overlaps(self) -> tuple[Scalar | None, Scalar | None]:
        if self.like is not None:
            return self.like._overlaps
        (p, a), (j, i) = self.target, self.source
        return _common_basis_overlaps(self.stage[p], a, self.stage[j], i)


@record
class StageCouplings:
    """All couplings of a stage.

    Attributes:
        couplings: Every pair of mode classes that couples; empty where a pathway that couples
            has no joint eigenbasis, because there are no modes then.
        coupled_pairs: (target, source) pathways with O_p O_j != 0 and Sigma^x(j,p) != 0, whether
            or not their modes could be paired.
    """

    couplings: tuple[ModeCoupling, ...]
    coupled_pairs: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, modes: tuple[PathwayModes, ...], symmetry: StageSymmetry) -> StageCouplings:
        """Find every coupling between the pathways of one stage, exactly.

        Pairs of pathways that a symmetry maps to each other are decided once.
        """
        found: list[ModeCoupling] = []
        pairs: list[tuple[int, int]] = []
        known: dict[tuple[int, int], list[ModeCoupling] | None] = {}
        for p, j in permutations(range(len(modes)), 2):
            origin = symmetry.origin(p, j)
            if origin == (p, j):
                known[origin] = _pair_couplings(modes, p, j)
            couplings = known[origin]
            if couplings is None:
                continue
            pairs.append((p, j))
            found += (
                couplings if origin == (p, j) else [_moved(c, p, j, symmetry) for c in couplings]
            )
        found.sort(key=lambda c: (c.target[0], c.source[0], c.source[1], c.target[1]))
        return cls(couplings=tuple(found), coupled_pairs=tuple(pairs))

    def components(self, nodes: list[Node]) -> list[frozenset[Node]]:
        """Return the sets of classes that are linked by couplings, in the order of ``nodes``."""
        pairs = [(c.target, c.source) for c in self.couplings]
        within = [pair for pair in pairs if {*nodes}.issuperset(pair)]
        groups = linked([*((node,) for node in nodes), *within])
        return [frozenset(nodes[k] for k in group if k < len(nodes)) for group in groups]

    def act_across(self, parts: tuple[frozenset[Node], ...]) -> bool:
        """Whether modes that learn something are acted on by others that are not equal to them."""
        part = {node: n for n, nodes in enumerate(parts) for node in nodes}
        return any(part.get(c.target, part[c.source]) != part[c.source] for c in self.couplings)


def _moved(coupling: ModeCoupling, p: int, j: int, symmetry: StageSymmetry) -> ModeCoupling:
    """Return what a coupling is between the pathways that a symmetry takes its own to."""
    (p0, a), (j0, i) = coupling.target, coupling.source
    target, source = (p, symmetry.followed(p0, a, p)), (j, symmetry.followed(j0, i, j))
    return replace(coupling, target=target, source=source, like=coupling)


def _pair_couplings(modes: tuple[PathwayModes, ...], p: int, j: int) -> list[ModeCoupling] | None:
    """Return the couplings of pathway j acting on p, or None where they do not meet."""
    target, source = modes[p], modes[j]
    if not set(target.effective.pathway.outputs) & set(source.effective.pathway.outputs):
        return None
    cross = source.effective.cross_sigma_x(target.effective)
    if cross.is_zero:
        return None
    if not (target.spectrum.commutes and source.spectrum.commutes):
        return []
    nodes = _acting(target, source, cross)
    return [ModeCoupling(target=(p, a), source=(j, i), stage=modes) for i, a in nodes]


def _acting(
    target: PathwayModes, source: PathwayModes, cross: ExactMatrix
) -> list[tuple[int, int]]:
    """Return (source class, target class) wherever the former acts on the latter."""
    learning = [i for i, c in enumerate(source.classes) if not c.is_null]
    met = _meeting(
        [source.basis(i) for i in learning],
        cross,
        [target.basis(a) for a in range(len(target.classes))],
    )
    found = [(learning[i], a) for i, a in met]
    if set(source.effective.pathway.outputs) <= set(target.effective.pathway.outputs):
        return found
    return [
        (i, a)
        for i, a in found
        if any(not x.is_zero for row in _class_actions(target, a, source, i) for x in row)
    ]


def _meeting(
    left: Sequence[ExactMatrix], middle: ExactMatrix, right: Sequence[ExactMatrix]
) -> list[tuple[int, int]]:
    """Return (i, a) wherever left[i]ᵀ middle right[a] is not zero."""
    if not left:
        return []
    product = ExactMatrix.beside(left).T @ (middle @ ExactMatrix.beside(right))
    rows = np.repeat(np.arange(len(left)), [part.shape[1] for part in left])
    columns = np.repeat(np.arange(len(right)), [part.shape[1] for part in right])
    met: set[tuple[int, int]] = set()
    for part in product.terms.values():
        places = merged([rows[part.rows] * len(right) + columns[part.columns]])
        met |= {divmod(place, len(right)) for place in places.tolist()}
    return sorted(met)


def _class_actions(
    target: PathwayModes, a: int, source: PathwayModes, i: int
) -> Iterator[tuple[ExactMatrix, ...]]:
    """Yield A_k on T_p^l w, indexed [k][l]."""
    cross = source.effective.cross_sigma_x(target.effective)
    bridges = [cross @ vector for vector in target.krylov(a, target.classes[a].degree)]
    for k in range(source.classes[i].degree):
        inner = [source.projected(i, k, bridge) for bridge in bridges]
        seen = [source.effective.sigma_yx @ vectors for vectors in inner]
        yield tuple(target.effective.masked(action).reduced() for action in seen)


def _common_basis_overlaps(
    target: PathwayModes, a: int, source: PathwayModes, i: int
) -> tuple[Scalar | None, Scalar | None]:
    """Return (k s_p s_j, g) where both modes have the same input directions, else None."""
    one, other = target.classes[a], source.classes[i]
    same_inputs = target.effective.pathway.inputs == source.effective.pathway.inputs
    same_size = one.multiplicity == other.multiplicity
    if not (same_inputs and same_size and one.degree == other.degree == 1):
        return None, None
    basis, there = target.basis(a), source.basis(i)
    if there == basis:
        driven = source.drive(i).powers[0]
    elif target.projector(a) @ there == there:  # the spans are equal
        driven = source.effective.sigma_yx @ basis
    else:
        return None, None
    gram = basis.T @ basis
    overlap = target.drive(a).powers[0].T @ target.effective.masked(driven)
    cross = source.effective.cross_sigma_x(target.effective)
    shared = basis.T @ (cross @ basis)
    return _proportionality(overlap, gram), _proportionality(shared, gram)


def _proportionality(matrix: ExactMatrix, reference: ExactMatrix) -> Scalar | None:
    """Return the factor with matrix = factor · reference, exactly, or None where there is none."""
    entry = next(reference.nonzero(), None)
    if entry is None:
        return None
    row, column, value = entry
    factor = matrix.entry(row, column) / value
    return factor if matrix == reference.scale(factor) else None
