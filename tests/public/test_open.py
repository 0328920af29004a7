"""Folders of results that are opened again: the derivation, or which file is not what was saved."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.errors import CertificateError, InputError
from symreln.verifier.folder import sealed_json, verify_file

NETWORK = sr.network(hidden=50, init_std=0.001, learning_rate="1/10", steps=80, loss="mean")
X = [[1.0, 1, 0.5], [1, -1, -0.5], [-1, 1, -0.5], [-1, -1, 0.5]]


def arrays() -> sr.Spec:
    """Floats, labels, a gain in a parameter, a later stage, decimals that are shown as such."""
    c = sp.Symbol("c", positive=True)
    return sr.spec(
        X,
        [[c], [-c], [0.25], [1 / c]],
        labels={"kind": ["a", "a", "b", "b"]},
        parameters={"c": 1},
        pathways=[
            sr.pathway("all"),
            sr.pathway("of {kind}", 'kind == "{kind}"', each="kind", stage=2),
        ],
        network=NETWORK,
    )


def files(folder: Path) -> sr.Spec:
    """Of CSV files, which are gone when the folder is opened."""
    np.savetxt(folder / "x.csv", X, delimiter=",")
    np.savetxt(folder / "y.csv", [[1], [-1], [-1], [1]], delimiter=",")
    path = folder / "own.toml"
    path.write_text(
        '[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n'
        '[[pathway]]\nname = "gained"\ngate = [1, "1/2", 0, 1]\n'
        '[[pathway]]\nname = "switched"\ngate = "all"\nthen = [{step = 20, gate = [0, 1, 0, 0]}]\n'
        "[network]\nhidden = 9\ninit_std = 0.01\nlearning_rate = 0.1\nsteps = 90\n"
    )
    spec = sr.load(path)
    for each in folder.iterdir():
        each.unlink()
    return spec


def chains() -> sr.Spec:
    """A graph that has no certificate."""
    nodes = [{"name": "x", "inputs": "all"}, {"name": "y", "outputs": "all"}]
    hidden = [
        {"name": "a", "size": 2, "gate": [1, 1, 0, 0]},
        {"name": "b", "size": 2, "gate": [0, "c", 1, 1]},
    ]
    edges = [{"from": "x", "to": n, "name": f"to {n}"} for n in "ab"]
    edges += [{"from": n, "to": "y", "name": f"from {n}"} for n in "ab"]
    data = {"X": [[1, 0, 2, "c"], [0, 1, 1, -2]], "Y": [[1, 0, 3, 0], [0, 1, 1, "1/2"]]}
    tables = {"dataset": data, "node": nodes + hidden, "edge": edges}
    return sr.load({**tables, "parameters": {"c": {"positive": True, "value": 1}}})


def spec_of(name: str, folder: Path) -> sr.Spec:
    made = {"arrays": arrays, "files": lambda: files(folder)}
    found = {"chains": chains, "boundary": lambda: sr.gates("xor", "self-consistent").to_spec()}
    return {**made, **found}.get(name, lambda: sr.load(name, SMALL[name]))()


SMALL = {
    "xor": (),
    "contextual-C": ("parameters.C.value=2", "parameters.n.value=2"),
    "routing": ("parameters.M.value=3", "dataset.items=2"),
}


@pytest.mark.parametrize("name", ["arrays", "files", "boundary", "chains", *SMALL])
def test_what_is_opened_is_the_derivation_that_was_saved(name, tmp_path):
    derivation = sr.derive(spec_of(name, tmp_path))
    derivation.save(tmp_path / "one", ["json", "html"])
    again = sr.open(tmp_path / "one")
    assert type(again) is type(derivation)
    assert again.spec == derivation.spec
    again.save(tmp_path / "two", ["json", "html"])
    written = sorted(path.name for path in (tmp_path / "one").glob("*.*"))
    assert "certificate.json" in written
    for each in written:
        one, two = (tmp_path / folder / each for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_of_a_run_the_derivation_is_opened_and_its_curves_are_checked(tmp_path):
    small = sr.load("xor", {"network.hidden": 20, "network.steps": 50})
    found = sr.run(small, tmp_path, seeds=1, formats=["json"])
    again = sr.open(tmp_path)
    assert again.spec == small
    assert again.evaluate([0, 30]).loss.shape == (2,)
    assert sr.validate(again, seeds=1).to_json() == found.to_json()
    (tmp_path / "curves.npz").write_bytes(b"others")
    with pytest.raises(CertificateError, match=r"curves\.npz: .* is not the one that came with"):
        sr.open(tmp_path)


@pytest.fixture
def saved(tmp_path):
    sr.derive("xor-linear").save(tmp_path, ["json"])
    return tmp_path


def test_a_certificate_that_was_changed_is_named(saved):
    path = saved / "certificate.json"
    path.write_text(path.read_text("utf-8").replace('"level": "', '"level": "not ', 1))
    for check in (sr.open, verify_file):
        with pytest.raises(CertificateError, match=re.escape(f"{path}: certificate, digest: ")):
            check(saved)
    strange = saved.rename(saved.with_name("red\x1b[31m"))
    with pytest.raises(CertificateError, match=r"red\\x1b\[31m/certificate\.json: certificate, "):
        verify_file(strange)


def resealed(folder: Path, change) -> None:
    """Change the spec of a folder and give derivation.json the digest that it then has."""
    content = json.loads((folder / "derivation.json").read_text("utf-8"))
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    content["spec"] = change(content["spec"])
    del content["provenance"]
    (folder / "derivation.json").write_text(json.dumps(sealed_json(content, certificate)), "utf-8")


def test_a_certificate_that_is_not_of_the_spec_is_named(saved):
    resealed(saved, lambda spec: {**spec, "title": "another"})
    with pytest.raises(CertificateError, match=r"certificate\.json: it is not what the spec in"):
        sr.open(saved)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda spec: None, "found no spec in it"),
        (lambda spec: [], "found no spec in it"),
        (lambda spec: {**spec, "more": 1}, "its spec is damaged"),
        (lambda spec: {**spec, "parameters": 3}, "its spec is damaged"),
        (lambda spec: {**spec, "network": {**spec["network"], "init_std": "x"}}, "is damaged"),
        (lambda spec: {**spec, "network": {"hidden": 3}}, "is damaged"),
    ],
)
def test_a_damaged_spec_is_said(saved, change, says):
    resealed(saved, change)
    with pytest.raises(InputError, match=rf"open: .*derivation\.json: .*{says}"):
        sr.open(saved)


@pytest.mark.parametrize("name", ["certificate.json", "derivation.json"])
def test_a_file_that_is_missing_or_no_json_is_named(saved, name):
    (saved / name).write_text("{")
    with pytest.raises(CertificateError, match=name):
        sr.open(saved)
    (saved / name).write_text("null")
    with pytest.raises((CertificateError, InputError), match=name):
        sr.open(saved)
    (saved / name).unlink()
    with pytest.raises(InputError, match=f"open: found no {name} in "):
        sr.open(saved)


@pytest.mark.parametrize(
    ("folder", "says"),
    [(3, "give the folder"), (None, "give the folder"), ("file", "found a file"),
     ("none", "found no folder")],
)  # fmt: skip
def test_what_is_no_folder_is_said(folder, says, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=says):
        sr.open(tmp_path / folder if isinstance(folder, str) else folder)
