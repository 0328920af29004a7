"""The committed derivations are what the tool writes now; the comparison sees every change."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from derivations import rebuild
from tests.own_process import printed


@pytest.mark.parametrize("name", rebuild.NAMES)
def test_rebuilding_gives_what_is_committed(name, tmp_path):
    rebuild.build(name, tmp_path)
    assert rebuild.differences(name, tmp_path) == []


def test_a_changed_file_is_seen(tmp_path, monkeypatch):
    committed = tmp_path / "committed"
    shutil.copytree(rebuild.HERE / "xor", committed / "xor")
    monkeypatch.setattr(rebuild, "HERE", committed)
    built = tmp_path / "built"
    shutil.copytree(committed / "xor", built)
    assert rebuild.differences("xor", built) == []

    tex = built / "derivation.tex"
    tex.write_text(tex.read_text("utf-8").replace(r"\Delta", r"\delta", 1), "utf-8")
    assert any("derivation.tex" in line for line in rebuild.differences("xor", built))
    shutil.copy(committed / "xor" / "derivation.tex", tex)

    certificate = built / "certificate.json"
    certificate.unlink()
    assert rebuild.differences("xor", built) == ["xor/certificate.json: only in the commit"]


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, False),
        ({"a": 1.0}, {"a": 1.0 + 1e-6}, True),
        ({"a": "1"}, {"a": "2"}, True),
        ({"a": 1}, {"a": True}, True),
        ({"a": 1}, {}, True),
        ({"versions": {"numpy": "1"}}, {"versions": {"numpy": "2"}}, False),
        ([1, 2], [1, 2, 3], True),
        ([{"x": None}], [{"x": None}], False),
    ],
)
def test_json_comparison(old, new, differs):
    assert bool(rebuild.json_differences(old, new)) is differs


def test_committed_certificates_verify_without_the_package():
    """The verifier alone, in a process that cannot import anything of symreln's dependencies."""
    import symreln.verifier

    folder = Path(symreln.verifier.__file__).parents[1]
    program = f"import sys; sys.path.append({str(folder)!r}); "
    program += "from verifier.__main__ import main; main()"
    for name in rebuild.NAMES:
        path = rebuild.HERE / name / "certificate.json"
        said = printed(program, str(path), options=("-I", "-S"))
        assert json.loads(path.read_text("utf-8"))["level"] in said
