"""Which values a sweep goes through, and what is refused before anything is trained."""

from __future__ import annotations

import re

import pytest

import symreln as sr
from symreln.errors import InputError
from symreln.sweeps.plan import combinations, read_axes
from symreln.sweeps.run import Shard
from tests.sweeps.examples import SPEC, arguments, command, files, plan, spec

__all__ = ["spec"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("network.hidden=3,5", ("3", "5")),
        ("network.hidden=[3, 5,]", ("3", "5")),
        ("network.hidden = 7", ("7",)),
        ('k="a,b",c', ('"a,b"', "c")),
        ("k=[1, 2],[3]", ("[1, 2]", "[3]")),
        ("k=[[1, 2], [3]]", ("[1, 2]", "[3]")),
        ("pathway[0].gate=item in (1, 2),all", ("item in (1, 2)", "all")),
        ("k='x=1', 'y=2'", ("'x=1'", "'y=2'")),
    ],
)
def test_values_are_divided_at_commas_of_their_own(text, values):
    (axis,) = read_axes([text])
    assert axis.values == values
    assert axis.key == text.partition("=")[0].strip()


def test_combinations_are_all_and_each_once():
    axes = read_axes(["a=1,2,3", "b=x,y"])
    found = combinations(axes)
    assert len(found) == len(set(found)) == 6
    assert found[:2] == [("a=1", "b=x"), ("a=1", "b=y")]


@pytest.mark.parametrize(
    ("texts", "fragment"),
    [
        ([], "no --over"),
        (["network.hidden"], "KEY=VALUE"),
        (["network.hidden="], "no value"),
        (["network.hidden=[]"], "no value"),
        (["network.hidden=3,,5"], "no value"),
        (["network.hidden=3,5,3"], "3 stands there twice"),
        (["network hidden=3"], "network hidden"),
        (["=3"], "--over"),
        (["a=1", "a=2"], "another --over"),
        (["a=[1"], "--over"),
    ],
)
def test_what_is_no_list_of_values_is_refused(texts, fragment):
    with pytest.raises(InputError, match=re.escape(fragment)):
        read_axes(texts)


def test_a_swept_key_is_not_set_too():
    with pytest.raises(InputError, match="--set gives this key too"):
        read_axes(["network.hidden=1,2"], ["network.hidden=3"])


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "/2", "-1/3", "1/0", "a/b", "1/2/3", ""])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(InputError, match="expected i/N"):
        Shard.read(text)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 20, 50])
def test_shards_add_up_without_meeting(spec, tmp_path, parts):
    whole = plan(spec, tmp_path / "out")
    found = [
        (row, seed)
        for index in range(1, parts + 1)
        for row, seed in Shard(index=index, parts=parts).networks(whole)
    ]
    assert found == [(row, seed) for row in range(4) for seed in range(5)]


@pytest.mark.parametrize(
    ("more", "fragment"),
    [
        (("--over", "network.hiden=1,2"), "hiden"),
        (("--over", "network.steps=60,0"), "network.steps=0"),
        (("--over", "network.learning_rate=1/20,1000"), "network.learning_rate=1000"),
        (("--over", "parameters.c.value=2"), "another --over"),
        (("--set", "network.hidden=3"), "--set"),
        (("--shard", "0/3"), "i/N"),
        (("--workers", "2", "--dask", "tcp://localhost:1"), "exclude"),
        (("--dask", "nowhere at all"), "--dask"),
    ],
)
def test_bad_input_ends_in_2_before_any_training(spec, tmp_path, capsys, more, fragment):
    out = tmp_path / "out"
    code, _, err = command(capsys, *arguments(spec, out, *more))
    assert code == 2
    assert fragment in err
    assert "Traceback" not in err
    assert not list(out.rglob("*.npz"))


def test_a_graph_and_a_spec_without_a_network_are_refused(tmp_path, capsys):
    code, _, err = command(
        capsys, "sweep", "routing", "--over", "network.steps=5,6", "--out", str(tmp_path / "out")
    )
    assert (code, "nodes and edges" in err) == (2, True)
    bare = tmp_path / "bare.toml"
    bare.write_text(SPEC.partition("[network]")[0])
    code, _, err = command(
        capsys, "sweep", str(bare), "--over", "title=a,b", "--out", str(tmp_path / "out")
    )
    assert (code, "at title=a: " in err, "network" in err) == (2, True, True)


def test_names_depend_on_all_that_results_depend_on(spec, tmp_path):
    def names(**more):
        return {path.name for path in files(plan(spec, tmp_path / "out", **more))}

    one = names()
    assert len(one) == 4 * 6
    assert one < names(seeds=6)
    assert {name.partition("-")[0] for name in one & names(rng=1)} == {"theory"}
    assert not one & names(overrides=("network.steps=81",))
    text = spec.read_text()
    spec.write_text(f"# a comment\n{text}")
    assert names() == one
    spec.write_text(text.replace('"2", "0"', '"3", "0"'))
    assert not one & names()
    (tmp_path / "x.csv").write_text("2,0\n0,1\n1,1\n")
    (tmp_path / "y.csv").write_text("1,0\n0,2\n1,1\n")
    matrices = SPEC[SPEC.index("X = ") : SPEC.index("[dataset.labels]")]
    parameter = SPEC[SPEC.index("[parameters.c]") : SPEC.index("[[pathway]]")]
    in_files = 'inputs = "x.csv"\ntargets = "y.csv"\n'
    spec.write_text(text.replace(matrices, in_files).replace(parameter, ""))
    axes = read_axes(["network.hidden=3"])
    before = names(axes=axes)
    (tmp_path / "x.csv").write_text("2,0\n0,1\n1,2\n")
    assert len(before) == 6
    assert not before & names(axes=axes)


def test_a_wrong_key_is_said_of_the_option_that_named_it(tmp_path):
    with pytest.raises(InputError, match="hidden") as caught:
        sr.sweep("xor", {"network.hiden": [1, 2]}, directory=tmp_path)
    assert "--set" not in str(caught.value)
