"""Wrong specs and data files; what is said about each stands in ``messages.txt``.

``cases(folder)`` writes the files and yields what to load; the command line's tests use it too.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    """One wrong input.

    Attributes:
        name: Short and unique.
        source: Path of the spec, or a name.
    """

    name: str
    source: str


DATASET = '[dataset]\ntask = "contextual"\ncontexts = 3\n'
OWN = "[dataset]\nX = [[1, 0], [0, 1]]\nY = [[1, -1]]\n"
PATHWAY = '[[pathway]]\nname = "shared"\n'
NETWORK = '[network]\nhidden = 10\ninit_std = "1/100"\nlearning_rate = 0.1\nsteps = 5\n'


def own(rest: str) -> str:
    """Return a spec with a two-sample dataset of the user's own and something else."""
    return f"{OWN}{rest}\n{PATHWAY}"


def matrix(rows: str) -> str:
    """Return a spec whose X is this text."""
    return f"[dataset]\nX = {rows}\nY = [[1, -1]]\n{PATHWAY}"


def entry(formula: str) -> str:
    """Return a spec whose third line holds this formula."""
    return f"[dataset]\nX = [[1, 0],\n     ['{formula}', 1]]\nY = [[1, -1]]\n{PATHWAY}"


def gate(text: str) -> str:
    """Return a spec whose only pathway has this gate (TOML)."""
    return f"{DATASET}{PATHWAY}gate = {text}\n"


def network(line: str) -> str:
    """Return a spec with one line of [network] replaced."""
    key = line.split("=")[0].strip()
    kept = [old for old in NETWORK.splitlines() if old.split("=")[0].strip() != key]
    return OWN + PATHWAY + "\n".join([*kept, line]) + "\n"


def each(lines: str) -> str:
    """Return a spec of three contexts whose second entry has these lines (TOML)."""
    return f'{DATASET}{PATHWAY}[[pathway]]\nname = "off"\n{lines}\n'


def sized(lines: str, dataset: str = 'contexts = "C"') -> str:
    """Return a spec of the contextual task with these options, C declared with these lines."""
    head = f'[dataset]\ntask = "contextual"\n{dataset}\n'
    return f"{head}[parameters.C]\n{lines}\n{PATHWAY}"


WHOLE = "integer = true\nvalue = 3"


def parameter(lines: str) -> str:
    """Return a spec that uses c, declared like this."""
    return f'[dataset]\nX = [["c", 0], [0, 1]]\nY = [[1, -1]]\n[parameters.c]\n{lines}\n{PATHWAY}'


SPECS: tuple[tuple[str, str], ...] = (
    # -- shape of the file
    ("empty", ""),
    ("not-toml", "this is no spec"),
    ("unquoted-text", f"{PATHWAY}gate = context != 1\n"),
    ("pathway-single-brackets", f'{DATASET}[pathway]\nname = "a"\n'),
    ("network-number", f"network = 3\n{OWN}{PATHWAY}"),
    ("deep-lists", f"[dataset]\nX = {'[' * 3000}{']' * 3000}\n"),
    ("huge-integer", f"[dataset]\nX = [[{'9' * 300_000}]]\n"),
    # -- unknown keys, one a level
    ("key-top", f"datset = 1\n{own('')}"),
    ("key-dataset", f"{DATASET}itmes = 8\n{PATHWAY}"),
    ("key-own-dataset", f"{OWN}label = 1\n{PATHWAY}"),
    ("key-pathway", f"{OWN}{PATHWAY}gates = 'all'\n"),
    ("key-network", network("hiden = 3")),
    # -- missing
    ("no-dataset", PATHWAY),
    ("no-pathway", OWN),
    ("no-name", f"{OWN}[[pathway]]\ngate = 'all'\n"),
    ("no-data", f"[dataset]\n{PATHWAY}"),
    # -- tasks and their options
    ("task-unknown", f'[dataset]\ntask = "contextaul"\n{PATHWAY}'),
    ("items-six", f"{DATASET}items = 6\n{PATHWAY}"),
    (
        "items-too-many",
        f'[dataset]\ntask="contextual"\nitems=1024\ncontexts=64\n{PATHWAY}',
    ),
    ("structure", f'{DATASET}structures = "rign"\n{PATHWAY}'),
    (
        "structure-items",
        f'{DATASET}items = 4\nstructures = "ring"\n{PATHWAY}',
    ),
    # -- matrices
    ("ragged", matrix("[[1, 2], [3]]")),
    ("no-rows", matrix("[]")),
    ("samples-differ", matrix("[[1, 2, 3]]")),
    ("nan", matrix("[[nan, 1]]")),
    ("bool-entry", matrix("[[true, 1]]")),
    ("huge-float", matrix("[[1e1000000000, 1]]")),
    ("only-x", f"[dataset]\nX = [[1]]\n{PATHWAY}"),
    # -- formulas
    ("code-import", entry('__import__("os").system("true")')),
    ("code-call", entry("exec(1)")),
    ("tower", entry("9**9**9")),
    ("bits", entry("((9**60)**60)**60")),
    ("parentheses", entry("(" * 900 + "1" + ")" * 900)),
    ("long-formula", entry("1+" * 1500 + "1")),
    ("undeclared", entry("d + 1")),
    ("division", entry("1/(2-2)")),
    ("unbalanced", entry("(1+2")),
    ("implicit-product", entry("2 3")),
    ("unicode-name", entry("ｃ")),
    ("sqrt", entry("sqrt(2)")),
    ("formula-control", entry("1 \u202e+ 1")),
    ("terms", parameter("").replace('"c"', '"1/(c-1)**60 + 1/(c-2)**60"')),
    # -- parameters
    ("parameter-unused", own("[parameters.c]\nvalue = 1")),
    ("parameter-misspelt", parameter("").replace('"c"', '"cc"')),
    ("parameter-zero", parameter("positive = true\nvalue = 0")),
    ("parameter-range", parameter("minimum = 2\nmaximum = 1")),
    ("parameter-below", parameter("minimum = 2\nvalue = 1")),
    ("parameter-text", parameter('positive = "true"')),
    ("parameter-name", parameter("").replace("c", "Δ", 1) + '[parameters."Δ"]\n'),
    (
        "parameter-pole",
        parameter("value = 1").replace('"c"', '"1/(c-1)"'),
    ),
    # -- pathways
    ("name-twice", f"{OWN}{PATHWAY}{PATHWAY}"),
    ("name-bidi", f'{OWN}[[pathway]]\nname = "a\\u202eb"\n'),
    ("no-outputs", f"{OWN}{PATHWAY}outputs = []\n"),
    ("input-range", f"{OWN}{PATHWAY}inputs = [2]\n"),
    ("input-twice", f"{OWN}{PATHWAY}inputs = [1, 1]\n"),
    ("input-group", f"{DATASET}{PATHWAY}inputs = 'item'\n"),
    ("stage-zero", f"{OWN}{PATHWAY}stage = 0\n"),
    ("stage-gap", f"{OWN}{PATHWAY}stage = 2\n"),
    # -- one entry for every value of a label
    ("each-unknown", each("each = 'contxt'\ngate = 'context != {contxt}'")),
    ("each-no-mark", each("each = 'context'")),
    (
        "each-name",
        each("each = 'item'\ngate = 'item == {item}'\n[[pathway]]\nname = 'off_3'"),
    ),
    (
        "each-no-labels",
        f"{OWN}{PATHWAY}each = 'context'\ngate = 'context == {{context}}'\n",
    ),
    # -- sizes as symbols
    ("size-not-whole", sized("value = 3")),
    ("size-no-value", sized("integer = true")),
    ("size-below", sized(f"{WHOLE}\nminimum = 4")),
    ("size-twice", sized(WHOLE, 'contexts = "C"\nitems = "C"')),
    ("size-unused", sized(WHOLE, "contexts = 3")),
    ("size-own-data", own(f"[parameters.C]\n{WHOLE}")),
    (
        "size-root",
        sized(WHOLE, 'contexts = "C"\ncontext_scale = "sqrt(C)"'),
    ),
    (
        "size-pole",
        sized(WHOLE, 'contexts = "C"\ncontext_scale = "1/(C-3)"'),
    ),
    # -- gates
    ("gate-length", gate("[1, 0]")),
    ("gate-two", gate("[2]")),
    ("gain-name", gate('["g"]')),
    ("gain-zero", gate(str(["0"] * 24))),
    (
        "gain-pole",
        own("[parameters.g]\nvalue = 1") + 'gate = [1, "1/(g-1)"]\n',
    ),
    (
        "gain-closed",
        own("[parameters.g]\nvalue = 0") + 'gate = ["g", 0]\n',
    ),
    ("gate-closed", gate('"context == 9"')),
    ("gate-label", gate('"contxt == 1"')),
    ("gate-type", gate("'context == \"1\"'")),
    (
        "gate-text-order",
        own("labels = {kind = ['a', 'b']}") + "gate = 'kind < \"b\"'\n",
    ),
    (
        "gate-text-bare",
        own("labels = {kind = ['a', 'b']}") + "gate = 'kind == b'\n",
    ),
    ("gate-assignment", gate('"context = 1"')),
    ("gate-deep", gate(f'"{"(" * 400}context == 1"')),
    *(
        (f"gate-text-{place}", own("labels = {context = [1, 2], class = ['a', 'b']}") + line)
        for place, line in enumerate(
            f"gate = {json.dumps(text)}\n"
            for text in (
                "context == 1 2",
                "context ==",
                "context not 1",
                "context in 1",
                "context in (1, 'a')",
                "class == context",
                "context == True",
                "context == '1",
            )
        )
    ),
    # -- labels and groups
    ("label-length", own("labels = {kind = [1]}")),
    ("label-mixed", own("labels = {kind = [1, 'a']}")),
    ("label-name", own("labels = {'my kind' = [1, 2]}")),
    ("label-reserved", own("labels = {not = [1, 2]}")),
    ("group-range", own("groups = {inputs = {a = [5]}}")),
    ("group-all", own("groups = {inputs = {all = [0]}}")),
    # -- network and validation
    ("hidden-text", network('hidden = "10"')),
    ("steps-zero", network("steps = 0")),
    ("init-zero", network("init_std = 0")),
    ("rate-negative", network('learning_rate = "-1/2"')),
    ("loss", network('loss = "meen"')),
    ("tolerance", own("[validation]\ntolerance = 2\nreason = 'x'")),
    ("title-bidi", f'title = "a\\u2066b"\n{own("")}'),
)

NODES = (
    '[[node]]\nname = "in"\ninputs = "all"\n'
    '[[node]]\nname = "h"\nsize = 3\n'
    '[[node]]\nname = "out"\noutputs = "all"\n'
)
EDGES = '[[edge]]\nfrom = "in"\nto = "h"\n[[edge]]\nfrom = "h"\nto = "out"\n'
GRAPH = DATASET + NODES + EDGES


def switch(lines: str, rest: str = "") -> str:
    """Return a spec whose pathway takes other gates later, with a network of five steps."""
    return f"{DATASET}{PATHWAY}then = {lines}\n{rest}{NETWORK}"


GRAPHS: tuple[tuple[str, str], ...] = (
    # -- nodes and edges
    ("graph-and-pathway", GRAPH + PATHWAY),
    ("graph-no-edges", DATASET + NODES),
    ("graph-single-brackets", f'{DATASET}[node]\nname = "a"\n{EDGES}'),
    ("graph-key", GRAPH.replace("size", "sise")),
    ("graph-no-size", GRAPH.replace("size = 3\n", "")),
    ("graph-input-size", GRAPH.replace('inputs = "all"', 'inputs = "all"\nsize = 3')),
    ("graph-both", GRAPH.replace("size = 3", 'inputs = "all"\noutputs = "all"')),
    ("graph-node-twice", GRAPH.replace('name = "h"', 'name = "in"')),
    ("graph-edge-twice", GRAPH + '[[edge]]\nfrom = "in"\nto = "h"\n'),
    ("graph-unknown-end", GRAPH.replace('to = "h"', 'to = "hh"')),
    ("graph-to-input", GRAPH.replace('to = "out"', 'to = "in"')),
    ("graph-cycle", GRAPH + '[[edge]]\nfrom = "h"\nto = "h"\n'),
    ("graph-idle", GRAPH.replace(EDGES, "[[edge]]\nfrom = 'in'\nto = 'out'\n")),
    ("graph-gate", GRAPH.replace("size = 3", "size = 3\ngate = 'contxt == 1'")),
    (
        "graph-closed",
        GRAPH.replace("size = 3", "size = 3\ngate = 'context == 1'") + "gate = 'context == 2'\n",
    ),
    ("graph-each-name", GRAPH + "each = 'context'\ngate = 'context == {context}'\n"),
    ("graph-layers", GRAPH + network("layers = 3").split(PATHWAY)[1] + "activation = 'linear'\n"),
    # -- gates that are taken later, samples on the boundary, hidden units of one pathway
    ("then-number", switch("3")),
    ("then-step", switch('[{step = 0, gate = "all"}]')),
    ("then-order", switch('[{step = 3, gate = "all"}, {step = 2, gate = "all"}]')),
    ("then-late", switch('[{step = 5, gate = "context != 1"}]')),
    ("then-decay", switch('[{step = 2, gate = "context != 1"}]') + "weight_decay = 1\n"),
    ("then-sized", sized(WHOLE) + "then = [{step = 2, gate = 'context != 1'}]\n"),
    ("boundary-layers", f"{OWN}{PATHWAY}gate = ['/', 1]\n{NETWORK}layers = 3\n"),
    ("pathways-many", f"{OWN}" + PATHWAY * 1001),
    # -- combinations of keys for which there is no theory
    ("theory-decay", network("layers = 3") + "activation = 'linear'\nweight_decay = 0.1\n"),
    ("theory-two-stds", network("init_std = [1, 2]") + "activation = 'linear'\nlayers = 3\n"),
    ("theory-decay-two-stds", network("init_std = [1, 2]\nweight_decay = 0.1")),
    ("theory-relu", network("layers = 3")),
    (
        "theory-stages",
        f"{OWN}{PATHWAY}[[pathway]]\nname = 'b'\nstage = 2\n{NETWORK}weight_decay = 0.1\n",
    ),
    ("init-three", network("init_std = [1, 2, 3]")),
    ("tolerance-percent", own("[validation]\ntolerance = '5%%'\nreason = 'x'")),
    # -- the other tasks
    ("routing-partners", f"[dataset]\ntask = 'routing'\ndomains = 2\npartners = 3\n{PATHWAY}"),
    (
        "routing-large",
        f"[dataset]\ntask = 'routing'\ndomains = 32\npartners = 32\nitems = 64\n{PATHWAY}",
    ),
    ("hierarchy-items", f"[dataset]\ntask = 'linear-hierarchy'\nitems = 12\n{PATHWAY}"),
    ("parameters-many", own("".join(f"[parameters.c{i}]\n" for i in range(9)))),
)

RAW: tuple[tuple[str, bytes], ...] = (
    ("utf-16", own("").encode("utf-16")),
    ("latin-1", 'title = "é"\n'.encode("latin-1") + own("").encode()),
    ("too-large", b"# " + b"x" * (1 << 20) + b"\n"),
)

CSV = '[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n' + PATHWAY
TABLES: tuple[tuple[str, bytes, bytes], ...] = (
    ("csv-nan", b"1,2\nnan,4\n", b"1\n2\n"),
    ("csv-text", b"1,2\n3,four\n", b"1\n2\n"),
    ("csv-text-first", b"1,two\n3,4\n", b"1\n2\n"),
    ("csv-gap", b"1,2\n3,\n", b"1\n2\n"),
    ("csv-ragged", b"1,2\n3\n", b"1\n2\n"),
    ("csv-empty", b"", b"1\n"),
    ("csv-header-only", b"a,b\n", b"1\n"),
    ("csv-samples", b"1,2\n3,4\n", b"1\n"),
    ("csv-comma", b"1,5;2\n3,5;4\n", b"1\n2\n"),
    ("csv-zero", b"1,1/0\n", b"1\n"),
    ("csv-latin-1", b"1,2\n3,\xe9\n", b"1\n2\n"),
    ("csv-quote", b'1,"2\n', b"1\n"),
)


def npz(**arrays: np.ndarray) -> bytes:
    """Return the bytes of an NPZ file."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # pyright: ignore[reportArgumentType]
    return stream.getvalue()


X, Y = np.eye(2), np.ones((2, 1))


def _pickled() -> bytes:
    array = np.empty((1, 2), dtype=object)
    array[:] = [[{"a": 1}, print]]
    stream = io.BytesIO()
    np.savez(stream, X=array, Y=Y)
    return stream.getvalue()


NPZ = f'[dataset]\ndata = "d.npz"\n{PATHWAY}'
ARRAYS: tuple[tuple[str, Callable[[], bytes]], ...] = (
    ("npz-truncated", lambda: npz(X=X, Y=Y)[:200]),
    ("npz-text", lambda: b"1,2\n3,4\n"),
    ("npz-pickle", _pickled),
    ("npz-no-x", lambda: npz(Z=X, Y=Y)),
    ("npz-nan", lambda: npz(X=np.array([[1.0, np.nan]]), Y=Y)),
    ("npz-complex", lambda: npz(X=X + 1j, Y=Y)),
    ("npz-strings", lambda: npz(X=np.array([["1", "2"]]), Y=Y)),
    ("npz-vector", lambda: npz(X=X, Y=Y[:, 0])),
    ("npz-no-samples", lambda: npz(X=X[:0], Y=Y[:0])),
    ("npz-samples", lambda: npz(X=X, Y=np.ones((3, 1)))),
)

NAMES: tuple[tuple[str, str], ...] = (
    ("name-misspelt", "contextual3"),
    ("name-of-task", "contextual"),
    ("name-unknown", "zzz"),
    ("name-nul", "a\0b"),
)

#: Changes of a spec by ``--set`` that cannot be made.
OVERRIDES: tuple[str, ...] = (
    "network.hidden",
    "=3",
    "network hidden=3",
    "network.hidden=[1",
    'title="a',
    'title="a"\nhidden = 3',
    "title = ",
    "pathway[3].stage=1",
    "pathway.of_1.stage=1",
    "network[0]=1",
    "network.hidden.x=1",
    "a=" + "1" * 20_000,
)
OVERRIDDEN = {
    "network": {"hidden": 10},
    "pathway": [{"name": "common"}, {"name": "off 1", "stage": 2}],
    "dataset": {"structures": ["ring", "cross"]},
}


def cases(folder: Path) -> Iterator[Case]:
    """Write every wrong input below a folder and yield it.

    Args:
        folder: An empty folder; every case gets one of its own in it.
    """
    for name, text in (*SPECS, *GRAPHS):
        yield _written(folder, name, {"spec.toml": text.encode()})
    for name, data in RAW:
        yield _written(folder, name, {"spec.toml": data})
    for name, inputs, targets in TABLES:
        files = {"spec.toml": CSV.encode(), "x.csv": inputs, "y.csv": targets}
        yield _written(folder, name, files)
    for name, make in ARRAYS:
        yield _written(folder, name, {"spec.toml": NPZ.encode(), "d.npz": make()})
    for name, source in NAMES:
        yield Case(name, source)
    yield from _paths(folder)


def _written(folder: Path, name: str, files: dict[str, bytes]) -> Case:
    place = folder / name
    place.mkdir()
    for file, data in files.items():
        (place / file).write_bytes(data)
    return Case(name, str(place / "spec.toml"))


def _paths(folder: Path) -> Iterator[Case]:
    """Yield what is wrong about where things are."""
    yield Case("file-missing", str(folder / "ragged" / "spce.toml"))
    yield Case("folder-missing", str(folder / "none" / "spec.toml"))
    yield Case("spec-is-folder", str(folder / "ragged"))
    yield Case("spec-is-device", "/dev/zero")
    case = _written(folder, "link-loop", {"spec.toml": CSV.encode()})
    (folder / "link-loop" / "x.csv").symlink_to(folder / "link-loop" / "x.csv")
    yield case
    if hasattr(os, "mkfifo"):  # not on Windows
        case = _written(folder, "pipe", {"spec.toml": CSV.encode()})
        os.mkfifo(folder / "pipe" / "x.csv")
        yield case
    yield _written(folder, "csv-missing", {"spec.toml": CSV.encode(), "xx.csv": b"1\n"})
    spec = CSV.replace("x.csv", "\\u0000").encode()
    yield _written(folder, "csv-nul", {"spec.toml": spec})
