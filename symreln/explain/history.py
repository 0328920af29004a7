"""A history: the weights of a user's own ReLU network, recorded during its training.

It comes from arrays in memory, an NPZ file or a safetensors file. Shapes are checked before a
number is read, pickle never is, and weights are read one checkpoint at a time: a file may be larger
than memory.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import IO, Any, Literal, Protocol, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from symreln.base.records import record
from symreln.errors import InputError, visible
from symreln.specs.files import read_bytes
from symreln.specs.finding import Finding, counted, cut, nearest, need, quoted

#: Axes of every array: T checkpoints, H hidden units, n_x inputs, n_y outputs.
_AXES = {
    "steps": ("T",),
    "W1": ("T", "H", "n_x"),
    "W2": ("T", "n_y", "H"),
    "b1": ("T", "H"),
    "b2": ("T", "n_y"),
    "losses": ("T",),
}
_NEEDED, _LAYERS = ("steps", "W1", "W2"), ("W1", "W2", "b1")
_DEEP = re.compile(r"[Wb][3-9]")
_PARAMETER = re.compile(r"\b(weight|bias|kernel|state_dict)$")
#: What mends an array of one axis too few or too many.
_RESHAPED = {
    "steps": "Give a list of numbers, or steps.reshape(-1).",
    "W1": "Stack the weights of all checkpoints: W1 = np.stack([…]).",
    "W2": "Stack the weights of all checkpoints: W2 = np.stack([…]); of one output W2[:, None, :].",
    "b1": "Stack the biases of all checkpoints: b1 = np.stack([…]).",
    "b2": "Stack the biases of all checkpoints: b2 = np.stack([…]); of one output b2[:, None].",
    "losses": "Give a list of numbers, or losses.reshape(-1).",
}
_MOST_CHECKPOINTS = 100_000
_MOST_NUMBERS = 100_000_000
"""Numbers of one array in one checkpoint: as float64 they take 800 MB."""
_MOST_UNPACKED = 4 << 30
"""Bytes of compressed arrays, which are unpacked into the folder of temporary files."""
_MOST_STEPS = 2**53
_PIECE = 1 << 20
_FORMS = "an NPZ file or a safetensors file"
_SUFFIXES = (".npz", ".safetensors")
_TORCH = (".pt", ".pth", ".ckpt", ".bin")
_PLAIN = re.compile(r"[FIU](8|16|32|64)")
#: Files of other kinds, by how they start.
_MAGIC = (
    (b"\x93NUMPY", "a single array (NPY)"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x80", "a pickle"),
)
_AGAIN = "Write it again with numpy.savez."
_STACK = """
    states = [torch.load(file, map_location="cpu", weights_only=True) for file in files]
    W1 = np.stack([state["0.weight"].numpy() for state in states])  # or the names of your layers
    W2 = np.stack([state["2.weight"].numpy() for state in states])
    b1, b2 = (np.stack([s[name].numpy() for s in states]) for name in ("0.bias", "2.bias"))
    np.savez("history.npz", steps=steps, W1=W1, W2=W2, b1=b1, b2=b2)"""


class _Stored(Protocol):
    """An array that may lie in a file; ``stored[a:b]`` reads these checkpoints alone."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype: ...
    def __getitem__(self, place: slice, /) -> NDArray: ...


@record(eq=False)
class History:
    """Weights of a network of two layers at T checkpoints of its training.

    The network is ŷ = W2 ReLU(W1 x), with biases ŷ = W2 ReLU(W1 x + b1) + b2.

    Attributes:
        steps: Training step of each checkpoint, ascending, from 0 on. Shape (T,), int64.
        hidden: H, the number of hidden units.
        inputs: Columns of the first layer: n_x, and one more where it had a bias.
        outputs: n_y.
        losses: The user's own loss at each checkpoint. Shape (T,), float64; None where not given.
        biased: Whether the first layer had a bias: the last column, of an input that is 1.
        output_bias: Bias of the outputs at each checkpoint. Shape (T, n_y), float64, or None.
        name: Of the file, or "history".
    """

    steps: NDArray[np.int64]
    hidden: int
    inputs: int
    outputs: int
    losses: NDArray[np.float64] | None = None
    biased: bool = False
    output_bias: NDArray[np.float64] | None = None
    name: str = "history"
    _stored: dict[str, _Stored] = field(default_factory=dict, repr=False)

    def weights(self, place: int, dtype: DTypeLike = np.float64) -> tuple[NDArray, NDArray]:
        """Read the weights of one checkpoint.

        Args:
            place: Of the checkpoint, from 0 to T - 1; -1 is the last.
            dtype: Of the arrays that are returned; they are copies.

        Returns:
            W1 of shape (H, inputs) and W2 of shape (n_y, H).

        Raises:
            InputError: The history is closed.
            IndexError: There is no such checkpoint.
        """
        if not self._stored:
            msg = f"{self.name}: it is closed. Read it again with read_history."
            raise InputError(msg)
        at = range(len(self.steps))[place]
        first, second = (_row(self._stored[name], at, dtype) for name in ("W1", "W2"))
        if self.biased:
            first = np.column_stack([first, _row(self._stored["b1"], at, dtype)])
        return first, second

    def close(self) -> None:
        """Let go of the file; what was unpacked of it is deleted."""
        self._stored.clear()

    def __enter__(self) -> Self:
        """Return itself; the ``with`` statement closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def read_history(source: Mapping[str, Any] | str | os.PathLike[str]) -> History:
    """Return the history in a mapping of arrays or in a file, after checking all of it.

    Arrays are ``steps`` (T,), ``W1`` (T, H, n_x) and ``W2`` (T, n_y, H); ``b1`` (T, H), ``b2``
    (T, n_y) and ``losses`` (T,) may be left out.

    Args:
        source: A mapping with arrays, lists or torch tensors on the processor; or the path of an
            NPZ file or of a safetensors file (extra ``symreln[safetensors]``).

    Raises:
        InputError: Something is missing, of a wrong shape, in a wrong order or not finite; the
            file is of another kind, damaged or too large.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> W1, W2 = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 1, 5))
        >>> history = read_history({"steps": [0, 100], "W1": W1, "W2": W2})
        >>> history.hidden, history.inputs, history.outputs
        (5, 3, 1)
        >>> bool((history.weights(1)[0] == W1[1]).all())
        True
    """
    name = "history"
    try:
        if isinstance(source, Mapping):
            _check_names([str(key) for key in source])
            return _checked({key: _array(source, key) for key in source}, name)
        found = f"{type(source).__name__}" if source is not None else "nothing"
        hint = "A torch module is recorded while it is trained, by recorder(model, every=…)."
        if not isinstance(source, str | os.PathLike):
            raise Finding(found, f"a mapping of arrays, {_FORMS}", hint)
        path = Path(source)
        name = visible(str(path))
        return _checked(_in_file(path), name)
    except Finding as finding:
        problem = finding.problems[0]
        raise InputError(str(replace(problem, file=name))) from None


def check_history(history: History, inputs: int, outputs: int) -> None:
    """Check that a history is of a network for a dataset.

    Args:
        history: What was recorded.
        inputs: n_x, features of the dataset.
        outputs: n_y, targets of the dataset.

    Raises:
        InputError: It has another number of inputs or outputs.
    """
    columns, hidden = history.inputs - history.biased, history.hidden
    name, found, expected, hint = "", "", "", ""
    if columns != inputs:
        name, found = "W1", f"{counted(columns, 'input')} of {counted(hidden, 'unit')}"
        expected = f"{inputs}, the features of the dataset"
        hint = _bias_hint(columns - inputs, biased=history.biased)
        if inputs in (hidden, outputs) and (hidden, columns) == (inputs, history.outputs):
            hint = "W1 and W2 are transposed: give W1.transpose(0, 2, 1) and W2.transpose(0, 2, 1)."
    elif history.outputs != outputs:
        name, found = "W2", counted(history.outputs, "output")
        expected = f"{outputs}, the targets of the dataset"
        hint = "Give the targets that it was trained on: classes as one column each (one-hot)."
    if name:
        problem = Finding(found, expected, hint, name).problems[0]
        raise InputError(str(replace(problem, file=history.name)))


def _bias_hint(more: int, *, biased: bool) -> str:
    if more == 1 and not biased:
        return (
            "Is its last column a bias? Then give b1 = W1[:, :, -1] and W1 = W1[:, :, :-1], "
            "or a dataset with a column of ones."
        )
    if more == -1 and biased:
        return "Has the dataset a column of ones? Leave it out: b1 stands for it."
    if more == -1:
        return "Is a bias missing? Give it as b1; the dataset then has no column of ones."
    return "Give the inputs that it was trained on, preprocessed likewise."


# -- what is in the arrays -------------------------------------------------------------------------


def _checked(stored: dict[str, _Stored], name: str) -> History:
    """Return the history in arrays.

    Raises:
        Finding: They are no history.
    """
    for each, array in stored.items():
        _check_array(each, array)
    steps = _steps(stored["steps"])
    for each, array in stored.items():
        found = f"{counted(array.shape[0], 'checkpoint')} (shape {array.shape})"
        longer = each == "losses" and array.shape[0] > steps[-1]
        hint = "Keep those of the checkpoints: losses[steps]." if longer else ""
        need(array.shape[0] == len(steps), found, f"{len(steps)}, as steps has", hint, each)
    _check_units(stored)
    values = {each: _numbers(stored.pop(each)) for each in ("losses", "b2") if each in stored}
    losses, output_bias = values.get("losses"), values.get("b2")
    for place, loss in enumerate(losses if losses is not None else ()):
        expected, hint = "losses that are finite and not negative", ""
        need(0 <= loss < np.inf, f"{loss} at {_at(place, steps)}", expected, hint, "losses")
    if output_bias is not None:
        _check_finite(output_bias, "b2", 0, steps)
    del stored["steps"]
    _check_weights(stored, steps)
    _, hidden, inputs = stored["W1"].shape
    return History(
        steps=steps,
        hidden=hidden,
        inputs=inputs + ("b1" in stored),
        outputs=stored["W2"].shape[1],
        losses=losses,
        biased="b1" in stored,
        output_bias=output_bias,
        name=name,
        _stored=stored,
    )


def _check_names(names: Collection[str]) -> None:
    """Check which arrays there are.

    Raises:
        Finding: One is missing, unknown or of a third layer; or they are of one network alone.
    """
    listed = visible(cut(", ".join(names))) or "none"
    found, hint = f"the parameters of one network ({listed})", f"Stack checkpoints:{_STACK}"
    need(not any(map(_PARAMETER.search, names)), found, "steps, W1 and W2 over checkpoints", hint)
    deep = next((name for name in names if _DEEP.fullmatch(name)), "")
    found, expected = f"the array {deep}, of a third layer", "two layers of weights, W1 and W2"
    need(not deep, found, expected, "Only networks of one hidden layer are explained.")
    missing = [name for name in _NEEDED if name not in names]
    for name in names:
        hint = nearest(name, missing if nearest(name, missing)[:3] == "Did" else _AXES)
        need(name in _AXES, f"the array {quoted(name)}", "arrays of a history", hint)
    found, expected = f"no array {' and no '.join(missing)}", "steps, W1 and W2"
    need(not missing, f"{found} (arrays: {listed})", expected)


def _check_array(name: str, array: _Stored) -> None:
    """Check an array by what it says about itself, before a number is read.

    Raises:
        Finding: It has another type or another number of axes, is empty or too large.
    """
    shape, dtype, axes = array.shape, array.dtype, _AXES[name]
    fits = dtype.kind in "iuf" and dtype.itemsize <= 8
    what = "Python objects" if dtype.kind == "O" else f"entries of type {dtype}"
    hint = {"O": "Give one array of numbers: all checkpoints have one shape.", "c": "Take .real."}
    convert = f"{name}.astype(np.float32) converts it."
    expected = "real numbers of at most 64 bits"
    need(fits, what, expected, hint.get(dtype.kind, convert), name)
    expected = f"the axes ({', '.join(axes)}{',' * (len(axes) == 1)})"
    need(len(shape) == len(axes), f"the shape {shape}", expected, _RESHAPED[name], name)
    need(0 not in shape, f"an empty array of shape {shape}", "at least one entry an axis", "", name)
    expected = f"at most {_MOST_NUMBERS} numbers a checkpoint"
    need(prod(shape[1:]) <= _MOST_NUMBERS, f"the shape {shape}", expected, "", name)


def _steps(array: _Stored) -> NDArray[np.int64]:
    """Return the steps of checkpoints.

    Raises:
        Finding: They are no ascending whole numbers from 0 on.
    """
    (count,) = array.shape
    expected = f"2 to {_MOST_CHECKPOINTS}, for training is a change of weights"
    hint = "Record some during training." if count < 2 else "Keep every tenth, for example."
    fits = 2 <= count <= _MOST_CHECKPOINTS
    need(fits, counted(count, "checkpoint"), expected, hint, "steps")
    steps = array[:]
    for place, step in enumerate(steps.tolist()):
        at = f"{step} at checkpoint {place}"
        hint = "Count steps of the optimiser: an epoch has samples / batch size of them."
        need(float(step).is_integer(), at, "whole numbers", hint, "steps")
        need(0 <= step < _MOST_STEPS, at, "steps from 0 to 2^53", "Count from 0.", "steps")
        before = steps[place - 1] if place else -1
        same, found = step == before, f"{step} after {before} (checkpoint {place})"
        sort = "Sort all arrays by order = np.argsort(steps); of two runs, keep one."
        hint = "Keep one checkpoint of each step." if same else sort
        need(step > before, found, "ascending steps", hint, "steps")
    return steps.astype(np.int64)


def _check_units(stored: Mapping[str, _Stored]) -> None:
    """Check that the layers belong together.

    Raises:
        Finding: They have other numbers of units or of outputs, or are transposed.
    """
    first, second = stored["W1"].shape, stored["W2"].shape
    found = f"W1 of shape {first} and W2 of shape {second}"
    if first[1] != second[2]:
        turned = (
            ("W2", first[1] == second[1]),
            ("W1", first[2] == second[2]),
            ("W1 and W2", first[2] == second[1]),
        )
        which = next((names for names, fits in turned if fits), "")
        hint = f"{which}: transposed, it seems; mend it with .transpose(0, 2, 1)." if which else ""
        expected = "W1 (T, H, n_x) and W2 (T, n_y, H) with the same H"
        raise Finding(f"{first[1]} and {second[2]} hidden units in {found}", expected, hint)
    for name, layer, count in (("b1", "W1", first[1]), ("b2", "W2", second[1])):
        if name in stored:
            shape = stored[name].shape
            expected = f"{(first[0], count)}, for {layer} has the shape {stored[layer].shape}"
            hint = "Are b1 and b2 exchanged?" * (shape[1] in (first[1], second[1]))
            need(shape[1] == count, f"the shape {shape}", expected, hint, name)


def _check_weights(stored: Mapping[str, _Stored], steps: NDArray[np.int64]) -> None:
    """Read all weights once, one checkpoint at a time.

    Raises:
        Finding: One is not finite, all of a checkpoint are 0, or all checkpoints are the same.
    """
    same, first = True, np.zeros(0)
    for place in range(len(steps)):
        zero = True
        for name in _LAYERS:
            if name in stored:
                row = stored[name][place : place + 1]
                _check_finite(row, name, place, steps)
                zero = zero and not row.any()
                if name == "W1":
                    first = row.copy() if place == 0 else first
                    same = same and np.array_equal(row, first)
        hint = "Keep the checkpoints that were recorded; from weights of 0 nothing is learned."
        need(not zero, f"only zeros at {_at(place, steps)}", "weights of a network", hint, "W1, W2")
    hint = "Copy weights when they are recorded: weight.detach().numpy().copy()."
    need(not same, "the same weights at all checkpoints", "weights that change", hint, "W1")


def _check_finite(rows: NDArray, name: str, start: int, steps: NDArray[np.int64]) -> None:
    finite = np.isfinite(rows)
    if not finite.all():
        bad, *entry = np.argwhere(~finite)[0].tolist()
        found = f"{rows[(bad, *entry)]} at {_at(start + bad, steps)}, entry {entry}"
        hint = "Did the training diverge? Leave out these checkpoints, or lower the learning rate."
        raise Finding(found, "finite numbers", hint, name)


def _at(place: int, steps: NDArray[np.int64]) -> str:
    return f"checkpoint {place} (step {steps[place]})"


def _row(array: _Stored, place: int, dtype: DTypeLike) -> NDArray:
    return np.array(array[place : place + 1][0], dtype=dtype)


def _numbers(array: _Stored) -> NDArray[np.float64]:
    return np.array(array[:], dtype=np.float64)


# -- where arrays are ------------------------------------------------------------------------------


def _array(source: Mapping[Any, Any], name: str) -> NDArray:
    hint = "Give arrays of one shape; of tensors tensor.detach().float().cpu().numpy()."
    with _loading("an entry", "an array of numbers", hint, name):
        value = source[name]
        need(not np.ma.is_masked(value), "masked entries", "numbers", "Fill them in.", name)
        return np.asarray(value)


def _in_file(path: Path) -> dict[str, _Stored]:
    """Return the arrays of a file; their values are read when they are asked for.

    Raises:
        Finding: It is missing, damaged, too large or of another kind.
    """
    head, suffix = read_bytes(path, "the file", _FORMS, 255, _SUFFIXES), path.suffix.lower()
    if head[:2] == b"PK":
        return _in_npz(path)
    if suffix == ".safetensors" or head[8:9] == b"{":
        return _in_safetensors(path)
    if suffix in _TORCH:
        raise _torch_file()
    text = b"\x00" not in head and head.isascii()
    kinds = (kind for start, kind in _MAGIC if head.startswith(start))
    found = next(kinds, "a text file" if text else "a file of another kind or a damaged one")
    raise Finding(found if head else "an empty file", _FORMS, "Write it with numpy.savez.")


def _torch_file() -> Finding:
    return Finding("a file of torch, which is a pickle", _FORMS, f"Convert checkpoints:{_STACK}")


@record(eq=False)
class _Member:
    """An array of an NPZ file.

    Attributes:
        path: The NPZ file.
        entry: Where it is in it.
        name: Of the array.
        start: Bytes before its numbers.
        shape: Of the array.
        dtype: Likewise.
        order: "F" or "C".
    """

    path: Path
    entry: zipfile.ZipInfo
    name: str
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype
    order: Literal["F", "C"]

    def __getitem__(self, place: slice) -> NDArray:
        return self._mapped[place]

    @cached_property
    def _mapped(self) -> np.memmap:
        """The array in its file, or in a temporary one where it is compressed."""
        with (
            _loading(f"the array {self.name}", "an NPZ file", _AGAIN),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self.entry) as stream,
        ):
            if self.entry.compress_type == zipfile.ZIP_STORED:
                while stream.read(_PIECE):  # to its end, where zipfile compares the check sum
                    pass
                return self._map(self.path, self.start + _offset(self.path, self.entry))
            with tempfile.TemporaryFile() as unpacked:  # it is there as long as it is mapped
                shutil.copyfileobj(stream, unpacked, _PIECE)
                unpacked.flush()
                return self._map(unpacked, self.start)

    def _map(self, file: Any, offset: int) -> np.memmap:
        return np.memmap(file, self.dtype, "r", offset, self.shape, self.order)


def _offset(path: Path, entry: zipfile.ZipInfo) -> int:
    """Return where the bytes of a stored member begin: its own header has texts of any length."""
    with path.open("rb") as stream:
        stream.seek(entry.header_offset)
        header = stream.read(30)
    return entry.header_offset + 30 + sum(struct.unpack("<HH", header[26:]))


def _in_npz(path: Path) -> dict[str, _Stored]:
    stored: dict[str, _Stored] = {}
    with _loading("a file", "an NPZ file", _AGAIN), zipfile.ZipFile(path) as archive:
        entries = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
        if any(name.endswith("data.pkl") for name in entries):
            raise _torch_file()
        _check_names(entries)
        packed = [e for e in entries.values() if e.compress_type != zipfile.ZIP_STORED]
        size = sum(entry.file_size for entry in packed)
        room = min(_MOST_UNPACKED, shutil.disk_usage(tempfile.gettempdir()).free)
        hint = "Write it with numpy.savez instead of savez_compressed: stored arrays need none."
        need(size <= room, f"{size} bytes after unpacking", f"at most {room}", hint)
        for name, entry in entries.items():
            with archive.open(entry) as stream:
                stored[name] = _member(path, entry, name, stream)
    return stored


def _member(path: Path, entry: zipfile.ZipInfo, name: str, stream: IO[bytes]) -> _Member:
    version = npy.read_magic(stream)
    need(version == (1, 0), f"format version {version}", "version 1.0 of NPY", _AGAIN, name)
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    start, order = stream.tell(), "F" if fortran else "C"
    if dtype.kind != "O":  # objects have no size of their own; they are refused by their type
        found = f"{entry.file_size - start} bytes for the shape {shape} of {dtype}"
        expected = f"{prod(shape) * dtype.itemsize} bytes"
        need(entry.file_size - start == prod(shape) * dtype.itemsize, found, expected, _AGAIN, name)
    return _Member(
        path=path, entry=entry, name=name, start=start, shape=shape, dtype=dtype, order=order
    )


@record(eq=False)
class _Tensor:
    """An array of a safetensors file, by the library's own view of it."""

    view: Any
    shape: tuple[int, ...]
    dtype: np.dtype

    def __getitem__(self, place: slice) -> NDArray:
        return self.view[place]


def _in_safetensors(path: Path) -> dict[str, _Stored]:
    hint = "Install it: pip install 'symreln[safetensors]'; or write an NPZ file with numpy.savez."
    there = find_spec("safetensors") is not None
    need(there, "a safetensors file", "the package safetensors, which reads it", hint)
    stored: dict[str, _Stored] = {}
    with _loading("a file", "a safetensors file", "Write it again with save_file."):
        file = import_module("safetensors").safe_open(str(path), framework="numpy")
        _check_names(file.keys())
        for name in file.keys():  # noqa: SIM118 - it is no mapping
            view = file.get_slice(name)
            kind = view.get_dtype()
            plain = _PLAIN.fullmatch(kind)
            found, hint = f"entries of type {kind}", "tensor.float() converts it."
            need(plain, found, "real numbers of 8 to 64 bits", hint, name)
            dtype = np.dtype(f"{kind[0].lower()}{int(kind[1:]) // 8}")
            stored[name] = _Tensor(view=view, shape=tuple(view.get_shape()), dtype=dtype)
    return stored


@contextmanager
def _loading(what: str, expected: str, hint: str, path: str = "") -> Iterator[None]:
    """Say what cannot be read, whatever the library that reads it raises.

    zipfile, zlib, numpy, torch and safetensors have a dozen types for damaged files and odd values;
    none is a mistake of ours that a traceback would help with.

    Raises:
        Finding: It cannot be read.
    """
    try:
        yield
    except Finding:
        raise
    except Exception as error:
        reason = visible(cut(str(error).partition("\n")[0], 100))
        found = f"{what} that does not load ({type(error).__name__}: {reason})"
        raise Finding(found, expected, hint, path) from None
