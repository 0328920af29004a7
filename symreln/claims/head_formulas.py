r"""Head starts as formulas in the parameters, where one earlier mode drives a later one in a plane.

With W a basis of a later mode's input space, Σ what its pathway sees and E what it sees while the
earlier mode still learns, all exact, the identities

.. math:: E^\top E W = r^2 W, \qquad E^\top \Sigma W = r s \gamma W = \Sigma^\top E W

say that it moves in a plane, and give r and γ: :mod:`symreln.laws.sigmoid_drive` holds for all
values of the parameters. What :mod:`symreln.claims.head_growth` finds at the declared ones, in
float64 or balls, is then one formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_repr
from symreln.exact.linear import subspace_projector
from symreln.laws.law import HEAD_START
from symreln.laws.ops import EVALUATED
from symreln.laws.sigmoid_drive import evaluated_factor, letters, sigmoid_factor

if TYPE_CHECKING:
    from symreln.claims.derivation import (
        Derivation,
        ModeDerivation,
        PathwayDerivation,
        StageDerivation,
    )
    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.scalar import Scalar
    from symreln.laws.law import Law

_CONJUGATE = "it is one of several conjugate modes, or is driven by one"
_SEVERAL = "several earlier modes drive it, each until its own half-time"
_TURNED = "what drives it takes it out of a plane"


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Driver:
    """The one earlier mode that drives a later one.

    Attributes:
        mode: The earlier mode.
        squared: r².
        across: r s γ.
    """

    mode: ModeDerivation
    squared: Scalar
    across: Scalar


@dataclass(frozen=True, kw_only=True, eq=False)
class _Earlier:
    """A mode that learns, as later stages see it."""

    pathway: PathwayDerivation
    mode: ModeDerivation

    @property
    def is_conjugate(self) -> bool:
        """Whether its drive is no rational function of the parameters."""
        degree = self.pathway.spectrum.classes[self.mode.class_index].degree
        return degree > 1 or self.mode.d_eff is None or self.mode.d_eff.scalar is None

    @cached_property
    def unlearned(self) -> ExactMatrix:
        """Return the map that it has still to learn, s/d u vᵀ summed over equal modes."""
        assert self.mode.d_eff is not None
        assert self.mode.d_eff.scalar is not None  # else it were conjugate
        effective = self.pathway.effective
        space = self.pathway.spectrum.classes[self.mode.class_index].generators
        whole = effective.sigma_yx @ subspace_projector(space)
        return whole.scale(1 / self.mode.d_eff.scalar)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Source:
    """An earlier mode with D, what it adds to what a later pathway sees."""

    mode: ModeDerivation
    drive: ExactMatrix


def some_driven(derivation: Derivation) -> bool:
    """Whether formulas of later stages start in effect elsewhere than at the initial strength."""
    modes = (mode for pathway in derivation.pathways for mode in pathway.modes)
    return any(
        mode.strength is not None and mode.strength.strength0 == HEAD_START for mode in modes
    )


def drivers(stages: Sequence[StageDerivation]) -> dict[str, Driver | str | None]:
    """Return what drives every mode of later stages that learns, by label.

    None where nothing does; a text where no formula says what it does, and why.
    """
    found: dict[str, Driver | str | None] = {}
    earlier: list[_Earlier] = []
    for stage in stages:
        conjugate = any(each.is_conjugate for each in earlier)
        # Of several earlier pathways a symmetric one is driven by other ones, with other labels.
        alone = len({each.pathway.name for each in earlier}) <= 1
        own: dict[int, list[Driver | str | None]] = {}
        learning: list[_Earlier] = []
        for pathway in stage.pathways:
            modes = [mode for mode in pathway.modes if not mode.is_null]
            image = pathway.effective.image
            known = own.get(id(image.original)) if alone and image is not None else None
            if known is None:
                sources = [] if conjugate else list(_sources(pathway, earlier))
                known = [_CONJUGATE if conjugate else _driver(pathway, m, sources) for m in modes]
            own[id(pathway.effective)] = known
            found |= zip((mode.label for mode in modes), known, strict=True)
            learning += [_Earlier(pathway=pathway, mode=mode) for mode in modes]
        earlier += learning
    return found


def _sources(target: PathwayDerivation, earlier: Sequence[_Earlier]) -> Iterator[_Source]:
    """Yield the earlier modes that a pathway sees something of."""
    cross = {
        number: effective.cross_sigma_x(target.effective)
        for number, effective in {e.pathway.number: e.pathway.effective for e in earlier}.items()
    }
    for each in earlier:
        drive = target.effective.masked(each.unlearned) @ cross[each.pathway.number]
        if not drive.is_zero:
            yield _Source(mode=each.mode, drive=drive.reduced())


def _driver(
    pathway: PathwayDerivation, mode: ModeDerivation, sources: Sequence[_Source]
) -> Driver | str | None:
    found = pathway.spectrum.classes[mode.class_index]
    own, inner = pathway.effective.sigma_yx, found.generators
    outer = own @ inner
    reaching = [
        each
        for each in sources
        if not (each.drive @ inner).is_zero or not (each.drive.T @ outer).is_zero
    ]
    if not reaching:
        return None
    if len(reaching) > 1:
        return _SEVERAL
    (source,) = reaching
    if found.degree > 1:
        return _CONJUGATE
    whole = own + source.drive
    turned = whole @ inner
    if any(not (each.drive.T @ turned).is_zero for each in sources if each is not source):
        return _SEVERAL
    squared, across, back = (
        _multiple(image, inner) for image in (whole.T @ turned, whole.T @ outer, own.T @ turned)
    )
    if squared is None or across is None or across != back or squared.is_zero:
        return _TURNED
    return Driver(mode=source.mode, squared=squared, across=across)


def _multiple(image: ExactMatrix, of: ExactMatrix) -> Scalar | None:
    """Return which multiple of a matrix another one is; None where it is none."""
    place = of.first_nonzero()
    assert place is not None  # a basis
    row, column, entry = place
    factor = image.entry(row, column) / entry
    return factor if (image - of.scale(factor)).is_zero else None


def start_in_effect(
    law: Law, by: Law, r: sp.Expr, overlap: sp.Expr, nus: tuple[sp.Expr, ...]
) -> sp.Expr:
    """Return π̃₀, in the form that is evaluated.

    Args:
        law: Of the driven mode, as if nothing drove it.
        by: Of the mode that drives it.
        r: How strongly it is driven meanwhile.
        overlap: γ.
        nus: ν_r, ν_s and ν_γ.
    """
    source = replace(by, ops=EVALUATED)
    factor = sigmoid_factor(EVALUATED, *nus)
    whole = evaluated_factor(EVALUATED, law.s, r, overlap, source.half_time, law.tau, factor)
    return law.strength0 * whole


def planar_start(law: Law, by: Law, driver: Driver, derivation: Derivation) -> sp.Expr:
    """Return π̃₀ of a mode of pathways in the parameters; arguments as above."""
    symbols = derivation.spec.symbols
    r = sp.sqrt(driver.squared.to_sympy(symbols))
    overlap = driver.across.to_sympy(symbols) / (r * law.s)
    nus = letters(r, law.s, overlap, by.s, lambda x: sp.sqrt(sp.Max(0, x)))
    return start_in_effect(law, by, r, overlap, nus)
