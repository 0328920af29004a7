"""Messages between a training and its worker processes: JSON and arrays, never pickle."""

from __future__ import annotations

import io
import json
import struct
import threading
from typing import Any, BinaryIO

import numpy as np

_LENGTH = struct.Struct("<Q")
# NumPy parses an array's header with `ast`, which fails now and then in CPython 3.11 where two
# threads do so at once ("AST constructor recursion depth mismatch").
_PARSING = threading.Lock()


def send(stream: BinaryIO, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write one message. ``header`` is JSON; no array may be called ``header``."""
    body = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(body, header=text, **arrays)  # pyright: ignore[reportArgumentType]
    stream.write(_LENGTH.pack(body.tell()))
    stream.write(body.getbuffer())
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """Read one message; None where the other side has closed."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    if len(body) < length:
        return None
    with _PARSING, np.load(io.BytesIO(body), allow_pickle=False) as data:
        arrays = {name: data[name] for name in data.files}
    header = json.loads(arrays.pop("header").tobytes())
    return header, arrays
