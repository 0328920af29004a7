"""Random specs, small and extreme, valid and not: what the fuzz campaign derives.

A spec is the tables that a TOML file holds. Every one is named by its seed.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

Tables = dict[str, Any]

SMALL = [0, 0, 0, 1, 1, 1, -1, -1, 2, -2, 3]
FRACTIONS = ["1/2", "-1/3", "2/7", "0.1", "-1.5", "0.30000000000000004", "22/7"]
HUGE = [10**12, "12345678901234567890", 2**62, "-9223372036854775809", "1e40", "1e250", "1e400"]
TINY = ["1e-9", "1/12345678901234567890", "-1e-40", "1e-250", "1e-400", "1/(2**62 + 1)"]
FORMULAS = ["a", "-a", "b", "a + 1", "a*b", "1/(a + 1)", "a**2 - b", "2*a", "b - 1", "(4 - 2)*a"]
GAINS = [1, 1, 0, "1/2", "-1", "g", "2*g", "g + 1", "3"]
#: What parameters are called that formulas call a, b and g: letters of the program among them.
LETTERS = ["a", "b", "g", "c", "t", "tau", "pi_0", "s_1_1", "d_1_1", "x", "E", "I", "lambda", "L"]
LETTERS += ["imbalance", "rho", "theta", "pitilde_1_1", "loss", "in", "numpy", "alpha_1"]
LETTERS += ["log_pi_0"]
WRONG = [None, "x +", "1/0", "nan", [], {}, True, "q", "1e99999", -(10**5000), "a b", "é", 1.5]


def random_tables(seed: int, *, extreme: bool = True) -> Tables:
    """Return the tables of the spec of this seed; about one in ten is not valid.

    Args:
        seed: Names the spec.
        extreme: Whether numbers may be as large or small as specs can hold, and matrices larger.
    """
    random = Random(seed)
    inputs, samples, outputs = (random.choice([1, 1, 2, 2, 3, 4]) for _ in range(3))
    samples = random.choice([samples, 2, 4, 6])
    if not extreme:
        inputs, samples, outputs = min(inputs, 2), min(samples, 3), min(outputs, 2)
    styles = ["huge", "tiny", "mixed"] if extreme else ["small"]
    style = random.choice(["small"] * 4 + ["fractions", "formulas", *styles] * 2)
    tables: Tables = {
        "dataset": {
            "X": _arranged(random, _matrix(random, inputs, samples, style)),
            "Y": _arranged(random, _matrix(random, outputs, samples, style)),
        }
    }
    if random.random() < 0.3:
        tables["dataset"]["labels"] = {"kind": [random.randint(1, 2) for _ in range(samples)]}
    tables["pathway"] = _pathways(random, tables, (inputs, samples, outputs))
    if random.random() < 0.85:
        tables["network"] = _network(random, extreme)
    names = _used(tables)
    if names:
        tables["parameters"] = {name: _parameter(random) for name in names}
    if random.random() < 0.1:
        _spoil(random, tables)
    return tables


def varied_tables(seed: int, *, extreme: bool = True) -> Tables:
    """Return the spec of a seed, often with other names of parameters or with a graph.

    These are drawn from a stream of their own, so that a seed keeps its spec.
    """
    random, tables = Random(f"varied {seed}"), random_tables(seed, extreme=extreme)
    if random.random() < 0.12:
        tables = {key: value for key, value in tables.items() if key != "pathway"}
        tables |= _graph(random)
        declared, used = tables.get("parameters"), _used(tables)
        if isinstance(declared, dict):
            tables["parameters"] = {name: each for name, each in declared.items() if name in used}
    if random.random() < 0.7:
        called = dict(zip("abg", random.sample(LETTERS, 3), strict=True))
        declared = tables.get("parameters")
        tables = _renamed(tables, called)
        if isinstance(declared, dict):
            tables["parameters"] = {called.get(name, name): one for name, one in declared.items()}
    return tables


def _used(tables: Tables) -> list[str]:
    """Return the parameters that data and gates of a spec depend on."""
    used = _toml([tables.get("dataset"), tables.get("pathway")])
    return [name for name in "abg" if any(f'"{f}"' in used for f in _formulas(name))]


def _renamed(value: Any, called: dict[str, str]) -> Any:
    """Return tables whose formulas call parameters otherwise."""
    if isinstance(value, dict):
        kept = ("name", "task", "loss", "activation", "training", "from", "to")
        return {k: v if k in kept else _renamed(v, called) for k, v in value.items()}
    if isinstance(value, list):
        return [_renamed(each, called) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\b[abg]\b", lambda match: called.get(match[0], match[0]), value)


def _graph(random: Random) -> Tables:
    """Return nodes in a row, each but the first with one to three edges from earlier ones."""
    inner = [f"n{number}" for number in range(random.choice([0, 1, 1, 2, 3]))]
    names = ["in", *inner, "out"]
    nodes = [{"name": "in", "inputs": "all"}, {"name": "out", "outputs": "all"}]
    nodes += [{"name": name, "size": random.choice([1, 2, 5, 20])} for name in inner]
    edges = [
        {"from": random.choice(names[:place]), "to": name, "name": f"e{place}_{number}"}
        for place, name in enumerate(names)
        if place
        for number in range(random.choice([1, 1, 2, 3]))
    ]
    return {"node": nodes, "edge": edges}


def _formulas(name: str) -> list[str]:
    return [f for f in [*FORMULAS, *map(str, GAINS)] if name in f.replace("sqrt", "")]


def _entry(random: Random, style: str) -> Any:
    choices = {
        "small": SMALL,
        "fractions": [*FRACTIONS, *SMALL],
        "huge": [*HUGE, *SMALL],
        "tiny": [*TINY, *SMALL],
        "formulas": [*FORMULAS, *SMALL, *SMALL],
        "mixed": [*SMALL, *FRACTIONS, *HUGE, *TINY, *FORMULAS],
    }
    return random.choice(choices[style])


def _matrix(random: Random, rows: int, columns: int, style: str) -> list[list[Any]]:
    return [[_entry(random, style) for _ in range(columns)] for _ in range(rows)]


def _arranged(random: Random, matrix: list[list[Any]]) -> list[list[Any]]:
    """Give a matrix structure, often: zero or equal rows and columns, or one-hot columns."""
    kind = random.choice(["as drawn"] * 3 + ["zero row", "zero column", "equal", "one-hot", "zero"])
    row, column = random.randrange(len(matrix)), random.randrange(len(matrix[0]))
    if kind == "zero row":
        matrix[row] = [0] * len(matrix[0])
    elif kind == "zero column":
        for line in matrix:
            line[column] = 0
    elif kind == "equal":
        matrix[row] = matrix[0]
        for line in matrix:
            line[column] = line[0]
    elif kind == "one-hot":
        return [
            [int(i == j % len(matrix)) for j in range(len(matrix[0]))] for i in range(len(matrix))
        ]
    elif kind == "zero" and random.random() < 0.3:
        return [[0] * len(matrix[0]) for _ in matrix]
    return [list(line) for line in matrix]


def _pathways(random: Random, tables: Tables, sizes: tuple[int, int, int]) -> list[Tables]:
    inputs, samples, outputs = sizes
    staged = random.random() < 0.3
    found = []
    for number in range(random.choice([1, 1, 2, 2, 3])):
        pathway: Tables = {"name": f"path_{number + 1}", "gate": _gate(random, tables, samples)}
        if staged:
            pathway["stage"] = random.choice([number + 1, 1, 2]) if number else 1
        if random.random() < 0.15:
            pathway["inputs"] = sorted(random.sample(range(inputs), random.randint(1, inputs)))
        if random.random() < 0.15:
            pathway["outputs"] = sorted(random.sample(range(outputs), random.randint(1, outputs)))
        if random.random() < 0.1:
            pathway["hidden"] = random.choice([1, 2, 5])
        if random.random() < 0.05 and not staged:
            gate = [random.randint(0, 1) for _ in range(samples)]
            pathway["then"] = [{"step": random.choice([1, 5, 20]), "gate": gate}]
        found.append(pathway)
    return found


def _gate(random: Random, tables: Tables, samples: int) -> Any:
    kind = random.random()
    if kind < 0.3:
        return "all"
    if kind < 0.4 and "labels" in tables["dataset"]:
        return random.choice(["kind == 1", "kind != 1"])
    if kind < 0.6:
        return [random.choice(GAINS) for _ in range(samples)]
    return [random.randint(0, 1) for _ in range(samples)]


def _network(random: Random, extreme: bool) -> Tables:
    deviations = ["1/1000", "1/100", "1e-5", 0.1, 1, "1e-40", "1e-400", "1e400", "12345678901"]
    usual = 0.7 if extreme else 1
    network: Tables = {
        "hidden": random.choice([1, 1, 2, 3, 20, 50]),
        "init_std": random.choice(deviations[:4] if random.random() < usual else deviations),
        "learning_rate": random.choice(
            ["1/100", "1/10", 0.05] * 4 + ["10", "1e-30", "1e-400", "1e400", "1e20"]
        ),
        "steps": random.choice([1, 10, 40, 40]),
        "loss": random.choice(["sum", "mean"]),
        "activation": random.choice(["relu", "linear"]),
    }
    unusual = random.random()
    if unusual < 0.06:
        network["weight_decay"] = random.choice(["1/100", "1e-30", "1"])
    elif unusual < 0.12:
        network |= {"layers": random.choice([1, 3, 4]), "activation": "linear"}
    elif unusual < 0.18:
        network["init_std"] = [random.choice(deviations), random.choice(deviations)]
    if random.random() < 0.2:
        network["training"] = random.choice(["joint", "staged"])
    return network


def _parameter(random: Random) -> Tables:
    return random.choice(
        [
            {"value": "9/7"},
            {"value": 2, "positive": True},
            {"value": "1/2", "nonnegative": True},
            {"value": 1, "minimum": "1/3", "maximum": 3},
            {"positive": True},
            {"value": "1e30", "positive": True},
            {"value": 0},
        ]
    )


def _spoil(random: Random, tables: Tables) -> None:
    """Put something wrong at a random place, or take something away."""
    place: Any = tables
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = random.choice(keys)
        if isinstance(place[key], dict | list) and random.random() < 0.8:
            place = place[key]
        elif random.random() < 0.3:
            del place[key]
            return
        else:
            place[key] = random.choice(WRONG)
            return


def toml_of(tables: Tables) -> str:
    """Return the tables as TOML; what TOML cannot say (null) becomes an empty text."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in tables.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, int) and abs(value) >= 2**63:
        return hex(value) if value > 0 else '"-1"'
    return json.dumps("" if value is None else value, ensure_ascii=False)
