r"""Certificates: a derivation's exact claims as JSON that :mod:`symreln.verify` can check alone.

Format ``symreln-certificate/2`` (the verifier does not read ``/1``: derive again). A number is a
text: a polynomial ``"5*c^2 + -3"`` over Z in the parameters, or a ratio of two, neither of which
divides the other, without a common integer factor, ``"5*c^2 / 24"``. A matrix lists its non-zero
entries, polynomials in reading order, over one common denominator. A polynomial has one spelling;
ratios are compared as numbers. From X, Y and the gates g (0, 1, or gains) the verifier builds every
pathway's features F_p = X_p diag(g_p), :math:`A = \Sigma^{yx} = O_p Y F_p^T/P`,
:math:`M = A^T A` and :math:`B = \Sigma^x` itself.

**Modes.** A class gives a matrix T (as a rule pM + qB), a polynomial f of degree k, polynomials
lambda and d of degree < k, and generators w_1 … w_m. With v_ij = T^j w_i the verifier checks

1. f(T) w_i = 0;
2. M v_ij = (lambda x^j mod f)(T) w_i and B v_ij = (d x^j mod f)(T) w_i for all j < k;
3. the v_ij, j < k, of all classes together are as many as B has rows, and independent;
4. lambda is 0 (a *null* class), or has an inverse modulo f (multiplication by it has full rank);
5. no two classes have the same lambda and d and, for k > 1, the same f up to a factor; but without
   symmetries, a stage closed by symmetry or of coupled modes may *split* a class into several.

*Claim.* The pairs (lambda(theta), d(theta)) over the roots theta of f, each m times, over all
classes, are exactly the joint eigenvalues of (M, B) with multiplicity, and M B = B M.
*Proof.* For each i the v_ij with j < k span a space of dimension k, by 3. It is invariant under T
and annihilated by f, by 1; being cyclic of dimension k = deg f, its characteristic polynomial
under T is f up to the leading coefficient. By 2, M = lambda(T) and B = d(T) on it, so they commute
there and, triangularised together with T, have on the diagonal the pairs (lambda(theta),
d(theta)). By 3 the whole space is the direct sum of these spaces. ∎
For k = 1 and T = pM + qB, 1 follows from 2 and f(p lambda + q d) = 0, which is what is computed. f
need not be irreducible, nor square-free: by 4, lambda(theta) ≠ 0 at all roots or at none. M and B
are symmetric at real parameters, hence diagonal in one orthonormal V, and
:math:`\Sigma^{yx} = U S V^T` follows with :math:`u = \Sigma^{yx} v/s`.
Independence: where the classes are found to be orthogonal, class by class, by a given inverse of
the Gram matrix SᵀS of S = (T^j w)_{j<k}, or by a rank modulo a prime at one parameter point (a
lower bound of the true one); else by the rank of all. A pathway that does not commute shows the
first non-zero entry of MB - BM and ‖MB - BM‖²/‖MB‖²; then only M's equations are claimed.

**Symmetries.** A symmetry permutes inputs, outputs and samples; X and Y stay the same, and every
stage's pathways (inputs, outputs, gates) go to pathways of that stage, as is checked. Least-squares
outputs are unique, so what a stage leaves to the next one stays the same too, and with it
everything that is claimed of a stage: spaces of modes, couplings, sums of couplings, minimal loss.
So a pathway that is ``like`` another one, its image, has that one's classes with the inputs
permuted, and what is checked for one pathway of every orbit holds for all, *if* these classes do
not depend on the way to the image. Let h be the way from the orbit's first pathway to an image, by
a listed symmetry (or none) to an image, equal to the pathway found there, and back. If all k are 1,
the classes' spaces are those of all modes with one pair (lambda, d), by 3 and 5, and T is a number
there: h keeps them. Else, where h moves inputs, the classes must be orthogonal, h S must be
orthogonal to the other classes for the words S of each, so that it spans what S does, and h must
keep every T that is not pM + qB (which it keeps as it keeps M and B). An orbit has one pathway
whose classes are shown. Components of couplings must be invariant, also where equal pathways of an
orbit change places, and are compared. A ``map`` is shown for the orbit's first pathway and brought
to the images; every symmetry must take these maps to each other, equal pathways in any order, so
that the normal equations of one pathway of the orbit hold for all.

**Couplings** (all pathways of the stage commute). E_i = S(SᵀS)^{-1}Sᵀ is the orthogonal projector
on class i of pathway j: all classes of j are required to be orthogonal. Class i acts on class a of
p by A_kl = O_p A_j E_i T_j^k Sigma^x(j,p) T_p^l w (:mod:`symreln.verdict.coupling`), computed
over samples as O_p O_j Y' F_jᵀ(…)/P², Y' being what earlier stages leave. Where p writes all
outputs of j it vanishes if and only if :math:`S^T \Sigma^x(j,p) T_p^l w = 0`: A_j is one to one on
classes with lambda ≠ 0, as A_jᵀA_j = M.

- ``closed``, ``closed by symmetry``: the classes with s > 0 fall into parts, ``components`` and
  single classes. In a part k, lambda, d and, for k > 1, f up to a factor are equal, and d_eff =
  d + Gamma (Gamma = 0 for single classes). For all p, a, k, l, *the sum of A_kl over the classes
  of the part on other pathways is A_p T_p^{k+l} Gamma(T_p) w for classes a of the part, and 0 for
  all others*, null ones included. Then strengths that start equal in a part stay equal with d_eff
  for d (:mod:`symreln.verdict.closure`). Without components no class acts on another pathway; with
  components at least one does, as is checked, so that the stage is not ``closed``.
- ``coupled modes``: every action that does not vanish is listed with factors q_k,
  A_kl = A_p q_k(T_p) T_p^l w, and none is on a null class; so the stage is not ``closed``. The sums
  of the factors over all sources show that the classes, in parts as above, do not stay equal. That
  other classes (with m > 1 or k > 1: another eigenbasis, a factor of f, another operator) do not
  close by symmetry is not certified.
- ``coupled matrices``: a pathway does not commute, or one action is shown that is on a null class,
  or is not A_p q(T_p) w with one q for all generators, by a rank: then the stage is not ``closed``,
  and these classes are not of coupled modes. Not certified is that no sum of such actions closes by
  symmetry, and, for m > 1 or k > 1, that no other eigenbasis of the same spaces closes. So the last
  two levels are upper bounds: what is said of coupled modes and of matrices holds in any case.

**Minimum.** The loss is convex in the weights, so W is a minimum if and only if
(Y' - Σ W_j F_j) F_pᵀ = 0 on the outputs of every p; the outputs of a minimum are unique. A stage
that is not closed shows such ``map``\ s. In a closed one W_p = A_p Σ_a E_a g_a(T_p) is a minimum,
with g = ``inverse_d_eff``, g d_eff ≡ 1 modulo f: for a class b with s > 0 the sums above and the
pathway's own part give Σ_j O_p W_j Sigma^x(j,p) w = A_p (g (Gamma + d))(T_p) w = A_p w; for a null
class both sides vanish. (Y' - Σ W F) ⊥ F gives the loss, ‖Y'‖²/2P - ½ Σ_p ⟨W_p, A_p⟩, which is
½ Σ m tr_f(lambda g) less in a closed stage. It is ``final_loss``; later stages learn the rest.

Every field is bound: by one of these equations, by its spelling, by the level, or (the pathways'
names) by the digest of the whole. With a renewed digest only choices of the proof can be made
otherwise in one field: the vectors that span a mode's space, the operator of a class and the scale
of its polynomial where no equation sees them, another minimiser or symmetry, which equal classes
are summed together, which action shows a leak, a ratio multiplied above and below by a polynomial.

**Phases.** Where gates switch, the certificate is of the first gates, and ``phases`` names those of
the gates taken later by step and digest; they lie beside it (:mod:`symreln.verify_phases`).
This module takes plain data, so that it does not import the pathways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.exact.certificate_text import Json, Texts, names_used
from symreln.exact.field import Field
from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.sparse import SparseMatrix
from symreln.verify import FORMAT, LEVELS, digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.exact.spectrum import JointSpectrum, ModeClass

#: (index of the pathway in its stage, index of the mode class in its spectrum).
Node = tuple[int, int]
Coefficients = tuple[Scalar, ...]

#: In a gate: the inputs of the pathway are made orthogonal to the sample.
BOUNDARY = "/"


@dataclass(frozen=True, kw_only=True)
class CertifiedSymmetry:
    """A permutation of inputs, outputs and samples under which nothing changes.

    Attributes:
        inputs: Image of every input.
        outputs: Image of every output.
        samples: Image of every sample.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    samples: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class CertifiedPathway:
    """One pathway as a certificate shows it.

    Attributes:
        name: Its name.
        gate: 0, 1 or a gain for every sample; "/" where its inputs are made orthogonal to it.
        inputs: Indices of its inputs, ascending.
        outputs: Indices of its outputs, ascending.
        spectrum: Joint spectrum of its correlations, rows and columns in the order of ``inputs``.
        like: (an earlier pathway of the stage, the symmetry that maps that one to this one), the
            classes of both in the same order; None for a pathway that is shown in full.
    """

    name: str
    gate: tuple[int | Scalar | str, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    spectrum: JointSpectrum
    like: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class CertifiedComponent:
    """Classes of modes that couple and stay equal.

    Attributes:
        members: The classes.
        d_eff: Their effective input eigenvalue, low to high.
    """

    members: tuple[Node, ...]
    d_eff: Coefficients


@dataclass(frozen=True, kw_only=True)
class CertifiedCoupling:
    """A class of modes acting on another, as :mod:`symreln.verdict.coupling` defines it.

    Attributes:
        target: The class that is acted on; its pathway is not like another one.
        source: The class that acts.
        factors: For every power k of the source's operator the polynomial q_k in the target's,
            low to high; None where the action leaves the target's modes.
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
        final_loss: The least loss that it can reach.
        components: For ``closed by symmetry`` the components of more than one class.
        couplings: For ``coupled modes`` every coupling of pathways that are not like others; for
            ``coupled matrices``, where every pathway commutes, one that leaves its target's modes.
        maps: For the last two levels a minimiser, shape (n_y, inputs) for every pathway, the same
            under the symmetries.
    """

    pathways: tuple[CertifiedPathway, ...]
    level: str
    final_loss: Scalar
    components: tuple[CertifiedComponent, ...] = ()
    couplings: tuple[CertifiedCoupling, ...] = ()
    maps: tuple[SparseMatrix, ...] | None = None

    @property
    def commutes(self) -> bool:
        """Whether every pathway has a joint eigenbasis."""
        return all(pathway.spectrum.commutes for pathway in self.pathways)


def build_certificate(
    *,
    inputs: ExactMatrix | SparseMatrix,
    targets: ExactMatrix | SparseMatrix,
    stages: Sequence[CertifiedStage],
    symmetries: Sequence[CertifiedSymmetry] = (),
    phases: Sequence[tuple[int, str]] = (),
) -> Json:
    """Return the certificate of a derivation.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        stages: The stages in order; each learns what the converged earlier ones leave.
        symmetries: Those that pathways refer to.
        phases: (step, digest) of the certificates of gates that are taken later.
    """
    gains = {g for s in stages for p in s.pathways for g in p.gate if isinstance(g, Scalar)}
    texts = Texts(names_used([inputs, targets], gains))
    order = {level: place for place, level in enumerate(LEVELS)}
    certificate: Json = {
        "format": FORMAT,
        "parameters": list(texts.names),
        "inputs": texts.matrix(inputs),
        "targets": texts.matrix(targets),
        "symmetries": [
            {"inputs": list(s.inputs), "outputs": list(s.outputs), "samples": list(s.samples)}
            for s in symmetries
        ],
        "stages": [_stage(s, texts, last=s is stages[-1]) for s in stages],
        "level": max((stage.level for stage in stages), key=lambda level: order[level]),
        "free_constants": 0,
    }
    if phases:
        certificate["phases"] = [{"step": step, "digest": digest} for step, digest in phases]
    return {**certificate, "digest": digest(certificate)}


def pathway_json(pathway: CertifiedPathway) -> Json:
    """Return what a certificate holds of one pathway that is alone in its stage."""
    return _pathway(pathway, 0, Texts(pathway.spectrum.parameters), None, projectors=False)


def _stage(stage: CertifiedStage, texts: Texts, *, last: bool) -> Json:
    closed = stage.level in LEVELS[:2]
    projectors = stage.commutes and (len(stage.pathways) > 1 or not last)
    d_eff = {node: c.d_eff for c in stage.components for node in c.members}
    return {
        "pathways": [
            _pathway(p, place, texts, d_eff if closed else None, projectors=projectors)
            for place, p in enumerate(stage.pathways)
        ],
        "components": [
            {"members": [list(node) for node in members], "d_eff": texts.ratios(d_eff)}
            for members, d_eff in sorted(
                ((sorted(c.members), c.d_eff) for c in stage.components), key=lambda item: item[0]
            )
        ],
        "couplings": [
            {
                "target": list(c.target),
                "source": list(c.source),
                "factors": None if c.factors is None else [texts.ratios(q) for q in c.factors],
            }
            for c in sorted(stage.couplings, key=lambda c: (c.target, c.source))
        ],
        "level": stage.level,
        "map": None
        if closed or stage.maps is None
        else [
            None if p.like else texts.matrix(w)
            for p, w in zip(stage.pathways, stage.maps, strict=True)
        ],
        "final_loss": texts.ratio(stage.final_loss),
    }


def _pathway(
    pathway: CertifiedPathway,
    place: int,
    texts: Texts,
    d_eff: dict[Node, Coefficients] | None,
    *,
    projectors: bool,
) -> Json:
    spectrum = pathway.spectrum
    commutator = None if pathway.like else spectrum.commutator
    return {
        "name": pathway.name,
        "gate": [
            texts.ratio(g) if isinstance(g, Scalar) else g if g == BOUNDARY else int(g)
            for g in pathway.gate
        ],
        "inputs": list(pathway.inputs),
        "outputs": list(pathway.outputs),
        "like": None if pathway.like is None else list(pathway.like),
        "commutator": None
        if commutator is None
        else {
            "row": commutator.row,
            "column": commutator.column,
            "value": texts.ratio(commutator.value),
            "relative_norm_squared": texts.ratio(commutator.relative_norm_squared),
        },
        "classes": None
        if pathway.like
        else [
            _mode_class(
                spectrum,
                mode_class,
                texts,
                None if d_eff is None else d_eff.get((place, a), mode_class.d),
                projector=projectors,
            )
            for a, mode_class in enumerate(spectrum.classes)
        ],
    }


def _mode_class(
    spectrum: JointSpectrum,
    mode_class: ModeClass,
    texts: Texts,
    d_eff: Coefficients | None,
    *,
    projector: bool,
) -> Json:
    operator, learns = mode_class.operator, not mode_class.is_null
    return {
        "operator": texts.ratios([operator.weight_m, operator.weight_x])
        if operator.is_sum
        else texts.matrix(spectrum.operator_matrix(mode_class)),
        "minpoly": texts.ratios(mode_class.minpoly),
        "eigenvalue": texts.ratios(mode_class.eigenvalue),
        "d": None if mode_class.d is None else texts.ratios(mode_class.d),
        "generators": texts.matrix(mode_class.generators),
        "gram_inverse": _gram_inverse(spectrum, mode_class, texts)
        if projector and learns
        else None,
        "inverse_d_eff": texts.ratios(Field(mode_class.minpoly).inverse(d_eff))
        if d_eff is not None and learns
        else None,
    }


def _gram_inverse(spectrum: JointSpectrum, mode_class: ModeClass, texts: Texts) -> Json:
    words = [SparseMatrix.from_exact(mode_class.generators)]
    if mode_class.degree > 1:
        operator = SparseMatrix.from_exact(spectrum.operator_matrix(mode_class))
        while len(words) < mode_class.degree:
            words.append((operator @ words[-1]).reduced())
    basis = SparseMatrix.beside(words)
    return texts.matrix(inverse((basis.T @ basis).reduced().exact))
