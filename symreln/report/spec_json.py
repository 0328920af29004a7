"""What derivation.json says before anything is derived: the spec.

Apart from the rest, which needs SymPy: a process that only watches or encloses has no time for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.spec.model import Spec

FORMAT = "symreln-derivation/1"
DIGITS = 21


def spec_to_json(spec: Spec) -> dict[str, Any]:
    """Return what derivation.json says before anything is derived."""
    network = spec.network
    return {
        "format": FORMAT,
        "title": spec.title,
        "source": spec.source,
        "free_constants": None,
        "constants": None,
        "parameters": [
            {
                "name": p.name,
                "positive": p.positive,
                "nonnegative": p.nonnegative,
                "minimum": _text(p.minimum),
                "maximum": _text(p.maximum),
                "value": _text(p.value),
            }
            for p in spec.parameters
        ],
        "dataset": {
            "samples": spec.dataset.samples,
            "inputs": spec.dataset.n_x,
            "outputs": spec.dataset.n_y,
            "description": spec.dataset.description,
        },
        "network": None
        if network is None
        else {
            "hidden": network.hidden,
            "init_std": _text(network.init_std),
            "learning_rate": _text(network.learning_rate),
            "loss": network.loss,
            "steps": network.steps,
            "activation": network.activation,
            "training": network.training,
            **{key: _text(getattr(network, key)) for key in network.unusual if key != "init_std"},
            **(
                {}
                if network.init_std_out is None
                else {"init_std_out": _text(network.init_std_out)}
            ),
            "tau": _number(network.tau(spec.dataset.samples)),
        },
    }


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _number(value: Fraction) -> dict[str, str]:
    decimal, radius = AlgebraicNumber.rational(Scalar.of(value)).decimal({}, DIGITS)
    return {"expr": str(value), "decimal": decimal, "radius": radius}
