"""The recorder keeps the weights of a torch module as they are at its steps, and their losses.

Where torch is not installed, a stand-in has the part of it that the recorder uses; training itself
needs torch.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from symreln.errors import InputError, InputTypeError
from symreln.explanation.history import read_history
from symreln.explanation.recorder import recorder


class Module:
    """What torch's modules have that the recorder asks for."""

    def __init__(self, *parts: Module):
        self.parts = parts

    def children(self):
        return iter(self.parts)

    def modules(self):
        yield self
        for each in self.parts:
            yield from each.modules()

    def parameters(self):
        for each in self.modules():
            yield from vars(each).get("held", ())


class Tensor(SimpleNamespace):
    """An array that shares its memory, as a tensor on the processor does."""

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return self

    def numpy(self):
        return self.data


class Linear(Module):
    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        shape = (out_features, in_features)
        self.weight = Tensor(data=np.ones(shape, np.float32), dtype="torch.float32")
        held = Tensor(data=np.ones(out_features, np.float32), dtype="torch.float32")
        self.bias = held if bias else None
        self.held = [self.weight, held][: 1 + bias]

    def __repr__(self):
        return f"Linear(in_features={self.in_features}, out_features={self.out_features})"


def stand_in() -> ModuleType:
    others = ("Sequential", "ReLU", "Tanh", "Flatten", "Identity", "Dropout")
    made = {name: type(name, (Module,), {}) for name in others}
    module = ModuleType("torch")
    lazy = SimpleNamespace(is_lazy=lambda _: False)
    module.nn = SimpleNamespace(Module=Module, Linear=Linear, parameter=lazy, **made)  # type: ignore
    return module


@pytest.fixture(params=["stand-in", "torch"])
def nn(request: Any, monkeypatch: Any) -> Any:
    if request.param == "torch":
        return pytest.importorskip("torch").nn
    monkeypatch.setitem(sys.modules, "torch", stand_in())
    return sys.modules["torch"].nn  # type: ignore[attr-defined]


def network(nn: Any, bias: bool = True) -> Any:
    return nn.Sequential(nn.Linear(3, 5, bias=bias), nn.ReLU(), nn.Linear(5, 2, bias=bias))


def weights_of(model: Any) -> list[np.ndarray]:
    """Return the arrays of the weights of both layers; whoever changes them changes the layers."""
    layers = [each for each in model.modules() if hasattr(each, "in_features")]
    return [each.weight.detach().numpy() for each in layers]


@pytest.mark.parametrize("every", [1, 3, 100])
def test_steps_and_copies(nn: Any, every: int):
    model = network(nn)
    record = recorder(model, every=every)
    kept = [[w.copy() for w in weights_of(model)]]
    for _ in range(10):
        for array in weights_of(model):
            array += 1
        kept.append([w.copy() for w in weights_of(model)])
        record.step()
    found = record.history
    assert found["steps"].tolist() == list(range(0, 11, every))
    assert "losses" not in found
    assert found["W1"].dtype == found["b1"].dtype == np.float32
    assert found["b1"].shape == (len(found["steps"]), 5)
    for name, layer in (("W1", 0), ("W2", 1)):
        assert np.array_equal(found[name], [kept[step][layer] for step in found["steps"]])


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("steps", [9, 10])
def test_a_loss_is_of_the_weights_before_its_step(nn: Any, every: int, steps: int):
    model = network(nn)
    record = recorder(model, every=every)
    for step in range(steps):
        weights_of(model)[0][:] = step + 1
        record.step(100.0 + step)
    found = record.history
    assert found["steps"].tolist() == list(range(0, steps, every))
    assert found["losses"].tolist() == [100.0 + step for step in found["steps"]]
    assert found["W1"][1:, 0, 0].tolist() == found["steps"][1:].tolist()


def test_a_loss_that_was_not_given(nn: Any):
    record = recorder(network(nn), every=2)
    for loss in (3, None, None, None, 1):  # that of step 2 is missing
        record.step(loss)
    assert "losses" not in record.history
    assert record.history["steps"].tolist() == [0, 2, 4]
    record = recorder(network(nn), every=2)
    for loss in (3, None, 2, None, 1):
        record.step(loss)
    assert record.history["losses"].tolist() == [3, 2, 1]


def test_without_biases_and_what_is_read(nn: Any, tmp_path: Path):
    model = network(nn, bias=False)
    record = recorder(model, every=1)
    for _ in range(3):
        weights_of(model)[0][:] += 1
        record.step()
    assert sorted(record.history) == ["W1", "W2", "steps"]
    record.save(tmp_path / "history")
    for source in (record.history, tmp_path / "history"):
        history = read_history(source)
        assert (history.hidden, history.inputs, history.outputs) == (5, 3, 2)
        assert np.array_equal(history.weights(-1)[0], weights_of(model)[0])


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ("L(3,5)", r"found Linear; expected two Linear layers with a ReLU between them\. Only"),
        ("R()", r"found ReLU; expected two Linear"),
        ("L(3,5) R() L(5,5) R() L(5,2)", r"found Linear, ReLU, Linear, ReLU, Linear; expected"),
        ("L(3,5) nn.Tanh() L(5,2)", r"found Linear, Tanh, Linear; expected"),
        ("L(3,5) R() nn.Dropout() L(5,2)", r"found Linear, ReLU, Dropout, Linear; expected"),
        ("L(3,5) L(5,2)", r"found Linear, Linear; .* without it symreln\.derive has the"),
        ("L(3,5) L(5,2) R()", r"found Linear, Linear, ReLU; expected two Linear layers with a"),
        ("L(3,5) R() L(4,2)", r"Linear\(in_features=3, out_features=5.*, then Linear\(.* order"),
    ],
)
def test_other_modules_are_refused(nn: Any, parts: str, said: str):
    names = {"L": nn.Linear, "R": nn.ReLU, "nn": nn}
    model = nn.Sequential(*(eval(part, names) for part in parts.split()))
    with pytest.raises(InputError, match=said):
        recorder(model, every=1)


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "10", None])
def test_every(nn: Any, every: Any):
    with pytest.raises(InputError, match=r"recorder: every: found .*[;,] .*a whole number from"):
        recorder(network(nn), every=every)


@pytest.mark.parametrize("loss", [[1, 2], "low", np.ones(3), {}])
def test_a_loss_that_is_no_number(nn: Any, loss: Any):
    with pytest.raises(InputTypeError, match=r"recorder: loss: found \w+; expected one number"):
        recorder(network(nn), every=1).step(loss)


@pytest.mark.parametrize("model", [None, np.ones(3), {"W1": 1}, Module()])
def test_what_is_no_module(model: Any):
    with pytest.raises(InputTypeError, match=r"found \w+, expected a torch module\. Other"):
        recorder(model, every=1)


def test_torch_is_not_imported():
    code = "import sys, symreln.explanation.recorder, symreln.explanation.history; "
    code += "assert not {'torch', 'safetensors'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# -- with torch ------------------------------------------------------------------------------------


def functional(torch: Any) -> Any:
    """Return a module that calls its ReLU as a function, with its input flattened."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3, 20))
            self.head = torch.nn.Linear(20, 2, bias=False)

        def forward(self, x: Any) -> Any:
            return self.head(torch.relu(self.body(x)))

    return Network()


@pytest.mark.parametrize("kind", ["sequential", "without biases", "functional", "double"])
@pytest.mark.parametrize("optimiser", ["SGD", "Adam"])
def test_a_recorded_training_has_the_losses_of_its_loop(kind: str, optimiser: str, tmp_path: Path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    double = torch.float64 if kind == "double" else torch.float32
    model = functional(torch) if kind == "functional" else network(torch.nn, kind[:7] != "without")
    model = model.to(double)
    x, y = torch.randn(30, 3, dtype=double), torch.randn(30, 2, dtype=double)
    rule = getattr(torch.optim, optimiser)(model.parameters(), lr=0.05)
    record, losses = recorder(model, every=7), []
    for _ in range(100):
        loss = 0.5 * (model(x) - y).square().sum(1).mean()
        rule.zero_grad()
        loss.backward()
        rule.step()
        record.step(loss)
        losses.append(loss.item())
    record.save(tmp_path / "run.npz")
    history = read_history(tmp_path / "run.npz")
    assert history.steps.tolist() == list(range(0, 99, 7))
    assert history.losses is not None
    assert history.losses.tolist() == [losses[step] for step in history.steps]
    assert record.history["W1"].dtype == ("f8" if kind == "double" else "f4")
    ones = np.ones((30, int(history.biased)))
    seen = np.column_stack([x.numpy(), ones])
    for place, loss in enumerate(history.losses):
        first, second = history.weights(place)
        out = np.maximum(seen @ first.T, 0) @ second.T
        if history.output_bias is not None:
            out += history.output_bias[place]
        implied = 0.5 * np.square(out - y.numpy()).sum(1).mean()
        assert implied == pytest.approx(loss, rel=1e-12 if kind == "double" else 1e-5)


def test_other_numbers_and_layers_of_torch():
    torch = pytest.importorskip("torch")
    half = network(torch.nn).to(torch.bfloat16)
    found = recorder(half, every=1).history
    assert found["W1"].dtype == np.float32
    assert np.array_equal(found["W1"][0], half[0].weight.detach().float().numpy())
    lazy = torch.nn.Sequential(torch.nn.LazyLinear(5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    with pytest.raises(InputError, match=r"a layer without weights as yet; .* Call the model"):
        recorder(lazy, every=1)
    lazy(torch.zeros(1, 3))
    assert recorder(lazy, every=1).history["W1"].shape == (1, 5, 3)
    scaled = functional(torch)
    scaled.scale = torch.nn.Parameter(torch.ones(1))
    with pytest.raises(InputError, match=r"Flatten, Linear, Linear, a parameter of its own; "):
        recorder(scaled, every=1)
    layers = torch.nn.Conv2d(1, 5, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(5, 2)
    with pytest.raises(InputError, match=r"Conv2d, ReLU, Flatten, Linear; expected two Linear"):
        recorder(torch.nn.Sequential(*layers), every=1)


def test_tensors_are_read():
    torch = pytest.importorskip("torch")
    weights = {"W1": torch.randn(2, 5, 3), "W2": torch.randn(2, 2, 5)}
    history = read_history({"steps": torch.tensor([0, 5]), **weights})
    assert np.array_equal(history.weights(1)[0], weights["W1"][1].numpy())
    listed = {name: list(tensor) for name, tensor in weights.items()}
    assert np.array_equal(read_history({"steps": [0, 5], **listed}).weights(0)[1], weights["W2"][0])
    said = r"W1: found an entry that does not load .* tensor\.detach\(\)\.float\(\)\.cpu\(\)\.numpy"
    for odd in (weights["W1"].requires_grad_(), weights["W2"].bfloat16()):
        with pytest.raises(InputError, match=said):
            read_history({"steps": [0, 5], "W1": odd, "W2": weights["W2"]})
