"""Files of specs and of data: what is read is what was written; damaged ones end in a message."""

from __future__ import annotations

import contextlib
import io
import tempfile
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.cli import main as cli
from symreln.errors import SpecError
from symreln.specs.files import parse_toml
from symreln.specs.problems import Origin
from symreln.specs.reader import read_spec
from symreln.task_library.registry import SPECS, TASKS, spec_path
from tests.own_process import imported
from tests.specs import corpus
from tests.specs.corpus import CSV, NPZ, X, Y, npz, own
from tests.strategies import examples


@pytest.mark.parametrize("name", SPECS)
def test_every_key_of_the_ready_made_specs_is_on_its_line(name: str):
    text = spec_path(name).read_text(encoding="utf-8")
    rows, lines = text.splitlines(), Origin(file=name, text=text).lines
    for path, line in lines.items():
        if path[-1] != "]":
            assert path.split(".")[-1] in rows[line - 1], path
    for key, value in tomllib.loads(text).items():
        if isinstance(value, list):
            assert all(f"[[{key}]]" in rows[lines[f"{key}[{k}]"] - 1] for k in range(len(value)))


# -- CSV and NPZ -----------------------------------------------------------------------------------


def spec_in(folder: Path, text: str, **files: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    path = folder / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def dataset(text: str, **files: bytes) -> sr.Dataset:
    with tempfile.TemporaryDirectory() as folder:
        return sr.load(spec_in(Path(folder), text, **files)).dataset


def written(value: Fraction, style: str) -> str:
    """Write a number as a cell in one of the styles that a file may have."""
    if style == "fraction" or (10**6 * value).denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    if style == "exponent":
        return f"{int(value * 10**6)}E-6"
    whole, rest = divmod(abs(value) * 10**6, 10**6)
    return f"{'-' * (value < 0)}{whole}.{int(rest):06d}"


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[Fraction]], bytes, bool]:
    """Draw a table, a CSV file of it, and whether the file has a header."""
    rows, columns = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    entry = st.fractions(-99, 99, max_denominator=draw(st.sampled_from([1, 10, 1000, 7])))
    table = [[draw(entry) for _ in range(columns)] for _ in range(rows)]
    style = st.sampled_from(["fraction", "decimal", "exponent"])
    delimiter, newline = draw(st.sampled_from(",;\t")), draw(st.sampled_from(["\n", "\r\n"]))
    pad = draw(st.sampled_from(["", " "]))
    lines = [delimiter.join(pad + written(v, draw(style)) for v in row) for row in table]
    header = draw(st.booleans())
    if header:
        lines.insert(0, delimiter.join(f"name {i}" for i in range(columns)))
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), "")
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    data = mark + newline.join(lines).encode() + draw(st.sampled_from([b"", b"\n"]))
    return table, data, header


@given(tables())
@examples(300)
def test_csv_round_trip(case: tuple[list[list[Fraction]], bytes, bool]):
    table, data, header = case
    text = CSV.replace("targets =", f"header = {str(header).lower()}\ntargets =")
    found = dataset(text, x_csv=data, y_csv=data).inputs.to_fractions()
    assert found == [list(each) for each in zip(*table, strict=True)]


@pytest.mark.parametrize(
    ("inputs", "targets", "asks"),
    [
        (b"0,1,2\n1,0,0\n0,1,0\n", b"a\n1\n2\n", True),  # pandas: to_csv(index=False)
        (b"0;1\n1;0\n0;1\n", b"0;1\n1;0\n0;1\n", True),
        (b"0\n1\n2\n", b"0\n2\n3\n", True),  # a Series likewise
        (b"0\n1\n2\n", b"1\n2\n3\n", True),  # frame[[0]] and frame[[1]]
        (b"2019,2020,2021\n1,0,0\n0,1,0\n", b"3\n1\n2\n", True),
        (b"1,2,4\n1,0,0\n0,1,0\n", b"3\n1\n2\n", False),
        (b"0,0\n0,1\n1,1\n", b"0\n1\n0\n", False),  # XOR
        (b"0\n1\n", b"2\n1\n", False),
    ],
)
def test_csv_that_begins_by_counting_is_a_question(
    tmp_path: Path, inputs: bytes, targets: bytes, asks: bool
):
    files, rows = {"x_csv": inputs, "y_csv": targets}, inputs.count(b"\n")
    if not asks:
        assert sr.load(spec_in(tmp_path, CSV, **files)).dataset.samples == rows
        return
    with pytest.raises(SpecError, match=r"first row of .*; expected header = true or header = f"):
        sr.load(spec_in(tmp_path, CSV, **files))
    said = CSV.replace("targets =", "header = true\ntargets =")
    assert sr.load(spec_in(tmp_path, said, **files)).dataset.samples == rows - 1
    if not targets.startswith(b"a"):
        said = said.replace("true", "false")
        assert sr.load(spec_in(tmp_path, said, **files)).dataset.samples == rows


floats = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(floats, min_size=1, max_size=4), st.sampled_from("CF"))
@examples(100)
def test_npz_floats_are_their_shortest_decimal(values: list[float], order: str):
    array = np.array([values, values], order=order)
    inputs = dataset(NPZ, d_npz=npz(X=array, Y=array)).inputs
    assert inputs.to_fractions() == [[Fraction(repr(v))] * 2 for v in values]
    # The way back is exact too: the shortest decimal rounds to the same float.
    assert inputs.to_numpy().tolist() == array.T.tolist()


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (np.float32, [Fraction(1, 10), Fraction(-1, 4)]),
        (np.float16, [Fraction(1, 10), Fraction(3)]),
        (np.uint64, [Fraction(2**64 - 1), Fraction(0)]),
        (np.int64, [Fraction(-(2**63)), Fraction(1)]),
        (">i2", [Fraction(-128), Fraction(1)]),
    ],
)
def test_npz_types(tmp_path: Path, kind, values: list[Fraction]):
    stream = io.BytesIO()
    numbers = [float(v) if v.denominator > 1 else int(v) for v in values]
    np.savez_compressed(stream, inputs=np.array([numbers], kind), Y=np.zeros((1, 1)))
    dataset = sr.load(spec_in(tmp_path, NPZ, d_npz=stream.getvalue())).dataset
    assert dataset.inputs.to_fractions() == [[value] for value in values]
    assert "All targets are zero" in dataset.description


def test_files_are_found_from_the_specs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = {"x_csv": b"1,0.5\n0,1\n1,1\n", "y_csv": b"out\n1\n2\n3\n", "real_csv": b"1\n"}
    path = spec_in(tmp_path / "a", CSV, **files)
    monkeypatch.chdir(tmp_path)
    dataset = sr.load("a/spec.toml").dataset
    assert dataset.inputs.to_fractions() == [[1, 0, 1], [Fraction(1, 2), 1, 1]]
    assert dataset.targets.to_fractions() == [[1, 2, 3]]
    assert dataset.options["inputs"].startswith("x.csv (SHA-256 ")
    assert dataset.description.endswith("2 inputs and 1 output, read from x.csv and y.csv.")
    assert sr.load(path) == sr.load("a/spec.toml")
    (tmp_path / "a" / "y.csv").write_bytes(b"2\n")
    (tmp_path / "a" / "x.csv").unlink()
    (tmp_path / "a" / "x.csv").symlink_to(tmp_path / "a" / "real.csv")  # stays inside
    assert sr.load(path).dataset.inputs.to_fractions() == [[1]]
    (tmp_path / "a" / "x.csv").unlink()
    (tmp_path / "a" / "x.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(b"3\n")
    with pytest.raises(SpecError, match="outside the spec's folder"):
        sr.load(path)
    assert sr.load(path, allow_outside=True).dataset.inputs.to_fractions() == [[3]]


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
    files = {"x_csv": b"wings,fins\n1,0\n0,1\n", "y_csv": b"fly,swim\n2,0\n0,1\n"}
    read = sr.load(spec_in(tmp_path, CSV, **files))
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame([[1, 0], [0, 1]], columns=["wings", "fins"])
    y = pandas.DataFrame([[2, 0], [0, 1]], columns=["fly", "swim"])
    made = sr.spec(x, y, pathways=[sr.pathway("all")])
    for spec in (read, made, sr.derive(made).spec):
        assert spec.dataset.names_of("inputs", [1, 0]) == ["fins", "wings"]
        assert spec.dataset.names_of("outputs", [0]) == ["fly"]
    sr.derive(made).save(tmp_path / "out")
    page = (tmp_path / "out" / "derivation.html").read_text()
    assert all(word in page for word in ("<td", "wings", "swim"))
    assert sr.open(tmp_path / "out").spec.dataset.input_names == ("wings", "fins")
    plain = sr.spec(pandas.DataFrame(np.eye(2)), np.eye(2), pathways=[sr.pathway("all")])
    assert plain.dataset.names_of("inputs", [0]) == ["input 1"]


# -- matrices in the spec --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "asked", "inputs"),
    [
        ("all,b,c", None, [(0, 1, 2)]),  # "all" is all of them, whatever a column is called
        ("p,p,c", 'inputs = ["p"]', None),
        ("p,p,c", 'inputs = "p"', None),
        ('"a; b",b,c', 'inputs = ["a; b", "c"]', [(0, 2)]),
        ("a1,a2,c", 'each = "k"\ninputs = ["a{k}", 2]', [(0, 2), (1, 2)]),
    ],
)
def test_names_of_columns_are_asked_for(tmp_path, header, asked, inputs):
    text = f"{CSV}{asked or ''}\n[dataset.labels]\nk = [1, 2]\n"
    files = {"x_csv": f"{header}\n0.5,2,3\n4,5,7\n".encode(), "y_csv": b"2\n1\n"}
    path = spec_in(tmp_path, text, **files)
    if inputs is None:
        with pytest.raises(SpecError, match=r'found .*"p"'):
            sr.load(path)
    else:
        assert [each.inputs for each in sr.load(path).pathways] == inputs


def test_numbers_below_a_header_are_samples(tmp_path):
    path = spec_in(tmp_path, CSV, x_csv=b"a,b\n0,1\n1,0\n", y_csv=b"y,z\n0,1\n2,3\n")
    assert sr.load(path).dataset.inputs.to_numpy().tolist() == [[0, 1], [1, 0]]


def test_a_byte_order_mark_is_no_part_of_a_spec(tmp_path):
    path = tmp_path / "spec.toml"
    text = "[dataset]\nX = [[1]]\nY = [[2]]\n[[pathway]]\nname = 'a'\ngate = 'all'\n"
    path.write_text(text, encoding="utf-8-sig")
    assert sr.load(path).dataset.samples == 1


def matrix(rows: list) -> sr.Spec:
    data = {"X": rows, "Y": [[1] * len(rows[0])]}
    return sr.load({"dataset": data, "pathway": [{"name": "a"}]})


def test_a_matrix_lists_several_wrong_entries_and_then_stops():
    def problems(row: list[str]):
        with pytest.raises(SpecError) as caught:
            matrix([row])
        return caught.value.problems

    listed = [f"dataset.X[0][{j}]" for j in range(10)]
    assert [p.path for p in problems(["no"] * 10)] == listed
    assert [p.path for p in problems(["nan"] * 2500 + ["no"])] == listed


def test_matrices_that_are_refused():
    with pytest.raises(SpecError, match=r"Call tolist\(\) on an array"):
        matrix(np.eye(2))  # type: ignore[arg-type]
    primes = [p for p in range(2**61, 2**61 + 30_000) if p % 2 and p % 3 and p % 5]
    with pytest.raises(SpecError, match="common denominator"):
        matrix([[f"1/{p}" for p in primes]])


# -- damaged ---------------------------------------------------------------------------------------

READABLE = ("xor", "contextual-3", "contextual-different", "linear-hierarchy")
TEXTS = [spec_path(name).read_text(encoding="utf-8") for name in READABLE]
TEXTS += [
    own('labels = {kind = ["a", "b"]}\ngroups = {inputs = {one = [0]}}')
    + 'gate = \'kind == "a"\'\n[validation]\ntolerance = 0.1\nreason = "x"\n',
    *(text for _, text in corpus.SPECS if len(text) < 2000),
]
TOKENS = [
    *("[", "]", "[[", "]]", "{", "}", '"', "'", "=", ".", ",", "#", "\n", "\x00", "\u202e"),
    *("-1", "0", "nan", "inf", "1e999", "9" * 30, "true", "[]", "{}", '""', "2020-01-01"),
    *("X = [[1]]\n", "[parameters.c]\n", "[[pathway]]\n", "all", "c", "**", "(", "é"),
]


@st.composite
def damaged_specs(draw: st.DrawFn) -> str:
    """Replace, remove, insert or double pieces of a text."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from([*TOKENS, "", text[start:end] * 2]))
        text = text[:start] + piece + text[end:]
    return text


@given(damaged_specs())
@examples(300)
def test_damaged_specs(text: str):
    with contextlib.suppress(SpecError):
        found, text = parse_toml(text.encode("utf-8", "surrogatepass"), "spec.toml")
        read_spec(found, tasks=TASKS, origin=Origin(file="spec.toml", text=text))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | st.text(max_size=5)
values = st.recursive(
    scalars | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("X", "Y", "task", "Delta", "labels", "groups", "inputs", "targets", "data", "delimiter")
PATHWAY_KEYS = st.sampled_from(["name", "gate", "inputs", "outputs", "stage", "each", "then"])
WHOLE = {
    "title": values,
    "dataset": values | st.dictionaries(st.sampled_from(KEYS), values),
    "parameters": values | st.dictionaries(st.sampled_from(["c", "tau", "é"]), values),
    "pathway": values | st.lists(st.dictionaries(PATHWAY_KEYS, values), max_size=2),
    "network": values,
    "validation": values,
}


@given(st.fixed_dictionaries({}, optional=WHOLE))
@examples(300)
def test_tables_of_anything(tables: dict[str, object]):
    with pytest.raises(SpecError):
        sr.load(tables)


@given(st.binary(max_size=60) | st.text(alphabet='0123456789.,;-+e/"\t\r\nan ', max_size=60))
@examples(400)
def test_csv_of_anything(data: bytes | str):
    with contextlib.suppress(SpecError):
        dataset(CSV, x_csv=data.encode() if isinstance(data, str) else data, y_csv=b"1\n")


ARCHIVE = npz(X=X, Y=Y)


@given(st.data())
@examples(400)
def test_damaged_npz(data: st.DataObject):
    damaged = bytearray(ARCHIVE)
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    with contextlib.suppress(SpecError):
        inputs = dataset(NPZ, d_npz=bytes(damaged[: cut or None])).inputs
        # What is still read passed the archive's checksums: it is what was written.
        assert inputs.to_numpy().tolist() == X.tolist()


def test_loading_a_task_needs_no_heavy_library():
    """`derive` must start fast; tasks need flint, pydantic and numpy."""
    heavy = ("sympy", "scipy.sparse", "matplotlib", "sklearn")
    program = "from symreln.task_library.load import load; load('contextual-3')"
    assert imported(program, *heavy) == []
