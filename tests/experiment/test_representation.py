"""Representations: predicted similarities against trained ones."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import symreln as sr
from symreln.errors import NotSupportedError
from symreln.experiment.representation import RepresentationComparison, check_representations
from symreln.report.chapters.representations import representation_chapter
from symreln.report.validation_plots import validation_sketches
from symreln.task_library.load import load

HIERARCHY = ("network.steps=1501", "network.hidden=200", "network.init_std=1/2000")


@pytest.fixture(scope="module")
def compared():
    derivation = sr.derive(load("linear-hierarchy", HIERARCHY))
    validation = sr.validate(derivation, seeds=3, rng=0)
    return validation, RepresentationComparison.of(validation, validation.seeds, validation.rng)


def test_predicted_similarity_is_the_square_root_of_the_map(compared):
    """Of one aligned and balanced pathway W1ᵀ W1 = (Wᵀ W)^½: a second route, by the maps."""
    validation, found = compared
    spec = validation.derivation.at_values.spec
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    # At the end the map is the least-squares one.
    map_ = targets @ np.linalg.pinv(inputs)
    values, vectors = np.linalg.eigh(map_.T @ map_)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    np.testing.assert_allclose(found.theory[-1], inputs.T @ root @ inputs, atol=2e-3 * root.max())


def test_networks_hold_what_is_predicted(compared):
    _, found = compared
    for subject in found.subjects:
        assert subject.correlation[-1] > 0.999
        assert subject.distance[-1] < 0.02
        assert subject.distance[found.half_way] < 0.1
        assert subject.floor is not None


def test_chapter_figure_and_json_say_what_was_measured(compared):
    validation, found = compared
    sketches = validation_sketches(replace(validation, representations=found))
    own = [each for each in sketches if each.name in ("representations", "agreement")]
    assert len(own) == 2
    for sketch in own:
        drawing = sketch.draw(pdf=False)
        assert drawing.svg.startswith("<?xml")
        assert drawing.svg == sketch.draw(pdf=False).svg
    table = representation_chapter(found, "linear network").blocks[1]
    rows = [list(row) for row in table.rows]
    assert [row[0] for row in rows] == ["linear network"] * 2 + ["GDLN"] * 2
    assert rows[1][2] == f"{found.subjects[0].correlation[-1]:.3f}"
    whole = replace(validation, representations=found).to_json()
    told = json.loads(json.dumps(whole["representations"], allow_nan=False))
    assert told["subjects"]["gdln"]["distance"][-1] == found.subjects[1].distance[-1]


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("linear-hierarchy", ("network.layers=3",), "one hidden layer"),
        ("linear-hierarchy", ('network.init_std=["1/1000", "1/100"]',), "equal initial scale"),
    ],
)
def test_what_is_not_predicted_is_refused(name, changes, reason):
    derivation = sr.derive(load(name, changes)).at_values
    with pytest.raises(NotSupportedError, match=reason):
        check_representations(derivation)
