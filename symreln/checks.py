"""What the program checks of its own derivation before it prints a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq, fmpq_poly

from symreln.derivation import Step
from symreln.exact.field import Field
from symreln.truth import Truth
from symreln.verify import verify

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from symreln.derivation import (
        Derivation,
        ModeDerivation,
        PathwayDerivation,
        StageDerivation,
    )
    from symreln.dynamics.two_layer import SigmoidalMode
    from symreln.exact.scalar import Scalar


def derivation_steps(derivation: Derivation) -> tuple[Step, ...]:
    """Check a derivation and say how.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
    """
    steps = [_certificate(derivation)]
    modes = [m for p in derivation.pathways for m in p.modes if m.strength is not None]
    if modes:
        steps.append(_trajectories(modes))
    if derivation.loss is not None:
        steps += [_least_loss(stage) for stage in derivation.stages]
    if derivation.spec.parameters and _has_values(derivation):
        steps.append(_values(derivation))
    return tuple(steps)


def _fail(what: str) -> ArithmeticError:
    return ArithmeticError(f"the derivation's own check failed: {what}")


def _certificate(derivation: Derivation) -> Step:
    lines = verify(derivation.certificate)
    return Step(
        name="spectra and verdict",
        statement=(
            "Correlations, joint eigenspaces, multiplicities, commutators, couplings, d_eff and "
            "the residuals of converged stages are what is printed."
        ),
        check=f"certificate, recomputed from the dataset by the verifier ({_parts(len(lines))})",
        outcome=Truth.PROVEN,
    )


def _parts(count: int) -> str:
    return "1 stage" if count == 1 else f"{count} stages"


def _trajectories(modes: list[ModeDerivation]) -> Step:
    proven: set[SigmoidalMode] = set()  # equal modes of several pathways share one trajectory
    for mode in modes:
        if mode.strength is None or mode.strength in proven:
            continue
        if mode.strength.residual() != 0:
            raise _fail("the trajectory of " + mode.label)
        proven.add(mode.strength)
    return Step(
        name="trajectories",
        statement=f"The {len(modes)} printed strengths solve their equations from pi_0.",
        check="substitution; residual and initial value cancel to 0",
        outcome=Truth.PROVEN,
    )


def _least_loss(stage: StageDerivation) -> Step:
    """Compare two routes to the loss that a stage leaves: its plateaus, and least squares."""
    total = stage.initial_loss
    for pathway in stage.pathways:
        for index, mode_class in enumerate(pathway.spectrum.classes):
            if not mode_class.is_null:
                total = total - _learned(pathway, index)
    name = f"least loss of stage {stage.stage}"
    if total != stage.final_loss:
        raise _fail(name)
    return Step(
        name=name,
        statement="The strengths' plateaus reach the least-squares loss.",
        check="sum of s²/(2 d_eff) against the orthogonal projection, equal exactly",
        outcome=Truth.PROVEN,
    )


def _learned(pathway: PathwayDerivation, class_index: int) -> Scalar:
    """Return m Σ s²/(2 d_eff) over the conjugate modes of a class: a trace, no root needed."""
    mode_class = pathway.spectrum.classes[class_index]
    mode = next(m for m in pathway.modes if m.class_index == class_index)
    if mode.d_eff is None:
        raise _fail("no d_eff in a closed stage: " + mode.label)
    field = Field(mode_class.minpoly)
    ratio = field.multiply(mode_class.eigenvalue, field.inverse(mode.d_eff.coefficients))
    return field.trace(ratio) * mode_class.multiplicity / 2


def _has_values(derivation: Derivation) -> bool:
    return all(parameter.value is not None for parameter in derivation.spec.parameters)


def _values(derivation: Derivation) -> Step:
    """Compare the formulas at the declared values with a derivation made at those values."""
    values = derivation.spec.values
    for general, special in zip(derivation.pathways, derivation.at_values.pathways, strict=True):
        if _squares(general, values) != _squares(special, {}):
            raise _fail("the spectrum at the declared values of pathway " + general.name)
    level = derivation.at_values.verdict.level
    same = derivation.verdict.level is level
    return Step(
        name="declared values",
        statement="The formulas give the singular values at the declared values"
        + ("." if same else f"; the verdict there is '{level.value}'."),
        check="a second exact derivation at the values; polynomials of all s² equal exactly",
        outcome=Truth.PROVEN,
    )


def _squares(pathway: PathwayDerivation, values: Mapping[str, Fraction]) -> fmpq_poly:
    """Return the monic polynomial whose roots are s² of all modes, with multiplicities."""
    product = fmpq_poly([1])
    for mode_class in pathway.spectrum.classes:
        characteristic = Field(mode_class.minpoly).characteristic(mode_class.eigenvalue)
        exact = [c.substitute(values).to_fraction() for c in characteristic]
        factor = fmpq_poly([fmpq(c.numerator, c.denominator) for c in exact])
        product *= factor**mode_class.multiplicity
    return product
