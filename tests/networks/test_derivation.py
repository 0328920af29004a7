"""From TOML to the printed derivation of a graph, and what is refused on the way."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import symreln as sr
from symreln.claims.network.parts import parts_of
from symreln.cli.main import _guarded
from symreln.errors import SpecError
from symreln.exact.truth import Truth
from symreln.report import html, latex
from symreln.report.drawing import plain
from tests.campaigns.random_specs import toml_of
from tests.golden.specs import OWN

TABLES = {
    "title": "Two paths",
    "dataset": {
        "X": [["1", "1", "0"], ["0", "g", "1"]],
        "Y": [["1", "0", "1"]],
        "labels": {"context": [1, 1, 2], "side": ["left", "right", "right"]},
        "groups": {"inputs": {"both": [0, 1]}},
    },
    "parameters": {"g": {"positive": True, "value": "1/2"}},
    "node": [
        {"name": "x", "inputs": "both"},
        {"name": "h", "size": 3, "gate": "context == 1"},
        {"name": "k_{side}", "each": "side", "size": 2, "gate": "side == {side}"},
        {"name": "y", "outputs": "all"},
    ],
    "edge": [
        {"from": "x", "to": "h"},
        {"from": "h", "to": "y", "gate": ["1", "g", 1]},
        {"from": "x", "to": "k_{side}", "each": "side"},
        {"from": "k_{side}", "to": "y", "each": "side", "name": "up {side}"},
    ],
}


def changed(**tables: object) -> dict[str, object]:
    return {**TABLES, **tables}


def test_nodes_and_edges_become_a_graph_with_its_pathways():
    spec = sr.load(TABLES)
    assert spec.graph is not None
    assert [n.name for n in spec.graph.nodes] == ["x", "h", "k_left", "k_right", "y"]
    assert [e.name for e in spec.graph.edges][2:] == [
        "x → k_left",
        "x → k_right",
        "up left",
        "up right",
    ]
    assert {p.name: p.open_samples for p in spec.pathways} == {
        "x → h → y": (0, 1),
        "x → k_left → y": (0,),
        "x → k_right → y": (1, 2),
    }
    at = spec.at_values()
    assert at.graph is not None
    assert at.parameters == ()
    assert str(spec.pathways[0].gate[1]) == "g_"
    assert str(at.pathways[0].gate[1]) == "1/2"


def test_gains_on_nodes_and_edges_take_their_values():
    node = {"name": "h", "size": 3, "gate": [1, "2*g", "g"]}
    at = sr.load(changed(node=[TABLES["node"][0], node, *TABLES["node"][2:]])).at_values().graph
    assert at is not None
    assert at.node("h").gate == (1, 1, Fraction(1, 2))
    assert at.edges[1].gate == (1, Fraction(1, 2), 1)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (changed(node=[]), "node: found an empty list"),
        (changed(edge=[{"from": "x"}]), "edge[0].to: found nothing"),
        (changed(pathway=[{"name": "p"}]), "pathways beside a graph"),
        (changed(edge=[{"from": "x", "to": "yy"}]), 'edge[0].to: found the unknown node "yy"'),
        (changed(edge=[{"from": "x", "to": "y", "gat": "all"}]), "a key of [[edge]]"),
        (changed(node=[{"name": "x", "inputs": "bth"}, *TABLES["node"][1:]]), "bth"),
        (changed(node=[*TABLES["node"], {"name": "z", "gate": "contxt == 1"}]), "contxt"),
        (changed(node=[*TABLES["node"], {"name": "z", "each": "sides"}]), "unknown label"),
        (changed(node=[*TABLES["node"], {"name": "z"}]), "node[4].size: found nothing"),
        (changed(node=[*TABLES["node"], {"name": "h", "size": 1}]), "node[4].name"),
        (
            changed(edge=[*TABLES["edge"], {"from": "y", "to": "h"}]),
            "edge[4].from: found the output node",
        ),
    ],
)
def test_what_is_wrong_with_a_graph_is_said_with_its_table(tables: dict, message: str):
    with pytest.raises(SpecError) as caught:
        sr.load(tables)
    assert message in str(caught.value)


def test_a_graph_whose_gates_never_open_together_is_refused():
    closed = [
        {"name": "x", "inputs": "both", "gate": "context == 1"},
        {"name": "y", "outputs": "all", "gate": "context == 2"},
    ]
    with pytest.raises(SpecError, match="gates are open together"):
        sr.load(
            changed(
                node=closed,
                edge=[{"from": "x", "to": "y"}],
                parameters={},
                dataset={**TABLES["dataset"], "X": [["1", "1", "0"], ["0", "1", "1"]]},
            )
        )


def test_one_call_derives_either_kind_with_the_same_doors(tmp_path: Path):
    both = sr.derive(sr.load(TABLES)), sr.derive(sr.load("xor"))
    assert isinstance(both[0], sr.NetworkDerivation)
    assert isinstance(both[1], sr.Derivation)
    for number, found in enumerate(both):
        assert found.to_json()["verdict"]["level"] == found.level.value
        assert found.to_json()["steps"][0]["name"] == found.steps[0].name
        assert found.spec.title in found.to_latex()
        names = {path.name for path in found.save(tmp_path / str(number), ["json"])}
        assert names == {"derivation.json", *(["certificate.json"] if number else [])}


def test_any_graph_is_derived_and_printed():
    derivation = sr.derive(sr.load(TABLES))
    assert derivation.routing is None
    assert parts_of(derivation).decision.outcome is not Truth.PROVEN
    found = json.loads(json.dumps(derivation.to_json()))
    assert found["format"] == "symreln-graph/2"
    assert found["routing"] is None
    document = derivation.to_document()
    assert "Parts that learn apart" in latex.render(document)
    assert "<math" in html.render(document)


@pytest.fixture(scope="module")
def routing():
    return sr.derive(sr.load("routing"))


def test_the_routing_network_is_derived_with_its_numbers(routing):
    assert all(step.outcome is Truth.PROVEN for step in routing.steps)
    assert routing.curves.difference < 1e-10
    found = routing.to_json()["routing"]
    assert found["speed"]["expr"] == "K*M**(1/3)"
    assert float(found["speed"]["decimal"]) == pytest.approx(2 * 4 ** (1 / 3))
    # Four items in a binary tree: s² P² = 7, 3, 1, 1 and P = 4·2·4.
    assert [(m["s"]["expr"], m["multiplicity"]) for m in found["modes"]] == [
        ("sqrt(7)/32", 1),
        ("sqrt(3)/32", 1),
        ("1/32", 2),
    ]
    assert {m["d"]["expr"] for m in found["modes"]} == {"1/32"}


def test_a_graphs_document_defines_what_it_uses_and_has_no_spellings_of_programs(routing):
    page = latex.render(routing.to_document())
    for defined in (
        r"\Sigma^{yx}(b) = ",
        r"O_{bb'}$ is 1 where",
        r"$S_b = R_{\mathrm{out}(b)}",
        "= \\frac{5}{8}$ steps",
    ):
        assert defined in page, defined
    assert r"\cite{Jarvis2025}" in page
    assert "with strength $0.02$ in every mode" in page
    for spelling in ("K*M", "w_0 ", "1/tau", "|read", "[U+", r"\dot{w_", "Proof:"):
        body = page.split(r"\begin{document}")[1].split(r"\section{Checks}")[0]
        assert spelling not in body, spelling


def test_the_legend_of_a_graph_is_not_cut(routing):
    assert [plain(item.label) for item in routing.curves.strengths] == ["all pathways"]


def test_witnesses_of_graphs_are_mathematics():
    page = latex.render(sr.derive(sr.load("depth")).to_document())
    assert r"$\Sigma^{yx}(2)^{\top}$ $\Sigma^{yx}(1)$ is not symmetric" in page
    assert "[U+" not in page.split(r"\begin{document}")[1]


def test_the_command_writes_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    small = ["--set", "parameters.M.value=3", "--set", "dataset.items=2", "--quiet"]
    assert _guarded(["derive", "routing", "--out", str(tmp_path), *small]) == 0
    out = capsys.readouterr().out
    assert "tau db/dt = K*M*a*h*(s - a*b*d*h)" in out
    assert "speed against unshared pathways: K*M**(1/3)" in out
    names = {path.name for path in tmp_path.iterdir()}
    documents = {"derivation.json", "derivation.tex", "derivation.html"}
    assert names == {*documents, "certificate.json", "figures"}
    page = (tmp_path / "derivation.html").read_text()
    assert "For every number" in page


def test_a_graph_of_ones_own_is_verified_numerically_and_has_no_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    spec, folder = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(toml_of(OWN["chain"]))
    wanted = ["--out", str(folder), "--format", "json", "--quiet"]
    assert _guarded(["derive", str(spec), *wanted]) == 0
    out = capsys.readouterr().out
    assert "verified numerically: losses of the full flow and of the reduction differ by" in out
    assert "no certificate: no routing network, as there is one pathway" in out
    (written,) = folder.iterdir()
    assert json.loads(written.read_text())["curves"]["difference"] < 1e-10


def test_too_few_hidden_units_are_said_where_numbers_are_missing():
    spec = sr.load("routing", ["network.hidden=3"])
    derivation = sr.derive(spec)
    assert derivation.curves == (
        "node 'first' has 3 units for 4 modes, and which of them it learns is not derived; "
        "give it at least 4 (size, or network.hidden)"
    )
    assert "3 units for 4 modes" in html.render(derivation.to_document())
