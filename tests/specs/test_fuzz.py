"""Damaged specs and data files: a result or a SpecError, never anything else."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.errors import SpecError
from symreln.specs.data import matrices_from_npz, rows_from_csv
from symreln.specs.finding import Finding
from symreln.specs.problems import Origin
from symreln.specs.reader import read_spec
from symreln.specs.tomlfile import parse_toml
from symreln.task_library.load import load
from symreln.task_library.registry import TASKS, spec_path
from tests.specs.corpus import SPECS, X, Y, npz, own
from tests.strategies import examples

READABLE = ("xor", "contextual-3", "contextual-different", "linear-hierarchy")
TEXTS = [spec_path(name).read_text(encoding="utf-8") for name in READABLE]
TEXTS += [
    own('labels = {kind = ["a", "b"]}\ngroups = {inputs = {one = [0]}}')
    + 'gate = \'kind == "a"\'\n[validation]\ntolerance = 0.1\nreason = "x"\n',
    *(text for _, text in SPECS if len(text) < 2000),
]
TOKENS = [
    *("[", "]", "[[", "]]", "{", "}", '"', "'", "=", ".", ",", "#", "\n", "\x00", "\u202e"),
    *("-1", "0", "nan", "inf", "1e999", "9" * 30, "true", "[]", "{}", '""', "2020-01-01"),
    *("X = [[1]]\n", "[parameters.c]\n", "[[pathway]]\n", "all", "c", "**", "(", "é"),
]


def edited(draw: st.DrawFn, text: str) -> str:
    """Replace, remove, insert or double pieces of a text."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from([*TOKENS, "", text[start:end] * 2]))
        text = text[:start] + piece + text[end:]
    return text


@st.composite
def damaged_specs(draw: st.DrawFn) -> str:
    return edited(draw, draw(st.sampled_from(TEXTS)))


@given(damaged_specs())
@examples(600)
def test_damaged_specs(text: str):
    with contextlib.suppress(SpecError):
        tables, text = parse_toml(text.encode("utf-8", "surrogatepass"), "spec.toml")
        read_spec(tables, tasks=TASKS, origin=Origin(file="spec.toml", text=text))


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.dates(),
        st.binary(max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("X", "Y", "task", "Delta", "labels", "groups", "inputs", "targets", "data", "delimiter")


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "title": values,
            "dataset": values | st.dictionaries(st.sampled_from(KEYS), values),
            "parameters": values | st.dictionaries(st.sampled_from(["c", "tau", "é"]), values),
            "pathway": values
            | st.lists(
                st.dictionaries(
                    st.sampled_from(["name", "gate", "inputs", "outputs", "stage"]), values
                ),
                max_size=2,
            ),
            "network": values,
            "validation": values,
        },
    )
)
@examples(600)
def test_tables_of_anything(tables: dict[str, object]):
    with pytest.raises(SpecError):
        load(tables)


@given(st.binary(max_size=60) | st.text(alphabet='0123456789.,;-+e/"\t\r\nan ', max_size=60))
@examples(400)
def test_csv_of_anything(data: bytes | str):
    with contextlib.suppress(SpecError):
        rows_from_csv(data.encode() if isinstance(data, str) else data, "x.csv")


ARCHIVE = npz(X=X, Y=Y)


@given(st.data())
@examples(400)
def test_damaged_npz(data: st.DataObject):
    damaged = bytearray(ARCHIVE)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    with contextlib.suppress(Finding):
        inputs, _ = matrices_from_npz(bytes(damaged[: cut or None]), "d.npz")
        # What is still read passed the archive's checksums: it is what was written.
        assert inputs.to_numpy().tolist() == X.tolist()


def test_loading_a_task_needs_no_heavy_library():
    """`derive` must start fast; tasks need flint, pydantic and numpy."""
    heavy = ("sympy", "scipy", "matplotlib", "sklearn")
    code = (
        "import sys; from symreln.task_library.load import load; load('contextual-3');"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_archive_itself_is_read():
    inputs, targets = matrices_from_npz(ARCHIVE, "d.npz")
    assert inputs.to_numpy().tolist() == X.tolist()
    assert targets.to_numpy().tolist() == np.ones((1, 2)).tolist()
