"""Specs of our own: every law, verdict level, switch, graph and family.

Small where training is compared, so that the whole set takes minutes.
"""

from __future__ import annotations

from typing import Any

Tables = dict[str, Any]

SMALL = {"hidden": 12, "init_std": "1/100", "learning_rate": "1/20", "steps": 301}
HIERARCHY = {"task": "linear-hierarchy", "items": 4}
CONTEXTS = {"task": "contextual", "items": 4, "contexts": 3, "context_scale": "c"}
SCALE = {"c": {"positive": True, "value": 1}}
SIZES = {
    "c": {"positive": True, "value": 1},
    "C": {"integer": True, "minimum": 2, "value": 3},
}
BOTH_SIZES = {**SIZES, "n": {"integer": True, "minimum": 2, "value": 4}}
OFF = {
    "name": "off_{context}",
    "each": "context",
    "gate": "context != {context}",
    "inputs": "items",
    "stage": 2,
}
COMMON = {"name": "common", "gate": "all"}
ALL = [{"name": "shared", "gate": "all"}]


def own(x: list[list[Any]], y: list[list[Any]], *pathways: Tables, **more: Any) -> Tables:
    """A spec of matrices; ``network`` overrides keys of the small network."""
    network = {**SMALL, **more.pop("network", {})}
    return {
        "dataset": {"X": x, "Y": y},
        "pathway": list(pathways) or ALL,
        "network": network,
    } | more


def task(dataset: Tables, *pathways: Tables, **more: Any) -> Tables:
    """A spec of a named task."""
    network = {**SMALL, **more.pop("network", {})}
    return {"dataset": dataset, "pathway": list(pathways) or ALL, "network": network} | more


def hierarchy(**network: Any) -> Tables:
    """The linear hierarchy with keys of the network replaced."""
    return task(HIERARCHY, network={"activation": "linear", **network})


def contexts(*pathways: Tables, dataset: Tables | None = None, **more: Any) -> Tables:
    """The contextual task of four items and three contexts."""
    return task(CONTEXTS | (dataset or {}), *pathways, **{"parameters": SCALE, **more})


def path(name: str, gate: Any = "all", **more: Any) -> Tables:
    """A pathway."""
    return {"name": name, "gate": gate, **more}


def chain(*gates: Any, **network: Any) -> Tables:
    """Parallel chains of three edges from all inputs to all outputs, one a gate."""
    nodes = [{"name": "x", "inputs": "all"}, {"name": "y", "outputs": "all"}]
    edges = []
    for n, gate in enumerate(gates):
        nodes += [{"name": f"a{n}", "gate": gate}, {"name": f"b{n}"}]
        edges += [
            {"from": "x", "to": f"a{n}"},
            {"from": f"a{n}", "to": f"b{n}"},
            {"from": f"b{n}", "to": "y"},
        ]
    return {
        "dataset": {"X": UNIT, "Y": [[3, 0, 1], [0, 2, 0]]},
        "node": nodes,
        "edge": edges,
        "network": {**SMALL, "hidden": 6, "init_std": "1/10", "learning_rate": "1/10", **network},
    }


UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
XOR = [[1, 1, -1, -1], [1, -1, 1, -1]]
XOR_X = [*XOR, ["Delta", "-Delta", "-Delta", "Delta"]]
DELTA = {"Delta": {"nonnegative": True, "value": "1/2"}}
SAMPLES = [path(f"s{k}", [int(k == j) for j in range(4)]) for k in range(4)]
CLOSED = [path("one", [1, 1, 0]), path("two", [0, 1, 1])]

#: Specs of our own, by name.
OWN: dict[str, Tables] = {
    # families
    "contexts-C": contexts(COMMON, OFF, dataset={"contexts": "C"}, parameters=SIZES),
    "contexts-C-n": contexts(
        COMMON, OFF, dataset={"contexts": "C", "items": "n"}, parameters=BOTH_SIZES
    ),
    "ring-C": contexts(
        COMMON, OFF, dataset={"contexts": "C", "structures": "ring", "items": 8}, parameters=SIZES
    ),
    "cross-C": contexts(
        COMMON, OFF, dataset={"contexts": "C", "structures": "cross", "items": 8}, parameters=SIZES
    ),
    "joint-C": contexts(
        OFF | {"stage": 1},
        dataset={"contexts": "C"},
        parameters=SIZES,
        network={"training": "joint"},
    ),
    # verdict levels
    "closed": own(UNIT, [[2, 0, 1], [0, 1, 0]]),
    "closed-by-symmetry": contexts(COMMON, OFF),
    "equal-couplings": own(UNIT, [[1, 0, 2], [0, 3, 0]], *CLOSED),
    "coupled-modes": own(
        [[1, -1, 0, -1], [1, 1, 1, 0], [0, 0, 1, 1]],
        [[0, 1, -1, 0], [0, -1, 0, 1], [-1, 0, 0, 0]],
        path("one", [1, 0, 1, 1], outputs=[0]),
        path("two", [0, 0, 1, 0]),
    ),
    "coupled-matrices": own([[2, 0, 1], [1, 1, 0]], [[1, 1, 0], [0, 1, 2]], *CLOSED),
    "no-eigenbasis": own([[1, 1], [0, 1]], [[1, 0]]),
    "leaves-the-span": own(
        UNIT,
        [[0, 1, -1], [2, -1, 0], [-1, 0, 2]],
        path("one", [1, 1, 0]),
        path("two", [0, 1, 1]),
    ),
    "drives-a-null-mode": own(UNIT, [[1, 0, 2]], path("one"), path("two", [1, 0, 0])),
    "mixes-equal-modes": own(
        UNIT, [[2, 0, -1], [2, 1, 0]], path("one", [1, 1, 0]), path("two", [1, 1, 1])
    ),
    "skew": own(
        [[1, 0, 1, 0], [0, 1, 0, 1]],
        [[1, 2, 0, 1], [-2, 1, 1, 0]],
        path("one", [1, 1, 1, 0]),
        path("two", [0, 1, 1, 1]),
    ),
    "degenerate": own(UNIT, UNIT, path("one", [1, 1, 0]), path("two", [1, 1, 1])),
    "irrational": own([[1, 2], [2, 1], [0, 1]], [[1, 0], [1, 1]]),
    "cubic": own(
        [[1, 0, 0, 1], [0, 2, 0, 1], [0, 0, 1, 1]], [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    ),
    # laws
    "one-layer": hierarchy(layers=1),
    "three-layers": hierarchy(layers=3, init_std="1/5"),
    "five-layers": hierarchy(layers=5, init_std="1/4"),
    "unequal": hierarchy(init_std=["1/100", "1/10"]),
    "decay": hierarchy(weight_decay="1/100"),
    "decay-above-s": hierarchy(weight_decay="1/2"),
    "odd-relu": own([[1, -1, 0, 0], [0, 0, 1, -1]], [[2, -2, 1, -1]]),
    "large-start": hierarchy(init_std="1/2"),
    # stages
    "residual-same-outputs": own(
        UNIT, [[2, 1, 0], [1, 3, 1]], path("one", [1, 1, 0]), path("two", [0, 1, 1], stage=2)
    ),
    "three-stages": contexts(
        COMMON, OFF, path("fine", "context == 1 and item in (1, 2)", inputs="items", stage=3)
    ),
    "joint": contexts(COMMON, OFF, network={"training": "joint"}),
    # parameters
    "xor-own": own(XOR_X, [[1, -1, -1, 1]], *SAMPLES, parameters=DELTA),
    "one-parameter": own(
        [[1, 0, "a"], [0, 1, 1]], [["a", 1, 0]], parameters={"a": {"positive": True, "value": 2}}
    ),
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
    "switch-contexts": contexts(
        path("one", "all", then=[{"step": 120, "gate": "context != 1"}]),
        path(
            "two",
            "context == 2",
            then=[{"step": 60, "gate": "all"}, {"step": 200, "gate": "context != 3"}],
        ),
    ),
    "switch-coupled": own(
        [[2, 0, 1], [1, 1, 0]],
        [[1, 1, 0], [0, 1, 2]],
        path("one", [1, 1, 0], then=[{"step": 50, "gate": [1, 1, 1]}]),
        path("two", [0, 1, 1]),
    ),
    # widths
    "narrow": hierarchy(hidden=2),
    "narrow-pathway": contexts(COMMON | {"hidden": 3}, OFF, network={"hidden": 8}),
    # graphs
    "chain": chain("all", activation="linear"),
    "two-chains": chain([1, 1, 0], [0, 1, 1], activation="linear"),
    "graph-of-edges": {
        "dataset": {"X": [[1, 0, 2, 1], [0, 1, 1, -2]], "Y": [[1, 0, 3, 0], [0, 1, 1, 1]]},
        "node": [
            {"name": "x", "inputs": "all"},
            {"name": "a", "size": 2, "gate": [1, 1, 0, 0]},
            {"name": "b", "size": 2, "gate": [0, 0, 1, 1]},
            {"name": "y", "outputs": "all"},
        ],
        "edge": [
            {"from": "x", "to": "a"},
            {"from": "a", "to": "y"},
            {"from": "x", "to": "b"},
            {"from": "b", "to": "y"},
        ],
        "network": SMALL,
    },
    "small-routing": {
        "dataset": {"task": "routing", "domains": 3, "partners": 2, "items": 2},
        "node": [
            {
                "name": "in_{source}",
                "each": "source",
                "inputs": "source_{source}",
                "gate": "source == {source}",
            },
            {"name": "first"},
            {"name": "second"},
            {
                "name": "out_{target}",
                "each": "target",
                "outputs": "target_{target}",
                "gate": "target == {target}",
            },
        ],
        "edge": [
            {"name": "read_{source}", "each": "source", "from": "in_{source}", "to": "first"},
            {"name": "route", "from": "first", "to": "second"},
            {"name": "write_{target}", "each": "target", "from": "second", "to": "out_{target}"},
        ],
        "network": {
            "hidden": 8,
            "init_std": "1/10",
            "learning_rate": "1/20",
            "loss": "sum",
            "steps": 101,
        },
    },
    # hostile: refused, or numbers beyond floats
    "nothing-to-learn": own(
        [[1, 0], [0, 1]], [[0, 1]], path("one", [1, 0]), path("two", "all", stage=2)
    ),
    "beyond-floats": own([["1e400", 1], [2, 3]], [[1, "1e-250"]]),
    "long-integers": own([["1", "12345678901234567890"]], [[1, 2]], path("one", [1, "9/7"])),
    "jumps": own(
        UNIT,
        [[2, 1, 0]],
        path("one", ["g", 1, 0]),
        path("two", "all", stage=2),
        parameters={"g": {"value": 0}},
    ),
}
