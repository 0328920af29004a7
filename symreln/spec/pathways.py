"""Pathways as asked for, resolved against a dataset: gates to samples, groups to indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from symreln.spec.each import Entry, entry_text, expand
from symreln.spec.expression import Declared
from symreln.spec.finding import Finding, check_text, nearest, quoted, shown
from symreln.spec.gates import evaluate_gate
from symreln.spec.model import Dataset, Gain, PathwayFamily, PathwaySpec, Switch
from symreln.spec.problems import Problems
from symreln.spec.schema import MAX_PATHWAYS, PathwayModel

NAME_LENGTH = 80
#: In a list of gates: the pathway's inputs are made orthogonal to the sample.
BOUNDARY = "/"


class Pathways(NamedTuple):
    """The pathways of a spec.

    Attributes:
        pathways: In the order given, members of a family in the order of its values.
        families: Those written as one entry with ``each``.
    """

    pathways: tuple[PathwaySpec, ...] = ()
    families: tuple[PathwayFamily, ...] = ()


def read_pathways(
    value: object, dataset: Dataset | None, declared: Declared, problems: Problems
) -> Pathways:
    """Return the pathways of a spec; what is wrong is added to ``problems``.

    Args:
        value: What stands under ``pathway``.
        dataset: What gates and groups refer to; None where it is wrong itself, and then only what
            needs no dataset is checked.
        declared: Names that gains may use.
        problems: Collects.
    """
    example = '[[pathway]] with name = "shared" and gate = "all"'
    if value is None or value in ([], ()):
        problems.add("pathway", "no pathway", f"at least one {example}")
        return Pathways()
    if not isinstance(value, list | tuple):
        problems.add("pathway", shown(value), f"tables {example}", "Double the brackets.")
        return Pathways()
    entries = [
        Entry(place, model)
        for place, table in enumerate(value[: MAX_PATHWAYS + 1])
        if (model := problems.check(PathwayModel, table, f"pathway[{place}]")) is not None
    ]
    _check_switch_steps(entries, problems)
    whole = len(entries) == len(value)
    families: list[PathwayFamily] = []
    if dataset is not None:
        entries, families = _expanded(entries, dataset, problems)
    if max(len(value), len(entries)) > MAX_PATHWAYS:
        count = max(len(value), len(entries))
        problems.add("pathway", f"{count} pathways", f"at most {MAX_PATHWAYS}")
        return Pathways()
    _check_names(entries, problems)
    if whole:
        _check_stages(entries, problems)
    if dataset is None:
        return Pathways()
    resolved = [_resolve(entry, dataset, declared, problems) for entry in entries]
    return Pathways(tuple(pathway for pathway in resolved if pathway is not None), tuple(families))


def _expanded(
    entries: list[Entry], dataset: Dataset, problems: Problems
) -> tuple[list[Entry], list[PathwayFamily]]:
    """Return one entry a pathway, and the families with the indices of their members."""
    expanded: list[Entry] = []
    families: list[PathwayFamily] = []
    for place, model in entries:
        with problems.at(f"pathway[{place}].each"):
            members, family = expand(place, model, dataset.labels)
            if family is not None:
                first = len(expanded)
                families.append(replace(family, members=tuple(range(first, first + len(members)))))
            expanded += members
    return expanded, families


def _check_names(entries: list[Entry], problems: Problems) -> None:
    first: dict[str, int] = {}
    for index, model in entries:
        path = f"pathway[{index}].name"
        with problems.at(path):
            check_text(model.name, longest=NAME_LENGTH)
            if model.name in first:
                found = f"the name {quoted(model.name)}, which pathway[{first[model.name]}] has"
                raise Finding(found=found, expected="a name of its own")
            first[model.name] = index


def _check_stages(entries: list[Entry], problems: Problems) -> None:
    stages = {model.stage for _, model in entries}
    for index, model in {entry.place: entry for entry in entries}.values():
        if model.stage > 1 and model.stage - 1 not in stages:
            found = f"stage {model.stage} where no pathway has stage {model.stage - 1}"
            problems.add(f"pathway[{index}].stage", found, "stages 1, 2, … without a gap")


def _resolve(
    entry: Entry, dataset: Dataset, declared: Declared, problems: Problems
) -> PathwaySpec | None:
    before = len(problems.found)
    path, model = f"pathway[{entry.place}]", entry.model
    gate: tuple[Gain, ...] = ()
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    boundary: tuple[int, ...] = ()
    with problems.at(f"{path}.gate"):
        written, boundary = _boundary(model)
        gate = evaluate_gate(written, dataset.labels, dataset.samples, declared)
    then = tuple(_switches(model, path, dataset, problems))
    with problems.at(f"{path}.inputs"):
        inputs = resolved_indices(model.inputs, dataset.input_groups, dataset.n_x, "input")
    with problems.at(f"{path}.outputs"):
        outputs = resolved_indices(model.outputs, dataset.output_groups, dataset.n_y, "output")
    if len(problems.found) > before:
        return None
    return PathwaySpec(
        name=model.name,
        gate=gate,
        gate_text=entry_text(model.gate),
        inputs=inputs,
        inputs_text=entry_text(model.inputs),
        outputs=outputs,
        outputs_text=entry_text(model.outputs),
        stage=model.stage,
        hidden=model.hidden,
        boundary=boundary,
        then=then,
    )


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
            found=f"{quoted(BOUNDARY)} in the gate of a pathway with then",
            expected="one gate for the whole training where samples are on the boundary",
        )
    on = tuple(place for place, value in enumerate(gate) if value == BOUNDARY)
    return [0 if value == BOUNDARY else value for value in gate], on


def _check_switch_steps(entries: list[Entry], problems: Problems) -> None:
    for index, model in entries:
        for place, (before, after) in enumerate(pairwise(model.then), start=1):
            if after.step <= before.step:
                problems.add(
                    f"pathway[{index}].then[{place}].step",
                    f"step {after.step} after step {before.step}",
                    "ascending steps",
                )


def _switches(
    model: PathwayModel, path: str, dataset: Dataset, problems: Problems
) -> Iterator[Switch]:
    """Yield the gates that a pathway takes later."""
    for place, switch in enumerate(model.then):
        with problems.at(f"{path}.then[{place}].gate"):
            gate = evaluate_gate(switch.gate, dataset.labels, dataset.samples)
            if not all(isinstance(value, int) for value in gate):
                raise Finding(found="a gain in a gate that is taken later", expected="0 and 1")
            yield Switch(step=switch.step, gate=gate, gate_text=entry_text(switch.gate))


def resolved_indices(
    value: object, groups: Mapping[str, tuple[int, ...]], count: int, kind: str
) -> tuple[int, ...]:
    """Return the indices that "all", a group's name or a list stands for, ascending.

    Args:
        value: What was read.
        groups: Groups by name.
        count: How many inputs or outputs there are.
        kind: "input" or "output".

    Raises:
        Finding: It stands for none.
    """
    if isinstance(value, str):
        name = value.strip()
        if name == "all":
            return tuple(range(count))
        if name in groups:
            return groups[name]
        known = ["all", *groups]
        found = f"the unknown group {quoted(name)}"
        expected = f'"all", a group of {kind}s, or a list of indices'
        raise Finding(found=found, expected=expected, hint=nearest(name, known))
    return check_indices(value, count, kind)


def check_indices(value: Any, count: int, kind: str) -> tuple[int, ...]:
    """Return indices, ascending.

    Args:
        value: What was read: a list of indices from 0.
        count: How many inputs or outputs there are.
        kind: "input" or "output".

    Raises:
        Finding: It is no list, empty, or an index is wrong, out of range or repeated.
    """
    expected = f"indices from 0 to {count - 1}, each once"
    if not isinstance(value, list | tuple):
        raise Finding(found=shown(value), expected=f"a list of {expected}")
    if not value:
        raise Finding(
            found=f"no {kind}s",
            expected=f"at least one {kind}",
            hint=f'Write "all" for all {count}.',
        )
    seen: set[int] = set()
    for place, index in enumerate(value):
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            hint = f"There are {count} {kind}s; indices count from 0."
            raise Finding(found=f"{shown(index)} at place {place}", expected=expected, hint=hint)
        if index in seen:
            raise Finding(found=f"the {kind} {index} twice", expected=expected)
        seen.add(index)
    return tuple(sorted(seen))
