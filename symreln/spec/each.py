"""``each = "context"``: one entry of the spec that stands for one pathway a value of a label."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from symreln.spec.finding import Finding, nearest, quoted
from symreln.spec.model import Label, PathwayFamily
from symreln.spec.schema import MAX_PATHWAYS, PathwayModel

_TEMPLATES = ("gate", "inputs", "outputs")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")


class Entry(NamedTuple):
    """One pathway that was asked for.

    Attributes:
        place: Index of its table in the spec.
        model: The pathway, its texts filled in.
    """

    place: int
    model: PathwayModel


def expand(
    place: int, model: PathwayModel, labels: Mapping[str, tuple[Label, ...]]
) -> tuple[list[Entry], PathwayFamily | None]:
    """Return the pathways that an entry stands for; its family where it has ``each``.

    Args:
        place: Index of the table in the spec.
        model: The entry.
        labels: Labels of the samples.

    Raises:
        Finding: ``each`` names no label, or nothing depends on its value.
    """
    if model.each is None:
        return [Entry(place, model)], None
    values = _values(model, labels)
    gate = bare(model.gate, f"{{{model.each}}}") if isinstance(model.gate, str) else model.gate
    template = model.model_copy(update={"name": _name_template(model), "gate": gate})
    family = PathwayFamily(
        label=model.each,
        values=values,
        members=(),
        name=template.name,
        gate=str(gate).strip(),
        inputs=entry_text(model.inputs),
        outputs=entry_text(model.outputs),
        stage=model.stage,
    )
    return [Entry(place, _filled(template, value)) for value in values], family


def entry_text(value: object) -> str:
    """Return what the user wrote for a gate or for indices, as text in TOML's words."""
    if isinstance(value, str):
        return value.strip()
    entries: Sequence[object] = value  # type: ignore[assignment]
    written = [f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in entries]
    return f"[{', '.join(written)}]"


def _values(model: PathwayModel, labels: Mapping[str, tuple[Label, ...]]) -> tuple[Label, ...]:
    each = str(model.each)
    values = label_values(each, labels)
    mark = f"{{{each}}}"
    texts: Sequence[Any] = [getattr(model, key) for key in _TEMPLATES]
    if not any(isinstance(text, str) and mark in text for text in texts):
        raise Finding(
            found=f"an entry that is the same for every {each}",
            expected=f"{mark} in its gate, inputs or outputs",
            hint=f'For example: gate = "{each} != {mark}".',
        )
    return values


def label_values(each: str, labels: Mapping[str, tuple[Label, ...]]) -> tuple[Label, ...]:
    """Return the different values of a label, in their order.

    Raises:
        Finding: There is no such label, or it has too many values.
    """
    if each not in labels:
        hint = nearest(each, labels) or "Add labels: [dataset.labels]."
        expected = f"a label of the dataset ({', '.join(labels) or 'it has none'})"
        raise Finding(found=f"the unknown label {quoted(each)}", expected=expected, hint=hint)
    values = tuple(dict.fromkeys(labels[each]))
    if len(values) > MAX_PATHWAYS:
        found = f"a label of {len(values)} values"
        raise Finding(found=found, expected=f"at most {MAX_PATHWAYS}")
    return values


def _name_template(model: PathwayModel) -> str:
    mark = f"{{{model.each}}}"
    return model.name if mark in model.name else f"{model.name}_{mark}"


def _filled(model: PathwayModel, value: Label) -> PathwayModel:
    mark = f"{{{model.each}}}"
    texts: dict[str, Any] = {"name": model.name.replace(mark, str(value))}
    if isinstance(model.gate, str):
        texts["gate"] = filled_gate(model.gate, mark, value)
    texts["then"] = [
        switch.model_copy(update={"gate": filled_gate(bare(switch.gate, mark), mark, value)})
        if isinstance(switch.gate, str)
        else switch
        for switch in model.then
    ]
    for key in ("inputs", "outputs"):
        text = getattr(model, key)
        if isinstance(text, str):
            texts[key] = text.replace(mark, str(value))
    return model.model_copy(update=texts)


def bare(gate: str, mark: str) -> str:
    """Return a gate without the quotes around the mark: it stands for a value, quotes and all."""
    return "".join(
        mark if part[1:-1].strip() == mark and part[:1] in ("'", '"') else part
        for part in _QUOTED.split(gate)
    )


def filled_gate(gate: str, mark: str, value: Label) -> str:
    """Put a value for the mark: as a constant of the formula, or as characters inside a text."""
    escaped = re.sub(r"""([\\"'])""", r"\\\1", str(value))
    constant = str(value) if isinstance(value, int) else f'"{escaped}"'
    parts = _QUOTED.split(gate)
    inside = [part.replace(mark, escaped) for part in parts[1::2]]
    outside = [part.replace(mark, constant) for part in parts[::2]]
    filled = [outside[0]]
    for text, rest in zip(inside, outside[1:], strict=True):
        filled += [text, rest]
    return "".join(filled)
