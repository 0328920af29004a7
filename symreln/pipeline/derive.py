"""The whole derivation, readable from top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symreln.base.lazy import lazy
from symreln.base.progress import phase
from symreln.claims.derivation import Derivation
from symreln.claims.solve import derive_unchecked
from symreln.pipeline.checks import derivation_steps
from symreln.specs.spec import Spec

(from_data,) = lazy("gating", "from_data")


def with_pathways(spec: Spec) -> Spec:
    """Return a spec with pathways: itself, or where it has none with the gates of its data."""
    return spec if spec.pathways else from_data.with_gates(spec)


@phase("deriving")
def derive(spec: Spec, begin: Callable[[Derivation], object] | None = None) -> Derivation:
    """Derive the dynamics of every pathway of a spec.

    Stage by stage: effective datasets, correlations, joint spectrum, verdict, trajectories; a
    later stage learns the residual that the converged earlier stages leave. The aligned start has
    strength0 on every mode that learns something and nothing on null modes (s = 0), which
    therefore stay at zero.

    Args:
        spec: A checked spec; without pathways, gates are found in its data.
        begin: Begins work with the derivation that goes on beside its checks.

    Returns:
        The derivation; it holds for all values of the declared parameters.

    Raises:
        InputError: The exact data cannot be treated.
        LimitReachedError: Correlations have too many terms or digits.
    """
    spec = with_pathways(spec)
    derivation = derive_unchecked(spec)
    if derivation.later:
        checked = (d.with_checks(derivation_steps(d, carried=True)) for d in derivation.later)
        derivation = replace(derivation, later=tuple(checked))
    with phase("checks"):
        steps = derivation_steps(derivation, begin)
    later = [
        replace(step, name=f"from step {at}: {step.name}")
        for at, gates in zip(derivation.spec.switches, derivation.later, strict=True)
        for step in gates.steps
    ]
    return derivation.with_checks((*steps, *later))
