"""A spec with gates that were found, as TOML that ``symreln derive`` takes."""

from __future__ import annotations

from collections.abc import Sequence

from symreln.networks.pathway import PathwaySpec
from symreln.specs.kinds import BOUNDARY
from symreln.specs.spec import Dataset


def gate_pathway(
    dataset: Dataset, signs: Sequence[int], name: str = "found", stage: int = 1
) -> PathwaySpec:
    """Return a pathway from all inputs to all outputs with a gate.

    Args:
        dataset: The data.
        signs: 1 open, -1 closed, 0 orthogonal to the sample: on a partial gate's boundary.
        name: Its name.
        stage: Its stage.
    """
    listed = ", ".join({1: "1", -1: "0", 0: f'"{BOUNDARY}"'}[int(sign)] for sign in signs)
    return PathwaySpec(
        name=name,
        gate=tuple(int(sign > 0) for sign in signs),
        gate_text="all" if all(sign > 0 for sign in signs) else f"[{listed}]",
        boundary=tuple(place for place, sign in enumerate(signs) if not sign),
        inputs=tuple(range(dataset.n_x)),
        outputs=tuple(range(dataset.n_y)),
        stage=stage,
    )
