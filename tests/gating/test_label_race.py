"""Gates by subset of a label, raced over a parameter: spectra at values, and known answers."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from symreln.cli.main import cli
from symreln.errors import InputError, NotSupportedError
from symreln.gating.confronted import ClassShare, RacePoint
from symreln.gating.consistent import consistent_pairs
from symreln.gating.label_race import count_observer, label_race
from symreln.gating.observed import observe, wide_shares
from symreln.gating.race_report import RaceReport
from symreln.gating.search import stage_residuals
from symreln.task_library.load import load
from symreln.verdict.directions import columns, gate_spectrum, singular_pairs

#: Two samples of each of two kinds; a in the targets makes one kind, the other or both the fastest.
TABLE = """
title = "two kinds"
[dataset]
X = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
Y = [["a", 0, 0], [0, 2, 1]]
[dataset.labels]
kind = ["left", "right", "right"]
[parameters.a]
positive = true
[[pathway]]
name = "all"
gate = "all"
[network]
hidden = 60
init_std = "1/1000"
learning_rate = "1/20"
steps = 1501
"""


def call(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def written(folder: Path) -> str:
    path = folder / "kinds.toml"
    path.write_text(TABLE)
    return str(path)


def test_speeds_cross_where_they_are_known_to(tmp_path: Path) -> None:
    """Samples are orthonormal: a gate grows as the larger of a and √5, over P."""
    spec = load(written(tmp_path))
    found = label_race(spec.dataset, spec.dataset.targets, "kind", spec.parameters[0].range)
    names = found.names
    orders = [[[names[g] for g in rank] for rank in part.order] for part in found.pieces]
    left, right, both = "m = 1 (left)", "m = 1 (right)", "m = 2 (left, right)"
    kinds = [sorted(map(sorted, order)) for order in orders if order]
    assert kinds[0] == sorted([[left], sorted([right, both])])
    assert kinds[-1] == sorted([[right], sorted([left, both])])
    (mark,) = [each for each in found.boundaries if {*each.between} >= {"100", "011"}]
    assert (str(mark.value.to_sympy()), mark.kind, mark.changes_winner) == (
        "sqrt(5)",
        "speed",
        True,
    )
    assert all(each.kind == "speed" for each in found.boundaries)
    # A direction along one kind alone keeps that kind's gate, and no other.
    for part in found.pieces:
        for runner in part.runners:
            assert runner.self_consistent is (runner.pattern != "111")


@pytest.mark.parametrize("stage", [0, 1])
def test_pieces_agree_with_spectra_at_values(stage: int) -> None:
    """The second route: all singular values at single values of the parameter, in floats."""
    spec = load("contextual-3", ["dataset.items=2"])
    residual = stage_residuals(spec)[stage]
    found = label_race(spec.dataset, residual, "context", spec.parameters[0].range)
    for value in (Fraction(1, 7), Fraction(1), Fraction(5, 2), Fraction(9)):
        at = {"c": value}
        inputs, left = spec.dataset.inputs.substitute(at), residual.substitute(at)
        (part,) = [each for each in found.pieces if each.contains(value)]
        speeds = []
        for rank in part.ranks:
            for runner in rank:
                gated = left.to_numpy() * np.array(runner.gate) @ inputs.to_numpy().T
                top = np.linalg.svd(gated / spec.dataset.samples, compute_uv=False)[0]
                assert runner.rate is not None
                assert runner.rate.to_float(at) == pytest.approx(top, rel=1e-12)
                speeds.append(top)
                pairs = singular_pairs(gate_spectrum(inputs, left, runner.gate))
                kept = consistent_pairs(pairs[:1], columns(inputs), runner.gate)
                assert runner.self_consistent is bool(kept)
        assert speeds == sorted(speeds, reverse=True) or np.ptp(speeds) < 1e-12


def test_networks_take_the_fastest_on_both_sides(tmp_path: Path) -> None:
    out = ["--seeds", "2", "--points", "1", "--out", str(tmp_path / "out")]
    shown = call("race", written(tmp_path), "--by", "kind", "--over", "a", *out)
    assert "the speeds of 100, 011 cross, the winner changes" in shown
    found = json.loads((tmp_path / "out" / "race.json").read_text())
    assert {each["name"] for each in found["candidates"]} == {
        "m = 1 (left)",
        "m = 1 (right)",
        "m = 2 (left, right)",
    }
    rows = (tmp_path / "out" / "race.md").read_text().split("Weight of 2 networks")[1]
    assert rows.count("| yes |") + rows.count("**no**") >= 2
    told = [row.split(" | ") for row in rows.splitlines() if row.startswith("| ")][1:]
    assert len(told) == 2
    for _, _, networks, wide, *_ in told:
        shares = [float(share) for share in re.findall(r"\) (0\.\d+)", wide)]
        assert sum(shares) == pytest.approx(1, abs=0.01)
        # Both name classes by the networks' shares: 0.1 apart at 60 units.
        of_networks = [float(share) for share in re.findall(r"\) (0\.\d+) ±", networks)]
        assert shares == pytest.approx(of_networks, abs=0.15)
    drawn = (tmp_path / "out" / "race.svg").read_text()
    assert "m = 1 (left)" in drawn
    assert "trained networks" in drawn
    assert "predicted" not in drawn


def test_shares_at_infinite_width_are_those_of_a_wide_network(tmp_path: Path) -> None:
    """Two routes: balanced particles drawn in pairs, and one network of many units."""
    spec = load(written(tmp_path), ["parameters.a.value=2"]).at_values()
    assert spec.network is not None
    wide = replace(spec, network=replace(spec.network, hidden=6000))
    steps = [0, 20, spec.network.steps - 1]
    counted = count_observer(spec.dataset, "kind")
    seen = observe(wide, seeds=1, steps=steps, observers={"m": counted})
    (network,) = seen.class_shares("m", 3)
    found = wide_shares(wide, counted, 3, steps)
    assert found is not None
    shares, errors = found
    assert errors.shape == shares.shape == (3, 3)
    assert np.ptp(network, axis=0).max() > 0.2  # they change while it learns
    np.testing.assert_allclose(shares, network, atol=0.03)
    assert 0 < errors.max() < 0.03


def test_nothing_to_learn_has_no_shares_at_infinite_width(tmp_path: Path) -> None:
    path, out = tmp_path / "zero.toml", tmp_path / "out"
    table = TABLE.replace('"a", 0, 0], [0, 2, 1', "0, 0, 0").replace("steps = 1501", "steps = 9")
    path.write_text(table.replace("[parameters.a]\npositive = true\n", ""))
    call("race", str(path), "--by", "kind", "--seeds", "2", "--out", str(out))
    found = json.loads((out / "subsets.json").read_text())
    assert "mean_field" not in found["trained"]
    assert len(found["trained"]["shares"]) == 9


def test_what_a_table_leaves_open_is_explained(tmp_path: Path) -> None:
    spec = load(written(tmp_path))
    limits = spec.parameters[0].range
    found = label_race(spec.dataset, spec.dataset.targets, "kind", limits)
    shares = (("111", 0.1), ("100", 0.6), ("011", 0.3))
    point = RacePoint(
        value=Fraction(1), seeds=2, order=(("011",), ("100",)),
        classes=tuple(ClassShare(name, None, 0.0, share, 0.0, share) for name, share in shares),
        outside=0.0, left=0.0,
    )  # fmt: skip

    def told(one: RacePoint) -> str:
        return RaceReport(race=found, spec=spec, learned=spec, points=[one]).tables["race.md"]

    text = told(replace(point, seeds=1))
    assert "sqrt(5)" in text
    assert "| – | m = 1 (left) 0.600" in text
    assert "–: the mean-field simulation takes minutes" in text
    assert "does not have most of the weight at a_ = 1: speeds decide alone" in text
    assert "no spread" not in text
    known = tuple(replace(each, predicted=each.measured) for each in point.classes)
    text = told(replace(point, classes=known))
    assert "| **no** | yes |" in text
    assert "takes minutes" not in text
    assert "One network has no spread" in told(replace(point, classes=known, seeds=1))
    assert "does not have most" not in told(replace(point, order=(("100",), ("011",))))


def test_speeds_of_high_degree_are_refused_and_not_waited_for() -> None:
    spec = load("contextual-different")
    limits = spec.parameters[0].range
    with pytest.raises(NotSupportedError, match=r"degree 7 over c.*Give c a value"):
        label_race(spec.dataset, spec.dataset.targets, "context", limits)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "kind", "--stage", "1"), "--stage has no meaning with --by without --over"),
        (("--by", "kind", "--points", "2"), "--points has no meaning with --by without --over"),
        (("--by", "colour", "--over", "a"), "found --by colour; the data have these labels: kind"),
        (("--by", "kind", "--over", "q"), 'found no parameter "q" in the spec'),
    ],
)
def test_options_that_would_not_be_heard(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError) as told:
        call("race", written(tmp_path), *options, "--out", str(tmp_path / "out"))
    assert said in str(told.value)
