"""Forged certificates of graphs are rejected, each by the field that was forged."""

from __future__ import annotations

import copy
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import symreln as sr
from symreln.errors import CertificateError
from symreln.verifier import verify
from tests.certificates import Json, changed, leaves, main
from tests.strategies import share
from tests.verifier.test_graphs import (
    NAMES,
    accepted,
    certificates,
    claims,
    parallel,
    rederived,
    renewed,
)

DATA = {
    "inputs", "targets", "digest", "gate", "name", "minpoly", "operator", "generators", "basis",
    "outside", "matrix",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_single_claim_is_bound(name: str) -> None:
    """Numbers and words outside the data are changed, one at a time, with digests renewed."""
    certificate = certificates()[name]
    random, said = Random(name), claims(certificate)
    for path in share(leaves(certificate), random):
        holder = certificate
        for step in path[:-1]:
            holder = holder[step]
        old = holder[path[-1]]
        if isinstance(old, dict | list) or DATA.intersection(path):
            continue
        holder[path[-1]] = changed(old, random)
        whole = renewed(certificate)
        if accepted(whole):
            claimed = claims(whole)
            true = claimed == said or claimed == claims(rederived(whole))
            assert true, f"{name}: accepted {path}: {old}"
        holder[path[-1]] = old


def forged(name: str, change: object) -> str:
    """What the verifier says of a certificate after a change, its digests renewed."""
    whole = copy.deepcopy(certificates()[name])
    change(whole)  # type: ignore[operator]
    with pytest.raises(CertificateError) as caught:
        verify(renewed(whole))
    return str(caught.value)


def test_forgeries_by_hand_are_named_by_their_field() -> None:
    def put(*path: Any, value: Any) -> object:
        def change(whole: Json) -> None:
            holder = whole if path[0] in whole else main(whole)
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = value(holder[path[-1]]) if callable(value) else value

        return change

    assert "format" in forged("chain", put("format", value="symreln-certificate/2"))
    assert "free_constants" in forged("chain", put("free_constants", value=1))
    assert "free_constants" in forged("chain", put("free_constants", value=False))
    assert "parameters" in forged("chain", put("parameters", value=["c"]))
    assert "nodes" in forged("chain", put("nodes", value=[]))
    assert "edges" in forged("chain", put("edges", value=[]))
    assert "targets" in forged("chain", put("targets", "columns", value=5))
    more = [*main(certificates()["chain"])["components"]] * 2
    assert "components" in forged("chain", put("components", value=more))
    assert "components" in forged("chain", put("components", value=[]))
    # Nodes and paths that are no such.
    assert "nodes[0].inputs" in forged("chain", put("nodes", 0, "inputs", value=[1, 0]))
    assert "nodes[0].inputs" in forged("chain", put("nodes", 0, "inputs", value=[0, 0]))
    assert "nodes[0].size" in forged("chain", put("nodes", 0, "size", value=3))
    gated = next(
        n for n, node in enumerate(main(certificates()["parallel"])["nodes"]) if node["gate"]
    )
    for gate in ([1, 1, 0], [1, 1, 0, "0"], [1, 1, 0, 2], [1, "1", 0, 0]):
        assert "gate" in forged("parallel", put("nodes", gated, "gate", value=gate))
    again = [*main(certificates()["chain"])["pathways"]] * 2
    assert "pathways" in forged("chain", put("pathways", value=again))
    closed = put("nodes", 0, "gate", value=[0, 0, 0, 0])
    assert "pathways" in forged("chain", closed)
    # Spaces: of another node, with dependent vectors, with a vector outside, too large.
    assert "spaces[0].node" in forged("chain", put("spaces", 0, "node", value="y"))
    ones = {"rows": 2, "columns": 2, "denominator": "1", "entries": [[0, 0, "1"], [0, 1, "1"]]}
    assert "spaces[0]" in forged("chain", put("spaces", 0, "basis", value=ones))
    name, place = next(
        (name, n)
        for name, whole in certificates().items()
        for n, space in enumerate(main(whole)["spaces"])
        if space["basis"]["columns"] and space["outside"]["rows"] == 1
    )
    space = main(certificates()[name])["spaces"][place]
    size = space["basis"]["rows"]
    unit = {"rows": size, "columns": size, "denominator": "1"}
    unit["entries"] = [[n, n, "1"] for n in range(size)]
    wrong = {**space["basis"], "entries": [[n, n, "1"] for n in range(size - 1)]}
    assert f"spaces[{place}]" in forged(name, put("spaces", place, "basis", value=wrong))
    none = {"rows": 0, "columns": size, "denominator": "1", "entries": []}
    larger = {"node": space["node"], "basis": unit, "outside": none}
    assert "smallest" in forged(name, put("spaces", place, value=larger))
    # Claims that are too strong, too weak, or of another graph.
    for name, level in (("coupled modes", "closed"), ("chain", "closed by symmetry")):
        assert ".level" in forged(name, put("components", 0, "level", value=level))
    undecided = {"outcome": "undecided"}
    assert ".level" in forged("coupled modes", put("components", 0, "diagonal", value=undecided))
    assert "routing" in forged("routing", put("routing", value=None))
    routing = main(certificates()["routing"])["routing"]
    assert "routing" in forged("shared", put("routing", value=routing))
    ordinary = main(certificates()["parallel"])["components"][0]["ordinary"]
    assert "ordinary" in forged("coupled modes", put("components", 0, "ordinary", value=ordinary))

    # Counts that agree with each other and with M, but are not K, KM, K.
    def counted(whole: Json) -> None:
        main(whole)["routing"]["uses"] = ["1*K^2", "1*M^1*K^2", "1*K^2"]
        main(whole)["routing"]["chain"]["radicand"] = "1*M^1*K^6"
        main(whole)["routing"]["equal_weights"]["factor_squared"] = "1*M^1*K^4 + -1*K^4"

    assert "routing.uses" in forged("routing", counted)
    # Modes of another bundle, said to be the same or shown in its place.
    modes = main(certificates()["coupled modes"])["components"][0]["modes"]
    assert "modes[1]" in forged("coupled modes", put("components", 0, "modes", 1, value=0))
    assert "modes[1]" in forged("coupled modes", put("components", 0, "modes", 1, value=modes[0]))
    bare = ("components", 0, "modes", 0, "classes", 0, "inverse_d_eff")
    assert "classes" in forged("chain", put(*bare, value=["1"]))
    # Times: other spellings of nothing.
    time = ("components", 0, "chain", "time", "powers")
    assert "powers" in forged("chain", put(*time, value=lambda old: [*old, [0, "1"]]))
    assert "routing.ends[2].time" in forged(
        "routing", put("routing", "ends", 2, "time", "powers", value={})
    )
    assert "sign" in forged("routing", put("routing", "ends", 2, "sign", value=True))
    # A cycle, which has no paths to the end; a node that lies on none.
    back = {"name": "back", "from": "h2", "to": "h1", "gate": None}
    assert "cycle" in forged("chain", put("edges", value=lambda edges: [*edges, back]))


def test_an_ordinary_certificate_of_other_data_is_rejected() -> None:
    """The certificate inside is whole and true, but not of these pathways."""
    derived = sr.derive(parallel()).components[0].ordinary
    assert derived is not None
    spec = derived.spec
    dataset = type(spec.dataset)(inputs=spec.dataset.inputs, targets=spec.dataset.targets.scale(2))
    fewer = sr.derive(replace(spec, pathways=spec.pathways[:1])).certificate
    turned = sr.derive(replace(spec, pathways=spec.pathways[::-1])).certificate
    other = sr.derive(replace(spec, dataset=dataset)).certificate
    for wrong in map(main, (other, fewer, turned)):

        def change(whole: Json, wrong: Json = wrong) -> None:
            main(whole)["components"][0]["ordinary"] = wrong
            main(whole)["components"][0]["level"] = main(whole)["level"] = wrong["level"]
            whole["level"] = wrong["level"]

        assert "ordinary" in forged("parallel", change)
