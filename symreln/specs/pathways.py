"""Pathways as asked for, resolved against a dataset: gates to samples, groups to indices.

The entries of a network as asked for: ``[[pathway]]``, ``[[node]]`` and ``[[edge]]`` alike.

Every one may stand for several by ``each = "context"``, has a gate over the samples, and names
inputs or outputs of the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Generic, TypeVar

from symreln.base.records import record
from symreln.networks.parts import Gate, Switch
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding, check_text, nearest, quoted, shown
from symreln.specs.gates import gate_values
from symreln.specs.model import Dataset, Label, PathwayFamily, PathwaySpec
from symreln.specs.problems import Problems
from symreln.specs.schema import MAX_PATHWAYS, EdgeModel, NodeModel, PathwayModel

#: In a list of gates: the pathway's inputs are made orthogonal to the sample.
BOUNDARY = "/"

Pathways = tuple[tuple[PathwaySpec, ...], tuple[PathwayFamily, ...]]
"""In the order given, members of a family in the order of its values; and the families."""


def read_pathways(value: object, asked: Asked | None, problems: Problems) -> Pathways:
    """Return the pathways of a spec; what is wrong is added to ``problems``.

    Args:
        value: What stands under ``pathway``.
        asked: What gates and groups refer to; None where the dataset is wrong itself, and then
            only what needs no dataset is checked.
        problems: Collects.
    """
    example = '[[pathway]] with name = "shared" and gate = "all"'
    if value is None or value in ([], ()):
        problems.add("pathway", "no pathway", f"at least one {example}")
        return (), ()
    if not isinstance(value, list | tuple):
        problems.add("pathway", shown(value), f"tables {example}", "Double the brackets.")
        return (), ()
    entries = read_entries(value[: MAX_PATHWAYS + 1], PathwayModel, "pathway", problems)
    _check_switch_steps(entries, problems)
    complete = len(entries) == len(value)
    families: list[PathwayFamily] = []
    if asked is not None:
        entries, families = _expanded(entries, asked)
    count = max(len(value), len(entries))
    if count > MAX_PATHWAYS:
        problems.add("pathway", f"{count} pathways", f"at most {MAX_PATHWAYS}")
        return (), ()
    _check_names(entries, problems)
    if complete:
        _check_stages(entries, problems)
    if asked is None:
        return (), ()
    resolved = [_resolve(entry, asked) for entry in entries]
    return tuple(pathway for pathway in resolved if pathway is not None), tuple(families)


def _expanded(
    entries: list[Entry[PathwayModel]], asked: Asked
) -> tuple[list[Entry[PathwayModel]], list[PathwayFamily]]:
    """Return one entry a pathway, and the families with the indices of their members."""
    found: list[Entry[PathwayModel]] = []
    families: list[PathwayFamily] = []
    for entry in entries:
        each = entry.model.each
        with asked.problems.at(f"{entry.path}.each"):
            if each is not None:
                values = _label_values(each, asked.dataset.labels)
                entry = replace(entry, model=_template(entry.model, each))
                family = PathwayFamily(
                    label=each,
                    values=values,
                    members=tuple(range(len(found), len(found) + len(values))),
                    name=entry.model.name,
                    gate=str(entry.model.gate).strip(),
                    inputs=entry_text(entry.model.inputs),
                    outputs=entry_text(entry.model.outputs),
                    stage=entry.model.stage,
                )
                families.append(family)
            found += members(entry, asked.dataset.labels)
    return found, families


def _template(model: PathwayModel, each: str) -> PathwayModel:
    """Return an entry for every value of a label, with the mark in its name and bare in its gate.

    Raises:
        Finding: Nothing depends on the value.
    """
    mark = f"{{{each}}}"
    if not any(isinstance(x, str) and mark in x for x in (model.gate, model.inputs, model.outputs)):
        raise Finding(
            f"an entry that is the same for every {each}",
            f"{mark} in its gate, inputs or outputs",
            f'For example: gate = "{each} != {mark}".',
        )
    name = model.name if mark in model.name else f"{model.name}_{mark}"
    gate = _bare(model.gate, mark) if isinstance(model.gate, str) else model.gate
    return model.model_copy(update={"name": name, "gate": gate})


def _check_names(entries: list[Entry[PathwayModel]], problems: Problems) -> None:
    first: dict[str, str] = {}
    for entry in entries:
        name = entry.model.name
        with problems.at(f"{entry.path}.name"):
            check_text(name, longest=NAME_LENGTH)
            earlier = first.get(name)
            if earlier is not None:
                raise Finding(f"the name {quoted(name)}, which {earlier} has", "a name of its own")
            first[name] = entry.path


def _check_stages(entries: list[Entry[PathwayModel]], problems: Problems) -> None:
    stages = {0, *(entry.model.stage for entry in entries)}
    for path, stage in dict.fromkeys((entry.path, entry.model.stage) for entry in entries):
        if stage - 1 not in stages:
            found = f"stage {stage} where no pathway has stage {stage - 1}"
            problems.add(f"{path}.stage", found, "stages 1, 2, … without a gap")


def _check_switch_steps(entries: list[Entry[PathwayModel]], problems: Problems) -> None:
    for entry in entries:
        for place, (before, after) in enumerate(pairwise(entry.model.then), start=1):
            if after.step <= before.step:
                path = f"{entry.path}.then[{place}].step"
                found = f"step {after.step} after step {before.step}"
                problems.add(path, found, "ascending steps")


def _resolve(entry: Entry[PathwayModel], asked: Asked) -> PathwaySpec | None:
    before = len(asked.problems.found)
    path, model = entry.path, entry.model
    gate: Gate = ()
    boundary: tuple[int, ...] = ()
    with asked.problems.at(f"{path}.gate"):
        written, boundary = _boundary(model)
        gate = asked.gate(written, closed=bool(model.then))
    found = PathwaySpec(
        name=model.name,
        gate=gate,
        gate_text=entry_text(model.gate),
        inputs=asked.indices(model.inputs, "inputs", path),
        inputs_text=entry_text(model.inputs),
        outputs=asked.indices(model.outputs, "outputs", path),
        outputs_text=entry_text(model.outputs),
        stage=model.stage,
        hidden=model.hidden,
        boundary=boundary,
        then=tuple(_switches(entry, asked)),
    )
    return found if len(asked.problems.found) == before else None


def _boundary(model: PathwayModel) -> tuple[object, tuple[int, ...]]:
    """Return a gate with 0 for every /, and the samples that had one.

    Raises:
        Finding: The pathway takes other gates later.
    """
    gate = model.gate
    if not isinstance(gate, list | tuple) or BOUNDARY not in gate:
        return gate, ()
    if model.then:
        raise Finding(
            f"{quoted(BOUNDARY)} in the gate of a pathway with then",
            "one gate for the whole training where samples are on the boundary",
        )
    on = tuple(place for place, value in enumerate(gate) if value == BOUNDARY)
    return [0 if value == BOUNDARY else value for value in gate], on


def _switches(entry: Entry[PathwayModel], asked: Asked) -> Iterator[Switch]:
    """Yield the gates that a pathway takes later; they have no gains."""
    plain = replace(asked, declared=Declared())
    for place, switch in enumerate(entry.model.then):
        with asked.problems.at(f"{entry.path}.then[{place}].gate"):
            gate = plain.gate(switch.gate)
            if not all(isinstance(value, int) for value in gate):
                raise Finding("a gain in a gate that is taken later", "0 and 1")
            yield Switch(step=switch.step, gate=gate, gate_text=entry_text(switch.gate))


NAME_LENGTH = 80
Model = TypeVar("Model", PathwayModel, NodeModel, EdgeModel)

_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")


@record(kw_only=False)
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


@record
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

    def gate(self, value: object, *, closed: bool = False) -> Gate:
        """Return 0, 1 or a gain for every sample.

        Raises:
            Finding: It is no gate for this dataset, or is never open.
        """
        data = self.dataset
        return gate_values(value, data.labels, data.samples, self.declared, closed=closed)

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


def _label_values(each: str, labels: Mapping[str, tuple[Label, ...]]) -> tuple[Label, ...]:
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
    values = _label_values(each, labels)
    return [replace(entry, model=_filled(entry.model, value)) for value in values]


def _bare(gate: str, mark: str) -> str:
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
        texts["gate"] = _filled_gate(_bare(model.gate, mark), mark, value)
    if isinstance(model, PathwayModel):
        texts["then"] = [
            switch.model_copy(update={"gate": _filled_gate(_bare(switch.gate, mark), mark, value)})
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
