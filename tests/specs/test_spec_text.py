"""A spec that is written and read again is the same: data, labels, gates and network, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.errors import NotSupportedError
from symreln.specs.reader import read_spec
from symreln.specs.spec_text import spec_toml
from symreln.specs.tomlfile import parse_toml
from symreln.task_library.registry import SPECS
from tests.strategies import examples

SPEC = {
    "title": 'Ω "quoted" \\ title',
    "dataset": {
        "X": [["2/3", "0", "g/(g + 1)"], ["-1.25e-30", "g**2 - h", "1"], [3, 0.1, "(h + 1)/3"]],
        "Y": [["1", "0", "h"]],
        "labels": {"kind": ["a", 'b "c" \\', "ü"], "place": [1, -2, 3]},
        "groups": {"inputs": {"few": [2, 0]}, "outputs": {"one": [0]}},
    },
    "parameters": {
        "g": {"positive": True, "value": "1/3"},
        "h": {"minimum": "-1/2", "maximum": 7},
    },
    "validation": {"tolerance": "7.5%", "reason": "a reason"},
}
GAINS = {"name": "gains", "gate": ["g", "1/2", 0], "inputs": "few"}
BOUNDARY = {"name": "boundary", "gate": [1, "/", 1], "outputs": [0], "hidden": 7}
LATER = {"name": "later", "gate": ["h", 1, 1], "stage": 2}
SWITCHING = {
    "name": "switching",
    "gate": "place > 0",
    "then": [{"step": 5, "gate": 'kind == "ü"'}, {"step": 6, "gate": [1, 1, 0]}],
}
NETWORK = {"hidden": 9, "init_std": "1/3000", "learning_rate": 1e-7, "steps": 11, "loss": "mean"}
DECAY = {"init_std": ["1/3000", 0.2], "weight_decay": "1/999", "activation": "linear"}
WAYS = {
    "gains and a stage": {"pathway": [GAINS, LATER], "network": NETWORK},
    "jointly trained": {"pathway": [GAINS, LATER], "network": {**NETWORK, "training": "joint"}},
    "boundary": {"pathway": [GAINS, BOUNDARY]},
    "switches": {"pathway": [SWITCHING, {**GAINS, "gate": "all"}], "network": NETWORK},
    "two scales and decay": {"pathway": [GAINS], "network": {**NETWORK, **DECAY}},
    "one layer": {"pathway": [GAINS], "network": {**NETWORK, "layers": 1, "activation": "linear"}},
}
WRITTEN = [name for name in SPECS if name not in ("contextual-C", "routing", "depth")]


def again(spec: sr.Spec) -> sr.Spec:
    return read_spec(parse_toml(spec_toml(spec).encode(), "spec.toml")[0], tasks=())


def said(spec: sr.Spec) -> sr.Spec:
    """What a spec says, however it is written."""
    paths = tuple(
        replace(
            path,
            gate_text="",
            inputs_text="",
            outputs_text="",
            then=tuple(replace(switch, gate_text="") for switch in path.then),
        )
        for path in spec.pathways
    )
    data = replace(spec.dataset, description="", task="", options={})
    return replace(spec, source="", families=(), written={}, pathways=paths, dataset=data)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_ready_made_spec_is_the_same_when_read_again(name):
    spec = sr.load(name)
    assert said(again(spec)) == said(spec)


@pytest.mark.parametrize("way", WAYS)
def test_whatever_a_spec_can_say_is_kept(way):
    spec = sr.load({**SPEC, **WAYS[way]})
    assert said(again(spec)) == said(spec)
    assert spec_toml(again(spec)) == spec_toml(spec)
    values = spec.at_values()
    assert said(again(values)) == said(values)


@examples(60)
@given(
    st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), min_size=1, max_size=5
    )
)
def test_floats_are_kept_to_the_last_bit(rows):
    data = np.array(rows)
    spec = sr.spec(data[:, :2], data[:, 2], pathways=[sr.pathway("all")])
    made = again(spec).dataset
    assert (made.inputs, made.targets) == (spec.dataset.inputs, spec.dataset.targets)
    assert np.array_equal(made.inputs.to_numpy().T, data[:, :2])


@pytest.mark.parametrize(("name", "what"), [("contextual-C", "symbols"), ("routing", "edges")])
def test_what_cannot_be_written_is_said(name, what):
    with pytest.raises(NotSupportedError, match=what):
        spec_toml(sr.load(name))
