"""The first page of what was trained: what became of it, and where judged curves start."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symreln as sr
from symreln.claims.early import early_strengths
from symreln.document.model import plain_text, walk
from symreln.report.content import derivation_document
from tests.golden.specs import OWN


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
    verdict, said, *_ = sentences(validation)
    assert verdict.startswith("Verdict: ")
    assert said.startswith("Against 2 ")
    words = re.findall(r"(loss|modes|gates) (agrees?|disagrees?|undecided|not tested)", said)
    found = {quantity: re.sub(r"agree$", "agrees", word) for quantity, word in words}
    assert found == {name: each.outcome for name, each in validation.verdicts.items()}
    assert "loss agree " not in said
    assert "modes agrees" not in said


def test_the_factor_and_the_half_time_are_those_of_kappa():
    """Half of the units are H/2: κ H of them start 2 κ times as strong, and so much later."""
    spec = sr.load("xor", {"network.hidden": 60, "network.steps": 1200})
    validation = sr.validate(spec, seeds=2)
    (said,) = (x for x in sentences(validation) if "do not start from this" in x)
    kappa = validation.derivation.ask(early_strengths)["pi_1_1"].kappa
    assert f"from {2 * kappa:.3f} " in said
    row = validation.derivation.modes["pi_1_1"]
    numbers = validation.derivation.to_numpy("pi_1_1")
    plateau = np.sqrt(2) / 2  # s/d = (√2/4)/(1/2) at the declared Δ = 0
    start = 60 * 1e-8 / 4 * 2 * kappa
    half = float(re.search(r"half learned after ([0-9.]+) steps", said)[1])
    # Printed to 0.05 steps, in which a sigmoid at its half grows by s/τ of itself a step.
    assert numbers(half, pi_0=start) == pytest.approx(plateau / 2, rel=1e-3)
    assert half > row.half_time + 1


def test_a_linear_network_starts_as_printed():
    spec = sr.load("linear-hierarchy", {"network.hidden": 60, "network.steps": 300})
    assert not any("do not start" in x for x in sentences(sr.validate(spec, seeds=2)))
