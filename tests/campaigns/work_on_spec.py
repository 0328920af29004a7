"""What the fuzz campaign does with one spec."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import symreln as sr
from symreln import verifier
from symreln.base.jsonio import dumps
from symreln.errors import SymrelnError
from symreln.report import terminal as console
from tests.campaigns.random_specs import Tables

#: A number that is none, as a word of its own; "\inf" and "infinite" are words of the text.
NOT_A_NUMBER = re.compile(r"(?<![\w\\-])[+-]?(nan|inf|NaN|Infinity|zoo)(?![\w-])")
#: Steps at which curves are compared, up to long after everything has converged.
TIMES = (0.0, 1.0, 7.0, 39.0, 1e3, 1e4)


class FoundError(AssertionError):
    """What came out is not what may come out."""


def work_on(tables: Tables, *, write: bool = False) -> str:
    """Derive a spec and look at everything that is made of it.

    Args:
        tables: The spec.
        write: Whether the documents and figures are written too.

    Returns:
        The verdict, or "refused: " and why.

    Raises:
        FoundError: An output holds a number that is none, or the certificate is another one's.
    """
    try:
        derivation = sr.derive(sr.load(tables))
    except SymrelnError as error:
        return f"refused: {error}"
    certificate = json.loads(dumps(derivation.certificate))
    if not write and certificate is not None:  # else the file is
        verifier.verify(certificate)
    texts = {
        "derivation.json": dumps(derivation.to_json()),
        "certificate.json": dumps(certificate),
        "derivation.tex": derivation.to_latex(),
        "summary": str(console.summary_of(derivation)),
    }
    called = {pathway.name for pathway in derivation.spec.pathways}  # one may be called "nan"
    for name, text in texts.items():
        found = next((m for m in NOT_A_NUMBER.finditer(text) if m[0] not in called), None)
        if found is not None:
            around = text[max(0, found.start() - 60) : found.end() + 30]
            msg = f"{name} holds {around!r}"
            raise FoundError(msg)
    if write:
        with tempfile.TemporaryDirectory() as folder:
            derivation.save(folder)
            if certificate is not None and not verifier.verify_file(
                Path(folder) / "certificate.json"
            ):
                msg = "nothing was checked"
                raise FoundError(msg)
            if sr.open(folder).spec != derivation.spec:
                msg = "open: another spec"
                raise FoundError(msg)
    if derivation.spec.network is not None:
        _check_curves(derivation)
    return derivation.level.value


def _check_curves(derivation: sr.Derivation) -> None:
    """Evaluate to late times, and compare with the formula and the program that are exported."""
    try:
        prediction = derivation.evaluate(TIMES)
    except SymrelnError:
        return
    if not np.isfinite(prediction.reduced).all():
        msg = f"evaluate: the loss is {prediction.reduced}"
        raise FoundError(msg)
    try:
        formula, text = derivation.to_numpy("loss"), derivation.to_python()
        formula(TIMES[:1])
    except SymrelnError as error:
        if "divides by 0" in str(error):  # at the declared values
            _check_curves(derivation.at_values)
        return
    if prediction.closed_loss is None:
        return
    program: dict[str, Any] = {}
    exec(text, program)
    with np.errstate(all="ignore"):
        ways = {"to_numpy": formula(TIMES), "to_python": program["loss"](np.array(TIMES))}
    for way, found in ways.items():
        apart = np.abs(found - prediction.closed_loss).max() / max(
            prediction.closed_loss[0], 1e-300
        )
        if not apart < 1e-9:
            msg = f"{way}: the loss is {apart:.2g} of L(0) from evaluate"
            raise FoundError(msg)
