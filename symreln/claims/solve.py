"""Stage by stage: effective datasets, joint spectra, verdict, and a law for every mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import sympy as sp

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.derivation import (
    Derivation,
    Driver,
    ModeDerivation,
    PathwayDerivation,
    StageDerivation,
)
from symreln.claims.head_formulas import drivers
from symreln.errors import InputError, LimitReachedError, NotSupportedError
from symreln.exact.algebraic import AlgebraicNumber, ratio
from symreln.exact.spectrum import JointSpectrum, Mode, joint_spectrum
from symreln.laws.choice import choose, printed
from symreln.laws.law import HEAD_START, PLAIN, STRENGTH0, Law, Regime
from symreln.networks.effective import EffectiveDataset
from symreln.networks.symmetry import SymmetrySearch
from symreln.networks.targets import Targets
from symreln.specs.spec import Spec
from symreln.verdict.judge import DiagonalisabilityVerdict, Level, StageVerdict, judge
from symreln.verdict.mode_classes import check_projection, image_spectrum
from symreln.verdict.residual import closed_residual, converged_outputs, stages_decouple
from symreln.verdict.stage_symmetry import StageSymmetry


def at_values(derivation: Derivation) -> Derivation:
    """Derive again, exactly, at the parameters' declared values; ask for it, it is made once.

    Its spectra are compared with the derivation's formulas when those are checked.

    Raises:
        InputError: A parameter has no declared value.
    """
    check_values(derivation.spec)
    if not derivation.spec.parameters:
        return derivation
    # What maps data onto themselves for all values of their parameters does so for these.
    return derive_unchecked(derivation.spec.at_values(), derivation.search)


def check_values(spec: Spec) -> None:
    """Refuse numbers where a parameter has no value.

    Raises:
        InputError: One has none.
    """
    missing = [p.given for p in spec.parameters if p.value is None]
    if missing:
        msg = (
            f"parameters {', '.join(missing)}: no value is declared, and numbers are asked "
            f"for. Give one, for example --set parameters.{missing[0]}.value=1"
        )
        raise InputError(msg)


def derive_unchecked(spec: Spec, search: SymmetrySearch | None = None) -> Derivation:
    """Derive without the checks of :mod:`symreln.pipeline.checks`, for a second route of theirs.

    Args:
        spec: What is derived.
        search: For symmetries of its data and pathways, where there is one already.
    """
    goal = Targets.of(spec.dataset.targets)
    joint = len(spec.stages) == 1
    if search is None and len(spec.pathways) > 1:
        stages_of = [1 if joint else pathway.stage for pathway in spec.pathways]
        search = SymmetrySearch(spec.dataset, spec.pathways, stages_of)
    stages: list[StageDerivation] = []
    driven: dict[str, Driver | str | None] = {}
    for stage in spec.stages:
        numbers = [n for n, path in enumerate(spec.pathways, 1) if joint or path.stage == stage]
        symmetry = StageSymmetry([number - 1 for number in numbers], search)
        effective = _effective(spec, numbers, goal, symmetry)
        spectra = _spectra(spec, effective, seen=len(numbers) > 1 or stage != spec.stages[-1])
        with phase("verdict"):
            verdict = judge(stage, effective, spectra, symmetry)
            if spec.graph is not None:
                verdict = verdict.with_edges(spec.edges)
        if verdict.level.closes:
            left = closed_residual(goal, verdict.converged)
        else:
            left = Targets(start=(goal.matrix - converged_outputs(goal, effective)).reduced())
        if stages:
            driven |= drivers(stages, numbers, effective, verdict.spectra)
        stages.append(
            StageDerivation(
                stage=stage,
                pathways=_pathways(numbers, effective, verdict, spec, driven),
                verdict=verdict,
                initial_loss=goal.half_power,
                final_loss=left.half_power,
            )
        )
        goal = left
    whole = DiagonalisabilityVerdict(stages=tuple(stage.verdict for stage in stages))
    seen = (tuple((p.effective, p.spectrum) for p in stage.pathways) for stage in stages)
    return Derivation(
        spec=spec,
        stages=tuple(stages),
        drivers=driven,
        search=search,
        verdict=whole,
        loss_separates=whole.level.closes and stages_decouple(tuple(seen)),
        steps=(),
        later=tuple(derive_unchecked(spec.during(step)) for step in spec.switches),
    )


def _effective(
    spec: Spec, numbers: list[int], goal: Targets, symmetry: StageSymmetry
) -> tuple[EffectiveDataset, ...]:
    found: list[EffectiveDataset] = []
    for p, number in enumerate(numbers):
        pathway, move = spec.pathways[number - 1], symmetry.symmetries[p]
        if move is None:
            found.append(EffectiveDataset.of(spec.dataset, pathway, goal))
            found[-1].check_size()
        else:
            found.append(found[symmetry.originals[p]].mapped(move, pathway))
    return tuple(found)


def _spectra(
    spec: Spec, effective: tuple[EffectiveDataset, ...], *, seen: bool
) -> tuple[JointSpectrum, ...]:
    """Return the spectra of a stage.

    Args:
        spec: The spec.
        effective: What its pathways see.
        seen: Whether others see their modes, and project on them.

    Raises:
        LimitReachedError: A spectrum is too much work, or has too many modes of too long numbers.
    """
    found: dict[int, JointSpectrum] = {}
    e = effective[0]
    try:
        for e in effective:
            with phase(f"joint spectrum of pathway '{e.pathway.name}'"):
                if e.image is None:
                    found[id(e)] = joint_spectrum(e.sigma_yx, e.sigma_x, spec.values)
                else:
                    found[id(e)] = image_spectrum(e, found[id(e.image.original)])
        if seen and all(s.commutes and not s.parameters for s in found.values()):
            for e in effective:
                if e.image is None:
                    check_projection(found[id(e)])
    except LimitReachedError as error:
        msg = f"pathway '{e.pathway.name}': {error}"
        raise LimitReachedError(msg) from error
    return tuple(found.values())


def _pathways(
    numbers: list[int],
    effective: tuple[EffectiveDataset, ...],
    verdict: StageVerdict,
    spec: Spec,
    driven: Mapping[str, Driver | str | None],
) -> tuple[PathwayDerivation, ...]:
    regime, spectra = Regime.of(spec, decoupled=verdict.level.closes), verdict.spectra
    solver = _Solver(spec=spec, verdict=verdict, regime=regime, driven=driven)
    return tuple(
        PathwayDerivation(
            number=number,
            effective=effective[p],
            spectrum=spectra[p],
            modes=tuple(
                solver.mode(number, place, p, mode, spectra[p])
                for place, mode in enumerate(spectra[p].modes, start=1)
            ),
            parameters=spec.parameters,
        )
        for p, number in enumerate(numbers)
    )


@record(eq=False)
class _Solver:
    """Modes of a stage, one by one.

    Attributes:
        spec: The spec.
        verdict: Of the stage.
        regime: What is known of its modes.
        driven: What drives those of a later stage while earlier ones learn, by label.
        solved: Closed forms by what they follow from: equal modes of several pathways share one.
    """

    spec: Spec
    verdict: StageVerdict
    regime: Regime
    driven: Mapping[str, Driver | str | None]
    solved: dict[tuple, Law] = field(default_factory=dict)

    def mode(
        self, pathway_number: int, place: int, p: int, mode: Mode, spectrum: JointSpectrum
    ) -> ModeDerivation:
        """Return a mode with its law, where it has one.

        Args:
            pathway_number: Of its pathway, in the spec.
            place: Of the mode in its pathway, from 1.
            p: Place of its pathway in the stage.
            mode: Its numbers.
            spectrum: Of its pathway.
        """
        class_index = next(i for i, c in enumerate(spectrum.classes) if c is mode.mode_class)
        d = d_eff = mode.d
        common, of = self.verdict.d_eff.get((p, class_index)), mode.mode_class.minpoly
        if common is not None:
            d_eff = AlgebraicNumber(minpoly=of, coefficients=common, root=mode.root)
        decoupled = self.regime.decoupled and d_eff is not None
        choice = choose(replace(self.regime, decoupled=decoupled))
        family, why, strength = choice.name, choice.why, None
        if family is not None and d_eff is not None:
            strength = self._strength(mode, d_eff, f"{pathway_number}_{place}")
        else:
            self._check_two_layers()
            d_eff = None
            modes_close = self.verdict.level is Level.COUPLED_MODES
            family = (Level.COUPLED_MODES if modes_close else Level.COUPLED_MATRICES).value
            why = f"{family}: {self.verdict.reasons[-1]}"
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
            passed_over=choice.passed_over,
        )

    def _strength(self, mode: Mode, d_eff: AlgebraicNumber, index: str) -> Law:
        """Return the closed form.

        Modes of later stages start in effect where :mod:`symreln.claims.head_start` says.
        """
        # A number of degree > 2 is written as a constant with the mode's own index.
        name = "" if mode.s.is_radical and d_eff.is_radical else index
        mode_class, symbols = mode.mode_class, self.spec.symbols
        # A null mode starts at zero: the aligned start puts no weight on it, nothing drives it
        # (proven with the verdict), and started elsewhere it would act on other pathways through an
        # output direction that the data leave open.
        alone = sp.S.Zero if mode.is_null else STRENGTH0
        start = alone if self.driven.get(f"pi_{index}") is None else HEAD_START
        numbers = (mode_class.minpoly, mode_class.eigenvalue, d_eff.coefficients, mode.root)
        key = (*numbers, name, start)
        if key not in self.solved:
            asymptote = None if mode.is_null or d_eff.is_zero else ratio(mode.s, d_eff)
            self.solved[key] = printed(
                self.regime,
                mode.s.to_sympy(symbols, f"s_{index}"),
                d_eff.to_sympy(symbols, f"d_{index}"),
                asymptote=None if asymptote is None else asymptote.to_sympy(symbols),
                strength0=start,
            )
        return self.solved[key]

    def _check_two_layers(self) -> None:
        """Refuse coupled modes with weight decay or layers that start apart.

        The maps of a single layer have a solution while pathways do not couple
        (:mod:`symreln.claims.linear_flow`).

        Raises:
            NotSupportedError: There are some.
        """
        if self.regime.apart or self.regime.weight_decay:
            msg = (
                f"network.{self.regime.unusual[0]}: the verdict is '{self.verdict.level.value}', "
                f"and coupled modes are derived for {PLAIN}. "
                "Leave the key out, or choose gates whose pathways do not couple and data on which "
                "every Sigma^x commutes with Sigma^yx^T Sigma^yx, as where inputs are white"
            )
            raise NotSupportedError(msg)
