"""derivation.json: a derivation as JSON values."""

from __future__ import annotations

from typing import Any

from symreln.base.provenance import library_versions
from symreln.claims.constants import count_free, printed_constants
from symreln.claims.derivation import Derivation
from symreln.claims.rules import values_of as found_values
from symreln.exact.scalar import Scalar
from symreln.pipeline.certificate import certificate
from symreln.pipeline.certificate.texts import Texts
from symreln.report.encode import Encoder
from symreln.report.written_spec import values_of
from symreln.specs.spec import Spec
from symreln.verifier.folder import sealed_json

FORMAT = "symreln-derivation/2"
_PARAMETER = ("name", "positive", "nonnegative", "minimum", "maximum", "value")


def derivation_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the derivation as JSON values."""
    spec, proof = derivation.spec, derivation.ask(certificate)
    encode, data, network = Encoder(spec), spec.dataset, spec.network
    content = {
        "format": FORMAT,
        "title": spec.title,
        "source": spec.source,
        "free_constants": count_free(derivation.ask(printed_constants)),
        "constants": encode(derivation.ask(printed_constants)),
        "parameters": [encode.fields(parameter, *_PARAMETER) for parameter in spec.parameters],
        "dataset": {
            "samples": data.samples,
            "inputs": data.n_x,
            "outputs": data.n_y,
            "description": data.description,
        },
        "network": network
        and {
            **encode.fields(network, *network.keys),
            "tau": encode(Scalar.of(network.tau(data.samples))),
        },
        **{key: encode(found) for key, found in found_values(derivation)},
        "steps": encode(derivation.steps),
        "spec": values_of(spec),
        **({"data": _data(spec)} if proof is None else {}),
        "versions": library_versions(),
    }
    return sealed_json(content, proof)


def _data(spec: Spec) -> dict[str, Any]:
    """Return the data of a spec, which a certificate would have."""
    texts = Texts([parameter.name for parameter in spec.parameters])
    matrices = {"inputs": spec.dataset.inputs, "targets": spec.dataset.targets}
    return {
        "parameters": list(texts.names),
        **{name: texts.matrix(matrix) for name, matrix in matrices.items()},
    }
