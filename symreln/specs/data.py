"""A user's own dataset: matrices in the spec, CSV files, or an NPZ file, with labels and groups.

CSV files of exact numbers: one row a sample, decimals read as written.

NPZ files of numbers: header and size are checked before anything is loaded, pickle never is.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm, prod
from typing import IO, Any

import numpy as np
from flint import fmpz_mat
from numpy.lib import format as npy

from symreln.errors import visible
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.dataset import Dataset, Label
from symreln.specs.expression import Declared, Value
from symreln.specs.files import MAX_BYTES, MAX_NUMBERS, Folder, decoded
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
from symreln.specs.kinds import NAME_LENGTH, indices_of
from symreln.specs.number import WrittenDecimal, exact_decimal, exact_fraction
from symreln.specs.problems import Problems
from symreln.specs.schema import UserDatasetModel

LABEL_LENGTH = 200
_LABEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}", re.ASCII)
_RESERVED_LABELS = frozenset({"all", "and", "or", "not", "in"})
_FORMS = 'one of task = "…", X and Y (matrices), inputs and targets (CSV files), data (NPZ file)'
_MAX_COMMON_BITS = 16_384
"""Bits of the common denominator of a matrix: it multiplies every entry."""

_Rows = Sequence[Sequence[Value]]
"""Numbers and formulas, features in rows and samples in columns."""


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
    before = len(problems.found)
    model = problems.check(UserDatasetModel, table, "dataset", context=declared)
    if model is None:
        return None
    form = _form(model, problems)
    if len(problems.found) > before:
        return None
    files: dict[str, str] = {}
    read = _read(model, form, folder, files, problems)
    matrices = []
    for key, (rows, _) in zip((form[0], form[-1]), read, strict=False):
        with problems.at(f"dataset.{key}"):
            matrices.append(_matrix(rows, declared))
    if len(matrices) != 2:
        return None
    inputs, targets = matrices
    (n_x, samples), (n_y, other) = inputs.shape, targets.shape
    if other != samples:
        found = f"{counted(other, 'sample')} of targets for {counted(samples, 'sample')} of inputs"
        hint = "Samples are rows of files, CSV and NPZ; X and Y in the spec have them as columns."
        expected = f"{samples} samples, as dataset.{form[0]} has"
        problems.add(f"dataset.{form[-1]}", found, expected, hint)
        return None
    labels = _labels(model.labels, samples, problems)
    groups, names = {}, {}
    for kind, count, (_, columns) in zip(("inputs", "outputs"), (n_x, n_y), read, strict=True):
        groups[kind] = _groups(getattr(model.groups, kind), kind, count, problems)
        names[kind] = _names(getattr(model.names, kind) or columns, kind, count, problems)
    if len(problems.found) > before:
        return None
    numbers = (value for rows, _ in read for row in rows for value in row)
    parts = {type(x) for x in numbers if isinstance(x, Fraction) and x.denominator != 1}
    return Dataset(
        inputs=inputs,
        targets=targets,
        labels=labels,
        input_groups=groups["inputs"],
        output_groups=groups["outputs"],
        input_names=names["inputs"],
        output_names=names["outputs"],
        description=_description(inputs, targets, files),
        options=files,
        decimals=parts == {WrittenDecimal},
    )


def _form(model: UserDatasetModel, problems: Problems) -> tuple[str, ...]:
    """Return the keys by which the data is given, in exactly one way."""
    forms = (("X", "Y"), ("inputs", "targets"), ("data",))
    missing = [key for keys in forms for key in keys if getattr(model, key) is None]
    given = [keys for keys in forms if not set(keys) <= set(missing)]
    if len(given) != 1:
        found = " and ".join(" and ".join(pair) for pair in given) or "no data"
        problems.add("dataset", found, _FORMS, "Keep one of them." if given else "")
        return ()
    (keys,) = given
    for key, other in zip(keys, reversed(keys), strict=True):
        if key in missing:
            description = UserDatasetModel.model_fields[key].description or ""
            problems.add(f"dataset.{key}", "nothing", description, f"It belongs to {other}.")
    if model.header is not None and "inputs" not in keys:
        problems.add("dataset.header", shown(model.header), "no header without CSV files")
    return keys


def _read(
    model: UserDatasetModel,
    form: tuple[str, ...],
    folder: Folder,
    files: dict[str, str],
    problems: Problems,
) -> list[tuple[_Rows, list[str]]]:
    """Return inputs and targets as far as they could be read, and what headers call their rows.

    Args:
        model: What was asked for.
        form: The keys by which it is given.
        folder: Where data files are.
        files: Takes the fingerprints of files.
        problems: Collects.
    """
    if form == ("X", "Y"):
        return [(model.X or [], []), (model.Y or [], [])]
    found: list[tuple[_Rows, list[str]]] = []
    for key in form:
        name = getattr(model, key)
        with problems.at(f"dataset.{key}"):
            data = folder.read(name)
            files[key] = f"{name} (SHA-256 {hashlib.sha256(data).hexdigest()})"
            if key == "data":
                found += [(rows, []) for rows in _arrays_of_npz(data, name)]
            else:
                found.append(_rows_from_csv(data, name, header=model.header))
    if model.header is None and "data" not in form:
        _ask_for_header(found, model, problems)
    return [(rows, names if are_names(names) else []) for rows, names in found]


def _ask_for_header(
    read: list[tuple[_Rows, list[str]]], model: UserDatasetModel, problems: Problems
) -> None:
    """Ask whether first lines that count, 0, 1, 2, … or 2019, 2020, …, are samples or names.

    One column that starts with 0 is ordinary data: it is asked about only beside another such
    file. The columns of targets may go on where those of inputs end. Two columns count from 0.
    """
    first_rows = [[row[0] for row in rows] for rows, _ in read]
    widths = [len(row) for row in first_rows]
    counts = [
        not read[place][1]  # below a header of words all are samples
        and row == [row[0] + n for n in range(len(row))]
        and (len(row) > 2 or row[0] in {0, *widths[:place]})
        for place, row in enumerate(first_rows)
    ]
    for key, row, names in zip(("inputs", "targets"), first_rows, counts, strict=False):
        if names and (len(row) > 1 or (len(counts) == 2 and all(counts))):
            listed = ", ".join(map(str, row[:3])) + ", …" * (len(row) > 3)
            found = f"{listed} in the first row of {quoted(getattr(model, key))}"
            hint = "These are names of columns or a sample: numbers alone do not tell."
            problems.add(f"dataset.{key}", found, "header = true or header = false", hint)


def _matrix(rows: _Rows, declared: Declared) -> ExactMatrix:
    """Return a matrix over the declared names; one of numbers has them over one denominator.

    Raises:
        Finding: The common denominator is too large.
    """
    if any(isinstance(value, Scalar) for row in rows for value in row):
        return ExactMatrix.from_rows(rows, declared.names)
    numbers: Sequence[Sequence[Fraction]] = rows  # type: ignore[assignment]
    common, found = 1, f"entries whose common denominator has more than {_MAX_COMMON_BITS} bits"
    for each in {value.denominator for row in numbers for value in row}:
        common = lcm(common, each)  # checked on the way: it may have thousands of primes
        fits = common.bit_length() <= _MAX_COMMON_BITS
        need(fits, found, "a smaller one", "Round the entries to fewer digits.")
    scaled = [[value.numerator * (common // value.denominator) for value in row] for row in numbers]
    return ExactMatrix.from_integers(fmpz_mat(scaled), common).promoted(declared.names)


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
    sizes = f"{counted(n_x, 'input')} and {counted(targets.shape[0], 'output')}"
    names = " and ".join(text.partition(" (SHA-256")[0] for text in files.values())
    read = f", read from {names}" * bool(files)
    zero = " All targets are zero, so that every mode is a null mode." * targets.is_zero
    return f"A dataset of {counted(samples, 'sample')} with {sizes}{read}.{zero}"


_DELIMITERS = ("\t", ";", ",")
"""In the order of detection: a comma next to another one is a decimal comma, or part of a name."""
_NUMBER_LIKE = re.compile(
    r"\s*[-+.\d]|\s*$|\s*(nan|inf|infinity|na|n/a|null|none)\s*$", re.IGNORECASE
)


def _rows_from_csv(
    data: bytes, file: str, *, header: bool | None = None
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
        header: Whether the first row has the names of the columns.

    Raises:
        SpecError: It is no such file; the first MAX_LISTED wrong cells are listed by row and
            column, both from 1.
    """
    try:
        lines = _lines(data)
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


def _lines(data: bytes) -> list[tuple[int, list[str]]]:
    """Return the cells of every line that is not blank, with its number in the file."""
    text = decoded(data, "CSV in UTF-8, one row a sample", 'Save it as "CSV UTF-8".')
    first = re.sub(r'"[^"]*"', "", next((x for x in text.splitlines() if x.strip()), ""))
    delimiter = next((mark for mark in _DELIMITERS if mark in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if "".join(row).strip() or len(row) > 1]
    except csv.Error as error:
        raise Finding(f"{error} in row {reader.line_num}", "CSV") from None


def _header(lines: list[tuple[int, list[str]]], given: bool | None) -> list[str]:
    """Return the names of the columns, or an empty list where the first row is a sample."""
    cells = lines[0][1] if lines else []
    numbers = any(_NUMBER_LIKE.match(cell) for cell in cells)
    if given is False or (numbers and not given):
        return []  # a text among numbers is left for the reader of cells to report
    return [cell.strip() for cell in cells]


def _arrays_of_npz(data: bytes, file: str) -> list[_Rows]:
    """Return X, n_x rows, and Y, n_y rows, of an NPZ file, whose own rows are samples.

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
            return [_array(archive, names) for names in (("X", "inputs"), ("Y", "targets"))]
    except Finding as finding:
        raise finding.reworded(f"{finding.found} in {quoted(file)}") from None
    except Exception as error:
        # zipfile, zlib and numpy raise a dozen types on damaged files; none is a mistake of ours
        # that a traceback would help with.
        reason = visible(cut(str(error).partition("\n")[0], 100))
        found = f"{quoted(file)}, which does not load ({type(error).__name__}: {reason})"
        raise Finding(found, "an NPZ file", "Write it again with numpy.savez.") from None


def _array(archive: zipfile.ZipFile, names: tuple[str, str]) -> _Rows:
    stored = {entry.removesuffix(".npy"): entry for entry in archive.namelist()}
    name = next((name for name in names if name in stored), "")
    listed = visible(cut(", ".join(sorted(stored)))) or "none"
    found, hint = f"no array {names[0]} (arrays: {listed})", nearest(names[0], stored)
    need(name, found, f"an array {names[0]} or {names[1]}", hint)
    with archive.open(stored[name]) as stream:
        _check_header(stream, name)
    with archive.open(stored[name]) as stream:
        array = npy.read_array(stream, allow_pickle=False)
    if array.dtype.kind in "biu":
        return array.T.astype(object).tolist()
    bad = np.argwhere(~np.isfinite(array)).tolist()
    if bad:
        (row, column), *others = bad
        found = f"{array[row, column]} in {name}[{row}, {column}]"
        found += f" and {len(others)} more" * bool(others)
        raise Finding(found, "finite numbers", "Remove the sample, or fill the gap in.")
    # str() of a float32 is its own shortest decimal; going through float64 would lengthen it.
    return [[exact_decimal(str(value)) for value in row] for row in array.T]


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
