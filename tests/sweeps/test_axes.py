"""Which values a sweep goes through, and what is refused before anything is trained."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.errors import InputError, NotSupportedError
from symreln.sweeps.axes import read_axes
from tests.sweeps.examples import SPEC, arguments, command, spec

__all__ = ["spec"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("network.hidden=3,5", ("3", "5")),
        ("network.hidden=[3, 5,]", ("3", "5")),
        ("network.hidden = 7", ("7",)),
        ("k=1/2,0.25", ("1/2", "0.25")),
        ('k="a,b",c', ('"a,b"', "c")),
        ("k=mean,sum", ("mean", "sum")),
        ("k=true,false", ("true", "false")),
        ("k=[1, 2],[3]", ("[1, 2]", "[3]")),
        ("k=[[1, 2], [3]]", ("[1, 2]", "[3]")),
        ("pathway[0].gate=item in (1, 2),all", ("item in (1, 2)", "all")),
        ("k='x=1', 'y=2'", ("'x=1'", "'y=2'")),
    ],
)
def test_values_are_divided_at_commas_outside_brackets(text, values):
    (axis,) = read_axes([text])
    assert axis.values == values
    assert axis.key == text.partition("=")[0].strip()


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ([], "no --over"),
        (["network.hidden"], "KEY=VALUE"),
        (["network.hidden="], "no value"),
        (["network.hidden=[]"], "no value"),
        (["network.hidden=3,,5"], "no value"),
        (["network.hidden=3,5,3"], "3 stands there twice"),
        (["network hidden=3"], "network hidden"),
        (["=3"], "--over"),
        (["network.hidden=1", "network.hidden=2"], "another --over"),
        (["network.hidden=[1"], "--over"),
        (["network.steps=3,4"], "--set gives this key too"),
        (["network.hiden=1,2"], 'Did you mean "hidden"'),
        (["network.steps=60,0"], "network.steps=0"),
        (["network.learning_rate=1/20,1000"], "network.learning_rate=1000"),
    ],
)
def test_bad_input_is_said_before_any_training(spec, tmp_path, over, said):
    out, overrides = tmp_path / "out", ["network.steps=5"] * ("--set" in said)
    with pytest.raises(InputError) as told:
        sr.sweep(spec, over, directory=out, overrides=overrides)
    assert said in str(told.value)
    assert overrides or "--set" not in str(told.value)
    assert not (out / "tasks").exists()


@pytest.mark.parametrize(
    "text", ["0/3", "4/3", "1", "1/", "/2", "-1/3", "1/0", "a/b", "1/2/3", "²/3"]
)
def test_what_is_no_shard_is_refused(spec, tmp_path, capsys, text):
    out = tmp_path / "out"
    code, _, err = command(capsys, *arguments(spec, out, "--shard", text))
    assert (code, "expected i/N" in err, "Traceback" in err) == (2, True, False)
    assert not list(out.rglob("*.npz"))


@pytest.mark.parametrize(
    ("source", "over", "error", "says"),
    [
        (3, {"network.hidden": [4]}, InputError, "sweep: found 3; give a Spec"),
        ("routing", {"network.steps": [5, 6]}, NotSupportedError, "nodes and edges"),
        ("contextual-C", {"network.steps": [5]}, NotSupportedError, "Give the file or the name"),
        ("xor", {"dataset.scale": [1, 2]}, InputError, "sr.sweep('xor', …)"),
    ],
)
def test_what_is_no_spec_of_a_sweep(source, over, error, says, tmp_path):
    given = sr.load(source) if isinstance(source, str) else source
    with pytest.raises(error, match=says.replace("(", r"\(").replace(")", r"\)")):
        sr.sweep(given, over, directory=tmp_path / "out")
    assert not (tmp_path / "out" / "tasks").exists()


def test_a_spec_without_a_network_is_refused_with_the_combination(tmp_path, capsys):
    bare, out = tmp_path / "bare.toml", str(tmp_path / "out")
    bare.write_text(SPEC.partition("[network]")[0])
    code, _, err = command(capsys, "sweep", str(bare), "--over", "title=a,b", "--out", out)
    assert (code, "at title=a: " in err, "network" in err) == (2, True, True)
