"""Records the weights of a torch module while it is trained.

torch is never imported here: whoever has a module has imported it.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from symreln.errors import InputError, InputTypeError
from symreln.specs.arguments import whole_number

#: Modules without weights that change nothing of what a network of two layers is.
_PLAIN = ("ReLU", "Flatten", "Identity", "MSELoss")


class Recorder:
    """The weights of a module at steps 0, every, 2 every, … of its training.

    Made by :func:`recorder`, which records step 0.
    """

    def __init__(self, layers: Sequence[Any], every: int) -> None:
        self._layers, self._every, self._count = layers, every, 0
        self._losses = list[float | None]()
        self._arrays = defaultdict[str, list[Any]](list)
        self._record()

    def step(self, loss: Any = None) -> None:
        """Count a step of the optimiser, after it was made, and record where it is time to.

        Args:
            loss: From which this step was computed, so that it belongs to the weights *before* the
                step; a number, or a tensor with one. It is looked at after steps 0, every, … alone,
                where it is the loss of the weights that were recorded last.

        Raises:
            InputTypeError: The loss is no number.
        """
        if self._count == self._arrays["steps"][-1]:
            self._losses.append(None if loss is None else _number(loss))
        self._count += 1
        if self._count % self._every == 0:
            self._record()

    @property
    def history(self) -> dict[str, Any]:
        """What was recorded, as :func:`symreln.explanation.history.read_history` takes it.

        Where every loss was given there are ``losses``. The loss of a checkpoint comes with the
        step after it, so that the last checkpoint is left out until then.
        """
        given = bool(self._losses) and None not in self._losses
        known = self._arrays | ({"losses": self._losses} if given else {})
        count = min(map(len, known.values()))
        return {name: np.array(values[:count]) for name, values in known.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was recorded as an NPZ file, which is named ``path``."""
        with open(path, "wb") as file:  # to a path NumPy would add .npz
            np.savez(file, **self.history)

    def _record(self) -> None:
        self._arrays["steps"].append(self._count)
        for number, layer in enumerate(self._layers, start=1):
            for name, tensor in ((f"W{number}", layer.weight), (f"b{number}", layer.bias)):
                if tensor is not None:
                    values = tensor.detach().cpu()
                    values = values if "float64" in str(values.dtype) else values.float()
                    # A copy: on the processor the array would be the weights, which change.
                    self._arrays[name].append(np.array(values.numpy()))


def recorder(model: Any, *, every: int) -> Recorder:
    """Return a recorder of a torch module of two ``Linear`` layers with a ReLU between them.

    The first ``Linear`` layer of the module is W1, the second W2. ``Flatten`` and ``Identity`` may
    be among them. Only the modules are looked at: a function that is called in ``forward``, as
    ``torch.relu``, cannot be seen, so that it is up to the caller that it is a ReLU, and nothing
    else but it.

    Args:
        model: An ``nn.Sequential``, or a module that has two ``Linear`` layers at any depth.
        every: Steps of the optimiser from one checkpoint to the next, at least 1.

    Raises:
        InputTypeError: It is no torch module.
        InputError: It has other layers, or ``every`` is no whole number from 1.

    Example:
        >>> record = sr.recorder(model, every=10)  # doctest: +SKIP
        >>> for _ in range(1000):  # doctest: +SKIP
        ...     loss = 0.5 * (model(X) - Y).square().sum(1).mean()
        ...     optimiser.zero_grad()
        ...     loss.backward()
        ...     optimiser.step()
        ...     record.step(loss)
        >>> record.save("history.npz")  # doctest: +SKIP
    """
    every = whole_number(every, "recorder: every", 1)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        msg = (
            f"recorder: found {type(model).__name__}, expected a torch module. Other libraries' "
            "weights are recorded by hand: docs/explain.md."
        )
        raise InputTypeError(msg)
    first, second = layers = _layers(model, torch.nn)
    if any(torch.nn.parameter.is_lazy(layer.weight) for layer in layers):
        raise _refused("a layer without weights as yet", "Call the model once before.")
    if first.out_features != second.in_features:
        hint = "Define the layers in the order in which they are called."
        raise _refused(f"{first}, then {second}", hint)
    return Recorder(layers, every)


def _layers(model: Any, nn: Any) -> list[Any]:
    """Return the two linear layers of a module.

    Raises:
        InputError: It has other modules with weights, or functions other than a ReLU.
    """
    leaves = [each for each in model.modules() if not list(each.children())]
    names = ["Linear" if isinstance(each, nn.Linear) else type(each).__name__ for each in leaves]
    layers = [each for each in leaves if isinstance(each, nn.Linear)]
    known = {id(each) for leaf in leaves for each in leaf.parameters()}
    names += ["a parameter of its own" for p in model.parameters() if id(p) not in known][:1]
    if len(layers) != 2 or not {*names} <= {"Linear", *_PLAIN}:
        raise _refused(", ".join(names), "Only networks of one hidden layer are explained.")
    kinds = [name for name in names if name in ("Linear", "ReLU")]
    if type(model) is nn.Sequential and kinds != ["Linear", "ReLU", "Linear"]:
        raise _refused(", ".join(names), "Of a network without it symreln.derive has the theory.")
    return layers


def _refused(found: str, hint: str) -> InputError:
    msg = f"recorder: found {found}; expected two Linear layers with a ReLU between them. {hint}"
    return InputError(msg)


def _number(loss: Any) -> float:
    try:
        return float(loss.detach() if hasattr(loss, "detach") else loss)
    except (TypeError, ValueError, RuntimeError):
        msg = (
            f"recorder: loss: found {type(loss).__name__}; expected one number. Give the mean of "
            "the loss over samples."
        )
        raise InputTypeError(msg) from None
