"""Specs with size symbols, as tables; variants of contextual-C."""

from __future__ import annotations

from typing import Any

#: What every pathway of a context is, unless said otherwise.
OFF = {
    "name": "off",
    "each": "context",
    "gate": "context != {context}",
    "inputs": "items",
    "stage": 2,
}


def tables(
    *,
    items: Any = 8,
    contexts: Any = "C",
    structures: str = "hierarchy",
    scale: str = "c",
    pathways: list[dict[str, Any]] | None = None,
    value: int = 3,
    joint: bool = False,
) -> dict[str, Any]:
    """Return the tables of a contextual spec with sizes as symbols."""
    parameters: dict[str, Any] = {"c": {"positive": True, "value": 1}}
    if contexts == "C":
        parameters["C"] = {"integer": True, "minimum": 2, "value": value}
    if items == "n":
        parameters["n"] = {"integer": True, "minimum": 2, "value": 4}
    return {
        "dataset": {
            "task": "contextual",
            "items": items,
            "contexts": contexts,
            "structures": structures,
            "context_scale": scale,
        },
        "parameters": parameters,
        "pathway": [{"name": "common", "gate": "all"}, OFF] if pathways is None else pathways,
        "network": {
            "hidden": 10,
            "init_std": "1/1000",
            "learning_rate": "1/1000",
            "steps": 10,
            "training": "joint" if joint else "staged",
        },
    }


def off(**changes: Any) -> list[dict[str, Any]]:
    """Return the two pathways with the second one changed; None drops a key."""
    changed = {key: value for key, value in (OFF | changes).items() if value is not None}
    return [{"name": "common", "gate": "all"}, changed]


COMMON_ITEMS = [{"name": "common", "gate": "all", "inputs": "items"}, OFF | {"inputs": "all"}]

#: Entries of these actions between inputs of third contexts are not 0 where there are none.
THIRD = [OFF | {"inputs": "contexts", "outputs": "common", "stage": 1}]

#: Every kind of result: trees, listed items, closed, by symmetry, open, irrational modes.
EXAMPLES: dict[str, dict[str, Any]] = {
    "tree": tables(),
    "tree, items too": tables(items="n"),
    "items alone": tables(items="n", contexts=3, pathways=[{"name": "common", "gate": "all"}]),
    "items, two contexts": tables(items="n", contexts=2, pathways=off(inputs=None)),
    "scale with a size": tables(scale="c/C"),
    "all inputs": tables(pathways=off(inputs=None)),
    "own context": tables(pathways=off(gate="context == {context}")),
    "own context and outputs": tables(
        pathways=off(gate="context == {context}", outputs="context_{context}")
    ),
    "joint training": tables(pathways=off(stage=1), joint=True),
    "open stage": tables(pathways=COMMON_ITEMS),
    "no multiple": tables(pathways=[OFF | {"stage": 1}], joint=True),
    "cross": tables(structures="cross"),
    "no eigenbasis": tables(structures="ring"),
    "irrational": tables(items=4, pathways=off(gate="context != {context} and item in (1, 2, 3)")),
}
