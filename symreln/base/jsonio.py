"""JSON that is the same every time, and files that are either the old ones or the new ones."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
#: Characters up to which an object or a list of plain values stands on one line.
LINE = 100
_NUMBERS = {int, float}
_PLAIN = {str, bool, type(None)} | _NUMBERS
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
#: The same with line ends between items. In a text they are escaped, so they show where items end.
_BETWEEN = ",\n"
_encode_items = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(_BETWEEN, ": ")
).encode


def dumps(value: Json) -> str:
    """Return ``value`` as JSON: keys in the order they were put in, two spaces, a line end.

    What holds plain values only stands on one line where it fits, and lists of numbers always do:
    a number with its decimal is one thing to read, and a matrix has a line for each row.

    Raises:
        TypeError: A key is no string, or a value of another type than JSON has.
        ValueError: NaN, infinity, or half a surrogate pair.
    """
    text = _text(value, "\n") + "\n"
    text.encode()
    return text


def _text(value: Any, line: str) -> str:
    """Return the text of ``value``; ``line`` is a line end with its indentation."""
    text = _on_one_line(value)
    if text is not None:
        return text
    inner = line + "  "
    if isinstance(value, dict):
        parts, ends = [f"{_encode(key)}: {_text(each, inner)}" for key, each in value.items()], "{}"
    else:
        parts, ends = _rows(value) or [_text(each, inner) for each in value], "[]"
    return f"{ends[0]}{inner}{f',{inner}'.join(parts)}{line}{ends[1]}"


def _on_one_line(value: Any) -> str | None:
    """Return the text of what is written on one line, else None."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            msg = "a key that is no string"  # the encoder would make it one
            raise TypeError(msg)
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    else:
        return _encode(value)
    kinds = set(map(type, items))
    if not kinds <= _PLAIN:
        return None
    text = _encode(value)
    numbers = not isinstance(value, dict) and kinds <= _NUMBERS
    return text if numbers or len(text) <= LINE else None


def _rows(value: Any) -> list[str] | None:
    """Return the texts of rows that stand on one line each, else None.

    Large certificates are tables of many short rows: they are encoded at once, and then divided.
    """
    if not isinstance(value, list | tuple) or not set(map(type, value)) <= {list, tuple}:
        return None
    kinds = set(map(type, chain.from_iterable(value)))
    if not kinds <= _PLAIN:
        return None
    text = _encode_items(value)[1:-1].replace(f"]{_BETWEEN}[", "]\n[").replace(_BETWEEN, ", ")
    rows = text.split("\n")
    return rows if kinds <= _NUMBERS or max(map(len, rows)) <= LINE else None


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, all or nothing."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, all or nothing.

    The bytes go to a new file in the same folder, to disk, and only then take the name: a process
    that dies leaves the old file whole, and so does a full disk.

    Raises:
        OSError: It cannot be written; ``filename`` is ``path``.
    """
    name = draft_name(path)
    try:
        handle = os.open(name, _NEW, 0o666)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, path)
        _sync_folder(path.parent)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # Of the right class by its number. What failed may name no file, or the unfinished one.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def draft_name(path: Path) -> Path:
    """Return a new name beside ``path`` for what this process is writing, to take its place."""
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(6)}.tmp")


def _sync_folder(folder: Path) -> None:
    """Bring the new name to disk, where the system lets folders be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
