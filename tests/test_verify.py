"""The stand-alone verifier: it accepts what is proven, and nothing that was changed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

import symreln.verify as verifier
from symreln.errors import CertificateError
from symreln.verify import digest, verify, verify_file
from tests.certificates import (
    Json,
    certificate_of,
    certificates,
    claims,
    contextual,
    leaves,
    mutated,
    pathway,
    rederived,
)

NAMES = ("xor", "contextual", "coupled", "generic", "white")


@pytest.mark.parametrize("name", NAMES)
def test_certificates_are_accepted(name: str) -> None:
    certificate = certificates()[name]
    shown = verify(json.loads(json.dumps(certificate)))
    assert len(shown) == len(certificate["stages"])


def test_the_certificates_use_every_level_and_field() -> None:
    levels = {stage["level"] for c in certificates().values() for stage in c["stages"]}
    assert levels == set(verifier.LEVELS)
    classes = [
        k for c in certificates().values() for s in c["stages"] for p in s["pathways"]
        for k in p["classes"]
    ]  # fmt: skip
    assert {len(k["eigenvalue"]) for k in classes} == {1, 2}
    assert any(k["gram_inverse"] for k in classes)
    assert any(k["d"] is None for k in classes)


@pytest.mark.parametrize("name", NAMES)
def test_every_single_field_mutation_is_rejected(name: str) -> None:
    certificate = certificates()[name]
    random = Random(name)
    paths = list(leaves(certificate))
    for _ in range(2000):
        what, changed = mutated(certificate, random, paths)
        assert not accepted(changed), f"{name}: accepted {what}"


@pytest.mark.parametrize("name", NAMES)
def test_no_mutation_proves_a_false_claim_even_with_its_own_digest(name: str) -> None:
    """A forger can renew the digest; then the mathematics alone has to refuse.

    What is still accepted must claim the same (a swap of two entries, "-0" for "0", another basis
    of an eigenspace, another name), or the truth about another problem (an output less that a
    pathway has nothing to learn on), as a new derivation of that problem shows.
    """
    certificate = certificates()[name]
    random = Random(name)
    paths = [path for path in leaves(certificate) if path[0] != "digest"]
    count = 0
    for _ in range(800):
        what, changed = mutated(certificate, random, paths)
        changed["digest"] = digest(changed)
        if accepted(changed):
            count += 1
            claimed = claims(changed)
            true = claimed == claims(certificate) or claimed == claims(rederived(changed))
            assert true, f"{name}: accepted {what}"
    assert count < 80  # most mutations do change the claims


def accepted(certificate: Json) -> bool:
    try:
        verify(certificate)
    except CertificateError:
        return False
    return True


FORGERIES = {
    "eigenvalue": ("eigenvalue", lambda c: _first(c)["eigenvalue"].__setitem__(0, "7 / 5")),
    "d": ("d", lambda c: _first(c)["d"].__setitem__(0, "7 / 5")),
    "minpoly": ("minpoly", lambda c: _first(c)["minpoly"].__setitem__(0, "-1")),
    "basis": ("classes", lambda c: c["stages"][0]["pathways"][0]["classes"].pop()),
    "level": ("level", lambda c: c["stages"][0].__setitem__("level", "coupled modes")),
    "map": ("map", lambda c: c["stages"][0]["map"]["entries"].pop()),
    "loss": ("final_loss", lambda c: c["stages"][0].__setitem__("final_loss", "1")),
    "gate": ("certificate", lambda c: c["stages"][0]["pathways"][0]["gate"].__setitem__(0, 0)),
    "parameters": ("Delta", lambda c: c.__setitem__("parameters", ["delta"])),
    "unused parameter": ("parameters", lambda c: c["parameters"].append("c")),
    "constants": ("free_constants", lambda c: c.__setitem__("free_constants", 1)),
    "unknown key": ("keys", lambda c: c.__setitem__("note", "")),
    "zero denominator": ("denominator", lambda c: _first(c)["d"].__setitem__(0, "1 / 0")),
    "undeclared name": ("certificate", lambda c: _first(c)["d"].__setitem__(0, "1*e^1")),
    "huge power": ("certificate", lambda c: _first(c)["d"].__setitem__(0, "1*Delta^999999999")),
    "same place twice": ("inputs", lambda c: c["inputs"]["entries"].append([0, 0, "2"])),
    "outside": ("inputs", lambda c: c["inputs"]["entries"].append([9, 9, "2"])),
    "negative place": ("inputs", lambda c: c["inputs"]["entries"].append([-1, 0, "2"])),
    "a gate too many": ("gate", lambda c: c["stages"][0]["pathways"][0]["gate"].append(0)),
    "outputs twice": ("outputs", lambda c: c["stages"][0]["pathways"][0]["outputs"].append(0)),
    "code": ("certificate", lambda c: _first(c)["d"].__setitem__(0, "__import__('os')")),
}


def _first(certificate: Json) -> Json:
    return certificate["stages"][0]["pathways"][0]["classes"][0]


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_field_is_named(forgery: str) -> None:
    fragment, forge = FORGERIES[forgery]
    certificate = json.loads(json.dumps(certificates()["xor"]))
    forge(certificate)
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=fragment):
        verify(certificate)


def test_a_commuting_pathway_cannot_be_called_refuted() -> None:
    certificate = json.loads(json.dumps(certificates()["xor"]))
    certificate["stages"][0]["pathways"][0]["commutator"] = {
        "row": 0, "column": 1, "value": "1", "relative_norm_squared": "1"
    }  # fmt: skip
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="commutator"):
        verify(certificate)


def test_a_refuted_pathway_cannot_be_called_proven() -> None:
    certificate = json.loads(json.dumps(certificates()["generic"]))
    certificate["stages"][0]["pathways"][0]["commutator"] = None
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="commutator"):
        verify(certificate)


def test_couplings_cannot_be_left_out() -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    certificate["stages"][0]["couplings"] = []
    certificate["stages"][0]["level"] = certificate["level"] = "closed"
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="couplings"):
        verify(certificate)


def test_a_wrong_gram_inverse_cannot_hide_couplings() -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    stage = certificate["stages"][0]
    for item in stage["pathways"]:
        for mode_class in item["classes"]:
            mode_class["gram_inverse"]["entries"] = []
    stage["couplings"] = []
    stage["level"] = certificate["level"] = "closed"
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="gram_inverse"):
        verify(certificate)


@pytest.mark.parametrize("level", ["closed", "closed by symmetry", "coupled matrices"])
def test_the_level_follows_from_the_couplings(level: str) -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    certificate["stages"][0]["level"] = certificate["level"] = level
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="level"):
        verify(certificate)


def test_inputs_and_targets_have_the_same_samples() -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    certificate["targets"]["columns"] += 1
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="targets"):
        verify(certificate)


def test_factors_that_exist_cannot_be_denied() -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    certificate["stages"][0]["couplings"][0]["factors"] = None
    certificate["stages"][0]["level"] = certificate["level"] = "coupled matrices"
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="factors"):
        verify(certificate)


def test_verifies_a_symbolic_contextual_task_in_two_seconds() -> None:
    from symreln.exact.scalar import Scalar

    x, y = contextual(8, 5, Scalar.symbol("c", ("c",)), ("c",))
    off = [[int(s // 8 != k) for s in range(40)] for k in range(5)]
    certificate = certificate_of(
        x,
        y,
        [
            [pathway("common", [1] * 40, range(13), range(90))],
            [pathway(f"off {k}", off[k], range(8), range(90)) for k in range(5)],
        ],
    )
    start = time.process_time()
    shown = verify(certificate)
    assert time.process_time() - start < 2  # the demand on this task; measured 0.8 s
    assert shown[1].endswith("closed by symmetry")


# -- alone ----------------------------------------------------------------------------------------


def test_it_is_short_and_stands_alone(tmp_path: Path) -> None:
    source = Path(verifier.__file__).read_text(encoding="utf-8")
    assert source.count("\n") < 400
    alone = tmp_path / "verify.py"
    alone.write_text(source, encoding="utf-8")
    data = tmp_path / "certificate.json"
    data.write_text(json.dumps(certificates()["xor"]), encoding="utf-8")
    code = (
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], "
        "run_name='__main__'); bad = {'sympy', 'flint', 'numpy', 'symreln'} & set(sys.modules); "
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    # -I and -S: no site-packages, no current directory, no environment.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(alone), str(data)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "one, two: closed" in done.stdout


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nonsense", "[" * 100_000, '{"format": 1}', "\ufeff{}", "1e999"]
)
def test_bad_files_end_in_a_message(text: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CertificateError, match="certificate"):
        verify_file(path)


def test_a_missing_file_ends_in_a_message(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="cannot be read"):
        verify_file(tmp_path / "nothing.json")
