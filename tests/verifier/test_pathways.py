"""The stand-alone verifier: it accepts what is proven, and nothing that was changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symreln.verifier as verifier
from symreln.errors import CertificateError
from symreln.exact.matrix import ExactMatrix
from symreln.verifier import digest, verify, verify_file
from tests.certificates import Json, certificate_of, certificates, contextual, pathway

NAMES = ("xor", "contextual", "coupled", "generic", "white", "leak", "gains")


@pytest.mark.parametrize("name", NAMES)
def test_certificates_are_accepted(name: str) -> None:
    certificate = certificates()[name]
    shown = verify(json.loads(json.dumps(certificate)))
    assert len(shown) == len(certificate["parts"][0]["stages"])


FORGERIES = {
    "eigenvalue": ("eigenvalue", lambda c: _first(c)["eigenvalue"].__setitem__(0, "7 / 5")),
    "d": ("d", lambda c: _first(c)["d"].__setitem__(0, "7 / 5")),
    "minpoly": ("minpoly", lambda c: _first(c)["minpoly"].__setitem__(0, "-1")),
    "basis": ("classes", lambda c: c["parts"][0]["stages"][0]["pathways"][0]["classes"].pop()),
    "level": ("level", lambda c: c["parts"][0]["stages"][0].__setitem__("level", "coupled modes")),
    "map": ("map", lambda c: c["parts"][0]["stages"][0].__setitem__("map", [])),
    "inverse_d_eff": (
        "inverse_d_eff",
        lambda c: _first(c)["inverse_d_eff"].__setitem__(0, "7 / 5"),
    ),
    "like": (
        "like",
        lambda c: c["parts"][0]["stages"][0]["pathways"][1].__setitem__("like", [1, 0]),
    ),
    "spelling": ("normal form", lambda c: c["inputs"]["entries"][0].__setitem__(2, "-01")),
    "not in lowest terms": (
        "inputs",
        lambda c: c["inputs"].update(
            denominator="2", entries=[[i, j, "2" + t] for i, j, t in c["inputs"]["entries"]]
        ),
    ),
    "order": ("inputs", lambda c: c["inputs"]["entries"].reverse()),
    "loss": ("final_loss", lambda c: c["parts"][0]["stages"][0].__setitem__("final_loss", "1")),
    "gate": (
        "certificate",
        lambda c: c["parts"][0]["stages"][0]["pathways"][0]["gate"].__setitem__(0, 0),
    ),
    "parameters": ("Delta", lambda c: c.__setitem__("parameters", ["delta"])),
    "unused parameter": ("parameters", lambda c: c["parameters"].append("c")),
    "constants": ("free_constants", lambda c: c.__setitem__("free_constants", 1)),
    "unknown key": ("keys", lambda c: c.__setitem__("note", "")),
    "zero denominator": ("denominator", lambda c: _first(c)["d"].__setitem__(0, "1 / 0")),
    "undeclared name": ("certificate", lambda c: _first(c)["d"].__setitem__(0, "1*e^1")),
    "huge power": ("certificate", lambda c: _first(c)["d"].__setitem__(0, "1*Delta^999999999")),
    "same place twice": ("inputs", lambda c: c["inputs"]["entries"].append([2, 3, "2"])),
    "outside": ("inputs", lambda c: c["inputs"]["entries"].append([9, 9, "2"])),
    "negative place": ("inputs", lambda c: c["inputs"]["entries"].append([-1, 0, "2"])),
    "a gate too many": (
        "gate",
        lambda c: c["parts"][0]["stages"][0]["pathways"][0]["gate"].append(0),
    ),
    "outputs twice": (
        "outputs",
        lambda c: c["parts"][0]["stages"][0]["pathways"][0]["outputs"].append(0),
    ),
    "code": ("certificate", lambda c: _first(c)["d"].__setitem__(0, "__import__('os')")),
}


SYMMETRIC_FORGERIES = {
    "classes twice": (
        "claims",
        lambda c: c["parts"][0]["stages"][1]["pathways"][1].__setitem__("classes", []),
    ),
    "itself": (
        "like",
        lambda c: c["parts"][0]["stages"][1]["pathways"][1].__setitem__("like", [1, 0]),
    ),
    "unlike": (
        "image",
        lambda c: c["parts"][0]["stages"][1]["pathways"][2].__setitem__("like", [0, 0]),
    ),
    "symmetry": ("symmetr", lambda c: c["parts"][0]["symmetries"][0]["samples"].reverse()),
    "no permutation": (
        "permutation",
        lambda c: c["parts"][0]["symmetries"][0]["samples"].__setitem__(0, 3),
    ),
    "gate": (
        "image",
        lambda c: c["parts"][0]["stages"][1]["pathways"][1]["gate"].__setitem__(0, 0),
    ),
    "stage": ("into itself", lambda c: c["parts"][0]["stages"][1]["pathways"].pop()),
    "map": ("map", lambda c: c["parts"][0]["stages"][1]["map"][0]["entries"].pop()),
    "map twice": (
        "map",
        lambda c: c["parts"][0]["stages"][1]["map"].__setitem__(
            1, c["parts"][0]["stages"][1]["map"][0]
        ),
    ),
    "gram": (
        "gram",
        lambda c: c["parts"][0]["stages"][0]["pathways"][0]["classes"][0].update(gram_inverse=None),
    ),
    "source": (
        "couplings",
        lambda c: c["parts"][0]["stages"][1]["couplings"][0].update(source=[0, 0]),
    ),
}


@pytest.mark.parametrize("forgery", SYMMETRIC_FORGERIES)
def test_a_forged_field_of_symmetric_pathways_is_named(forgery: str) -> None:
    fragment, forge = SYMMETRIC_FORGERIES[forgery]
    certificate = json.loads(json.dumps(certificates()["leak"]))
    forge(certificate)
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=fragment):
        verify(certificate)


def _first(certificate: Json) -> Json:
    return certificate["parts"][0]["stages"][0]["pathways"][0]["classes"][0]


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_field_is_named(forgery: str) -> None:
    fragment, forge = FORGERIES[forgery]
    certificate = json.loads(json.dumps(certificates()["xor"]))
    forge(certificate)
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=fragment):
        verify(certificate)


def test_a_refuted_pathway_cannot_be_called_proven() -> None:
    certificate = json.loads(json.dumps(certificates()["generic"]))
    first = certificate["parts"][0]["stages"][0]["pathways"][0]
    first["commutator"] = None
    for mode_class in first["classes"]:
        mode_class["d"] = mode_class["eigenvalue"]
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=r"d: .* Sigma\^x w = g"):
        verify(certificate)


def test_couplings_cannot_be_left_out() -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    certificate["parts"][0]["stages"][0]["couplings"].pop()
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=r"couplings: .* complete"):
        verify(certificate)
    certificate["parts"][0]["stages"][0]["couplings"] = []
    certificate["parts"][0]["stages"][0]["level"] = certificate["parts"][0]["level"] = certificate[
        "level"
    ] = "closed"
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="sums close"):
        verify(certificate)


@pytest.mark.parametrize("level", ["closed", "closed by symmetry", "coupled matrices"])
def test_the_level_follows_from_the_couplings(level: str) -> None:
    certificate = json.loads(json.dumps(certificates()["white"]))
    certificate["parts"][0]["stages"][0]["level"] = certificate["parts"][0]["level"] = certificate[
        "level"
    ] = level
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match="level"):
        verify(certificate)


def test_classes_of_an_orbit_are_claimed_once() -> None:
    """A second claim could contradict the first one, which is why there must be none."""
    certificate = json.loads(json.dumps(certificates()["leak"]))
    first, second, _ = certificate["parts"][0]["stages"][1]["pathways"]
    assert second["like"] == [0, 0]
    second |= {"like": None, "classes": first["classes"]}
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=r"classes|orbit"):
        verify(certificate)


def test_symmetric_pathways_may_also_be_shown_in_full() -> None:
    short = closed_by_symmetry()
    assert [p["like"] for p in short["parts"][0]["stages"][1]["pathways"]] == [None, [0, 0], [1, 0]]
    whole = json.loads(json.dumps(short))
    s = whole["parts"][0]["symmetries"].pop()
    assert not whole["parts"][0]["symmetries"]
    assert s["inputs"] == [0, 1, 2, 3, 5, 6, 4]  # the items stay: their classes are the same
    first, *others = whole["parts"][0]["stages"][1]["pathways"]
    for other in others:
        other |= {"like": None, "classes": first["classes"]}
    whole["digest"] = digest(whole)
    assert verify(whole)[1].endswith("closed by symmetry")


# -- what a class or a coupling must not claim ----------------------------------------------------


def closed_by_symmetry() -> Json:
    """Three contexts whose pathways couple: items in classes of one and two modes."""
    x, y = contextual(4, 3, 1, ())
    off = [[int(s // 4 != k) for s in range(12)] for k in range(3)]
    return certificate_of(
        x,
        y,
        [
            [pathway("common", [1] * 12, range(4), range(28))],
            [pathway(f"off {k}", off[k], range(4), range(28)) for k in range(3)],
        ],
    )


def rejected(certificate: Json, match: str) -> None:
    certificate["digest"] = digest(certificate)
    with pytest.raises(CertificateError, match=match):
        verify(certificate)


def test_components_are_invariant_ordered_and_not_empty() -> None:
    certificate = closed_by_symmetry()
    parts = certificate["parts"][0]["stages"][1]["components"]
    assert len(parts) > 1
    parts.reverse()
    rejected(certificate, "ascending order")
    parts.reverse()
    members = parts[0]["members"]
    last = members.pop()
    rejected(certificate, "every symmetry")
    members.append([9, 9])
    rejected(certificate, r"members\[2\]\[0\]: .*an integer from 0 to 2")
    members[:] = []
    rejected(certificate, "a list of something")
    members[:] = [last]
    rejected(certificate, "components")


def test_modes_that_stay_equal_are_not_just_coupled() -> None:
    """Two equal pathways: every coupling has a factor, d, and so has their sum."""
    x = ExactMatrix.from_rows([[2, 0, 0], [0, 1, 0]])
    y = ExactMatrix.from_rows([[1, 0, 0], [0, 3, 1]])
    both = [pathway(name, [1] * 3, range(2), range(2)) for name in ("one", "two")]
    certificate = certificate_of(x, y, [both])
    stage = certificate["parts"][0]["stages"][0]
    assert stage["level"] == "closed by symmetry"
    assert [p["like"] for p in stage["pathways"]] == [None, [0, 0]]
    assert verify(certificate)
    part = stage["components"][0]
    part["members"].pop()  # not invariant when the two change places
    rejected(certificate, "every symmetry")
    stage["components"] = []
    stage["couplings"] = [
        {"target": [0, a], "source": [1, a], "factors": [item["d"]]}
        for a, item in enumerate(stage["pathways"][0]["classes"])
    ]
    stage["level"] = certificate["parts"][0]["level"] = certificate["level"] = "coupled modes"
    rejected(certificate, "closed by symmetry")
    stage["couplings"][0]["factors"] = 5
    rejected(certificate, "a list of something")


def test_a_class_cannot_be_shown_in_parts() -> None:
    certificate = closed_by_symmetry()
    classes = certificate["parts"][0]["stages"][0]["pathways"][0]["classes"]
    place, double = next((n, c) for n, c in enumerate(classes) if c["generators"]["columns"] == 2)
    halves = []
    for shown in ({0: 1}, {0: 1, 1: 1}):  # w_1 and w_1 + w_2
        rows: dict[int, int] = {}
        for i, j, text in double["generators"]["entries"]:
            rows[i] = rows.get(i, 0) + shown.get(j, 0) * int(text)
        entries = [[i, 0, str(n)] for i, n in sorted(rows.items()) if n]
        norm = sum(n * n for n in rows.values())
        generators = {"rows": 4, "columns": 1, "denominator": "1", "entries": entries}
        gram = {"rows": 1, "columns": 1, "denominator": str(norm), "entries": [[0, 0, "1"]]}
        halves.append({**double, "generators": generators, "gram_inverse": gram})
    classes[place : place + 1] = halves
    rejected(certificate, "of other eigenvalues")


def test_an_old_format_is_named() -> None:
    certificate = json.loads(json.dumps(certificates()["xor"]))
    certificate["format"] = "symreln-certificate/1"
    with pytest.raises(CertificateError, match="derive again"):
        verify(certificate)


# -- alone ----------------------------------------------------------------------------------------


def test_it_stands_alone(tmp_path: Path) -> None:
    shutil.copytree(Path(verifier.__file__).parent, tmp_path / "alone")
    data = tmp_path / "certificate.json"
    data.write_text(json.dumps(certificates()["xor"]), encoding="utf-8")
    code = (
        "import sys; sys.path.append(sys.argv.pop(1)); from alone.__main__ import main; main(); "
        "bad = {'sympy', 'flint', 'numpy', 'symreln'} & set(sys.modules); "
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    # -I and -S: no site-packages, no current directory, no environment.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path), str(data)],
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
    with pytest.raises(CertificateError, match=r"No such file.*Give the certificate\.json"):
        verify_file(tmp_path / "nothing.json")
