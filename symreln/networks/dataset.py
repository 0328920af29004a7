"""What a network is trained on: inputs and targets, labels and groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Literal

import numpy as np

from symreln.base.records import Immutable, record
from symreln.errors import InputTypeError
from symreln.exact.matrix import ExactMatrix

Label = int | str


@record
class Dataset(Immutable):
    """Inputs and targets, one column a sample.

    Attributes:
        inputs: X, shape (n_x, P), exact.
        targets: Y, shape (n_y, P), exact; likewise.
        labels: Labels of the samples, each of length P, for gate formulas.
        input_groups: Named groups of input indices.
        output_groups: Named groups of output indices.
        input_names: What the user calls the inputs; empty where nothing does.
        output_names: Likewise, of the outputs.
        description: One sentence on where the data comes from.
        task: Name in the registry, or "" for a user's own data.
        options: The task's options as text, for the provenance table.
        decimals: Whether every number that is not whole was written as a decimal, and is shown so.

    Example:
        >>> import symreln as sr
        >>> data = sr.load("xor").dataset
        >>> data.samples, data.n_x, data.n_y
        (4, 3, 1)
    """

    inputs: ExactMatrix
    targets: ExactMatrix
    labels: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)
    input_groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    output_groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    input_names: tuple[str, ...] = field(default=(), compare=False)
    output_names: tuple[str, ...] = field(default=(), compare=False)
    description: str = ""
    task: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    decimals: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("inputs", "targets"):
            if not isinstance(getattr(self, name), ExactMatrix):
                found = type(getattr(self, name)).__name__
                msg = (
                    f"Dataset: found {found} for {name}, expected an ExactMatrix. Write "
                    "sr.spec(X, Y, pathways=[…]) for arrays, tables and lists"
                )
                raise InputTypeError(msg)
        for name in ("labels", "input_groups", "output_groups", "options"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def samples(self) -> int:
        """P, the number of samples."""
        return self.inputs.shape[1]

    @property
    def n_x(self) -> int:
        """The number of inputs."""
        return self.inputs.shape[0]

    @property
    def n_y(self) -> int:
        """The number of outputs."""
        return self.targets.shape[0]

    def names_of(self, what: Literal["inputs", "outputs"], indices: Sequence[int]) -> list[str]:
        """Return what some inputs or outputs are called: by the user, by their group, or numbered.

        Args:
            what: Which of the two.
            indices: Their places, from 0.
        """
        own, groups = (
            (self.input_names, self.input_groups)
            if what == "inputs"
            else (self.output_names, self.output_groups)
        )
        place = {i: f"{name} {n}" for name, g in groups.items() for n, i in enumerate(g, start=1)}
        return [own[i] if own else place.get(i, f"{what[:-1]} {i + 1}") for i in indices]

    def called(self, chosen: Sequence[bool]) -> str:
        """Return some samples as a gate formula over their labels; "" where none is so simple.

        Args:
            chosen: Whether a sample is one of them, length P; at least one is.
        """
        meant, parts = [True] * self.samples, []
        for name, values in self.labels.items():
            inside = {value for value, one in zip(values, chosen, strict=True) if one}
            if len(inside) == len(set(values)):
                continue
            meant = [one and value in inside for one, value in zip(meant, values, strict=True)]
            shown = [
                json.dumps(v, ensure_ascii=False) for v in dict.fromkeys(values) if v in inside
            ]
            one_of = f"== {shown[0]}" if len(shown) == 1 else f"in ({', '.join(shown)})"
            parts.append(f"{name} {one_of}")
        same = meant == [bool(one) for one in chosen]
        return " and ".join(parts) if same else ""

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Y in floats, shapes (n_x, P) and (n_y, P)."""
        return self.inputs.to_numpy(), self.targets.to_numpy()
