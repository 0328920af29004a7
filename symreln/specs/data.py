"""A user's own dataset: matrices in the spec, CSV files, or an NPZ file, with labels and groups.

CSV files of exact numbers: one row a sample, decimals read as written.

NPZ files of numbers: header and size are checked before anything is loaded, pickle never is.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np
from flint import fmpz_mat
from numpy.lib import format as npy

from symreln.errors import visible
from symreln.exact.matrix import ExactMatrix
from symreln.networks.dataset import Dataset, Label
from symreln.specs.entries import NAME_LENGTH, indices_of
from symreln.specs.expression import Declared
from symreln.specs.files import MAX_BYTES, MAX_NUMBERS, Folder, decoded, fingerprint
from symreln.specs.finding import (
    Finding,
    check_text,
    counted,
    cut,
    key_path,
    nearest,
    need,
    quoted,
    read_all,
    shown,
)
from symreln.specs.kinds import matrix_of_fractions
from symreln.specs.number import DecimalText, WrittenDecimal, exact_decimal, exact_fraction
from symreln.specs.problems import Problems
from symreln.specs.schema import UserDatasetModel

LABEL_LENGTH = 200
_LABEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}", re.ASCII)
_RESERVED_LABELS = frozenset({"all", "and", "or", "not", "in"})
_FORMS = 'one of task = "…", X and Y (matrices), inputs and targets (CSV files), data (NPZ file)'


def read_user_dataset(
    table: Mapping[str, Any], declared: Declared, folder: Folder, problems: Problems
) -> Dataset | None:
    """Return a user's own dataset, or None after adding what is wrong with it.

    Args:
        table: The keys of ``[dataset]``.
        declared: Names that formulas may use.
        folder: Where data files are.
        problems: Collects.
    """
    model = problems.check(UserDatasetModel, table, "dataset", context=declared)
    form = () if model is None else _form(model, problems)
    if model is None or not form:
        return None
    before = len(problems.found)
    read = _read(model, table, folder, problems)
    if len(read.matrices) != 2:
        return None
    inputs, targets = read.matrices
    (n_x, samples), (n_y, other) = inputs.shape, targets.shape
    if other != samples:
        found = f"{counted(other, 'sample')} of targets for {counted(samples, 'sample')} of inputs"
        hint = "Samples are rows of files, CSV and NPZ; X and Y in the spec have them as columns."
        expected = f"{samples} samples, as dataset.{form[0]} has"
        problems.add(f"dataset.{form[-1]}", found, expected, hint)
        return None
    labels = _labels(model.labels, samples, problems)
    counts = {"inputs": n_x, "outputs": n_y}
    groups, names = {}, {}
    for kind, count in counts.items():
        groups[kind] = _groups(getattr(model.groups, kind), kind, count, problems)
        given = getattr(model.names, kind) or read.columns.get(kind, [])
        names[kind] = _names(given, kind, count, problems)
    if len(problems.found) > before:
        return None
    return Dataset(
        inputs=inputs.promoted(declared.names),
        targets=targets.promoted(declared.names),
        labels=labels,
        input_groups=groups["inputs"],
        output_groups=groups["outputs"],
        input_names=names["inputs"],
        output_names=names["outputs"],
        description=_description(inputs, targets, read.files),
        options=read.files,
        decimals="decimal" in read.written and "fraction" not in read.written,
    )


def _form(model: UserDatasetModel, problems: Problems) -> tuple[str, ...]:
    """Return the keys by which the data is given; none where it is not in exactly one way."""
    forms = (("X", "Y"), ("inputs", "targets"), ("data",))
    missing = [key for keys in forms for key in keys if getattr(model, key) is None]
    given = [keys for keys in forms if not set(keys) <= set(missing)]
    if len(given) != 1:
        found = " and ".join(" and ".join(pair) for pair in given) or "no data"
        problems.add("dataset", found, _FORMS, "Keep one of them." if given else "")
        return ()
    before, (keys,) = len(problems.found), given
    for key, other in zip(keys, reversed(keys), strict=True):
        if key in missing:
            description = UserDatasetModel.model_fields[key].description or ""
            problems.add(f"dataset.{key}", "nothing", description, f"It belongs to {other}.")
    for key in ("delimiter", "header"):
        value = getattr(model, key)
        if value is not None and keys[0] != "inputs":
            problems.add(f"dataset.{key}", shown(value), f"no {key} without CSV files")
    return keys if len(problems.found) == before else ()


class _Read(NamedTuple):
    """What was read of a dataset's numbers.

    Attributes:
        matrices: X and Y as far as they could be read.
        files: Fingerprints of their files.
        columns: What headers call the inputs and the outputs.
        written: How numbers are written: "whole", "decimal" or "fraction".
        first_rows: Those of CSV files.
    """

    matrices: list[ExactMatrix]
    files: dict[str, str]
    columns: dict[str, list[str]]
    written: set[str]
    first_rows: list[list[Fraction]]


def _read(
    model: UserDatasetModel, table: Mapping[str, Any], folder: Folder, problems: Problems
) -> _Read:
    written = {way for key in ("X", "Y") for way in _written(table.get(key, ()))}
    own = [matrix for matrix in (model.X, model.Y) if matrix is not None]
    found = _Read(own, {}, {}, written, [])
    for key, kind in (("inputs", "inputs"), ("targets", "outputs"), ("data", "")):
        name = getattr(model, key)
        if name is None:
            continue
        with problems.at(f"dataset.{key}"):
            data = folder.read(name)
            found.files[key] = fingerprint(name, data)
            if not kind:
                found.matrices.extend(_matrices_from_npz(data, name))
                continue
            rows, names = _rows_from_csv(data, name, model.delimiter, header=model.header)
            if are_names(names):
                found.columns[kind] = names
            found.first_rows.append([column[0] for column in rows])
            found.written.update(_written(rows))
            found.matrices.append(matrix_of_fractions(rows))
    if model.header is None:
        _ask_for_header(found.first_rows, model, problems)
    return found


def _ask_for_header(
    first_rows: list[list[Fraction]], model: UserDatasetModel, problems: Problems
) -> None:
    """Ask whether first rows that count, 0, 1, 2, … or 2019, 2020, …, are samples or names.

    One column that starts with 0 is ordinary data: it is asked about only beside another such
    file. The columns of targets may go on where those of inputs end. Two columns count from 0.
    """
    widths = [len(row) for row in first_rows]
    counts = [
        row == [row[0] + n for n in range(len(row))]
        and (len(row) > 2 or row[0] in {0, *widths[:place]})
        for place, row in enumerate(first_rows)
    ]
    for key, row, names in zip(("inputs", "targets"), first_rows, counts, strict=False):
        if names and (len(row) > 1 or (len(counts) == 2 and all(counts))):
            listed = ", ".join(map(str, row[:3])) + ", …" * (len(row) > 3)
            found = f"{listed} in the first row of {quoted(getattr(model, key))}"
            hint = "These are names of columns or a sample: numbers alone do not tell."
            problems.add(f"dataset.{key}", found, "header = true or header = false", hint)


def _written(value: object) -> Iterator[str]:
    """Yield how the numbers of a list are written: "whole", "decimal" or "fraction"."""
    match value:
        case list() | tuple():
            for entry in value:
                yield from _written(entry)
        case str():
            yield "fraction" if "/" in value else "decimal" if "." in value else "whole"
        case WrittenDecimal() | float() | Decimal() | DecimalText():
            yield "decimal"
        case Fraction() if value.denominator != 1:
            yield "fraction"
        case _:
            yield "whole"


def _labels(
    table: Mapping[str, Any], samples: int, problems: Problems
) -> dict[str, tuple[Label, ...]]:
    labels = {}
    expected = "ASCII letters, digits and underscores; none of the words and, or, not, in, all"
    for name, values in table.items():
        with problems.at(key_path(("dataset", "labels", name))):
            fits = _LABEL_NAME.fullmatch(name) and name not in _RESERVED_LABELS
            need(fits, f"the label name {quoted(name)}", expected)
            labels[name] = _label_values(values, samples)
    return labels


def _label_values(values: object, samples: int) -> tuple[Label, ...]:
    expected = f"a list of {samples} whole numbers or texts, one a sample"
    if not isinstance(values, list | tuple):
        raise Finding(shown(values), expected)
    found = f"{counted(len(values), 'entry')} for {counted(samples, 'sample')}"
    need(len(values) == samples, found, expected)
    kind = str if isinstance(values[0], str) else int
    for index, value in enumerate(values):
        found = f"{shown(value)} at index {index}"
        need(isinstance(value, int | str) and not isinstance(value, bool), found, expected)
        mixed = f"{found}, where index 0 is {shown(values[0])}"
        need(isinstance(value, kind), mixed, "whole numbers only or texts only")
        if isinstance(value, str):
            check_text(value, longest=LABEL_LENGTH)
        else:
            need(abs(value) < 10**18, found, "labels of at most 18 digits")
    return tuple(values)


def _groups(
    table: Mapping[str, Any], kind: str, count: int, problems: Problems
) -> dict[str, tuple[int, ...]]:
    found = {}
    for name, indices in table.items():
        with problems.at(key_path(("dataset", "groups", kind, name))):
            check_text(name, longest=NAME_LENGTH)
            hint = '"all" means every index.'
            need(name.strip() != "all", 'the group name "all"', "another name", hint)
            found[name] = indices_of(indices, count, kind)
    return found


def _names(names: list[str], kind: str, count: int, problems: Problems) -> tuple[str, ...]:
    """Return what inputs or outputs are called; nothing where nothing calls all of them."""
    with problems.at(key_path(("dataset", "names", kind))):
        expected = f"{count}, one for each of the {kind}"
        need(len(names) in (0, count), counted(len(names), "name"), expected)
        return tuple(check_text(name, longest=NAME_LENGTH) for name in names)
    return ()


def are_names(columns: Sequence[str]) -> bool:
    """Whether names of columns say what these are: texts that can be shown, not just numbers."""
    try:
        for name in columns:
            check_text(name, longest=NAME_LENGTH)
    except Finding:
        return False
    return not all(name.strip().isdecimal() for name in columns)


def _description(inputs: ExactMatrix, targets: ExactMatrix, files: Mapping[str, str]) -> str:
    n_x, samples = inputs.shape
    text = (
        f"A dataset of {counted(samples, 'sample')} with {counted(n_x, 'input')} "
        f"and {counted(targets.shape[0], 'output')}"
    )
    if files:
        names = " and ".join(text.partition(" (SHA-256")[0] for text in files.values())
        text += f", read from {names}"
    text += "."
    if targets.is_zero:
        text += " All targets are zero, so that every mode is a null mode."
    return text


_DELIMITERS = (";", "\t", ",")
"""In the order of detection: a comma next to a semicolon or a tab is a decimal comma."""
_NUMBER_LIKE = re.compile(
    r"\s*[-+.\d]|\s*$|\s*(nan|inf|infinity|na|n/a|null|none)\s*$", re.IGNORECASE
)

Line = tuple[int, list[str]]


def _rows_from_csv(
    data: bytes, file: str, delimiter: str | None = None, *, header: bool | None = None
) -> tuple[list[list[Fraction]], list[str]]:
    """Return the numbers of a CSV file, whose rows are samples, with one column a sample.

    And the names of its columns; none without a header.

    Cells are integers, decimals or fractions a/b; 0.1 is 1/10. A first row in which no cell looks
    like a number is a header and is skipped; one that mixes the two is an error, so that a typing
    mistake in the first sample does not make it vanish. Blank lines are skipped; a byte-order
    mark, which spreadsheets write, is too.

    Args:
        data: Contents of the file, UTF-8.
        file: Its name, for messages.
        delimiter: Comma, semicolon or tab; by default the one in the first line.
        header: Whether the first row has the names of the columns.

    Raises:
        SpecError: It is no such file; the first MAX_LISTED wrong cells are listed by row and
            column, both from 1.
    """
    try:
        lines = _lines(data, delimiter)
        header_names = _header(lines, header)
        if header_names:
            lines = lines[1:]
        found = "a header and no numbers" if header_names else "no numbers"
        need(lines, found, "at least one sample, one row each")
        first, width = lines[0][0], len(lines[0][1])
        for row, cells in lines:
            found = f"row {row} with {counted(len(cells), 'cell')}, where row {first} has {width},"
            need(len(cells) == width, found, "the same number of cells in every row")
        few = len(lines) * width <= MAX_NUMBERS
        need(few, "too many numbers", f"at most {MAX_NUMBERS}", "Use fewer samples.")
        names = [*(f" ({name[:40]})" for name in header_names), *[""] * width]

        def number(cell: tuple[int, int, str]) -> Fraction:
            row, column, text = cell
            try:
                return exact_fraction(text.strip())
            except Finding as finding:
                index = not text.strip() and cell == (first, 0, text)
                hint = "Write a DataFrame without its index: index=False." if index else ""
                place = f"row {row}, column {column + 1}{names[column]}"
                found = f"{finding.found} in {quoted(file)}, {place}"
                raise finding.reworded(found, hint) from None

        cells = (("", (row, n, cell)) for row, cells in lines for n, cell in enumerate(cells))
        flat = read_all(cells, number)
        return [flat[column::width] for column in range(width)], header_names
    except Finding as finding:
        raise finding.reworded(f"{finding.found} in {quoted(file)}") from None


def _lines(data: bytes, delimiter: str | None) -> list[Line]:
    """Return the cells of every line that is not blank, with its number in the file."""
    text = decoded(data, "CSV in UTF-8, one row a sample", 'Save it as "CSV UTF-8".')
    separator = delimiter or _detected(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if "".join(row).strip() or len(row) > 1]
    except csv.Error as error:
        raise Finding(f"{error} in row {reader.line_num}", "CSV") from None


def _detected(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return next((delimiter for delimiter in _DELIMITERS if delimiter in first), ",")


def _header(lines: list[Line], given: bool | None) -> list[str]:
    """Return the names of the columns, or an empty list where the first row is a sample."""
    cells = lines[0][1] if lines else []
    numbers = any(_NUMBER_LIKE.match(cell) for cell in cells)
    if given is False or (numbers and not given):
        return []  # a text among numbers is left for the reader of cells to report
    return [cell.strip() for cell in cells]


_NAMES = (("X", "inputs"), ("Y", "targets"))


def _matrices_from_npz(data: bytes, file: str) -> tuple[ExactMatrix, ExactMatrix]:
    """Return X, shape (n_x, P), and Y, shape (n_y, P), of an NPZ file, whose rows are samples.

    Integers are exact; a float is taken as its shortest decimal, so that a stored 0.1 is 1/10
    (see :func:`symreln.specs.number.exact_number`).

    Args:
        data: Contents of the file.
        file: Its name, for messages.

    Raises:
        Finding: It is no such file, too large, or holds something else than finite numbers.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            limit = f"at most {MAX_BYTES >> 20} MiB"
            need(size <= MAX_BYTES, f"{size} bytes after unpacking", limit, "Use fewer samples.")
            first, second = (_matrix(archive, names) for names in _NAMES)
            return first, second
    except Finding as finding:
        raise finding.reworded(f"{finding.found} in {quoted(file)}") from None
    except Exception as error:
        # zipfile, zlib and numpy raise a dozen types on damaged files; none is a mistake of ours
        # that a traceback would help with.
        reason = visible(cut(str(error).partition("\n")[0], 100))
        found = f"{quoted(file)}, which does not load ({type(error).__name__}: {reason})"
        raise Finding(found, "an NPZ file", "Write it again with numpy.savez.") from None


def _matrix(archive: zipfile.ZipFile, names: tuple[str, str]) -> ExactMatrix:
    stored = {entry.removesuffix(".npy"): entry for entry in archive.namelist()}
    name = next((name for name in names if name in stored), "")
    listed = visible(cut(", ".join(sorted(stored)))) or "none"
    found, hint = f"no array {names[0]} (arrays: {listed})", nearest(names[0], stored)
    need(name, found, f"an array {names[0]} or {names[1]}", hint)
    with archive.open(stored[name]) as stream:
        _check_header(stream, name)
    with archive.open(stored[name]) as stream:
        return _exact(npy.read_array(stream, allow_pickle=False), name)


def _check_header(stream: IO[bytes], name: str) -> None:
    """Check what an array says about itself before memory is taken for it."""
    version = npy.read_magic(stream)
    need(version == (1, 0), f"format version {version} of array {name}", "version 1.0")
    shape, _, dtype = npy.read_array_header_1_0(stream)
    fits = dtype.kind in "biuf" and dtype.itemsize <= 8
    found, hint = f"entries of type {dtype} in array {name}", "X.astype(float) converts it."
    need(fits, found, "integers or floats of at most 64 bits", hint)
    found, two = f"array {name} of shape {shape}", "samples in rows and features in columns"
    hint = f"Reshape it: {name}.reshape(-1, 1) is one column." * (len(shape) == 1)
    need(len(shape) == 2, found, f"two dimensions, {two}", hint)
    need(0 not in shape, found, "at least one sample and one column")
    need(prod(shape) <= MAX_NUMBERS, found, f"at most {MAX_NUMBERS} numbers")


def _exact(array: np.ndarray, name: str) -> ExactMatrix:
    if array.dtype.kind in "biu":
        return ExactMatrix.from_integers(fmpz_mat(array.T.tolist()))
    bad = np.argwhere(~np.isfinite(array)).tolist()
    if bad:
        (row, column), *others = bad
        found = f"{array[row, column]} in {name}[{row}, {column}]"
        found += f" and {len(others)} more" * bool(others)
        raise Finding(found, "finite numbers", "Remove the sample, or fill the gap in.")
    # str() of a float32 is its own shortest decimal; going through float64 would lengthen it.
    decimals = [[exact_decimal(str(value)) for value in row] for row in array.T]
    return matrix_of_fractions(decimals)
