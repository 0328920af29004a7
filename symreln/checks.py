"""What the program checks of its own derivation before it prints a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.derivation import Step
from symreln.truth import Truth
from symreln.verify import verify

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.derivation import (
        Derivation,
        ModeDerivation,
        PathwayDerivation,
        StageDerivation,
    )
    from symreln.exact.scalar import Scalar

#: Digits to which two certified numbers are compared where no exact comparison is made.
DIGITS = 40


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
        check=f"certificate, recomputed from the dataset by the verifier ({len(lines)} parts)",
        outcome=Truth.PROVEN,
    )


def _trajectories(modes: list[ModeDerivation]) -> Step:
    for mode in modes:
        if mode.strength is not None and mode.strength.residual() != 0:
            raise _fail("the trajectory of " + mode.label)
    return Step(
        name="trajectories",
        statement=f"The {len(modes)} printed strengths solve their equations from pi_0.",
        check="substitution; residual and initial value cancel to 0",
        outcome=Truth.PROVEN,
    )


def _least_loss(stage: StageDerivation) -> Step:
    """Compare two routes to the loss that a stage leaves: its plateaus, and least squares."""
    name = f"least loss of stage {stage.stage}"
    statement = "The strengths' plateaus reach the least-squares loss."
    modes = [m for p in stage.pathways for m in p.modes if not m.is_null]
    terms = [_learned(mode) for mode in modes]
    if all(term is not None for term in terms):
        total = stage.initial_loss
        for term in terms:
            total = total if term is None else total - term
        if total != stage.final_loss:
            raise _fail(name)
        return Step(
            name=name,
            statement=statement,
            check="sum of s²/(2 d_eff) against the orthogonal projection, equal exactly",
            outcome=Truth.PROVEN,
        )
    return Step(
        name=name,
        statement=statement,
        check="not compared exactly: s²/d_eff of some mode is not rational in the parameters",
        outcome=Truth.UNDECIDED,
    )


def _learned(mode: ModeDerivation) -> Scalar | None:
    """Return m s²/(2 d_eff), or None where it is not rational in the parameters."""
    if mode.d_eff is None or mode.d_eff.scalar is None or mode.s.scalar is None:
        return None
    return mode.s.scalar * mode.multiplicity / (mode.d_eff.scalar * 2)


def _has_values(derivation: Derivation) -> bool:
    return all(parameter.value is not None for parameter in derivation.spec.parameters)


def _values(derivation: Derivation) -> Step:
    """Compare the formulas at the declared values with a derivation made at those values."""
    values = derivation.spec.values
    outcome = Truth.PROVEN
    for general, special in zip(derivation.pathways, derivation.at_values.pathways, strict=True):
        exact = _squares_at(general, values), _squares_at(special, {})
        if None not in exact:
            equal = exact[0] == exact[1]
        else:
            equal = _overlap(general, special, values)
            outcome = Truth.UNDECIDED
        if not equal:
            raise _fail("the spectrum at the declared values of pathway " + general.name)
    level = derivation.at_values.verdict.level
    same = derivation.verdict.level is level
    return Step(
        name="declared values",
        statement="The formulas give the singular values at the declared values"
        + ("." if same else f"; the verdict there is '{level.value}'."),
        check="a second exact derivation at the values, "
        + ("equal exactly" if outcome is Truth.PROVEN else f"equal to {DIGITS} digits"),
        outcome=outcome,
    )


def _squares_at(pathway: PathwayDerivation, values: dict[str, Fraction]) -> list[Fraction] | None:
    """Return s² of every mode, ascending, or None where one is not rational."""
    squares = [(mode.s.scalar, mode.multiplicity) for mode in pathway.modes]
    if any(square is None for square, _ in squares):
        return None
    return sorted(
        square.substitute(values).to_fraction()
        for square, count in squares
        if square is not None
        for _ in range(count)
    )


def _overlap(
    general: PathwayDerivation, special: PathwayDerivation, values: dict[str, Fraction]
) -> bool:
    """Return whether the certified balls of both spectra overlap, largest first."""
    bits = 4 * DIGITS
    balls = [
        [ball for m in p.modes for ball in [m.s.ball(at, bits)] * m.multiplicity]
        for p, at in ((general, values), (special, {}))
    ]
    ordered = [sorted(side, key=lambda ball: -float(ball.mid())) for side in balls]
    return all(x.overlaps(y) for x, y in zip(*ordered, strict=True))
