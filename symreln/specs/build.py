"""Specs from Python: :func:`spec`, :func:`pathway` and :func:`network` make the tables of a file.

What stands in them is checked where every spec is checked, so that a call and a file have the same
rules and the same messages; only places are named as the caller knows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite, prod
from typing import Any, Literal

import numpy as np

from symreln.errors import Problem, SpecError
from symreln.specs.data import are_names
from symreln.specs.files import MAX_NUMBERS
from symreln.specs.finding import key_path, need, shown
from symreln.specs.problems import Origin, Problems
from symreln.specs.reader import read_spec
from symreln.specs.spec import Spec

#: Relative error of floats that stand for a simpler fraction where that is asked for.
_ROUNDING = 1e-12
#: Digits of its denominator at most.
_DIGITS = 9


def plain(value: Any, *, exact: bool = True) -> Any:
    """Return what TOML would hold: arrays and tables as lists, numbers of NumPy and SymPy as such.

    Args:
        value: Anything; what is neither stays as it is. Lists have 1 and 0 for true and false.
        exact: Whether a float is its decimals, rather than the simplest fraction near it.
    """
    if isinstance(value, np.generic):
        value = float(str(value)) if isinstance(value, np.floating) else value.item()
    if isinstance(value, float) and not exact and isfinite(value):
        return _simplest(value)
    if isinstance(value, str | bytes | int | float | Decimal):
        return value
    if isinstance(value, Mapping):
        return {key: plain(entry, exact=exact) for key, entry in value.items()}
    if hasattr(value, "toarray"):  # a sparse matrix
        value = value.toarray()
    if isinstance(value, np.ma.MaskedArray):
        value = value.tolist()  # None for masked entries, which an array would lose
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.dtype.kind == "f" and array.itemsize != 8:
            array = array.astype(str).astype(float)  # tolist() would lengthen its decimals
        value = array.tolist()
        if array.dtype.kind in "iuf" and exact:
            return value
    if isinstance(value, list | tuple):
        entries = [plain(entry, exact=exact) for entry in value]
        return [int(entry) if isinstance(entry, bool) else entry for entry in entries]
    if hasattr(value, "free_symbols"):
        if value.is_Rational:
            return Fraction(int(value.p), int(value.q))
        return plain(float(value), exact=exact) if value.is_Float else str(value)
    return value


def _simplest(value: float) -> Fraction:
    """Return a fraction of few digits within _ROUNDING of a float, or the float as it is."""
    whole = Fraction(value)
    near = (whole.limit_denominator(10**digits) for digits in range(_DIGITS + 1))
    return next((f for f in near if abs(f - whole) <= _ROUNDING * abs(whole)), whole)


def _rows_of(value: Any, *, transposed: bool, exact: bool, vector: bool = False) -> object:
    """Return a matrix as a list of rows, features in rows; what is no matrix as it is.

    Args:
        value: An array, a table, a SymPy matrix, or lists.
        transposed: Whether samples are its rows.
        exact: Whether a float is its decimals.
        vector: Whether one dimension will do: one output.

    Raises:
        Finding: An array of another number of dimensions, or of too many numbers.
    """
    shape = getattr(value, "shape", (1, 1))
    kind, found = getattr(value, "dtype", None), f"an array of shape {shape}"
    fits = len(shape) == 2 or (vector and len(shape) == 1)
    need(fits, found, "two dimensions: samples and features", "Reshape it.")
    hint = "Take .real, or real and imaginary part as two features."
    need(getattr(kind, "kind", "") != "c", f"an array of {kind}", "real numbers", hint)
    need(prod(shape) <= MAX_NUMBERS, found, f"at most {MAX_NUMBERS} numbers")
    rows = plain(value, exact=exact)
    if not isinstance(rows, list):
        return rows
    if vector and rows and not any(isinstance(row, list) for row in rows):
        return [rows]
    whole = [row for row in rows if isinstance(row, list)]
    even = len(whole) == len(rows) and len({len(row) for row in whole}) == 1
    return [list(column) for column in zip(*whole, strict=True)] if transposed and even else rows


def _columns_of(value: object) -> tuple[str, ...]:
    """Return the names of a table's columns, of a DataFrame for example; none of other things."""
    names = getattr(value, "columns", None)
    return () if names is None or callable(names) else tuple(map(str, names))


Samples = Literal["rows", "columns"]
Table = dict[str, Any]

_ENTRY = re.compile(r"dataset\.([XY])\[(\d+)\](?:\[(\d+)\])?")
#: Words of files, and what is written in Python instead.
_WORDS = (
    (re.compile(r"\[parameters\.(\w+)\](?: (\w+) = true)?"), r'parameters={"\1": {…}}'),
    (re.compile(r'\[\[pathway\]\] with name = "shared" and gate = "all"'), 'sr.pathway("shared")'),
    (re.compile(r"a table: \[pathway\[\d+\]\]"), 'sr.pathway("…")'),
    (re.compile(r"\[dataset\.labels\]"), 'labels={"context": […]}'),
    (re.compile(r"dataset\.([XY])\b"), r"\1"),
)


def spec(
    X: Any,
    Y: Any,
    *,
    samples: Samples = "rows",
    labels: Mapping[str, Any] | Any = None,
    groups: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    pathways: Sequence[Mapping[str, Any]] = (),
    network: Mapping[str, Any] | None = None,
    parameters: Mapping[Any, Any] | None = None,
    title: str = "",
    exact: bool = True,
) -> Spec:
    """Return the checked spec of data from Python.

    Args:
        X: Inputs: a NumPy array or what converts to one, a DataFrame, lists, or a SymPy matrix.
            Texts are formulas in the parameters. A float is its decimals, as in a file: 0.1 is
            1/10.
        Y: Targets likewise; one dimension is one output. Columns of a DataFrame name inputs and
            outputs.
        samples: Whether "rows" or "columns" of X and Y are samples.
        labels: One value a sample, by name, for gate formulas; a mapping or a DataFrame.
        groups: Named groups of indices: ``{"inputs": {"items": [0, 1]}, "outputs": {…}}``.
        pathways: Made by :func:`symreln.pathway`; without any, gates come from the data. Inputs
            and outputs may be named by the columns of a DataFrame.
        network: Made by :func:`symreln.network`; without one there are formulas and no numbers.
        parameters: What the symbols are: a value, or the keys of a file's table, as in
            ``{"c": {"positive": True, "value": 1}}``. Symbols of a SymPy matrix that are not among
            them are declared with their own assumptions.
        title: Of the derivation.
        exact: Whether floats are read as written. If not, a float is the fraction of the fewest
            digits within 1e-12 of it: 0.3333333333333333 is 1/3.

    Raises:
        SpecError: Something is wrong; every problem found is listed with its place.

    Example:
        >>> import numpy as np
        >>> import symreln as sr
        >>> X, Y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([[1], [0], [0], [1]])
        >>> made = sr.spec(X, Y, labels={"same": [1, 0, 0, 1]},
        ...                pathways=[sr.pathway("yes", "same == 1"), sr.pathway("no", "same == 0")])
        >>> made.dataset.n_x, made.dataset.samples, made.pathways[0].gate
        (2, 4, (1, 0, 0, 1))
    """
    problems, labels = Problems(Origin()), {} if labels is None else labels
    data: Table = {}
    for name, value in (("X", X), ("Y", Y)):
        with problems.at(name):
            transposed, vector = samples == "rows", name == "Y"
            data[name] = _rows_of(value, transposed=transposed, exact=exact, vector=vector)
    if isinstance(pathways, str | Mapping):
        problems.add("pathways", "one pathway", "a list: pathways=[sr.pathway(…)]")
        pathways = ()
    if samples not in ("rows", "columns"):
        problems.add("samples", repr(samples), '"rows" or "columns"')
    if not hasattr(labels, "keys"):
        expected = 'one value a sample by name: labels={"context": […]}, or a DataFrame'
        problems.add("labels", shown(labels), expected)
        labels = {}
    problems.raise_if_any()
    names = {"inputs": _columns_of(X), "outputs": _columns_of(Y)}
    named = {str(name): plain(each) for name, each in dict(labels).items()}
    tables: Table = {
        "title": title,
        "dataset": {
            **data,
            "labels": named,
            "groups": plain(groups or {}),
            "names": {key: list(columns) for key, columns in names.items() if are_names(columns)},
        },
        "parameters": _parameters(parameters or {}, X, Y),
    }
    if pathways:
        tables["pathway"] = list(pathways)
    if network is not None:
        tables["network"] = network
    try:
        return read_spec(tables, tasks=())
    except SpecError as error:
        known = {"X": names["inputs"], "Y": names["outputs"]}
        raise SpecError([_placed(each, samples, known) for each in error.problems]) from None


def pathway(
    name: str,
    gate: Any = "all",
    *,
    each: str | None = None,
    stage: int = 1,
    inputs: Any = "all",
    outputs: Any = "all",
    hidden: int | None = None,
    then: Mapping[int, Any] | None = None,
) -> Table:
    """Return one pathway for :func:`symreln.spec`, as a file's [[pathway]] has it.

    Args:
        name: A unique name.
        gate: "all", a Boolean formula over the labels, or 0, 1 or a gain for every sample; a mask
            such as ``context != 1`` of an array likewise.
        each: A label: one pathway for every value of it, ``{label}`` standing for the value.
        stage: Training stage, from 1.
        inputs: "all", the name of a group, columns of a DataFrame, or indices; outputs likewise.
        outputs: See ``inputs``.
        hidden: Hidden units of its own.
        then: Gates that it takes later, by the first step that is made with them.

    Example:
        >>> import symreln as sr
        >>> sr.pathway("off_{context}", "context != {context}", each="context", stage=2)["stage"]
        2
    """
    given = {"name": name, "gate": gate, "each": each, "stage": stage, "inputs": inputs}
    given |= {"outputs": outputs, "hidden": hidden}
    given["then"] = then and [{"step": step, "gate": gate} for step, gate in then.items()]
    return {key: plain(value) for key, value in given.items() if value is not None}


def network(
    *,
    hidden: int,
    init_std: Any,
    learning_rate: Any,
    steps: int,
    loss: Literal["sum", "mean"] = "sum",
    activation: Literal["relu", "linear"] = "relu",
    training: Literal["joint", "staged"] | None = None,
    layers: int = 2,
    weight_decay: Any = 0,
    strength0: Any = None,
    batch_size: int | None = None,
) -> Table:
    """Return the network that is predicted and trained, as a file's [network] has it.

    Args:
        hidden: Hidden units of the network that is imitated.
        init_std: Standard deviation of the initial weights: a number, a text such as "1/1000", or
            those of the two layers.
        learning_rate: Step size of full-batch gradient descent; likewise.
        steps: Recorded losses, step 0 included.
        loss: "sum" over samples, or their "mean".
        activation: "relu", or "linear" for a deep linear network.
        training: "joint", or "staged"; staged by default where a pathway has a stage above 1.
        layers: Layers of weights.
        weight_decay: λ of ½ λ times the sum of all squared weights, added to the mean loss.
        strength0: Initial strength of every mode in formulas and predictions, in place of that
            which follows from the weights.
        batch_size: Samples of a training step; all by default, which the theory is of.

    Example:
        >>> import symreln as sr
        >>> sr.network(hidden=100, init_std="1/1000", learning_rate=0.01, steps=2001)["hidden"]
        100
    """
    # Before anything else is local: all arguments.
    return {key: plain(value) for key, value in locals().items() if value is not None}


def _parameters(given: Mapping[Any, Any], *matrices: object) -> Table:
    """Return the tables of the parameters: those given, then the symbols of matrices."""
    told = {
        str(name): plain(about) if isinstance(about, Mapping) else {"value": plain(about)}
        for name, about in given.items()
    }
    symbols = {
        str(symbol): symbol
        for value in (*matrices, *given)
        for symbol in getattr(value, "free_symbols", ())
    }
    for name, symbol in sorted(symbols.items()):
        signs = {"positive": symbol.is_positive, "nonnegative": symbol.is_nonnegative}
        told[name] = dict([pair for pair in signs.items() if pair[1]][:1]) | told.get(name, {})
    return told


def _placed(problem: Problem, samples: Samples, names: Mapping[str, Sequence[str]]) -> Problem:
    """Return a problem in the caller's words: X[sample, feature] rather than dataset.X[i][j]."""
    path, hint = problem.path, problem.hint
    if match := _ENTRY.fullmatch(path):
        matrix, row, column = match.groups()
        known = names[matrix]
        if column is None:
            path = f"{matrix}[{row}]"
            hint = hint.replace("a sample", "a feature") if samples == "rows" else hint
        else:
            name = f" (column {key_path([known[int(row)]])})" if known else ""
            place = (column, row) if samples == "rows" else (row, column)
            path = f"{matrix}[{', '.join(place)}]{name}"
    if "amples are rows of" in hint or "samples in columns" in hint:
        hint = f'Samples are {samples} of X and Y: samples="rows" or "columns" says which.'
    path = re.sub(r"^dataset\.(labels|groups|[XY]$)", r"\1", path)
    texts = {"path": path, "found": problem.found, "expected": problem.expected, "hint": hint}
    for pattern, instead in _WORDS:
        texts = {key: pattern.sub(instead, text) for key, text in texts.items()}
    return replace(problem, **texts)
