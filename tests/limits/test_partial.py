"""What is said of a derivation that was cut: from lines that were told, nothing else."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.base.units import megabytes, seconds
from symreln.errors import InputError
from symreln.exact.spectrum_json import spectrum_from_json
from symreln.report import html, latex
from symreln.report.chapters.limits import limited_document
from symreln.report.derivation_json import derivation_to_json
from symreln.report.partial_json import Finished, Reached, partial_derivation, read_steps
from symreln.report.steps import StepWriter

REACHED = Reached(kind="time", limit="3 s", seconds=3.0)
HEADER = (
    "format",
    "title",
    "source",
    "free_constants",
    "constants",
    "parameters",
    "dataset",
    "network",
)
# Left out of a whole derivation where there is none of it; unknown in a partial one.
WHERE_ANY = (
    "equilibria",
    "width",
    "head_starts",
    "gate_law",
    "gate_lines",
    "family_lines",
    "phases",
)
PLACES = [
    "reading the spec",
    "the effective datasets of stage 1",
    "the joint spectrum of pathway 'common'",
    "the printed numbers of pathway 'common'",
    "the couplings of stage 1",
    "the effective datasets of stage 2",
]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return a derivation and the lines that it told."""
    path = tmp_path_factory.mktemp("steps") / "steps"
    writer = StepWriter(path)
    spec = sr.load("contextual-3")
    writer.spec(spec)
    derivation = sr.derive(spec, progress=writer.progress)
    return derivation, read_steps(path)


@pytest.mark.parametrize("place", range(len(PLACES)))
def test_the_place_is_what_was_under_way(told, place):
    assert Finished(told[1][:place]).place == PLACES[place]


def test_after_the_last_step_only_writing_is_left(told):
    assert Finished(told[1]).place == "writing the results"
    assert Finished(told[1][:-1]).place == "the closed forms and the checks"


def test_what_was_finished_reads_as_in_the_whole_derivation(told):
    derivation, lines = told
    whole = derivation_to_json(derivation)
    found = partial_derivation(Finished(lines), REACHED)
    assert found.keys() == whole.keys() | {"limits", *WHERE_ANY}
    unknown = ("couplings", *WHERE_ANY)
    assert all(found[key] is None for key in unknown), "left out would say that there is none"
    assert list(found)[:7] == list(whole)[:7]
    # Which numbers the formulas take is known when all of them are there.
    later = ("free_constants", "constants")
    assert [found[key] for key in later] == [None, None]
    known = [key for key in HEADER if key not in later]
    assert {key: found[key] for key in known} == {key: whole[key] for key in known}
    assert found["versions"] == whole["versions"]
    for part, entry in zip(found["pathways"], whole["pathways"], strict=True):
        assert part.keys() == entry.keys() | {"proven"}
        assert [m["family"] for m in part["modes"]] == [m["family"] for m in entry["modes"]]
        assert part["commutes"] == entry["commutes"]
        for mode, expected in zip(part["modes"], entry["modes"], strict=True):
            for key in ("label", "s", "d", "multiplicity", "strength0"):
                assert mode[key] == expected[key], key
    assert found["verdict"]["stages"] == whole["verdict"]["stages"]
    assert found["verdict"]["level"] == whole["verdict"]["level"]
    assert found["steps"] == whole["steps"]


def test_a_pathway_that_was_not_finished_claims_no_mode(told):
    cut = next(i for i, line in enumerate(told[1]) if line["step"] == "verdict")
    found = partial_derivation(Finished(told[1][:cut]), REACHED)
    assert found["verdict"]["level"] == "numeric only"
    assert found["verdict"]["stages"][0]["level"] == "numeric only"
    first, *others = found["pathways"]
    assert first["proven"]["spectrum"]
    assert first["modes"]
    assert all(mode["d_eff"] is None and mode["strength"] is None for mode in first["modes"])
    for pathway in others:
        assert pathway["commutes"] == "undecided"
        assert pathway["modes"] == []
        assert pathway["proven"] == {"spectrum": False, "stage": False}
    assert found["loss"] == {"initial": None, "final": None, "expr": None}
    assert any("the spectra of 'off_1'" in line for line in found["limits"]["undecided"])


@pytest.mark.parametrize("name", ["contextual-3-modular", "iris", "contextual-3"])
def test_families_and_keys_are_those_of_every_level(name, tmp_path):
    spec = sr.load(name)
    writer = StepWriter(tmp_path / "steps")
    writer.spec(spec)
    whole = derivation_to_json(sr.derive(spec, progress=writer.progress))
    found = partial_derivation(Finished(read_steps(tmp_path / "steps")), REACHED)
    for part, entry in zip(found["pathways"], whole["pathways"], strict=True):
        for mode, expected in zip(part["modes"], entry["modes"], strict=True):
            assert mode["family"] == expected["family"]
            assert mode.keys() == expected.keys()


@pytest.mark.parametrize("cut", range(10))
def test_every_cut_has_the_keys_of_a_whole_derivation(told, cut):
    derivation, lines = told
    whole = derivation_to_json(derivation)
    entry = whole["pathways"][0].keys() | {"proven"}
    found = partial_derivation(Finished(lines[:cut]), REACHED)
    assert found.keys() == whole.keys() | {"limits", *WHERE_ANY}
    assert all(pathway.keys() == entry for pathway in found["pathways"])


def test_stored_classes_are_the_spectrum(told):
    derivation, lines = told
    found = partial_derivation(Finished(lines), REACHED)
    for part, pathway in zip(found["pathways"], derivation.pathways, strict=True):
        spectrum = pathway.spectrum
        again = spectrum_from_json(
            part["proven"]["classes"], spectrum.sigma_yx, spectrum.sigma_x, spectrum.values
        )
        assert [(m.s, m.d, m.multiplicity) for m in again.modes] == [
            (m.s, m.d, m.multiplicity) for m in spectrum.modes
        ]


def test_a_line_that_was_cut_is_left_out(tmp_path):
    path = tmp_path / "steps"
    writer = StepWriter(path)
    writer.say("one", {})
    writer.say("two", {"text": "ü"})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert [line["step"] for line in read_steps(path)] == ["one", "two"][
            : whole[:length].count(b"\n")
        ]


@pytest.mark.parametrize("cut", [0, 1, 2, 4, 6, 9, 99])
def test_the_document_says_what_is_what_at_every_cut(told, cut):
    partial = partial_derivation(Finished(told[1][:cut]), REACHED)
    page = html.render(limited_document(partial))
    text = latex.render(limited_document(partial))
    for shown in (page, text):
        assert "not complete" in shown
        assert "time limit of 3 s" in shown
    assert ("What is proven" in page) == (cut > 2)


@pytest.mark.parametrize("text", ["", "0", "-1", "1e9", "5 weeks", "ten", "1" * 30, "٣", "nan"])
def test_wrong_quantities_are_refused(text):
    for parse in (seconds, megabytes):
        with pytest.raises(InputError):
            parse(text)
