"""What the program checks of its own derivation before it prints a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from flint import fmpq, fmpq_poly

from symreln.base.beside import offer
from symreln.claims.claim import Step
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.lines import reach_least_loss
from symreln.claims.narrow import narrow_pathways
from symreln.claims.rules import checks_of
from symreln.claims.solve import at_values
from symreln.errors import InputError
from symreln.exact.enclosure import ball, rounded_text
from symreln.exact.field import Field
from symreln.pipeline.certificate import certificate
from symreln.verifier import verify


def derivation_steps(
    derivation: Derivation,
    begin: Callable[[Derivation], object] | None = None,
    *,
    carried: bool = False,
) -> tuple[Step, ...]:
    """Check a derivation and say how.

    Args:
        derivation: What is checked.
        begin: Begins work with it that goes on beside its checks.
        carried: Whether its weights are carried over a switch of gates: then nothing is printed
            that rests on how strengths start.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
    """
    proof = derivation.ask(certificate)
    verified = offer(verify, proof) if proof is not None else lambda: None
    try:
        if begin is not None:
            begin(derivation)
        steps = _steps(derivation, carried=carried)
    except Exception:
        verified()  # what it refuses is said first
        raise
    verified()
    return steps


def _steps(derivation: Derivation, *, carried: bool) -> tuple[Step, ...]:
    modes = [m for p in derivation.pathways for m in p.modes if m.strength is not None]
    # First what waits for nothing that is done beside.
    still = [*_least_losses(derivation)] if derivation.loss_separates else []
    if derivation.spec.parameters and derivation.spec.has_values:
        still.append(_values(derivation))
    proven = derivation.ask(certificate) is not None
    steps = [_certificate(len(derivation.stages))] if proven else []
    if modes and not carried:
        steps.append(_trajectories(modes))
    return (*steps, *still, *(() if carried else checks_of(derivation)))


def _fail(what: str) -> ArithmeticError:
    return ArithmeticError(f"the derivation's own check failed: {what}")


def _certificate(stages: int) -> Step:
    return Step(
        name="spectra and verdict",
        statement=(
            "Correlations, joint eigenspaces, multiplicities, commutators, couplings, d_eff and "
            "the residuals of converged stages are what is printed."
        ),
        check="certificate, recomputed from the dataset by the verifier "
        f"({stages} stage{'s' * (stages > 1)})",
    )


def _trajectories(modes: list[ModeDerivation]) -> Step:
    # Equal modes of several pathways share one trajectory.
    for law, label in {mode.strength: mode.label for mode in modes}.items():
        if law is not None and law.residual() != 0:
            raise _fail("the trajectory of " + label)
    null = sum(mode.s.is_zero for mode in modes)  # the document has no formula of these: 0
    among = f", {null} of them of null modes," if null else ""
    statement = (
        f"The {len(modes)} closed forms of strengths{among} solve their equations from pi_0, with "
        "the clock of finite steps for tau."
    )
    check = "substitution; residual and initial value cancel to 0"
    return Step(name="trajectories", statement=statement, check=check)


def _reached(derivation: Derivation) -> str:
    """Say what reaches the least-squares loss."""
    if derivation.known.lowers_plateaus:
        return "Strengths s/d, which weight decay keeps them below, would reach"
    if derivation.ask(narrow_pathways):
        return "The plateaus of pathways that are wide enough would reach"
    return "The strengths' plateaus reach"


def _least_losses(derivation: Derivation) -> Iterator[Step]:
    """Yield that s/d_eff reach the least loss, from its definition: the normal equations."""
    if not derivation.ask(reach_least_loss):
        msg = "what the plateaus leave is not the least loss"
        raise _fail(msg)
    for stage in derivation.stages:
        yield Step(
            name=f"least loss of stage {stage.stage}",
            statement=f"{_reached(derivation)} the least-squares loss.",
            check=(
                "normal equations of least squares at the plateaus, entry by entry; "
                "sum of s²/(2 d_eff) against what they take off the loss"
            ),
        )


def _values(derivation: Derivation) -> Step:
    """Compare the formulas at the declared values with a derivation made at those values."""
    values, there = derivation.spec.values, derivation.ask(at_values)
    for general, special in zip(derivation.pathways, there.pathways, strict=True):
        _check_continuous(derivation, general, special)
        if _squares(general, values) != _squares(special, {}):
            raise _fail("the spectrum at the declared values of pathway " + general.name)
    level = there.verdict.level
    same = derivation.verdict.level is level
    return Step(
        name="declared values",
        statement="The formulas give the singular values at the declared values"
        + ("." if same else f"; the verdict there is '{level.value}'."),
        check="a second exact derivation at the values; polynomials of all s² equal exactly",
    )


def _check_continuous(
    derivation: Derivation, general: PathwayDerivation, special: PathwayDerivation
) -> None:
    """Refuse declared values at which what earlier stages leave is not what it is beside them.

    There an earlier pathway sees fewer directions of its inputs, so that the formulas of later
    stages hold beside the declared values, and not at them. An image's jumps where its original's
    does.
    """
    first = min(pathway.stage for pathway in derivation.pathways)
    if general.stage == first or general.effective.image is not None:
        return
    values = derivation.spec.values
    try:
        same = general.effective.sigma_yx.substitute(values) == special.effective.sigma_yx
    except ZeroDivisionError:
        same = False
    if same:
        return
    given = {p.given: p.value for p in derivation.spec.parameters if p.value is not None}
    where = ", ".join(f"{name} = {rounded_text(ball(v), 6)}" for name, v in given.items())
    msg = (
        f"pathway '{general.name}', stage {general.stage}: found {where}, where what the stages "
        "before it leave to learn jumps: its formulas for all parameters do not hold there. "
        "Declare other values, or write these into the data and gates in place of the parameters"
    )
    raise InputError(msg)


def _squares(pathway: PathwayDerivation, values: Mapping[str, Fraction]) -> fmpq_poly:
    """Return the monic polynomial whose roots are s² of all modes, with multiplicities."""
    product = fmpq_poly([1])
    for mode_class in pathway.spectrum.classes:
        characteristic = Field(mode_class.minpoly).characteristic(mode_class.eigenvalue)
        exact = [c.substitute(values).to_fraction() for c in characteristic]
        factor = fmpq_poly([fmpq(c.numerator, c.denominator) for c in exact])
        product *= factor**mode_class.multiplicity
    return product
