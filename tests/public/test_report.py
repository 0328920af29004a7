"""Documents of saved folders, without training again, and what curves.npz holds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.document.document_model import Drawing
from symreln.document.serialise import of_values, values_of
from symreln.errors import CertificateError, InputError
from symreln.experiment.training import training_settings
from symreln.report import formats, write_validation
from symreln.report.content import derivation_document
from symreln.verifier.folder import sealed_json
from tests.cli.command import command
from tests.explanation.test_planted import history

SMALL = {"network.hidden": 30, "network.steps": 200}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Path, sr.Validation]:
    folder = tmp_path_factory.mktemp("run")
    return folder, sr.run(sr.load("xor", SMALL), folder, seeds=2)


@pytest.fixture
def folder(ran, tmp_path) -> Path:
    return shutil.copytree(ran[0], tmp_path / "run")


@pytest.fixture
def untrained(monkeypatch):
    """Nothing is trained, and nothing derived."""

    def never(*_, **__):
        raise AssertionError

    for work in ("train.run.run_training", "calls.open.derive", "calls.derive.pipeline.derive"):
        monkeypatch.setattr(f"symreln.{work}", never)


def contents(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


# -- documents -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("untrained")
def test_documents_are_those_of_the_run_byte_by_byte(folder, ran, tmp_path):
    before = contents(folder)
    assert "Theory against training" in before["derivation.html"].decode()
    (folder / "derivation.html").unlink()
    (folder / "derivation.tex").unlink()
    assert command("report", folder, "--quiet").code == 0
    assert contents(folder) == before
    written = sr.report(folder, ["html", "fragment"], tmp_path / "new")
    assert {path.parent for path in written} == {tmp_path / "new", tmp_path / "new/figures"}
    assert (tmp_path / "new/derivation.html").read_bytes() == before["derivation.html"]
    fragment = (tmp_path / "new/derivation.fragment.tex").read_text("utf-8")
    assert "documentclass" not in fragment
    assert (tmp_path / "new/figures/loss.pdf").read_bytes() == before["figures/loss.pdf"]
    assert "every identity holds" in command("verify", folder).out


def test_settings_of_documents_are_those_of_run(tmp_path):
    spec, asked = sr.load("xor", SMALL), {"latex": ["prefix=ctx:"], "full": True}
    sr.run(spec, tmp_path / "run", seeds=1, formats=["json"], **asked)
    sr.run(spec, tmp_path / "again", seeds=1, formats=["tex"], **asked)
    sr.report(tmp_path / "run", "tex", **asked)
    tex = (tmp_path / "again/derivation.tex").read_bytes()
    assert (tmp_path / "run/derivation.tex").read_bytes() == tex
    sr.report(tmp_path / "run", "tex")
    assert (tmp_path / "run/derivation.tex").read_bytes() != tex


def test_a_validation_without_a_certificate_has_the_document_of_its_run(ran, tmp_path):
    found = command(
        "validate", "xor", "--seeds", "2", "--quiet", "--out", tmp_path,
        *(word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")),
    )  # fmt: skip
    assert "document.json" in found.out
    assert command("report", tmp_path, "--format", "html").code == 0
    page = (tmp_path / "derivation.html").read_bytes()
    assert page == (ran[0] / "derivation.html").read_bytes()
    (tmp_path / "curves.npz").write_bytes(b"others")
    with pytest.raises(CertificateError, match=r"curves.npz: .*came with validation.json"):
        sr.report(tmp_path)


def test_a_graph_without_a_certificate_is_reported(tmp_path):
    small = {"network.hidden": 5, "network.steps": 20}
    sr.run(sr.load("depth", small), tmp_path, seeds=1)
    before = contents(tmp_path)
    assert "certificate.json" not in before
    sr.report(tmp_path)
    assert contents(tmp_path) == before


def test_a_derivation_alone_is_derived_again(tmp_path):
    derivation = sr.derive("linear-hierarchy")
    derivation.save(tmp_path / "all")
    derivation.save(tmp_path / "data", "json")
    sr.report(tmp_path / "data")
    assert contents(tmp_path / "data") == contents(tmp_path / "all")


def test_an_explanation_is_reported(tmp_path):
    spec = sr.load("xor", {"network.hidden": 12, "network.steps": 41, "network.init_std": "1/10"})
    numbers = spec.at_values()
    weights = history(*numbers.dataset.arrays, training_settings(numbers), every=10)
    sr.explain(weights, spec).save(tmp_path)
    before = contents(tmp_path)
    assert {path.name for path in sr.report(tmp_path)} >= {"explanation.html", "explanation.tex"}
    assert contents(tmp_path) == before
    path = tmp_path / "explanation-document.json"
    path.write_text(path.read_text("utf-8").replace("The network", "A network"), "utf-8")
    with pytest.raises(CertificateError, match="was changed"):
        sr.report(tmp_path)


def test_a_document_is_the_same_of_its_values():
    derivation = sr.derive("contextual-3")
    names = ("gates", "vectors", "modes")
    drawn = tuple(Drawing(name=name, svg="<svg/>", pdf=b"%PDF\xff") for name in names)
    document = derivation_document(derivation, None, drawn)
    assert of_values(json.loads(json.dumps(values_of(document)))) == document


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["document.json", "validation.json", "derivation.json", "derivation.html", "curves.npz"]
)
def test_a_folder_with_a_changed_file_is_refused(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"network", b"natwork", 1))
    before = contents(folder)
    found = command("report", folder)
    assert (found.code, found.out) == (2, "")
    assert name in found.err
    assert contents(folder) == before


def test_a_document_of_another_run_is_refused(folder, tmp_path):
    sr.run(sr.load("xor-linear", SMALL), tmp_path / "other", seeds=1)
    shutil.copy(tmp_path / "other/document.json", folder)
    with pytest.raises(CertificateError, match="belongs to another derivation"):
        sr.report(folder)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "symreln-document/9"}, "no document of this version"),
        ({"document": {"is": "Novelty"}}, "no document of this version"),
        ({"document": {"is": "Document", "blocks": []}}, "no document of this version"),
        ({"document": ["words"]}, "no document of this version"),
    ],
)
def test_a_document_of_another_version_is_refused(folder, changes, says):
    path = folder / "document.json"
    content = json.loads(path.read_text("utf-8"))
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    path.write_text(json.dumps(sealed_json({**content, **changes}, certificate)), "utf-8")
    found = command("report", folder)
    assert (found.code, found.out) == (2, "")
    assert says in found.err


def test_folders_and_formats_that_are_none_are_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    for asked, says in {
        ("nowhere",): "found no folder nowhere",
        (tmp_path / "notes.txt",): "give its folder",
        (tmp_path / "empty",): "found no derivation.json",
        (folder, "--format", "docx"): 'found the text "docx", which is none. Known: tex',
        (folder, "--format", "py"): 'found the text "py", which is none',
        (folder, "--format", "pdf"): "pip install 'symreln[pdf]'",
        (folder, "--latex", "level=9"): "level",
    }.items():
        found = command("report", *asked)
        assert (found.code, found.out) == (2, ""), asked
        assert says in found.err
    (folder / "document.json").unlink()
    with pytest.raises(InputError, match=r"has validation.json and no document.json"):
        sr.report(folder)


def test_a_new_derivation_removes_the_document_of_the_run_before(folder):
    sr.derive("linear-hierarchy").save(folder)
    assert not (folder / "document.json").exists()


# -- curves ----------------------------------------------------------------------------------------


def test_curves_have_strengths_and_gates(ran):
    folder, found = ran
    with np.load(folder / "curves.npz", allow_pickle=False) as archive:
        curves = dict(archive)
    assert found.modes
    for kind, subject in (("gdln", "gdln"), ("network", "relu")):
        modes = [mode for mode in found.modes if mode.subject == subject]
        assert curves[f"{kind}_mode_labels"].tolist() == [mode.label for mode in modes]
        assert curves[f"{kind}_mode_pathways"].tolist() == [mode.pathway for mode in modes]
        assert curves[f"{kind}_mode_plateaus"].tolist() == [mode.plateau for mode in modes]
        for place, mode in enumerate(modes):
            assert tuple(curves[f"{kind}_mode_steps"]) == mode.steps
            assert (curves[f"{kind}_strengths"][:, place] == mode.measured).all()
            assert (curves[f"{kind}_strengths_predicted"][place] == mode.predicted).all()
    network = found.network
    assert network is not None
    assert tuple(curves["gate_steps"]) == network.snapshot_steps
    assert (curves["gate_activity"] == network.snapshots["activity"]).all()
    assert (curves["gate_weights"] == network.snapshots["contribution"]).all()


def test_shares_of_gates_are_those_of_the_units(ran):
    """Unit by unit from the arrays; a sample on a unit's boundary fits any gate."""
    curves = write_validation.curves_of(ran[1])
    pathways = ran[1].numbers.pathways
    assert curves["gate_pathways"].tolist() == [pathway.name for pathway in pathways]
    either, weights = ran[1].network.snapshots["boundary"], curves["gate_weights"]
    for place, pathway in enumerate(pathways):
        spec = pathway.effective.pathway
        assert not spec.boundary
        gate = np.array([float(gain) > 0 for gain in spec.gate])
        held = ((curves["gate_activity"] == gate) | either).all(axis=3)
        share = (held * weights).sum(axis=2) / weights.sum(axis=2)
        assert np.allclose(curves["gate_shares"][..., place], share, rtol=0, atol=1e-12)
    assert (curves["gate_shares"].std(axis=1) > 0).any()  # they do not stay as drawn


def test_large_networks_keep_shares_alone(ran, monkeypatch):
    every = write_validation.curves_of(ran[1])
    monkeypatch.setattr(write_validation, "MOST_BYTES", 1000)
    few = write_validation.curves_of(ran[1])
    assert every.keys() - few.keys() == {"gate_activity", "gate_weights"}


def test_every_array_is_documented(ran):
    page = (Path(sr.__file__).parents[1] / "docs/commands.md").read_text("utf-8")
    for name in write_validation.curves_of(ran[1]):
        assert f"`{name}`" in page
