"""Where a stronger level than the proven one can hold: a witness against it has to vanish.

A verdict consists of identities, which hold for all parameters, and of witnesses against every
stronger level. A stronger level at a point needs every witness to vanish there, so that the zeros
of any one of them are a superset of those points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.exceptional.conditions import norm, resultant
from symreln.exact.linear import characteristic
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import fmpz_mpoly

    from symreln.claims.derivation import StageDerivation
    from symreln.verdict.coupling import Actions, ModeCoupling, Node
    from symreln.verdict.modes import Coefficients, Drive

_WITNESSES = 2
"""Witnesses against coupled modes whose common zeros are taken."""


def witnesses(stage: StageDerivation) -> list[fmpz_mpoly]:
    """Return polynomials one of which vanishes wherever a stronger level holds.

    Outside their zeros, those at which modes vanish or coincide, and those at which commutators
    do, the level is the generic one.
    """
    level = stage.verdict.level
    if level is Level.CLOSED or not all(p.spectrum.commutes for p in stage.pathways):
        return []  # nothing is stronger, or commutators are witnesses of their own
    if level is Level.CLOSED_BY_SYMMETRY:
        return [_against_closed(stage)]
    found = _against_symmetry(stage)
    if level is Level.COUPLED_MATRICES:
        found.append(_against_modes(stage))
    return found


def _names(stage: StageDerivation) -> tuple[str, ...]:
    return stage.pathways[0].spectrum.parameters


def _simplest(candidates: Sequence[fmpz_mpoly], names: tuple[str, ...]) -> fmpz_mpoly:
    """Return a polynomial whose zeros contain the common zeros of all candidates.

    In one parameter their greatest common divisor does; in several it can miss points where they
    meet, and the one of lowest degree is taken.
    """
    if len(names) == 1:
        total = polynomial_ring(names).constant(0)
        for candidate in candidates:
            total = total.gcd(candidate)
        return total
    return min(candidates, key=lambda polynomial: (int(polynomial.total_degree()), str(polynomial)))


def _against_closed(stage: StageDerivation) -> fmpz_mpoly:
    """Return where couplings that add up to d_eff - d can all vanish: there the sum does."""
    sums = []
    for (p, a), d_eff in stage.verdict.d_eff.items():
        mode_class = stage.pathways[p].spectrum.classes[a]
        own = mode_class.d or ()
        total = tuple(x - y for x, y in zip(d_eff, own, strict=True))
        if any(not value.is_zero for value in total):
            sums.append(norm(mode_class, total).numerator)
    if sums:
        return _simplest(sums, _names(stage))
    powers = [_power(c) for c in stage.verdict.couplings.couplings]
    return _simplest(powers, _names(stage))


def _power(coupling: ModeCoupling) -> fmpz_mpoly:
    """Return the numerator of Σ ‖A_k T^l w‖², which vanishes exactly where the coupling does."""
    actions = [action for row in coupling.actions for action in row]
    return _squares(actions, actions[0].parameters).numerator


def _against_symmetry(stage: StageDerivation) -> list[fmpz_mpoly]:
    """Return the witness against closure by symmetry.

    Two classes that couple and differ in s or d have to stop coupling or come to agree. Where all
    that couple agree, some sum of actions is no multiple of its target's drive, or the multiples
    differ between two classes that couple.
    """
    couplings = stage.verdict.couplings.couplings
    for coupling in couplings:
        one, two = coupling.target_class, coupling.source_class
        if not one.is_null and (one.eigenvalue, one.minpoly) != (two.eigenvalue, two.minpoly):
            return [_power(coupling), resultant(one, two, 0)]
    for coupling in couplings:
        one, two = coupling.target_class, coupling.source_class
        if not one.is_null and one.d != two.d:
            return [_power(coupling), resultant(one, two, 1)]
        if not one.is_null and one.multiplicity != two.multiplicity:
            return [_power(coupling)]
    return _against_sums(stage)


def _against_sums(stage: StageDerivation) -> list[fmpz_mpoly]:
    """Return the witness where all classes that couple have equal s, d and multiplicity."""
    names = _names(stage)
    totals: dict[Node, Coefficients | None] = {}
    for node, rows in _sums(stage).items():
        modes = stage.verdict.couplings.couplings[0].stage[node[0]]
        if modes.classes[node[1]].is_null:
            power = _squares([action for row in rows for action in row], names)
            if not power.is_zero:
                return [power.numerator]  # the couplings do not cancel on a null mode
            continue
        drive = modes.drive(node[1])
        misfit = _misfit(drive, rows)
        if misfit is not None:
            return [misfit]
        totals[node] = drive.polynomial(rows[0][:1])
    for coupling in stage.verdict.couplings.couplings:
        mode_class = coupling.target_class
        zero = (Scalar(names, 0),) * mode_class.degree
        one, two = (totals.get(node) or zero for node in (coupling.target, coupling.source))
        if not mode_class.is_null and one != two:
            difference = tuple(x - y for x, y in zip(one, two, strict=True))
            return [_power(coupling), norm(mode_class, difference).numerator]
    msg = "no witness against closure by symmetry, though the verdict says that it fails"
    raise AssertionError(msg)


def _sums(stage: StageDerivation) -> dict[Node, Actions]:
    """Return the sum of all actions on every class that is acted on."""
    sums: dict[Node, Actions] = {}
    for coupling in stage.verdict.couplings.couplings:
        known, actions = sums.get(coupling.target), coupling.actions
        sums[coupling.target] = (
            actions
            if known is None
            else tuple(
                tuple(x + y for x, y in zip(row, more, strict=True))
                for row, more in zip(known, actions, strict=True)
            )
        )
    return sums


def _against_modes(stage: StageDerivation) -> fmpz_mpoly:
    """Return where every coupling can map modes to modes: a witness is one that does not.

    A few witnesses, of the smallest classes, make the set small enough.
    """
    found = []
    for coupling in sorted(stage.verdict.couplings.couplings, key=lambda c: c.target_class.degree):
        if coupling.target_class.is_null:
            found.append(_power(coupling))
        elif coupling.factors is None:
            p, a = coupling.target
            drive = coupling.stage[p].drive(a)
            misfits = (_misfit(drive, (row,)) for row in coupling.actions)
            found.append(next(misfit for misfit in misfits if misfit is not None))
        if len(found) == _WITNESSES:
            break
    return _simplest(found, _names(stage))


def _misfit(drive: Drive[ExactMatrix], rows: Actions) -> fmpz_mpoly | None:
    """Return what vanishes wherever actions are T^k q(T) times the drive, or None where they are.

    First the Gram determinant of the drive's powers and the first action: they must be dependent.
    Where that holds for all parameters, q is known, and the other actions must be what it says.
    """
    first = rows[0][0]
    names = first.parameters
    vectors = [*drive.powers[: drive.degree], first]
    gram = ExactMatrix.from_rows([[x.frobenius(y) for y in vectors] for x in vectors], names)
    determinant = characteristic(gram)[0]  # up to its sign
    if not determinant.is_zero:
        return determinant.numerator
    q = drive.polynomial((first,))
    assert q is not None  # they are dependent, and the drive's powers are not
    wrong = [
        action - expected
        for k, row in enumerate(rows)
        for action, expected in zip(row, drive.shifted(q, k, len(row)), strict=True)
    ]
    power = _squares(wrong, names)
    return None if power.is_zero else power.numerator


def _squares(matrices: Sequence[ExactMatrix], names: tuple[str, ...]) -> Scalar:
    return sum((matrix.frobenius(matrix) for matrix in matrices), start=Scalar(names, 0))
