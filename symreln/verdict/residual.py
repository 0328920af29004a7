r"""What a converged stage leaves to the next one, exactly.

*Closed stages.* Let every class a of pathway p have converged to the strength s/d_eff, that is
:math:`W_p = \Sigma^{yx}(p) H_p` with :math:`H_p = \sum_a \varphi_a(T_p) E_a`, phi = 1/d_eff. The
closure relation says, for a class with generators w,

.. math:: \sum_{j \neq p} O_p \Sigma^{yx}(j) E_j T_j^k \Sigma^x(j,p)\, T_p^l w
   = \Sigma^{yx}(p)\, T_p^k\, \Gamma(T_p)\, T_p^l w,

summed over the classes of one component, where f and phi are the same. With the coefficients of
phi this gives :math:`\sum_{j \neq p} O_p W_j \Sigma^x(j,p) w = \Sigma^{yx}(p) (\varphi \Gamma)(T_p)
w`, and the pathway itself adds :math:`\Sigma^{yx}(p) (\varphi d)(T_p) w`. Since phi (d + Gamma) =
phi d_eff = 1, the sum is :math:`\Sigma^{yx}(p) w`: the error of p vanishes on every class with
s > 0. On a null class :math:`\Sigma^{yx}(p) w = 0`, :math:`H_p \Sigma^x(p) w = d\, H_p w = 0` and
the partners' sums cancel, so the error vanishes there too. Vanishing errors of all pathways are
the normal equations of the stage's least squares, so these W are a minimum, and the outputs of a
minimum are unique: the residual is :math:`Y - \sum_p W_p F_p`, and its loss is the initial one
minus :math:`\frac12 \sum_p \langle \Sigma^{yx}(p), W_p \rangle = \frac12 \sum m\, {\rm
tr}(\lambda/d_{\rm eff})`.

*Other stages* take the orthogonal projection of every output's targets onto the row space of the
features that write to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.exact.field import Field
from symreln.exact.linear import projected, right_inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.targets import Targets
from symreln.verdict.mode_classes import Coefficients, Converged, PathwayModes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from symreln.exact.spectrum import JointSpectrum, ModeClass
    from symreln.networks.effective import EffectiveDataset
    from symreln.verdict.coupling import Node


def closed_residual(targets: Targets, learned: tuple[Converged, ...]) -> Targets:
    """Return what a closed stage leaves, in factored form.

    Args:
        targets: What the stage learns.
        learned: What its pathways have learned in the end.
    """
    power = targets.half_power
    known: dict[tuple, Scalar] = {}
    for part in learned:
        for a, found in part.d_eff.items():
            power = power - _gained(part.pathway.classes[a], found, known)
    return Targets(start=targets.start, learned=(*targets.learned, *learned), power=power)


def plateau_errors(learned: tuple[Converged, ...]) -> tuple[ExactMatrix, ...]:
    """Return Sigma^{yx}(p) − Σ_j O_p O_j W_j Sigma^x(j,p) at the plateaus, one a pathway.

    The normal equations of the stage, straight from their definition: all are zero if and only if
    the plateaus reach the least loss. A pathway that is an image is left out, being zero with it.
    """
    writers: dict[tuple[int, ...], list[Converged]] = {}
    for part in learned:
        writers.setdefault(part.pathway.effective.pathway.outputs, []).append(part)
    errors = []
    for each in learned:
        own = each.pathway.effective
        if own.image is not None:
            continue
        total = own.sigma_yx
        for parts in writers.values():
            # Over samples: W_j Sigma^x(j,p) = O_j Y (F_jᵀ H_j Sigma^x(j,p))/P, summed over j.
            samples = _over_samples(
                [
                    (part.features, (part.right @ part.pathway.effective.cross_sigma_x(own)))
                    for part in parts
                ]
            )
            seen = own.goal.correlated(samples.reduced().T)
            total = total - own.masked(parts[0].pathway.effective.masked(seen))
        errors.append(total.reduced())
    return tuple(errors)


def _over_samples(parts: list[tuple[ExactMatrix, ExactMatrix]]) -> ExactMatrix:
    """Return Σ Fᵀ·inner over (F, inner); features that meet equal matrices are added first."""
    alike: list[tuple[ExactMatrix, ExactMatrix]] = []
    for features, inner in parts:
        place = next((n for n, (_, known) in enumerate(alike) if known == inner), None)
        if place is None:
            alike.append((features, inner))
        else:
            alike[place] = (alike[place][0] + features, inner)
    return ExactMatrix.beside([features.T for features, _ in alike]) @ (
        ExactMatrix.beside([inner.T for _, inner in alike]).T
    )


def plateau_gain(learned: tuple[Converged, ...]) -> Scalar:
    """Return Σ_p ⟨Sigma^{yx}(p), W_p⟩/2: what the plateaus take off the loss.

    That is so where the normal equations hold.
    """
    parameters = learned[0].pathway.spectrum.parameters
    return sum((part.gain for part in learned), start=Scalar(parameters, 0))


def converged_pathways(
    modes: tuple[PathwayModes, ...], d_eff: Mapping[Node, Coefficients]
) -> tuple[Converged, ...]:
    """Return what every pathway of a closed stage has learned in the end.

    Args:
        modes: The stage's pathways.
        d_eff: d_eff of the classes that couple; the others have their own d.
    """
    made: dict[int, Converged] = {}
    for p, pathway in enumerate(modes):
        learning = (a for a, mode_class in enumerate(pathway.classes) if not mode_class.is_null)
        own = {a: d_eff.get((p, a), pathway.classes[a].d) or () for a in learning}
        like = made.get(id(pathway.original))
        same = like if like is not None and like.d_eff == own else None
        made[id(pathway)] = Converged(pathway=pathway, d_eff=own, like=same)
    return tuple(made.values())


def _gained(mode_class: ModeClass, d_eff: Coefficients, known: dict[tuple, Scalar]) -> Scalar:
    """Return ½ m tr(lambda/d_eff)."""
    key = (mode_class.minpoly, mode_class.eigenvalue, d_eff, mode_class.multiplicity)
    if key not in known:
        field = Field(mode_class.minpoly)
        ratio = field.multiply(mode_class.eigenvalue, field.inverse(d_eff))
        known[key] = field.trace(ratio) * mode_class.multiplicity / 2
    return known[key]


def converged_outputs(
    targets: ExactMatrix | Targets, stage: tuple[EffectiveDataset, ...]
) -> ExactMatrix:
    """Return the outputs of a stage at the minimum of its loss, shape (n_y, P).

    Every output is the orthogonal projection of its targets onto the row space of the gated
    inputs of the pathways that write to it. The minimiser may not be unique; its outputs are.
    With one pathway this is W* X with W* = Sigma^{yx} (Sigma^x)⁺. Rational, so the residual
    dataset of the next stage stays exact.

    Args:
        targets: What the stage learns, shape (n_y, P), before any gate or mask.
        stage: The stage's pathways.
    """
    goal = targets if isinstance(targets, Targets) else Targets.of(targets)
    outputs = ExactMatrix.zeros(*goal.shape, goal.start.parameters)
    for members, rows in _writers(stage, goal.shape[0]):
        features = ExactMatrix.beside([stage[i].features.T for i in members]).T
        own = goal.matrix if len(rows) == goal.shape[0] else goal.matrix.masked(rows=rows)
        outputs = outputs + projected(own, features)
    return outputs.reduced()


def minimising_maps(stage: Sequence[EffectiveDataset]) -> tuple[ExactMatrix, ...]:
    """Return W_p, shape (n_y, inputs of p), for every pathway: together a minimum of the loss.

    For the stages whose modes do not give them. W = Y Z minimises ‖Y - W F‖² if
    :math:`(1 - Z F) F^T = 0`. The stage's symmetries leave these weights as they are, up to the
    choice of a basis; where a symmetry does not keep it, the caller sees it and does without.
    """
    goal = stage[0].goal
    maps = [ExactMatrix.zeros(goal.shape[0], e.features.shape[0]) for e in stage]
    for members, rows in _writers(stage, goal.shape[0]):
        stacked = ExactMatrix.beside([stage[i].features.T for i in members]).T
        found, start = goal.times(right_inverse(stacked)), 0
        if len(rows) < goal.shape[0]:
            found = found.masked(rows=rows)
        for i in members:
            width = stage[i].features.shape[0]
            maps[i] = maps[i] + found.select(columns=range(start, start + width))
            start += width
    return tuple(w.reduced() for w in maps)


def _writers(
    stage: Sequence[EffectiveDataset], outputs: int
) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Yield (pathways, the outputs that they and no others write); none that nobody writes."""
    writers: dict[tuple[int, ...], list[int]] = {}
    own_rows = [set(effective.pathway.outputs) for effective in stage]
    for row in range(outputs):
        members = tuple(i for i, rows in enumerate(own_rows) if row in rows)
        writers.setdefault(members, []).append(row)
    yield from ((members, rows) for members, rows in writers.items() if members)


#: A pathway with its spectrum.
_Learner = tuple["EffectiveDataset", "JointSpectrum"]


def stages_decouple(stages: tuple[tuple[_Learner, ...], ...]) -> bool:
    """Return whether the loss is the sum of the stages' losses at all times, proven.

    The residual of a converged stage is orthogonal to that stage's inputs, so the one cross term
    is ⟨outputs of a later stage, what an earlier stage has still to learn⟩. It vanishes for all
    strengths if and only if it does for every pair of modes. False also where that could not be
    decided (modes whose eigenvalue is not rational in the parameters). An image is
    decided by its original: their symmetry maps the earlier stages onto themselves.
    """
    known: dict[int, PathwayModes] = {}

    def modes(learner: _Learner) -> PathwayModes:
        return known.setdefault(id(learner[1]), PathwayModes(*learner))

    return all(
        _orthogonal(modes(late), modes(early))
        for place, stage in enumerate(stages)
        for late in stage
        if late[0].image is None
        for before in stages[:place]
        for early in before
    )


def _orthogonal(late: PathwayModes, early: PathwayModes) -> bool:
    """Whether tr(E_late A_lateᵀ A_early E_early Sigma^x) = 0 for all pairs of modes."""
    overlap = late.effective.sigma_yx.T @ early.effective.sigma_yx
    if overlap.is_zero:
        return True
    cross = early.effective.cross_sigma_x(late.effective)
    if any(mode.degree > 1 for m in (late, early) for mode in m.classes):
        return cross.is_zero
    for a in range(len(late.classes)):
        seen = late.projector(a) @ overlap
        for b in range(len(early.classes)):
            wanted = (early.projector(b) @ cross).T
            if not seen.frobenius(wanted).is_zero:
                return False
    return True
