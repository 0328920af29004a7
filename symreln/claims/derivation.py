"""The derivation as a value: pathways, modes, verdict, loss, and what can be asked of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symreln.base.summaries import short_repr
from symreln.dynamics import switchboard
from symreln.dynamics.loss import mode_space_loss, strength_symbol
from symreln.dynamics.solutions import odd_relu
from symreln.errors import InputError
from symreln.truth import Truth
from symreln.verdict.judge import Level, diagonalisable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    import numpy as np
    import sympy as sp
    from flint import arb

    from symreln.claims.constants import Constant
    from symreln.claims.convergence import Convergence
    from symreln.claims.early import EarlyStrengths
    from symreln.claims.equilibria import Race
    from symreln.claims.families.derivation import FamilyDerivation
    from symreln.claims.prediction import Prediction
    from symreln.claims.regime import Regime
    from symreln.claims.widths import NarrowPathway
    from symreln.dynamics.solutions.common import AbstractMode
    from symreln.dynamics.switched_matrices import SwitchedMatrices
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.exact.exceptional import ExceptionalSets
    from symreln.exact.scalar import Scalar
    from symreln.exact.spectrum import JointSpectrum
    from symreln.network.effective import EffectiveDataset
    from symreln.spec.model import NetworkSpec, Spec
    from symreln.verdict.judge import DiagonalisabilityVerdict, StageVerdict


@short_repr
@dataclass(frozen=True, kw_only=True)
class ModeDerivation:
    """One mode of a pathway.

    Attributes:
        number: Place in the pathway's list, from 1, by falling s.
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
    strength: AbstractMode | None
    passed_over: tuple[tuple[str, str], ...] = ()

    @property
    def is_null(self) -> bool:
        """Whether s is zero for all parameter values."""
        return self.s.is_zero


@short_repr
@dataclass(frozen=True, kw_only=True)
class PathwayDerivation:
    """One pathway with everything derived for it.

    Attributes:
        number: Place in the spec, from 1.
        effective: Effective dataset and correlations (of the residual, for a later stage).
        spectrum: Joint spectrum of its two correlations.
        modes: By falling s, null modes last.
    """

    number: int
    effective: EffectiveDataset
    spectrum: JointSpectrum
    modes: tuple[ModeDerivation, ...]

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

    def mode_numbers(self, class_index: int) -> str:
        """Return the numbers of the modes of a class, as text."""
        return ", ".join(str(m.number) for m in self.modes if m.class_index == class_index)


@short_repr
@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the derivation and the check that was made of it.

    Attributes:
        name: What was derived.
        statement: The claim, in words.
        check: How the program checked it.
        outcome: PROVEN, or UNDECIDED where there was nothing that could be checked.
    """

    name: str
    statement: str
    check: str
    outcome: Truth


@short_repr
@dataclass(frozen=True, kw_only=True)
class Derivation:
    """Everything derived from a spec.

    Attributes:
        spec: The spec.
        stages: One entry a training stage.
        verdict: Which reduction holds.
        loss_separates: Whether the loss is a sum over modes: every strength closes, and stages
            do not disturb each other.
        steps: What was checked, in order.
        family: The answer for every number of contexts, or None without a size symbol.
        later: The derivations with the gates after each switch, in order: their modes, couplings
            and verdicts. Weights are carried over a switch, so their strengths do not start as
            in a derivation of its own. This derivation holds up to the first switch.
    """

    spec: Spec
    stages: tuple[StageDerivation, ...]
    verdict: DiagonalisabilityVerdict
    loss_separates: bool
    steps: tuple[Step, ...]
    family: FamilyDerivation | None = None
    later: tuple[Derivation, ...] = ()

    @property
    def last(self) -> Derivation:
        """The derivation with the gates that are taken last."""
        return self.later[-1] if self.later else self

    @property
    def phases(self) -> tuple[tuple[int, Derivation], ...]:
        """(first step, what holds from it on) of every phase of the gates."""
        return ((0, self), *zip(self.spec.switches, self.later, strict=True))

    @property
    def pathways(self) -> tuple[PathwayDerivation, ...]:
        """All pathways, in the order of the spec."""
        found = [pathway for stage in self.stages for pathway in stage.pathways]
        return tuple(sorted(found, key=lambda pathway: pathway.number))

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Every number of the printed closed forms that is not in the spec."""
        from symreln.claims.constants import printed_constants

        return printed_constants(self)

    @property
    def free_constants(self) -> int:
        """How many of them were assumed or fitted."""
        from symreln.claims.constants import count_free

        return count_free(self.constants)

    @property
    def initial_loss(self) -> Scalar:
        """½ tr Sigma^y: the loss of a network whose outputs are zero."""
        return self.stages[0].initial_loss

    @property
    def final_loss(self) -> Scalar:
        """Loss that is left when every stage has converged, with the gates taken last."""
        return self.last.stages[-1].final_loss

    @property
    def tau(self) -> Fraction | None:
        """Time constant in steps, or None without a network."""
        network = self.effective_network
        return None if network is None else network.tau(self.spec.dataset.samples)

    @cached_property
    def effective_network(self) -> NetworkSpec | None:
        """The network whose time constant and weight decay the modes feel, or None without one.

        The spec's own, but for a ReLU network that is linear at half speed
        (:mod:`symreln.dynamics.solutions.odd_relu`).
        """
        network = self.spec.network
        if network is None or not odd_relu.asked(self.spec)[0]:
            return network
        return odd_relu.linear_network(network)

    @property
    def strength0(self) -> Fraction | None:
        """Initial strength of every mode, or None without a network or where none is derived."""
        network = self.spec.network
        if network is None or network.layers > 2:
            return None
        return switchboard.expected_start(network).strength0

    @property
    def closed(self) -> bool:
        """Whether every mode has a closed form."""
        return self.verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)

    @cached_property
    def loss(self) -> sp.Expr | None:
        """The loss in mode space, or None where it is no sum over modes."""
        if not self.loss_separates:
            return None
        terms = [
            (strength_symbol(mode.label), mode.multiplicity, mode.strength.s, mode.strength.d)
            for stage in self.stages
            for pathway in stage.pathways
            for mode in pathway.modes
            if mode.strength is not None and not mode.is_null
        ]
        return mode_space_loss(self.initial_loss.to_sympy(self.spec.symbols), terms)

    @cached_property
    def races(self) -> tuple[Race, ...]:
        """How the competitions of coupled modes end; none where no stage has any."""
        from symreln.claims.equilibria import races

        return races(self)

    @cached_property
    def narrow(self) -> tuple[NarrowPathway, ...]:
        """Pathways with fewer hidden units than modes, and which modes they learn."""
        from symreln.claims.widths import narrow_pathways

        return narrow_pathways(self)

    @cached_property
    def unsupported(self) -> Mapping[str, str]:
        """Why no hidden unit keeps the gate of a pathway, by name, at the declared values.

        Of pathways of the first stage of a ReLU network; empty where parameters have no values.
        """
        from symreln.gates.support import unsupported_pathways

        if any(parameter.value is None for parameter in self.spec.parameters):
            return {}
        numbers = self.at_values
        return unsupported_pathways(self) if numbers is self else numbers.unsupported

    @cached_property
    def early(self) -> EarlyStrengths:
        """κ of the modes that learn first, at the declared values; needs a network.

        A Monte Carlo estimate over isolated hidden units (:mod:`symreln.claims.early`), made once.
        """
        from symreln.claims.early import early_strengths

        numbers = self.at_values
        return early_strengths(self) if numbers is self else numbers.early

    @cached_property
    def regime(self) -> Regime | None:
        """Whether initial weights are small beside what is learned (:mod:`symreln.claims.regime`).

        None where no initial strength is derived, or a number is missing.
        """
        from symreln.claims.regime import regime

        return regime(self)

    @cached_property
    def convergence(self) -> Convergence | None:
        """What it costs to take the first stage as converged in the second.

        None for one stage, and where gates switch before it may have.
        """
        from symreln.claims.convergence import convergence

        return None if self.later else convergence(self)

    @cached_property
    def switched_matrices(self) -> SwitchedMatrices:
        """The flow in float64 over every switch of gates, of a derivation without parameters."""
        from symreln.claims.switched import matrices_of

        return matrices_of(self)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The rational certificate of every exact claim, as JSON values (symreln.verify)."""
        from symreln.pipeline.certify import certificate

        return certificate(self)

    @cached_property
    def exceptional(self) -> ExceptionalSets | None:
        """Where the answer, which holds for generic parameters, ends; None without parameters."""
        from symreln.claims.exceptional import exceptional_sets

        return exceptional_sets(self)

    @cached_property
    def at_values(self) -> Derivation:
        """The derivation made again, exactly, at the parameters' declared values.

        Its spectra are compared with this derivation's formulas when those are checked.

        Raises:
            InputError: A parameter has no declared value.
        """
        missing = [p.name for p in self.spec.parameters if p.value is None]
        if missing:
            msg = (
                f"parameters {', '.join(missing)}: no value is declared, and numbers are asked "
                f"for. Give one, for example --set parameters.{missing[0]}.value=1"
            )
            raise InputError(msg)
        if not self.spec.parameters:
            return self
        from symreln.pipeline.derive import derive_unchecked

        return derive_unchecked(self.spec.at_values())

    def with_checks(self, steps: tuple[Step, ...], family: FamilyDerivation | None) -> Derivation:
        """Return the derivation with what was checked, keeping what the checks have computed."""
        checked = replace(self, steps=steps, family=family)
        for name in ("certificate", "at_values", "races", "narrow", "convergence"):
            found = self.__dict__.get(name)
            if found is not None and found is not self:
                checked.__dict__[name] = found
        return checked

    def evaluate(self, times: Sequence[float] | np.ndarray | None = None) -> Prediction:
        """Return the predicted curves in float64.

        Args:
            times: Ascending times in steps, from 0; every step of the network by default.
        """
        from symreln.claims.prediction import predict

        return predict(self.at_values, times)

    def enclose(
        self,
        times: Sequence[int | Fraction],
        digits: int = 50,
        strength0: Fraction | None = None,
    ) -> dict[str, tuple[arb, ...]]:
        """Return certified balls of every closed-form strength at the given times.

        Args:
            times: Exact times in steps.
            digits: Correct decimal digits asked for.
            strength0: Where every mode starts, exact, above 0; by default where it is expected
                to, which is not derived for more than two layers of weights.

        Returns:
            Label of a mode -> one ball a time, each proven to contain the true value.

        Raises:
            NoClosedFormError: The verdict has no closed form.
        """
        from symreln.claims.enclosing import enclose

        return enclose(self, times, digits, strength0)

    def to_latex(self) -> str:
        """Return the whole derivation as a LaTeX document."""
        from symreln.report.content import derivation_document
        from symreln.report.latex import render

        return render(derivation_document(self))

    def to_json(self) -> dict[str, Any]:
        """Return what derivation.json says, made once."""
        return self._json

    @cached_property
    def _json(self) -> dict[str, Any]:
        from symreln.report.derivation_json import derivation_to_json

        return derivation_to_json(self)

    def _headline(self) -> str:
        """Return a line, for what holds a derivation."""
        return (
            f"Derivation({self.spec.title!r}, {self.verdict.level.value}, "
            f"stages={len(self.stages)}, pathways={len(self.pathways)})"
        )

    def _summary(self) -> list[str]:
        from symreln.report.summary import derivation_summary

        return derivation_summary(self)

    def _repr_html_(self) -> str:
        """Return the document in a frame of its own, folded, for a notebook."""
        from symreln.report import html
        from symreln.report.content import derivation_document

        return html.framed(derivation_document(self), self._headline())

    def save(self, directory: str | Path) -> list[Path]:
        """Write derivation.json, certificate.json, derivation.tex, .html and the figures."""
        from symreln.report.write import write_derivation

        return write_derivation(self, directory)
