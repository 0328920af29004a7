"""Pathways of partial gates: inputs orthogonal to boundary samples, from the spec to training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import symreln as sr
from symreln.cli.main import cli
from symreln.verifier import verify
from tests.campaigns.random_specs import toml_of
from tests.own_specs import own, path


#: Each sample pushes back the units that learn the other: the fastest gates are 1/ and /1.
def two(first: list, second: list) -> dict:
    network = {"hidden": 400, "init_std": "1/200000", "learning_rate": "1/100", "steps": 1500}
    return own(
        [[2, 1], [1, 2]], [[1, -1]], path("first", first), path("second", second), network=network
    )


def test_the_found_spec_follows_the_network(tmp_path: Path) -> None:
    """gates.toml of a partial winner: its GDLN is the small network, and its modes are closed."""
    given = tmp_path / "given.toml"
    given.write_text(toml_of(two([1, 0], [0, 1])))
    arguments = ["gates", str(given), "--method", "self-consistent", "--out", str(tmp_path)]
    shown = CliRunner().invoke(cli, arguments).output
    assert "1/  orbit of size 2  speed 3*sqrt(5)/10  fractions 4/5" in shown
    spec = sr.load(str(tmp_path / "gates.toml"))
    assert [(p.gate, p.boundary) for p in spec.pathways] == [((1, 0), (1,)), ((0, 1), (0,))]
    derivation = sr.derive(spec)
    assert derivation.verdict.level.value == "closed"
    assert str(derivation.pathways[0].modes[0].s.to_sympy()) == "3*sqrt(5)/10"
    assert verify(derivation.certificate)
    report = sr.validate(derivation, seeds=3, rng=0)
    assert report.metrics["gdln_vs_relu"].max_abs_over_initial < 0.02
    # The same gates without the projection are another network, faster and elsewhere.
    plain = sr.validate(sr.derive(sr.load(str(given))), seeds=3, rng=0)
    assert plain.metrics["gdln_vs_relu"].max_abs_over_initial > 0.5


def test_what_a_pathway_sees_is_orthogonal_to_its_boundary() -> None:
    first = sr.derive(sr.load(two([1, "/"], ["/", 1]))).pathways[0].effective
    # x_1 = (2, 1) without its part along (1, 2).
    assert first.inputs.to_numpy() == pytest.approx(np.array([[6 / 5, 0], [-3 / 5, 0]]))
    dependent = sr.load(
        {
            "dataset": {"X": [[1, 2, 0, 1], [0, 0, 0, 1], [1, 2, 0, 0]], "Y": [[1, 2, 3, 4]]},
            "pathway": [{"name": "one", "gate": ["/", "/", "/", 1]}],
        }
    )
    (only,) = sr.derive(dependent).pathways
    assert only.effective.inputs.to_numpy()[:, 3] == pytest.approx([0.5, 1, -0.5])
