"""Wrong specs and data files, each with a part of the message that it must end in.

``cases(folder)`` writes the files and yields what to load; the command line's tests use it too.
The fragment names the place or the mend, so that a message that only says "no" fails.
"""

from __future__ import annotations

import io
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
        fragment: What the message must contain.
    """

    name: str
    source: str
    fragment: str


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


SPECS: tuple[tuple[str, str, str], ...] = (
    # -- shape of the file
    ("empty", "", "symreln tasks"),
    ("blank", " \n\n", "an empty file"),
    ("not-toml", "this is no spec", ":1: found TOML that does not parse"),
    ("unclosed-list", "[dataset]\nX = [[1, 2]\n", "needs its ]"),
    ("unquoted-text", f"{PATHWAY}gate = context != 1\n", "Texts and formulas need quotes"),
    ("key-twice", '[dataset]\ntask = "xor"\ntask = "iris"\n', "given twice"),
    ("table-twice", '[dataset]\ntask = "xor"\n[dataset]\n', "given twice"),
    ("pathway-single-brackets", f'{DATASET}[pathway]\nname = "a"\n', "Double the brackets"),
    ("dataset-double-brackets", f'[[dataset]]\ntask = "xor"\n{PATHWAY}', "a table: [dataset]"),
    ("network-number", f"network = 3\n{OWN}{PATHWAY}", "a table: [network]"),
    ("deep-lists", f"[dataset]\nX = {'[' * 3000}{']' * 3000}\n", "nested too deep"),
    ("deep-tables", f"x = {'{a=' * 3000}1{'}' * 3000}\n", "nested too deep"),
    ("long-key", f"{'a.' * 200}b = 1\n", "a key of more than 64 parts in line 1"),
    ("very-long-key", f"{'a.' * 400_000}b = 1\n", "a key of more than 64 parts"),
    ("huge-integer", f"[dataset]\nX = [[{'9' * 300_000}]]\n", "Rescale the data"),
    ("date", f"title = 2020-01-01\n{OWN}{PATHWAY}", "the date or time 2020-01-01"),
    # -- unknown keys, one a level
    ("key-top", f"datset = 1\n{own('')}", 'Did you mean "dataset"?'),
    ("key-dataset", f"{DATASET}itmes = 8\n{PATHWAY}", 'Did you mean "items"?'),
    ("key-own-dataset", f"{OWN}label = 1\n{PATHWAY}", 'Did you mean "labels"?'),
    ("key-pathway", f"{OWN}{PATHWAY}gates = 'all'\n", 'Did you mean "gate"?'),
    ("key-network", network("hiden = 3"), 'Did you mean "hidden"?'),
    ("key-parameter", parameter("postive = true"), 'Did you mean "positive"?'),
    ("key-validation", own("[validation]\ntolerence = 1\nreason = 'x'"), '"tolerance"?'),
    ("key-groups", own("[dataset.groups]\ninput = {a = [0]}"), 'Did you mean "inputs"?'),
    # -- missing
    ("no-dataset", PATHWAY, "dataset: found nothing"),
    ("no-pathway", OWN, 'name = "shared"'),
    ("no-name", f"{OWN}[[pathway]]\ngate = 'all'\n", "pathway[0].name: found nothing"),
    ("no-hidden", own("[network]\ninit_std=1\nlearning_rate=1\nsteps=1"), "Add hidden = "),
    ("no-contexts", f'[dataset]\ntask = "contextual"\n{PATHWAY}', "Add contexts = "),
    ("no-data", f"[dataset]\n{PATHWAY}", "found no data"),
    ("no-reason", own("[validation]\ntolerance = 0.1"), "the reason for this tolerance"),
    # -- tasks and their options
    ("task-unknown", f'[dataset]\ntask = "contextaul"\n{PATHWAY}', 'Did you mean "contextual"?'),
    ("task-spec-name", f'[dataset]\ntask = "contextual-3"\n{PATHWAY}', '"contextual"?'),
    ("task-number", f"[dataset]\ntask = 3\n{PATHWAY}", "Known: linear-hierarchy"),
    ("items-six", f"{DATASET}items = 6\n{PATHWAY}", "4 and 8 are near"),
    ("items-huge", f"{DATASET}items = 1000000\n{PATHWAY}", "a power of two from 2 to 1024"),
    (
        "items-too-many",
        f'[dataset]\ntask="contextual"\nitems=1024\ncontexts=64\n{PATHWAY}',
        "Use fewer",
    ),
    ("structure", f'{DATASET}structures = "rign"\n{PATHWAY}', 'Did you mean "ring"?'),
    ("structure-count", f'{DATASET}structures = ["ring"]\n{PATHWAY}', "1 name for 3 contexts"),
    (
        "structure-items",
        f'{DATASET}items = 4\nstructures = "ring"\n{PATHWAY}',
        "items = 8 for ring",
    ),
    ("structure-entry", f'{DATASET}structures = ["ring", 2, "cross"]\n{PATHWAY}', "structures[1]"),
    ("xor-option", f'[dataset]\ntask = "xor"\ndelta = 1\n{PATHWAY}', 'Did you mean "Delta"?'),
    ("iris-option", f'[dataset]\ntask = "iris"\nitems = 1\n{PATHWAY}', 'unknown key "items"'),
    # -- matrices
    ("ragged", matrix("[[1, 2], [3]]"), "dataset.X[1]: found a row of 1 entry; expected 2"),
    ("no-rows", matrix("[]"), "found no rows"),
    ("empty-row", matrix("[[], []]"), "an empty row"),
    ("flat", matrix("[1, 2]"), "dataset.X[0]: found 1; expected a row"),
    ("matrix-text", matrix('"1 2"'), "a list of rows"),
    ("samples-differ", matrix("[[1, 2, 3]]"), "Samples are columns"),
    ("nan", matrix("[[nan, 1]]"), "dataset.X[0][0]"),
    ("inf", matrix("[[1, -inf]]"), "remove the sample, or fill the gap in"),
    ("bool-entry", matrix("[[true, 1]]"), "dataset.X[0][0]: found true"),
    ("date-entry", matrix("[[2020-01-01, 1]]"), "dataset.X[0][0]: found the date"),
    ("huge-float", matrix("[[1e1000000000, 1]]"), "at most 1200 digits"),
    ("huge-exponent", matrix(f"[[1e{'9' * 5000}, 1]]"), "at most 1200 digits"),
    ("only-x", f"[dataset]\nX = [[1]]\n{PATHWAY}", "It belongs to X"),
    ("two-forms", f'{OWN}data = "d.npz"\n{PATHWAY}', "Keep one of them"),
    ("delimiter-without-csv", f'{OWN}delimiter = ","\n{PATHWAY}', "no delimiter without CSV"),
    # -- formulas
    ("code-import", entry('__import__("os").system("true")'), ":3: dataset.X[1][0]"),
    ("code-attribute", entry("c.__class__"), "dataset.X[1][0]"),
    ("code-lambda", entry("lambda: 1"), "dataset.X[1][0]"),
    ("code-walrus", entry("(c := 1)"), 'the character ":"'),
    ("code-fstring", entry('f"{1}"'), "dataset.X[1][0]"),
    ("code-call", entry("exec(1)"), "The only function is sqrt"),
    ("code-list", entry("[1]*9"), 'the character "["'),
    ("code-if", entry("1 if 1 else 2"), "an operator or the end"),
    ("tower", entry("9**9**9"), "the exponent 387420489"),
    ("power-huge", entry("(1+1)**1000000000000"), "a whole exponent from -64 to 64"),
    ("power-fraction", entry("2**0.5"), "no whole number"),
    ("bits", entry("((9**60)**60)**60"), "bits"),
    ("digits", entry("1e1000000000"), "at most 1200 digits"),
    ("parentheses", entry("(" * 900 + "1" + ")" * 900), "levels of nesting"),
    ("signs", entry("-" * 1500 + "1"), "levels of nesting"),
    ("long-formula", entry("1+" * 1500 + "1"), "at most 2000"),
    ("undeclared", entry("d + 1"), "Declare it: [parameters.d]"),
    ("division", entry("1/(2-2)"), "a division by zero"),
    ("unbalanced", entry("(1+2"), 'expected ")" for the "(" at character 1'),
    ("caret", entry("2^3"), "Write ** for a power"),
    ("implicit-product", entry("2 3"), "Write * for a product"),
    ("comma", entry("1,5"), "Write a decimal point"),
    ("underscore", entry("1_000"), 'the character "_"'),
    ("hexadecimal", entry("0x10"), '"x10" at character 2'),
    ("unicode-name", entry("ｃ"), "dataset.X[1][0]"),
    ("unicode-minus", entry("1 − 2"), "the ASCII minus sign"),
    ("sqrt", entry("sqrt(2)"), "Declare a positive parameter r"),
    ("formula-empty", entry(""), "the end of the formula"),
    ("formula-control", entry("1 \u202e+ 1"), "U+202E"),
    ("terms", parameter("").replace('"c"', '"1/(c-1)**60 + 1/(c-2)**60"'), "degree at most 64"),
    # -- parameters
    ("parameter-unused", own("[parameters.c]\nvalue = 1"), "Use it in a formula, or remove it"),
    ("parameter-misspelt", parameter("").replace('"c"', '"cc"'), 'Did you mean "c"?'),
    ("parameter-zero", parameter("positive = true\nvalue = 0"), "because positive = true"),
    ("parameter-negative", parameter("nonnegative = true\nvalue = -1"), "because nonnegative"),
    ("parameter-range", parameter("minimum = 2\nmaximum = 1"), "at least the minimum 2"),
    ("parameter-below", parameter("minimum = 2\nvalue = 1"), "at least the minimum 2"),
    ("parameter-above", parameter("maximum = 2\nvalue = 3"), "at most the maximum 2"),
    ("parameter-formula", parameter('value = "c"'), "parameters.c.value"),
    ("parameter-bool", parameter("value = true"), "parameters.c.value: found true"),
    ("parameter-text", parameter('positive = "true"'), "Write it without quotes"),
    ("parameter-name", parameter("").replace("c", "Δ", 1) + '[parameters."Δ"]\n', "by name: Delta"),
    ("parameter-reserved", own("[parameters.tau]\nvalue = 1"), 'the name "tau"'),
    (
        "parameter-pole",
        parameter("value = 1").replace('"c"', '"1/(c-1)"'),
        ":4: parameters: found values at which an entry of the dataset is infinite (c = 1)",
    ),
    ("parameter-table", own("parameters.c = 1"), "dataset.parameters"),
    # -- pathways
    ("name-twice", f"{OWN}{PATHWAY}{PATHWAY}", "which pathway[0] has"),
    ("name-empty", f"{OWN}[[pathway]]\nname = ' '\n", "a blank text"),
    ("name-number", f"{OWN}[[pathway]]\nname = 1\n", "a unique name in quotes"),
    ("name-long", f"{OWN}[[pathway]]\nname = '{'a' * 81}'\n", "a text of 81 characters"),
    ("name-control", f'{OWN}[[pathway]]\nname = "a\\u0007b"\n', "U+0007"),
    ("name-bidi", f'{OWN}[[pathway]]\nname = "a\\u202eb"\n', "U+202E"),
    ("no-inputs", f"{OWN}{PATHWAY}inputs = []\n", "no inputs; expected at least one input. Write"),
    ("no-outputs", f"{OWN}{PATHWAY}outputs = []\n", "no outputs"),
    ("input-range", f"{OWN}{PATHWAY}inputs = [2]\n", "There are 2 inputs; indices count from 0"),
    ("input-negative", f"{OWN}{PATHWAY}inputs = [-1]\n", "indices from 0 to 1"),
    ("input-twice", f"{OWN}{PATHWAY}inputs = [1, 1]\n", "the input 1 twice"),
    ("input-text", f"{OWN}{PATHWAY}inputs = ['0']\n", 'the text "0" at place 0'),
    ("input-group", f"{DATASET}{PATHWAY}inputs = 'item'\n", 'Did you mean "items"?'),
    ("output-group", f"{DATASET}{PATHWAY}outputs = 'contxt_1'\n", 'Did you mean "context_1"?'),
    ("stage-zero", f"{OWN}{PATHWAY}stage = 0\n", "a whole number from 1 to 100"),
    ("stage-float", f"{OWN}{PATHWAY}stage = 1.0\n", "pathway[0].stage: found 1.0"),
    ("stage-gap", f"{OWN}{PATHWAY}stage = 2\n", "no pathway has stage 1"),
    # -- one entry for every value of a label
    ("each-unknown", each("each = 'contxt'\ngate = 'context != {contxt}'"), '"context"?'),
    ("each-number", each("each = 1"), "pathway[1].each: found 1; expected a label"),
    ("each-no-mark", each("each = 'context'"), "{context} in its gate, inputs or outputs"),
    ("each-list", each(f"each = 'context'\ngate = {[1] * 24}"), "the same for every context"),
    ("each-mark", each("each = 'item'\ngate = 'context != {context}'"), "{item} in its gate"),
    ("each-brace", each("gate = 'context != {context}'"), "pathway[1].gate"),
    (
        "each-name",
        each("each = 'item'\ngate = 'item == {item}'\n[[pathway]]\nname = 'off_3'"),
        'pathway[2].name: found the name "off_3", which pathway[1] has',
    ),
    (
        "each-closed",
        f"{DATASET}{PATHWAY}[[pathway]]\nname = 'a'\neach = 'item'\n"
        "gate = 'item == {item} and context == 9'\n",
        "0 on every sample",
    ),
    ("each-group", each("each = 'item'\noutputs = 'context_{item}'"), 'group "context_4"'),
    (
        "each-no-labels",
        f"{OWN}{PATHWAY}each = 'context'\ngate = 'context == {{context}}'\n",
        "[dataset.labels]",
    ),
    # -- sizes as symbols
    ("size-undeclared", sized(WHOLE, 'contexts = "D"'), 'the undeclared name "D"'),
    ("size-not-whole", sized("value = 3"), "Add integer = true to [parameters.C]"),
    ("size-no-value", sized("integer = true"), "parameters.C.value: found nothing"),
    ("size-half", sized("integer = true\nvalue = 2.5"), "because integer = true"),
    ("size-minimum-half", sized(f"{WHOLE}\nminimum = 1.5"), "parameters.C.minimum: found 3/2"),
    ("size-minimum-zero", sized(f"{WHOLE}\nminimum = 0"), "at least 1, as for contexts"),
    ("size-below", sized(f"{WHOLE}\nminimum = 4"), "at least the minimum 4"),
    ("size-huge", sized("integer = true\nvalue = 65"), "from 1 to 64"),
    ("size-items", sized(WHOLE, 'contexts = 3\nitems = "C"'), "2 and 4 are near"),
    ("size-twice", sized(WHOLE, 'contexts = "C"\nitems = "C"'), "another size already"),
    ("size-unused", sized(WHOLE, "contexts = 3"), "Use it as a size, or remove integer = true"),
    ("size-in-quotes", sized(WHOLE, 'contexts = "3"'), "Write it without quotes"),
    ("size-text", sized("integer = 'true'\nvalue = 3"), "parameters.C.integer"),
    ("size-formula", sized(WHOLE, 'contexts = "C+1"'), 'the undeclared name "C+1"'),
    ("size-own-data", own(f"[parameters.C]\n{WHOLE}"), "this dataset has none"),
    (
        "size-other-task",
        f'[dataset]\ntask = "linear-hierarchy"\nitems = "C"\n[parameters.C]\n{WHOLE}\n{PATHWAY}',
        "no sizes as symbols",
    ),
    (
        "size-root",
        sized(WHOLE, 'contexts = "C"\ncontext_scale = "sqrt(C)"'),
        "an exact square",
    ),
    (
        "size-pole",
        sized(WHOLE, 'contexts = "C"\ncontext_scale = "1/(C-3)"'),
        "infinite at C = 3",
    ),
    # -- gates
    ("gate-length", gate("[1, 0]"), "2 entries for 24 samples"),
    ("gate-two", gate("[2]"), "2 at index 0 of a gate"),
    ("gate-bool", gate("[true]"), "true at index 0"),
    ("gain-name", gate('["g"]'), 'the undeclared name "g"'),
    ("gain-nan", gate("[nan]"), "index 0 of a gate"),
    ("gain-nested", gate("[[1]]"), "at index 0 of a gate"),
    ("gain-zero", gate(str(["0"] * 24)), "0 on every sample"),
    ("gain-code", gate('["exec(1)"]'), "The only function is sqrt"),
    (
        "gain-pole",
        own("[parameters.g]\nvalue = 1") + 'gate = [1, "1/(g-1)"]\n',
        'a gain of pathway "shared" is infinite (g = 1)',
    ),
    (
        "gain-closed",
        own("[parameters.g]\nvalue = 0") + 'gate = ["g", 0]\n',
        'close pathway "shared" on every sample (g = 0)',
    ),
    ("gate-number", gate("1"), '"all", a formula over labels'),
    ("gate-closed", gate('"context == 9"'), "context is 1, 2, 3"),
    ("gate-closed-list", gate(str([0] * 24)), "0 on every sample"),
    ("gate-label", gate('"contxt == 1"'), 'Did you mean "context"?'),
    ("gate-no-labels", f"{OWN}{PATHWAY}gate = 'context == 1'\n", "[dataset.labels]"),
    ("gate-type", gate("'context == \"1\"'"), "no quotes if it is a number"),
    (
        "gate-text-order",
        own("labels = {kind = ['a', 'b']}") + "gate = 'kind < \"b\"'\n",
        "no order",
    ),
    ("gate-bare", gate('"context"'), "Compare it, as in context == 1"),
    ("gate-assignment", gate('"context = 1"'), "Write == for equal"),
    ("gate-list-text", gate('"1, 0, 1"'), "A list has no quotes"),
    ("gate-code", gate("'__import__(\"os\")'"), 'unknown label "__import__"'),
    ("gate-empty", gate('""'), "the end of the formula"),
    ("gate-deep", gate(f'"{"not " * 400}context == 1"'), "levels of nesting"),
    ("gate-huge", gate(f'"context == {"9" * 500}"'), "a number of 500 digits"),
    # -- labels and groups
    ("label-length", own("labels = {kind = [1]}"), "1 entry for 2 samples"),
    ("label-mixed", own("labels = {kind = [1, 'a']}"), "whole numbers only or texts only"),
    ("label-float", own("labels = {kind = [1.5, 2]}"), "1.5 at index 0"),
    ("label-bool", own("labels = {kind = [true, false]}"), "true at index 0"),
    ("label-name", own("labels = {'my kind' = [1, 2]}"), "ASCII letters, digits"),
    ("label-reserved", own("labels = {not = [1, 2]}"), 'the label name "not"'),
    ("label-control", own('labels = {kind = ["a\\u0000", "b"]}'), "U+0000"),
    ("label-long", own(f"labels = {{kind = ['{'a' * 201}', 'b']}}"), "a text of 201 characters"),
    ("group-range", own("groups = {inputs = {a = [5]}}"), "dataset.groups.inputs.a"),
    ("group-all", own("groups = {inputs = {all = [0]}}"), '"all" means every index'),
    # -- network and validation
    ("hidden-negative", network("hidden = -1"), "hidden units, a whole number from 1"),
    ("hidden-bool", network("hidden = true"), "network.hidden: found true"),
    ("hidden-float", network("hidden = 10.0"), "network.hidden: found 10.0"),
    ("hidden-text", network('hidden = "10"'), "Write it without quotes"),
    ("hidden-huge", network("hidden = 100000000"), "from 1 to 1000000"),
    ("steps-zero", network("steps = 0"), "network.steps: found 0"),
    ("init-zero", network("init_std = 0"), "network.init_std: found 0; expected a number above 0"),
    ("init-name", network('init_std = "c"'), "This must be a number"),
    ("rate-negative", network('learning_rate = "-1/2"'), "a number above 0"),
    ("rate-nan", network("learning_rate = nan"), "network.learning_rate"),
    ("loss", network('loss = "meen"'), 'Did you mean "mean"?'),
    ("activation", network('activation = "tanh"'), '"relu" or "linear"'),
    ("training", network('training = "both"'), '"joint" or "staged"'),
    ("tolerance", own("[validation]\ntolerance = 2\nreason = 'x'"), "at most 1"),
    ("title-number", f"title = 1\n{own('')}", "title: found 1"),
    ("title-bidi", f'title = "a\\u2066b"\n{own("")}', "U+2066"),
)

RAW: tuple[tuple[str, bytes, str], ...] = (
    ("byte-order-mark", b"\xef\xbb\xbf" + own("").encode(), 'rather than "UTF-8 with BOM"'),
    ("utf-16", own("").encode("utf-16"), "a file in UTF-16"),
    ("latin-1", 'title = "é"\n'.encode("latin-1") + own("").encode(), "not UTF-8 in line 1"),
    ("binary", b"\x7fELF\x00\x00\xff" + bytes(range(256)), "a binary file"),
    ("nul", b"title = '\x00'\n", "column 10"),
    ("too-large", b"# " + b"x" * (1 << 20) + b"\n", "CSV or NPZ file"),
)

CSV = '[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n' + PATHWAY
TABLES: tuple[tuple[str, bytes, bytes, str], ...] = (
    ("csv-nan", b"1,2\nnan,4\n", b"1\n2\n", 'in "x.csv", row 2, column 1;'),
    ("csv-inf", b"a,b\n1,inf\n", b"1\n", 'in "x.csv", row 2, column 2 (b)'),
    ("csv-text", b"1,2\n3,four\n", b"1\n2\n", 'found "four" in "x.csv", row 2, column 2'),
    ("csv-text-first", b"1,two\n3,4\n", b"1\n2\n", 'found "two" in "x.csv", row 1, column 2'),
    ("csv-gap", b"1,2\n3,\n", b"1\n2\n", "remove the sample, or fill the gap in"),
    ("csv-empty-cells", b"1,2\n,\n3,4\n", b"1\n2\n", 'found "" in "x.csv", row 2, column 1'),
    ("csv-mark-only", b"\xef\xbb\xbf", b"1\n", 'found no numbers in "x.csv"'),
    ("csv-blank", b"\n \n", b"1\n", "an empty file"),
    ("csv-ragged", b"1,2\n3\n", b"1\n2\n", "row 2 with 1 cell, where row 1 has 2"),
    ("csv-empty", b"", b"1\n", "an empty file"),
    ("csv-header-only", b"a,b\n", b"1\n", "a header and no numbers"),
    ("csv-samples", b"1,2\n3,4\n", b"1\n", "1 sample of targets for 2 samples of inputs"),
    ("csv-comma", b"1,5;2\n3,5;4\n", b"1\n2\n", "Write a decimal point"),
    ("csv-code", b"1,=1+1\n", b"1\n", 'found "=1+1"'),
    ("csv-formula", b"1,2*3\n", b"1\n", 'found "2*3"'),
    ("csv-zero", b"1,1/0\n", b"1\n", "a denominator that is not zero"),
    ("csv-huge", b"1,1e999999999\n", b"1\n", "at most 1200 digits"),
    ("csv-utf-16", "1,2\n".encode("utf-16"), b"1\n", "CSV UTF-8"),
    ("csv-latin-1", b"1,2\n3,\xe9\n", b"1\n2\n", "a byte that is not UTF-8 in row 2"),
    ("csv-binary", b"1,2\x00\n", b"1\n", "An NPZ file is named"),
    ("csv-quote", b'1,"2\n', b"1\n", "row 1"),
    ("csv-field", b"1," + b"9" * 200_000 + b"\n", b"1\n", "row 1"),
)


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


X, Y = np.eye(2), np.ones((1, 2))


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
ARRAYS: tuple[tuple[str, Callable[[], bytes], str], ...] = (
    ("npz-truncated", lambda: npz(X=X, Y=Y)[:200], "Write it again with numpy.savez"),
    ("npz-half-array", lambda: npz_of_members(X=npy_header((2, 2)) + b"0" * 8, Y=b""), "damaged"),
    ("npz-empty", lambda: b"", "Write it again with numpy.savez"),
    ("npz-text", lambda: b"1,2\n3,4\n", "Write it again with numpy.savez"),
    ("npz-crc", lambda: npz(X=X, Y=Y).replace(X.tobytes(), X.tobytes()[::-1]), "numpy.savez"),
    ("npz-pickle", _pickled, "Python objects in array X"),
    ("npz-bomb", lambda: npz_of_members(X=bytes(80 << 20), Y=b""), "at most 64 MiB"),
    ("npz-says-large", _patched_size, "bytes after unpacking"),
    (
        "npz-header-large",
        lambda: npz_of_members(X=npy_header((10**9, 10**9))),
        "at most 2000000 numbers",
    ),
    ("npz-header-long", lambda: npz_of_members(X=npy_header((2,) * 9000)), "does not load"),
    ("npz-header-code", lambda: npz_of_members(X=npy_header((2, 2), "__import__('os')")), "load"),
    ("npz-no-x", lambda: npz(Z=X, Y=Y), "no array X (arrays: Y, Z)"),
    ("npz-no-y", lambda: npz(X=X), "an array Y or targets"),
    ("npz-nan", lambda: npz(X=np.array([[1.0, np.nan]]), Y=Y), "nan in X[0, 1]"),
    ("npz-inf", lambda: npz(X=X, Y=np.array([[-np.inf, np.inf]])), "-inf in Y[0, 0] and 1 more"),
    ("npz-complex", lambda: npz(X=X + 1j, Y=Y), "entries of type complex128"),
    ("npz-bool", lambda: npz(X=X > 0, Y=Y), "X.astype(int)"),
    ("npz-strings", lambda: npz(X=np.array([["1", "2"]]), Y=Y), "entries of type <U1"),
    ("npz-vector", lambda: npz(X=X, Y=Y[0]), "Y.reshape(1, -1) is one row"),
    ("npz-cube", lambda: npz(X=X[None], Y=Y), "two dimensions"),
    ("npz-no-samples", lambda: npz(X=X[:, :0], Y=Y[:, :0]), "at least one row and one sample"),
    ("npz-samples", lambda: npz(X=X, Y=np.ones((1, 3))), "3 samples of targets for 2"),
    ("npz-many", lambda: npz(**{f"a{i}": Y for i in range(20)}), "found 20 arrays"),
    ("npz-twice", _two_of_one_name, "two arrays of one name"),
)

NAMES: tuple[tuple[str, str, str], ...] = (
    ("name-misspelt", "contextual3", 'Did you mean "contextual-3"?'),
    ("name-of-task", "contextual", "ready-made specs of it: contextual-3, contextual-4"),
    ("name-unknown", "zzz", "Known: linear-hierarchy"),
    ("name-blank", "", "neither"),
    ("name-nul", "a\0b", "neither"),
    ("name-endless", "a" * 5000, "neither"),
)


def cases(folder: Path) -> Iterator[Case]:
    """Write every wrong input below a folder and yield it.

    Args:
        folder: An empty folder; every case gets one of its own in it.
    """
    for name, text, fragment in SPECS:
        yield _written(folder, name, {"spec.toml": text.encode()}, fragment)
    for name, data, fragment in RAW:
        yield _written(folder, name, {"spec.toml": data}, fragment)
    for name, inputs, targets, fragment in TABLES:
        files = {"spec.toml": CSV.encode(), "x.csv": inputs, "y.csv": targets}
        yield _written(folder, name, files, fragment)
    for name, make, fragment in ARRAYS:
        yield _written(folder, name, {"spec.toml": NPZ.encode(), "d.npz": make()}, fragment)
    for name, source, fragment in NAMES:
        yield Case(name, source, fragment)
    yield from _paths(folder)


def _written(folder: Path, name: str, files: dict[str, bytes], fragment: str) -> Case:
    place = folder / name
    place.mkdir()
    for file, data in files.items():
        (place / file).write_bytes(data)
    return Case(name, str(place / "spec.toml"), fragment)


def _paths(folder: Path) -> Iterator[Case]:
    """Yield what is wrong about where things are."""
    yield Case("file-missing", str(folder / "ragged" / "spce.toml"), 'Did you mean "spec.toml"?')
    yield Case("folder-missing", str(folder / "none" / "spec.toml"), "There is no folder")
    yield Case("spec-is-folder", str(folder / "ragged"), "a folder")
    yield Case("spec-is-device", "/dev/zero", "a device or pipe")
    outside = folder / "secret.csv"
    outside.write_text("1\n2\n")
    hint = "allow it with --allow-outside-data"
    for name, file in (("traversal", "../secret.csv"), ("absolute", str(outside))):
        spec = CSV.replace("x.csv", file)
        yield _written(folder, name, {"spec.toml": spec.encode(), "y.csv": b"1\n2\n"}, hint)
    case = _written(folder, "link", {"spec.toml": CSV.encode(), "y.csv": b"1\n2\n"}, hint)
    (folder / "link" / "x.csv").symlink_to(outside)
    yield case
    case = _written(folder, "link-loop", {"spec.toml": CSV.encode()}, "cannot be read")
    (folder / "link-loop" / "x.csv").symlink_to(folder / "link-loop" / "x.csv")
    yield case
    if hasattr(os, "mkfifo"):  # not on Windows
        case = _written(folder, "pipe", {"spec.toml": CSV.encode()}, "no regular file")
        os.mkfifo(folder / "pipe" / "x.csv")
        yield case
    files = {"spec.toml": CSV.encode(), "xx.csv": b"1\n"}
    yield _written(folder, "csv-missing", files, 'Did you mean "xx.csv"?')
    spec = CSV.replace("x.csv", "\\u0000").encode()
    yield _written(folder, "csv-nul", {"spec.toml": spec}, "the file name")
