"""The stand-alone verifier: it accepts what is proven, and nothing that was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from symreln.errors import CertificateError
from symreln.exact.matrix import ExactMatrix
from symreln.verifier import digest, verify, verify_file
from tests.certificates import (
    Json,
    certificate_of,
    contextual,
    copied,
    pathway,
    rejected,
)


def _class(stages: list[Json]) -> Json:
    return stages[0]["pathways"][0]["classes"][0]


#: By certificate: what is said of a change of it, c, or of the stages of its first part, s.
FORGERIES: dict[str, dict[str, tuple[str, Callable[[Json, list[Json]], object]]]] = {
    "xor": {
        "eigenvalue": ("eigenvalue", lambda c, s: _class(s)["eigenvalue"].__setitem__(0, "7 / 5")),
        "d": ("d", lambda c, s: _class(s)["d"].__setitem__(0, "7 / 5")),
        "minpoly": ("minpoly", lambda c, s: _class(s)["minpoly"].__setitem__(0, "-1")),
        "basis": ("classes", lambda c, s: s[0]["pathways"][0]["classes"].pop()),
        "level": ("level", lambda c, s: s[0].update(level="coupled modes")),
        "map": ("map", lambda c, s: s[0].update(map=[])),
        "inverse_d_eff": ("inverse_d_eff", lambda c, s: _class(s).update(inverse_d_eff=["7 / 5"])),
        "like": ("like", lambda c, s: s[0]["pathways"][1].update(like=[1, 0])),
        "spelling": ("normal form", lambda c, s: c["inputs"]["entries"][0].__setitem__(2, "-01")),
        "not in lowest terms": (
            "inputs",
            lambda c, s: c["inputs"].update(
                denominator="2", entries=[[i, j, "2" + t] for i, j, t in c["inputs"]["entries"]]
            ),
        ),
        "order": ("inputs", lambda c, s: c["inputs"]["entries"].reverse()),
        "loss": ("final_loss", lambda c, s: s[0].update(final_loss="1")),
        "gate": ("certificate", lambda c, s: s[0]["pathways"][0]["gate"].__setitem__(0, 0)),
        "parameters": ("Delta", lambda c, s: c.update(parameters=["delta"])),
        "unused parameter": ("parameters", lambda c, s: c["parameters"].append("c")),
        "constants": ("free_constants", lambda c, s: c.update(free_constants=1)),
        "unknown key": ("keys", lambda c, s: c.update(note="")),
        "zero denominator": ("denominator", lambda c, s: _class(s)["d"].__setitem__(0, "1 / 0")),
        "undeclared name": ("certificate", lambda c, s: _class(s)["d"].__setitem__(0, "1*e^1")),
        "huge power": (
            "certificate",
            lambda c, s: _class(s)["d"].__setitem__(0, "1*Delta^999999999"),
        ),
        "same place twice": ("inputs", lambda c, s: c["inputs"]["entries"].append([2, 3, "2"])),
        "outside": ("inputs", lambda c, s: c["inputs"]["entries"].append([9, 9, "2"])),
        "negative place": ("inputs", lambda c, s: c["inputs"]["entries"].append([-1, 0, "2"])),
        "a gate too many": ("gate", lambda c, s: s[0]["pathways"][0]["gate"].append(0)),
        "outputs twice": ("outputs", lambda c, s: s[0]["pathways"][0]["outputs"].append(0)),
        "code": ("certificate", lambda c, s: _class(s)["d"].__setitem__(0, "__import__('os')")),
        "an old format": ("derive again", lambda c, s: c.update(format="symreln-certificate/1")),
    },
    "leak": {
        "classes twice": ("claims", lambda c, s: s[1]["pathways"][1].update(classes=[])),
        "itself": ("like", lambda c, s: s[1]["pathways"][1].update(like=[1, 0])),
        "unlike": ("image", lambda c, s: s[1]["pathways"][2].update(like=[0, 0])),
        "symmetry": ("symmetr", lambda c, s: c["parts"][0]["symmetries"][0]["samples"].reverse()),
        "no permutation": (
            "permutation",
            lambda c, s: c["parts"][0]["symmetries"][0]["samples"].__setitem__(0, 3),
        ),
        "gate": ("image", lambda c, s: s[1]["pathways"][1]["gate"].__setitem__(0, 0)),
        "stage": ("into itself", lambda c, s: s[1]["pathways"].pop()),
        "map": ("map", lambda c, s: s[1]["map"][0]["entries"].pop()),
        "map twice": ("map", lambda c, s: s[1]["map"].__setitem__(1, s[1]["map"][0])),
        "gram": ("gram", lambda c, s: _class(s).update(gram_inverse=None)),
        "source": ("couplings", lambda c, s: s[1]["couplings"][0].update(source=[0, 0])),
        # A second claim could contradict the first one, which is why there must be none.
        "claimed twice": (
            "classes|orbit",
            lambda c, s: s[1]["pathways"][1].update(
                like=None, classes=s[1]["pathways"][0]["classes"]
            ),
        ),
    },
    "white": {
        "a coupling left out": (r"couplings: .* complete", lambda c, s: s[0]["couplings"].pop()),
        "all left out": (
            "sums close",
            lambda c, s: (s[0].update(couplings=[]), _said(c, "closed")),
        ),
        **{
            level: ("level", lambda c, s, level=level: _said(c, level))
            for level in ("closed", "closed by symmetry", "coupled matrices")
        },
    },
    "rest": {
        "another d": (
            "only eigenvalue|one eigenvalue",
            lambda c, s: s[0]["pathways"][0]["classes"][-1].update(d=["1 / 4"]),
        ),
        "modes that learn hidden": (
            r"classes\[0\].eigenvalue",
            lambda c, s: s[0]["pathways"][0]["classes"].pop(0),
        ),
        "two rests": (
            "a basis: 5 vectors",
            lambda c, s: s[0]["pathways"][0]["classes"].append(s[0]["pathways"][0]["classes"][-1]),
        ),
        "conjugate": ("shown of conjugate modes", lambda c, s: _class(s).update(generators=None)),
    },
}


def _said(certificate: Json, level: str) -> None:
    part = certificate["parts"][0]
    part["stages"][0]["level"] = part["level"] = certificate["level"] = level


@pytest.mark.parametrize(
    ("name", "forgery"), [(name, each) for name, changes in FORGERIES.items() for each in changes]
)
def test_a_forged_field_is_named(name: str, forgery: str) -> None:
    """Of pathways alone, of symmetric ones, of couplings, and of what is shown by no vectors."""
    fragment, forge = FORGERIES[name][forgery]
    certificate = copied(name)
    forge(certificate, certificate["parts"][0]["stages"])
    rejected(certificate, fragment)


def test_a_refuted_pathway_cannot_be_called_proven() -> None:
    certificate = copied("generic")
    first = certificate["parts"][0]["stages"][0]["pathways"][0]
    first["commutator"] = None
    for mode_class in first["classes"]:
        mode_class["d"] = mode_class["eigenvalue"]
    rejected(certificate, r"d: .* Sigma\^x w = g")


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
    return contextual(4, 3, "1", "items", {"inputs": "items"})


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


# -- alone ----------------------------------------------------------------------------------------


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
