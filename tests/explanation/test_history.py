"""Recorded weights: what is read is what was written; every wrong input ends in a message."""

from __future__ import annotations

import gc
import io
import json
import pickle
import struct
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.errors import InputError
from symreln.explanation import history as module
from symreln.explanation.history import History, check_history, read_history
from tests.strategies import examples, seeds

Arrays = dict[str, Any]


def recorded(seed: int = 0, count: int = 4, hidden: int = 5, n_x: int = 3, n_y: int = 2) -> Arrays:
    """Return a history with all arrays; all of its numbers of units are different."""
    rng = np.random.default_rng(seed)
    return {
        "steps": np.arange(count) * 10,
        "W1": rng.normal(size=(count, hidden, n_x)).astype(np.float32),
        "W2": rng.normal(size=(count, n_y, hidden)).astype(np.float32),
        "b1": rng.normal(size=(count, hidden)).astype(np.float32),
        "b2": rng.normal(size=(count, n_y)).astype(np.float32),
        "losses": np.linspace(1, 0, count),
    }


def but(**changes: Any) -> Arrays:
    """Return a history with some arrays replaced, or left out where they are None."""
    arrays = recorded()
    for name, change in changes.items():
        arrays[name] = change(arrays[name]) if callable(change) else change
    return {name: array for name, array in arrays.items() if array is not None}


def poked(value: float, *place: int) -> Callable[[np.ndarray], np.ndarray]:
    def poke(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[place] = value
        return array

    return poke


def turned(array: np.ndarray) -> np.ndarray:
    return array.transpose(0, 2, 1)


def unbiased(**changes: Any) -> Arrays:
    return but(b1=None, b2=None, losses=None, **changes)


AXES = r"expected the axes \(T, H, n_x\)\. np\.stack makes one array of those of T checkpoints"
#: Name, a history in memory, and what is said about it.
WRONG: tuple[tuple[str, Any, str], ...] = (
    # -- what there is
    ("nothing", None, r"history: found NoneType; expected a mapping of arrays, an NPZ file or"),
    ("a-module", object(), r"found object; .* recorder\(model, every=…\)"),
    ("a-list", [recorded()], r"found list; expected a mapping of arrays"),
    ("empty", {}, r"history: found no array steps and no W1 and no W2 \(arrays: none\)"),
    ("no-steps", but(steps=None), r"no array steps \(arrays: W1, W2, b1, b2, losses\); expected"),
    ("no-W2", but(W2=None), r"no array W2 \(.*\); expected steps, W1 and W2\. docs/explain\.md"),
    ("small-letter", but(W1=None) | {"w1": 0}, r'the array "w1"; .* Did you mean "W1"\?'),
    ("loss", but(losses=None) | {"loss": [1] * 4}, r'the array "loss"; .* mean "losses"\?'),
    ("unknown", recorded() | {"epochs": 1}, r'the array "epochs"; .* Known: steps, W1, W2, b1'),
    ("key-no-text", recorded() | {3: 1}, r'the array "3"; expected arrays of a history\. Known:'),
    ("hostile-key", recorded() | {"\x1b[31m": 1}, r'the array "\\u001b\[31m"; expected arrays'),
    ("three-layers", recorded() | {"W3": 1}, r'"W3"; expected two layers of weights, W1 and W2\.'),
    (
        "state-dict",
        {"0.weight": 1, "0.bias": 1, "2.weight": 1, "2.bias": 1},
        r"parameters of one network \(0\.weight, 0\.bias, 2\.weight, 2\.bias\); expected steps, W1 "
        r"and W2 of checkpoints. Stack checkpoints:\n +states = \[torch\.load\((.|\n)*np\.savez\(",
    ),
    ("flax", {"Dense_0/kernel": 1}, r"found the parameters of one network \(Dense_0/kernel\)"),
    # -- steps
    ("one", {k: v[:1] for k, v in recorded().items()}, r"steps: found 1 checkpoint; expected 2"),
    ("steps-fraction", but(steps=[0, 0.5, 1, 2]), r"steps: found 0\.5 at checkpoint 1; expected"),
    ("steps-nan", but(steps=[0, 1, np.nan, 2]), r"steps: found nan at checkpoint 2; expected"),
    ("steps-infinite", but(steps=[0, 1, 2, np.inf]), r"steps: found inf at checkpoint 3"),
    ("steps-negative", but(steps=[-1, 0, 1, 2]), r"steps: found -1 at checkpoint 0; expected"),
    ("steps-huge", but(steps=[0, 1, 2, 2**60]), r"found 1152921504606846976 at checkpoint 3"),
    ("steps-order", but(steps=[0, 20, 10, 30]), r"found 10 after 20; expected ascending"),
    ("steps-twice", but(steps=[0, 10, 10, 30]), r"10 after 10; .* Keep one checkpoint of each"),
    ("steps-two-runs", but(steps=[0, 10, 0, 10]), r"found 0 after 10; .* of two runs, keep"),
    ("steps-short", but(steps=[0, 10, 20]), r"W1: found 4 checkpoints \(shape \(4, 5, 3\)\)"),
    ("steps-text", but(steps=[*"0123"]), r"steps: found entries of type <U1; expected real"),
    ("steps-true", but(steps=np.arange(4) > 1), r"steps: found entries of type bool; expected"),
    ("steps-number", but(steps=30), r"steps: found the shape \(\); expected the axes \(T,\)"),
    ("steps-column", but(steps=np.arange(4)[:, None]), r"steps: found the shape \(4, 1\)"),
    ("steps-empty", but(steps=[]), r"steps: found an empty array of shape \(0,\); expected at"),
    ("steps-many", but(steps=np.arange(100_001)), r"100001 checkpoints; .* Keep every tenth"),
    # -- axes of weights
    ("W1-of-one", but(W1=lambda w: w[0]), rf"W1: found the shape \(5, 3\); {AXES}"),
    ("W1-of-four-axes", but(W1=lambda w: w[None]), rf"W1: found the shape \(1, 4, 5, 3\); {AXES}"),
    ("W2-of-one-output", but(W2=lambda w: w[:, 0]), r"W2: .* Of one output it is W2\[:, None"),
    ("b2-of-one-output", but(b2=lambda b: b[:, 0]), r"b2: .* Of one output it is b2\[:"),
    ("W1-empty", but(W1=np.zeros((4, 0, 3))), r"W1: found an empty array of shape \(4, 0, 3\)"),
    ("W2-short", but(W2=lambda w: w[:3]), r"W2: found 3 checkpoints \(shape \(3, 2, 5\)\)"),
    ("other-H", but(W2=np.ones((4, 2, 6))), r"found 5 and 6 hidden units in W1 of shape \(4, 5"),
    ("W2-turned", but(W2=turned), r"units in W1 .* Transposed: W2\? \.transpose\(0, 2, 1\)"),
    ("W1-turned", but(W1=turned), r"Transposed: W1\? \.transpose\(0, 2, 1\) mends it"),
    ("both-turned", but(W1=turned, W2=turned), r"3 and 2 hidden units .* Transposed: W1 and W2\?"),
    ("wide", but(W1=np.broadcast_to(1.0, (4, 5, 10**8))), r"W1: found .*; expected at most"),
    # -- biases and losses
    ("b1-short", but(b1=np.zeros((4, 4))), r"b1: found the shape \(4, 4\); expected \(4, 5\)"),
    ("b2-wide", but(b2=np.zeros((4, 3))), r"b2: found the shape \(4, 3\); expected \(4, 2\)"),
    ("b1-b2", but(b1=np.zeros((4, 2)), b2=np.zeros((4, 5))), r"b1: .* Are b1 and b2 exchanged\?"),
    ("losses-each-step", but(losses=np.ones(31)), r"31 checkpoints .* losses of ch.*losses\[steps"),
    ("losses-short", but(losses=[1, 2, 3]), r"losses: found 3 checkpoints \(shape \(3,\)\)"),
    ("losses-nan", but(losses=[1, 1, np.nan, 1]), r"losses: found nan at checkpoint 2 \(step 20\)"),
    ("losses-infinite", but(losses=[1, np.inf, 1, 1]), r"losses: found inf at checkpoint 1"),
    ("losses-negative", but(losses=[1, 1, 1, -2]), r"losses: found -2\.0 at checkpoint 3 \(step"),
    # -- numbers
    ("W1-nan", but(W1=poked(np.nan, 2, 4, 1)), r"W1: found nan in \[4, 1\] of checkpoint 2"),
    ("W2-infinite", but(W2=poked(-np.inf, 3, 0, 0)), r"W2: found -inf in \[0, 0\] .* training"),
    ("b1-nan", but(b1=poked(np.nan, 0, 4)), r"b1: found nan in \[4\] of checkpoint 0 \(step"),
    ("b2-nan", but(b2=poked(np.nan, 1, 1)), r"b2: found nan in \[1\] of checkpoint 1 \(step"),
    ("complex", but(W1=lambda w: w * 1j), r"W1: found entries of type complex64; .* Take \.real\."),
    ("text", but(W2=lambda w: w.astype(str)), r"W2: found entries of type <U32; expected real"),
    ("objects", but(W1=lambda w: w.astype(object)), r"W1: found Python objects; .* np\.stack"),
    ("long", but(W1=lambda w: w.astype(np.longdouble)), r"W1: found entries of type .* converts"),
    ("ragged", but(W1=[np.ones((5, 3)), np.ones((4, 3))]), r"W1: found an entry that does not"),
    ("masked", but(W1=lambda w: np.ma.masked_less(w, 0)), r"W1: found masked entries; .* Fill"),
    (
        "zeros",
        unbiased(W1=lambda w: 0 * w, W2=lambda w: 0 * w),
        r"W1, W2: found only zeros at checkpoint 0 \(step 0\); expected weights of a network\.",
    ),
    (
        "unfilled",
        but(W1=poked(0, slice(2, None)), W2=poked(0, slice(2, None))),  # type: ignore[arg-type]
        r"W1, W2: found only zeros at checkpoint 2 \(step 20\)",
    ),
    (
        "not-copied",
        but(W1=lambda w: w[[3] * 4], W2=lambda w: w[[3] * 4]),
        r"W1, W2: found the same weights at all checkpoints; .* weight\.detach\(\)\.numpy\(\)\.",
    ),
)


@pytest.mark.parametrize(("source", "said"), [pytest.param(*c[1:], id=c[0]) for c in WRONG])
def test_a_wrong_history_is_refused(source: Any, said: str):
    with pytest.raises(InputError, match=said) as error:
        read_history(source)
    assert str(error.value).startswith("history: ")
    assert all(len(line) < 400 for line in str(error.value).splitlines())


# -- files -----------------------------------------------------------------------------------------


def npz(arrays: Arrays, *, packed: bool = False) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(stream, **arrays)
    return stream.getvalue()


def saved(arrays: Arrays) -> bytes:
    stream = io.BytesIO()
    np.save(stream, arrays["W1"])
    return stream.getvalue()


def bomb() -> bytes:
    """Return a small NPZ file whose W1 says that it is large."""
    return npz(recorded() | {"W1": np.zeros((4, 1000, 1000))}, packed=True)


def members(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return stream.getvalue()


def tensors(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


HALF = {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}
GOOD = npz(recorded())
DAMAGED = GOOD.replace(recorded()["W1"].tobytes(), recorded(1)["W1"].tobytes())
#: Name, contents, and what is said about it.
FILES: tuple[tuple[str, bytes, str], ...] = (
    ("empty.npz", b"", r"found an empty file; expected an NPZ file or a safetensors file"),
    ("text.npz", b"steps,W1\n0,1\n", r"found a text file; expected an NPZ file or a safetensors"),
    ("noise.npz", bytes(range(256)), r"found a damaged or another file; expected an NPZ file"),
    ("cut.npz", GOOD[:-200], r"found a file that does not load \(BadZipFile: .*\); .* numpy\.save"),
    ("half.npz", npz(recorded(), packed=True)[:800], r"found a file that does not load"),
    ("damaged.npz", DAMAGED, r"does not load \(BadZipFile: Bad CRC-32 for file 'W1\.npy'"),
    ("one.npy", saved(recorded()), r"found one array \(NPY\); expected an NPZ file or a"),
    ("keras.h5", b"\x89HDF\r\n\x1a\n", r"found an HDF5 file; expected an NPZ file or a"),
    ("model.pt", members(archive_data_pkl=b""), r"a file of torch; (.|\n)*torch\.load\(file"),
    ("model.pth", pickle.dumps({}), r"found a file of torch; .* Stack checkpoints:"),
    ("pickled.npz", npz(but(W1=lambda w: w.astype(object))), r"W1: found Python objects"),
    ("no-W2.npz", npz(but(W2=None)), r"found no array W2 \(arrays: steps, W1, b1, b2, losses\)"),
    ("other.npz", members(readme_txt=b"hello"), r'the array "readme\.txt"; expected arrays of'),
    ("header.npz", members(steps_npy=b"", W1_npy=b"", W2_npy=b""), r"a file that does not load"),
    ("nan.npz", npz(but(W1=poked(np.nan, 2, 4, 1))), r"W1: found nan in \[4, 1\] of checkpoint"),
    ("bomb.npz", bomb(), r"found 32\d+ bytes after unpacking; expected at most 1000000"),
    ("short.safetensors", b"\x01", r"found a (file that does not load|safetensors file; expected)"),
)
TENSORS: tuple[tuple[str, bytes, str], ...] = (
    ("broken", tensors(b"{{{{{{{{"), r"a file that does not load \(SafetensorError: .*save_file"),
    ("long", struct.pack("<Q", 1 << 60) + b"{}", r"a file that does not load \(SafetensorError:"),
    ("state", tensors({"0.weight": HALF}, bytes(4)), r"found the parameters of one network"),
    (
        "bfloat16",
        tensors({k: HALF | {"data_offsets": [4 * n, 4 * n + 4]} for n, k in enumerate(
            ("steps", "W1", "W2")
        )}, bytes(12)),
        r"found entries of type BF16; expected real numbers of at most 64 bits\. tensor\.float\(\)",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("name", "data", "said"), FILES, ids=[c[0] for c in FILES])
def test_a_wrong_file_is_refused(
    tmp_path: Path, monkeypatch: Any, name: str, data: bytes, said: str
):
    monkeypatch.setattr(module, "_MOST_UNPACKED", 1_000_000)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=said) as error:
        read_history(tmp_path / name)
    assert str(error.value).startswith(f"{tmp_path / name}: ")


@pytest.mark.parametrize(("name", "data", "said"), TENSORS, ids=[c[0] for c in TENSORS])
def test_a_wrong_safetensors_file_is_refused(tmp_path: Path, name: str, data: bytes, said: str):
    pytest.importorskip("safetensors")
    path = tmp_path / f"{name}.safetensors"
    path.write_bytes(data)
    with pytest.raises(InputError, match=said):
        read_history(path)


def test_a_file_that_is_not_there(tmp_path: Path):
    (tmp_path / "history.npz").write_bytes(GOOD)
    said = r'histry\.npz: found no file; expected an NPZ .* Did you mean "history\.npz"\?'
    with pytest.raises(InputError, match=said):
        read_history(tmp_path / "histry.npz")
    with pytest.raises(InputError, match=r"found the file, which is a folder; expected an NPZ"):
        read_history(str(tmp_path))


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    path = tmp_path / "history.safetensors"
    path.write_bytes(tensors({}))
    said = r"expected the package safetensors, .* pip install 'symreln\[safetensors\]'; or write an"
    with pytest.raises(InputError, match=said):
        read_history(path)


def test_a_header_with_negative_axes(tmp_path: Path):
    data = npz(unbiased())
    for shape in (b"(4, 5, 3)", b"(4, 2, 5)"):
        turned = shape.replace(b" ", b"-")
        data = data.replace(shape, turned)
    path = tmp_path / "negative.npz"
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            start = entry.header_offset + 30 + len(entry.filename)
            extra = struct.unpack("<H", data[entry.header_offset + 28 : entry.header_offset + 30])[
                0
            ]
            new.writestr(entry.filename, data[start + extra : start + extra + entry.file_size])
    with pytest.raises(InputError, match=r"W1: found an empty array of shape \(4, -5, -3\)"):
        read_history(path)


def test_pickles_are_not_run(tmp_path: Path):
    ran = tmp_path / "ran"

    class Hostile:
        def __reduce__(self) -> Any:
            return (Path.touch, (ran,))

    path = tmp_path / "hostile.npz"
    np.savez(path, **but(W1=np.array([Hostile()] * 4)))
    with pytest.raises(InputError, match=r"W1: found Python objects"):
        read_history(path)
    assert not ran.exists()


# -- what is read is what was written --------------------------------------------------------------


def same(history: History, arrays: Arrays):
    """Check that a history has these arrays."""
    assert history.steps.tolist() == np.asarray(arrays["steps"]).tolist()
    assert history.steps.dtype == np.int64
    for name, found in (("losses", history.losses), ("b2", history.output_bias)):
        assert (found is None) == (name not in arrays)
        assert found is None or np.array_equal(found, np.asarray(arrays[name], dtype=float))
    assert history.biased == ("b1" in arrays)
    for place in range(len(history.steps)):
        first, second = history.weights(place)
        assert first.shape == (history.hidden, history.inputs)
        assert second.shape == (history.outputs, history.hidden)
        assert first.dtype == second.dtype == np.float64
        columns = history.inputs - history.biased
        assert np.array_equal(first[:, :columns], arrays["W1"][place])
        assert np.array_equal(second, arrays["W2"][place])
        assert not history.biased or np.array_equal(first[:, -1], arrays["b1"][place])
    check_history(history, history.inputs - history.biased, history.outputs)


def files(arrays: Arrays, folder: Path) -> list[Any]:
    """Write a history as files of every form."""
    found: list[Any] = [folder / "stored.npz", folder / "packed.npz"]
    for path, packed in zip(found, (False, True), strict=True):
        path.write_bytes(npz(arrays, packed=packed))
    if find_spec("safetensors"):
        from safetensors.numpy import save_file

        found.append(str(folder / "history.safetensors"))
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, found[-1])
    return found


def forms(arrays: Arrays, folder: Path) -> list[Any]:
    """Return a history in every form."""
    lists = {name: array.tolist() for name, array in arrays.items()}
    return [arrays, lists, *files(arrays, folder)]


@given(
    seeds,
    *(st.integers(1, 4) for _ in range(4)),
    st.sets(st.sampled_from(["b1", "b2", "losses"])),
    st.sampled_from(["f2", "f4", "f8", "i2"]),
    st.booleans(),
)
@examples(200)
def test_every_form_reads_the_same(
    tmp_path_factory: Any,
    seed: int,
    count: int,
    hidden: int,
    n_x: int,
    n_y: int,
    left: set[str],
    kind: str,
    fortran: bool,
):
    arrays = recorded(seed, count + 1, hidden, n_x, n_y)
    for name in ("W1", "W2", "b1", "b2"):
        values = (arrays[name] * 100).astype(kind)
        arrays[name] = np.asfortranarray(values) if fortran else values
    arrays["W1"][0, 0, 0], arrays["W1"][1:, 0, 0] = 1, 2
    arrays = {name: array for name, array in arrays.items() if name not in left}
    for source in forms(arrays, tmp_path_factory.mktemp("forms")):
        same(read_history(source), arrays)


def test_places_and_types(tmp_path: Path):
    for source in forms(recorded(), tmp_path):
        history = read_history(source)
        assert np.array_equal(history.weights(-1)[0], history.weights(3)[0])
        first, second = history.weights(1, np.float32)
        assert first.dtype == second.dtype == np.float32
        first[:] = 0  # a copy
        assert history.weights(1)[0].any()
        with pytest.raises(IndexError):
            history.weights(4)
        assert len(repr(history).splitlines()) < 12


def test_a_file_is_closed_with_its_history(tmp_path: Path, monkeypatch: Any):
    opened, temporary = [], tempfile.TemporaryFile
    monkeypatch.setattr(
        module.tempfile, "TemporaryFile", lambda: opened.append(temporary()) or opened[-1]
    )
    (tmp_path / "history.npz").write_bytes(npz(recorded(), packed=True))
    history = read_history(tmp_path / "history.npz")
    assert [file.closed for file in opened].count(False) == 4  # layers and biases
    del history
    gc.collect()
    assert all(file.closed for file in opened)


def test_an_open_npz_is_a_mapping(tmp_path: Path):
    (tmp_path / "history.npz").write_bytes(GOOD)
    with np.load(tmp_path / "history.npz") as arrays:
        same(read_history(arrays), recorded())


def test_a_frozen_layer_is_no_mistake():
    read_history(but(W1=lambda w: w[[0] * 4]))
    read_history(but(W2=lambda w: 0 * w))


@given(st.integers(0, len(GOOD) - 1))
@examples(400)
def test_a_file_that_was_cut_is_refused(tmp_path_factory: Any, length: int):
    path = tmp_path_factory.mktemp("cut") / "history.npz"
    path.write_bytes(GOOD[:length])
    with pytest.raises(InputError):
        read_history(path)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255), st.booleans())
@examples(1000)
def test_a_byte_that_changed_is_seen(tmp_path_factory: Any, at: int, change: int, packed: bool):
    data = bytearray(npz(recorded(), packed=packed))
    data[at % len(data)] ^= change
    path = tmp_path_factory.mktemp("changed") / "history.npz"
    path.write_bytes(data)
    try:
        history = read_history(path)
    except InputError:
        return
    same(history, recorded())  # dates, for example, are not looked at


def test_a_large_file_is_read_a_checkpoint_at_a_time(tmp_path: Path):
    rng = np.random.default_rng(0)
    arrays = recorded(count=100, hidden=200, n_x=800) | {"b1": np.zeros((100, 200), np.float32)}
    row = rng.normal(size=(1, 200, 800)).astype(np.float32)
    arrays["W1"] = row * 2.0 ** -np.arange(100, dtype=np.float32)[:, None, None]  # 64 MB
    for source in files(arrays, tmp_path):
        tracemalloc.start()
        history = read_history(source)
        assert np.array_equal(history.weights(57)[0][:, :-1], arrays["W1"][57])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10e6, source


# -- against a dataset -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrays", "n_x", "n_y", "said"),
    [
        (but(), 4, 2, r"W1: found 3 inputs of 5 units; expected 4, .* a column of ones\? Leave"),
        (unbiased(), 4, 2, r"W1: found 3 inputs of 5 units; expected 4, .* Is a bias missing\?"),
        (unbiased(), 2, 2, r"found 3 inputs of 5 units; expected 2, .* b1 = W1\[:, :, -1\] and"),
        (but(), 2, 2, r"3 inputs of 5 units; expected 2, .* Has W1 a column of biases beside"),
        (but(), 7, 2, r"found 3 inputs of 5 units; expected 7, .* Give the data that it was"),
        (but(), 3, 1, r"W2: found 2 outputs; expected 1, as many as the dataset has\. Targets"),
        (
            unbiased(W1=np.random.default_rng(0).normal(size=(4, 6, 5)), W2=np.ones((4, 5, 6))),
            6,
            6,
            r"Are W1 and W2 transposed\? \.transpose\(0, 2, 1\) mends",
        ),
    ],
)
def test_another_dataset_is_refused(arrays: Arrays, n_x: int, n_y: int, said: str):
    history = read_history(arrays)
    with pytest.raises(InputError, match=said):
        check_history(history, n_x, n_y)
