"""Pathways as asked for, resolved against a dataset: gates to samples, groups to indices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from symreln.network.parts import Gate, Switch
from symreln.spec.entries import (
    NAME_LENGTH,
    Asked,
    Entry,
    bare,
    entry_text,
    label_values,
    members,
    read_entries,
)
from symreln.spec.expression import Declared
from symreln.spec.finding import Finding, check_text, quoted, shown
from symreln.spec.model import PathwayFamily, PathwaySpec
from symreln.spec.problems import Problems
from symreln.spec.schema import MAX_PATHWAYS, PathwayModel

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
                values = label_values(each, asked.dataset.labels)
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
    gate = bare(model.gate, mark) if isinstance(model.gate, str) else model.gate
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
        gate = asked.gate(written)
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
