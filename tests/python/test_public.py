"""What help() says, and what a type checker says of ordinary code."""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
import sys

import pytest

import symreln as sr
from symreln.calls.depth import DepthAnswer
from symreln.calls.gates import FoundGates, GateAnswer
from symreln.calls.sweep import SweepAnswer
from symreln.report.mode_table import Modes
from symreln.report.saved import SavedDerivation, SavedValidation

RESULTS = (
    *(sr.Derivation, sr.NetworkDerivation, sr.Validation, sr.Spec, Modes),
    *(SavedDerivation, SavedValidation, FoundGates, GateAnswer, DepthAnswer, SweepAnswer),
)
USER = """
import numpy as np
import symreln as sr

X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
Y = np.array([1, 0, 0, 1])
network = sr.network(hidden=100, init_std="1/1000", learning_rate=0.05, steps=2000)
spec = sr.spec(X, Y, labels={"kind": [1, 0, 0, 1]}, pathways=[sr.pathway("all")], network=network)
derivation = sr.derive(spec)
for mode in derivation.modes:
    print(mode.label, mode.s, mode.half_time)
frame = derivation.modes.to_pandas()
loss = derivation.to_numpy("loss")(np.arange(10.0))
print(derivation.formula("pi_1_1").expr, derivation.loss, derivation.verdict.level, loss.shape)
ax = derivation.plot()
ax.set_title("mine")
print(derivation.evaluate([0, 1]).loss, derivation.enclose([0, 1]), derivation.to_python("jax"))
derivation.save("folder")
saved = sr.open("folder")
named = sr.derive("linear-hierarchy")
print(named._repr_latex_(), sr.gates("xor", "enumerate").to_toml())
swept = sr.sweep(spec, {"network.hidden": [50, 100]}, directory="swept", seeds=2)
print(sr.sweep("xor", {"network.hidden": [50]}, directory="more").rows, swept.to_json())
masked = sr.pathway("masked", Y == 1)
report = sr.validate(derivation, seeds=2)
report.plot(ax)
report.save("folder")
print(sr.gates(spec, "enumerate").to_spec(), sr.race(spec, over="c").to_json(), sr.replay(spec))
print(sr.from_weights(derivation, [[1]], [[1]]), saved.modes[0].s)
"""


@pytest.mark.parametrize("name", [name for name in sr.__all__ if name != "__version__"])
def test_every_public_name_says_what_it_is(name):
    text = inspect.getdoc(getattr(sr, name)) or ""
    assert len(text.split()) >= 5
    assert not text.startswith(f"{name}(")  # what a dataclass says by itself
    assert ">>>" in text


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.__name__)
def test_every_public_attribute_says_what_it_is(result):
    fields = "".join(each.__doc__ or "" for each in result.__mro__)
    bare = [
        name
        for name in dir(result)
        if not name.startswith("_")
        and not (inspect.getdoc(getattr(result, name)) or "").strip()
        and f"{name}:" not in fields
    ]
    assert not bare


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_ordinary_code_of_a_user_passes_the_type_checker(tmp_path):
    (tmp_path / "user.py").write_text(USER, "utf-8")
    settings = {"typeCheckingMode": "standard", "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, "user.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = json.loads(found.stdout)["generalDiagnostics"]
    assert [f"{each['range']['start']['line']}: {each['message']}" for each in told] == []
