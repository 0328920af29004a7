r"""The law of gates for a page: what the share of units with their gate follows from.

See :mod:`symreln.laws.gate_law`. With the projector P_α on the inputs of each mode the covariance
of pre-activations is

.. math:: K_{ij}(t) = \sigma_1^2\, x_i \cdot x_j
    + (\sigma_1^2 + \sigma_2^2) \sum_\alpha \sinh^2\theta_\alpha(t)\; x_i \cdot P_\alpha x_j,

so that scalar products, exact in the parameters, and θ, by the closed forms, are all of it. The
page computes the share of units: exactly where samples lie in a plane, else as an orthant
probability by quasi-Monte-Carlo integration, with its error. Pathways of the first stage: later
ones have units of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.formulas import formulas_of
from symreln.claims.gate_law import gate_law_of
from symreln.errors import NoClosedFormError
from symreln.exact.linear import subspace_projector
from symreln.exact.matrix import ExactMatrix
from symreln.laws.ops import EVALUATED
from symreln.report.live_modes import put_in_law
from symreln.report.live_values import SCALE, SCALE_OUT, GateCurve, LiveGates

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation

#: Samples above which a page would compute for too long.
_MOST_SAMPLES = 64


def gates_of(derivation: Derivation, begin: Mapping[sp.Symbol, Any]) -> LiveGates:
    """Return the law of gates of the first stage, over what sliders move.

    Args:
        derivation: With closed forms.
        begin: τ, π₀ and the imbalance in what the sliders of the network move.
    """
    law = derivation.ask(gate_law_of)
    if law is None:
        return LiveGates()
    if not law.first:
        return LiveGates(why=law.why_not or "no hidden unit has a gate of the first stage")
    own = {pathway.name: pathway for pathway in derivation.pathways}
    found, why = [], ""
    for each in law.first:
        try:
            curve = _curve(derivation, own[each.pathways[0]], begin)
        except NoClosedFormError as beyond:
            why = f"{each.quoted}: {beyond}"
        else:
            found.append(replace(curve, pathway=each.name))
    apart = SCALE_OUT if derivation.known.apart else SCALE
    return LiveGates(
        curves=tuple(found), scales=(SCALE**2, apart**2), tolerance=law.tolerance, why=why
    )


def _curve(
    derivation: Derivation, pathway: PathwayDerivation, begin: Mapping[sp.Symbol, Any]
) -> GateCurve:
    """Return the curve of a pathway of the first stage.

    Raises:
        NoClosedFormError: Projectors are no rational functions of the parameters, or samples are
            too many.
    """
    learning = [mode for mode in pathway.modes if not mode.is_null]
    projectors = [_projector(pathway, mode) for mode in learning]
    signed = _signed(derivation, pathway, projectors)
    if signed.shape[1] > _MOST_SAMPLES:
        msg = f"the orthant of {signed.shape[1]} samples takes too long in a page"
        raise NoClosedFormError(msg)
    formulas = derivation.ask(formulas_of)
    laws = [formulas[mode.label].copies[0][1] for mode in learning]

    def entries(matrix: ExactMatrix) -> tuple[sp.Expr, ...]:
        own = [x for row in matrix.rows() for x in row]  # few of many samples differ
        printed = {x: x.to_sympy(derivation.spec.symbols) for x in set(own)}
        return tuple(printed[x] for x in own)

    return GateCurve(
        pathway=pathway.name,
        laws=tuple(put_in_law(replace(law, ops=EVALUATED), begin) for law in laws),
        counts=tuple(mode.multiplicity for mode in learning),
        still=entries(signed.gram()),
        seen=tuple(entries(signed.T @ (each @ signed)) for each in projectors),
    )


def _projector(pathway: PathwayDerivation, mode: ModeDerivation) -> ExactMatrix:
    found = pathway.spectrum.classes[mode.class_index]
    if found.degree > 1:
        msg = "the directions of conjugate modes are no rational functions of the parameters"
        raise NoClosedFormError(msg)
    return subspace_projector(found.generators)


def _signed(
    derivation: Derivation, pathway: PathwayDerivation, projectors: list[ExactMatrix]
) -> ExactMatrix:
    """Return the samples that tell gates apart, turned so that the gate is where w·x > 0."""
    own = pathway.effective.pathway
    samples = derivation.spec.dataset.inputs.select(rows=own.inputs)
    seen = set(_columns(projectors, samples)) - set(own.boundary)
    tells, opened = sorted(seen), set(own.open_samples)
    signs = [1 if sample in opened else -1 for sample in tells]
    return samples.select(columns=tells).scaled_columns(signs)


def _columns(projectors: list[ExactMatrix], samples: ExactMatrix) -> Iterator[int]:
    """Yield the samples that some mode sees."""
    for projector in projectors:
        yield from (column for _, column, _ in (projector @ samples).nonzero())
