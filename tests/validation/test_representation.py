"""Representations: pictures of known points, predicted similarities against trained ones."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import symreln as sr
from symreln.claims.probes import probe_bases
from symreln.claims.starts import start_factors
from symreln.document.model import plain_text
from symreln.errors import NotSupportedError
from symreln.experiment.representation import (
    check_representations,
    classical_scaling,
    compare_representations,
    correlations,
    paths,
    predicted_similarities,
    relative_distance,
    similarities_by_matrices,
)
from symreln.lab.distributions import spread_moments
from symreln.report.chapters.representations import representation_chapter
from symreln.report.validation_plots import validation_sketches
from symreln.task_library.load import load
from symreln.verdict.judge import Level

HIERARCHY = (
    "network.steps=1501",
    "network.hidden=200",
    "network.init_std=1/2000",
)


def random_points(count=7, dimensions=3, key=0):
    points = np.random.default_rng(key).normal(size=(count, dimensions))
    return points - points.mean(axis=0)


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def test_points_are_found_again_from_their_products():
    points = random_points() + 5.0  # the origin does not matter
    found = classical_scaling(points @ points.T, 3)
    np.testing.assert_allclose(distances(found), distances(points), atol=1e-12)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    assert classical_scaling(np.eye(2)).shape == (2, 2)
    assert classical_scaling(np.ones((1, 1))).shape == (1, 2)


def test_paths_do_not_jump_where_the_leading_plane_changes():
    # Two directions swap their sizes: the plane of each moment alone would turn by 90 degrees.
    axes = np.linalg.qr(random_points(8, 8))[0][:, :3]
    axes = axes - axes.mean(axis=0)
    scales = [(3, 2 - 0.4 * k, 0.4 + 0.4 * k) for k in range(5)]
    similarities = [(axes * np.square(scale)) @ axes.T for scale in scales]
    found = paths(similarities)
    steps = np.abs(np.diff(found, axis=0)).max(axis=(1, 2))
    exact = np.abs(np.diff([axes * np.array(scale) for scale in scales], axis=0)).max(axis=(1, 2))
    assert (steps < 1.5 * exact).all()
    for points, similarity in zip(found, similarities, strict=True):
        wanted = classical_scaling(similarity, 8)
        np.testing.assert_allclose(distances(points), distances(wanted), atol=1e-12)


def test_moments_cover_time_and_fall():
    loss = np.where(np.arange(1000) < 500, 1.0, 0.0)
    found = spread_moments(loss, 11)
    assert (found[0], found[-1]) == (0, 999)
    assert 500 in found
    assert spread_moments(np.ones(5), 16).tolist() == [0, 1, 2, 3, 4]


def test_correlation_and_distance_of_known_matrices():
    one = random_points() @ random_points().T
    assert correlations(one, 3 * one + 1) == pytest.approx(1)
    assert correlations(one, -one) == pytest.approx(-1)
    assert np.isnan(correlations(np.ones((3, 3)), one[:3, :3]))
    assert relative_distance(2 * one, one) == pytest.approx(1)
    assert relative_distance(0 * one, 0 * one) == 0


@pytest.fixture(scope="module")
def compared():
    derivation = sr.derive(load("linear-hierarchy", HIERARCHY))
    validation = sr.validate(derivation, seeds=3, rng=0)
    return validation, compare_representations(
        validation.numbers, validation, validation.seeds, validation.rng
    )


def test_predicted_similarity_is_the_square_root_of_the_map(compared):
    """Of one aligned and balanced pathway W1ᵀ W1 = (Wᵀ W)^½: a second route, by the maps."""
    validation, _ = compared
    derivation = validation.derivation.at_values
    spec = derivation.spec
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    # At the end the map is the least-squares one.
    map_ = targets @ np.linalg.pinv(inputs)
    values, vectors = np.linalg.eigh(map_.T @ map_)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    last = predicted_similarities(derivation, validation.prediction, (spec.network.steps - 1,))
    np.testing.assert_allclose(last[0], inputs.T @ root @ inputs, atol=2e-3 * root.max())


def test_matrices_start_where_kappa_says(compared):
    """Along the growing direction (v, u)/√2 the start is f g, elsewhere g, in W1ᵀ W1 and all."""
    derivation = compared[0].derivation.at_values
    (pathway,) = derivation.pathways
    inputs = derivation.spec.dataset.inputs.to_numpy()
    kappa = 3.0
    (plain,) = similarities_by_matrices(derivation, {}, (0,))
    (found,) = similarities_by_matrices(derivation, {pathway.name: kappa}, (0,))
    factor = float(start_factors(derivation, {"all": kappa})["all"])
    scale = float(derivation.known.gram_scale)
    seen = probe_bases(pathway)[1].T @ inputs
    np.testing.assert_allclose(plain, scale * inputs.T @ inputs, rtol=1e-9, atol=1e-12 * scale)
    wanted = plain + 0.5 * (factor - 1) * scale * seen.T @ seen
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12 * scale)
    assert factor > 1.5


def test_coupled_matrices_predict_what_gated_networks_hold():
    smaller = ("network.hidden=200", "network.steps=901", "network.init_std=1/10000")
    derivation = sr.derive(load("contextual-different", smaller))
    assert derivation.verdict.level is Level.COUPLED_MATRICES
    validation = sr.validate(derivation, seeds=3, rng=0)
    found = compare_representations(
        validation.numbers, validation, validation.seeds, validation.rng
    )
    assert found.by_matrices
    gdln = next(each for each in found.subjects if each.name == "gdln")
    # As near as networks are to each other, at every step and not at the end alone.
    assert (gdln.distance < 1.5 * gdln.floor).all()
    assert gdln.correlation[-1] > 0.999
    (text, *_) = representation_chapter(found, "ReLU network").blocks
    assert "coupled matrices" in plain_text(text.content)


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
    own = [each for each in sketches if each.name in ("representations", "paths")]
    assert len(own) == 2
    for sketch in own:
        drawing = sketch.draw(pdf=False)
        assert drawing.svg.startswith("<?xml")
        assert drawing.svg == sketch.draw(pdf=False).svg
    table = representation_chapter(found, "linear network").blocks[1]
    rows = [[cell[0].value for cell in row] for row in table.rows]
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
