r"""A pathway's mode classes as sparse matrices: bases, projectors, drives, and the plateau.

Class a of pathway p is spanned by S_a = (T^l w)_{l<k}; its orthogonal projector is
:math:`E_a = S_a (S_a^T S_a)^{-1} S_a^T`, rational also where the modes are not. A pathway whose
original is known takes all of this from it, its inputs permuted.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.errors import LimitReachedError
from symreln.exact.field import Field
from symreln.exact.linear import inverse, pseudo_inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import Commutator, JointSpectrum, ModeClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.networks.effective import EffectiveDataset

#: Coefficients of a polynomial in theta, low to high.
Coefficients = tuple["Scalar", ...]
#: Bits of the inverse of a Gram matrix up to which a certificate with it ends in about a minute.
MOST_BITS = 100_000_000


@record
class Drive:
    """What a target class is driven by: Sigma^{yx}(p) T_p^i w.

    Attributes:
        powers: The matrices for i < 3·degree − 2: enough for a polynomial times two shifts.
        degree: Degree of the class.
    """

    powers: tuple[ExactMatrix, ...]
    degree: int

    def polynomial(self, actions: tuple[ExactMatrix, ...]) -> Coefficients | None:
        """Return q with actions[l] = Sigma^{yx}(p) q(T_p) T_p^l w for all l, or None."""
        low = self.powers[: self.degree]
        if low[0].is_zero:
            return None
        sums = [x.frobenius(actions[0]) for x in low]
        names = sums[0].parameters
        gram = ExactMatrix.from_rows([[x.frobenius(y) for y in low] for x in low], names)
        solution = inverse(gram) @ ExactMatrix.from_rows([[value] for value in sums], names)
        q = tuple(solution.entry(i, 0) for i in range(self.degree))
        expected = self.shifted(q, 0, len(actions))
        return q if all((x - y).is_zero for x, y in zip(actions, expected, strict=True)) else None

    def shifted(self, q: Coefficients, k: int, count: int) -> list[ExactMatrix]:
        """Return Sigma^{yx}(p) T_p^k q(T_p) T_p^l w for l < count."""
        result = []
        for shift in range(k, k + count):
            total = self.powers[shift].scale(q[0])
            for i, coefficient in enumerate(q[1:], start=1):
                total = total + self.powers[i + shift].scale(coefficient)
            result.append(total)
        return result


class PathwayModes:
    """The mode classes of one pathway; everything is computed once, when first asked for.

    Attributes:
        effective: The pathway's correlations.
        spectrum: Its joint spectrum.
        original: The modes of its original, whose classes come in the same order, or None.
    """

    def __init__(
        self,
        effective: EffectiveDataset,
        spectrum: JointSpectrum,
        original: PathwayModes | None = None,
    ) -> None:
        self.effective = effective
        self.spectrum = spectrum
        self.original = original
        self._krylov: dict[int, list[ExactMatrix]] = {}
        self._bases: dict[int, ExactMatrix] = {}
        self._projectors: dict[int, ExactMatrix] = {}
        self._drives: dict[int, Drive] = {}

    @cached_property
    def alike(self) -> PathwayModes:
        """Its original where that has the same inputs in the same order, and so the same modes."""
        image = self.effective.image
        if self.original is None or image is None:
            return self
        same = image.inputs.tolist() == list(range(len(image.inputs)))
        return self.original.alike if same else self

    @property
    def classes(self) -> tuple[ModeClass, ...]:
        """The classes of the spectrum."""
        return self.spectrum.classes

    def named(self, a: int) -> str:
        """Return a class in words, by the numbers of its modes in the pathway's list."""
        numbers = [
            str(number)
            for number, mode in enumerate(self.spectrum.modes, start=1)
            if mode.mode_class is self.classes[a]
        ]
        shown = ", ".join(numbers[:4]) + (", …" if len(numbers) > 4 else "")
        return f"mode{'s' if len(numbers) > 1 else ''} {shown} of '{self.effective.pathway.name}'"

    def krylov(self, a: int, length: int) -> list[ExactMatrix]:
        """Return w, T w, …, T^{length-1} w for the generators w of a class."""
        words = self._krylov.setdefault(a, [self.classes[a].generators])
        if len(words) < length:
            if self.original is not None and self.effective.image is not None:
                places, known = self.effective.image.inputs.tolist(), len(words)
                later = self.original.krylov(a, length)[known:]
                words += [word.select(rows=places) for word in later]
            else:
                wanted = length - len(words) + 1
                words += self.spectrum.krylov(self.classes[a], wanted, words[-1])[1:]
        return words[:length]

    def basis(self, a: int) -> ExactMatrix:
        """Return S_a, the Krylov vectors side by side."""
        if a not in self._bases:
            self._bases[a] = ExactMatrix.beside(self.krylov(a, self.classes[a].degree))
        return self._bases[a]

    def gram_inverse(self, a: int) -> ExactMatrix:
        """Return (S_aᵀ S_a)⁻¹, the same for images."""
        if self.original is not None:
            return self.original.gram_inverse(a)
        return gram_inverse(self.spectrum, self.classes[a])

    def projector(self, a: int) -> ExactMatrix:
        """Return E_a; of a class that is most of what learns, that of all less those of the others.

        Krylov vectors of ordinary floats, or of many parameters, are so long that their Gram matrix
        takes minutes to invert.
        """
        if a not in self._projectors:
            own = self.classes[a]
            if own.degree > 1 and 2 * own.dimension > self._rank and not own.is_null:
                found = self._learned
                for b, other in enumerate(self.classes):
                    if b != a and not other.is_null:
                        found = found - self.projector(b)
            else:
                basis = self.basis(a)
                found = basis @ self.gram_inverse(a) @ basis.T
            self._projectors[a] = found.reduced()
        return self._projectors[a]

    @cached_property
    def _rank(self) -> int:
        return sum(c.dimension for c in self.classes if not c.is_null)

    @cached_property
    def _learned(self) -> ExactMatrix:
        """The projector on what Sigma^{yx} does not map to 0."""
        if self._rank == self.spectrum.n_x:
            return ExactMatrix.identity(self._rank, self.spectrum.parameters)
        seen = self.spectrum.sigma_yx
        return seen.T @ pseudo_inverse((seen @ seen.T).reduced()) @ seen

    def projected(self, a: int, k: int, vectors: ExactMatrix) -> ExactMatrix:
        """Return T^k E_a vectors."""
        basis = self.basis(a)
        inner = (self.gram_inverse(a) @ (basis.T @ vectors)).reduced()
        if inner.is_zero:
            return ExactMatrix.zeros(*vectors.shape, inner.parameters)
        degree = self.classes[a].degree
        shifted = ExactMatrix.beside(self.krylov(a, k + degree)[k:]) if k else basis
        return (shifted @ inner).reduced()

    def drive(self, a: int) -> Drive:
        """Return what drives a class."""
        if a not in self._drives:
            degree = self.classes[a].degree
            image = self.effective.image
            if self.original is not None and image is not None:
                origins = np.argsort(image.symmetry.outputs).tolist()
                powers = [power.select(rows=origins) for power in self.original.drive(a).powers]
            else:
                sigma_yx = self.effective.sigma_yx
                vectors = self.krylov(a, 3 * degree - 2)
                powers = [(sigma_yx @ vector).reduced() for vector in vectors]
            self._drives[a] = Drive(powers=tuple(powers), degree=degree)
        return self._drives[a]

    def plateau(self, d_eff: Mapping[int, Coefficients]) -> ExactMatrix:
        r"""Return H = Σ_a (1/d_eff,a)(T_a) E_a over the classes that learn something.

        The converged map of the pathway is :math:`\Sigma^{yx} H`: a strength s/d_eff on every mode.

        Args:
            d_eff: Effective input eigenvalue of every class with s > 0.
        """
        size = self.spectrum.n_x
        total = ExactMatrix.zeros(size, size, self.spectrum.parameters)
        for a, mode_class in enumerate(self.classes):
            if mode_class.is_null:
                continue
            projector = self.projector(a)
            # By Horner's rule: products with T, whose entries are short, and not of its powers.
            *lower, leading = Field(mode_class.minpoly).inverse(d_eff[a])
            operator, part = self.spectrum.operator_matrix(mode_class), projector.scale(leading)
            for coefficient in reversed(lower):
                part = (operator @ part + projector.scale(coefficient)).reduced()
            total = total + part
        return total.reduced()


@lru_cache(maxsize=32)
def _gram(spectrum: JointSpectrum, mode_class: ModeClass) -> ExactMatrix:
    return ExactMatrix.beside(spectrum.krylov(mode_class, mode_class.degree)).gram.reduced()


@lru_cache(maxsize=32)
def gram_inverse(spectrum: JointSpectrum, mode_class: ModeClass) -> ExactMatrix:
    """Return (SᵀS)⁻¹ of a class of an original."""
    return inverse(_gram(spectrum, mode_class))


def check_projection(spectrum: JointSpectrum) -> None:
    """Refuse modes on which projections are too long: digits grow with their count's fourth power.

    Args:
        spectrum: Without parameters.

    Raises:
        LimitReachedError: There are such.
    """
    for mode_class in spectrum.classes:
        if mode_class.degree < 2:
            continue
        gram = _gram(spectrum, mode_class)
        largest = max((part.largest() for part in gram.terms.values()), default=0)
        bits = gram.shape[0] ** 3 * largest.bit_length()
        if bits > MOST_BITS:
            msg = (
                f"{mode_class.degree} conjugate modes, roots of one polynomial: the projection on "
                f"them has about {bits * 0.3:.2g} digits, and {MOST_BITS * 0.3:.2g} are the most "
                "that several pathways or stages are derived with. Round the data and read them "
                "with exact=False, or derive one pathway in one stage, which needs none"
            )
            raise LimitReachedError(msg)


@record(eq=False)
class Converged:
    """A converged pathway of a closed stage, one of :attr:`Targets.learned`.

    Attributes:
        pathway: Its modes.
        d_eff: Effective input eigenvalue of every class with s > 0.
        like: The same of its original, with equal d_eff, or None.
    """

    pathway: PathwayModes
    d_eff: Mapping[int, Coefficients]
    like: Converged | None = None

    @property
    def left(self) -> ExactMatrix:
        """Sigma^{yx}(p)."""
        return self.pathway.effective.sigma_yx

    @property
    def right(self) -> ExactMatrix:
        """H_p."""
        return self._plateau

    @cached_property
    def _plateau(self) -> ExactMatrix:
        image = self.pathway.effective.image
        if self.like is not None and image is not None:
            places = image.inputs.tolist()
            return self.like.right.select(places, places)
        return self.pathway.plateau(self.d_eff)

    @cached_property
    def gain(self) -> Scalar:
        """⟨Sigma^{yx}(p), W_p⟩/2 = tr(M_p H_p)/2."""
        if self.like is not None:
            return self.like.gain
        return self.right.frobenius(self.pathway.spectrum.m) / 2

    @property
    def features(self) -> ExactMatrix:
        """F_p."""
        return self.pathway.effective.features


def image_spectrum(effective: EffectiveDataset, original: JointSpectrum) -> JointSpectrum:
    """Return the spectrum of an image from its original's: the same modes, inputs permuted.

    Args:
        effective: The pathway, an image.
        original: The original's spectrum.
    """
    image = effective.image
    assert image is not None
    places = image.inputs.tolist()
    return JointSpectrum(
        sigma_yx=effective.sigma_yx,
        sigma_x=original.sigma_x.select(places, places),
        commutator=_commutator(effective, original.commutator),
        classes=tuple(
            replace(mode_class, generators=mode_class.generators.select(places))
            for mode_class in original.classes
        ),
        values=original.values,
    )


def _commutator(effective: EffectiveDataset, original: Commutator | None) -> Commutator | None:
    """Return the witness again: its norm is the same, its first entry depends on the order."""
    if original is None:
        return None
    m = effective.sigma_yx.T @ effective.sigma_yx
    forward = m @ effective.sigma_x
    row, column, value = next((forward - forward.T).nonzero())
    return replace(original, row=row, column=column, value=value)
