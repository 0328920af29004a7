"""The first page of what was trained: what became of it, and where judged curves start."""

from __future__ import annotations

import re

import pytest

import symreln as sr
from symreln.document.document_model import plain_text, walk
from symreln.report.content import derivation_document
from tests.own_specs import OWN


def sentences(validation: sr.Validation) -> list[str]:
    document = derivation_document(validation.derivation, validation)
    first = document.blocks[0]
    paragraphs = (block for block, _ in walk((first,)) if hasattr(block, "content"))
    return [plain_text(each.content) for each in paragraphs]


@pytest.mark.parametrize(
    ("name", "changes"),
    [("xor", {"network.hidden": 60, "network.steps": 1200}), (OWN["chain"], {})],
    ids=["pathways", "nodes and edges"],
)
def test_what_became_of_the_theory_stands_under_the_verdict(name, changes):
    validation = sr.validate(sr.load(name, changes), seeds=2)
    assert len({each.outcome for each in validation.verdicts.values()}) > 1
    found = sentences(validation)
    place = next(n for n, each in enumerate(found) if each.startswith("Verdict: "))
    verdict, said = found[place : place + 2]
    assert verdict.startswith("Verdict: ")
    assert said.startswith("Against 2 ")
    words = re.findall(r"(loss|modes|gates) (agrees?|disagrees?|undecided|not tested)", said)
    found = {quantity: re.sub(r"agree$", "agrees", word) for quantity, word in words}
    assert found == {name: each.outcome for name, each in validation.verdicts.items()}
    assert "loss agree " not in said
    assert "modes agrees" not in said


def test_a_linear_network_starts_as_printed():
    spec = sr.load("linear-hierarchy", {"network.hidden": 60, "network.steps": 300})
    assert not any("do not start" in x for x in sentences(sr.validate(spec, seeds=2)))
