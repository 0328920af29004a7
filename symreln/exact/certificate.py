r"""Certificates: a derivation's exact claims as JSON that :mod:`symreln.verify` can check alone.

Numbers are texts: a polynomial ``"5*c^2 + -3"`` with integer coefficients in the declared
parameters, or a ratio of two, ``"5*c^2 / 24"``. From the dataset the verifier builds every
pathway's :math:`A = \Sigma^{yx}`, :math:`M = A^T A` and :math:`B = \Sigma^x` itself.

**Modes.** A class gives a matrix T (as a rule pM + qB), a polynomial f of degree k, polynomials
lambda and d of degree < k, and generators w_1 … w_m. With v_ij = T^j w_i the verifier checks

1. f(T) w_i = 0;
2. M v_ij = lambda(T) v_ij and B v_ij = d(T) v_ij for all j < k;
3. the v_ij, j < k, of all classes together are as many as B has rows, and independent.

*Claim.* The pairs (lambda(theta), d(theta)) over the roots theta of f, each m times, over all
classes, are exactly the joint eigenvalues of (M, B) with multiplicity, and M B = B M.
*Proof.* For each i the v_ij with j < k span a space of dimension k, by 3. It is invariant under T
and annihilated by f, by 1; being cyclic of dimension k = deg f, its characteristic polynomial
under T is f up to the leading coefficient. By 2, M = lambda(T) and B = d(T) on it, so they commute
there and, triangularised together with T, have on the diagonal the pairs (lambda(theta),
d(theta)). By 3 the whole space is the direct sum of these spaces. ∎
f need not be irreducible, nor square-free: only its degree and its roots are used. M and B are
symmetric at real parameters, hence diagonal in one orthonormal V, and
:math:`\Sigma^{yx} = U S V^T` follows with :math:`u = \Sigma^{yx} v/s`. Independence is decided
modulo a prime at one parameter point; the rank found there is a lower bound of the true one.
A pathway that does not commute shows the first non-zero entry of MB - BM and
‖MB - BM‖²/‖MB‖²; then only M's equations are claimed and d is null.

**Stages.** W minimises a stage's loss if and only if (Y - W F) X_pᵀ = 0 on the outputs of every
pathway p, F being the gated inputs X_p stacked: the loss is convex in W. The outputs W F are
unique. Y - W F is what the next stage learns, and ``final_loss`` is its ‖·‖²/2P.

**Couplings.** With S = (T_j^l w)_{l<k} and G = (SᵀS)^{-1}, the actions

.. math:: A_{kl} = O_p A_j T_j^k S G S^T \Sigma^x(j,p)\, T_p^l w

of class i of pathway j on class a of pathway p (see :mod:`symreln.pathways.coupling`) are
recomputed for all pairs. Those that do not vanish must be listed, alone or summed over several
sources of one component; ``factors`` q_k say that the (summed) A_kl is A_p q_k(T_p) T_p^l w, and
``null`` that no such q_k exist, which a rank proves. The level follows: ``coupled matrices`` if a
pathway does not commute or a coupling has no factors; ``closed`` if nothing couples; ``closed by
symmetry`` if every entry sums all sources of a component, q_k = T^k Gamma, and the classes of a
component and their Gamma are equal (:mod:`symreln.pathways.closure`), so that d_eff = d + Gamma;
else ``coupled modes``.

Every field is bound: by one of these equations, by the level, or (the pathways' names, and a
second spelling of an equal number) by the digest of the whole. This module takes plain data, so
that it does not import the pathways.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

from symreln.exact import integers
from symreln.exact.linear import inverse, pseudo_inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.verify import FORMAT, LEVELS, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flint import fmpz_mpoly

    from symreln.exact.spectrum import JointSpectrum, ModeClass

#: (index of the pathway in its stage, index of the mode class in its spectrum).
Node = tuple[int, int]
Coefficients = tuple[Scalar, ...]
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CertifiedPathway:
    """One pathway as a certificate shows it.

    Attributes:
        name: Its name.
        gate: 0 or 1 for every sample.
        inputs: Indices of its inputs, ascending.
        outputs: Indices of its outputs, ascending.
        spectrum: Joint spectrum of its correlations, rows and columns in the order of ``inputs``.
    """

    name: str
    gate: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    spectrum: JointSpectrum


@dataclass(frozen=True, kw_only=True)
class CertifiedCoupling:
    """A class of modes acting on another, as :mod:`symreln.pathways.coupling` defines it.

    Attributes:
        target: The class that is acted on.
        source: The class that acts.
        factors: For every power k of the source's operator the polynomial q_k in the target's,
            low to high; None where there is none.
    """

    target: Node
    source: Node
    factors: tuple[Coefficients, ...] | None


@dataclass(frozen=True, kw_only=True)
class CertifiedStage:
    """One stage.

    Attributes:
        pathways: Its pathways.
        level: Its verdict.
        couplings: Every coupling that does not vanish; ignored where a pathway does not commute.
        d_eff: d + Gamma of every class that is acted on, for ``closed by symmetry``.
    """

    pathways: tuple[CertifiedPathway, ...]
    level: str
    couplings: tuple[CertifiedCoupling, ...] = ()
    d_eff: Mapping[Node, Coefficients] | None = None


def build_certificate(
    *, inputs: ExactMatrix, targets: ExactMatrix, stages: Sequence[CertifiedStage]
) -> Json:
    """Return the certificate of a derivation.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        stages: The stages in order; each learns what the converged earlier ones leave.
    """
    inputs, targets = inputs.aligned(targets)
    shown = []
    residual = targets
    for stage in stages:
        part, residual = _stage(stage, inputs, residual)
        shown.append(part)
    used = _names_used(inputs, targets)
    order = {level: place for place, level in enumerate(LEVELS)}
    certificate: Json = {
        "format": FORMAT,
        "parameters": list(used),
        "inputs": matrix_json(inputs),
        "targets": matrix_json(targets),
        "stages": shown,
        "level": max((stage.level for stage in stages), key=lambda level: order[level]),
        "free_constants": 0,
    }
    return {**certificate, "digest": digest(certificate)}


def _names_used(*matrices: ExactMatrix) -> tuple[str, ...]:
    found = {
        name
        for matrix in matrices
        for key in (*matrix.terms, *matrix.denominator.to_dict())
        for name, exponent in zip(matrix.parameters, key, strict=True)
        if int(exponent)
    }
    return tuple(name for name in matrices[0].parameters if name in found)


# -- stages ---------------------------------------------------------------------------------------


def _stage(
    stage: CertifiedStage, inputs: ExactMatrix, targets: ExactMatrix
) -> tuple[Json, ExactMatrix]:
    gated = [
        inputs.select(rows=p.inputs).masked(columns=[i for i, g in enumerate(p.gate) if g])
        for p in stage.pathways
    ]
    weights, outputs = _converged_map(stage, gated, targets)
    residual = (targets - outputs).reduced()
    commute = all(p.spectrum.commutes for p in stage.pathways)
    sources = _sources(stage, gated) if commute else set()
    return {
        "pathways": [
            _pathway(p, [(place, a) in sources for a in range(len(p.spectrum.classes))])
            for place, p in enumerate(stage.pathways)
        ],
        "couplings": _couplings(stage) if commute else [],
        "level": stage.level,
        "map": matrix_json(weights),
        "final_loss": _loss(residual),
    }, residual


def _loss(targets: ExactMatrix) -> str:
    """Return ‖Y‖²/(2P) as text."""
    return ratio_text(targets.frobenius(targets) / (2 * targets.shape[1]))


def _converged_map(
    stage: CertifiedStage, gated: Sequence[ExactMatrix], targets: ExactMatrix
) -> tuple[ExactMatrix, ExactMatrix]:
    """Return (W with one column an input of every pathway, W F) at the minimum of the loss.

    Every output is written by some of the pathways; its row of W is the least-norm solution
    Y Fᵀ (F Fᵀ)⁺ over the gated inputs F of those.
    """
    starts = [0]
    for features in gated:
        starts.append(starts[-1] + features.shape[0])
    groups: dict[tuple[int, ...], list[int]] = {}
    writers = [set(p.outputs) for p in stage.pathways]
    for row in range(targets.shape[0]):
        groups.setdefault(tuple(i for i, w in enumerate(writers) if row in w), []).append(row)
    weights = ExactMatrix.zeros(targets.shape[0], starts[-1], targets.parameters)
    outputs = ExactMatrix.zeros(*targets.shape, targets.parameters)
    for members, rows in groups.items():
        if not members:
            continue
        features = ExactMatrix.stacked([gated[i] for i in members])
        own = targets.masked(rows=rows)
        solution = (own @ features.T @ pseudo_inverse(features @ features.T)).reduced()
        outputs = outputs + solution @ features
        places = [k for i in members for k in range(starts[i], starts[i + 1])]
        weights = weights + _spread(solution, places, starts[-1])
    return weights.reduced(), outputs.reduced()


def _spread(matrix: ExactMatrix, places: Sequence[int], width: int) -> ExactMatrix:
    """Return the matrix with its columns moved to ``places`` among ``width``."""
    columns = {key: integers.columns_of(part) for key, part in matrix.terms.items()}
    zero = [integers.fmpz(0)] * matrix.shape[0]
    terms = {}
    for key, found in columns.items():
        moved = [zero] * width
        for place, column in zip(places, found, strict=True):
            moved[place] = column
        terms[key] = integers.from_columns(moved, matrix.shape[0])
    return ExactMatrix((matrix.shape[0], width), matrix.parameters, terms, matrix.denominator)


def _sources(stage: CertifiedStage, gated: Sequence[ExactMatrix]) -> set[Node]:
    """Return the classes that could act on another pathway's modes."""
    found: set[Node] = set()
    for p, target in enumerate(stage.pathways):
        for j, source in enumerate(stage.pathways):
            if p == j or not set(target.outputs) & set(source.outputs):
                continue
            if not (gated[j] @ gated[p].T).is_zero:
                found |= {(j, i) for i, c in enumerate(source.spectrum.classes) if not c.is_null}
    return found


def _couplings(stage: CertifiedStage) -> list[Json]:
    if stage.level != LEVELS[1]:
        return [
            _coupling(c.target, [c.source], c.factors)
            for c in sorted(stage.couplings, key=lambda c: (c.target, c.source))
        ]
    grouped: dict[tuple[Node, int], list[Node]] = {}
    labels = _components(stage)
    for c in stage.couplings:
        grouped.setdefault((c.target, labels[c.source]), []).append(c.source)
    result = []
    for (target, _), sources in sorted(grouped.items()):
        result.append(_coupling(target, sorted(sources), _summed(stage, target, sources[0])))
    return result


def _components(stage: CertifiedStage) -> dict[Node, int]:
    """Return a label for every class, equal where couplings link classes that are not null."""
    labels: dict[Node, int] = {}
    nodes = [(p, a) for p, x in enumerate(stage.pathways) for a in range(len(x.spectrum.classes))]
    labels = {node: place for place, node in enumerate(nodes)}
    for c in stage.couplings:
        if not _class(stage, c.target).is_null:
            old, new = labels[c.source], labels[c.target]
            labels = {node: new if label == old else label for node, label in labels.items()}
    return labels


def _class(stage: CertifiedStage, node: Node) -> ModeClass:
    return stage.pathways[node[0]].spectrum.classes[node[1]]


def _summed(stage: CertifiedStage, target: Node, source: Node) -> tuple[Coefficients, ...]:
    """Return q_k = theta^k Gamma(theta) for a class that is closed by symmetry."""
    from symreln.exact.field import Field

    mode_class = _class(stage, target)
    field = Field(mode_class.minpoly)
    powers = _class(stage, source).degree
    if mode_class.is_null:
        return tuple(field.constant(0) for _ in range(powers))
    d_eff = (stage.d_eff or {})[target]
    assert mode_class.d is not None
    gamma = tuple(x - y for x, y in zip(d_eff, mode_class.d, strict=True))
    result = [gamma]
    while len(result) < powers:
        result.append(field.reduce((Scalar(field.parameters, 0), *result[-1])))
    return tuple(result)


def _coupling(
    target: Node, sources: Iterable[Node], factors: tuple[Coefficients, ...] | None
) -> Json:
    return {
        "target": list(target),
        "sources": [list(source) for source in sources],
        "factors": None if factors is None else [ratio_texts(q) for q in factors],
    }


# -- pathways -------------------------------------------------------------------------------------


def _pathway(pathway: CertifiedPathway, acting: Sequence[bool]) -> Json:
    spectrum = pathway.spectrum
    commutator = spectrum.commutator
    return {
        "name": pathway.name,
        "gate": [int(value) for value in pathway.gate],
        "inputs": list(pathway.inputs),
        "outputs": list(pathway.outputs),
        "commutator": None
        if commutator is None
        else {
            "row": commutator.row,
            "column": commutator.column,
            "value": ratio_text(commutator.value),
            "relative_norm_squared": ratio_text(commutator.relative_norm_squared),
        },
        "classes": [
            _mode_class(spectrum, mode_class, acts)
            for mode_class, acts in zip(spectrum.classes, acting, strict=True)
        ],
    }


def _mode_class(spectrum: JointSpectrum, mode_class: ModeClass, acts: bool) -> Json:
    operator = mode_class.operator
    matrix = spectrum.operator_matrix(mode_class)
    gram = None
    if acts:
        words = [mode_class.generators]
        while len(words) < mode_class.degree:
            words.append((matrix @ words[-1]).reduced())
        basis = ExactMatrix.beside(words)
        gram = matrix_json(inverse(basis.T @ basis))
    weights = [ratio_text(operator.weight_m), ratio_text(operator.weight_x)]
    return {
        "operator": matrix_json(matrix) if operator.at else weights,
        "minpoly": ratio_texts(mode_class.minpoly),
        "eigenvalue": ratio_texts(mode_class.eigenvalue),
        "d": None if mode_class.d is None else ratio_texts(mode_class.d),
        "generators": matrix_json(mode_class.generators),
        "gram_inverse": gram,
    }


# -- texts ----------------------------------------------------------------------------------------


def polynomial_text(polynomial: fmpz_mpoly, names: Sequence[str]) -> str:
    """Return a polynomial as the verifier reads it, terms from the highest power down."""
    terms = sorted(
        ((tuple(int(e) for e in key), int(c)) for key, c in polynomial.to_dict().items()),
        reverse=True,
    )
    return (
        " + ".join(
            str(c) + "".join(f"*{n}^{e}" for n, e in zip(names, key, strict=True) if e)
            for key, c in terms
        )
        or "0"
    )


def ratio_text(value: Scalar) -> str:
    """Return a rational function as the verifier reads it."""
    common = 1
    if not value.is_zero:
        numbers = [*value.numerator.to_dict().values(), *value.denominator.to_dict().values()]
        common = int(Fraction(int(gcd(*(int(n) for n in numbers)))))
    top = polynomial_text(value.numerator // common, value.parameters)
    bottom = value.denominator // common
    return top if bottom.is_one() else f"{top} / {polynomial_text(bottom, value.parameters)}"


def ratio_texts(values: Iterable[Scalar]) -> list[str]:
    """Return several rational functions."""
    return [ratio_text(value) for value in values]


def matrix_json(matrix: ExactMatrix) -> Json:
    """Return a matrix as {"rows", "columns", "entries": [[row, column, text], …]}."""
    ring = polynomial_ring(matrix.parameters)
    found: dict[tuple[int, int], dict[tuple[int, ...], int]] = {}
    for key, part in matrix.terms.items():
        for i, row in enumerate(part.tolist()):
            for j, value in enumerate(row):
                if value:
                    found.setdefault((i, j), {})[key] = int(value)
    entries = [
        [i, j, ratio_text(Scalar(matrix.parameters, ring.from_dict(terms), matrix.denominator))]
        for (i, j), terms in sorted(found.items())
    ]
    return {"rows": matrix.shape[0], "columns": matrix.shape[1], "entries": entries}
