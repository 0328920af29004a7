"""What a pathway sees: its effective dataset and the correlations that drive it."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.errors import LimitReachedError
from symreln.exact.linear import complement_projector
from symreln.exact.matrix import ExactMatrix
from symreln.networks.targets import Targets

if TYPE_CHECKING:
    from symreln.networks.dataset import Dataset
    from symreln.networks.pathway import PathwaySpec
    from symreln.networks.symmetry import Symmetry


#: Terms of an entry of a correlation, and bits of all its integers together, up to which it is
#: derived from: the commutator has the third power of as many terms, eigenvalues n times as many
#: bits, and the certificate is checked in Python.
MOST_TERMS = 1000
MOST_BITS = 20_000


@record(eq=False)
class _OrbitImage:
    """A pathway that a symmetry maps to this one.

    Attributes:
        original: The other pathway's effective dataset, of the same stage.
        symmetry: Maps the original to this one.
        inputs: For every input of this pathway the place of its origin among the original's.
    """

    original: EffectiveDataset
    symmetry: Symmetry
    inputs: np.ndarray


@record(eq=False)
class EffectiveDataset:
    r"""Inputs and targets under one pathway's gate and masks, with their correlations.

    Correlations carry 1/P over the WHOLE dataset, not over the gated samples. A gate that takes
    other values than 0 and 1 multiplies what the pathway gives out, so its features are
    :math:`X_p\,{\rm diag}(g_p)` in every correlation. All matrices are made when first asked for.
    Source: [Saxe2022] for gated networks, [Jarvis2025] for the reading as effective datasets.

    Attributes:
        pathway: The pathway.
        dataset: The whole dataset.
        goal: What its stage learns, before any gate or mask.
        image: A pathway of the stage that a symmetry maps to this one, or None.
    """

    pathway: PathwaySpec
    dataset: Dataset
    goal: Targets
    image: _OrbitImage | None = None

    @property
    def samples(self) -> int:
        """P, closed samples included."""
        return self.dataset.samples

    @property
    def writes_all(self) -> bool:
        """Whether the pathway writes to every output."""
        return len(self.pathway.outputs) == self.dataset.n_y

    @cached_property
    def features(self) -> ExactMatrix:
        """F_p = Π_p I_p X diag(g_p), shape (inputs of the pathway, P): closed samples are zero.

        Π_p projects on the complement of boundary samples; without any it is the identity.
        """
        chosen = self.dataset.inputs.select(rows=self.pathway.inputs)
        if self.pathway.boundary:
            on = chosen.select(columns=self.pathway.boundary)
            chosen = (complement_projector(on) @ chosen).reduced()
        return chosen.scaled_columns(self.pathway.gate)

    @property
    def inputs(self) -> ExactMatrix:
        """F_p under the name that a dataset gives it."""
        return self.features

    @cached_property
    def targets(self) -> ExactMatrix:
        """Y_p, shape (n_y, P): closed samples and outputs of other pathways zero.

        For a later stage of the residual that the converged earlier stages leave.
        """
        return self.masked(self.goal.matrix.masked(columns=self.pathway.open_samples))

    @cached_property
    def sigma_yx(self) -> ExactMatrix:
        """Input-output correlation O_p Y F_pᵀ/P, shape (n_y, inputs of the pathway)."""
        image = self.image
        if image is None:
            return self.masked(self.goal.correlated(self.features)).reduced()
        found, origins = image.original.sigma_yx, np.argsort(image.symmetry.outputs).tolist()
        # Seldom read: the original's spectrum, couplings and closure are known without it.
        return ExactMatrix(
            found.shape,
            found.parameters,
            lambda: found.select(rows=origins, columns=image.inputs.tolist()).terms,
            found.denominator,
        )

    @cached_property
    def sigma_x(self) -> ExactMatrix:
        """Input correlation F_p F_pᵀ/P, square, one row an input of the pathway."""
        return self.cross_sigma_x(self)

    def cross_sigma_x(self, other: EffectiveDataset) -> ExactMatrix:
        """Return Sigma^x(self, other) = F_self F_otherᵀ/P."""
        product = self.features @ other.features.T
        return product.scale(Fraction(1, self.samples)).reduced()

    def masked(self, outputs: ExactMatrix) -> ExactMatrix:
        """Return a matrix of n_y rows with the rows that this pathway does not write set to 0."""
        return outputs if self.writes_all else outputs.masked(rows=self.pathway.outputs)

    def check_size(self) -> None:
        """Refuse correlations that nothing can be derived from in reasonable time.

        Raises:
            LimitReachedError: An entry has too many terms or digits; the message says which.
        """
        found = {"Sigma^yx": self.sigma_yx, "Sigma^x": self.sigma_x}
        for name, matrix in found.items():
            terms = max(len(matrix.terms), len(matrix.denominator))
            bottom = (abs(int(c)) for c in matrix.denominator.coeffs())
            bits = max(*(part.largest() for part in matrix.terms.values()), *bottom, 0).bit_length()
            if terms > MOST_TERMS or terms * bits > MOST_BITS:
                what = f"{name} of pathway '{self.pathway.name}'"
                raise _too_large(what, terms, bits, len(matrix.parameters))

    def mapped(self, symmetry: Symmetry, pathway: PathwaySpec) -> EffectiveDataset:
        """Return the effective dataset of a pathway to which a symmetry maps this one."""
        place = {index: k for k, index in enumerate(self.pathway.inputs)}
        origin = np.argsort(symmetry.inputs)
        inputs = np.array([place[int(origin[i])] for i in pathway.inputs], dtype=np.int64)
        return EffectiveDataset(
            pathway=pathway,
            dataset=self.dataset,
            goal=self.goal,
            image=_OrbitImage(original=self, symmetry=symmetry, inputs=inputs),
        )

    @classmethod
    def of(
        cls, dataset: Dataset, pathway: PathwaySpec, targets: ExactMatrix | Targets
    ) -> EffectiveDataset:
        """Apply a pathway's gate and masks to the dataset.

        Args:
            dataset: The whole dataset.
            pathway: Gate and masks.
            targets: Shape (n_y, P): the dataset's targets, or a later stage's residual.
        """
        goal = targets if isinstance(targets, Targets) else Targets.of(targets)
        return cls(pathway=pathway, dataset=dataset, goal=goal)


def _too_large(what: str, terms: int, bits: int, parameters: int) -> LimitReachedError:
    size, most = f"in {parameters} parameters", f"{MOST_TERMS}"
    mend = "Give some of the parameters as numbers, or data and gains of a lower degree"
    if terms <= MOST_TERMS:
        size = f"with integers of {bits * 301 // 1000} digits"
        most = f"{MOST_BITS * 301 // 1000} digits in all"
        mend = "Round the data, or scale them so that they share a denominator"
    return LimitReachedError(
        f"{what} has entries of up to {terms} terms {size}, and {most} are the most that is "
        f"derived from. {mend}"
    )
