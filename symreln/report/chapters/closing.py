"""What was checked, and where every number comes from."""

from __future__ import annotations

from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING

from symreln.base.provenance import library_versions
from symreln.claims.constants import Constant, printed_constants
from symreln.document.document_model import (
    Block,
    Code,
    Details,
    Math,
    Section,
    Strong,
    Table,
    prose,
)
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import written
from symreln.pipeline.certificate import certificate
from symreln.report.summary import checks_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from symreln.claims.derivation import Derivation
    from symreln.document.document_model import Content
    from symreln.experiment.confront import Validation

#: Names of a network's settings, in the order of the table.
_SETTINGS = {
    "hidden": "hidden units",
    "init_std": "std of initial weights",
    "init_std_out": "of the second layer's",
    "layers": "layers of weights",
    "weight_decay": "weight decay",
    "strength0": "initial strength of every mode, as given",
    "learning_rate": "learning rate",
    "batch_size": "samples of a training step",
    "loss": "loss",
    "steps": "recorded steps",
    "activation": "activation",
    "training": "training of the GDLN",
}
#: Pathways up to which units that differ are told by name.
MOST_NAMED = 8


def closing_chapter(derivation: Derivation, validation: Validation | None) -> Section:
    """Return the constants, the checks, and the hyper-parameters, seeds and versions."""
    constants = derivation.ask(printed_constants) if validation is None else validation.constants
    versions = ", ".join(f"{name} {value}" for name, value in library_versions().items())
    blocks: tuple[Block, ...] = (
        *_constants_table(constants),
        _in_two_columns(list(_settings_of(derivation, validation))),
        Details(summary="Versions", blocks=(prose(f"Made with {versions}."),)),
        *_checks(derivation),
    )
    return Section(title="Provenance and checks", blocks=blocks, label="sec:provenance")


def _checks(derivation: Derivation) -> Iterator[Block]:
    """Yield what was checked, and how that is checked again."""
    again = (
        "No certificate comes with it: of pathways that share edges, or have unequally many, "
        "there is one where they are a routing network."
        if derivation.ask(certificate) is None
        else "The certificate beside it can be checked again by `symreln verify certificate.json`, "
        "which uses rational arithmetic alone."
    )
    yield say(f"Every step was checked by the program while it wrote this document. {again}")
    rows = tuple(
        (step.name, typeset(step.statement), typeset(step.check), Strong(step.outcome.value))
        for step in derivation.steps
    )
    table = Table(header=("step", "claim", "check", "outcome"), rows=rows, alignment="pppl")
    if rows:
        yield Details(summary=f"What was checked: {checks_text(derivation)}", blocks=(table,))


def _in_two_columns(rows: list[tuple[Content, ...]]) -> Table:
    """Return (quantity, value) pairs, two on a row."""
    half = (len(rows) + 1) // 2
    pairs = zip_longest(rows[:half], rows[half:], fillvalue=("", ""))
    return Table(
        header=("quantity", "value", "quantity", "value"),
        rows=tuple((*one, *other) for one, other in pairs),
        alignment="plpl",
    )


def _settings_of(
    derivation: Derivation, validation: Validation | None
) -> Iterator[tuple[Content, ...]]:
    """Yield (quantity, value) of the dataset, the network and its training."""
    spec = derivation.spec
    yield "spec", spec.source or "built in Python"
    sizes = {size.option: Math(f"{symbol_latex(size.name)} = {size.value}") for size in spec.sizes}
    for name, value in spec.dataset.options.items():
        yield f"dataset: {name}", sizes.get(name, typeset(value))
    if spec.network is not None:
        shown = {key: getattr(spec.network, key) for key in _SETTINGS if key in spec.network.keys}
        shown["loss"] = f"{spec.network.loss} over samples, full batch"
        for key, value in shown.items():
            told = Code(written(value)) if isinstance(value, Fraction) else str(value)
            yield _SETTINGS[key], told
    if validation is not None:
        yield "units of a pathway of the GDLN", _pathway_units(validation)
        yield "seeds", f"{validation.seeds} of each kind, random streams from {validation.rng}"


def _pathway_units(validation: Validation) -> str:
    """Return how many units pathways have, with their names where they differ."""
    gdln, names = validation.gdln, [p.name for p in validation.derivation.spec.pathways]
    if not gdln.weights:
        none = validation.derivation.known.units is None
        return "none" if none else f"{gdln.matrices[0].shape[1]} a layer"
    units = dict(zip(names, (layers.w1.shape[1] for layers in gdln.weights), strict=True))
    counts = sorted(set(units.values()))
    if len(counts) == 1:
        return str(counts[0])
    if len(units) > MOST_NAMED:
        return f"{counts[0]} to {counts[-1]}"
    return "; ".join(
        f"{count} ({', '.join(name for name, own in units.items() if own == count)})"
        for count in counts
    )


def _constants_table(constants: Iterable[Constant]) -> Iterator[Table]:
    """Yield every number that enters the prediction and is not in the spec, if there are any."""
    rows = tuple(
        (typeset(each.name), each.cell, Strong(each.source), typeset(each.origin))
        for each in constants
    )
    if rows:
        yield Table(
            header=("constant", "value", "source", "from"),
            rows=rows,
            caption="Every number that enters formulas or judged curves and is not in the spec; "
            "those assumed or fitted are the free constants.",
            alignment="pllp",
        )
