"""The routing network's certificate: no field can be changed unseen; other graphs have none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import symreln as sr
from symreln.errors import CertificateError
from symreln.pipeline.certificate.pathway_part import pathways_part
from symreln.verifier import verify
from tests.certificates import Json, changed, claims, leaves, renewed
from tests.networks.examples import random_data, shared_spec, spec_of
from tests.strategies import share
from tests.verifier.test_mutations import accepted

#: Where a number stands that is not claimed but is of the proof, or is data.
DATA = {"inputs", "targets", "digest", "gate", "name", "minpoly", "operator", "generators"}


@lru_cache(maxsize=1)
def certificate() -> Json:
    """That of three domains with two partners each; callers must not change it."""
    found = sr.derive(sr.load("routing", ["parameters.M.value=3", "dataset.items=2"])).certificate
    assert found is not None
    return found


def test_it_is_accepted_and_says_what_it_proves() -> None:
    first, second = verify(certificate())
    assert first.endswith(": closed")
    assert second == "routing: M = 3, K = 2; closed by symmetry, speeds for all M and K"
    assert certificate()["level"] == "closed by symmetry"


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(lambda: sr.load("depth"), id="depth"),
        pytest.param(shared_spec, id="shared"),
        pytest.param(lambda: spec_of(random_data(2)), id="skip"),
    ],
)
def test_other_graphs_have_none(spec: Callable[[], sr.Spec], tmp_path: Path) -> None:
    """What lay in the folder before is removed: it would prove something else."""
    sr.derive("xor").save(tmp_path, ["json"])
    derivation = sr.derive(spec())
    assert derivation.certificate is None
    derivation.save(tmp_path, ["json", "tex"])
    names = {path.name for path in tmp_path.iterdir()}
    assert names - {"figures"} == {"derivation.json", "derivation.tex"}
    assert json.loads((tmp_path / "derivation.json").read_text())["provenance"] is None
    text = (tmp_path / "derivation.tex").read_text()
    assert "No certificate comes with it" in text
    assert "provenance {" not in text
    with pytest.raises(CertificateError, match="a graph other than the routing network has none"):
        sr.verify(tmp_path)


# -- forgeries ------------------------------------------------------------------------------------


def forged(change: Callable[[Json], object], whole: Json | None = None) -> str:
    """What the verifier says of a certificate after a change, its digests renewed."""
    whole = copy.deepcopy(whole or certificate())
    change(whole)
    with pytest.raises(CertificateError) as caught:
        verify(renewed(whole))
    return str(caught.value)


def put(*path: Any, value: Any) -> Callable[[Json], object]:
    """A change of one field of the part on the routing network."""

    def change(whole: Json) -> None:
        holder = whole["parts"][1]
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value(holder[path[-1]]) if callable(value) else value

    return change


def test_forgeries_by_hand_are_named_by_their_field() -> None:
    pairs = certificate()["parts"][1]["pairs"]
    for wrong in (pairs[::-1], [*pairs[1:], pairs[0]], pairs[:1] * 6, [[0, 0, 0]] * 6, pairs[1:]):
        assert "parts[1].pairs" in forged(put("pairs", value=wrong))
    assert "parts[1].pairs" in forged(put("partners", value=1))
    assert "partners" in forged(put("partners", value=True))
    assert "parts[1].pairs" in forged(put("domains", value=2))

    # Counts that agree with each other and with M, but are not K, KM, K.
    def counted(whole: Json) -> None:
        whole["parts"][1]["uses"] = ["1*K^2", "1*M^1*K^2", "1*K^2"]
        whole["parts"][1]["chain"]["radicand"] = "1*M^1*K^6"
        whole["parts"][1]["equal_weights"]["factor_squared"] = "1*M^1*K^4 + -1*K^4"

    assert "uses" in forged(counted)
    assert "level" in forged(lambda whole: whole["parts"].pop())


def beside(x: list[list[int]], y: list[list[int]], gates: list[list[int]]) -> Json:
    """A certificate of two pathways from all inputs to all outputs that claims to be a network."""
    spec = sr.spec(
        x, y, samples="columns",
        pathways=[sr.pathway(f"p{n}", gate=gate) for n, gate in enumerate(gates)],
    )  # fmt: skip
    found = sr.derive(spec)
    assert found.certificate is not None
    routing = copy.deepcopy(certificate()["parts"][1])
    routing |= {"pairs": [[0, 0], [1, 1]], "domains": 2, "partners": 1}
    parts = [found.ask(pathways_part), routing]
    return {**found.certificate, "parts": parts, "level": "closed by symmetry"}


def test_what_is_no_routing_network_is_not_proven_to_be_one() -> None:
    """The first part is whole and true each time."""
    unit = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    apart = [[1, 1, 0, 0], [0, 0, 1, 1]]
    # Pathways with the same ends on other data; and of two domains each with ends of its own.
    assert "parts[1].pairs" in forged(lambda _: 0, beside(unit, [[1, 2, 3, 4]], apart))
    # Equal pathways that couple.
    both = beside([[1, 0], [0, 1]], [[1, 0], [0, 2]], [[1, 1], [1, 1]])
    assert "one closed stage" in forged(lambda _: 0, both)


# -- mutations ------------------------------------------------------------------------------------


def test_every_single_claim_is_bound() -> None:
    """Numbers and words outside the data are changed, one at a time, with digests renewed."""
    whole = copy.deepcopy(certificate())
    random, said = Random("routing"), claims(whole)
    for path in share(leaves(whole), random):
        holder = whole
        for step in path[:-1]:
            holder = holder[step]
        old = holder[path[-1]]
        if isinstance(old, dict | list) or DATA.intersection(path):
            continue
        holder[path[-1]] = changed(old, random)
        if accepted(renewed(whole)):
            assert claims(whole) == said, f"accepted {path}: {old}"
        holder[path[-1]] = old
