"""The problems of :mod:`benchmarks/spectrum.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

import symreln as sr
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.networks.effective import EffectiveDataset
from symreln.pipeline.certificate.pathway_part import pathway_json
from symreln.pipeline.certificate.texts import Texts
from symreln.specs.spec import Spec

ITEMS, CONTEXTS = 128, 16


def contextual(items: int, contexts: int | str, scale: str) -> Spec:
    """Return the task with one pathway for every sample that sees the context inputs.

    Args:
        items: n.
        contexts: C; "C" asks for every number of contexts, 16 where one is needed.
        scale: Value of an active context input; "c" makes it a parameter.
    """
    tables: dict[str, Any] = {
        "title": "One pathway",
        "dataset": {
            "task": "contextual",
            "items": items,
            "contexts": contexts,
            "structures": "hierarchy",
            "context_scale": scale,
        },
        "pathway": [{"name": "common", "gate": "all"}],
    }
    parameters: dict[str, dict[str, Any]] = {}
    if scale == "c":
        parameters["c"] = {"positive": True, "value": "1"}
    if contexts == "C":
        parameters["C"] = {"integer": True, "minimum": 2, "value": CONTEXTS}
    if parameters:
        tables["parameters"] = parameters
    return sr.load(tables)


@dataclass(frozen=True)
class Problem:
    """The exact correlations of one pathway."""

    spec: Spec
    sigma_yx: ExactMatrix
    sigma_x: ExactMatrix

    @classmethod
    def of(cls, spec: Spec) -> Problem:
        """Apply the first pathway's gate to the dataset."""
        effective = EffectiveDataset.of(spec.dataset, spec.pathways[0], spec.dataset.targets)
        return cls(spec, effective.sigma_yx, effective.sigma_x)

    def exact(self) -> JointSpectrum:
        """Decompose exactly."""
        return joint_spectrum(self.sigma_yx, self.sigma_x, self.spec.values)

    def certified(self) -> JointSpectrum:
        """Decompose, and write the certificate's entries for this pathway."""
        spectrum = self.exact()
        texts = Texts(spectrum.parameters)
        json.dumps(pathway_json(self.spec.pathways[0], spectrum, texts))
        return spectrum

    def floats(self) -> np.ndarray:
        """Return Sigma^yx in float64, at the declared values."""
        return self.sigma_yx.substitute(self.spec.values).to_numpy()
