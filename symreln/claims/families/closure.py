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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from symreln.base.linked import components
from symreln.claims.families.stage import SPECIAL, written
from symreln.verdict.closure import symmetric_closure
from symreln.verdict.judge import Level
from symreln.verdict.modes import Drive

if TYPE_CHECKING:
    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.spectrum import Coefficients, FamilyClass
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
    stage = _ActingTemplates(learners, {(a.target, a.source): a.total for a in actions})
    d_eff = {
        (p, a): mode.d
        for p, item in learners.items()
        for a, mode in enumerate(item.classes)
        if not mode.is_null
    }
    pairs = [(action.target, action.source) for action in actions]
    closure = symmetric_closure(stage, pairs, components(list(d_eff), pairs))
    if isinstance(closure, str):
        level = Level.COUPLED_MATRICES
        return _StageClosure(level=level, obstacle=closure, d_eff={}, actions=actions)
    level = Level.CLOSED_BY_SYMMETRY if actions else Level.CLOSED
    return _StageClosure(level=level, obstacle="", d_eff=d_eff | closure.d_eff, actions=actions)


@dataclass(frozen=True)
class _ActingTemplates:
    """A stage in one sector: see :class:`symreln.verdict.closure.Acting`.

    Attributes:
        learners: Its pathways.
        totals: S_k of every pair (class, class that acts on it).
    """

    learners: Learners
    totals: Mapping[tuple[Node, Node], tuple[FamilyMatrix, ...]]

    def mode_class(self, node: Node) -> FamilyClass:
        return self.learners[node[0]].classes[node[1]]

    def name(self, node: Node) -> str:
        return f"class {node[1] + 1} of '{self.learners[node[0]].template.name}'"

    def drive(self, node: Node) -> Drive:
        item, degree = self.learners[node[0]], self.mode_class(node).degree
        powers = item.powers(node[1], 3 * degree - 2)
        return Drive(powers=tuple(item.drive @ power for power in powers), degree=degree)

    def actions(self, node: Node, sources: Sequence[Node]) -> list[tuple[FamilyMatrix]]:
        rows = zip(*(self.totals[node, source] for source in sources), strict=True)
        return [(reduce(add, row),) for row in rows]

    def representative(self, node: Node, sources: Sequence[Node]) -> None:
        """Say that every class stands for itself: a template is an orbit already."""


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
