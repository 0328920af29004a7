"""The derivation as a value: pathways, modes, verdict, loss, and what can be asked of them."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.claims.claim import Asked, Step
from symreln.errors import InputError
from symreln.exact.singular import Columns, exact_root, singular_vectors
from symreln.exact.truth import Truth
from symreln.laws.choice import law_of
from symreln.laws.law import Law, Regime, strength_symbol
from symreln.verdict.judge import DiagonalisabilityVerdict, Level, StageVerdict, diagonalisable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.exact.scalar import Scalar
    from symreln.exact.spectrum import JointSpectrum
    from symreln.networks.effective import EffectiveDataset
    from symreln.networks.symmetry import SymmetrySearch
    from symreln.specs.spec import Parameter, Spec


@record
class ModeDerivation:
    """One mode of a pathway.

    Attributes:
        number: Place in the pathway's list, from 1, by decreasing s.
        label: Symbol of its strength, "pi_{pathway number},{number}" without the braces.
        class_index: Index of its class in the pathway's spectrum.
        s: Singular value of Sigma^{yx}.
        d: Matching eigenvalue of Sigma^x, or None where the pathway has no joint eigenbasis.
        d_eff: Effective eigenvalue: equal to d where nothing couples, a scalar where pathways
            are closed by symmetry, None where the mode does not close.
        multiplicity: How many equal modes this entry stands for.
        family: Name of the solution family or reduction.
        why: Why this family.
        strength: The closed form, or None where there is none.
        passed_over: (name, why not) of every solution family that was asked before.
    """

    number: int
    label: str
    class_index: int
    s: AlgebraicNumber
    d: AlgebraicNumber | None
    d_eff: AlgebraicNumber | None
    multiplicity: int
    family: str
    why: str
    strength: Law | None
    passed_over: tuple[tuple[str, str], ...] = ()

    @property
    def is_null(self) -> bool:
        """Whether s is zero for all parameter values."""
        return self.s.is_zero


@record
class PathwayDerivation:
    """One pathway with everything derived for it.

    Attributes:
        number: Place in the spec, from 1.
        effective: Effective dataset and correlations (of the residual, for a later stage).
        spectrum: Joint spectrum of its two correlations.
        modes: By decreasing s, null modes last.
        parameters: Declared parameters of the spec.
    """

    number: int
    effective: EffectiveDataset
    spectrum: JointSpectrum
    modes: tuple[ModeDerivation, ...]
    parameters: tuple[Parameter, ...] = ()

    @property
    def name(self) -> str:
        """Name in the spec."""
        return self.effective.pathway.name

    @property
    def stage(self) -> int:
        """Training stage in the spec."""
        return self.effective.pathway.stage

    @property
    def commutes(self) -> Truth:
        """Whether the two correlations have a joint eigenbasis."""
        return diagonalisable(self.spectrum)

    @property
    def learning(self) -> list[ModeDerivation]:
        """The modes that learn something."""
        return [mode for mode in self.modes if not mode.is_null]

    @property
    def rank(self) -> int:
        """How many modes have s > 0, degenerate ones one by one."""
        return sum(mode.multiplicity for mode in self.learning)

    @cached_property
    def vectors(self) -> dict[str, tuple[Columns, Columns]]:
        """(U, V) of every mode with s > 0, by label, exact and before any conversion."""
        labels = [mode.label for mode in self.learning]
        return dict(zip(labels, singular_vectors(self.spectrum), strict=True))

    @property
    def u(self) -> sp.ImmutableMatrix:
        """Left singular vectors, shape (outputs, modes), exact; degenerate modes one by one.

        Columns are those of modes with s > 0, in the order of ``modes``; rows the pathway's own
        outputs (of ``v`` its inputs). Sigma^{yx} = U S V^T with orthonormal columns. Of a mode of
        several dimensions the basis is a choice, which keeps the symmetries of the data.
        """
        return self._matrix(0, *self.vectors.values())

    @property
    def v(self) -> sp.ImmutableMatrix:
        """Right singular vectors, shape (inputs, modes), as of ``u``."""
        return self._matrix(1, *self.vectors.values())

    @property
    def s(self) -> sp.ImmutableMatrix:
        """Singular values, shape (1, modes), a column a mode as in ``u``."""
        return self._row("s")

    @property
    def d(self) -> sp.ImmutableMatrix | None:
        """Eigenvalues of Sigma^x likewise; None where it has no joint eigenbasis with ``u``."""
        return self._row("d") if self.spectrum.commutes else None

    def to_numpy(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Return (U, s, V, d) in float64 at the declared values, s and d of shape (modes,).

        Raises:
            InputError: A parameter has no declared value, or one at which modes are others.
        """
        values = {p.name: p.value for p in self.parameters if p.value is not None}
        columns = [each.to_numpy(values) for pair in self.vectors.values() for each in pair]
        found = [each for each in columns if each is not None]
        if len(found) < len(columns):
            msg = (
                "to_numpy: a parameter has no declared value, or has one at which modes meet or "
                "vanish. Declare another one, or take derivation.at_values"
            )
            raise InputError(msg)
        u, v = (
            np.hstack([np.zeros((size, 0)), *found[side::2]])
            for side, size in enumerate(self.spectrum.sigma_yx.shape)
        )

        def floats(name: str) -> np.ndarray:
            return np.array([float(number.to_float(values)) for number in self._numbers(name)])

        return u, floats("s"), v, floats("d") if self.spectrum.commutes else None

    def _numbers(self, name: str) -> list[AlgebraicNumber]:
        return [getattr(mode, name) for mode in self.learning for _ in range(mode.multiplicity)]

    def _row(self, name: str) -> sp.ImmutableMatrix:
        symbols = {p.name: p.symbol for p in self.parameters}
        return sp.ImmutableMatrix([[exact_root(each, symbols) for each in self._numbers(name)]])

    def matrices(self, label: str) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """Return the columns of U and of V of one mode with s > 0."""
        return self._matrix(0, self.vectors[label]), self._matrix(1, self.vectors[label])

    def _matrix(self, side: int, *found: tuple[Columns, Columns]) -> sp.ImmutableMatrix:
        symbols = {p.name: p.symbol for p in self.parameters}
        columns = [column for each in found for column in each[side].to_sympy(symbols)]
        rows = self.spectrum.sigma_yx.shape[side]
        return sp.ImmutableMatrix(rows, len(columns), lambda i, j: columns[j][i])

    @property
    def class_numbers(self) -> dict[int, list[int]]:
        """Numbers of the modes of every class."""
        numbers: dict[int, list[int]] = {}
        for mode in self.modes:
            numbers.setdefault(mode.class_index, []).append(mode.number)
        return numbers

    def mode_numbers(self, class_index: int) -> str:
        """Return the numbers of the modes of a class, as text."""
        return ", ".join(map(str, self.class_numbers[class_index]))


@record
class StageDerivation:
    """The pathways that learn together.

    Attributes:
        stage: From 1.
        pathways: Its pathways, in the order of the spec.
        verdict: What was proven for them.
        initial_loss: ½ tr of the targets' correlation before the stage: exact.
        final_loss: The least value that its pathways can reach: exact.
    """

    stage: int
    pathways: tuple[PathwayDerivation, ...]
    verdict: StageVerdict
    initial_loss: Scalar
    final_loss: Scalar


@record(eq=False)
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


@record
class Derivation(Asked):
    """Everything derived from a spec, and what rules find in it.

    Attributes:
        spec: The spec.
        steps: What was checked, in order.
        stages: One entry a training stage.
        verdict: Which reduction holds.
        loss_separates: Whether the loss is a sum over modes: every strength closes, and stages
            do not disturb each other.
        later: The derivations with the gates after each switch, in order: their modes, couplings
            and verdicts. Weights are carried over a switch, so their strengths do not start as
            in a derivation of its own. This derivation holds up to the first switch.
        drivers: What drives every mode of later stages that learns, by label, while earlier ones
            learn: one mode, None, or why no formula says it.
        search: For symmetries that map pathways onto others; None where there is but one.
    """

    spec: Spec
    steps: tuple[Step, ...]
    stages: tuple[StageDerivation, ...]
    verdict: DiagonalisabilityVerdict
    loss_separates: bool
    drivers: Mapping[str, Driver | str | None]
    search: SymmetrySearch | None = field(repr=False, compare=False)
    later: tuple[Derivation, ...] = ()

    @property
    def level(self) -> Level:
        """The weakest level of the stages."""
        return self.verdict.level

    @property
    def last(self) -> Derivation:
        """The derivation with the gates that are taken last."""
        return self.later[-1] if self.later else self

    @property
    def until(self) -> int | None:
        """The step up to which it holds; None where no gate switches."""
        return min(self.spec.switches, default=None)

    @property
    def until_text(self) -> str:
        """The same in words; "" where no gate switches."""
        return "" if self.until is None else f" up to step {self.until}"

    @property
    def phases(self) -> tuple[tuple[int, Derivation], ...]:
        """(first step, what holds from it on) of every phase of the gates."""
        return ((0, self), *zip(self.spec.switches, self.later, strict=True))

    @property
    def pathways(self) -> tuple[PathwayDerivation, ...]:
        """All pathways, in the order of the spec."""
        found = [pathway for stage in self.stages for pathway in stage.pathways]
        return tuple(sorted(found, key=lambda pathway: pathway.number))

    @property
    def initial_loss(self) -> Scalar:
        """½ tr Sigma^y: the loss of a network whose outputs are zero."""
        return self.stages[0].initial_loss

    @property
    def least_loss(self) -> Scalar:
        """The least that wide enough pathways reach without decay, with the gates taken last."""
        return self.last.stages[-1].final_loss

    @property
    def tau(self) -> Fraction | None:
        """Time constant in steps, or None without a network."""
        network = self.spec.network
        if network is None:
            return None
        return self.known.slower * network.tau(self.spec.dataset.samples)

    @cached_property
    def known(self) -> Regime:
        """What the spec says of its modes, were they decoupled: which law they take."""
        return Regime.of(self.spec)

    @property
    def given_start(self) -> Fraction | None:
        """Where all modes start, if it is given and does not follow from the network's weights."""
        return None if self.spec.network is None else self.spec.network.strength0

    @property
    def strength0(self) -> Fraction | None:
        """Initial strength of modes without a κ (:mod:`symreln.claims.starts`); None if unknown."""
        if self.spec.network is None or self.given_start is not None:
            return self.given_start
        if self.by_edges:
            return None
        start = law_of(self.known).start(self.known)
        return None if start is None else start.strength0

    @property
    def closed(self) -> bool:
        """Whether every mode has a closed form."""
        return self.verdict.level.closes

    @property
    def by_edges(self) -> bool:
        """Whether the flow of all edges is what is left: of other than two layers of their own."""
        coupled = any(stage.verdict.couplings.coupled_pairs for stage in self.stages)
        known = self.known
        return not self.closed and not known.matrices.holds and (known.layers > 1 or coupled)

    @property
    def loss(self) -> sp.Expr | None:
        """The loss in mode space, or None where it is no sum over modes."""
        return self.ask(_loss)

    def with_checks(self, steps: tuple[Step, ...]) -> Self:
        """Return the derivation with what was checked, keeping what the checks have asked for."""
        checked = replace(self, steps=steps)
        checked._known.update((k, v) for k, v in self._known.items() if v is not self)
        return checked

    def _headline(self) -> str:
        """Return a line, for what holds a derivation."""
        return (
            f"Derivation({self.spec.title!r}, {self.verdict.level.value}, "
            f"stages={len(self.stages)}, pathways={len(self.pathways)})"
        )


def _loss(derivation: Derivation) -> sp.Expr | None:
    if not derivation.loss_separates:
        return None
    taken = (
        -mode.multiplicity * mode.strength.taken(strength_symbol(mode.label))
        for pathway in derivation.pathways
        for mode in pathway.learning
        if mode.strength is not None
    )
    return sp.Add(derivation.initial_loss.to_sympy(derivation.spec.symbols), *taken)
