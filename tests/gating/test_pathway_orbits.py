"""Orbits of pathways, and whether hidden units can keep a pathway's gate: both decided exactly."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.calls.derive import derive
from symreln.claims.early import _why_unsupported
from symreln.networks.gate_orbits import pathway_orbits
from symreln.task_library.load import load
from tests.own_specs import own, path


def derived(inputs, targets, *pathways):
    network = {"hidden": 50, "init_std": "1/1000", "loss": "mean", "steps": 50}
    named = (path(f"p{k}", **pathway) for k, pathway in enumerate(pathways, start=1))
    return derive(load(own(inputs, targets, *named, network=network)))


def orbits(derivation) -> list[int]:
    pathways = [p.effective.pathway for p in derivation.pathways]
    return pathway_orbits(derivation.at_values.spec.dataset, pathways)


def reasons(derivation) -> list[str]:
    dataset = derivation.spec.dataset
    return [_why_unsupported(dataset, pathway) for pathway in derivation.pathways]


@pytest.mark.parametrize("name", ["xor", "contextual-3", "contextual-5", "contextual-different"])
def test_pathways_that_a_symmetry_of_the_derivation_maps_onto_each_other_are_one_orbit(name):
    derivation = sr.derive(name).at_values
    place = {id(p.effective): n for n, p in enumerate(derivation.pathways)}
    images = [(p.effective, p.effective.image) for p in derivation.pathways]
    known = [place[id(own if image is None else image.original)] for own, image in images]
    pathways = [p.effective.pathway for p in derivation.pathways]
    alone = pathway_orbits(derivation.spec.dataset, pathways)
    assert pathway_orbits(derivation.spec.dataset, pathways, known) == alone
    assert (known == [*range(len(known))]) == (name == "contextual-different")


def test_the_reason_names_the_samples():
    x, y = [["1", "3/5"], ["0", "4/5"]], [["1", "1"]]
    (found,) = reasons(derived(x, y, {"gate": [1, 0]}))
    assert "opens sample 2 too" in found
    # Two samples too many, not one that it opens and the other direction closes.
    (found,) = reasons(derived([["1", "1", "2"]], [["1", "1", "1"]], {"gate": [1, 0, 0]}))
    assert "opens samples 2, 3 too" in found
    (found,) = reasons(derived([["1", "-1"]], [["3", "1"]], {"gate": "all"}))
    assert "closes sample 2" in found


@pytest.mark.parametrize(
    ("x", "beside", "kept"),
    [
        ([["1", "0", "0"], ["0", "1", "-1"]], 1, False),
        # Both push back units that open them: these are held between them.
        ([["1", "0", "0"], ["0", "1", "-1"]], -1, True),
        # Units that have the sample closed come to its boundary from their side and stay closed.
        ([["1", "0"], ["0", "1"]], 1, True),
    ],
)
def test_closed_samples_on_the_boundary_of_the_direction(x, beside, kept):
    # The leading direction of the first sample's gate is (1, 0): the others are on its edge.
    count = len(x[0])
    targets = [["3", *[str(beside)] * (count - 1)]]
    derivation = derived(x, targets, {"gate": [1] + [0] * (count - 1)})
    reason = derivation.unsupported.get("p1", "")
    assert ("has samples 2, 3 on its boundary, which units leave" in reason) is not kept
    assert ("p1" not in derivation.early.unsupported) is kept


def test_samples_moved_in_their_order_give_what_the_search_gives(monkeypatch):
    """Swaps of contexts need no search; orbits are the same when all is left to it."""
    specs = [sr.load(name) for name in ("contextual-3", "contextual-different", "xor")]
    data = [spec.at_values() for spec in specs]
    quick = [pathway_orbits(each.dataset, each.pathways) for each in data]
    assert quick[0] == [0, 1, 1, 1]
    count = iter(range(100))
    monkeypatch.setattr(
        "symreln.networks.gate_orbits._in_order", lambda *_: [[next(count).to_bytes(2, "big")]]
    )
    assert [pathway_orbits(each.dataset, each.pathways) for each in data] == quick
