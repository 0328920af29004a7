"""A checked spec written again, as TOML whose reading gives the same data, gates and network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from symreln.errors import NotSupportedError
from symreln.networks.pathway import PathwaySpec
from symreln.specs.kinds import BOUNDARY
from symreln.specs.spec import Dataset, Spec, ValidationSpec


def spec_toml(spec: Spec) -> str:
    """Return a spec as the text of a file: data as exact matrices, gates sample by sample.

    How it was written is not kept: a task's options, formulas of gates, names of groups in
    pathways.

    Raises:
        NotSupportedError: Sizes of its task are symbols, or it has nodes and edges.
    """
    if spec.sizes or spec.graph is not None:
        kept = "nodes and edges" if spec.graph is not None else "sizes that are symbols"
        msg = f"a Spec with {kept} cannot be written as TOML. Give the file or the name of it"
        raise NotSupportedError(msg)
    parts = [f"title = {_value(spec.title)}"]
    for heading, table in _tables(spec):
        lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if _given(value)]
        parts += ["\n".join([heading, *lines])] if lines else []
    return "\n\n".join(parts) + "\n"


def _tables(spec: Spec) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield headings and their keys; what is empty, false or None there is as if left out."""
    data, network, validation = spec.dataset, spec.network, spec.validation
    matrices = {"X": data.inputs, "Y": data.targets}
    yield "[dataset]", {key: [tuple(row) for row in each.rows()] for key, each in matrices.items()}
    yield "[dataset.labels]", data.labels
    yield "[dataset.groups.inputs]", data.input_groups
    yield "[dataset.groups.outputs]", data.output_groups
    yield "[dataset.names]", {"inputs": data.input_names, "outputs": data.output_names}
    for p in spec.parameters:
        keys = ("positive", "nonnegative", "minimum", "maximum", "value")
        yield f"[parameters.{p.name}]", {key: getattr(p, key) for key in keys}
    for pathway in spec.pathways:
        yield "[[pathway]]", _pathway(pathway, data)
    if network is not None:
        told = {key: getattr(network, key) for key in network.keys if key != "init_std_out"}
        yield "[network]", told | ({"init_std": network.stds} if network.init_std_out else {})
    if validation != ValidationSpec():
        yield "[validation]", {"tolerance": validation.tolerance, "reason": validation.reason}


def _pathway(pathway: PathwaySpec, data: Dataset) -> dict[str, Any]:
    on = frozenset(pathway.boundary)
    gate = tuple(BOUNDARY if place in on else gain for place, gain in enumerate(pathway.gate))
    inputs = pathway.inputs if len(pathway.inputs) < data.n_x else None
    outputs = pathway.outputs if len(pathway.outputs) < data.n_y else None
    return {
        **{"name": pathway.name, "gate": gate, "inputs": inputs, "outputs": outputs},
        **{"stage": pathway.stage, "hidden": pathway.hidden},
        "then": [{"step": each.step, "gate": each.gate} for each in pathway.then],
    }


def _given(value: Any) -> bool:
    return value is not None and value is not False and value not in ((), [], {})


def _key(key: str) -> str:
    bare = key.replace("_", "").replace("-", "")
    return key if bare.isascii() and bare.isalnum() else _value(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true"
        case int():
            return str(value)
        case list():
            return "".join(["[\n", *(f"  {_value(each)},\n" for each in value), "]"])
        case tuple():
            return f"[{', '.join(map(_value, value))}]"
        case Mapping():
            return (
                f"{{{', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())}}}"
            )
    text = value if isinstance(value, str) else str(value).replace("^", "**")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
