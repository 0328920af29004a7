"""Certificates of gates that switch belong together: what is missing or foreign is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import symreln as sr
from symreln import verify as verifier
from symreln.cli.main import main
from symreln.errors import CertificateError
from symreln.verify import digest, verify, verify_file
from symreln.verify_phases import read_phases

#: Two gates that are exchanged at step 5; at step 9 the first is open everywhere.
SPEC: dict[str, Any] = {
    "dataset": {
        "X": [[1, 0, 1, 0], [0, 1, 0, 1]],
        "Y": [[3, 0, 1, 0], [0, "a", 0, 1]],
        "labels": {"k": [1, 1, 2, 2]},
    },
    "parameters": {"a": {"positive": True, "value": 2}},
    "pathway": [
        {
            "name": "one",
            "gate": "k == 1",
            "then": [{"step": 5, "gate": "k == 2"}, {"step": 9, "gate": "all"}],
        },
        {"name": "two", "gate": "k == 2", "then": [{"step": 5, "gate": "k == 1"}]},
    ],
}
STEPS = ("certificate-step-5", "certificate-step-9")


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("switching")
    sr.derive(sr.load(SPEC)).save(folder)
    return folder


@pytest.fixture
def folder(original, tmp_path) -> Path:
    for path in original.glob("certificate*.json"):
        shutil.copy(path, tmp_path)
    return tmp_path


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, certificate: dict[str, Any], *, renew: bool = True) -> None:
    certificate = {**certificate, **({"digest": digest(certificate)} if renew else {})}
    path.write_text(json.dumps(certificate), encoding="utf-8")


def renamed(folder: Path, step: int, certificate: dict[str, Any]) -> None:
    """Put a certificate in a phase's place, and its digest into the main one: all digests hold."""
    path = folder / f"certificate-step-{step}.json"
    write(path, certificate)
    whole = read(folder / "certificate.json")
    for phase in whole["phases"]:
        if phase["step"] == step:
            phase["digest"] = read(path)["digest"]
    write(folder / "certificate.json", whole)


def ended(argument: Path) -> Any:
    with pytest.raises(SystemExit) as found:
        main(["verify", str(argument)])
    return found.value.code


def test_all_of_them_are_checked(folder, capsys):
    whole = read(folder / "certificate.json")
    assert [phase["step"] for phase in whole["phases"]] == [5, 9]
    assert [phase["digest"] for phase in whole["phases"]] == [
        read(folder / f"{name}.json")["digest"] for name in STEPS
    ]
    lines = verify_file(folder)
    assert lines == verify_file(folder / "certificate.json")
    assert [line.split(":")[0] for line in lines] == ["stages[0]", *STEPS]
    assert ended(folder) == 0
    assert "certificate-step-9: stages[0]" in capsys.readouterr().out


@pytest.mark.parametrize("place", [".", "certificate.json"])
@pytest.mark.parametrize("name", STEPS)
def test_a_missing_one_is_noticed(folder, name, place, capsys):
    (folder / f"{name}.json").unlink()
    with pytest.raises(CertificateError, match=rf"{name}\.json.* is not there"):
        verify_file(folder / place)
    assert ended(folder / place) == 2
    assert name in capsys.readouterr().err


def test_a_foreign_one_is_noticed(folder):
    # Valid by itself, of the same data and pathways: the other phase's.
    shutil.copy(folder / "certificate-step-5.json", folder / "certificate-step-9.json")
    with pytest.raises(CertificateError, match="SHA-256 that certificate"):
        verify_file(folder)


def test_one_more_is_noticed(folder):
    shutil.copy(folder / "certificate-step-5.json", folder / "certificate-step-7.json")
    with pytest.raises(CertificateError, match=r"step-7.*not named"):
        verify_file(folder)


def test_one_beside_a_certificate_without_phases_is_noticed(folder, tmp_path):
    alone = {key: value for key, value in read(folder / "certificate.json").items()}
    del alone["phases"]
    write(folder / "certificate.json", alone)
    with pytest.raises(CertificateError, match="not named"):
        verify_file(folder)
    assert ended(folder) == 2


def test_a_wrong_claim_in_a_phase_is_noticed(folder):
    wrong = read(folder / "certificate-step-9.json")
    wrong["stages"][0]["final_loss"] = "1 / 7"
    renamed(folder, 9, wrong)
    with pytest.raises(CertificateError, match="final_loss"):
        verify_file(folder)


def test_other_data_and_other_pathways_are_noticed(folder):
    for change, what in (
        ({"dataset": {**SPEC["dataset"], "Y": [[3, 0, 1, 0], [0, "a", 0, 2]]}}, "targets"),
        ({"dataset": {**SPEC["dataset"], "X": [[2, 0, 1, 0], [0, 1, 0, 1]]}}, "inputs"),
        ({"pathway": [{"name": "three"}, SPEC["pathway"][1]]}, "pathways"),
        ({"pathway": [{"name": "one", "outputs": [0]}, SPEC["pathway"][1]]}, "pathways"),
        ({"pathway": [SPEC["pathway"][0]]}, "pathways"),
    ):
        other = sr.load({**SPEC, **change})
        # A derivation of its own, whose certificate holds, in the place of the last phase.
        renamed(folder, 9, sr.derive(other.during(9) if other.switches else other).certificate)
        verify(read(folder / "certificate-step-9.json"))
        with pytest.raises(CertificateError, match=what):
            verify_file(folder)


def test_a_phase_has_no_phases(folder):
    renamed(folder, 9, read(folder / "certificate.json"))
    with pytest.raises(CertificateError, match="phases of its own"):
        verify_file(folder)


@pytest.mark.parametrize(
    ("phases", "what"),
    [
        ([], "phases"),
        ({}, "phases"),
        (None, "phases"),
        ([{"step": 5}], r"phases\[0\]"),
        ([{"step": 0, "digest": "0" * 64}], "step"),
        ([{"step": True, "digest": "0" * 64}], "step"),
        ([{"step": "5", "digest": "0" * 64}], "step"),
        ([{"step": 5, "digest": "0" * 63}], "digest"),
        ([{"step": 5, "digest": "G" * 64}], "digest"),
        ([{"step": 5, "digest": 5}], "digest"),
        ([{"step": 9, "digest": "0" * 64}, {"step": 5, "digest": "0" * 64}], r"phases\[1\].step"),
        ([{"step": 5, "digest": "0" * 64}, {"step": 5, "digest": "0" * 64}], r"phases\[1\].step"),
    ],
)
def test_their_list_has_one_form(folder, phases, what):
    whole = {**read(folder / "certificate.json"), "phases": phases}
    whole["digest"] = digest(whole)
    with pytest.raises(CertificateError, match=what):
        verify(whole)


def test_without_switches_nothing_is_named():
    still = {**SPEC, "pathway": [{"name": "one", "gate": "k == 1"}]}
    certificate = sr.derive(sr.load(still)).certificate
    assert "phases" not in certificate
    assert read_phases(certificate) == []


def alone(folder: Path, argument: str) -> subprocess.CompletedProcess[str]:
    """Run the verifier's files by themselves: no package, no site-packages, no environment."""
    here = Path(verifier.__file__)
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for path in here.parent.glob("verify*.py"):
        shutil.copy(path, tools)
    return subprocess.run(
        [sys.executable, "-I", "-S", str(tools / "verify.py"), argument],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.parametrize("argument", [".", "certificate.json"])
def test_the_files_alone_check_them_too(folder, argument):
    done = alone(folder, argument)
    assert done.returncode == 0, done.stderr
    assert "certificate-step-9: stages[0]" in done.stdout
    (folder / "certificate-step-9.json").unlink()
    done = alone(folder, argument)
    assert done.returncode != 0
    assert "is not there" in done.stderr
