"""derivation.json: a derivation as JSON values."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symreln.base.provenance import library_versions
from symreln.claims.balls import half_time
from symreln.claims.claim import DIGITS
from symreln.claims.constants import count_free, printed_constants
from symreln.claims.converged import converged_decimal, converged_loss
from symreln.claims.couplings import couplings_of
from symreln.claims.derivation import Derivation
from symreln.claims.orbits import mode_orbits
from symreln.claims.rules import values_of as found_values
from symreln.claims.starts import starts_of, strength0_of
from symreln.claims.texts import Texts
from symreln.document.mathtext import to_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.law import Law
from symreln.pipeline.certificate import certificate
from symreln.report.encode import Encoder
from symreln.specs.values import values_of
from symreln.verifier.folder import sealed_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import ModeDerivation, PathwayDerivation
    from symreln.specs.model import NetworkSpec, Spec


FORMAT = "symreln-derivation/2"
_PARAMETER = ("name", "positive", "nonnegative", "minimum", "maximum", "value")
#: Entries of singular vectors of a pathway up to which they are written.
MOST_ENTRIES = 4096
#: What a mode says of a start at t = 0.
STARTING = ("strength0", "strength", "half_time")


def derivation_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the derivation as JSON values."""
    spec, proof = derivation.spec, derivation.ask(certificate)
    encode, data = Encoder.of(spec), spec.dataset
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
        "network": None if spec.network is None else _network(spec.network, data.samples, encode),
        **_found(derivation, encode),
        "steps": encode(derivation.steps),
        "spec": values_of(spec),
        **({"data": _data(spec)} if proof is None else {}),
        "versions": library_versions(),
    }
    return sealed_json(content, proof)


def _network(network: NetworkSpec, samples: int, encode: Encoder) -> dict[str, Any]:
    tau = encode(Scalar.of(network.tau(samples)))
    return {**encode.fields(network, *network.keys), "tau": tau}


def _data(spec: Spec) -> dict[str, Any]:
    """Return the data of a spec, which a certificate would have."""
    texts = Texts([parameter.name for parameter in spec.parameters])
    matrices = {"inputs": spec.dataset.inputs, "targets": spec.dataset.targets}
    return {
        "parameters": list(texts.names),
        **{name: texts.matrix(matrix) for name, matrix in matrices.items()},
    }


def _found(derivation: Derivation, encode: Encoder) -> dict[str, Any]:
    """Return what was found."""
    return {
        "verdict": {
            **encode.fields(derivation.verdict, "level", "reasons"),
            "stages": [
                {"stage": stage.stage, **encode.fields(stage.verdict, "level", "reasons")}
                for stage in derivation.stages
            ],
        },
        "pathways": _pathways(derivation, encode),
        "couplings": [
            encode(entry) for stage in derivation.ask(couplings_of) for entry in stage.entries()
        ],
        "loss": {
            "initial": encode.number(derivation.initial_loss),
            "final": _final(derivation, encode),
            "expr": None if derivation.loss is None else str(derivation.loss),
        },
        **_known(encode, phases=[_phase(*each) for each in derivation.phases[1:]]),
        **{key: encode(found) for key, found in found_values(derivation)},
    }


def _known(encode: Encoder, **findings: Any) -> dict[str, Any]:
    """Return the entries of findings that there are."""
    return {name: encode(found) for name, found in findings.items() if found}


def _final(derivation: Derivation, encode: Encoder) -> dict[str, str] | None:
    """Return the loss in the end: the least-squares value unless weight decay holds it above."""
    settled = converged_loss(derivation)
    if settled is None:
        return encode.number(derivation.least_loss)
    found = {"expr": str(settled)}
    decimal = converged_decimal(derivation, DIGITS)
    if decimal is not None:
        found["decimal"], found["radius"] = decimal
    return found


def _phase(step: int, phase: Derivation) -> dict[str, Any]:
    """Return what the gates from a step on change; no mode of theirs starts at t = 0."""
    whole = derivation_to_json(phase)
    for pathway in whole["pathways"]:
        pathway["modes"] = [mode | dict.fromkeys(STARTING) for mode in pathway["modes"]]
    kept = ("verdict", "pathways", "couplings", "exceptional")
    loss = {"final": whole["loss"]["final"]}
    return {"step": step, **{key: whole[key] for key in kept}, "loss": loss}


def _pathways(derivation: Derivation, encode: Encoder) -> list[dict[str, Any]]:
    """Return all pathways; modes that are alike are written once and labelled for each."""
    written: dict[int, list[dict[str, Any]]] = {}
    for group in mode_orbits(derivation):
        first = [_mode(derivation, group.first, mode, encode) for mode in group.first.modes]
        # Formulas of numbers without radicals hold symbols with the pathway's number.
        plain = all(
            number is None or number.is_radical
            for mode in group.first.modes
            for number in (mode.s, mode.d, mode.d_eff)
        )
        factors = derivation.ask(starts_of).factors
        written[group.first.number] = first
        for pathway in group.pathways[1:]:
            written[pathway.number] = [
                {**entry, "label": mode.label, **_vectors(pathway, mode, derivation.spec.values)}
                if plain and factors.get(mode.label) == factors.get(own.label)
                else _mode(derivation, pathway, mode, encode)
                for entry, mode, own in zip(first, pathway.modes, group.first.modes, strict=True)
            ]
    return [_pathway(pathway, encode, written[pathway.number]) for pathway in derivation.pathways]


def _pathway(
    pathway: PathwayDerivation, encode: Encoder, modes: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return one pathway with its modes, which are JSON already."""
    spec = pathway.effective.pathway
    found = pathway.spectrum.commutator
    return {
        "name": pathway.name,
        "stage": pathway.stage,
        "gate": spec.gate_text,
        **_known(encode, then=[{"step": each.step, "gate": each.gate_text} for each in spec.then]),
        "samples": len(spec.open_samples),
        "inputs": len(spec.inputs),
        "outputs": len(spec.outputs),
        **({} if spec.hidden is None else {"hidden": spec.hidden}),
        "commutes": pathway.commutes.value,
        "commutator": None
        if found is None
        else {
            "relative_norm": encode(
                AlgebraicNumber.rational(found.relative_norm_squared, is_sqrt=True)
            ),
            "witness": {
                "index_base": 0,
                **encode.fields(found, "row", "column", "value"),
            },
        },
        "modes": modes,
    }


def _vectors(
    pathway: PathwayDerivation, mode: ModeDerivation, values: Mapping[str, Fraction]
) -> dict[str, Any]:
    """Return u and v of a mode in decimals, a list a column, where there are not too many."""
    if mode.is_null or sum(pathway.spectrum.sigma_yx.shape) * len(pathway.modes) > MOST_ENTRIES:
        return {}
    u, v = (each.to_numpy(values) for each in pathway.vectors[mode.label])
    return {} if u is None or v is None else {"u": u.T.tolist(), "v": v.T.tolist()}


def _mode(
    derivation: Derivation, pathway: PathwayDerivation, mode: ModeDerivation, encode: Encoder
) -> dict[str, Any]:
    strength = mode.strength
    return {
        **encode.fields(mode, "label", "s", "d", "multiplicity", "d_eff", "family"),
        **_vectors(pathway, mode, derivation.spec.values),
        "strength0": encode.number(
            Fraction(0) if mode.is_null else strength0_of(derivation, mode.label)
        ),
        "strength": None
        if strength is None or strength.printed is None
        else {"expr": str(strength.printed), "latex": to_latex(strength.printed)},
        "half_time": _half_time(derivation, mode),
        **({} if strength is None or strength.form == Law.form else {"form": strength.form}),
    }


def _half_time(derivation: Derivation, mode: ModeDerivation) -> dict[str, str | None] | None:
    """Return the formula, where there is one, and at declared values the steps to half height."""
    if mode.strength is None or mode.is_null:
        return None
    found = half_time(derivation, mode, DIGITS)
    formula = mode.strength.half_time
    if found.decimal is None and (formula is None or derivation.later):
        return None  # later: gates switch before, or there are no numbers
    result: dict[str, str | None] = {"expr": None if formula is None else str(formula)}
    if found.decimal is not None:
        result["decimal"], result["radius"] = found.decimal
    return result
