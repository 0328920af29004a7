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
import weakref
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from importlib import import_module
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from symreln.base.records import record
from symreln.errors import InputError, visible
from symreln.specs.files import read_bytes
from symreln.specs.finding import Finding, counted, cut, nearest, need, quoted

#: Axes of every array: T checkpoints, H hidden units, n_x inputs, n_y outputs.
_NEEDED = {"steps": "(T,)", "W1": "(T, H, n_x)", "W2": "(T, n_y, H)"}
_AXES = {**_NEEDED, "b1": "(T, H)", "b2": "(T, n_y)", "losses": "(T,)"}
_DEEP = re.compile(r"[Wb][3-9]")
_PARAMETER = re.compile(r"\b(weight|bias|kernel|state_dict)$")
_MOST_CHECKPOINTS = 100_000
_MOST_NUMBERS = 100_000_000
"""Numbers of one array in one checkpoint: as float64 they take 800 MB."""
_MOST_UNPACKED = 4 << 30
"""Bytes of compressed arrays, which are unpacked into the folder of temporary files."""
_PIECE = 1 << 20
_SUFFIXES, _FORMS = (".npz", ".safetensors"), "an NPZ file or a safetensors file"
_AGAIN = "Write it again with numpy.savez."
_REAL = "real numbers of at most 64 bits"
#: Files of other kinds, by how they start.
_MAGIC = {b"": "an empty file", b"\x93NUMPY": "one array (NPY)", b"\x89HDF": "an HDF5 file"}
_STACK = """Stack checkpoints:
    states = [torch.load(file, map_location="cpu", weights_only=True) for file in files]
    W1 = np.stack([state["0.weight"].numpy() for state in states])  # or what your layers are called
    W2 = np.stack([state["2.weight"].numpy() for state in states])
    b1, b2 = (np.stack([s[name].numpy() for s in states]) for name in ("0.bias", "2.bias"))
    np.savez("history.npz", steps=steps, W1=W1, W2=W2, b1=b1, b2=b2)"""


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
    losses: NDArray[np.float64] | None
    biased: bool
    output_bias: NDArray[np.float64] | None
    name: str
    _stored: Mapping[str, Any] = field(repr=False)

    def weights(self, place: int, dtype: DTypeLike = np.float64) -> tuple[NDArray, NDArray]:
        """Read the weights of one checkpoint.

        Args:
            place: Of the checkpoint, from 0 to T - 1; -1 is the last.
            dtype: Of the arrays that are returned; they are copies.

        Returns:
            W1 of shape (H, inputs) and W2 of shape (n_y, H).

        Raises:
            IndexError: There is no such checkpoint.
        """
        at = range(len(self.steps))[place]
        rows = {k: np.array(v[at : at + 1][0], dtype=dtype) for k, v in self._stored.items()}
        first = np.column_stack([rows["W1"], rows["b1"]]) if self.biased else rows["W1"]
        return first, rows["W2"]


def read_history(source: Mapping[str, Any] | str | os.PathLike[str]) -> History:
    """Return the history in a mapping of arrays or in a file, after checking all of it.

    Arrays are ``steps`` (T,), ``W1`` (T, H, n_x) and ``W2`` (T, n_y, H); ``b1`` (T, H), ``b2``
    (T, n_y) and ``losses`` (T,) may be left out.

    Args:
        source: A mapping with arrays, lists or torch tensors on the processor, which are not
            copied; or the path of an NPZ file or of a safetensors file (extra
            ``symreln[safetensors]``). Arrays that are not compressed are read where they lie.

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
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    name = "history" if path is None else visible(str(path))
    with _placed(name):
        if path is not None:
            return _checked(_in_file(path), name)
        hint = "A torch module is recorded while it is trained: recorder(model, every=…)."
        if not isinstance(source, Mapping):
            raise Finding(type(source).__name__, f"a mapping of arrays, {_FORMS}", hint)
        _check_names([str(key) for key in source])
        return _checked({key: _array(source, key) for key in source}, name)


def check_history(history: History, inputs: int, outputs: int) -> None:
    """Check that a history is of a network for a dataset.

    Args:
        history: What was recorded.
        inputs: n_x, features of the dataset.
        outputs: n_y, targets of the dataset.

    Raises:
        InputError: It has another number of inputs or outputs.
    """
    columns = history.inputs - history.biased
    hint = _HINTS.get((columns - inputs, history.biased), "Give the data that it was trained on.")
    if (history.hidden, columns) == (inputs, history.outputs):
        hint = "Are W1 and W2 transposed? .transpose(0, 2, 1) mends them."
    with _placed(history.name):
        found = f"{counted(columns, 'input')} of {counted(history.hidden, 'unit')}"
        need(columns == inputs, found, f"{inputs}, as many as the dataset has", hint, "W1")
        found, hint = counted(history.outputs, "output"), "Targets of classes are one column each."
        expected = f"{outputs}, as many as the dataset has"
        need(history.outputs == outputs, found, expected, hint, "W2")


#: What mends a wrong number of inputs, by how many are too many and whether there is a bias.
_HINTS = {
    (1, False): "Is the last column a bias? Then give b1 = W1[:, :, -1] and W1 = W1[:, :, :-1].",
    (1, True): "Has W1 a column of biases beside b1? Then give W1 = W1[:, :, :-1].",
    (-1, False): "Is a bias missing? Give it as b1, and the dataset without its column of ones.",
    (-1, True): "Has the dataset a column of ones? Leave it out: b1 stands for it.",
}


@contextmanager
def _placed(name: str) -> Iterator[None]:
    try:
        yield
    except Finding as finding:
        raise InputError(str(replace(finding.problems[0], file=name))) from None


# -- what is in the arrays -------------------------------------------------------------------------


def _checked(arrays: Mapping[str, Any], name: str) -> History:
    """Return the history in arrays: all shapes are checked before numbers are read.

    Raises:
        Finding: They are no history.
    """
    for each, array in arrays.items():
        _check_head(each, array.shape, array.dtype)
    _check_shapes({each: array.shape for each, array in arrays.items()})
    steps = _steps(arrays["steps"][:])
    losses, output_bias = (
        np.array(arrays[each][:], dtype=float) if each in arrays else None
        for each in ("losses", "b2")
    )
    for place, loss in enumerate(() if losses is None else losses):
        expected = "finite losses, none of them negative"
        need(0 <= loss < np.inf, f"{loss} at {_at(place, steps)}", expected, "", "losses")
    stored = {each: arrays[each] for each in ("W1", "W2", "b1", "b2") if each in arrays}
    _check_weights(stored, steps)
    _, hidden, inputs = arrays["W1"].shape
    return History(
        steps=steps,
        hidden=hidden,
        inputs=inputs + ("b1" in arrays),
        outputs=arrays["W2"].shape[1],
        losses=losses,
        biased="b1" in arrays,
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
    found, expected = f"the parameters of one network ({listed})", "steps, W1 and W2 of checkpoints"
    need(not any(map(_PARAMETER.search, names)), found, expected, _STACK)
    missing = [name for name in _NEEDED if name not in names]
    for name in names:
        found = f"the array {quoted(name)}"
        hint = "Only networks of one hidden layer are explained."
        need(not _DEEP.fullmatch(name), found, "two layers of weights, W1 and W2", hint)
        near = nearest(name, missing)
        hint = near if near.startswith("Did") else nearest(name, _AXES)
        need(name in _AXES, found, "arrays of a history", hint)
    found = f"no array {' and no '.join(missing)} (arrays: {listed})"
    need(not missing, found, "steps, W1 and W2", "docs/explain.md has the table of all arrays.")


def _check_head(name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Check an array by what it says about itself.

    Raises:
        Finding: It has another type or another number of axes, is empty or too large.
    """
    what = "Python objects" if dtype.kind == "O" else f"entries of type {dtype}"
    hint = {"O": "Stack arrays of one shape: np.stack.", "c": "Take .real."}.get(dtype.kind)
    fits = dtype.kind in "iuf" and dtype.itemsize <= 8
    need(fits, what, _REAL, hint or f"{name}.astype(np.float32) converts it.", name)
    axes = _AXES[name].count(",") + (len(_AXES[name]) > 4)
    one = {"W2": " Of one output it is W2[:, None, :].", "b2": " Of one output it is b2[:, None]."}
    hint = f"np.stack makes one array of those of T checkpoints.{one.get(name, '')}"
    found = f"the shape {shape}"
    need(len(shape) == axes, found, f"the axes {_AXES[name]}", hint, name)
    fits = min(shape, default=1) > 0
    need(fits, f"an empty array of shape {shape}", "at least one entry an axis", "", name)
    expected = f"at most {_MOST_NUMBERS} numbers a checkpoint"
    need(prod(shape[1:]) <= _MOST_NUMBERS, found, expected, "", name)


def _check_shapes(shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the arrays belong together.

    Raises:
        Finding: They have other numbers of checkpoints, units or outputs, or are transposed.
    """
    first, second, (count,) = shapes["W1"], shapes["W2"], shapes["steps"]
    expected = f"2 to {_MOST_CHECKPOINTS}, for training is a change of weights"
    hint = "Record some during training." if count < 2 else "Keep every tenth, for example."
    fits = 2 <= count <= _MOST_CHECKPOINTS
    need(fits, counted(count, "checkpoint"), expected, hint, "steps")
    for name, shape in shapes.items():
        found = f"{counted(shape[0], 'checkpoint')} (shape {shape})"
        hint = "Keep the losses of checkpoints: losses[steps]." if name == "losses" else ""
        need(shape[0] == count, found, f"{count}, as steps has", hint, name)
    turned = {"W2": (1, 1), "W1": (2, 2), "W1 and W2": (2, 1)}  # axes of H, where it is so
    which = next((name for name, (a, b) in turned.items() if first[a] == second[b]), "")
    hint = f"Transposed: {which}? .transpose(0, 2, 1) mends it." if which else ""
    found = f"{first[1]} and {second[2]} hidden units in W1 of shape {first} and W2 of {second}"
    need(first[1] == second[2], found, "one H in W1 (T, H, n_x) and W2 (T, n_y, H)", hint)
    for name, width in (("b1", first[1]), ("b2", second[1])):
        shape = shapes.get(name, (count, width))
        hint = "Are b1 and b2 exchanged?" if shape[1] in (first[1], second[1]) else ""
        expected = f"{(count, width)}, from W1 of shape {first} and W2 of {second}"
        need(shape[1] == width, f"the shape {shape}", expected, hint, name)


def _steps(steps: NDArray) -> NDArray[np.int64]:
    """Return the steps of checkpoints.

    Raises:
        Finding: They are no ascending whole numbers from 0 on.
    """
    before = -1
    for place, step in enumerate(steps.tolist()):
        at = f"{step} at checkpoint {place}"
        hint = "Count steps of the optimiser: an epoch has samples / batch size of them."
        need(float(step).is_integer(), at, "whole numbers", hint, "steps")
        need(0 <= step < 2**53, at, "steps from 0 to 2^53", "Count from the start.", "steps")
        hint = "Sort all arrays by np.argsort(steps); of two runs, keep one."
        hint = "Keep one checkpoint of each step." if step == before else hint
        need(step > before, f"{step} after {before}", "ascending steps", hint, "steps")
        before = step
    return steps.astype(np.int64)


def _check_weights(stored: Mapping[str, Any], steps: NDArray[np.int64]) -> None:
    """Read all weights once, one checkpoint at a time.

    Raises:
        Finding: One is not finite, all of a checkpoint are 0, or all checkpoints are the same.
    """
    same, first = True, {}
    for place in range(len(steps)):
        rows = {name: array[place : place + 1][0] for name, array in stored.items()}
        for name, row in rows.items():
            bad = np.argwhere(~np.isfinite(row))[:1].tolist()
            found = f"{row[tuple(bad[0])]} in {bad[0]} of {_at(place, steps)}" if bad else ""
            hint = "Did the training diverge? Leave these checkpoints out."
            need(not bad, found, "finite numbers", hint, name)
        hint = "Keep the checkpoints that were recorded; from weights of 0 nothing is learned."
        found, layers = f"only zeros at {_at(place, steps)}", ("W1", "W2")
        need(any(rows[k].any() for k in layers), found, "weights of a network", hint, "W1, W2")
        first = first or rows
        same = same and all(np.array_equal(rows[k], first[k]) for k in layers)
    hint = "Copy weights when they are recorded: weight.detach().numpy().copy()."
    need(not same, "the same weights at all checkpoints", "weights that change", hint, "W1, W2")


def _at(place: int, steps: NDArray[np.int64]) -> str:
    return f"checkpoint {place} (step {steps[place]})"


# -- where arrays are ------------------------------------------------------------------------------


def _array(source: Mapping[Any, Any], name: str) -> NDArray:
    hint = "Give arrays of one shape; of tensors tensor.detach().float().cpu().numpy()."
    with _loading("an entry", "an array of numbers", hint, name):
        value = source[name]
        need(not np.ma.is_masked(value), "masked entries", "numbers", "Fill them in.", name)
        return np.asarray(value)


def _in_file(path: Path) -> Mapping[str, _Stored]:
    """Return the arrays in a file.

    Raises:
        Finding: It is missing, damaged, too large or of another kind.
    """
    head = read_bytes(path, "the file", _FORMS, 255, _SUFFIXES)
    if head.startswith(b"PK"):
        return _in_npz(path)
    if path.suffix in (".pt", ".pth", ".ckpt"):
        raise Finding("a file of torch", _FORMS, _STACK)
    if path.suffix == ".safetensors" or head[8:9] == b"{":
        return _in_safetensors(path)
    text = "a text file" if head.isascii() and b"\0" not in head else "a damaged or another file"
    found = next((kind for start, kind in _MAGIC.items() if head[: len(start) or 1] == start), text)
    raise Finding(found, _FORMS, _AGAIN)


@record(eq=False)
class _Stored:
    """An array in a file, of which ``read`` reads ``[a:b]``, these checkpoints alone."""

    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[slice], NDArray]

    def __getitem__(self, place: slice) -> NDArray:
        return self.read(place)


def _in_npz(path: Path) -> Mapping[str, _Stored]:
    with _loading("a file", "an NPZ file", _AGAIN), zipfile.ZipFile(path) as archive:
        entries = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
        if any(name.endswith("data.pkl") for name in entries):
            raise Finding("a file of torch", _FORMS, _STACK)
        _check_names(entries)
        size = sum(entry.file_size for entry in entries.values() if entry.compress_type)
        room = min(_MOST_UNPACKED, shutil.disk_usage(tempfile.gettempdir()).free)
        hint = "Arrays of numpy.savez, without compression, are not unpacked and need no room."
        need(size <= room, f"{size} bytes after unpacking", f"at most {room}", hint)
        return {name: _unpacked(path, archive, name, entry) for name, entry in entries.items()}


def _unpacked(path: Path, archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> _Stored:
    """Return an array of an NPZ file, which lies there or, compressed, in a temporary file."""
    with archive.open(entry) as stream, ExitStack() as files:
        if packed := entry.compress_type:
            file, start = files.enter_context(tempfile.TemporaryFile()), 0
        else:
            file = files.enter_context(path.open("rb"))
            file.seek(entry.header_offset + 26)  # a member's own header has texts of any length
            start = entry.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))
        while piece := stream.read(_PIECE):  # to its end, where zipfile compares the check sum
            if packed:
                file.write(piece)
        file.seek(start)
        version = npy.read_magic(file)
        need(version == (1, 0), f"format version {version}", "version 1.0 of NPY", _AGAIN)
        shape, fortran, dtype = npy.read_array_header_1_0(file)
        begin, due, order = file.tell(), prod(shape) * dtype.itemsize, "F" if fortran else "C"
        found = start + entry.file_size - begin
        fits = found == due or dtype.kind == "O"  # objects are refused by their type
        need(fits, f"{found} bytes", f"{due} for {shape} of {dtype}", _AGAIN, name)

        def read(place: slice) -> NDArray:  # mapped anew: pages that stay would count as memory
            return np.array(np.memmap(file, dtype, "r", begin, shape, order)[place])

        array = _Stored(shape=shape, dtype=dtype, read=read)
        weakref.finalize(array, files.pop_all().close)  # which deletes a temporary file
    return array


def _in_safetensors(path: Path) -> Mapping[str, _Stored]:
    hint = "Install it: pip install 'symreln[safetensors]'; or write an NPZ file with numpy.savez."
    there = find_spec("safetensors") is not None
    need(there, "a safetensors file", "the package safetensors, which reads it", hint)
    with _loading("a file", "a safetensors file", "Write it again with save_file."):
        file = import_module("safetensors").safe_open(str(path), framework="numpy")
        _check_names(names := file.keys())
        arrays = {}
        for name in names:
            view = file.get_slice(name)
            kind, shape = view.get_dtype(), tuple(view.get_shape())
            plain = re.fullmatch(r"([FIU])(8|16|32|64)", kind)
            if plain is None:
                raise Finding(f"entries of type {kind}", _REAL, "tensor.float() converts it.", name)
            dtype = np.dtype(f"{plain[1].lower()}{int(plain[2]) // 8}")
            arrays[name] = _Stored(shape=shape, dtype=dtype, read=view.__getitem__)
        return arrays


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
