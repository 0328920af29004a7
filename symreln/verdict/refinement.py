r"""A joint basis of degenerate classes that suits all pathways of a stage together.

Modes of equal s and d may be turned into each other: any orthonormal basis of their class is one of
joint singular vectors. What other pathways do to the class can single one out. An action on class a
that is :math:`\Sigma^{yx}(p)\, N w` with N symmetric on the class is a number on each eigenspace of
N; an action of any other form is diagonal in no basis. So

* *closed by symmetry* in some basis means that the sum of the actions of all classes of the same
  f, s and d has such an N, and that those of other classes add up to 0: these are sums over parts
  (:mod:`symreln.verdict.closure`), each diagonal there. In that basis modes of unlike Gamma have
  unlike d_eff. So a basis that closes refines the eigenspaces of N, and these, in parts of equal
  f, s, d and d_eff, close too: what acts is summed over the parts of that basis. One split decides.
* *coupled modes* in some basis means that the action of each class of another pathway has such an
  N, and all of them together a joint eigenbasis. Split by one N after another, it ends, as the
  number of classes grows, with classes on each of which every action is a number, or with an
  action that no basis makes diagonal.

A split pathway has several classes with one pair (s, d). N commutes with M and Sigma^x, so the
classes are joint eigenspaces of M and :math:`\Sigma^x + \tau N` for all but finitely many tau.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.exact.algebraic import AlgebraicNumber, order_key
from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum, Operator, joint_spectrum, ordering_point
from symreln.verdict.closure import summed_actions
from symreln.verdict.mode_classes import Drive, PathwayModes, image_spectrum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.exact.spectrum import ModeClass
    from symreln.verdict.coupling import Node, StageCouplings

_Modes = tuple[PathwayModes, ...]
#: The spectra of all pathways after a split; None where nothing is split.
_Split = tuple[JointSpectrum, ...] | None


def split_by_sums(modes: _Modes, couplings: StageCouplings) -> _Split:
    """Split classes by the sums of what acts on them; None where no basis closes by symmetry."""
    acting: dict[Node, dict[tuple, list[Node]]] = {}
    for c in couplings.couplings:
        source = c.source_class
        kind = source.minpoly, source.eigenvalue, source.d
        acting.setdefault(c.target, {}).setdefault(kind, []).append(c.source)
    operators: dict[int, list[ExactMatrix]] = {}
    for (p, a), groups in acting.items():
        if modes[p].original is not None:
            continue
        target = modes[p].classes[a]
        for kind, sources in groups.items():
            rows = summed_actions(modes, (p, a), sorted(sources))
            if target.is_null or kind != (target.minpoly, target.eigenvalue, target.d):
                if any(not action.is_zero for row in rows for action in row):
                    return None
                continue
            if modes[p].drive(a).polynomial(rows[0]) is not None:
                continue
            operator = _operator(modes[p], a, rows[0])
            if operator is None:
                return None
            operators.setdefault(p, []).append(operator)
    return _split(modes, operators)


def split_by_one(modes: _Modes, couplings: StageCouplings) -> _Split:
    """Split every class by the first action on it that is no number; None where that fails."""
    operators: dict[int, list[ExactMatrix]] = {}
    split: set[Node] = set()
    for c in couplings.couplings:
        (p, a) = c.target
        if modes[p].original is not None or c.target in split or c.factors is not None:
            continue
        drive = modes[p].drive(a)
        rows = (row for row in c.actions if drive.polynomial(row) is None)
        operator = None if c.target_class.is_null else _operator(modes[p], a, next(rows))
        if operator is None:
            return None
        split.add(c.target)
        operators.setdefault(p, []).append(operator)
    return _split(modes, operators)


def _operator(pathway: PathwayModes, a: int, row: Sequence[ExactMatrix]) -> ExactMatrix | None:
    """Return the symmetric N with Sigma^{yx} N T^l w = row[l], 0 off the class, or None."""
    basis = pathway.basis(a)
    drives = (pathway.effective.sigma_yx @ basis).reduced()
    action = ExactMatrix.beside(list(row))
    gram = inverse((drives.T @ drives).reduced())
    inner = (gram @ (drives.T @ action)).reduced()
    if drives @ inner != action:
        return None  # it leaves what the class writes
    operator = (basis @ inner @ pathway.gram_inverse(a) @ basis.T).reduced()
    return operator if operator == operator.T else None


def _split(modes: _Modes, operators: dict[int, list[ExactMatrix]]) -> _Split:
    """Return the spectra with the classes of some pathways split; those of images follow."""
    if not operators:
        return None
    found: list[JointSpectrum] = []
    for p, item in enumerate(modes):
        spectrum = item.spectrum
        if item.original is not None and item.effective.image is not None:
            first = next(q for q, other in enumerate(modes) if other is item.original)
            if found[first] is not modes[first].spectrum:
                spectrum = image_spectrum(item.effective, found[first])
        elif p in operators:
            start, *others = operators[p]
            refined = _split_spectrum(spectrum, sum(others, start=start))
            if refined is None:
                return None
            spectrum = refined
        found.append(spectrum)
    return tuple(found)


def _split_spectrum(spectrum: JointSpectrum, operator: ExactMatrix) -> JointSpectrum | None:
    """Return the joint eigenspaces of M, Sigma^x and one more symmetric matrix as classes.

    None where that one does not commute with both. Classes come by its eigenvalue, the largest
    first, which orders modes of equal s and d. Two of n triples of joint eigenvalues become
    equal for one factor tau at most, so that one of n(n - 1)/2 + 1 values serves.
    """
    for tau in range(1, spectrum.n_x * (spectrum.n_x - 1) // 2 + 2):
        mixed = (spectrum.sigma_x + operator.scale(tau)).reduced()
        found = joint_spectrum(spectrum.sigma_yx, mixed, spectrum.values)
        if not found.commutes:
            return None
        classes = [_class(found, each, spectrum.sigma_x, operator) for each in found.classes]
        known = [each for each in classes if each is not None]
        if len(known) == len(classes):
            point = ordering_point(spectrum.parameters, spectrum.values)
            known.sort(key=lambda each: order_key(each[1], point))
            return replace(spectrum, classes=tuple(each for each, _ in known))
    msg = "no multiple of a third matrix tells joint eigenspaces apart"
    raise ArithmeticError(msg)


def _class(
    mixed: JointSpectrum, found: ModeClass, sigma_x: ExactMatrix, operator: ExactMatrix
) -> tuple[ModeClass, AlgebraicNumber] | None:
    """Return a class of the mixed spectrum with its own d, and the operator's first eigenvalue.

    None where it has several of them.
    """
    words = mixed.krylov(found, 3 * found.degree - 2)
    drive = Drive(powers=tuple(words), degree=found.degree)
    of_x, of_operator = (
        drive.polynomial(tuple((m @ w).reduced() for w in words[: found.degree]))
        for m in (sigma_x, operator)
    )
    if of_x is None or of_operator is None:
        return None
    first = AlgebraicNumber(minpoly=found.minpoly, coefficients=of_operator, root=0)
    if found.operator.weight_x.is_zero:
        return replace(found, d=of_x), first
    names = mixed.parameters
    whole = mixed.operator_matrix(found)
    plain = Operator(weight_m=Scalar(names, 1), weight_x=Scalar(names, 0), matrix=whole)
    return replace(found, d=of_x, operator=plain), first
