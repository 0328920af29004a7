"""Results of gate searches and races have texts that fit on a screen."""

from fractions import Fraction

import symreln as sr
from symreln.gating.confronted import confront
from symreln.gating.enumerate import enumerate_gates
from symreln.gating.race import race
from symreln.gating.search import predicted_stages
from symreln.networks.orbits import sample_group
from symreln.task_library.load import load


def test_texts_are_short() -> None:
    spec = load("xor", ["network.steps=50"])
    numbers = spec.at_values()
    found = race(spec.dataset.inputs, spec.dataset.targets, spec.parameters[0].range)
    stages = list(predicted_stages(numbers.dataset))
    many = load("contextual-3", ["dataset.items=4"]).at_values().dataset
    results = [
        found,
        found.pieces,
        stages,
        stages[0].candidates,
        confront(found, spec, Fraction(1, 2), 1, 0),
        enumerate_gates(many.inputs),
        sample_group(many.inputs),
    ]
    for each in results:
        text = repr(each)
        assert text.count("\n") < 30, type(each)
        assert len(text) < 3000, type(each)


def test_a_stage_in_which_nothing_grows_says_so() -> None:
    """Equal inputs with different targets: what is left after the first stage stays."""
    x, y = [[1, 0], [1, 0], [0, 1]], [1, 2, 3]
    found = sr.gates(sr.spec(x, y, pathways=[sr.pathway("all")]))
    assert "stage 1: 1 fastest" in str(found)
    assert "stage 2: no gate grows on what is left, proven" in str(found)
