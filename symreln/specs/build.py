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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from symreln.errors import Problem, SpecError
from symreln.specs.data import are_names
from symreln.specs.files import MAX_NUMBERS
from symreln.specs.finding import key_path, nearest, need, shown
from symreln.specs.problems import Origin, Problems
from symreln.specs.reader import read_spec
from symreln.specs.spec import Spec

if TYPE_CHECKING:
    import sympy as sp

#: Relative error of floats that stand for a simpler fraction where that is asked for.
_ROUNDING = 1e-12
#: Digits of its denominator at most.
_DIGITS = 9


def _rows_of(value: object, *, transposed: bool, exact: bool, vector: bool = False) -> object:
    """Return a matrix as a list of rows, features in rows; what is no matrix as it is.

    Args:
        value: An array, a table, a SymPy matrix, or lists.
        transposed: Whether samples are its rows.
        exact: Whether a float is its decimals, rather than the simplest fraction near it.
        vector: Whether one dimension will do: one output.

    Raises:
        Finding: An array of another number of dimensions, or of too many numbers.
    """
    rows = _opened(value, vector=vector)
    if not isinstance(rows, list | tuple):
        return rows
    rows = [list(row) if getattr(row, "shape", ()) else row for row in rows]
    if vector and rows and not any(isinstance(row, list | tuple) for row in rows):
        rows, transposed = [rows], False
    opened = [_row(row, exact=exact) for row in rows]
    whole = [row for row in opened if isinstance(row, list)]
    even = len(whole) == len(opened) and len({len(row) for row in whole}) == 1
    return [list(column) for column in zip(*whole, strict=True)] if transposed and even else opened


def _columns_of(value: object) -> tuple[str, ...]:
    """Return the names of a table's columns, of a DataFrame for example; none of other things."""
    names = getattr(value, "columns", None)
    return () if names is None or callable(names) else tuple(map(str, names))


def plain(value: Any) -> Any:
    """Return an option as TOML would hold it: arrays as lists, scalars of NumPy as Python's."""
    if isinstance(value, np.generic):
        return float(str(value)) if isinstance(value, np.floating) else value.item()
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, str | bytes):
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return _entry_of(value)


def _symbols_of(*values: object) -> dict[str, sp.Symbol]:
    """Return the SymPy symbols in matrices, by name."""
    found: dict[str, sp.Symbol] = {}
    for value in values:
        for symbol in getattr(value, "free_symbols", ()):
            found[str(symbol)] = symbol
    return dict(sorted(found.items()))


def _opened(value: Any, *, vector: bool) -> object:
    """Return what an array holds as lists; lists as they are."""
    if hasattr(value, "toarray"):  # a sparse matrix
        value = value.toarray()
    if not hasattr(value, "__array__") or isinstance(value, np.ma.MaskedArray):
        # Lists keep masked entries as None, which an array would lose.
        return value.tolist() if isinstance(value, np.ma.MaskedArray) else value
    array = np.asarray(value)
    found = f"an array of shape {array.shape}"
    fits = array.ndim == 2 or (vector and array.ndim == 1)
    need(fits, found, "two dimensions: samples and features", "Reshape it.")
    hint = "Take .real, or real and imaginary part as two features."
    need(array.dtype.kind != "c", f"an array of {array.dtype}", "real numbers", hint)
    need(prod(array.shape) <= MAX_NUMBERS, found, f"at most {MAX_NUMBERS} numbers")
    # tolist() would lengthen the decimals of other floats than float64.
    return list(array) if array.dtype.kind == "f" and array.itemsize != 8 else array.tolist()


def _row(row: object, *, exact: bool) -> object:
    if not isinstance(row, list | tuple):
        return row
    return _zeros_and_ones([_entry_of(entry, exact=exact) for entry in row])


def _zeros_and_ones(values: Any) -> Any:
    """Return a list with 1 and 0 for true and false, as of a mask; what is no list as it is."""
    if not isinstance(values, list):
        return values
    return [int(value) if isinstance(value, bool) else value for value in values]


def _entry_of(entry: Any, *, exact: bool = True) -> object:
    """Return a number or a formula as the door reads it; what is neither as it is."""
    if isinstance(entry, np.floating) and not isinstance(entry, float):
        entry = float(str(entry))
    elif isinstance(entry, np.generic):
        entry = entry.item()
    elif isinstance(entry, Decimal):
        entry = Fraction(entry) if entry.is_finite() else float(entry)
    elif hasattr(entry, "free_symbols"):
        entry = _formula(entry)
    if isinstance(entry, float) and not exact and isfinite(entry):
        return _simplest(entry)
    return entry


def _formula(entry: Any) -> object:
    """Return a SymPy expression as a number or the text of a formula."""
    if entry.is_Rational:
        return Fraction(int(entry.p), int(entry.q))
    return float(entry) if entry.is_Float else str(entry)


def _simplest(value: float) -> Fraction:
    """Return a fraction of few digits within _ROUNDING of a float, or the float as it is."""
    whole = Fraction(value)
    near = (whole.limit_denominator(10**digits) for digits in range(_DIGITS + 1))
    return next((f for f in near if abs(f - whole) <= _ROUNDING * abs(whole)), whole)


def _places_of(names: Sequence[str], wanted: object) -> object:
    """Return inputs or outputs that are asked for by the names of columns as indices.

    Args:
        names: Of the columns.
        wanted: What was asked for; a group, a list of indices and what is unknown stay as they are.
    """
    if isinstance(wanted, str):
        return [names.index(wanted)] if wanted in names else wanted
    if not isinstance(wanted, list):
        return wanted
    return [names.index(name) if name in names else name for name in wanted]


Samples = Literal["rows", "columns"]
Table = dict[str, Any]

_PLACES = re.compile(r"pathway\[\d+\]\.(inputs|outputs)")
_QUOTED = re.compile(r'"([^"]*)"')
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
        pathways: Made by :func:`symreln.pathway`. Inputs and outputs may be named by the columns
            of a DataFrame.
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
    named = {str(name): _zeros_and_ones(plain(each)) for name, each in dict(labels).items()}
    tables: Table = {
        "title": title,
        "dataset": {
            **data,
            "labels": named,
            "groups": plain(groups or {}),
            "names": {key: list(columns) for key, columns in names.items() if are_names(columns)},
        },
        "parameters": _parameters(parameters or {}, X, Y),
        "pathway": [_indexed(each, names) for each in pathways],
    }
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
    given = {
        **{"name": name, "gate": _gate(gate), "each": each, "stage": stage, "inputs": inputs},
        **{"outputs": outputs, "hidden": hidden},
        "then": None if then is None else [{"step": k, "gate": _gate(v)} for k, v in then.items()],
    }
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


def _gate(value: Any) -> Any:
    """Return a gate as a file has it: of a mask 0 and 1."""
    return _zeros_and_ones(plain(value))


def _parameters(given: Mapping[Any, Any], *matrices: object) -> Table:
    """Return the tables of the parameters: those given, then the symbols of matrices."""
    told = {
        str(name): plain(about) if isinstance(about, Mapping) else {"value": plain(about)}
        for name, about in given.items()
    }
    return told | {
        name: _assumptions(symbol) | told.get(name, {})
        for name, symbol in _symbols_of(*matrices, *given).items()
    }


def _assumptions(symbol: Any) -> Table:
    if symbol.is_positive:
        return {"positive": True}
    return {"nonnegative": True} if symbol.is_nonnegative else {}


def _indexed(entry: Any, names: Mapping[str, Sequence[str]]) -> Any:
    """Return a pathway with the names of columns as indices."""
    if not isinstance(entry, Mapping):
        return entry
    indices = {kind: _places_of(names[kind], entry[kind]) for kind in names if kind in entry}
    return {**entry, **indices}


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
    if match := _PLACES.fullmatch(path):
        columns = names["X" if match[1] == "inputs" else "Y"]
        if columns and (text := _QUOTED.search(problem.found)):
            hint = f"Columns: {', '.join(columns)}. {nearest(text[1], columns)}".strip()
    path = re.sub(r"^dataset\.(labels|groups|[XY]$)", r"\1", path)
    texts = {"path": path, "found": problem.found, "expected": problem.expected, "hint": hint}
    for pattern, instead in _WORDS:
        texts = {key: pattern.sub(instead, text) for key, text in texts.items()}
    return replace(problem, **texts)
