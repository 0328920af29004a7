r"""Closure by symmetry: classes of modes that couple, start equal and stay equal.

Let the classes of a component have the same minimal polynomial, the same s(theta), d(theta) and
multiplicity, and let their strengths be one function phi(theta). The error of pathway p on class
a then contains the sum of the actions of all its partners. If, for all of them, this sum is
:math:`\Sigma^{yx}(p)\, T_p^k\, \Gamma(T_p)\, w` with one polynomial Gamma, the strengths stay equal
and each solves the two-layer equation with :math:`d_{\rm eff}(\theta) = d(\theta) +
\Gamma(\theta)`. The sums are tested, not the single actions: those may leave the span of U_p and
cancel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.pathways.coupling import Coefficients, Node, StageCouplings, drive_of

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.spectrum import JointSpectrum, ModeClass
    from symreln.pathways.effective import EffectiveDataset

#: A_k on T_p^l w, indexed [k][l].
Actions = tuple[tuple["ExactMatrix", ...], ...]


def symmetric_closure(
    effective: tuple[EffectiveDataset, ...],
    spectra: tuple[JointSpectrum, ...],
    couplings: StageCouplings,
    components: tuple[frozenset[Node], ...],
) -> tuple[dict[Node, Coefficients], str]:
    """Return (d_eff of every class that couples, "") or ({}, what stands in the way)."""
    d_eff: dict[Node, Coefficients] = {}
    for component in components:
        obstacle = _unequal(effective, spectra, component)
        if obstacle:
            return {}, obstacle
        for node, actions in _sums(component, couplings).items():
            total, obstacle = _total_coupling(effective, spectra, node, actions)
            if obstacle:
                return {}, obstacle
            if total is not None:
                own = _class(spectra, node).d or ()
                d_eff[node] = tuple(x + y for x, y in zip(own, total, strict=True))
        known = {node: d_eff.get(node, _class(spectra, node).d) for node in component}
        first, *others = sorted(component)
        for node in others:
            if known[node] != known[first]:
                names = ", ".join(node_name(effective, spectra, n) for n in (first, node))
                return {}, f"modes that couple differ in their total coupling ({names})"
    return d_eff, ""


def node_name(
    effective: tuple[EffectiveDataset, ...], spectra: tuple[JointSpectrum, ...], node: Node
) -> str:
    """Return a class in words, by the numbers of its modes in the pathway's list."""
    p, a = node
    wanted = spectra[p].classes[a]
    numbers = [
        str(number)
        for number, mode in enumerate(spectra[p].modes, start=1)
        if mode.mode_class is wanted
    ]
    shown = ", ".join(numbers[:4]) + (", …" if len(numbers) > 4 else "")
    return f"mode{'s' if len(numbers) > 1 else ''} {shown} of '{effective[p].pathway.name}'"


def _class(spectra: tuple[JointSpectrum, ...], node: Node) -> ModeClass:
    return spectra[node[0]].classes[node[1]]


def _unequal(
    effective: tuple[EffectiveDataset, ...],
    spectra: tuple[JointSpectrum, ...],
    component: frozenset[Node],
) -> str:
    first, *others = sorted(component)
    one = _class(spectra, first)
    for node in others:
        other = _class(spectra, node)
        names = f"({node_name(effective, spectra, first)}, {node_name(effective, spectra, node)})"
        if one.minpoly != other.minpoly or one.eigenvalue != other.eigenvalue:
            return f"modes that couple differ in s {names}"
        if one.d != other.d or one.multiplicity != other.multiplicity:
            return f"modes that couple differ in d or in multiplicity {names}"
    return ""


def _sums(component: frozenset[Node], couplings: StageCouplings) -> dict[Node, Actions]:
    """Return, for every class acted on, the sum of the actions of the component's classes."""
    sums: dict[Node, Actions] = {}
    for coupling in couplings.couplings:
        if coupling.source not in component:
            continue
        known = sums.get(coupling.target)
        sums[coupling.target] = (
            coupling.actions
            if known is None
            else tuple(
                tuple(x + y for x, y in zip(row, more, strict=True))
                for row, more in zip(known, coupling.actions, strict=True)
            )
        )
    return sums


def _total_coupling(
    effective: tuple[EffectiveDataset, ...],
    spectra: tuple[JointSpectrum, ...],
    node: Node,
    actions: Actions,
) -> tuple[Coefficients | None, str]:
    """Return (Gamma, "") or (None, obstacle); Gamma is None where the actions cancel on a null."""
    p, a = node
    name = node_name(effective, spectra, node)
    if _class(spectra, node).is_null:
        cancel = all(action.is_zero for row in actions for action in row)
        return None, "" if cancel else f"the couplings do not cancel on null {name}"
    drive = drive_of(effective[p], spectra[p], a)
    gamma = drive.polynomial(actions[0])
    if gamma is None:
        return None, f"the couplings on {name} do not add up to a multiple of its own drive"
    for k, row in enumerate(actions[1:], start=1):
        expected = drive.shifted(gamma, k, len(row))
        if any(x != y for x, y in zip(row, expected, strict=True)):
            return None, f"the couplings on {name} mix its conjugate modes"
    return gamma, ""
