"""NPZ files of numbers: header and size are checked before anything is loaded, pickle never is."""

from __future__ import annotations

import io
import zipfile
from math import prod
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.lib import format as npy

from symreln.exact.matrix import ExactMatrix
from symreln.spec.files import MAX_BYTES, MAX_NUMBERS
from symreln.spec.finding import Finding, cut, nearest, quoted, visible
from symreln.spec.matrices import matrix_of_fractions
from symreln.spec.number import exact_float

MAX_ARRAYS = 16
MAX_HEADER = 10_000
"""Bytes of an array's header, numpy's own limit."""
_NAMES = (("X", "inputs"), ("Y", "targets"))


def matrices_from_npz(data: bytes, file: str) -> tuple[ExactMatrix, ExactMatrix]:
    """Return X, shape (n_x, P), and Y, shape (n_y, P), of an NPZ file.

    Integers are exact; a float is taken as its shortest decimal, so that a stored 0.1 is 1/10
    (see :func:`symreln.spec.number.exact_float`).

    Args:
        data: Contents of the file.
        file: Its name, for messages.

    Raises:
        Finding: It is no such file, too large, or holds something else than finite numbers.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _members(archive)
            first, second = (_matrix(archive, members, names) for names in _NAMES)
            return first, second
    except Finding as finding:
        raise finding.reworded(f"{finding.found} in {quoted(file)}") from None
    except Exception as error:
        # zipfile, zlib and numpy raise a dozen types on damaged files; none is a mistake of ours
        # that a traceback would help with.
        reason = visible(cut(str(error).partition("\n")[0], 100))
        found = f"{quoted(file)}, which does not load ({type(error).__name__}: {reason})"
        raise Finding(found, "an NPZ file", "Write it again with numpy.savez.") from None


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries = archive.infolist()
    if len(entries) > MAX_ARRAYS:
        raise Finding(f"{len(entries)} arrays", f"at most {MAX_ARRAYS}")
    size = sum(entry.file_size for entry in entries)
    if size > MAX_BYTES:
        found = f"{size} bytes after unpacking"
        raise Finding(found, f"at most {MAX_BYTES >> 20} MiB", "Use fewer samples.")
    members = {entry.filename.removesuffix(".npy"): entry for entry in entries}
    if len(members) < len(entries):
        raise Finding("two arrays of one name", "a name of its own for each")
    return members


def _matrix(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], names: tuple[str, str]
) -> ExactMatrix:
    name = next((name for name in names if name in members), None)
    if name is None:
        found = (
            f"no array {names[0]} (arrays: {visible(cut(', '.join(sorted(members)))) or 'none'})"
        )
        expected = f"an array {names[0]} or {names[1]}"
        raise Finding(found, expected, nearest(names[0], members) if members else "")
    info = members[name]
    with archive.open(info) as stream:
        _check_header(stream, info, name)
    with archive.open(info) as stream:
        return _exact(npy.read_array(stream, allow_pickle=False), name)


def _check_header(stream: Any, info: zipfile.ZipInfo, name: str) -> None:
    """Check what an array says about itself before memory is taken for it."""
    version = npy.read_magic(stream)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise Finding(f"format version {version} of array {name}", "version 1.0 or 2.0")
    shape, _, dtype = readers[version](stream, max_header_size=MAX_HEADER)
    if dtype.hasobject:
        hint = "Convert it before saving: X.astype(float)."
        raise Finding(f"Python objects in array {name}", "numbers", hint)
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        hint = "Convert it before saving: X.astype(int)." if dtype.kind == "b" else ""
        found = f"entries of type {dtype} in array {name}"
        raise Finding(found, "integers or floats of at most 64 bits", hint)
    found = f"array {name} of shape {shape}"
    if len(shape) != 2:
        hint = f"Reshape it: {name}.reshape(1, -1) is one row." if len(shape) == 1 else ""
        raise Finding(found, "two dimensions, features in rows and samples in columns", hint)
    if 0 in shape:
        raise Finding(found, "at least one row and one sample")
    if prod(shape) > MAX_NUMBERS:
        raise Finding(found, f"at most {MAX_NUMBERS} numbers")
    left = info.file_size - stream.tell()
    if prod(shape) * dtype.itemsize > left:
        expected = "as many bytes as the header says"
        raise Finding(f"{found} in {left} bytes", expected, "The file is damaged.")


def _exact(array: np.ndarray, name: str) -> ExactMatrix:
    if array.dtype.kind in "iu":
        return ExactMatrix.from_integers(fmpz_mat(array.tolist()))
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = (int(index) for index in bad[0])
        found = f"{array[row, column]} in {name}[{row}, {column}]"
        if len(bad) > 1:
            found += f" and {len(bad) - 1} more"
        hint = "Remove the sample, or fill the gap in."
        raise Finding(found, "finite numbers", hint)
    # str() of a float32 is its own shortest decimal; going through float64 would lengthen it.
    decimals = [[exact_float(float(str(value))) for value in row] for row in array]
    return matrix_of_fractions(decimals)
