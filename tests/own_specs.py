"""Specs of our own: every law, verdict level, switch and graph, small."""

from __future__ import annotations

from typing import Any

Tables = dict[str, Any]

SMALL = {"hidden": 12, "init_std": "1/100", "learning_rate": "1/20", "steps": 301}
#: For a linear network, whose loss is the mean over samples.
LINEAR = SMALL | {"loss": "mean", "activation": "linear"}
HIERARCHY = {"task": "linear-hierarchy", "items": 4}
CONTEXTS = {"task": "contextual", "items": 4, "contexts": 3, "context_scale": "c"}
SCALE = {"c": {"positive": True, "value": 1}}
OFF = {
    "name": "off_{context}",
    "each": "context",
    "gate": "context != {context}",
    "inputs": "items",
    "stage": 2,
}
ALL = [{"name": "shared", "gate": "all"}]


def own(x: list[list[Any]], y: list[list[Any]], *pathways: Tables, **more: Any) -> Tables:
    """A spec of matrices; ``network`` overrides keys of the small network."""
    data = {"X": x, "Y": y} | {key: more.pop(key) for key in ("labels", "groups") if key in more}
    return task(data, *pathways, **more)


def task(dataset: Tables, *pathways: Tables, **more: Any) -> Tables:
    """A spec of a named task."""
    network = {**SMALL, **more.pop("network", {})}
    return {"dataset": dataset, "pathway": list(pathways) or ALL, "network": network} | more


def hierarchy(**network: Any) -> Tables:
    """The linear hierarchy with keys of the network replaced."""
    return task(HIERARCHY, network={"activation": "linear", **network})


def path(name: str, gate: Any = "all", **more: Any) -> Tables:
    """A pathway."""
    return {"name": name, "gate": gate, **more}


def drawn(edges: str, data: Tables, gates: Tables | None = None, **network: Any) -> Tables:
    """A graph of edges "from to", from nodes x to nodes y; gates by node and by edge."""
    ends = [text.split() for text in edges.split(", ")]
    kinds = {"x": {"inputs": "all"}, "y": {"outputs": "all"}}
    gated = {each: {"gate": gate} for each, gate in (gates or {}).items()}
    names = dict.fromkeys(name for end in ends for name in end)
    return {
        "dataset": data,
        "node": [{"name": n} | kinds.get(n[0], {}) | gated.get(n, {}) for n in names],
        "edge": [{"from": a, "to": b} | gated.get(f"{a} {b}", {}) for a, b in ends],
        "network": SMALL | network,
    }


UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
THREE = {"X": UNIT, "Y": [[3, 0, 1], [0, 2, 0]]}
CHAIN = {"hidden": 6, "init_std": "1/10", "learning_rate": "1/10", "activation": "linear"}
CLOSED = [path("one", [1, 1, 0]), path("two", [0, 1, 1])]

#: Specs of our own, by name.
OWN: dict[str, Tables] = {
    # verdict levels
    "closed": own(UNIT, [[2, 0, 1], [0, 1, 0]]),
    "equal-couplings": own(UNIT, [[1, 0, 2], [0, 3, 0]], *CLOSED),
    "coupled-modes": own(
        [[1, -1, 0, -1], [1, 1, 1, 0], [0, 0, 1, 1]],
        [[0, 1, -1, 0], [0, -1, 0, 1], [-1, 0, 0, 0]],
        path("one", [1, 0, 1, 1], outputs=[0]),
        path("two", [0, 0, 1, 0]),
    ),
    "coupled-matrices": own([[2, 0, 1], [1, 1, 0]], [[1, 1, 0], [0, 1, 2]], *CLOSED),
    # laws
    "one-layer": hierarchy(layers=1),
    "three-layers": hierarchy(layers=3, init_std="1/5"),
    "five-layers": hierarchy(layers=5, init_std="1/4"),
    "unequal": hierarchy(init_std=["1/100", "1/10"]),
    "decay": hierarchy(weight_decay="1/100"),
    "decay-above-s": hierarchy(weight_decay="1/2"),
    "odd-relu": own([[1, -1, 0, 0], [0, 0, 1, -1]], [[2, -2, 1, -1]]),
    # stages
    "residual-same-outputs": own(
        UNIT, [[2, 1, 0], [1, 3, 1]], path("one", [1, 1, 0]), path("two", [0, 1, 1], stage=2)
    ),
    "three-stages": task(
        CONTEXTS,
        ALL[0],
        OFF,
        path("fine", "context == 1 and item in (1, 2)", inputs="items", stage=3),
        parameters=SCALE,
    ),
    # parameters
    "no-values": own(
        UNIT, [["a", 0, 1], [0, "b", 0]], parameters={"a": {"positive": True}, "b": {}}
    ),
    "gains": own(
        UNIT,
        [[2, 0, 1], [0, 1, 0]],
        path("one", ["1/2", "g", 1]),
        parameters={"g": {"positive": True, "value": 2}},
    ),
    "boundary": own([[1, 0, 1], [0, 1, 1]], [[1, 2, 0]], path("one", [1, "/", "1/2"])),
    # switches
    "switch-disjoint": own(
        UNIT,
        [[2, 0, 1], [0, 1, 0]],
        path("one", [1, 1, 0], then=[{"step": 100, "gate": [0, 0, 1]}]),
    ),
    # widths
    "narrow": hierarchy(hidden=2),
    # graphs
    "chain": drawn("x a, a b, b y", THREE, **CHAIN),
    "two-chains": drawn(
        "x a, a b, b y, x c, c d, d y", THREE, {"a": [1, 1, 0], "c": [0, 1, 1]}, **CHAIN
    ),
}
