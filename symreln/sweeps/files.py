"""The files of a sweep's tasks: one NPZ each, which is whole or not there."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from symreln.base.jsonio import write_bytes
from symreln.base.summaries import short_repr
from symreln.errors import InputError

#: What NumPy and zipfile raise where a byte is not what was written.
_DAMAGE = (OSError, ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


@short_repr(eq=False)
class Result:
    """What a task leaves.

    Attributes:
        values: JSON values.
        arrays: Curves by name.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray]


def write_result(path: Path, result: Result) -> None:
    """Write a result, all or nothing; the bytes are the same every time."""
    buffer, held = io.BytesIO(), dict[str, Any](result.arrays)
    np.savez(buffer, values=np.array(json.dumps([result.values, sorted(held)])), **held)
    try:
        write_bytes(path, buffer.getvalue())
    except FileNotFoundError:  # tidied away by another run, which has the same result
        if not path.exists():
            raise


def read_result(path: Path) -> Result | None:
    """Return a task's result; None where there is none.

    Raises:
        InputError: The file was changed or cut.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
            arrays = dict(data)
        values, names = json.loads(str(arrays.pop("values")))
        if sorted(arrays) != names:
            msg = f"found {', '.join(arrays)}"
            raise LookupError(msg)
        return Result(values=values, arrays=arrays)
    except FileNotFoundError:
        return None
    except _DAMAGE as error:
        msg = f"{path}: it is damaged. Remove it, and the same command makes it again"
        raise InputError(msg) from error


def tidy(folder: Path) -> None:
    """Remove what killed writers left of results that are there by now."""
    for left in folder.glob(".*.tmp"):
        if (folder / left.name[1:].rsplit(".", 2)[0]).exists():
            left.unlink(missing_ok=True)
