r"""Whether the modes of one stage close, for every number N of exchangeable values at once.

Pathway j enters the error of pathway p as O_p W_j Sigma^x(j,p). With all strengths of class i of
every pathway j of one template equal, phi(theta), it contains on class a

.. math:: S_k = \sum_j O_p A_j E_i T_j^k \Sigma^x(j,p) E_a, \qquad k < \deg i,

and the flow keeps the strengths equal and the modes decoupled if these, summed over all classes i
that move together, are :math:`A_p T_p^k \Gamma(T_p) E_a` with one polynomial Gamma; then d_eff =
d + Gamma. This is :mod:`symreln.verdict.closure` with projectors on whole classes in place of
generators. One summand treats two values apart, that of p and that of j; the sum over j is taken
by the rule of :meth:`symreln.claims.families.algebra.FamilyMatrix.summed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.base.linked import components
from symreln.claims.families.stage import SPECIAL, written
from symreln.verdict.judge import Level
from symreln.verdict.modes import Drive

if TYPE_CHECKING:
    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.spectrum import Coefficients
    from symreln.claims.families.stage import Learner
    from symreln.verdict.alike import Node

#: The pathways of a stage that have inputs in a sector, by their place in the stage.
Learners = Mapping[int, "Learner"]

OTHER = "l"
"""Name of the special value of the pathway that acts, where that of the one acted on is k."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Action:
    """What all pathways of one template, class i, do to one class of a pathway.

    Attributes:
        source: (pathway, class) that acts.
        target: (pathway, class) that is acted on.
        total: S_k for every k, summed over the pathways of the source's template.
        single: The same of one pathway, for every way in which two of the templates meet.
    """

    source: Node
    target: Node
    total: tuple[FamilyMatrix, ...]
    single: tuple[FamilyMatrix, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _StageClosure:
    """What was proven of one stage in one sector.

    Attributes:
        level: CLOSED or CLOSED_BY_SYMMETRY, or COUPLED_MATRICES where neither was proven.
        obstacle: What stands in the way of closure, or "".
        d_eff: d + Gamma of every class that is not null, where the stage closes.
        actions: All that are not zero.
    """

    level: Level
    obstacle: str
    d_eff: dict[Node, Coefficients]
    actions: tuple[_Action, ...]


def stage_closure(learners: Learners) -> _StageClosure:
    """Decide one stage whose pathways all have joint eigenbases."""
    actions = tuple(
        action for p in learners for q in learners for action in _actions(learners, p, q)
    )
    level = Level.CLOSED_BY_SYMMETRY if actions else Level.CLOSED
    gamma, obstacle = _gamma(learners, actions)
    if obstacle:
        return _StageClosure(
            level=Level.COUPLED_MATRICES, obstacle=obstacle, d_eff={}, actions=actions
        )
    d_eff = {
        (p, a): _sum(mode.d, gamma.get((p, a)))
        for p, item in learners.items()
        for a, mode in enumerate(item.classes)
        if not mode.is_null
    }
    return _StageClosure(level=level, obstacle="", d_eff=d_eff, actions=actions)


def _sum(d: Coefficients, gamma: Coefficients | None) -> Coefficients:
    return d if gamma is None else tuple(x + y for x, y in zip(d, gamma, strict=True))


@dataclass(frozen=True)
class _Meeting:
    """Two pathways written in one algebra.

    Attributes:
        source: Features of the pathway that acts.
        target: Those of the one acted on.
        summed: Special value of the pathway that acts, to be summed over; "" where there is none.
        refined: Whether the one that acts has no special value where the other one has.
    """

    source: FamilyMatrix
    target: FamilyMatrix
    summed: str = ""
    refined: bool = False


def _meetings(learners: Learners, p: int, q: int) -> list[_Meeting]:
    """Return the ways in which a pathway of template q meets one of template p.

    Where both stand for one pathway a value, they may have the same value or different ones.
    """
    mine, theirs = learners[p].features, learners[q].features
    each = learners[p].template.each, learners[q].template.each
    same = [] if p == q else [_Meeting(theirs, mine)]
    match each:
        case (False, False):
            return same
        case (True, False):
            return [_Meeting(theirs.refined(SPECIAL), mine, refined=True)]
        case (False, True):
            return [_Meeting(theirs, mine.refined(SPECIAL), SPECIAL)]
    other = theirs.renamed(SPECIAL, OTHER).refined(SPECIAL)
    return [_Meeting(other, mine.refined(OTHER), OTHER, refined=True), *same]


def _actions(learners: Learners, p: int, q: int) -> list[_Action]:
    target, source = learners[p], learners[q]
    found: dict[tuple[int, int], _Action] = {}
    for meeting in _meetings(learners, p, q):
        cross = meeting.source @ meeting.target.adjoint
        if cross.is_zero:
            continue
        for i, mode in enumerate(source.classes):
            if mode.is_null:
                continue
            acts = [
                written(_moved(source.drive @ power, meeting), target.template) @ cross
                for power in source.powers(i, mode.degree)
            ]
            for a, acted in enumerate(target.classes):
                projector = acted.projector
                if meeting.summed:
                    projector = projector.refined(meeting.summed)
                single = [act @ projector for act in acts]
                if all(item.is_zero for item in single):
                    continue
                total = [item.summed(meeting.summed) if meeting.summed else item for item in single]
                known = found.get((i, a))
                if known is not None:
                    total = [x + y for x, y in zip(known.total, total, strict=True)]
                    single = [*known.single, *single]
                found[i, a] = _Action(
                    source=(q, i), target=(p, a), total=tuple(total), single=tuple(single)
                )
    return list(found.values())


def _moved(matrix: FamilyMatrix, meeting: _Meeting) -> FamilyMatrix:
    """Return A_j E_i T^k in the meeting's algebra."""
    if meeting.summed == OTHER:
        matrix = matrix.renamed(SPECIAL, OTHER)
    return matrix.refined(SPECIAL) if meeting.refined else matrix


def _gamma(
    learners: Learners, actions: tuple[_Action, ...]
) -> tuple[dict[Node, Coefficients], str]:
    """Return (Gamma of every class acted on, "") or ({}, what stands in the way)."""
    gamma: dict[Node, Coefficients] = {}
    for component in _components(learners, actions):
        obstacle = _unequal(learners, component)
        if obstacle:
            return {}, obstacle
        sums: dict[Node, tuple[FamilyMatrix, ...]] = {}
        for action in actions:
            if action.source in component:
                known = sums.get(action.target)
                sums[action.target] = (
                    action.total
                    if known is None
                    else tuple(x + y for x, y in zip(known, action.total, strict=True))
                )
        for node, total in sums.items():
            found, obstacle = _total_coupling(learners, node, total)
            if obstacle:
                return {}, obstacle
            if found is not None:
                gamma[node] = found
        totals = {_sum(_mode(learners, n).d, gamma.get(n)) for n in component}
        if len(totals) > 1:
            first, second, *_ = sorted(component)
            pair = f"{_name(learners, first)} and {_name(learners, second)}"
            return {}, f"modes that couple differ in their total coupling ({pair})"
    return gamma, ""


def _mode(learners: Learners, node: Node):
    return learners[node[0]].classes[node[1]]


def _name(learners: Learners, node: Node) -> str:
    template = learners[node[0]].template
    return f"class {node[1] + 1} of '{template.name}'"


def _components(learners: Learners, actions: tuple[_Action, ...]) -> list[frozenset[Node]]:
    """Return the sets of classes, null ones left out, that are linked by actions."""
    nodes = [
        (p, a)
        for p, item in learners.items()
        for a, mode in enumerate(item.classes)
        if not mode.is_null
    ]
    return components(nodes, ((action.target, action.source) for action in actions))


def _unequal(learners: Learners, component: frozenset[Node]) -> str:
    first, *others = sorted(component)
    for node in others:
        one, other = _mode(learners, first), _mode(learners, node)
        if not one.alike(other) or one.multiplicity != other.multiplicity:
            return (
                "modes that couple differ in s, d or multiplicity "
                f"({_name(learners, first)} and {_name(learners, node)})"
            )
    return ""


def _total_coupling(
    learners: Learners, node: Node, total: tuple[FamilyMatrix, ...]
) -> tuple[Coefficients | None, str]:
    """Return (Gamma, "") or (None, obstacle); Gamma is None on a null class."""
    item, mode = learners[node[0]], _mode(learners, node)
    name = _name(learners, node)
    if mode.is_null:
        cancel = all(matrix.is_zero for matrix in total)
        return None, "" if cancel else f"the couplings do not cancel on null {name}"
    powers = item.powers(node[1], 3 * mode.degree - 2)
    drive = Drive(powers=tuple(item.drive @ power for power in powers), degree=mode.degree)
    gamma = drive.polynomial(total[:1])
    if gamma is None or any(
        not (matrix - drive.shifted(gamma, k, 1)[0]).is_zero for k, matrix in enumerate(total)
    ):
        return None, f"the couplings on {name} do not add up to a multiple of its own drive"
    return gamma, ""
