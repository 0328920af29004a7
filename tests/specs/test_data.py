"""A user's own data: what is read is what was written, exactly."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.cli import main as cli
from symreln.errors import SpecError
from symreln.specs.data import matrices_from_npz, rows_from_csv
from symreln.task_library.load import load
from tests.specs.corpus import CSV, NPZ, npz
from tests.strategies import examples

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 5))


def written(value: Fraction, style: str) -> str:
    """Write a number as a cell in one of the styles that a file may have."""
    if style == "fraction" or (10**6 * value).denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    if style == "exponent":
        return f"{int(value * 10**6)}E-6"
    whole, rest = divmod(abs(value) * 10**6, 10**6)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{int(rest):06d}"


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[Fraction]], bytes]:
    """Draw a table and a CSV file of it."""
    rows, columns = draw(SHAPES)
    entry = st.fractions(-99, 99, max_denominator=draw(st.sampled_from([1, 10, 1000, 7])))
    table = [[draw(entry) for _ in range(columns)] for _ in range(rows)]
    style = st.sampled_from(["fraction", "decimal", "exponent"])
    delimiter = draw(st.sampled_from([",", ";", "\t"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    pad = draw(st.sampled_from(["", " "]))
    lines = [delimiter.join(pad + written(v, draw(style)) for v in row) for row in table]
    if draw(st.booleans()):
        lines.insert(0, delimiter.join(f"name {i}" for i in range(columns)))
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), "")
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return table, mark + newline.join(lines).encode() + draw(st.sampled_from([b"", b"\n"]))


@given(tables())
@examples(300)
def test_csv_round_trip(case: tuple[list[list[Fraction]], bytes]):
    table, data = case
    columns = [list(column) for column in zip(*table, strict=True)]
    assert rows_from_csv(data, "x.csv")[0] == columns


def test_csv_delimiter_is_used_when_given():
    assert rows_from_csv(b"1\n2\n", "x", ";") == ([[1, 2]], [])
    with pytest.raises(SpecError, match='"1,2"'):
        rows_from_csv(b"1,2\n", "x", ";")


QUESTION = r"0, 1.* in the first row of .*; expected header = true or header = false"


@pytest.mark.parametrize(
    ("inputs", "targets", "asks"),
    [
        (b"0,1,2\n1,0,0\n0,1,0\n", b"a\n1\n2\n", True),  # pandas: to_csv(index=False)
        (b"0;1\n1;0\n0;1\n", b"0;1\n1;0\n0;1\n", True),
        (b"0\n1\n2\n", b"0\n2\n3\n", True),  # a Series likewise
        (b"0\n1\n2\n", b"1\n2\n3\n", True),  # frame[[0]] and frame[[1]]
        (b"1,2,3\n1,0,0\n0,1,0\n", b"a\n1\n2\n", True),
        (b"2019,2020,2021\n1,0,0\n0,1,0\n", b"3\n1\n2\n", True),
        (b"1,2,4\n1,0,0\n0,1,0\n", b"3\n1\n2\n", False),
        (b"0,0\n0,1\n1,1\n", b"0\n1\n0\n", False),  # XOR
        (b"1,2\n0,1\n", b"0\n1\n", False),
        (b"0\n1\n", b"2\n1\n", False),
    ],
)
def test_csv_that_begins_by_counting_is_a_question(
    tmp_path: Path, inputs: bytes, targets: bytes, asks: bool
):
    files = {"x_csv": inputs, "y_csv": targets}
    rows = inputs.count(b"\n")
    if not asks:
        assert load(spec_in(tmp_path, CSV, **files)).dataset.samples == rows
        return
    with pytest.raises(SpecError, match=QUESTION.replace("0, 1.*", r"\d.*")):
        load(spec_in(tmp_path, CSV, **files))
    said = CSV.replace("targets =", "header = true\ntargets =")
    assert load(spec_in(tmp_path, said, **files)).dataset.samples == rows - 1
    if not targets.startswith(b"a"):
        said = said.replace("true", "false")
        assert load(spec_in(tmp_path, said, **files)).dataset.samples == rows


def test_csv_lists_several_wrong_cells_and_then_stops():
    data = b"\n".join(b"1,no%d" % row for row in range(50))
    with pytest.raises(SpecError) as caught:
        rows_from_csv(data, "x.csv")
    assert len(caught.value.problems) == 10
    assert "row 10, column 2" in str(caught.value)


floats = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(floats, min_size=1, max_size=4), st.sampled_from("CF"))
@examples(100)
def test_npz_floats_are_their_shortest_decimal(values: list[float], order: str):
    array = np.array([values, values], order=order)
    inputs, _ = matrices_from_npz(npz(X=array, Y=array), "d.npz")
    assert inputs.to_fractions() == [[Fraction(repr(v))] * 2 for v in values]
    # The way back is exact too: the shortest decimal rounds to the same float.
    assert inputs.to_numpy().tolist() == array.T.tolist()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[0.1, -0.25]], dtype=np.float32), [[Fraction(1, 10), Fraction(-1, 4)]]),
        (np.array([[0.1, 3.0]], dtype=np.float16), [[Fraction(1, 10), Fraction(3)]]),
        (np.array([[2**64 - 1, 0]], dtype=np.uint64), [[Fraction(2**64 - 1), Fraction(0)]]),
        (np.array([[-(2**63), 1]], dtype=np.int64), [[Fraction(-(2**63)), Fraction(1)]]),
        (np.array([[-128, 1]], dtype=">i2"), [[Fraction(-128), Fraction(1)]]),
    ],
)
def test_npz_types(array: np.ndarray, expected: list[list[Fraction]]):
    inputs, _ = matrices_from_npz(npz(inputs=array, targets=array), "d.npz")
    assert inputs.to_fractions() == [list(column) for column in zip(*expected, strict=True)]


def test_npz_that_is_compressed_reads_the_same():
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.array([[1, 0], [2, 1]]), Y=np.ones((2, 1)))
    inputs, targets = matrices_from_npz(stream.getvalue(), "d.npz")
    assert inputs.to_fractions() == [[1, 2], [0, 1]]
    assert targets.to_fractions() == [[1, 1]]


def spec_in(folder: Path, text: str, **files: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    path = folder / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_files_are_found_from_the_specs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = spec_in(tmp_path / "a", CSV, x_csv=b"1,0.5\n0,1\n1,1\n", y_csv=b"out\n1\n2\n3\n")
    monkeypatch.chdir(tmp_path)
    dataset = load("a/spec.toml").dataset
    assert dataset.inputs.to_fractions() == [[1, 0, 1], [Fraction(1, 2), 1, 1]]
    assert dataset.targets.to_fractions() == [[1, 2, 3]]
    assert dataset.samples == 3
    assert dataset.options["inputs"].startswith("x.csv (SHA-256 ")
    assert dataset.description == (
        "A dataset of 3 samples with 2 inputs and 1 output, read from x.csv and y.csv."
    )
    assert load(path) == load("a/spec.toml")


def test_npz_in_a_spec(tmp_path: Path):
    path = spec_in(tmp_path, NPZ, d_npz=npz(X=np.eye(2), Y=np.array([[0], [0]])))
    dataset = load(path).dataset
    assert dataset.targets.is_zero
    assert "All targets are zero" in dataset.description


def test_files_outside_are_read_only_when_allowed(tmp_path: Path):
    (tmp_path / "x.csv").write_bytes(b"1\n")
    text = CSV.replace("x.csv", "../x.csv")
    path = spec_in(tmp_path / "a", text, y_csv=b"2\n")
    with pytest.raises(SpecError, match="outside the spec's folder"):
        load(path)
    assert load(path, allow_outside=True).dataset.inputs.to_fractions() == [[1]]


def test_a_link_that_stays_inside_is_followed(tmp_path: Path):
    path = spec_in(tmp_path, CSV, real_csv=b"1\n", y_csv=b"2\n")
    (tmp_path / "x.csv").symlink_to(tmp_path / "real.csv")
    assert load(path).dataset.inputs.to_fractions() == [[1]]


OWN = {
    "X": [["1", "1/3", 0.1], [0, "2*c", "-c"]],
    "Y": [[1, -1, 0]],
    "labels": {"class": ["a", "b", "a"], "k": [1, 2, 3]},
    "groups": {"inputs": {"first": [0]}, "outputs": {"only": [0]}},
}


def test_matrices_in_a_mapping():
    spec = load(
        {
            "dataset": OWN,
            "parameters": {"c": {"value": Fraction(1, 2)}},
            "pathway": [
                {"name": "a", "gate": 'class == "a"', "inputs": "first", "outputs": "only"},
                {"name": "rest", "gate": [0, 1, 0], "inputs": [1, 0]},
            ],
        }
    )
    assert spec.at_values().dataset.inputs.to_fractions() == [
        [1, Fraction(1, 3), Fraction(1, 10)],
        [0, 1, Fraction(-1, 2)],
    ]
    first, rest = spec.pathways
    assert (first.gate, first.inputs, first.outputs) == ((1, 0, 1), (0,), (0,))
    assert (rest.gate, rest.inputs, rest.inputs_text) == ((0, 1, 0), (0, 1), "[1, 0]")
    assert spec.network is None
    assert f"{spec.title}." == spec.dataset.description


def test_arrays_are_told_from_lists():
    tables = {"dataset": {"X": np.eye(2), "Y": [[1, 2]]}, "pathway": [{"name": "a"}]}
    with pytest.raises(SpecError, match=r"Call tolist\(\) on an array"):
        load(tables)
    tables["dataset"]["X"] = np.eye(2).tolist()  # type: ignore[index]
    assert load(tables).dataset.inputs.to_fractions() == [[1, 0], [0, 1]]


def test_a_matrix_lists_several_wrong_entries_and_then_stops():
    def problems(row: list[str]):
        tables = {"dataset": {"X": [row], "Y": [[1] * len(row)]}, "pathway": [{"name": "a"}]}
        with pytest.raises(SpecError) as caught:
            load(tables)
        return caught.value.problems

    nan = 'the undeclared name "nan" at character 1'
    listed = [f"dataset.X[0][{j}]" for j in range(10)]
    assert [p.path for p in problems(["no"] * 10)] == listed
    assert [p.path for p in problems([f"no{j}" for j in range(50)])] == listed
    first, other = problems(["nan"] * 2500 + ["no"] + ["nan"] * 2500)
    assert (first.path, first.found) == ("dataset.X[0][0]", f"{nan} and 4999 more")
    assert (other.path, other.found) == ("dataset.X[0][2500]", nan.replace("nan", "no"))


def test_many_denominators_are_refused_before_they_are_multiplied():
    rows = [[f"1/(c+{k})" for k in range(1, 70)]]
    tables = {
        "dataset": {"X": rows, "Y": [[1] * 69]},
        "parameters": {"c": {"positive": True}},
        "pathway": [{"name": "a"}],
    }
    with pytest.raises(SpecError, match="many different denominators"):
        load(tables)
    primes = [p for p in range(2**61, 2**61 + 30_000) if p % 2 and p % 3 and p % 5]
    tables["dataset"] = {"X": [[f"1/{p}" for p in primes]], "Y": [[1] * len(primes)]}
    tables["parameters"] = {}
    with pytest.raises(SpecError, match="common denominator"):
        load(tables)


TAKING_SPECS = ("derive", "run", "validate", "gates", "race", "replay", "sweep", "depth")


@pytest.mark.parametrize("command", TAKING_SPECS)
def test_every_command_that_reads_a_spec_takes_what_the_refusal_names(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    assert "--allow-outside-data" in capsys.readouterr().out


def test_gates_of_data_elsewhere_are_found_where_that_is_allowed(tmp_path: Path, capsys):
    (tmp_path / "x.csv").write_bytes(b"1\n")
    path = spec_in(tmp_path / "a", CSV.replace("x.csv", "../x.csv"), y_csv=b"2\n")
    command = ["gates", str(path), "--method", "enumerate", "--out", str(tmp_path / "out")]
    assert cli._guarded(command) == 2
    assert "--allow-outside-data" in capsys.readouterr().err
    assert cli._guarded([*command, "--allow-outside-data"]) == 0


def test_names_of_columns_are_what_inputs_are_called(tmp_path):
    """A header, a DataFrame and [dataset.names] name rows of singular vectors alike."""
    (tmp_path / "x.csv").write_text("wings,fins\n1,0\n0,1\n")
    (tmp_path / "y.csv").write_text("fly,swim\n2,0\n0,1\n")
    text = '[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n[[pathway]]\nname = "all"\n'
    (tmp_path / "spec.toml").write_text(text)
    read = sr.load(tmp_path / "spec.toml")
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame([[1, 0], [0, 1]], columns=["wings", "fins"])
    y = pandas.DataFrame([[2, 0], [0, 1]], columns=["fly", "swim"])
    made = sr.spec(x, y, pathways=[sr.pathway("all")])
    for spec in (read, made, sr.derive(made).spec):
        assert spec.dataset.names_of("inputs", [1, 0]) == ["fins", "wings"]
        assert spec.dataset.names_of("outputs", [0]) == ["fly"]
    sr.derive(made).save(tmp_path / "out")
    assert "<td" in (page := (tmp_path / "out" / "derivation.html").read_text())
    assert "wings" in page
    assert "swim" in page
    assert sr.open(tmp_path / "out").spec.dataset.input_names == ("wings", "fins")
    plain = sr.spec(pandas.DataFrame(np.eye(2)), np.eye(2), pathways=[sr.pathway("all")])
    assert plain.dataset.names_of("inputs", [0]) == ["input 1"]
    with pytest.raises(SpecError, match="3 names"):
        sr.load(
            {
                "dataset": {"X": [[1]], "Y": [[1]], "names": {"inputs": ["a", "b", "c"]}},
                "pathway": [{"name": "a"}],
            }
        )
