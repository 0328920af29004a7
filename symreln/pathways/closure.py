r"""Closure by symmetry: classes of modes that couple, start equal and stay equal.

Let the classes of a component have the same minimal polynomial, the same s(theta), d(theta) and
multiplicity, and let their strengths be one function phi(theta). The error of pathway p on class
a then contains the sum of the actions of all its partners. If, for all of them, this sum is
:math:`\Sigma^{yx}(p)\, T_p^k\, \Gamma(T_p)\, w` with one polynomial Gamma, the strengths stay equal
and each solves the two-layer equation with :math:`d_{\rm eff}(\theta) = d(\theta) +
\Gamma(\theta)`. The sums are tested, not the single actions: those may leave the span of U_p and
cancel.

The sums are formed over samples: with :math:`\Sigma^{yx}(j) = O_j Y F_j^T/P`, all partners that
write the same outputs together give :math:`O_p O\, Y \bigl(\sum_j F_j^T E_j T_j^k \Sigma^x(j,p)
T_p^l w\bigr)/P`, one product with Y.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.sparse import SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.exact.spectrum import ModeClass
    from symreln.pathways.alike import StageSymmetry
    from symreln.pathways.coupling import Actions, Node, StageCouplings
    from symreln.pathways.modes import Coefficients, PathwayModes

#: (Gamma, "") or (None, what stands in the way); Gamma is None on a null class.
Total = tuple["Coefficients | None", str]


def symmetric_closure(
    modes: tuple[PathwayModes, ...],
    couplings: StageCouplings,
    components: tuple[frozenset[Node], ...],
    symmetry: StageSymmetry,
) -> tuple[dict[Node, Coefficients], str]:
    """Return (d_eff of every class that couples, "") or ({}, what stands in the way)."""
    d_eff: dict[Node, Coefficients] = {}
    totals: dict[tuple[Node, tuple[Node, ...]], Total] = {}
    for component in components:
        obstacle = _unequal(modes, component)
        if obstacle:
            return {}, obstacle
        for node, sources in _sources(component, couplings).items():
            total, obstacle = _total_coupling(modes, node, sources, symmetry, totals)
            if obstacle:
                return {}, obstacle.format(name=node_name(modes, node))
            if total is not None:
                own = _class(modes, node).d or ()
                d_eff[node] = tuple(x + y for x, y in zip(own, total, strict=True))
        known = {node: d_eff.get(node, _class(modes, node).d) for node in component}
        first, *others = sorted(component)
        for node in others:
            if known[node] != known[first]:
                names = ", ".join(node_name(modes, n) for n in (first, node))
                return {}, f"modes that couple differ in their total coupling ({names})"
    return d_eff, ""


def node_name(modes: tuple[PathwayModes, ...], node: Node) -> str:
    """Return a class in words, by the numbers of its modes in the pathway's list."""
    p, a = node
    wanted = modes[p].classes[a]
    numbers = [
        str(number)
        for number, mode in enumerate(modes[p].spectrum.modes, start=1)
        if mode.mode_class is wanted
    ]
    shown = ", ".join(numbers[:4]) + (", …" if len(numbers) > 4 else "")
    return f"mode{'s' if len(numbers) > 1 else ''} {shown} of '{modes[p].effective.pathway.name}'"


def _class(modes: tuple[PathwayModes, ...], node: Node) -> ModeClass:
    return modes[node[0]].classes[node[1]]


def _unequal(modes: tuple[PathwayModes, ...], component: frozenset[Node]) -> str:
    first, *others = sorted(component)
    one = _class(modes, first)
    for node in others:
        other = _class(modes, node)
        if one.minpoly != other.minpoly or one.eigenvalue != other.eigenvalue:
            what = "in s"
        elif one.d != other.d or one.multiplicity != other.multiplicity:
            what = "in d or in multiplicity"
        else:
            continue
        names = f"({node_name(modes, first)}, {node_name(modes, node)})"
        return f"modes that couple differ {what} {names}"
    return ""


def _sources(component: frozenset[Node], couplings: StageCouplings) -> dict[Node, list[Node]]:
    """Return, for every class acted on, the classes of the component that act on it."""
    found: dict[Node, list[Node]] = {}
    for coupling in couplings.couplings:
        if coupling.source in component:
            found.setdefault(coupling.target, []).append(coupling.source)
    return found


def _total_coupling(
    modes: tuple[PathwayModes, ...],
    node: Node,
    sources: Sequence[Node],
    symmetry: StageSymmetry,
    totals: dict[tuple[Node, tuple[Node, ...]], Total],
) -> Total:
    """Return Gamma of a class, from a pathway that is alike where there is one."""
    origin = symmetry.pulled_back(node, sources)
    node, sources = (node, sorted(sources)) if origin is None else origin
    key = (node, tuple(sources))
    if key not in totals:
        totals[key] = _computed(modes, node, summed_actions(modes, node, sources))
    return totals[key]


def _computed(modes: tuple[PathwayModes, ...], node: Node, actions: Actions) -> Total:
    p, a = node
    if _class(modes, node).is_null:
        cancel = all(action.is_zero for row in actions for action in row)
        return None, "" if cancel else "the couplings do not cancel on null {name}"
    drive = modes[p].drive(a)
    gamma = drive.polynomial(actions[0])
    if gamma is None:
        return None, "the couplings on {name} do not add up to a multiple of its own drive"
    for k, row in enumerate(actions[1:], start=1):
        expected = drive.shifted(gamma, k, len(row))
        if any(x != y for x, y in zip(row, expected, strict=True)):
            return None, "the couplings on {name} mix its conjugate modes"
    return gamma, ""


def summed_actions(modes: tuple[PathwayModes, ...], node: Node, sources: Sequence[Node]) -> Actions:
    """Return the sum over source classes, all of one degree, of their actions, [k][l]."""
    p, a = node
    target = modes[p]
    seen = [
        target.effective.features.T @ vector
        for vector in target.krylov(a, target.classes[a].degree)
    ]
    inward: dict[tuple[int, int], SparseMatrix] = {}
    writers: dict[tuple[int, ...], list[Node]] = {}
    for j, i in sources:
        writers.setdefault(modes[j].effective.pathway.outputs, []).append((j, i))
        for place, vectors in enumerate(seen):
            if (j, place) not in inward:
                product = modes[j].effective.features @ vectors
                inward[j, place] = product.scale(Fraction(1, target.effective.samples)).reduced()
    degree = _class(modes, sources[0]).degree
    return tuple(
        tuple(_acted(modes, target, writers, inward, (k, place)) for place in range(len(seen)))
        for k in range(degree)
    )


def _acted(
    modes: tuple[PathwayModes, ...],
    target: PathwayModes,
    writers: dict[tuple[int, ...], list[Node]],
    inward: dict[tuple[int, int], SparseMatrix],
    place: tuple[int, int],
) -> SparseMatrix:
    """Return Σ O_p O_j Sigma^{yx}(j) E_i T_j^k Sigma^x(j,p) T_p^l w over all sources."""
    k, shift = place
    effective = target.effective
    total: SparseMatrix | None = None
    for members in writers.values():
        samples: SparseMatrix | None = None
        for j, i in members:
            part = modes[j].effective.features.T @ modes[j].projected(i, k, inward[j, shift])
            samples = part if samples is None else samples + part
        assert samples is not None
        given = effective.goal.times(samples).scale(Fraction(1, effective.samples))
        given = modes[members[0][0]].effective.masked(given)
        total = given if total is None else total + given
    assert total is not None
    return effective.masked(total).reduced()
