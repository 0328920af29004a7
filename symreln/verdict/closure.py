r"""Closure by symmetry: classes of modes that couple, start equal and stay equal.

Let classes have the same minimal polynomial and the same s(theta) and d(theta), and let their
strengths be one function phi(theta): a *part*. The error of pathway p on class a then contains
the sum of the actions of all classes of the part. If for every part this sum is
:math:`\Sigma^{yx}(p)\, T_p^k\, \Gamma(T_p)\, w` with one polynomial Gamma on the classes of the
part, and 0 on all others, the strengths of a part stay equal and each solves the two-layer
equation with :math:`d_{\rm eff}(\theta) = d(\theta) + \Gamma(\theta)`. The sums are tested, not the
single actions: those may leave the span of U_p and cancel, or fill a class of larger multiplicity
together. How many modes a class has does not matter.

The sums are formed over samples: with :math:`\Sigma^{yx}(j) = O_j Y F_j^T/P`, all partners that
write the same outputs together give :math:`O_p O\, Y \bigl(\sum_j F_j^T E_j T_j^k \Sigma^x(j,p)
T_p^l w\bigr)/P`, one product with Y.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symreln.exact.spectrum import ModeClass
    from symreln.verdict.coupling import Actions, Node
    from symreln.verdict.mode_classes import Coefficients, PathwayModes
    from symreln.verdict.stage_symmetry import StageSymmetry

#: (Gamma, "") or (None, what stands in the way); Gamma is None where the sum has to vanish.
_Total = tuple["Coefficients | None", str]


@record
class Closure:
    """What closes by symmetry.

    Attributes:
        parts: Sets of classes whose strengths stay equal, singletons included.
        d_eff: d_eff of every class that others of its part act on.
    """

    parts: tuple[frozenset[Node], ...]
    d_eff: dict[Node, Coefficients]

    @classmethod
    def of(
        cls,
        modes: tuple[PathwayModes, ...],
        symmetry: StageSymmetry,
        pairs: Sequence[tuple[Node, Node]],
        components: Sequence[frozenset[Node]],
    ) -> Closure | str:
        """Return what closes by symmetry, or what stands in the way.

        A component falls into parts of equal f, s, d and d_eff. With larger parts nothing closes
        that does not close with these: the sums over them are sums of theirs.

        Args:
            modes: The modes of a stage's pathways.
            symmetry: Which pathways are alike.
            pairs: (class, class that acts on it) of all couplings.
            components: Sets of classes that couplings link.
        """
        search = _Search(modes, symmetry)
        parts: list[frozenset[Node]] = []
        d_eff: dict[Node, Coefficients] = {}
        for component in components:
            acting: dict[Node, list[Node]] = {}  # what of the component acts on a class
            for target, source in pairs:
                if source in component:
                    acting.setdefault(target, []).append(source)
            gamma, obstacle = search.gammas(acting, search.kinds.get)
            if obstacle:
                return obstacle
            known = {}
            for node in component:
                own = _class(modes, node).d or ()
                total = gamma.get(node)
                known[node] = own if total is None else tuple(map(add, own, total))
            found: dict[object, list[Node]] = {}
            for node in sorted(component):
                found.setdefault((search.kinds[node], known[node]), []).append(node)
            if len(found) > len({search.kinds[node] for node in component}):
                part_of = {node: n for n, part in enumerate(found.values()) for node in part}
                _, obstacle = search.gammas(acting, part_of.get)
                if obstacle:
                    return obstacle
            parts += map(frozenset, found.values())
            d_eff |= {node: known[node] for node in gamma}
        return cls(parts=tuple(parts), d_eff=d_eff)


class _Search:
    """Sums of actions, each made once for pathways that are alike."""

    def __init__(self, modes: tuple[PathwayModes, ...], symmetry: StageSymmetry) -> None:
        self.modes, self.symmetry = modes, symmetry
        self.totals: dict[tuple[Node, tuple[Node, ...], bool], _Total] = {}
        numbers: dict[tuple, int] = {}
        #: A number for the f, s and d of every class.
        self.kinds = {
            (p, a): numbers.setdefault((found.minpoly, found.eigenvalue, found.d), len(numbers))
            for p, each in enumerate(modes)
            for a, found in enumerate(each.classes)
        }

    def gammas(
        self, acting: dict[Node, list[Node]], part: Callable[[Node], object]
    ) -> tuple[dict[Node, Coefficients], str]:
        """Return (Gamma of the classes that others of their part act on, what is in the way)."""
        found: dict[Node, Coefficients] = {}
        for node, sources in acting.items():
            groups: dict[object, list[Node]] = {}
            for source in sources:
                groups.setdefault(part(source), []).append(source)
            for key, group in groups.items():
                inside = part(node) == key and not _class(self.modes, node).is_null
                total, obstacle = self.total(node, group, inside=inside)
                if obstacle:
                    names = self._names(node, group)
                    return {}, obstacle.format(name=self.modes[node[0]].named(node[1]), names=names)
                if total is not None:
                    found[node] = total
        return found, ""

    def _names(self, node: Node, group: list[Node]) -> str:
        """Return what a class and those that act on it differ in, and their names."""
        one, other = (_class(self.modes, n) for n in (node, group[0]))
        same = (one.minpoly, one.eigenvalue) == (other.minpoly, other.eigenvalue)
        what = "in d_eff" if same and one.d == other.d else "in d" if same else "in s"
        names = ", ".join(self.modes[p].named(a) for p, a in sorted((node, group[0])))
        return f"{what} ({names})"

    def total(self, node: Node, sources: Sequence[Node], *, inside: bool) -> _Total:
        """Return Gamma of a class, from a pathway that is alike where there is one."""
        origin = self.symmetry.pulled_back(node, sources)
        node, sources = (node, sorted(sources)) if origin is None else origin
        key = (node, tuple(sources), inside)
        if key not in self.totals:
            self.totals[key] = self._computed(node, sources, inside=inside)
        return self.totals[key]

    def _computed(self, node: Node, sources: Sequence[Node], *, inside: bool) -> _Total:
        actions = summed_actions(self.modes, node, sources)
        if not inside:
            if all(action.is_zero for row in actions for action in row):
                return None, ""
            if _class(self.modes, node).is_null:
                return None, "the couplings do not cancel on null {name}"
            return None, "modes that couple differ {names}"
        drive = self.modes[node[0]].drive(node[1])
        gamma = drive.polynomial(tuple(actions[0]))
        if gamma is None:
            return None, "the coupling terms of {name} do not add up to a multiple of its own term"
        for k, row in enumerate(actions[1:], start=1):
            expected = drive.shifted(gamma, k, len(row))
            if any(not (x - y).is_zero for x, y in zip(row, expected, strict=True)):
                return None, "the couplings on {name} mix its conjugate modes"
        return gamma, ""


def _class(modes: tuple[PathwayModes, ...], node: Node) -> ModeClass:
    return modes[node[0]].classes[node[1]]


def summed_actions(modes: tuple[PathwayModes, ...], node: Node, sources: Sequence[Node]) -> Actions:
    """Return the sum over source classes, all of one degree, of their actions, [k][l]."""
    p, a = node
    target = modes[p]
    seen = [
        target.effective.features.T @ vector
        for vector in target.krylov(a, target.classes[a].degree)
    ]
    inward: dict[tuple[int, int], ExactMatrix] = {}
    writers: dict[tuple[int, ...], list[Node]] = {}
    for j, i in sources:
        writers.setdefault(modes[j].effective.pathway.outputs, []).append((j, i))
        for place, vectors in enumerate(seen):
            if (j, place) not in inward:
                product = modes[j].effective.features @ vectors
                product = product.scale(Fraction(1, target.effective.samples)).reduced()
                inward[j, place] = next((x for x in inward.values() if x == product), product)
    degree = _class(modes, sources[0]).degree
    return tuple(
        tuple(_acted(modes, target, writers, inward, (k, place)) for place in range(len(seen)))
        for k in range(degree)
    )


@lru_cache(maxsize=4)
def _added_features(modes: tuple[PathwayModes, ...], places: tuple[int, ...]) -> ExactMatrix:
    """Return the sum of some pathways' features: what meets them with equal matrices meets it."""
    first, *others = (modes[place].effective.features for place in places)
    return sum(others, start=first)


def _acted(
    modes: tuple[PathwayModes, ...],
    target: PathwayModes,
    writers: dict[tuple[int, ...], list[Node]],
    inward: dict[tuple[int, int], ExactMatrix],
    place: tuple[int, int],
) -> ExactMatrix:
    """Return Σ O_p O_j Sigma^{yx}(j) E_i T_j^k Sigma^x(j,p) T_p^l w over all sources."""
    k, shift = place
    effective = target.effective
    total: ExactMatrix | None = None
    for members in writers.values():
        alike: dict[tuple[object, ...], list[Node]] = {}
        for j, i in members:
            alike.setdefault((modes[j].alike, i, id(inward[j, shift])), []).append((j, i))
        parts = []
        for (j, i), *others in alike.values():
            features = _added_features(modes, (j, *(other for other, _ in others)))
            parts.append(features.T @ modes[j].projected(i, k, inward[j, shift]))
        samples = sum(parts[1:], start=parts[0])
        given = effective.goal.times(samples).scale(Fraction(1, effective.samples))
        given = modes[members[0][0]].effective.masked(given)
        total = given if total is None else total + given
    assert total is not None
    return effective.masked(total).reduced()
