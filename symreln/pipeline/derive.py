"""The whole derivation, readable from top to bottom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.base.progress import phase
from symreln.claims.derivation import (
    Derivation,
    Step,
)
from symreln.claims.families.derive import derive_family
from symreln.claims.solve import derive_unchecked, silent
from symreln.errors import InputError
from symreln.exact.spectrum import joint_spectrum
from symreln.pipeline.checks import derivation_steps
from symreln.spec.finding import quoted
from symreln.spec.model import Spec

if TYPE_CHECKING:
    from symreln.claims.families.derivation import FamilyDerivation
    from symreln.claims.solve import Progress, Spectrum


@phase("deriving")
def derive(
    spec: Spec, *, spectrum: Spectrum = joint_spectrum, progress: Progress | None = None
) -> Derivation:
    """Derive the dynamics of every pathway of a spec.

    Stage by stage: effective datasets, correlations, joint spectrum, verdict, trajectories; a
    later stage learns the residual that the converged earlier stages leave. The aligned start has
    strength0 on every mode that learns something and nothing on null modes (s = 0), which
    therefore stay at zero.

    Args:
        spec: A checked spec.
        spectrum: What finds the joint spectrum of (sigma_yx, sigma_x, values).
        progress: Called with the name of every step as it is finished, and what it found:
            "effective datasets" with those of a stage, "spectrum" with (number of the pathway,
            its joint spectrum), "verdict" with a stage's verdict, "checks" with the steps checked.

    Returns:
        The derivation; it holds for all values of the declared parameters.

    Raises:
        InputError: The exact data cannot be treated, or what was handed in is no spec.
        LimitReachedError: Correlations have too many terms or digits.
    """
    if not isinstance(spec, Spec):
        name = quoted(spec) if isinstance(spec, str) else "…"
        call = f"sr.derive(sr.load({name}))"
        msg = f"derive: found a {type(spec).__name__}, expected a spec. Write {call}."
        raise InputError(msg)
    if spec.graph is not None:
        msg = "derive: the spec is a graph of nodes and edges. Write sr.derive_graph(spec)."
        raise InputError(msg)
    derivation = derive_unchecked(spec, spectrum=spectrum, progress=progress)
    if derivation.later:
        checked = (d.with_checks(derivation_steps(d, carried=True), None) for d in derivation.later)
        derivation = replace(derivation, later=tuple(checked))
    with phase("checks"):
        steps = derivation_steps(derivation) + _later_steps(derivation)
    (progress or silent)("checks", steps)
    return derivation.with_checks(steps, _family(derivation))


def _later_steps(derivation: Derivation) -> tuple[Step, ...]:
    """Return the checks of what holds after each switch of gates."""
    return tuple(
        replace(step, name=f"from step {begin}: {step.name}")
        for begin, phase in zip(derivation.spec.switches, derivation.later, strict=True)
        for step in phase.steps
    )


@phase("every size")
def _family(derivation: Derivation) -> FamilyDerivation | None:
    """Return the derivation for every size where a size is a symbol."""
    if not derivation.spec.sizes:
        return None
    return derive_family(derivation)
