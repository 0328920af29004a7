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

from collections.abc import Iterator, Mapping, Sequence
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
    from symreln.verdict.orbits import Node

#: The pathways of a stage that have inputs in a sector, by their place in the stage.
_Learners = Mapping[int, "Learner"]

#: S_k for every k.
_Action = tuple["FamilyMatrix", ...]

_OTHER = "l"
"""Name of the special value of the pathway that acts, where that of the one acted on is k."""


def stage_closure(
    learners: _Learners,
) -> tuple[Level, str, dict[Node, Coefficients], tuple[FamilyMatrix, ...]]:
    """Decide one stage, in one sector, whose pathways all have joint eigenbases.

    Returns:
        CLOSED or CLOSED_BY_SYMMETRY, or COUPLED_MATRICES where neither was proven; what stands in
        the way of closure, or ""; d + Gamma of every class that is not null, where the stage
        closes; what single pathways do to classes of others, for every way in which they meet.
    """
    totals: dict[tuple[Node, Node], _Action] = {}
    meetings: list[FamilyMatrix] = []
    for p in learners:
        for q in learners:
            for pair, single, total in actions(learners, p, q):
                meetings += single
                known = totals.get(pair)
                totals[pair] = total if known is None else tuple(map(add, known, total))
    d_eff = {
        (p, a): mode.d
        for p, item in learners.items()
        for a, mode in enumerate(item.classes)
        if not mode.is_null
    }
    pairs = list(totals)
    closure = symmetric_closure(
        _ActingTemplates(learners, totals), pairs, components(list(d_eff), pairs)
    )
    if isinstance(closure, str):
        return Level.COUPLED_MATRICES, closure, {}, tuple(meetings)
    level = Level.CLOSED_BY_SYMMETRY if totals else Level.CLOSED
    return level, "", d_eff | closure.d_eff, tuple(meetings)


@dataclass(frozen=True)
class _ActingTemplates:
    """A stage in one sector: see :class:`symreln.verdict.closure.Acting`.

    Attributes:
        learners: Its pathways.
        totals: S_k of every pair (class, class that acts on it).
    """

    learners: _Learners
    totals: Mapping[tuple[Node, Node], _Action]

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


def _meetings(learners: _Learners, p: int, q: int) -> list[_Meeting]:
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
    other = theirs.renamed(SPECIAL, _OTHER).refined(SPECIAL)
    return [_Meeting(other, mine.refined(_OTHER), _OTHER, refined=True), *same]


def actions(
    learners: _Learners, p: int, q: int
) -> Iterator[tuple[tuple[Node, Node], _Action, _Action]]:
    """Yield ((target, source), S_k of one pathway of template q, summed over all) where not 0.

    Args:
        learners: The pathways, of one stage or of two.
        p: The one acted on.
        q: The one that acts.
    """
    target, source = learners[p], learners[q]
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
                single = tuple(act @ projector for act in acts)
                if all(item.is_zero for item in single):
                    continue
                summed = meeting.summed
                total = tuple(item.summed(summed) for item in single) if summed else single
                yield ((p, a), (q, i)), single, total


def _moved(matrix: FamilyMatrix, meeting: _Meeting) -> FamilyMatrix:
    """Return A_j E_i T^k in the meeting's algebra."""
    if meeting.summed == _OTHER:
        matrix = matrix.renamed(SPECIAL, _OTHER)
    return matrix.refined(SPECIAL) if meeting.refined else matrix
