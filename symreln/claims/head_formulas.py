r"""Head starts as formulas in the parameters, where one earlier mode drives a later one in a plane.

With W a basis of a later mode's input space, Σ what its pathway sees and E what it sees while the
earlier mode still learns, all exact, the identities

.. math:: E^\top E W = r^2 W, \qquad E^\top \Sigma W = r s \gamma W = \Sigma^\top E W

say that it moves in a plane, and give r and γ: :mod:`symreln.laws.sigmoid_drive` holds for all
values of the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from symreln.base.records import record
from symreln.claims.derivation import (
    Derivation,
    Driver,
    ModeDerivation,
    PathwayDerivation,
    StageDerivation,
)
from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum, ModeClass
from symreln.laws.law import HEAD_START
from symreln.networks.effective import EffectiveDataset

_CONJUGATE = "it is one of several conjugate modes, or is driven by one"
_SEVERAL = "several earlier modes drive it, each until its own half-time"
_TURNED = "what drives it takes it out of a plane"


@record(eq=False)
class _Earlier:
    """A mode that learns, as later stages see it."""

    pathway: PathwayDerivation
    mode: ModeDerivation

    @property
    def is_conjugate(self) -> bool:
        """Whether its drive is no rational function of the parameters."""
        degree = self.pathway.spectrum.classes[self.mode.class_index].degree
        return degree > 1 or self.mode.d_eff is None or self.mode.d_eff.scalar is None

    def drive(self, written: ExactMatrix, seen: ExactMatrix) -> _Drive:
        """Return D, s/d u vᵀ summed over equal modes and over what a later pathway sees.

        Args:
            written: Sigma^{yx} of its pathway, on outputs of the later one.
            seen: Sigma^x of its pathway's inputs and the later one's.
        """
        assert self.mode.d_eff is not None
        assert self.mode.d_eff.scalar is not None  # else it were conjugate
        space = self.pathway.spectrum.classes[self.mode.class_index].generators
        inner = (inverse(space.gram) @ (space.T @ seen)).scale(1 / self.mode.d_eff.scalar)
        return _Drive(mode=self.mode, outer=(written @ space).reduced(), inner=inner.reduced())


@record(eq=False)
class _Drive:
    """What an earlier mode adds to what a later pathway sees, D = outer inner."""

    mode: ModeDerivation
    outer: ExactMatrix
    inner: ExactMatrix

    def times(self, inner: ExactMatrix) -> ExactMatrix:
        """Return D times a matrix."""
        return self.outer @ (self.inner @ inner)

    def back(self, outer: ExactMatrix) -> ExactMatrix:
        """Return Dᵀ times a matrix."""
        return self.inner.T @ (self.outer.T @ outer)


def some_driven(derivation: Derivation) -> bool:
    """Whether formulas of later stages start in effect elsewhere than at the initial strength."""
    modes = (mode for pathway in derivation.pathways for mode in pathway.modes)
    return any(
        mode.strength is not None and mode.strength.strength0 == HEAD_START for mode in modes
    )


def drivers(
    stages: Sequence[StageDerivation],
    numbers: Sequence[int],
    effective: Sequence[EffectiveDataset],
    spectra: Sequence[JointSpectrum],
) -> dict[str, Driver | str | None]:
    """Return what drives every mode of a later stage that learns, by label.

    None where nothing does; a text where no formula says what it does, and why.

    Args:
        stages: Those before.
        numbers: Of the later stage's pathways, in the spec.
        effective: What they see.
        spectra: Theirs.
    """
    earlier = [_Earlier(pathway=p, mode=m) for s in stages for p in s.pathways for m in p.learning]
    conjugate = any(each.is_conjugate for each in earlier)
    # Of several earlier pathways a symmetric one is driven by other ones, with other labels.
    alone = len({each.pathway.name for each in earlier}) <= 1
    found: dict[str, Driver | str | None] = {}
    own: dict[int, Sequence[Driver | str | None]] = {}
    for number, seen, spectrum in zip(numbers, effective, spectra, strict=True):
        known = own.get(id(seen.image.original)) if alone and seen.image is not None else None
        classes = [mode.mode_class for mode in spectrum.modes if not mode.is_null]
        if conjugate:
            known = [_CONJUGATE] * len(classes)
        elif known is None:
            sources = _sources(seen, earlier)
            known = [_driver(each, *sources) for each in classes]
        own[id(seen)] = known
        # Null modes are the last ones.
        found |= {f"pi_{number}_{place}": each for place, each in enumerate(known, start=1)}
    return found


def _sources(
    seen: EffectiveDataset, earlier: Sequence[_Earlier]
) -> tuple[ExactMatrix, list[_Drive], ExactMatrix]:
    """Return what a later pathway sees, outputs written as sums of the columns of all of it.

    Returns:
        Its Sigma^{yx}, what earlier modes add to it, and products of the columns: an output is 0
        where these make it 0.
    """
    numbers = {each.pathway.number: each.pathway.effective for each in earlier}
    written = [seen.sigma_yx, *(seen.masked(each.sigma_yx) for each in numbers.values())]
    ends = [0, *accumulate(each.shape[1] for each in written)]
    alone = ExactMatrix.identity(ends[-1], seen.sigma_yx.parameters)
    own, *places = (alone.select(columns=range(*each)) for each in pairwise(ends))
    sides = {
        number: (place, effective.cross_sigma_x(seen))
        for (number, effective), place in zip(numbers.items(), places, strict=True)
    }
    drives = [each.drive(*sides[each.pathway.number]) for each in earlier]
    return own, drives, ExactMatrix.beside(written).gram.reduced()


def _driver(
    found: ModeClass, own: ExactMatrix, drives: Sequence[_Drive], metric: ExactMatrix
) -> Driver | str | None:
    inner = found.generators
    outer = metric @ (own @ inner)
    reaching = [
        each
        for each in drives
        if not (metric @ each.times(inner)).is_zero or not each.back(outer).is_zero
    ]
    if not reaching:
        return None
    if len(reaching) > 1:
        return _SEVERAL
    (source,) = reaching
    if found.degree > 1:
        return _CONJUGATE
    turned = metric @ (own @ inner + source.times(inner))
    if any(not each.back(turned).is_zero for each in drives if each is not source):
        return _SEVERAL
    back = own.T @ turned
    squared, across, alone = (
        _multiple(image, inner)
        for image in (back + source.back(turned), own.T @ outer + source.back(outer), back)
    )
    if squared is None or across is None or across != alone or squared.is_zero:
        return _TURNED
    return Driver(mode=source.mode, squared=squared, across=across)


def _multiple(image: ExactMatrix, of: ExactMatrix) -> Scalar | None:
    """Return which multiple of a matrix another one is; None where it is none."""
    place = next(of.nonzero(), None)
    assert place is not None  # a basis
    row, column, entry = place
    factor = image.entry(row, column) / entry
    return factor if (image - of.scale(factor)).is_zero else None
