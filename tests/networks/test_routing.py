"""The routing network: proofs for all M and K, counts, closed forms, and what is none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

import symreln as sr
from symreln.cli.main import _guarded
from symreln.exact.truth import Truth
from symreln.laws import routing_network as routing
from symreln.laws.routing_network import DOMAINS, PARTNERS, RoutingNetwork
from tests.cases import derived

M, K = DOMAINS, PARTNERS
NETWORK = RoutingNetwork()


def of_sizes(m: int, k: int, *more: str) -> sr.Spec:
    tables = [f"parameters.M.value={m}", f"parameters.K.value={k}", "dataset.items=2"]
    return sr.load("routing", [*tables, *more])


def test_it_is_derived_and_proven_for_symbols():
    whole = derived("routing")
    assert whole.level is sr.Level.CLOSED_BY_SYMMETRY
    assert all(step.outcome is Truth.PROVEN for step in whole.steps)
    assert all(line.holds for line in NETWORK.lines())
    found = whole.to_json()
    assert found["format"] == "symreln-derivation/2"
    assert found["routing"]["speed"]["expr"] == "K*M**(1/3)"
    assert float(found["routing"]["speed"]["decimal"]) == pytest.approx(2 * 4 ** (1 / 3))
    # Four items in a binary tree: s² P² = 7, 3, 1, 1 and P = 4·2·4.
    modes = found["pathways"][0]["modes"]
    assert [(m["s"]["expr"], m["d"]["expr"], m["multiplicity"]) for m in modes] == [
        ("sqrt(7)/32", "1/32", 1),
        ("sqrt(3)/32", "1/32", 1),
        ("1/32", "1/32", 2),
    ]
    assert {m["family"] for m in modes} == {"depth L balanced"}
    assert {edge["name"]: edge["pathways"] for edge in found["graph"]["edges"]}["route"] == 8


def test_conserved_differences_and_speed_as_printed():
    a, b, c = routing.STRENGTHS
    assert NETWORK.chain.conserved == (b**2 - M * a**2, c**2 - a**2)
    assert sp.simplify(NETWORK.chain.gain - K * sp.cbrt(M)) == 0
    for counts, speed in (
        ((1, 1, 1), 1),
        ((1, K * M, 1), sp.cbrt(K * M)),
        ((K, 1, K), sp.cbrt(K) ** 2),
    ):
        shared = replace(NETWORK.chain, counts=tuple(map(sp.sympify, counts)))
        assert sp.simplify(shared.gain - speed) == 0


@pytest.mark.parametrize("m", range(1, 7))
def test_counts_agree_with_counting(m: int):
    for k in range(1, m + 1):
        edges = of_sizes(m, k).edges
        assert edges.routing == ((m, k) if m * k > 1 else None)
        if not isinstance(edges.sharing, str):
            expected = tuple(int(n.subs({M: m, K: k})) for n in NETWORK.chain.counts)
            assert edges.sharing.uses == expected


def test_what_is_no_routing_network_is_not_taken_for_one():
    spec = of_sizes(4, 2)
    targets = spec.dataset.targets.masked(rows=range(1, spec.dataset.n_y))
    other = replace(spec, dataset=replace(spec.dataset, targets=targets))
    assert other.sharing == "Sigma^yx differs between pathways"
    closed = tuple(int(t != 1) for t in spec.dataset.labels["target"])
    assert spec.graph is not None
    nodes = tuple(replace(n, gate=closed) if n.name == "in_1" else n for n in spec.graph.nodes)
    fewer = replace(spec, graph=replace(spec.graph, nodes=nodes))
    assert "different numbers of pathways" in str(fewer.sharing)
    for each in (other, fewer):
        assert each.edges.routing is None
        assert sr.derive(each).to_json().get("routing") is None


def test_the_command_writes_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    small = ["--set", "parameters.M.value=3", "--set", "dataset.items=2", "--quiet"]
    assert _guarded(["derive", "routing", "--out", str(tmp_path), *small]) == 0
    out = capsys.readouterr().out
    assert "tau db/dt = K*M*a*h*(s - a*b*d*h)" in out
    assert "speed against unshared pathways: K*M**(1/3)" in out
    assert "M_" not in out
    assert json.loads((tmp_path / "certificate.json").read_text())["level"] == "closed by symmetry"
    assert "For every number" in (tmp_path / "derivation.html").read_text("utf-8")
    page = (tmp_path / "derivation.tex").read_text("utf-8")
    first = page.split(r"\section{Dataset and pathways}")[0]
    assert r"\tau \dot{\pi} = 3 K \sqrt[3]{M} \pi^{4/3}" in first
