"""``each = "context"``: one entry of the spec that stands for one pathway a value of a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from symreln.spec.finding import Finding, nearest, quoted
from symreln.spec.model import Label, PathwayFamily
from symreln.spec.schema import MAX_PATHWAYS, PathwayModel

_TEMPLATES = ("gate", "inputs", "outputs")


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
    template = model.model_copy(update={"name": _name_template(model)})
    family = PathwayFamily(
        label=model.each,
        values=values,
        members=(),
        name=template.name,
        gate=str(model.gate).strip(),
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
    if each not in labels:
        hint = nearest(each, labels) or "Add labels: [dataset.labels]."
        expected = f"a label of the dataset ({', '.join(labels) or 'it has none'})"
        raise Finding(found=f"the unknown label {quoted(each)}", expected=expected, hint=hint)
    mark = f"{{{each}}}"
    texts: Sequence[Any] = [getattr(model, key) for key in _TEMPLATES]
    if not any(isinstance(text, str) and mark in text for text in texts):
        raise Finding(
            found=f"an entry that is the same for every {each}",
            expected=f"{mark} in its gate, inputs or outputs",
            hint=f'For example: gate = "{each} != {mark}".',
        )
    values = tuple(dict.fromkeys(labels[each]))
    if len(values) > MAX_PATHWAYS:
        found = f"a label of {len(values)} values"
        raise Finding(found=found, expected=f"at most {MAX_PATHWAYS} pathways")
    return values


def _name_template(model: PathwayModel) -> str:
    mark = f"{{{model.each}}}"
    return model.name if mark in model.name else f"{model.name}_{mark}"


def _filled(model: PathwayModel, value: Label) -> PathwayModel:
    mark = f"{{{model.each}}}"
    texts: dict[str, Any] = {"name": model.name.replace(mark, str(value))}
    if isinstance(model.gate, str):
        texts["gate"] = model.gate.replace(mark, _constant(value))
    for key in ("inputs", "outputs"):
        text = getattr(model, key)
        if isinstance(text, str):
            texts[key] = text.replace(mark, str(value))
    return model.model_copy(update=texts)


def _constant(value: Label) -> str:
    """Write a label's value as gate formulas read it."""
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
