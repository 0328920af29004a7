"""Closed forms of regular parts: depth, sharing and counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.claims.network.components import components
from symreln.claims.network.in_numbers import Curves
from symreln.laws import shared_chain as parts
from symreln.laws.law import TIME_CONSTANT
from symreln.laws.network_flow import NetworkFlow
from symreln.laws.ops import NUMPY
from symreln.laws.shared_chain import SharedChain, place_proofs
from symreln.networks.bundles import NetworkData
from symreln.verdict.judge import Level
from tests.networks.examples import aligned, chain_spec, pathway_modes, shared_spec
from tests.networks.test_components import NETWORK

# -- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_a_chain_is_closed_by_the_family_of_its_depth(depth: int) -> None:
    derivation = sr.derive(replace(chain_spec(depth), network=NETWORK))
    (component,) = derivation.components
    assert component.counts == (1,) * depth
    assert derivation.level is Level.CLOSED
    assert component.form is not None
    assert component.form.mode.residual() == 0
    assert component.form.gain == 1
    names = {1: "shallow", 2: "two-layer balanced"}
    assert component.form.family == names.get(depth, "depth L balanced")
    assert isinstance(derivation.curves, Curves)
    s, d, start = 1.5, 0.5, 0.5**depth
    solved = replace(component.form.mode, ops=NUMPY, s=s, d=d, strength0=start, tau=10.0)
    values = solved.strengths(derivation.curves.times)
    seen = derivation.curves.strengths[0].values[0]
    assert seen == pytest.approx(np.ravel(values), rel=1e-7, abs=1e-9)


def test_sharing_divides_time_by_the_gain() -> None:
    derivation = sr.derive(replace(shared_spec(), network=NETWORK))
    (component,) = derivation.components
    assert component.counts == (2, 4, 4, 2)
    assert derivation.level is Level.CLOSED_BY_SYMMETRY
    form = component.form
    assert form is not None
    assert form.total == 64
    assert form.gain == 2 * sp.sqrt(2)
    assert all(line.holds for line in form.lines())


def test_a_balanced_start_follows_the_closed_form_of_shared_edges() -> None:
    """w_l = √n_l x on every edge: the depth-L family with tau over the gain, against the flow."""
    spec = shared_spec()
    assert spec.graph is not None
    data = NetworkData(graph=spec.graph, dataset=spec.dataset)
    (component,) = components(data, spec)
    form = component.form
    assert form is not None
    counts, modes = component.counts, pathway_modes(data)
    strengths = dict(zip(data.paths[0].edges, counts, strict=True))
    weights = []
    for place, matrix in enumerate(aligned(data, 0.35)):
        position = next(p.edges.index(place) for p in data.paths if place in p.edges)
        weights.append(matrix * np.sqrt(counts[position]))
    assert len(strengths) == 4
    times = np.array([0.0, 0.5, 1.0, 2.0, 6.0])
    states = NetworkFlow.of(data).trajectory(weights, list(times))
    for k, (s, d) in enumerate(zip(modes.s, modes.d, strict=True)):
        start = 0.35**4 * 8
        tau = float(form.mode.tau.subs(TIME_CONSTANT, 1))
        solved = replace(form.mode, ops=NUMPY, s=float(s), d=float(d), strength0=start, tau=tau)
        values = np.ravel(solved.strengths(times))
        path = data.paths[0].edges
        for state, expected in zip(states, values, strict=True):
            whole = np.linalg.multi_dot([state[e] for e in reversed(path)])
            found = modes.u[:, k] @ whole @ modes.v[:, k]
            assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("counts", [(1,), (1, 3), (2, 2, 5), (3, 1, 1, 2), (1, 2, 3, 4, 5)])
def test_forms_are_proven_for_any_counts(counts: tuple[int, ...]) -> None:
    symbols = sp.symbols(" ".join(f"n_{k}" for k in range(len(counts))), positive=True, seq=True)
    for chosen in (tuple(map(sp.Integer, counts)), symbols):
        if len(chosen) == 1 and chosen[0] != 1:
            continue  # a single edge is one pathway
        form = SharedChain(counts=chosen)
        assert all(line.holds for line in form.lines()), chosen
        assert sp.simplify(form.gain ** len(counts) - sp.Mul(*chosen)) == 0
        assert len(counts) == 1 or form.along(sum(w**2 for w in form.strengths)) != 0


def test_the_reduction_by_place_needs_orthonormal_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(place_proofs(4))

    class Bare(dict):  # type: ignore[type-arg]
        def __contains__(self, pair: object) -> bool:
            return False

    monkeypatch.setattr(parts, "Rules", dict)
    under = parts.Words.under
    monkeypatch.setattr(parts.Words, "under", lambda self, _: under(self, Bare()))
    assert not all(place_proofs(4))


def test_the_first_page_has_what_solves_a_part_and_the_modes_it_is_for():
    page = sr.derive("routing").to_latex().split(r"\section{The network}")[0]
    assert r"t &= \frac{\tau \sqrt[3]{2 d}}{4 s^{4/3}}" in page
    assert r"$\frac{\sqrt{7}}{32}$ & $\frac{1}{32}$" in page
