r"""What drives a mode of a later stage, for every size at once, while an earlier one still learns.

The drive of :mod:`symreln.claims.head_start`, in the algebra of the family. Let A = P Sigma^{yx} of
a pathway of a later stage, E the projector on a class of its modes (s, u, v), and D what one
earlier class adds at its plateaus, times P:

.. math:: D = \sum_j O_p A_j E_j d_{\mathrm{eff}}^{-1} F_j F_p^*, \qquad A_1 = A + D.

With one earlier class alone, identities with rational functions R and c of the sizes

.. math:: A_1^* A_1 E = R\, E, \qquad D^* A E = c\, E

close the motion: with :math:`r^2 = R/P^2` and :math:`E_1 v = r u'`, E_1 takes v to r u', u' to r v,
and u − γu' to 0, where :math:`\gamma = u \cdot u' = (s^2 + c/P^2)/(r s)`. Where
:math:`A^* D E = c\, E` too nothing leaves that plane, and π̃₀ is the formula of
:mod:`symreln.laws.sigmoid_drive`; else that of an earlier mode that is learned at once, χ = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import add
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.families.closure import actions
from symreln.verdict.modes import Drive

if TYPE_CHECKING:
    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.spectrum import Coefficients, FamilyClass
    from symreln.claims.families.stage import Learner
    from symreln.exact.scalar import Scalar
    from symreln.verdict.orbits import Node

#: (Pathway, d_eff of its stage's classes) by (number of the stage, place of the pathway in it).
Earlier = Mapping[tuple[int, int], "tuple[Learner, Mapping[Node, Coefficients]]"]
#: D of an earlier class; of conjugate modes the S_k of :mod:`symreln.claims.families.closure`.
_Drives = tuple["FamilyMatrix", ...]


@short_repr
@dataclass(frozen=True, kw_only=True)
class Driven:
    """What one earlier class does to a class of a later stage; see the module.

    Attributes:
        mode_class: The earlier class.
        faster_squared: (r/s)².
        along: (r/s) γ: the part of E_1 v along u, over s.
        in_plane: Whether u' is taken back to v alone afterwards.
    """

    mode_class: FamilyClass
    faster_squared: Scalar
    along: Scalar
    in_plane: bool


def driven(target: Learner, earlier: Earlier) -> list[Driven | str | None]:
    """Return for every class what drives it: None where nothing does, a text where no formula says.

    Args:
        target: A pathway of a later stage.
        earlier: The pathways of all earlier stages.
    """
    sources = dict(_sources(target, earlier))
    return [None if mode.is_null else _drive(target, mode, sources) for mode in target.classes]


def _drive(
    target: Learner, mode: FamilyClass, sources: Mapping[FamilyClass, _Drives]
) -> Driven | str | None:
    reaching = _reaching(target, mode.projector, sources)
    if not reaching:
        return None
    if len(reaching) > 1:
        return "several earlier modes reach it, each until its own half-time"
    (source,) = reaching
    if mode.degree > 1 or source.degree > 1:
        return "it, or the mode that reaches it, is one of several conjugate ones"
    return _driven_by(target, mode.projector, source, sources[source][0])


def _sources(target: Learner, earlier: Earlier) -> Iterator[tuple[FamilyClass, _Drives]]:
    """Yield what earlier classes add, where it is not 0: D, or what D is a polynomial's sum of."""
    for (_, place), (learner, d_eff) in earlier.items():
        found: dict[int, _Drives] = {}
        # Of all classes of the target together: their projectors add up to 1.
        for (_, (_, i)), _, total in actions({0: learner, 1: target}, 1, 0):
            parts = total
            if learner.classes[i].degree == 1:
                parts = (total[0].scale(1 / d_eff[place, i][0]),)
            found[i] = tuple(map(add, found[i], parts)) if i in found else parts
        yield from ((learner.classes[i], parts) for i, parts in found.items())


def _reaching(
    target: Learner, projector: FamilyMatrix, sources: Mapping[FamilyClass, _Drives]
) -> list[FamilyClass]:
    """Return the earlier classes that drive the modes of a projector, or what those turn to."""
    inner, outer = [projector], [target.drive @ projector]
    reach: list[FamilyClass] = []
    while True:
        seen = [
            source
            for source, drives in sources.items()
            if any(
                not (drive @ v).is_zero or not (drive.adjoint @ u).is_zero
                for drive in drives
                for v in inner
                for u in outer
            )
        ]
        if seen == reach or len(seen) > 1:
            return seen
        reach = seen
        outer += [drive @ projector for source in seen for drive in sources[source]]


def _driven_by(
    target: Learner, projector: FamilyMatrix, source: FamilyClass, drive: FamilyMatrix
) -> Driven | str:
    """Return r and γ where one earlier class alone drives, or why there are none."""
    whole = target.drive + drive
    numbers = [
        Drive(powers=(projector,), degree=1).polynomial((image @ projector,))
        for image in (
            target.m,
            whole.adjoint @ whole,
            drive.adjoint @ target.drive,
            target.drive.adjoint @ drive,
        )
    ]
    own, both, across, back = (None if each is None else each[0] for each in numbers)
    if own is None or both is None or across is None or both.is_zero:
        return "what drives it turns it into other modes"
    return Driven(
        mode_class=source,
        faster_squared=both / own,
        along=1 + across / own,
        in_plane=back == across,
    )
