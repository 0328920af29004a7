"""A task's result as bytes: an NPZ that is the same every time and shows every damage.

It holds ``header.json`` and arrays of numbers; no dates, no host, no objects. A ZIP has a checksum
of each of its members.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symreln.base.jsonio import write_bytes
from symreln.base.summaries import short_repr

_FORMAT = "symreln-task/1"
_HEADER = "header.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP can say
_UNIX = 3


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """What a task leaves.

    Attributes:
        values: JSON values.
        arrays: Curves by name.
    """

    values: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]


def encode(name: str, result: Result) -> bytes:
    """Return the bytes of a result.

    Args:
        name: Of its file, which stands in it: a file under another's name is no result.
        result: Its arrays are written as little-endian float64.
    """
    head = {"format": _FORMAT, "name": name, "values": dict(result.values)}
    text = json.dumps(head, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    arrays = {f"{key}.npy": _npy(array) for key, array in result.arrays.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, data in {_HEADER: text.encode(), **arrays}.items():
            info = zipfile.ZipInfo(member, _DATE)
            info.create_system = _UNIX
            archive.writestr(info, data)
    return buffer.getvalue()


def decode(name: str, data: bytes) -> Result:
    """Return the result that :func:`encode` made bytes of.

    Raises:
        ValueError: These are not its bytes: one of them was changed, or some are missing.
    """
    msg = "its content is not what was written"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {member: archive.read(member) for member in archive.namelist()}
        values = json.loads(members.pop(_HEADER))["values"]
        arrays = {key.removesuffix(".npy"): _array(text) for key, text in members.items()}
        result = Result(values=values, arrays=arrays)
        # The checksums are of the members alone: made once more, every byte must be the same.
        if encode(name, result) == data:
            return result
    except (zipfile.BadZipFile, zlib.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(msg) from error
    except (OSError, EOFError, RuntimeError, MemoryError, OverflowError) as error:
        raise ValueError(msg) from error
    raise ValueError(msg)


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype="<f8")
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(data: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)


@dataclass(frozen=True, kw_only=True)
class TaskFolder:
    """The files of a sweep's tasks.

    Attributes:
        path: Where they are; it must exist before something is written.
    """

    path: Path

    def read(self, name: str) -> Result | None:
        """Return a task's result; None where there is none, or a damaged one, which is removed."""
        file = self.path / name
        try:
            return decode(name, file.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            file.unlink(missing_ok=True)
            return None

    def has(self, name: str) -> bool:
        """Whether there is a file; every file that is there was whole when it came there."""
        return (self.path / name).exists()

    def write(self, name: str, data: bytes) -> None:
        """Write a result, to disk, all or nothing; where it is there already, it is the same."""
        if self.has(name):
            return
        try:
            write_bytes(self.path / name, data)
        except FileNotFoundError:
            # Another run that found this result whole has tidied up: theirs has the same bytes.
            if not self.has(name):
                raise

    def tidy(self, names: Collection[str]) -> None:
        """Remove what killed writers left of results that are there.

        Args:
            names: Of files that were read whole. A writer of the same that still lives has the
                same bytes.
        """
        for left in self.path.glob(".*.tmp"):
            if left.name[1:].rsplit(".", 2)[0] in names:
                with contextlib.suppress(FileNotFoundError):
                    left.unlink()
