"""The entries of a network as asked for: ``[[pathway]]``, ``[[node]]`` and ``[[edge]]`` alike.

Every one may stand for several by ``each = "context"``, has a gate over the samples, and names
inputs or outputs of the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from symreln.network.parts import Gate
from symreln.spec.expression import Declared
from symreln.spec.finding import Finding, nearest, quoted, shown
from symreln.spec.gates import gate_values
from symreln.spec.model import Dataset, Label
from symreln.spec.problems import Problems
from symreln.spec.schema import MAX_PATHWAYS, EdgeModel, NodeModel, PathwayModel

NAME_LENGTH = 80
Model = TypeVar("Model", PathwayModel, NodeModel, EdgeModel)

_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")


@dataclass(frozen=True)
class Entry(Generic[Model]):
    """One entry that was asked for, its texts filled in.

    Attributes:
        path: Key path of its table.
        model: What it says.
        place: Index of its table.
    """

    path: str
    model: Model
    place: int


def read_entries(
    value: Sequence[object], kind: type[Model], name: str, problems: Problems
) -> list[Entry[Model]]:
    """Return the tables that are well formed; the others are problems."""
    found = []
    for place, table in enumerate(value):
        path = f"{name}[{place}]"
        model = problems.check(kind, table, path)
        if model is not None:
            found.append(Entry(path, model, place))
    return found


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What entries refer to.

    Attributes:
        dataset: Samples, labels and groups.
        declared: Names that gains may use.
        problems: Collects.
    """

    dataset: Dataset
    declared: Declared
    problems: Problems

    def gate(self, value: object) -> Gate:
        """Return 0, 1 or a gain for every sample.

        Raises:
            Finding: It is no gate for this dataset, or is never open.
        """
        return gate_values(value, self.dataset.labels, self.dataset.samples, self.declared)

    def indices(self, value: object, kind: str, path: str) -> tuple[int, ...]:
        """Return what "all", a group's name or a list stands for, ascending; empty where wrong.

        Args:
            value: What was read.
            kind: "inputs" or "outputs".
            path: Key path of the entry.
        """
        data = self.dataset
        groups, count = (
            (data.input_groups, data.n_x) if kind == "inputs" else (data.output_groups, data.n_y)
        )
        with self.problems.at(f"{path}.{kind}"):
            if not isinstance(value, str):
                return indices_of(value, count, kind)
            name = value.strip()
            if name == "all":
                return tuple(range(count))
            if name not in groups:
                hint = nearest(name, ["all", *groups])
                expected = f'"all", a group of {kind}, or a list of indices'
                raise Finding(f"the unknown group {quoted(name)}", expected, hint)
            return groups[name]
        return ()


def indices_of(value: object, count: int, kind: str) -> tuple[int, ...]:
    """Return a list of indices, ascending.

    Args:
        value: What was read: a list of indices from 0.
        count: How many inputs or outputs there are.
        kind: "inputs" or "outputs".

    Raises:
        Finding: It is no list, empty, or an index is wrong, out of range or repeated.
    """
    one = kind.removesuffix("s")
    expected = f"indices from 0 to {count - 1}, each once"
    if not isinstance(value, list | tuple):
        raise Finding(shown(value), f"a list of {expected}")
    if not value:
        raise Finding(f"no {kind}", f"at least one {one}", f'Write "all" for all {count}.')
    seen: set[int] = set()
    for place, index in enumerate(value):
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            hint = f"There are {count} {kind}; indices count from 0."
            raise Finding(f"{shown(index)} at place {place}", expected, hint)
        if index in seen:
            raise Finding(f"the {one} {index} twice", expected)
        seen.add(index)
    return tuple(sorted(seen))


def entry_text(value: object) -> str:
    """Return what the user wrote for a gate or for indices, as text in TOML's words."""
    if isinstance(value, str):
        return value.strip()
    entries: Sequence[object] = value  # type: ignore[assignment]
    written = [f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in entries]
    return f"[{', '.join(written)}]"


def label_values(each: str, labels: Mapping[str, tuple[Label, ...]]) -> tuple[Label, ...]:
    """Return the different values of the label that ``each`` names, in their order.

    Raises:
        Finding: There is no such label, or it has too many values.
    """
    if each not in labels:
        hint = nearest(each, labels) or "Add labels: [dataset.labels]."
        expected = f"a label of the dataset ({', '.join(labels) or 'it has none'})"
        raise Finding(f"the unknown label {quoted(each)}", expected, hint)
    values = tuple(dict.fromkeys(labels[each]))
    if len(values) > MAX_PATHWAYS:
        raise Finding(f"a label of {len(values)} values", f"at most {MAX_PATHWAYS}")
    return values


def members(entry: Entry[Model], labels: Mapping[str, tuple[Label, ...]]) -> list[Entry[Model]]:
    """Return the entries that one stands for: itself, or one for every value of its label.

    Raises:
        Finding: There is no such label, or it has too many values.
    """
    each = entry.model.each
    if each is None:
        return [entry]
    values = label_values(each, labels)
    return [replace(entry, model=_filled(entry.model, value)) for value in values]


def bare(gate: str, mark: str) -> str:
    """Return a gate without the quotes around the mark: it stands for a value, quotes and all."""
    return "".join(
        mark if part[1:-1].strip() == mark and part[:1] in ("'", '"') else part
        for part in _QUOTED.split(gate)
    )


def _filled(model: Model, value: Label) -> Model:
    """Put a label's value for its mark: in gates as a constant, elsewhere as characters."""
    mark = f"{{{model.each}}}"
    texts: dict[str, Any] = {
        key: text.replace(mark, str(value))
        for key, text in model
        if key != "gate" and isinstance(text, str)
    }
    if isinstance(model.gate, str):
        texts["gate"] = _filled_gate(bare(model.gate, mark), mark, value)
    if isinstance(model, PathwayModel):
        texts["then"] = [
            switch.model_copy(update={"gate": _filled_gate(bare(switch.gate, mark), mark, value)})
            if isinstance(switch.gate, str)
            else switch
            for switch in model.then
        ]
    return model.model_copy(update=texts)


def _filled_gate(gate: str, mark: str, value: Label) -> str:
    """Put a value for the mark: as a constant of the formula, or as characters inside a text."""
    escaped = re.sub(r"""([\\"'])""", r"\\\1", str(value))
    constant = str(value) if isinstance(value, int) else f'"{escaped}"'
    return "".join(
        part.replace(mark, escaped if place % 2 else constant)
        for place, part in enumerate(_QUOTED.split(gate))
    )
