"""Wrong specs and data files; what is said about each stands in ``messages.txt``.

``cases(folder)`` writes the files and yields what to load; the command line's tests use it too.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
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


def made(of: Callable[[str], str], texts: dict[str, str]) -> list[tuple[str, str]]:
    """Return named specs of one kind."""
    return [(name, of(text)) for name, text in texts.items()]


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
    ("empty", ""), ("blank", " \n\n"), ("not-toml", "this is no spec"),
    ("unclosed-list", "[dataset]\nX = [[1, 2]\n"),
    ("unquoted-text", f"{PATHWAY}gate = context != 1\n"),
    ("key-twice", '[dataset]\ntask = "xor"\ntask = "iris"\n'),
    ("table-twice", '[dataset]\ntask = "xor"\n[dataset]\n'),
    ("pathway-single-brackets", f'{DATASET}[pathway]\nname = "a"\n'),
    ("dataset-double-brackets", f'[[dataset]]\ntask = "xor"\n{PATHWAY}'),
    ("network-number", f"network = 3\n{OWN}{PATHWAY}"),
    ("deep-lists", f"[dataset]\nX = {'[' * 3000}{']' * 3000}\n"),
    ("deep-tables", f"x = {'{a=' * 3000}1{'}' * 3000}\n"), ("long-key", f"{'a.' * 200}b = 1\n"),
    ("very-long-key", f"{'a.' * 400_000}b = 1\n"),
    ("huge-integer", f"[dataset]\nX = [[{'9' * 300_000}]]\n"),
    ("date", f"title = 2020-01-01\n{OWN}{PATHWAY}"),
    # -- unknown keys, one a level
    ("key-top", f"datset = 1\n{own('')}"), ("key-dataset", f"{DATASET}itmes = 8\n{PATHWAY}"),
    ("key-own-dataset", f"{OWN}label = 1\n{PATHWAY}"),
    ("key-pathway", f"{OWN}{PATHWAY}gates = 'all'\n"), ("key-network", network("hiden = 3")),
    ("key-parameter", parameter("postive = true")),
    ("key-validation", own("[validation]\ntolerence = 1\nreason = 'x'")),
    ("key-groups", own("[dataset.groups]\ninput = {a = [0]}")),
    # -- missing
    ("no-dataset", PATHWAY), ("no-pathway", OWN), ("find-other", own('[gates]\nfind = "network"')),
    ("find-key", own("[gates]\nmethod = 1")),
    ("find-beside", own(f'[gates]\nfind = "data"\n{NETWORK}')),
    ("find-found", own(f'[gates]\nfind = "data"\nfound = "data"\n{NETWORK}')),
    ("found-nothing", f'{OWN}[gates]\nfound = "data"\n{NETWORK}'),
    ("find-graph", f'{OWN}[gates]\nfind = "data"\n[[node]]\nname = "a"\n{NETWORK}'),
    ("find-again-decay", own(f'[gates]\nfound = "data"\n{NETWORK}weight_decay = 1')),
    ("find-again", own('[gates]\nfound = "data"')),
    *(
        (f"find-{key}", f"{OWN}[network]\nhidden=2\ninit_std=1\nlearning_rate=1\nsteps=9\n{told}")
        for key, told in (
            ("linear", 'activation = "linear"'),
            ("decay", "weight_decay = 1"),
            ("layers", 'layers = 3\nactivation = "linear"'),
            ("start", "strength0 = 1"),
            ("without-value", "[parameters.a]\npositive = true"),
        )
    ),
    ("no-name", f"{OWN}[[pathway]]\ngate = 'all'\n"),
    ("no-hidden", own("[network]\ninit_std=1\nlearning_rate=1\nsteps=1")),
    ("no-contexts", f'[dataset]\ntask = "contextual"\n{PATHWAY}'),
    ("no-data", f"[dataset]\n{PATHWAY}"), ("no-reason", own("[validation]\ntolerance = 0.1")),
    # -- tasks and their options
    ("task-unknown", f'[dataset]\ntask = "contextaul"\n{PATHWAY}'),
    ("task-spec-name", f'[dataset]\ntask = "contextual-3"\n{PATHWAY}'),
    ("task-number", f"[dataset]\ntask = 3\n{PATHWAY}"),
    ("items-six", f"{DATASET}items = 6\n{PATHWAY}"),
    ("items-huge", f"{DATASET}items = 1000000\n{PATHWAY}"),
    (
        "items-too-many",
        f'[dataset]\ntask="contextual"\nitems=1024\ncontexts=64\n{PATHWAY}',
    ),
    ("structure", f'{DATASET}structures = "rign"\n{PATHWAY}'),
    ("structure-count", f'{DATASET}structures = ["ring"]\n{PATHWAY}'),
    (
        "structure-items",
        f'{DATASET}items = 4\nstructures = "ring"\n{PATHWAY}',
    ),
    ("structure-entry", f'{DATASET}structures = ["ring", 2, "cross"]\n{PATHWAY}'),
    ("xor-option", f'[dataset]\ntask = "xor"\ndelta = 1\n{PATHWAY}'),
    ("iris-option", f'[dataset]\ntask = "iris"\nitems = 1\n{PATHWAY}'),
    # -- matrices
    *made(matrix, {
        "ragged": "[[1, 2], [3]]", "no-rows": "[]", "empty-row": "[[], []]", "flat": "[1, 2]",
        "matrix-text": '"1 2"', "samples-differ": "[[1, 2, 3]]", "nan": "[[nan, 1]]",
        "inf": "[[1, -inf]]", "bool-entry": "[[true, 1]]", "date-entry": "[[2020-01-01, 1]]",
        "huge-float": "[[1e1000000000, 1]]", "huge-exponent": f"[[1e{'9' * 5000}, 1]]",
    }),
    ("only-x", f"[dataset]\nX = [[1]]\n{PATHWAY}"),
    ("two-forms", f'{OWN}data = "d.npz"\n{PATHWAY}'),
    ("header-without-csv", f"{OWN}header = true\n{PATHWAY}"),
    # -- formulas
    *made(entry, {
        "code-import": '__import__("os").system("true")', "code-attribute": "c.__class__",
        "code-lambda": "lambda: 1", "code-walrus": "(c := 1)", "code-fstring": 'f"{1}"',
        "code-call": "exec(1)", "code-list": "[1]*9", "code-if": "1 if 1 else 2",
        "tower": "9**9**9", "power-huge": "(1+1)**1000000000000", "power-fraction": "2**0.5",
        "bits": "((9**60)**60)**60", "digits": "1e1000000000",
        "parentheses": "(" * 900 + "1" + ")" * 900, "signs": "-" * 1500 + "1",
        "long-formula": "1+" * 1500 + "1", "undeclared": "d + 1", "division": "1/(2-2)",
        "unbalanced": "(1+2", "caret": "2^3", "implicit-product": "2 3", "comma": "1,5",
        "underscore": "1_000", "hexadecimal": "0x10", "unicode-name": "ｃ",
        "unicode-minus": "1 − 2", "sqrt": "sqrt(2)", "formula-empty": "",
        "formula-control": "1 \u202e+ 1",
    }),
    ("terms", parameter("").replace('"c"', '"1/(c-1)**60 + 1/(c-2)**60"')),
    # -- parameters
    ("parameter-unused", own("[parameters.c]\nvalue = 1")),
    ("parameter-misspelt", parameter("").replace('"c"', '"cc"')),
    *made(parameter, {
        "parameter-zero": "positive = true\nvalue = 0",
        "parameter-negative": "nonnegative = true\nvalue = -1",
        "parameter-range": "minimum = 2\nmaximum = 1", "parameter-below": "minimum = 2\nvalue = 1",
        "parameter-above": "maximum = 2\nvalue = 3", "parameter-formula": 'value = "c"',
        "parameter-bool": "value = true", "parameter-text": 'positive = "true"',
    }),
    ("parameter-name", parameter("").replace("c", "Δ", 1) + '[parameters."Δ"]\n'),
    ("parameter-reserved", own("[parameters.tau]\nvalue = 1")),
    (
        "parameter-pole",
        parameter("value = 1").replace('"c"', '"1/(c-1)"'),
    ),
    ("parameter-table", own("parameters.c = 1")),
    # -- pathways
    ("name-twice", f"{OWN}{PATHWAY}{PATHWAY}"), ("name-empty", f"{OWN}[[pathway]]\nname = ' '\n"),
    ("name-number", f"{OWN}[[pathway]]\nname = 1\n"),
    ("name-long", f"{OWN}[[pathway]]\nname = '{'a' * 81}'\n"),
    ("name-control", f'{OWN}[[pathway]]\nname = "a\\u0007b"\n'),
    ("name-bidi", f'{OWN}[[pathway]]\nname = "a\\u202eb"\n'),
    ("no-inputs", f"{OWN}{PATHWAY}inputs = []\n"), ("no-outputs", f"{OWN}{PATHWAY}outputs = []\n"),
    ("input-range", f"{OWN}{PATHWAY}inputs = [2]\n"),
    ("input-negative", f"{OWN}{PATHWAY}inputs = [-1]\n"),
    ("input-twice", f"{OWN}{PATHWAY}inputs = [1, 1]\n"),
    ("input-text", f"{OWN}{PATHWAY}inputs = ['0']\n"),
    ("input-group", f"{DATASET}{PATHWAY}inputs = 'item'\n"),
    ("output-group", f"{DATASET}{PATHWAY}outputs = 'contxt_1'\n"),
    ("stage-zero", f"{OWN}{PATHWAY}stage = 0\n"), ("stage-float", f"{OWN}{PATHWAY}stage = 1.0\n"),
    ("stage-gap", f"{OWN}{PATHWAY}stage = 2\n"),
    # -- one entry for every value of a label
    ("each-unknown", each("each = 'contxt'\ngate = 'context != {contxt}'")),
    ("each-number", each("each = 1")), ("each-no-mark", each("each = 'context'")),
    ("each-list", each(f"each = 'context'\ngate = {[1] * 24}")),
    ("each-mark", each("each = 'item'\ngate = 'context != {context}'")),
    ("each-brace", each("gate = 'context != {context}'")),
    (
        "each-name",
        each("each = 'item'\ngate = 'item == {item}'\n[[pathway]]\nname = 'off_3'"),
    ),
    (
        "each-closed",
        f"{DATASET}{PATHWAY}[[pathway]]\nname = 'a'\neach = 'item'\n"
        "gate = 'item == {item} and context == 9'\n",
    ),
    ("each-group", each("each = 'item'\noutputs = 'context_{item}'")),
    (
        "each-no-labels",
        f"{OWN}{PATHWAY}each = 'context'\ngate = 'context == {{context}}'\n",
    ),
    # -- sizes as symbols
    ("size-undeclared", sized(WHOLE, 'contexts = "D"')),
    *made(sized, {
        "size-not-whole": "value = 3", "size-no-value": "integer = true",
        "size-half": "integer = true\nvalue = 2.5", "size-minimum-half": f"{WHOLE}\nminimum = 1.5",
        "size-below": f"{WHOLE}\nminimum = 4", "size-huge": "integer = true\nvalue = 65",
    }),
    ("size-items", sized(WHOLE, 'contexts = 3\nitems = "C"')),
    ("size-twice", sized(WHOLE, 'contexts = "C"\nitems = "C"')),
    ("size-unused", sized(WHOLE, "contexts = 3")),
    ("size-in-quotes", sized(WHOLE, 'contexts = "3"')),
    ("size-text", sized("integer = 'true'\nvalue = 3")),
    ("size-formula", sized(WHOLE, 'contexts = "C+1"')),
    ("size-own-data", own(f"[parameters.C]\n{WHOLE}")),
    (
        "size-other-task",
        f'[dataset]\ntask = "linear-hierarchy"\nitems = "C"\n[parameters.C]\n{WHOLE}\n{PATHWAY}',
    ),
    (
        "size-root",
        sized(WHOLE, 'contexts = "C"\ncontext_scale = "sqrt(C)"'),
    ),
    (
        "size-pole",
        sized(WHOLE, 'contexts = "C"\ncontext_scale = "1/(C-3)"'),
    ),
    # -- gates
    *made(gate, {
        "gate-length": "[1, 0]", "gate-two": "[2]", "gate-bool": "[true]", "gain-name": '["g"]',
        "gain-nan": "[nan]", "gain-nested": "[[1]]", "gain-zero": str(["0"] * 24),
        "gain-code": '["exec(1)"]',
    }),
    (
        "gain-pole",
        own("[parameters.g]\nvalue = 1") + 'gate = [1, "1/(g-1)"]\n',
    ),
    (
        "gain-closed",
        own("[parameters.g]\nvalue = 0") + 'gate = ["g", 0]\n',
    ),
    ("gate-number", gate("1")), ("gate-closed", gate('"context == 9"')),
    ("gate-closed-list", gate(str([0] * 24))), ("gate-label", gate('"contxt == 1"')),
    ("gate-no-labels", f"{OWN}{PATHWAY}gate = 'context == 1'\n"),
    ("gate-type", gate("'context == \"1\"'")),
    (
        "gate-text-order",
        own("labels = {kind = ['a', 'b']}") + "gate = 'kind < \"b\"'\n",
    ),
    (
        "gate-text-bare",
        own("labels = {kind = ['a', 'b']}") + "gate = 'kind == b'\n",
    ),
    *made(gate, {
        "gate-bare": '"context"', "gate-assignment": '"context = 1"', "gate-list-text": '"1, 0, 1"',
        "gate-code": "'__import__(\"os\")'", "gate-empty": '""',
        "gate-deep": f'"{"(" * 400}context == 1"', "gate-huge": f'"context == {"9" * 500}"',
    }),
    *(
        (f"gate-text-{place}", own("labels = {context = [1, 2], class = ['a', 'b']}") + line)
        for place, line in enumerate(
            f"gate = {json.dumps(text)}\n"
            for text in (
                "context == 1 2",
                "context ==",
                "context not 1",
                "context == (not 1)",
                "context in 1",
                "context in (1",
                "context in (1]",
                "context in (context)",
                "(context == 1",
                "context in (1, 'a')",
                "class == context",
                "context == 1.5",
                "context == True",
                "~(context == 1)",
                "context == '1",
                "context == 1; context",
            )
        )
    ),
    # -- labels and groups
    ("label-length", own("labels = {kind = [1]}")),
    ("label-mixed", own("labels = {kind = [1, 'a']}")),
    ("label-float", own("labels = {kind = [1.5, 2]}")),
    ("label-bool", own("labels = {kind = [true, false]}")),
    ("label-name", own("labels = {'my kind' = [1, 2]}")),
    ("label-reserved", own("labels = {not = [1, 2]}")),
    ("label-control", own('labels = {kind = ["a\\u0000", "b"]}')),
    ("label-long", own(f"labels = {{kind = ['{'a' * 201}', 'b']}}")),
    ("group-range", own("groups = {inputs = {a = [5]}}")),
    ("group-all", own("groups = {inputs = {all = [0]}}")),
    # -- network and validation
    *made(network, {
        "hidden-negative": "hidden = -1", "hidden-bool": "hidden = true",
        "hidden-float": "hidden = 10.0", "hidden-text": 'hidden = "10"',
        "hidden-huge": "hidden = 100000000", "steps-zero": "steps = 0", "init-zero": "init_std = 0",
        "init-name": 'init_std = "c"', "rate-negative": 'learning_rate = "-1/2"',
        "rate-nan": "learning_rate = nan", "loss": 'loss = "meen"',
        "activation": 'activation = "tanh"', "training": 'training = "both"',
    }),
    ("tolerance", own("[validation]\ntolerance = 2\nreason = 'x'")),
    ("title-number", f"title = 1\n{own('')}"), ("title-bidi", f'title = "a\\u2066b"\n{own("")}'),
)  # fmt: skip

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
    ("graph-and-pathway", GRAPH + PATHWAY), ("graph-no-edges", DATASET + NODES),
    ("graph-no-nodes", DATASET + EDGES),
    ("graph-single-brackets", f'{DATASET}[node]\nname = "a"\n{EDGES}'),
    ("graph-key", GRAPH.replace("size", "sise")),
    ("graph-edge-key", GRAPH.replace("to =", "too =", 1)),
    ("graph-size-text", GRAPH.replace("size = 3", 'size = "3"')),
    ("graph-no-size", GRAPH.replace("size = 3\n", "")),
    ("graph-input-size", GRAPH.replace('inputs = "all"', 'inputs = "all"\nsize = 3')),
    ("graph-both", GRAPH.replace("size = 3", 'inputs = "all"\noutputs = "all"')),
    ("graph-node-twice", GRAPH.replace('name = "h"', 'name = "in"')),
    ("graph-edge-twice", GRAPH + '[[edge]]\nfrom = "in"\nto = "h"\n'),
    ("graph-unknown-end", GRAPH.replace('to = "h"', 'to = "hh"')),
    ("graph-from-output", GRAPH.replace('from = "in"', 'from = "out"')),
    ("graph-to-input", GRAPH.replace('to = "out"', 'to = "in"')),
    ("graph-cycle", GRAPH + '[[edge]]\nfrom = "h"\nto = "h"\n'),
    ("graph-no-way-in", GRAPH.replace("from = \"in\"\nto = \"h\"", "from = 'in'\nto = 'out'")),
    ("graph-no-way-out", GRAPH.replace("from = \"h\"", "from = 'in'")),
    ("graph-idle", GRAPH.replace(EDGES, "[[edge]]\nfrom = 'in'\nto = 'out'\n")),
    ("graph-group", GRAPH.replace('outputs = "all"', 'outputs = "contxt_1"')),
    ("graph-gate", GRAPH.replace("size = 3", "size = 3\ngate = 'contxt == 1'")),
    ("graph-edge-gate", GRAPH + "gate = [1, 0]\n"),
    (
        "graph-closed",
        GRAPH.replace("size = 3", "size = 3\ngate = 'context == 1'") + "gate = 'context == 2'\n",
    ),
    ("graph-name", GRAPH.replace('"in"', '" "')),
    ("graph-edge-name", GRAPH + f"name = '{'a' * 300}'\n"),
    ("graph-each", GRAPH + "each = 'contxt'\n"),
    ("graph-many", DATASET + "[[node]]\nname = 'a'\n" * 1001 + EDGES),
    ("graph-layers", GRAPH + network("layers = 3").split(PATHWAY)[1] + "activation = 'linear'\n"),
    # -- gates that are taken later, samples on the boundary, hidden units of one pathway
    ("then-number", switch("3")), ("then-step", switch('[{step = 0, gate = "all"}]')),
    ("then-key", switch('[{stp = 1, gate = "all"}]')),
    ("then-closed", switch('[{step = 2, gate = "context == 9"}]')),
    ("then-empty", switch('[{gate = "all"}, {step = 4}, 9]')),
    ("then-order", switch('[{step = 3, gate = "all"}, {step = 2, gate = "all"}]')),
    ("then-late", switch('[{step = 5, gate = "context != 1"}]')),
    ("then-gate", switch('[{step = 2, gate = "contxt != 1"}]')),
    ("then-gain", switch(f"[{{step = 2, gate = {['1/2'] * 24}}}]")),
    ("then-boundary", switch('[{step = 2, gate = "all"}]', f"gate = {['/', *[1] * 23]}\n")),
    ("then-decay", switch('[{step = 2, gate = "context != 1"}]') + "weight_decay = 1\n"),
    ("then-sized", sized(WHOLE) + "then = [{step = 2, gate = 'context != 1'}]\n"),
    ("boundary-layers", f"{OWN}{PATHWAY}gate = ['/', 1]\n{NETWORK}layers = 3\n"),
    ("hidden-of-one", f"{OWN}{PATHWAY}hidden = 0\n"),
    ("hidden-of-one-text", own("") + "hidden = '3'\n"),
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
    ("theory-sized", sized(WHOLE) + NETWORK + "weight_decay = 0.1\n"),
    ("theory-hidden", f"{OWN}{PATHWAY}hidden = 2\n{NETWORK}weight_decay = 0.1\n"),
    ("decay-negative", network("weight_decay = -1")), ("layers-zero", network("layers = 0")),
    ("init-three", network("init_std = [1, 2, 3]")),
    ("init-list-zero", network("init_std = [1, 0]")),
    ("tolerance-percent", own("[validation]\ntolerance = '5%%'\nreason = 'x'")),
    # -- the other tasks
    ("routing-partners", f"[dataset]\ntask = 'routing'\ndomains = 2\npartners = 3\n{PATHWAY}"),
    (
        "routing-large",
        f"[dataset]\ntask = 'routing'\ndomains = 32\npartners = 32\nitems = 64\n{PATHWAY}",
    ),
    ("hierarchy-items", f"[dataset]\ntask = 'linear-hierarchy'\nitems = 12\n{PATHWAY}"),
    ("structure-number", f"{DATASET}structures = 3\n{PATHWAY}"),
    ("parameters-many", own("".join(f"[parameters.c{i}]\n" for i in range(9)))),
    ("parameter-half-open", parameter("minimum = 1\nmaximum = 'x'")),
)  # fmt: skip

RAW: tuple[tuple[str, bytes], ...] = (
    ("utf-16", own("").encode("utf-16")),
    ("latin-1", 'title = "é"\n'.encode("latin-1") + own("").encode()),
    ("binary", b"\x7fELF\x00\x00\xff" + bytes(range(256))),
    ("nul", b"title = '\x00'\n"),
    ("too-large", b"# " + b"x" * (1 << 20) + b"\n"),
)

CSV = '[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n' + PATHWAY
TABLES: tuple[tuple[str, bytes, bytes], ...] = (
    ("csv-nan", b"1,2\nnan,4\n", b"1\n2\n"), ("csv-inf", b"a,b\n1,inf\n", b"1\n"),
    ("csv-text", b"1,2\n3,four\n", b"1\n2\n"), ("csv-header-narrow", b"a\n1,two\n", b"1\n"),
    ("csv-text-first", b"1,two\n3,4\n", b"1\n2\n"), ("csv-gap", b"1,2\n3,\n", b"1\n2\n"),
    ("csv-empty-cells", b"1,2\n,\n3,4\n", b"1\n2\n"), ("csv-mark-only", b"\xef\xbb\xbf", b"1\n"),
    ("csv-blank", b"\n \n", b"1\n"), ("csv-ragged", b"1,2\n3\n", b"1\n2\n"),
    ("csv-empty", b"", b"1\n"), ("csv-header-only", b"a,b\n", b"1\n"),
    ("csv-samples", b"1,2\n3,4\n", b"1\n"), ("csv-comma", b"1,5;2\n3,5;4\n", b"1\n2\n"),
    ("csv-code", b"1,=1+1\n", b"1\n"), ("csv-formula", b"1,2*3\n", b"1\n"),
    ("csv-zero", b"1,1/0\n", b"1\n"), ("csv-huge", b"1,1e999999999\n", b"1\n"),
    ("csv-utf-16", "1,2\n".encode("utf-16"), b"1\n"), ("csv-latin-1", b"1,2\n3,\xe9\n", b"1\n2\n"),
    ("csv-binary", b"1,2\x00\n", b"1\n"), ("csv-quote", b'1,"2\n', b"1\n"),
    ("csv-field", b"1," + b"9" * 200_000 + b"\n", b"1\n"),
)  # fmt: skip


def npz(**arrays: np.ndarray) -> bytes:
    """Return the bytes of an NPZ file."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # pyright: ignore[reportArgumentType]
    return stream.getvalue()


def npz_of_members(**members: bytes) -> bytes:
    """Return a zip file with these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return stream.getvalue()


def npy_header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    """Return the header of an array that is not there."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


X, Y = np.eye(2), np.ones((2, 1))


def _pickled() -> bytes:
    array = np.empty((1, 2), dtype=object)
    array[:] = [[{"a": 1}, print]]
    stream = io.BytesIO()
    np.savez(stream, X=array, Y=Y)
    return stream.getvalue()


def _patched_size() -> bytes:
    """Return an archive that says one of its members unpacks to 3 GB."""
    data = bytearray(npz_of_members(X=npy_header((2, 2)) + X.tobytes(), Y=b"0"))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 3_000_000_000)
    return bytes(data)


def _two_of_one_name() -> bytes:
    stream = io.BytesIO()
    body = npy_header((2, 2)) + X.tobytes()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", body)
        archive.writestr("X", body)
    return stream.getvalue()


NPZ = f'[dataset]\ndata = "d.npz"\n{PATHWAY}'
ARRAYS: tuple[tuple[str, Callable[[], bytes]], ...] = (
    ("npz-truncated", lambda: npz(X=X, Y=Y)[:200]),
    ("npz-half-array", lambda: npz_of_members(X=npy_header((2, 2)) + b"0" * 8, Y=b"")),
    ("npz-empty", lambda: b""), ("npz-text", lambda: b"1,2\n3,4\n"),
    ("npz-crc", lambda: npz(X=X, Y=Y).replace(X.tobytes(), X.tobytes()[::-1])),
    ("npz-pickle", _pickled), ("npz-bomb", lambda: npz_of_members(X=bytes(80 << 20), Y=b"")),
    ("npz-says-large", _patched_size),
    ("npz-header-large", lambda: npz_of_members(X=npy_header((10**9, 10**9)))),
    ("npz-header-long", lambda: npz_of_members(X=npy_header((2,) * 9000))),
    ("npz-header-code", lambda: npz_of_members(X=npy_header((2, 2), "__import__('os')"))),
    ("npz-no-x", lambda: npz(Z=X, Y=Y)), ("npz-no-y", lambda: npz(X=X)),
    ("npz-nan", lambda: npz(X=np.array([[1.0, np.nan]]), Y=Y)),
    ("npz-inf", lambda: npz(X=X, Y=np.array([[-np.inf], [np.inf]]))),
    ("npz-complex", lambda: npz(X=X + 1j, Y=Y)),
    ("npz-strings", lambda: npz(X=np.array([["1", "2"]]), Y=Y)),
    ("npz-vector", lambda: npz(X=X, Y=Y[:, 0])), ("npz-cube", lambda: npz(X=X[None], Y=Y)),
    ("npz-no-samples", lambda: npz(X=X[:0], Y=Y[:0])),
    ("npz-samples", lambda: npz(X=X, Y=np.ones((3, 1)))),
    ("npz-many", lambda: npz(**{f"a{i}": Y for i in range(20)})), ("npz-twice", _two_of_one_name),
)  # fmt: skip

NAMES: tuple[tuple[str, str], ...] = (
    ("name-misspelt", "contextual3"), ("name-of-task", "contextual"), ("name-unknown", "zzz"),
    ("name-blank", ""), ("name-nul", "a\0b"), ("name-endless", "a" * 5000),
)  # fmt: skip

#: Changes of a spec by ``--set`` that cannot be made.
OVERRIDES: tuple[str, ...] = (
    "network.hidden", "=3", ".hidden=3", "network.=3", "network hidden=3", "network[x]=3",
    "network.hidden=[1", 'title="a', 'title="a"\nhidden = 3', "title = ", "pathway[3].stage=1",
    "pathway[9999999].stage=1", "pathway.of_1.stage=1", "network[0]=1", "network.hidden.x=1",
    f"{'a.' * 100}b=1", "a=" + "1" * 20_000,
)  # fmt: skip
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
    outside = folder / "secret.csv"
    outside.write_text("1\n2\n")
    for name, file in (("traversal", "../secret.csv"), ("absolute", str(outside))):
        spec = CSV.replace("x.csv", file)
        yield _written(folder, name, {"spec.toml": spec.encode(), "y.csv": b"1\n2\n"})
    case = _written(folder, "link", {"spec.toml": CSV.encode(), "y.csv": b"1\n2\n"})
    (folder / "link" / "x.csv").symlink_to(outside)
    yield case
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
