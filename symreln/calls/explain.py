"""A user's own network explained."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from symreln.base.jsonio import dumps
from symreln.base.records import record
from symreln.calls.answers import AbstractAnswer
from symreln.calls.derive import Derivation
from symreln.document.document_model import ComingDrawing
from symreln.errors import InputError, NotSupportedError
from symreln.explanation.explained import Explained, explained, network_of_weights
from symreln.explanation.history import check_history, read_history
from symreln.explanation.page import SHARES, another_rate, blocks, sentences, share, sketches
from symreln.explanation.recorded import recorded
from symreln.pipeline.certificate import certificate
from symreln.report.content import derivation_chapters, whole_document
from symreln.report.derivation_json import derivation_to_json
from symreln.report.drawings import STILL
from symreln.report.encode import Encoder
from symreln.report.formats import document_formats
from symreln.report.results_folder import CERTIFICATE
from symreln.report.sketch import begin_to_draw
from symreln.report.write import document_files, saved_document
from symreln.report.written_spec import spec_toml
from symreln.specs.build import spec as spec_of_data
from symreln.specs.spec import Spec
from symreln.task_library.load import load
from symreln.verifier.folder import sealed_json

_FORMAT = "symreln-explanation/1"
#: Multiplications at all looks that samples are drawn for, and how few of them; seed of the draw.
_MOST_COST, _FEWEST, _SEED = 2e11, 200, 44_002
#: Decimals of the bias that targets are read without.
_DIGITS = 4


@record(eq=False)
class Explanation(AbstractAnswer):
    """What :func:`symreln.explain` says of a network.

    Attributes:
        found: All parts of it.
        measures: Whether its rate and its initial scale were measured: no spec gives them.
        drawn: How many samples all this is of; None where it is of all.
        samples: How many there are; 0 where a spec has them.
    """

    found: Explained
    measures: bool
    drawn: int | None
    samples: int

    @property
    def fitted(self) -> int:
        """How many numbers of the theory were measured on the network.

        Its rate and its initial scale, where no spec gives them, and a bias of every output.
        """
        bias = self.found.found.bias
        return 2 * self.measures + (0 if bias is None else bias.shape[1])

    @property
    def derivation(self) -> Derivation:
        """The derivation of the network's gates.

        Raises:
            NotSupportedError: Nothing is derived of so many inputs.
        """
        if self.found.derivation is None:
            msg = f"explain: there is no derivation: {self.found.why_not}"
            raise NotSupportedError(msg)
        return Derivation.of(self.found.derivation)

    def to_spec(self) -> Spec:
        """Return a spec with the network's gates, for ``derive`` and ``run``."""
        return self.found.spec

    def to_json(self) -> dict[str, Any]:
        """Return what explanation.json says."""
        found, encode = self.found, Encoder(self.found.spec)
        look, theory, law = found.found, found.prediction, found.law
        modes = {mode.pathway: mode for mode in reversed(found.modes)}
        content = {
            "format": _FORMAT,
            "free_constants": self.fitted,
            "loss": {
                "steps": look.steps,
                "implied": look.losses,
                "given": look.given,
                "max_abs_over_initial": look.apart,
                "standard_error": look.spread,
            },
            "rate": {"value": found.rate, "measured": look.rate, "off": look.off},
            "samples": {"drawn": self.drawn, "of": self.samples or None},
            "begins": look.steps[look.begins],
            "windows": [_window(window, found.units.units) for window in found.windows],
            "units": [
                {**each.values(), "strength": _strength(modes.get(each.name))}
                for each in found.units.units
            ],
            "timeline": found.units.timeline,
            "theory": {
                "judged": None if theory is None else theory.judged,
                "max_abs_over_initial": None if theory is None else found.far(theory.loss),
                "why_not": found.why_not or None,
            },
            "modes": [
                {
                    **encode.fields(mode, "pathway", "label", "multiplicity", "plateau"),
                    "relative_error": mode.difference,
                    "half_time_error": mode.half_time_error.value,
                }
                for mode in found.modes
            ],
            "replay": [
                {"count": p.count, "max_abs_over_initial": p.distance, "way": p.way}
                for p in found.replayed.points
            ],
            "needed": {f"{share:g}": found.replayed.needed(share) for share in SHARES},
            "gate_law": None
            if law is None
            else {**encode.fields(law, "steps", "predicted", "distance"), "measured": law.mean},
            "left": [vars(row) | {"interval": None} for row in found.left],
            "spec": "spec.toml",
        }
        beside = {"spec.toml": self._spec_toml().encode()}
        return sealed_json(encode(content), self._certificate, beside)

    @property
    def _certificate(self) -> dict[str, Any] | None:
        derivation = self.found.derivation
        return None if derivation is None else derivation.ask(certificate)

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield from self._said()
        yield from (f"  {drop.sentence}" for drop in self.found.units.timeline[:8])
        for row in self.found.left:
            if row.gain is not None:
                yield (
                    f"  {row.assumption}: {share(row.distance_before)} of L(0) off; "
                    f"{row.replaced_by}: {share(row.distance_after)}"
                )

    def _said(self) -> Iterator[str]:
        yield from sentences(self.found)
        if self.measures and (step := self.found.found.steps[0]):
            yield (
                f"initial weights are not seen: their scale is that of step {step}, with which the "
                "theory begins at step 0, so that it is early. Record from step 0, or give the "
                "network"
            )
        if self.drawn is not None:
            spread = f"{self.found.found.spread:.1%}"
            yield (
                f"all this is of {self.drawn} of {self.samples} samples, drawn once: the standard "
                f"error of the loss is at most {spread} of L(0)"
            )

    def files(self) -> dict[str, str | bytes]:
        """Return explanation.json, the documents with their figures, and spec.toml."""
        derivation, spec = self.found.derivation, self.found.spec
        sketched, proof, chapters = sketches(self.found), self._certificate, ()
        said = blocks(self.found, list(self._said()), [each.name for each in sketched])
        own, drawn = begin_to_draw(sketched, pdf=True)
        drawings = [ComingDrawing(name, drawn) for name in own]
        if derivation is not None:
            names, drawn = derivation.ask(STILL[True])
            names = [name for name in names if name not in own]
            drawings += [ComingDrawing(name, drawn) for name in names]
            chapters = derivation_chapters(derivation, None, names)
        title = "A trained network, explained by symreln"
        document = whole_document(spec, (*said, *chapters), tuple(drawings), title)
        files = dict[str, str | bytes]()
        if derivation is not None:
            files["derivation.json"] = dumps(derivation.ask(derivation_to_json))
        if proof is not None:
            files[CERTIFICATE] = dumps(proof)
        files["explanation.json"] = dumps(self.to_json())
        files |= document_files(document, document_formats(()), proof, stem="explanation")
        files |= saved_document(document, proof, "explanation")
        return files | {"spec.toml": self._spec_toml()}

    def _spec_toml(self) -> str:
        text, biased = spec_toml(self.found.spec), self.found.found.bias is not None
        rates = "init_std and learning_rate were measured on the weights that were explained"
        targets = "targets are less the outputs' bias at the last checkpoint"
        for table, how, known in (
            ("[network]", rates, self.measures),
            ("[dataset]", targets, biased),
        ):
            text = text.replace(table, f"# {how}\n{table}", 1) if known else text
        return text


def explain(
    checkpoints: Mapping[str, Any] | str | os.PathLike[str],
    spec: Spec | Any,
    Y=None,
    *,
    network=None,
    samples="rows",
) -> Explanation:
    """Explain a trained ReLU network: its gates, their dynamics, and what they leave of its loss.

    Args:
        checkpoints: Its weights over training: an NPZ or safetensors file, or a mapping of arrays
            `steps`, `W1`, `W2`, and optionally `b1`, `b2`, `losses`.
        spec: A spec of its data, its file or its name, whose gates are not used; or X, with Y as
            the next argument.
        Y: Targets, where X is given.
        network: Made by :func:`symreln.network`, where X is given; left out here and in the spec,
            the rate and the initial scale are measured from the weights.
        samples: Whether "rows" or "columns" of X and Y are samples.

    Raises:
        InputError: What is wrong with the weights, or why they are not of these data.
        SpecError: What is wrong with the data.

    Example:
        >>> import numpy as np
        >>> import symreln as sr
        >>> X, Y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([[1.0, -1, -1, 1]])
        >>> rng, looks = np.random.default_rng(0), []
        >>> w, b = 0.001 * rng.standard_normal((40, 2)), 0.001 * rng.standard_normal((1, 40))
        >>> for step in range(801):
        ...     if step % 20 == 0:
        ...         looks.append((step, w, b))
        ...     seen = w @ X.T
        ...     error = (Y - b @ np.maximum(seen, 0)) / 4
        ...     drive = (b.T @ error) * (seen > 0)
        ...     w, b = w + 0.05 * drive @ X, b + 0.05 * error @ np.maximum(seen, 0).T
        >>> steps, W1, W2 = (np.array(part) for part in zip(*looks))
        >>> found = sr.explain({"steps": steps, "W1": W1, "W2": W2}, X, Y.T)
        >>> sorted(unit["gate"] for unit in found.to_json()["units"])
        ['/01/', '/10/', '0//1', '1//0']
    """
    history = read_history(checkpoints)
    plain = {"hidden": history.hidden, "init_std": 1, "learning_rate": 1, "steps": 2}
    drawn, whole = None, 0
    if Y is not None:
        asked: dict[str, Any] = {"samples": samples, "network": network or plain}
        x, y, drawn, whole = _drawn(history, spec, Y, samples)
        spec = spec_of_data(x, y, **asked)
    elif isinstance(spec, str | os.PathLike):
        spec = load(spec, data_alone=True)
    elif not isinstance(spec, Spec):
        msg = "explain: found no targets. Give a spec, or X and Y: sr.explain(history, X, Y)"
        raise InputError(msg)
    numbers = spec.at_values()
    given = numbers.network if network is not None or Y is None else None
    if given is not None and given.hidden != history.hidden:
        msg = (
            f"network.hidden: found {given.hidden}, where the weights have {history.hidden} hidden "
            "units. Give the network that was trained, or leave it out"
        )
        raise InputError(msg)
    data = numbers.dataset
    check_history(history, data.n_x, data.n_y)
    if Y is None:
        x, y = data.arrays
        x, y, drawn, whole = _drawn(history, x, y, "columns")
        if drawn is not None:
            data = spec_of_data(x, y, samples="columns", network=plain).dataset
    found = recorded(history, *data.arrays, drawn=drawn is not None)
    if given is None:
        measured = spec_of_data([[1]], [[1]], network=network_of_weights(history, found)).network
    else:
        measured = replace(given, steps=int(found.steps[-1]) + 1)
    if history.biased or history.output_bias is not None:  # inputs and targets of the units alone
        left = found.targets - np.round(found.targets - found.y, _DIGITS)
        data = spec_of_data(found.x.T, left.T, network=plain).dataset
    alone = {"pathways": (), "families": (), "graph": None, "sizes": (), "find": "data"}
    asked_spec = replace(numbers, dataset=data, network=measured, **alone)
    try:
        explanation = explained(history, asked_spec, found)
    except InputError as error:
        assert measured is not None  # made of one
        if not (other := another_rate(found, 1 / float(measured.tau(data.samples)))):
            raise
        msg = f"{error}. Beside it, {other}"
        raise InputError(msg) from error
    measures = given is None
    return Explanation(found=explanation, measures=measures, drawn=drawn, samples=whole)


def _drawn(
    history: Any, inputs: Any, targets: Any, samples: str
) -> tuple[Any, Any, int | None, int]:
    """Return data, or samples that are drawn of them where all take too long.

    Returns:
        X, Y, how many samples are drawn, or None where all are there, and how many there are.
    """
    shape, axis = np.shape(inputs), 0 if samples == "rows" else 1
    if len(shape) != 2 or np.shape(targets)[axis : axis + 1] != shape[axis : axis + 1]:
        return inputs, targets, None, 0  # which the reader refuses
    each = len(history.steps) * history.hidden * 2 * (history.inputs + history.outputs)
    count = int(max(_FEWEST, _MOST_COST // each))
    if count >= shape[axis]:
        return inputs, targets, None, shape[axis]
    chosen = np.sort(np.random.default_rng(_SEED).choice(shape[axis], count, replace=False))
    x, y = (
        np.take(np.asarray(part), chosen, axis=axis).astype(float) for part in (inputs, targets)
    )
    return x, y, count, shape[axis]


def _window(window: Any, units: Any) -> dict[str, Any]:
    """Return the gates of a window."""
    return {
        "from": window.begin,
        "to": window.end,
        "exact": window.exact,
        "closed": window.closed,
        "gates": [
            {"name": unit.name, "gate": unit.gate, "share": window.shares[unit.name]}
            for unit in units
        ],
    }


def _strength(mode: Any) -> dict[str, Any] | None:
    """Return the strength of a pathway's first mode over time."""
    if mode is None:
        return None
    return {
        "mode": mode.label,
        "steps": mode.steps,
        "measured": mode.mean,
        "derived": mode.predicted,
    }
