"""A second equal `derive` writes and prints the same, without doing any of the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from symreln.cache import key
from symreln.cache.key import spec_key
from symreln.cache.outputs import read_outputs
from symreln.cache.store import Store
from symreln.cli import main as cli
from symreln.tasks.registry import SPECS, spec_path

SPEC = (
    '# a comment\ntitle = "own"\n[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n'
    '[[pathway]]\nname = "all"\ngate = "all"\n'
)


@pytest.fixture
def own(tmp_path) -> Path:
    (tmp_path / "x.csv").write_text("1,0\n0,1\n", "utf-8")
    (tmp_path / "y.csv").write_text("1\n2\n", "utf-8")
    path = tmp_path / "own.toml"
    path.write_text(SPEC, "utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    code = cli._guarded(["derive", *arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_second_run_prints_and_writes_the_same_and_says_where_from(own, tmp_path, capsys):
    first, note = run(capsys, str(own), "--out", str(tmp_path / "a"))
    assert "cache" not in note
    second, note = run(capsys, str(own), "--out", str(tmp_path / "b"))
    assert "taken from the cache" in note
    assert second == first.replace(str(tmp_path / "a"), str(tmp_path / "b"))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    json_text, _ = run(capsys, str(own), "--json", "--quiet", "--out", str(tmp_path / "c"))
    assert json_text == (tmp_path / "a" / "derivation.json").read_text("utf-8")


def test_json_is_printed_on_a_hit_where_it_is_not_written(own, tmp_path, capsys):
    asked = (str(own), "--json", "--format", "tex", "--out", str(tmp_path / "a"))
    first, _ = run(capsys, *asked)
    second, note = run(capsys, *asked)
    assert "taken from the cache" in note
    assert first == second
    assert json.loads(second)["format"] == "symreln-derivation/1"
    assert not (tmp_path / "a" / "derivation.json").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "x.csv").write_text("1,0\n0,2\n", "utf-8"),
        lambda folder: (folder / "own.toml").write_text(SPEC.replace("own", "new"), "utf-8"),
        lambda folder: (folder / "own.toml").rename(folder / "other.toml"),
    ],
)
def test_what_the_results_depend_on_changes_the_key(own, tmp_path, change):
    before = spec_key(str(own), (), allow_outside=False, formats="")
    change(tmp_path)
    path = own if own.exists() else tmp_path / "other.toml"
    assert spec_key(str(path), (), allow_outside=False, formats="") != before


def test_options_change_the_key_and_comments_do_not(own):
    before = spec_key(str(own), (), allow_outside=False, formats="")
    others = [
        spec_key(str(own), ("title=own2",), allow_outside=False, formats=""),
        spec_key(str(own), ("pathway[0].stage=1",), allow_outside=False, formats=""),
        spec_key(str(own), (), allow_outside=False, formats="json"),
    ]
    assert before is not None
    assert len({before, *others}) == 4
    own.write_text(SPEC.replace("# a comment", "# another"), "utf-8")
    assert spec_key(str(own), (), allow_outside=False, formats="") == before
    assert spec_key(str(own), ("title=own",), allow_outside=False, formats="") == before


@pytest.mark.parametrize(("one", "other"), [("1", '"1"'), ("1", "1.0"), ("1.0", "1.00")])
def test_values_of_unlike_types_have_unlike_keys(own, one, other):
    keys = {
        spec_key(str(own), (f"network.hidden={value}",), allow_outside=False)
        for value in (one, other)
    }
    assert len(keys) == 2


def test_every_ready_made_spec_is_known_by_its_file():
    assert {path.stem for path in spec_path("xor").parent.glob("*.toml")} == set(SPECS)
    assert spec_key("xor", (), allow_outside=False) != spec_key(
        str(spec_path("xor")), (), allow_outside=False
    )


@pytest.mark.parametrize("source", ["nothing", "no.toml", "", "a\0b", "x" * 5000, "/dev/null"])
def test_what_cannot_be_read_has_no_key(source):
    assert spec_key(source, (), allow_outside=False) is None


def test_a_data_file_outside_has_no_key_unless_allowed(own):
    outside = (f"dataset.inputs=../{own.parent.name}/../x.csv",)
    (own.parent.parent / "x.csv").write_text("1,0\n0,1\n", "utf-8")
    assert spec_key(str(own), outside, allow_outside=False) is None
    assert spec_key(str(own), outside, allow_outside=True) is not None


def test_without_the_cache_nothing_is_read_or_kept(own, tmp_path, capsys):
    for _ in range(2):
        _, note = run(capsys, str(own), "--no-cache", "--out", str(tmp_path / "a"))
        assert "cache" not in note
    assert Store().info()["entries"] == 0


def test_a_spec_that_changes_while_it_is_derived_is_not_kept(own, tmp_path, capsys, monkeypatch):
    from symreln.pipeline import derive as pipeline

    derive = pipeline.derive

    def changing(*spec, **how):
        own.write_text(SPEC.replace("own", "new"), "utf-8")
        return derive(*spec, **how)

    monkeypatch.setattr(pipeline, "derive", changing)
    run(capsys, str(own), "--out", str(tmp_path / "a"))
    assert Store().info()["entries"] == 0


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """Return a folder that stands for the program's, and forget its digest before and after."""
    folder = tmp_path / "package"
    (folder / "report").mkdir(parents=True)
    (folder / "report" / "page.css").write_text("a {}", "utf-8")
    monkeypatch.setattr(key, "_PACKAGE", folder)
    key.program.cache_clear()
    yield folder
    key.program.cache_clear()


@pytest.mark.parametrize("name", ["report/page.css", "new.py", "tasks/data.csv", "x.toml"])
def test_every_file_of_the_program_changes_the_key(own, package, name):
    before = spec_key(str(own), (), allow_outside=False)
    (package / name).parent.mkdir(exist_ok=True)
    (package / name).write_text("b {}", "utf-8")
    assert spec_key(str(own), (), allow_outside=False) == before, "within one command"
    assert spec_key(str(own), (), allow_outside=False, fresh=True) != before


def test_the_machine_and_the_packages_change_the_key(own, tmp_path, monkeypatch):
    before = spec_key(str(own), (), allow_outside=False, fresh=True)
    assert spec_key(str(own), (), allow_outside=False, fresh=True) == before
    with monkeypatch.context() as changed:
        changed.setattr(key, "_machine", lambda: "another machine")
        assert spec_key(str(own), (), allow_outside=False, fresh=True) != before
    (tmp_path / "path" / "sympy-99.0.dist-info").mkdir(parents=True)
    with monkeypatch.context() as changed:
        changed.syspath_prepend(str(tmp_path / "path"))
        assert spec_key(str(own), (), allow_outside=False, fresh=True) != before
    assert spec_key(str(own), (), allow_outside=False, fresh=True) == before


@pytest.mark.parametrize("name", ["x.csv", "y.csv"])
def test_bytes_of_data_files_change_the_key(own, tmp_path, name):
    before = spec_key(str(own), (), allow_outside=False)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\n")
    assert spec_key(str(own), (), allow_outside=False) != before


def test_a_program_that_changes_while_it_derives_keeps_nothing(
    own, package, tmp_path, capsys, monkeypatch
):
    from symreln.pipeline import derive as pipeline

    derive = pipeline.derive

    def changing(*spec, **how):
        (package / "report" / "page.css").write_text("b {}", "utf-8")
        return derive(*spec, **how)

    monkeypatch.setattr(pipeline, "derive", changing)
    run(capsys, str(own), "--out", str(tmp_path / "a"))
    assert Store().info()["entries"] == 0


@pytest.mark.parametrize(
    "files",
    [
        {"../evil": "x"},
        {"/evil": "x"},
        {"a/b/c": "x"},
        {".hidden": "x"},
        {"": "x"},
        {"x": ["base64", "?"]},
        {"x": ["zip", ""]},
        {"x": 3},
        ["x"],
        None,
    ],
)
def test_a_forged_entry_writes_nothing_outside(tmp_path, files):
    store = Store(folder=tmp_path / "c")
    store.put("derivation", "a" * 64, {"files": files, "json": "{}", "summary": {}})
    assert read_outputs(store, "a" * 64) is None
    assert len(store.notes) == 1


def test_a_hit_imports_nothing_heavy(own, tmp_path):
    program = (
        "import sys; from symreln.cli import main as cli;"
        f"code = cli._guarded(['derive', {str(own)!r}, '--quiet', '--out', {str(tmp_path)!r}]);"
        "heavy = {'sympy', 'numpy', 'scipy', 'matplotlib', 'flint', 'pydantic', 'rich'};"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    last = ""
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])},
        )
        last = found.stdout.splitlines()[-1]
    assert last == "0 []"


def test_the_cache_command(own, tmp_path, capsys, monkeypatch):
    run(capsys, str(own), "--out", str(tmp_path / "a"))
    assert cli._guarded(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 1
    assert cli._guarded(["cache", "--clear"]) == 0
    assert "removed 1 entr" in capsys.readouterr().out
    assert cli._guarded(["cache", "--info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 0
    monkeypatch.setenv("SYMRELN_CACHE", "off")
    assert cli._guarded(["cache"]) == 2
    assert "SYMRELN_CACHE" in capsys.readouterr().err
