"""The unit of printed and written losses: the spec's own, a sum or a mean over samples."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.integration import network_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.report.figures import LossCurve
    from symreln.specs.model import Spec


@dataclass(frozen=True, kw_only=True)
class LossUnit:
    """What a mean loss 1/(2P) Σ‖y − ŷ‖² is multiplied by, and what it then is.

    Attributes:
        kind: "sum" or "mean", as in the spec.
        factor: P for a sum, else 1.
    """

    kind: str
    factor: int

    @property
    def words(self) -> str:
        """What the loss is taken over."""
        return f"{self.kind} over samples"

    @property
    def formula(self) -> str:
        """The loss, as text."""
        return "½ Σ_μ ‖y_μ − ŷ_μ‖²" if self.kind == "sum" else "1/(2P) Σ_μ ‖y_μ − ŷ_μ‖²"

    def of(self, curve: LossCurve) -> LossCurve:
        """Return a drawn curve of mean losses in this unit."""
        return replace(
            curve,
            loss=self.factor * curve.loss,
            low=_times(self.factor, curve.low),
            high=_times(self.factor, curve.high),
        )

    def npz(self, curves: Mapping[str, np.ndarray], steps: np.ndarray) -> bytes:
        """Return curves.npz: mean losses in this unit, and the steps that they are taken at."""
        arrays = {name: self.factor * losses for name, losses in curves.items()}
        return npz({**arrays, "steps": steps, "loss_unit": np.array(self.words)})

    def to_json(self) -> dict[str, str]:
        """Return the entry "loss" of validation.json."""
        return {"kind": self.kind, "unit": self.formula}


def loss_unit(spec: Spec) -> LossUnit:
    """Return the unit of a spec's network's loss."""
    kind = network_of(spec).loss
    return LossUnit(kind=kind, factor=spec.dataset.samples if kind == "sum" else 1)


def npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return arrays as an NPZ file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def _times(factor: int, values: np.ndarray | None) -> np.ndarray | None:
    return None if values is None else factor * values
