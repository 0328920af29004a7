"""Certificates of graphs: accepted where true, and no single field can be changed unseen."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import symreln as sr
from symreln.cli.main import _guarded
from symreln.errors import CertificateError
from symreln.specs.model import Spec
from symreln.verifier import digest, verify
from tests.certificates import Json, entries, leaves, main, mutation, number, read
from tests.networks.examples import chain_spec, random_data, shared_spec, spec_of
from tests.networks.test_derivation import TABLES
from tests.networks.test_diagonal import diagonal_data
from tests.strategies import seeds


@lru_cache(maxsize=1)
def certificates() -> dict[str, Json]:
    """By name; together they use every field. Callers must not change them."""
    small = ["parameters.M.value=3", "dataset.items=2"]
    specs = {
        "routing": sr.load("routing", small),
        "coupled matrices": sr.load(TABLES),
        "coupled modes": spec_of(diagonal_data(3)),
        "skip": spec_of(random_data(2)),
        "chain": chain_spec(4),
        "shared": shared_spec(),
        "parallel": parallel(),
        "parameter": parametric(),
    }
    return {name: sr.derive(spec).certificate for name, spec in specs.items()}


def parallel() -> Spec:
    """Two hidden layers side by side, one of them gated: pathways that couple."""
    return sr.load(
        {
            "dataset": {
                "X": [["1", "0", "1", "0"], ["0", "1", "0", "1"]],
                "Y": [["1", "1", "2", "2"], ["0", "1", "0", "2"]],
            },
            "node": [
                {"name": "x", "inputs": "all"},
                {"name": "a", "size": 3},
                {"name": "b", "size": 3, "gate": [1, 1, 0, 0]},
                {"name": "y", "outputs": "all"},
            ],
            "edge": [
                {"from": "x", "to": "a"},
                {"from": "x", "to": "b"},
                {"from": "a", "to": "y"},
                {"from": "b", "to": "y"},
            ],
        }
    )


def parametric() -> Spec:
    """Scalars modes of a pathway of two edges beside one of three, scaled by a symbol."""
    return sr.load(
        {
            "dataset": {
                "X": [["1", "1", "c", "0"], ["1", "-1", "0", "c"]],
                "Y": [["1", "1", "1", "0"], ["2", "-2", "0", "2"]],
            },
            "parameters": {"c": {"positive": True, "value": "2"}},
            "node": [
                {"name": "x", "inputs": "all"},
                {"name": "a", "size": 3, "gate": ["c", "c", "0", "0"]},
                {"name": "b", "size": 3},
                {"name": "k", "size": 2},
                {"name": "y", "outputs": "all"},
            ],
            "edge": [
                {"from": "x", "to": "a"},
                {"from": "a", "to": "y"},
                {"from": "x", "to": "b"},
                {"from": "b", "to": "k"},
                {"from": "k", "to": "y"},
            ],
        }
    )


NAMES = (
    "routing", "coupled matrices", "coupled modes", "skip", "chain", "shared", "parallel",
    "parameter",
)  # fmt: skip


def accepted(certificate: Json) -> bool:
    try:
        verify(certificate)
    except CertificateError:
        return False
    return True


def renewed(certificate: Json) -> Json:
    """A certificate with its own digest; it shares what it holds with the one given."""
    return {**certificate, "digest": digest(certificate)}


@pytest.mark.parametrize("name", NAMES)
def test_each_is_accepted_and_says_what_it_proves(name: str) -> None:
    lines = verify(certificates()[name])
    assert lines[0].split()[1] == "pathways"
    levels = {
        "routing": "closed by symmetry",
        "coupled matrices": "coupled matrices",
        "coupled modes": "coupled modes",
        "chain": "closed",
        "shared": "closed by symmetry",
        "parameter": "coupled modes",
    }
    if name in levels:
        assert certificates()[name]["level"] == levels[name]
        assert any(line.endswith(levels[name]) for line in lines)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_those_of_random_graphs_are_accepted(seed: int) -> None:
    """Skip edges, parallel and shared ones, gates with gains, several inputs and outputs."""
    derivation = sr.derive(spec_of(random_data(seed)))
    found = verify(derivation.certificate)
    assert f"{len(derivation.data.paths)} pathways" in found[0]


def test_the_command_verifies_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = copy.deepcopy(certificates()["routing"])
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(found))
    assert _guarded(["verify", str(tmp_path)]) == 0
    assert "components[0]: 6 pathways" in capsys.readouterr().out
    main(found)["components"][0]["level"] = "closed"
    path.write_text(json.dumps(renewed(found)))
    assert _guarded(["verify", str(path)]) == 2
    assert "components[0].level" in capsys.readouterr().err


# -- mutations ------------------------------------------------------------------------------------


#: Values of the letters of closed forms.
LETTERS = {"s": 2.0, "d": 0.5, "g": 1.5, "k": 0.75, "M": 5.0, "K": 3.0}
POINT = 0.3125


def value_of(text: str, letters: dict[str, float]) -> float:
    """The value of a number's text."""
    parts = []
    for polynomial in text.split(" / "):
        total = 0.0
        for term in polynomial.split(" + "):
            coefficient, *factors = term.split("*")
            value = float(coefficient)
            for factor in factors:
                name, power = factor.split("^")
                value *= letters[name] ** int(power)
            total += value
        parts.append(total)
    return parts[0] / (parts[1] if len(parts) > 1 else 1.0)


def slope_of(time: Json) -> float:
    """dt/dy at a point, with the roots of the polynomials as floats."""
    total = 0.0
    for exponent, text in time["powers"]:
        total += exponent * value_of(text, LETTERS) * POINT ** (exponent - 1)
    for item in time["sums"]:
        polynomial, weight = (
            [value_of(text, LETTERS) for text in item[key]][::-1]
            for key in ("polynomial", "weight")
        )
        roots = np.roots(polynomial)
        total += float((np.polyval(weight, roots) / (POINT - roots)).sum().real)
    return round(total, 8)


def chain_claim(chain: Json, letters: dict[str, float]) -> Any:
    conserved = [value_of(text, letters) for text in chain["conserved"]]
    return conserved, value_of(chain["radicand"], letters), slope_of(chain["time"])


def routing_claim(routing: Json) -> Any:
    numbers = [value_of(text, LETTERS) for text in routing["uses"]]
    numbers += [value_of(text, LETTERS) for _, text in sorted(routing["equal_weights"].items())]
    ends = [(form["sign"], slope_of(form["time"])) for form in routing["ends"]]
    sizes = routing["domains"], routing["partners"]
    return numbers, ends, sizes, chain_claim(routing["chain"], LETTERS)


def test_the_forms_claimed_solve_their_equations_in_floats() -> None:
    """A second route to what the verifier finds exact: dt/dy times dy/dt."""
    s, d, g, k = (LETTERS[name] for name in "sdgk")
    routing = main(certificates()["routing"])["routing"]
    rate = POINT**2 * (s - d * POINT**3)
    assert slope_of(routing["chain"]["time"]) * rate == pytest.approx(1, rel=1e-7)
    for form in routing["ends"]:
        outer = POINT**2 - form["sign"] * k * k
        rate = outer * (s - d * g * POINT * outer)
        assert slope_of(form["time"]) * rate == pytest.approx(s, rel=1e-7)
    chain = main(certificates()["chain"])["components"][0]["chain"]
    rate = POINT**3 * (s - d * POINT**4)
    assert slope_of(chain["time"]) * rate == pytest.approx(1, rel=1e-7)
    assert chain_claim(routing["chain"], LETTERS)[:2] == ([5.0, 1.0], 3.0**3 * 5)


def claims(certificate: Json) -> Any:
    """What is claimed, without names, spelling and the proof's choices."""
    graph = main(certificate)
    names = [node["name"] for node in graph["nodes"]]
    place = {name: n for n, name in enumerate(names)}

    def gate(values: Any) -> Any:
        return values and [number(g) if isinstance(g, str) else (Fraction(g),) * 2 for g in values]

    nodes = [(node["inputs"], node["outputs"], gate(node["gate"])) for node in graph["nodes"]]
    edges = [(place[e["from"]], place[e["to"]], gate(e["gate"])) for e in graph["edges"]]
    spaces = [s["basis"]["columns"] for s in graph["spaces"]]
    parts = []
    for c in graph["components"]:
        diagonal = c["diagonal"] and c["diagonal"]["outcome"]
        kinds = c["modes"] and [
            item if isinstance(item, int) else item["commutator"] is None for item in c["modes"]
        ]
        level = c["ordinary"] and c["ordinary"]["level"]
        chain = c["chain"] and chain_claim(c["chain"], LETTERS)
        parts.append((c["pathways"], c["counts"], diagonal, kinds, level, c["level"], chain))
    data = [entries(certificate[key]) for key in ("inputs", "targets")]
    routing = graph["routing"] and routing_claim(graph["routing"])
    balances = [
        (place[b["node"]], b["incoming"], b["outgoing"]) for b in graph["conserved"]["balances"]
    ]
    norms = len(graph["conserved"]["norms"])
    return (
        certificate["free_constants"], certificate["level"], graph["pathways"],
        data, nodes, edges, spaces, balances, norms, parts, routing,
    )  # fmt: skip


def rederived(certificate: Json) -> Json:
    """The certificate of the problem that a certificate states, derived anew."""
    from symreln.networks.model import Network
    from symreln.networks.parts import Edge, Node
    from symreln.specs.model import Dataset, Parameter
    from tests.certificates import _scalar

    graph, names = main(certificate), tuple(certificate["parameters"])

    def gate(values: Any) -> Any:
        return values and tuple(_scalar(g, names) if isinstance(g, str) else g for g in values)

    nodes = tuple(
        Node(
            name=n["name"],
            size=n["size"],
            gate=gate(n["gate"]),
            inputs=tuple(n["inputs"]),
            outputs=tuple(n["outputs"]),
        )
        for n in graph["nodes"]
    )
    edges = tuple(
        Edge(name=e["name"], source=e["from"], target=e["to"], gate=gate(e["gate"]))
        for e in graph["edges"]
    )
    x, y = (read(certificate[key], names) for key in ("inputs", "targets"))
    data = random_data(0)
    whole = type(data)(
        graph=Network(nodes=nodes, edges=edges), dataset=Dataset(inputs=x, targets=y)
    )
    spec = spec_of(whole, parameters=tuple(Parameter(name=name) for name in names))
    return sr.derive(spec).certificate


def campaign(certificate: Json, name: str, count: int) -> int:
    """Make mutations, renew the digests, and return how many were accepted as other words."""
    random = Random(name)
    paths = [path for path in leaves(certificate) if path[-1] != "digest"]
    said, found = claims(certificate), 0
    for _ in range(count):
        with mutation(certificate, random, paths) as what:
            whole = renewed(certificate)
            if accepted(whole):
                found += 1
                claimed = claims(whole)
                true = claimed == said or claimed == claims(rederived(whole))
                assert true, f"{name}: accepted {what}"
    return found


@pytest.mark.parametrize("name", NAMES)
def test_with_a_stale_digest_everything_is_rejected(name: str) -> None:
    certificate = certificates()[name]
    random, paths = Random(name), list(leaves(certificate))
    for _ in range(30):
        with mutation(certificate, random, paths) as what:
            assert not accepted(certificate), f"{name}: accepted {what}"
    assert accepted(certificate)


@pytest.mark.parametrize("name", NAMES)
def test_with_its_own_digest_only_other_words_pass(name: str) -> None:
    """8 · 30 mutations; `python -m tests.campaigns.mutations` makes more."""
    assert campaign(certificates()[name], name, 30) < 12
