"""Finished steps, written by the child as lines of JSON: what a killed child has told is not lost.

The lines are read by :mod:`symreln.report.partial_json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from symreln.base.provenance import library_versions
from symreln.claims.claim import Step
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.network.derivation import PartsVerdict
from symreln.document.mathtext import to_latex
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, Mode, joint_spectrum
from symreln.exact.spectrum_json import classes_to_json
from symreln.laws import coupled_matrices, coupled_modes
from symreln.laws.choice import choose
from symreln.laws.law import Regime
from symreln.networks.effective import EffectiveDataset
from symreln.report.derivation_json import pathway_to_json
from symreln.report.encode import Encoder
from symreln.report.spec_json import spec_to_json
from symreln.specs.model import Spec
from symreln.verdict.judge import DiagonalisabilityVerdict, Level, StageVerdict


class StepWriter:
    """Writes steps as they are finished.

    A line goes to the file in one call, so that it is there whole or, where the process dies
    within the call, is recognised as cut.

    Args:
        path: The file.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._spec: Spec | None = None
        self._effective: dict[int, EffectiveDataset] = {}

    def say(self, step: str, content: dict[str, Any]) -> None:
        """Write one step."""
        line = json.dumps({"step": step, **content}).encode() + b"\n"
        try:
            os.write(self._handle, line)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from error

    def spec(self, spec: Spec) -> None:
        """Write what is to be derived."""
        self._spec = spec
        joint = len(spec.stages) == 1
        pathways = [
            {
                "number": number,
                "name": pathway.name,
                "stage": spec.stages[0] if joint else pathway.stage,
                "gate": pathway.gate_text,
                "samples": len(pathway.open_samples),
                "inputs": len(pathway.inputs),
                "outputs": len(pathway.outputs),
            }
            for number, pathway in enumerate(spec.pathways, start=1)
        ]
        told = {"header": spec_to_json(spec), "pathways": pathways}
        self.say("spec", {**told, "versions": library_versions()})

    def progress(self, step: str, payload: object) -> None:
        """Write a step of :func:`symreln.pipeline.derive.derive`."""
        assert self._spec is not None
        match step:
            case "effective datasets":
                found = cast("Sequence[EffectiveDataset]", payload)
                numbers = {p.name: i for i, p in enumerate(self._spec.pathways, start=1)}
                self._effective |= {numbers[e.pathway.name]: e for e in found}
                self.say("effective", {"pathways": [numbers[e.pathway.name] for e in found]})
            case "spectrum":
                self._spectrum(self._spec, *cast("tuple[int, JointSpectrum]", payload))
            case "verdict":
                verdict = cast("StageVerdict | PartsVerdict", payload)
                found = {"level": verdict.level.value, "reasons": list(verdict.reasons)}
                family = _family(verdict, self._spec)
                self.say("verdict", {"stage": verdict.stage, **found, "family": family})
            case "checks":
                self.say("checks", {"steps": [_step(s) for s in cast("Sequence[Step]", payload)]})

    def joint_spectrum(
        self,
        sigma_yx: ExactMatrix,
        sigma_x: ExactMatrix,
        values: Mapping[str, Fraction] | None = None,
    ) -> JointSpectrum:
        """Find a joint spectrum and write its classes."""
        found = joint_spectrum(sigma_yx, sigma_x, values)
        self.say("joint spectrum", {"classes": classes_to_json(found)})
        return found

    def _spectrum(self, spec: Spec, number: int, spectrum: JointSpectrum) -> None:
        # The exact classes first: they are what must not be lost, and the printed forms can take
        # longer than they did.
        self.say("classes", {"pathway": number, "classes": classes_to_json(spectrum)})
        entry = _pathway_entry(spec, number, self._effective[number], spectrum)
        latex = [_latex(mode, spec) for mode in spectrum.modes]
        self.say("spectrum", {"pathway": number, "entry": entry, "latex": latex})


def _pathway_entry(
    spec: Spec, number: int, effective: EffectiveDataset, spectrum: JointSpectrum
) -> dict[str, Any]:
    """Return the entry of derivation.json of a pathway whose stage is not decided yet."""
    modes = tuple(
        ModeDerivation(
            number=place,
            label=f"pi_{number}_{place}",
            class_index=spectrum.classes.index(mode.mode_class),
            s=mode.s,
            d=mode.d,
            d_eff=None,
            multiplicity=mode.multiplicity,
            family="undecided",
            why="the stage's couplings were not decided",
            strength=None,
        )
        for place, mode in enumerate(spectrum.modes, start=1)
    )
    pathway = PathwayDerivation(number=number, effective=effective, spectrum=spectrum, modes=modes)
    nothing = Derivation(
        spec=spec,
        stages=(),
        verdict=DiagonalisabilityVerdict(stages=()),
        loss_separates=False,
        steps=(),
    )
    return pathway_to_json(nothing, pathway, Encoder.of(spec))


def _latex(mode: Mode, spec: Spec) -> dict[str, str | None]:
    """Return s and d as LaTeX, None where there is none or no form in square roots."""
    numbers = {"s": mode.s, "d": mode.d}
    return {
        name: None
        if number is None or not number.is_radical
        else to_latex(number.to_sympy(spec.symbols))
        for name, number in numbers.items()
    }


def _family(verdict: StageVerdict | PartsVerdict, spec: Spec) -> str:
    """Return the family of solutions that a stage's level gives to its modes."""
    if spec.graph is not None:
        return "reduction per edge"
    if verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
        return choose(Regime.of(spec)).name or coupled_matrices.NAME
    return coupled_modes.NAME if verdict.level is Level.COUPLED_MODES else coupled_matrices.NAME


def _step(step: Step) -> dict[str, str]:
    return {
        "name": step.name,
        "statement": step.statement,
        "check": step.check,
        "outcome": step.outcome.value,
    }
