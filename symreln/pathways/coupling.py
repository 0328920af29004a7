r"""How pathways of one stage disturb each other's modes, decided exactly.

Pathway j enters the error of pathway p as O_p O_j W_j Sigma^x(j,p). Let class i of j be spanned by
the Krylov vectors of its generators under T_j, with projector E_i, and class a of p be generated
by w under T_p (both as in :class:`symreln.exact.spectrum.ModeClass`). If the strengths of class i
are the function phi(theta) of its root, the error contains, on class a, combinations of

.. math:: A_k = O_p \Sigma^{yx}(j) E_i T_j^k \Sigma^x(j,p) w, \qquad k < \deg i,

and of the same with :math:`T_p^l w` for w. The flow keeps the modes of p scalar if and only if
these, or their sums over classes that move together, are :math:`\Sigma^{yx}(p) q(T_p) w` with a
polynomial q. Everything is rational: no root is computed. That K = U_pᵀ U_j and
G = V_jᵀ Sigma^x V_p are diagonal is necessary but not sufficient, because U_j may point out of
the span of U_p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from symreln.exact.scalar import Scalar
    from symreln.exact.spectrum import JointSpectrum, ModeClass
    from symreln.pathways.effective import EffectiveDataset

#: (index of the pathway in its stage, index of the mode class in its spectrum).
Node = tuple[int, int]
#: Coefficients of a polynomial in theta, low to high.
Coefficients = tuple["Scalar", ...]


@dataclass(frozen=True, kw_only=True)
class ModeCoupling:
    """One class of modes of a source pathway acting on one class of a target pathway.

    Attributes:
        target: (pathway, mode class) that is acted on.
        source: (pathway, mode class) that acts.
        actions: A_k on T_p^l w, indexed [k][l]; not all zero.
        factors: For every k the polynomial q with A_k = Sigma^{yx}(p) q(T_p) w, or None where
            there is no such polynomial: the action leaves the target's modes.
        overlap_squared: k s_p s_j, where k I = U_pᵀ O_p O_j U_j in the common basis, or None
            where the two modes do not share their input directions or k is no number.
        input_overlap: g, where g I = V_jᵀ Sigma^x(j,p) V_p in the common basis, or None.
    """

    target: Node
    source: Node
    actions: tuple[tuple[ExactMatrix, ...], ...]
    factors: tuple[Coefficients, ...] | None
    overlap_squared: Scalar | None
    input_overlap: Scalar | None


@dataclass(frozen=True, kw_only=True)
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

    def components(self, nodes: list[Node]) -> list[frozenset[Node]]:
        """Return the sets of classes that are linked by couplings, in the order of ``nodes``."""
        parent = {node: node for node in nodes}

        def root(node: Node) -> Node:
            while parent[node] != node:
                node = parent[node]
            return node

        for coupling in self.couplings:
            if coupling.target in parent and coupling.source in parent:
                parent[root(coupling.target)] = root(coupling.source)
        groups: dict[Node, list[Node]] = {}
        for node in nodes:
            groups.setdefault(root(node), []).append(node)
        return [frozenset(group) for group in groups.values()]


@dataclass(frozen=True, kw_only=True)
class Drive:
    """What a target class is driven by: Sigma^{yx}(p) T_p^i w.

    Attributes:
        powers: The matrices for i < 3·degree − 2: enough for a polynomial times two shifts.
        degree: Degree of the class.
    """

    powers: tuple[ExactMatrix, ...]
    degree: int

    def polynomial(self, actions: tuple[ExactMatrix, ...]) -> Coefficients | None:
        """Return q with actions[l] = Sigma^{yx}(p) q(T_p) T_p^l w for all l, or None."""
        low = self.powers[: self.degree]
        if low[0].is_zero:
            return None
        names = low[0].parameters
        gram = ExactMatrix.from_rows([[x.frobenius(y) for y in low] for x in low], names)
        right = ExactMatrix.from_rows([[x.frobenius(actions[0])] for x in low], names)
        solution = inverse(gram) @ right
        q = tuple(solution.entry(i, 0) for i in range(self.degree))
        expected = self.shifted(q, 0, len(actions))
        return q if all(x == y for x, y in zip(actions, expected, strict=True)) else None

    def shifted(self, q: Coefficients, k: int, count: int) -> list[ExactMatrix]:
        """Return Sigma^{yx}(p) T_p^k q(T_p) T_p^l w for l < count."""
        result = []
        for shift in range(k, k + count):
            total = ExactMatrix.zeros(*self.powers[0].shape, self.powers[0].parameters)
            for i, coefficient in enumerate(q):
                total += self.powers[i + shift].scale(coefficient)
            result.append(total)
        return result


def drive_of(effective: EffectiveDataset, spectrum: JointSpectrum, a: int) -> Drive:
    """Return the drive of class ``a`` of a pathway."""
    degree = spectrum.classes[a].degree
    vectors = krylov(spectrum, spectrum.classes[a], 3 * degree - 2)
    return Drive(powers=tuple(effective.sigma_yx @ v for v in vectors), degree=degree)


def stage_couplings(
    effective: tuple[EffectiveDataset, ...], spectra: tuple[JointSpectrum, ...]
) -> StageCouplings:
    """Compute every coupling between the pathways of one stage, exactly."""
    found: list[ModeCoupling] = []
    pairs: list[tuple[int, int]] = []
    for p, target in enumerate(effective):
        for j, source in enumerate(effective):
            shared = set(target.pathway.outputs) & set(source.pathway.outputs)
            if p == j or not shared:
                continue
            cross = source.cross_sigma_x(target)
            if cross.is_zero:
                continue
            pairs.append((p, j))
            if spectra[p].commutes and spectra[j].commutes:
                found += _pair_couplings(effective, spectra, p, j, cross)
    return StageCouplings(couplings=tuple(found), coupled_pairs=tuple(pairs))


def krylov(spectrum: JointSpectrum, mode_class: ModeClass, length: int) -> list[ExactMatrix]:
    """Return w, T w, …, T^{length-1} w for the generators w of a class."""
    vectors = [mode_class.generators]
    if length > 1:
        operator = spectrum.operator_matrix(mode_class)
        while len(vectors) < length:
            vectors.append(operator @ vectors[-1])
    return vectors


def _pair_couplings(
    effective: tuple[EffectiveDataset, ...],
    spectra: tuple[JointSpectrum, ...],
    p: int,
    j: int,
    cross: ExactMatrix,
) -> list[ModeCoupling]:
    target, source = effective[p], effective[j]
    whole = len(target.pathway.outputs) == target.sigma_yx.shape[0]
    seen = source.sigma_yx.masked(rows=None if whole else target.pathway.outputs)
    result = []
    drives = [drive_of(target, spectra[p], a) for a in range(len(spectra[p].classes))]
    for i, source_class in enumerate(spectra[j].classes):
        if source_class.is_null:
            continue
        outward, inward = _source_factors(spectra[j], source_class, seen, cross)
        for a, target_class in enumerate(spectra[p].classes):
            bridges = [
                inward @ vector for vector in krylov(spectra[p], target_class, target_class.degree)
            ]
            actions = tuple(tuple(out @ bridge for bridge in bridges) for out in outward)
            if all(action.is_zero for row in actions for action in row):
                continue
            polynomials = [drives[a].polynomial(row) for row in actions]
            factors = (
                None
                if any(q is None for q in polynomials)
                else tuple(q for q in polynomials if q is not None)
            )
            overlaps = _common_basis_overlaps(
                (target, target_class), (source, source_class), seen, cross
            )
            result.append(
                ModeCoupling(
                    target=(p, a),
                    source=(j, i),
                    actions=actions,
                    factors=factors,
                    overlap_squared=overlaps[0],
                    input_overlap=overlaps[1],
                )
            )
    return result


def _source_factors(
    spectrum: JointSpectrum, source: ModeClass, seen: ExactMatrix, cross: ExactMatrix
) -> tuple[list[ExactMatrix], ExactMatrix]:
    """Return (O Sigma^{yx}(j) T^k S (SᵀS)⁻¹ for every k, Sᵀ Sigma^x(j,p)), S the Krylov basis."""
    degree = source.degree
    vectors = krylov(spectrum, source, 2 * degree - 1)
    basis = ExactMatrix.stacked([vector.T for vector in vectors[:degree]]).T
    gram_inverse = inverse(basis.T @ basis)
    outward = [
        seen
        @ ExactMatrix.stacked([vector.T for vector in vectors[k : k + degree]]).T
        @ gram_inverse
        for k in range(degree)
    ]
    return outward, basis.T @ cross


def _common_basis_overlaps(
    target: tuple[EffectiveDataset, ModeClass],
    source: tuple[EffectiveDataset, ModeClass],
    seen: ExactMatrix,
    cross: ExactMatrix,
) -> tuple[Scalar | None, Scalar | None]:
    """Return (k s_p s_j, g) where both modes have the same input directions, else None."""
    same_inputs = target[0].pathway.inputs == source[0].pathway.inputs
    same_size = target[1].multiplicity == source[1].multiplicity
    if not (same_inputs and same_size and target[1].degree == source[1].degree == 1):
        return None, None
    basis, other = target[1].generators, source[1].generators
    gram = basis.T @ basis
    # The two spans are equal when the other's component outside the first vanishes.
    outside = other - basis @ inverse(gram) @ (basis.T @ other)
    if not outside.is_zero:
        return None, None
    overlap = (target[0].sigma_yx @ basis).T @ (seen @ basis)
    return proportionality(overlap, gram), proportionality(basis.T @ cross @ basis, gram)


def proportionality(matrix: ExactMatrix, reference: ExactMatrix) -> Scalar | None:
    """Return the factor with matrix = factor · reference, exactly, or None where there is none."""
    entry = reference.first_nonzero()
    if entry is None:
        return None
    row, column, value = entry
    factor = matrix.entry(row, column) / value
    return factor if matrix == reference.scale(factor) else None
