"""Specs from arrays, tables, lists and SymPy: the same spec as a file's, the same messages."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy as sp

import symreln as sr
from symreln.errors import InputError, SpecError
from tests.own_specs import own, path

NETWORK = sr.network(hidden=np.int64(50), init_std="1/1000", learning_rate=0.01, steps=500)
ALL = [sr.pathway("all")]


def problems(*arguments, **options) -> str:
    with pytest.raises(SpecError) as error:
        sr.spec(*arguments, **options)
    return str(error.value)


def test_arrays_are_the_spec_that_a_file_says():
    x = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    y, context = np.array([1, 0, 0, 1]), np.array([1, 1, 2, 2])
    pathways = [
        sr.pathway("common"),
        sr.pathway("off", each="context", gate="context != {context}", stage=2),
    ]
    made = sr.spec(x, y, labels={"context": context}, pathways=pathways, network=NETWORK)
    off = path("off", "context != {context}", each="context", stage=2)
    network = {"hidden": 50, "init_std": "1/1000", "learning_rate": "1/100", "steps": 500}
    tables = own(x.T.tolist(), [y.tolist()], path("common"), off, network=network)
    tables["dataset"]["labels"] = {"context": [1, 1, 2, 2]}
    read = sr.load(tables)
    assert made == read
    assert sr.spec(x.T, [y], samples="columns", labels={"context": context}, pathways=pathways) == (
        sr.spec(x.tolist(), y.tolist(), labels={"context": [1, 1, 2, 2]}, pathways=pathways)
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, object])
def test_a_float_is_its_decimals_whatever_its_width(kind):
    made = sr.spec(np.array([[0.1, 2.5]], dtype=kind), [3], pathways=ALL)
    assert made.dataset.inputs.to_fractions() == [[Fraction(1, 10)], [Fraction(5, 2)]]


def test_a_float_is_rationalised_where_that_is_asked_for():
    made = sr.spec([[1 / 3, 0.1 + 0.2, np.pi]], [2 / 7], pathways=ALL, exact=False)
    third, tenths, irrational = (row[0] for row in made.dataset.inputs.to_fractions())
    assert (third, tenths) == (Fraction(1, 3), Fraction(3, 10))
    assert abs(irrational - Fraction(np.pi)) < Fraction(1, 10**11)
    assert sr.spec([[1 / 3]], [1], pathways=ALL).dataset.inputs.to_fractions() != [[third]]


def test_sympy_symbols_are_declared_with_their_assumptions():
    c, d = sp.Symbol("c", positive=True), sp.Symbol("d", real=True)
    x = sp.Matrix([[1, c / 2], [d, sp.Rational(1, 3)]])
    made = sr.spec(x, [1, 2], pathways=ALL, parameters={c: 2})
    assert [(p.name, p.positive, p.value) for p in made.parameters] == [
        ("c", True, 2),
        ("d_", False, None),
    ]
    assert [list(map(str, row)) for row in made.dataset.inputs.rows()] == [
        ["1", "d_"],
        ["c/2", "1/3"],
    ]
    assert 'Declare it: parameters={"q"' in problems([["q"]], [1], pathways=ALL)
    assert "sqrt(2)*c" in problems(sp.Matrix([[sp.sqrt(2) * c]]), [1], pathways=ALL)


def test_columns_of_a_table_name_inputs():
    table = pd.DataFrame({"h": [1.5, 2, 1], "w": [0.1, 0.2, 0.3]})
    kinds = pd.Series(["a", "b", "b"])
    pathways = [sr.pathway("one", 'kind == "a"', inputs="w"), sr.pathway("two", inputs=["w", "h"])]
    made = sr.spec(table, pd.Series([1, 2, 3]), labels={"kind": kinds}, pathways=pathways)
    assert [p.inputs for p in made.pathways] == [(1,), (0, 1)]
    table.loc[2, "w"] = float("nan")
    told = problems(table, [1, 2, 3], labels={"kind": kinds}, pathways=pathways)
    assert "X[2, 1] (column w): found nan; expected a finite number" in told


def test_all_problems_come_at_once_in_the_callers_places():
    x = np.ones((4, 2))
    x[2, 1] = np.nan
    told = problems(
        x, [1, np.inf, 0, 1], labels={"a": [1, 2]}, pathways=[sr.pathway("p", "b == 1")]
    )
    assert "X[2, 1]: found nan" in told
    assert "Y[1, 0]: found inf" in told


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (np.ones((2, 2)) * 1j, [1, 2], "X: found an array of complex128; expected real numbers"),
        (np.ones((2, 2, 1)), [1, 2], "X: found an array of shape (2, 2, 1)"),
        (np.zeros((3000, 1000)), [1], "at most 2000000 numbers"),
        ([[1, 2], [1]], [1, 2], "X[1]: found a row of 1 entry; expected 2 as in row 0"),
        ([[None, 2], [1, 1]], [1, 2], "X[0, 0]: found nothing"),
        (np.array([[object(), 1]]), [1], "X[0, 0]: found <object"),
        (np.ones((4, 2)), [1, 2, 3], "Y: found 3 samples of targets for 4 samples of inputs"),
        (np.ma.masked_array([[1, 2]], [[False, True]]), [1], "X[0, 1]: found nothing"),
        ("data.csv", [1], 'X: found the text "data.csv"'),
        ([["9**9**9"]], [1], "X[0, 0]: found the exponent 387420489"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_place(x, y, said):
    assert said in problems(x, y, pathways=ALL)


def test_a_dataset_of_arrays_is_refused_at_once():
    with pytest.raises(TypeError, match=r"found ndarray for inputs.*sr\.spec") as error:
        sr.Dataset(inputs=np.eye(2), targets=np.eye(2))  # type: ignore[arg-type]
    assert isinstance(error.value, InputError)


def test_a_mask_of_an_array_is_a_gate():
    kind = np.array([1, 2, 2])
    mask, later = sr.pathway("p", kind != 1, then={10: [True, False, True]}), kind == 2
    made = sr.spec([[1], [2], [3]], [1, 2, 3], pathways=[mask], network=NETWORK)
    assert (made.pathways[0].gate, made.pathways[0].then[0].gate) == ((0, 1, 1), (1, 0, 1))
    assert sr.pathway("q", later)["gate"] == [0, 1, 1]


def test_pathways_that_are_no_list_and_columns_that_are_none_are_said_in_python():
    x, one = [[1, 2], [3, 4]], sr.pathway("one")
    for wrong in (one, "one"):
        told = problems(x, [1, 2], pathways=wrong)
        assert "pathways: found one pathway; expected a list: pathways=[sr.pathway(…)]" in told
        assert "1 problem" in told
    assert "expected sr.pathway" in problems(x, [1, 2], pathways=["one"])
    table = pd.DataFrame({"height": [1, 2], "width": [2, 5]})
    for inputs in ("heigt", ["width", "heigt"]):
        told = problems(table, [1, 2], pathways=[sr.pathway("one", inputs=inputs)])
        assert 'Did you mean "height"?' in told


def test_masks_are_zeros_and_ones_and_labels_may_be_a_table():
    pandas = pytest.importorskip("pandas")
    mask = np.array([[True, False], [False, True]])
    labels = pandas.DataFrame({"k": [1, 2], "first": [True, False]})
    pathways = [sr.pathway("p_{k}", "k == {k}", each="k"), sr.pathway("first", "first == 1")]
    made = sr.spec(mask, pandas.DataFrame(mask), labels=labels, pathways=pathways)
    assert made.dataset.inputs == made.dataset.targets
    assert made.dataset.inputs.to_fractions() == [[1, 0], [0, 1]]
    assert [each.gate for each in made.pathways] == [(1, 0), (0, 1), (1, 0)]
    assert "labels: found a list" in problems(mask, mask, labels=[[1], [2]], pathways=ALL)
