"""Partial gates: samples on the boundary of a pathway tell nothing of the gates of its units."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import symreln as sr
from symreln.experiment.gates_held import gates_held
from tests.own_specs import SMALL

SPEC = {
    "dataset": {"X": [[2, 1], [1, 2]], "Y": [[1, -1]]},
    "pathway": [{"name": "first", "gate": [1, "/"]}, {"name": "second", "gate": ["/", 1]}],
    "network": SMALL | {"hidden": 40, "init_std": "1/1000", "learning_rate": "1/100", "steps": 10},
}


def test_samples_on_the_boundary_of_a_pathway_are_not_compared():
    numbers = sr.derive(sr.load(SPEC)).at_values
    assert [p.effective.pathway.boundary for p in numbers.pathways] == [(1,), (0,)]
    activity = np.array([[[[1, 1], [0, 0]]]])
    snapshots = {
        "activity": activity,
        "boundary": np.zeros_like(activity, dtype=bool),
        "contribution": np.array([[[3.0, 1.0]]]),
    }
    run = SimpleNamespace(snapshots=snapshots, snapshot_steps=(9,), losses=np.zeros((1, 10)))
    # Open on both samples is either pathway's; closed on both is neither's.
    assert gates_held(numbers, run, (("stage 1", 9),)).shares.tolist() == [[0.75]]
