"""A checked spec as JSON values: what derivation.json says before anything is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.exact.scalar import Scalar
from symreln.report.encode import Encoder

if TYPE_CHECKING:
    from symreln.specs.model import NetworkSpec, Spec

FORMAT = "symreln-derivation/2"
_PARAMETER = ("name", "positive", "nonnegative", "minimum", "maximum", "value")


def spec_to_json(spec: Spec) -> dict[str, Any]:
    """Return what derivation.json says before anything is derived."""
    encode, data = Encoder.of(spec), spec.dataset
    return {
        "format": FORMAT,
        "title": spec.title,
        "source": spec.source,
        "free_constants": None,
        "constants": None,
        "parameters": [encode.fields(parameter, *_PARAMETER) for parameter in spec.parameters],
        "dataset": {
            "samples": data.samples,
            "inputs": data.n_x,
            "outputs": data.n_y,
            "description": data.description,
        },
        "network": None if spec.network is None else _network(spec.network, data.samples, encode),
    }


def _network(network: NetworkSpec, samples: int, encode: Encoder) -> dict[str, Any]:
    tau = encode(Scalar.of(network.tau(samples)))
    return {**encode.fields(network, *network.keys), "tau": tau}
