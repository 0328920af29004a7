"""A folder is verified as one thing, and what is hostile is refused in little time and memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import symreln as sr
from symreln.base import jsonio
from symreln.cli import main as cli
from symreln.errors import CertificateError
from symreln.report import results_folder
from symreln.verifier import verify, verify_file
from symreln.verifier.folder import sealed_json
from tests.certificates import certificates, copied, renewed

ROOT = Path(sr.__file__).parents[1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Results of two derivations, which differ in the scale of the context inputs."""
    folders = []
    for scale in ("1", "2"):
        folder = tmp_path_factory.mktemp(f"scale-{scale}")
        sr.derive(
            sr.load("contextual-3", [f"dataset.context_scale={scale}", "dataset.items=2"])
        ).save(folder)
        folders.append(folder)
    return folders[0], folders[1]


@pytest.fixture
def folder(saved: tuple[Path, Path], tmp_path: Path) -> Path:
    shutil.copytree(saved[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


# -- a folder --------------------------------------------------------------------------------------


def test_what_was_saved_belongs_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_file(folder) == verify_file(folder / "certificate.json")
    assert cli._guarded(["verify", str(folder)]) == 0
    assert "every identity holds" in capsys.readouterr().out
    names = {path.name for path in folder.iterdir()}
    assert {"derivation.json", "derivation.html", "derivation.tex", "certificate.json"} <= names
    assert not [name for name in names if name.startswith(".")]


@pytest.mark.parametrize(
    "name", ["certificate.json", "derivation.json", "derivation.tex", "derivation.html"]
)
def test_a_file_of_another_derivation_is_refused(
    saved: tuple[Path, Path], folder: Path, name: str
) -> None:
    shutil.copy(saved[1] / name, folder)
    with pytest.raises(CertificateError, match="another derivation"):
        verify_file(folder)
    assert cli._guarded(["verify", str(folder)]) == 2


@pytest.mark.parametrize("name", ["derivation.json", "derivation.tex", "derivation.html"])
def test_a_file_that_was_changed_or_cut_is_refused(folder: Path, name: str) -> None:
    path = folder / name
    text = path.read_text("utf-8")
    path.write_text(text.replace("contextual", "another", 1), "utf-8")
    with pytest.raises(CertificateError, match="was changed"):
        verify_file(folder)
    path.write_text(text[: len(text) // 2], "utf-8")
    with pytest.raises(CertificateError):
        verify_file(folder)


def test_a_verdict_that_is_not_proven_is_refused(folder: Path) -> None:
    content = json.loads((folder / "derivation.json").read_text("utf-8"))
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    content["verdict"]["level"] = "closed"
    path = folder / "derivation.json"
    path.write_text(json.dumps(sealed_json(content, certificate)), "utf-8")
    with pytest.raises(CertificateError, match="another verdict"):
        verify_file(folder)


def test_no_file_elsewhere_is_named(folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    content = json.loads((folder / "derivation.json").read_text("utf-8"))
    for name in ("../other", "/etc/passwd"):
        sealed = sealed_json(content, certificate, {name: b""})
        (folder / "derivation.json").write_text(json.dumps(sealed), "utf-8")
        with pytest.raises(CertificateError, match="a file elsewhere"):
            verify_file(folder)


def test_files_appear_together_or_not_at_all(
    saved: tuple[Path, Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second derivation into the folder that fails in the middle leaves the first one whole."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    genuine = jsonio.write_bytes

    def full(path: Path, data: bytes) -> None:
        if path.name == "derivation.html":
            raise OSError(28, "No space left on device", str(path))
        genuine(path, data)

    monkeypatch.setattr(results_folder, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as caught:
        sr.derive(sr.load("xor")).save(folder)
    assert caught.value.filename == str(folder / "derivation.html")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    sr.derive(sr.load("xor")).save(folder)
    assert verify_file(folder) == ("stages[0]: sample_1, sample_2, sample_3, sample_4: closed",)


# -- text ------------------------------------------------------------------------------------------

FORGED = "p: closed\n  ok  stages[1]: q: closed\x1b[2J\u202e"


def test_names_are_printed_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = copied("xor")
    certificate["parts"][0]["stages"][0]["pathways"][0]["name"] = FORGED
    (line,) = verify(renewed(certificate))
    assert line.isprintable()
    assert line.startswith("stages[0]: 'p: closed\\n")
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(renewed(certificate)), "utf-8")
    assert cli._guarded(["verify", str(path)]) == 0
    shown = capsys.readouterr().out
    assert [line[:6] for line in shown.splitlines()] == ["  ok  ", str(path)[:6]]
    assert "\x1b" not in shown
    certificate["parts"][0]["stages"][0]["pathways"][1]["classes"][0][FORGED] = 1
    certificate["parameters"] = [FORGED]
    with pytest.raises(CertificateError) as caught:
        verify(renewed(certificate))
    assert str(caught.value).isprintable()


# -- what is hostile -------------------------------------------------------------------------------


def coprime() -> str:
    """Gains 1/(p + 1) in 26 parameters: common denominators have 2^26 terms."""
    certificate = copied("white")
    names = [chr(97 + n) for n in range(26)]
    part, size = certificate["parts"][0], 26
    row = [[0, n, "1"] for n in range(size)]
    certificate |= {
        "parameters": names,
        "inputs": {"rows": 1, "columns": size, "denominator": "1", "entries": row},
        "targets": {"rows": 1, "columns": size, "denominator": "1", "entries": row},
    }
    (first, _) = part["stages"][0]["pathways"]
    gate = [f"1 / 1*{name}^1 + 1" for name in names]
    first |= {"inputs": [0], "outputs": [0], "gate": gate, "like": None}
    return json.dumps(renewed(certificate))


def changed(name: str, *path: Any, value: Any) -> str:
    certificate = copied(name)
    holder = certificate
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return json.dumps(renewed(certificate))


def dense() -> str:
    """Data of one number with as many terms as powers."""
    certificate = copied("white")
    number = " + ".join([*(f"1*a^{n}" for n in range(9999, 0, -1)), "1"])
    one = {"rows": 1, "columns": 1, "denominator": "1", "entries": [[0, 0, number]]}
    certificate |= {"parameters": ["a"], "inputs": one, "targets": one}
    return json.dumps(renewed(certificate))


def sized(least: int) -> str:
    """A family whose numbers of items are large."""
    certificate = json.loads(json.dumps(sr.derive(sr.load("contextual-C")).certificate))
    certificate["parts"][-1]["items"] |= {"least": least, "at": least}
    return json.dumps(renewed(certificate))


CLASS = ("parts", 0, "stages", 0, "pathways", 0, "classes", 0)
HOSTILE = {
    "a key twice": lambda: '{"format": 1, ' + json.dumps(certificates()["xor"])[1:],
    "a long integer": lambda: f'{{"format": {"9" * 4301}}}',
    "a surrogate in a name": lambda: changed("xor", *CLASS[:6], "name", value="\ud800"),
    "a surrogate as a key": lambda: '{"\\udfff": 1}',
    "coprime gains": coprime,
    "a degree": lambda: changed("gains", *CLASS, "eigenvalue", 0, value="1*g^999999999"),
    "a size": lambda: changed("xor", "inputs", "rows", value=999_999_999),
    "an empty matrix": lambda: changed("xor", "inputs", "columns", value=10**6),
    "a key of many twice": lambda: (
        "{" + "".join(f'"{n}": 1, ' for n in range(60_000)) + '"59999": 1}'
    ),
    "many objects": lambda: f"[{'{},' * (5 * 10**6)}0]",
    "dense polynomials": dense,
    "items without bound": lambda: sized(2**4000),
    "nesting": lambda: "[" * 10**6,
    "no finite number": lambda: '{"format": NaN}',
}
PROGRAM = """
import sys
from symreln.verifier.__main__ import main
try:
    main()
finally:
    status = open("/proc/self/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) >> 10
    sys.stderr.write(f"peak {peak}")
"""


def ended(path: Path) -> str:
    """Check a file in a process of its own; return what it says.

    A file that is not bounded before it is computed with would run for hours: the time limit is
    for that, and far above what any machine needs.
    """
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, str(path)],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said, _, used = done.stderr.rpartition("peak ")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in said
    assert int(used) < 200
    return said


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_before_they_cost_much(name: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(HOSTILE[name](), "utf-8")
    assert ended(path).startswith("certificate")


def test_the_page_lists_all_bounds() -> None:
    page = (ROOT / "docs/certificate.md").read_text("utf-8")
    texts = [path.read_text("utf-8") for path in (ROOT / "symreln/verifier").glob("*.py")]
    bounds = {name for text in texts for name in re.findall(r"^(MOST_\w+|\w*WORK\w*):", text, re.M)}
    # It says from where on another way of computing the same is quicker.
    assert bounds - {"MOST_COMPARED"} == set(re.findall(r"`([A-Z_]+)`", page))


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices by name")
def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "certificate.json")
    for path in (tmp_path / "certificate.json", tmp_path, Path("/dev/zero"), Path("/dev/stdin")):
        assert ended(path).startswith("certificate")
    assert cli._guarded(["verify", str(tmp_path)]) == 2


# -- nothing can be emptied ------------------------------------------------------------------------


def test_what_has_no_samples_or_pathways_proves_nothing() -> None:
    none = {"rows": 2, "columns": 0, "denominator": "1", "entries": []}
    certificate = copied("white")
    for changes in ({"inputs": none, "targets": none}, {"inputs": {**none, "rows": 0}}):
        with pytest.raises(CertificateError, match="inputs"):
            verify(renewed(certificate | changes))
    stage = certificate["parts"][0]["stages"][0]
    stage |= {"pathways": [], "components": [], "couplings": [], "map": None, "level": "closed"}
    certificate["parts"][0]["level"] = certificate["level"] = "closed"
    with pytest.raises(CertificateError, match="pathways"):
        verify(renewed(certificate))
    certificate["parts"][0]["stages"] = []
    with pytest.raises(CertificateError, match="stages"):
        verify(renewed(certificate))
    certificate["parts"] = []
    with pytest.raises(CertificateError, match="parts"):
        verify(renewed(certificate))


def test_every_file_of_a_folder_is_covered_or_named(tmp_path):
    sr.derive("xor").save(tmp_path, ["json", "tex"])
    lines = verify_file(tmp_path)
    assert lines == verify_file(tmp_path / "certificate.json")
    (tmp_path / "figures" / "old.pdf").write_bytes(b"%PDF")
    (tmp_path / "no\x1btes.txt").write_text("mine")
    assert verify_file(tmp_path) == (*lines, "not covered: figures/old.pdf, no\\x1btes.txt")


def test_a_validation_is_refused_beside_another_derivation(tmp_path, capsys):
    sr.derive("xor").save(tmp_path, ["json"])
    few = ["--set", "network.steps=300", "--seeds", "2", "--out", str(tmp_path)]
    assert cli._guarded(["validate", "xor-linear", *few]) == 2
    assert "holds the derivation of another spec" in capsys.readouterr().err
