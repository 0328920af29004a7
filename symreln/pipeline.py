"""The whole derivation, readable from top to bottom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symreln.checks import derivation_steps
from symreln.derivation import (
    Derivation,
    ModeDerivation,
    PathwayDerivation,
    StageDerivation,
    strength_symbol,
)
from symreln.dynamics import coupled_matrices, coupled_modes, two_layer
from symreln.dynamics.loss import mode_space_loss
from symreln.exact.algebraic import AlgebraicNumber, ratio
from symreln.exact.spectrum import joint_spectrum
from symreln.pathways.effective import effective_dataset
from symreln.pathways.residual import converged_outputs, stages_decouple
from symreln.verdict import DiagonalisabilityVerdict, Level, StageVerdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.scalar import Scalar
    from symreln.exact.spectrum import JointSpectrum, Mode
    from symreln.pathways.effective import EffectiveDataset
    from symreln.spec.model import Spec

    #: What finds the joint spectrum of (sigma_yx, sigma_x, values at which modes are ordered).
    Spectrum = Callable[..., JointSpectrum]
    #: Called with the name of a finished step and what it found.
    Progress = Callable[[str, object], None]


def _silent(step: str, payload: object) -> None:
    """Tell nobody that a step is finished."""


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
        InputError: The exact data cannot be treated.
    """
    derivation = derive_unchecked(spec, spectrum=spectrum, progress=progress)
    steps = derivation_steps(derivation)
    (progress or _silent)("checks", steps)
    return replace(derivation, steps=steps)


def derive_unchecked(
    spec: Spec, *, spectrum: Spectrum = joint_spectrum, progress: Progress | None = None
) -> Derivation:
    """Derive without the checks of :mod:`symreln.checks`, for a second route of theirs."""
    done = progress or _silent
    targets = spec.dataset.targets
    stages = []
    for stage in spec.stages:
        members = [
            (number, pathway)
            for number, pathway in enumerate(spec.pathways, start=1)
            if len(spec.stages) == 1 or pathway.stage == stage
        ]
        effective = tuple(effective_dataset(spec.dataset, p, targets) for _, p in members)
        done("effective datasets", effective)
        found = []
        for (number, _), e in zip(members, effective, strict=True):
            found.append(spectrum(e.sigma_yx, e.sigma_x, spec.values))
            done("spectrum", (number, found[-1]))
        spectra = tuple(found)
        verdict = judge(stage, effective, spectra)
        done("verdict", verdict)
        residual = targets - converged_outputs(targets, effective)
        stages.append(
            StageDerivation(
                stage=stage,
                pathways=_pathways([n for n, _ in members], effective, spectra, verdict, spec),
                verdict=verdict,
                initial_loss=_half_power(targets),
                final_loss=_half_power(residual),
            )
        )
        targets = residual
    return Derivation(
        spec=spec,
        stages=tuple(stages),
        verdict=DiagonalisabilityVerdict(stages=tuple(stage.verdict for stage in stages)),
        loss=_loss(tuple(stages), spec),
        steps=(),
    )


def _half_power(targets: ExactMatrix) -> Scalar:
    """Return ‖targets‖²/(2P)."""
    return targets.frobenius(targets) / (2 * targets.shape[1])


def _pathways(
    numbers: list[int],
    effective: tuple[EffectiveDataset, ...],
    spectra: tuple[JointSpectrum, ...],
    verdict: StageVerdict,
    spec: Spec,
) -> tuple[PathwayDerivation, ...]:
    return tuple(
        PathwayDerivation(
            number=number,
            effective=effective[p],
            spectrum=spectra[p],
            modes=tuple(
                _mode(number, place, p, mode, spectra[p], verdict, spec.symbols)
                for place, mode in enumerate(spectra[p].modes, start=1)
            ),
        )
        for p, number in enumerate(numbers)
    )


def _mode(
    pathway_number: int,
    place: int,
    p: int,
    mode: Mode,
    spectrum: JointSpectrum,
    verdict: StageVerdict,
    symbols: dict[str, sp.Symbol],
) -> ModeDerivation:
    class_index = next(i for i, c in enumerate(spectrum.classes) if c is mode.mode_class)
    d = None if mode.d_is_average else mode.d
    common = verdict.d_eff.get((p, class_index))
    d_eff = (
        d
        if common is None
        else AlgebraicNumber(minpoly=mode.mode_class.minpoly, coefficients=common, root=mode.root)
    )
    closed = verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)
    decoupled, why = two_layer.matches(decoupled=closed and d_eff is not None)
    family = two_layer.NAME
    strength = None
    if decoupled and d_eff is not None:
        index = f"{pathway_number}_{place}"
        height = None if mode.is_null or d_eff.is_zero else ratio(mode.s, d_eff)
        # A null mode starts at zero: the aligned start puts no weight on it, nothing drives it
        # (proven with the verdict), and started elsewhere it would act on other pathways through
        # an output direction that the data leave open.
        start = {"strength0": sp.S.Zero} if mode.is_null else {}
        strength = two_layer.solve(
            mode.s.to_sympy(symbols, f"s_{index}"),
            d_eff.to_sympy(symbols, f"d_{index}"),
            height=None if height is None else height.to_sympy(symbols),
            **start,
        )
    else:
        d_eff = None
        modes_close = verdict.level is Level.COUPLED_MODES
        family = coupled_modes.NAME if modes_close else coupled_matrices.NAME
        why = f"{family}: {verdict.reasons[-1]}"
    return ModeDerivation(
        number=place,
        label=f"pi_{pathway_number}_{place}",
        class_index=class_index,
        s=mode.s,
        d=d,
        d_eff=d_eff,
        multiplicity=mode.multiplicity,
        family=family,
        why=why,
        strength=strength,
    )


def _loss(stages: tuple[StageDerivation, ...], spec: Spec) -> sp.Expr | None:
    """Return the loss in mode space where the strengths of all stages close."""
    closed = all(
        stage.verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY) for stage in stages
    )
    if not closed or not stages_decouple(
        tuple(tuple((p.effective, p.spectrum) for p in stage.pathways) for stage in stages)
    ):
        return None
    terms = [
        (strength_symbol(mode.label), mode.multiplicity, mode.strength.s, mode.strength.d)
        for stage in stages
        for pathway in stage.pathways
        for mode in pathway.modes
        if mode.strength is not None and not mode.is_null
    ]
    return mode_space_loss(stages[0].initial_loss.to_sympy(spec.symbols), terms)
