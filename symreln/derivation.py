"""The derivation as a value: pathways, modes, verdict, loss, and what can be asked of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.dynamics import initial
from symreln.errors import InputError, NoClosedFormError
from symreln.truth import Truth
from symreln.verdict import Level, diagonalisable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path

    import numpy as np
    from flint import arb

    from symreln.dynamics.two_layer import SigmoidalMode
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.exact.exceptional import ExceptionalSets
    from symreln.exact.scalar import Scalar
    from symreln.exact.spectrum import JointSpectrum
    from symreln.families.derivation import FamilyDerivation
    from symreln.pathways.effective import EffectiveDataset
    from symreln.prediction import Prediction
    from symreln.spec.model import Spec
    from symreln.verdict import DiagonalisabilityVerdict, StageVerdict


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
    strength: SigmoidalMode | None

    @property
    def is_null(self) -> bool:
        """Whether s is zero for all parameter values."""
        return self.s.is_zero


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


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """Everything derived from a spec.

    Attributes:
        spec: The spec.
        stages: One entry a training stage.
        verdict: Which reduction holds.
        loss: The loss in mode space, or None where the strengths do not close.
        steps: What was checked, in order.
        family: The answer for every number of contexts, or None without a size symbol.
    """

    spec: Spec
    stages: tuple[StageDerivation, ...]
    verdict: DiagonalisabilityVerdict
    loss: sp.Expr | None
    steps: tuple[Step, ...]
    family: FamilyDerivation | None = None

    @property
    def pathways(self) -> tuple[PathwayDerivation, ...]:
        """All pathways, in the order of the spec."""
        found = [pathway for stage in self.stages for pathway in stage.pathways]
        return tuple(sorted(found, key=lambda pathway: pathway.number))

    @property
    def free_constants(self) -> int:
        """How many numbers of the prediction were set by hand or fitted: none is."""
        return 0

    @property
    def initial_loss(self) -> Scalar:
        """½ tr Sigma^y: the loss of a network whose outputs are zero."""
        return self.stages[0].initial_loss

    @property
    def final_loss(self) -> Scalar:
        """Loss that is left when every stage has converged."""
        return self.stages[-1].final_loss

    @property
    def tau(self) -> Fraction | None:
        """Time constant in steps, or None without a network."""
        network = self.spec.network
        return None if network is None else network.tau(self.spec.dataset.samples)

    @property
    def strength0(self) -> Fraction | None:
        """Initial strength of every mode, or None without a network."""
        network = self.spec.network
        return None if network is None else initial.initial_strength(network)

    @property
    def closed(self) -> bool:
        """Whether every mode has a closed form."""
        return self.verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The rational certificate of every exact claim, as JSON values (symreln.verify)."""
        from symreln.certify import certificate

        return certificate(self)

    @cached_property
    def exceptional(self) -> ExceptionalSets | None:
        """Where the answer, which holds for generic parameters, ends; None without parameters."""
        from symreln.exceptional import exceptional_sets

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
        from symreln.pipeline import derive_unchecked

        return derive_unchecked(self.spec.at_values())

    def with_checks(self, steps: tuple[Step, ...], family: FamilyDerivation | None) -> Derivation:
        """Return the derivation with what was checked, keeping what the checks have computed."""
        checked = replace(self, steps=steps, family=family)
        for name in ("certificate", "at_values"):
            found = self.__dict__.get(name)
            if found is not None and found is not self:
                checked.__dict__[name] = found
        return checked

    def evaluate(self, times: Sequence[float] | np.ndarray | None = None) -> Prediction:
        """Return the predicted curves in float64.

        Args:
            times: Ascending times in steps, from 0; every step of the network by default.
        """
        from symreln.prediction import predict

        return predict(self.at_values, times)

    def enclose(
        self, times: Sequence[int | Fraction], digits: int = 50
    ) -> dict[str, tuple[arb, ...]]:
        """Return certified balls of every closed-form strength at the given times.

        Args:
            times: Exact times in steps.
            digits: Correct decimal digits asked for.

        Returns:
            Label of a mode -> one ball a time, each proven to contain the true value.

        Raises:
            NoClosedFormError: The verdict has no closed form.
        """
        if not self.closed:
            msg = (
                f"verdict '{self.verdict.level.value}': the strengths have no closed form to "
                "enclose. derivation.evaluate(times) integrates the reduced equations in float64"
            )
            raise NoClosedFormError(msg)
        from symreln.prediction import enclose

        return enclose(self, times, digits)

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

    def __repr__(self) -> str:
        """Return a line: the dataclass's own would print every matrix."""
        return (
            f"Derivation({self.spec.title!r}, {self.verdict.level.value}, "
            f"stages={len(self.stages)}, pathways={len(self.pathways)})"
        )

    def _repr_html_(self) -> str:
        """Return the document in a frame of its own, folded, for a notebook."""
        from symreln.report import html
        from symreln.report.content import derivation_document

        return html.framed(derivation_document(self), repr(self))

    def save(self, directory: str | Path) -> list[Path]:
        """Write derivation.json, certificate.json, derivation.tex, .html and the figures."""
        from symreln.report.write import write_derivation

        return write_derivation(self, directory)


def strength_symbol(label: str) -> sp.Symbol:
    """Return the symbol of a mode's strength in the loss."""
    return sp.Symbol(label, nonnegative=True)
