"""What a user sees of a sweep: the table, the figures, what is said before it begins."""

from __future__ import annotations

import json

import pytest

from symreln.base import pool
from symreln.report.sweep_figure import numbers
from symreln.sweeps.plan import read_axes
from symreln.sweeps.run import Missing, Shard
from tests.sweeps.examples import Here, command, plan, spec

__all__ = ["spec"]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ("3,5", [3.0, 5.0]),
        ("1/2,0.25", [0.5, 0.25]),
        ('"1/3","2*3"', [1 / 3, 6.0]),
        ("mean,sum", None),
        ("true,false", None),
        ("[1, 2],[3, 4]", None),
    ],
)
def test_values_are_drawn_where_all_are_numbers(values, found):
    (axis,) = read_axes([f"k={values}"])
    assert numbers(axis) == found


def test_a_row_a_combination_and_a_figure_a_number(spec, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pool, "processes", lambda _: Here())
    out = tmp_path / "out"
    asked = ("--over", "network.loss=sum,mean", "--over", "network.hidden=3,40")
    code, said, err = command(
        capsys, "sweep", str(spec), *asked, "--seeds", "2", "--workers", "3", "--out", str(out)
    )
    assert code == 0
    assert "12 tasks to do (4 of theory, 8 of training), 0 done before" in err
    summary = json.loads((out / "sweep.json").read_text("utf-8"))
    lines = [line.split() for line in said.splitlines()]
    for row in summary["rows"]:
        loss, hidden = (text.partition("=")[2] for text in row["over"])
        (line,) = [line for line in lines if line[:3] == [loss, hidden, "2"]]
        worst = row["metrics"]["theory_vs_relu"]["max_abs_over_initial"]
        assert float(line[3]) == pytest.approx(100 * worst["value"], rel=0.06)
        assert float(line[5].strip("[,")) == pytest.approx(100 * worst["low"], rel=0.06)
    figures = {path.name for path in out.glob("*.svg")}
    assert figures == {"sweep-2-network-hidden.svg"}
    assert said.rstrip().endswith("sweep.json, sweep-2-network-hidden.svg")


def test_what_is_foretold_is_what_is_done(spec, tmp_path):
    found = plan(spec, tmp_path / "out", seeds=3)
    found.tasks.mkdir(parents=True)
    found.network(0, 1).write_bytes(b"")
    left = Missing.of(found, Shard(index=1, parts=2))
    assert left.theories == (0, 1)
    assert left.networks == ((0, 0), (0, 2), (1, 0), (1, 1), (1, 2))
    assert (left.count, left.there) == (7, 1)
