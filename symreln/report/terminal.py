"""What the command line prints of results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from symreln.base.console import COLUMNS, columns, put, say, wrapped
from symreln.base.jsonio import dumps
from symreln.base.summaries import short_list
from symreln.base.tables import plain_table
from symreln.claims.constants import constants_text, printed_constants
from symreln.claims.derivation import Derivation
from symreln.claims.exceptional import exceptional_sets
from symreln.claims.head_formulas import some_driven
from symreln.claims.linear_flow import is_linear
from symreln.claims.loss import loss_of
from symreln.claims.pathway_orbits import PathwayOrbit, mode_orbits
from symreln.claims.rules import lines_of, printed_of, rule_of
from symreln.claims.starts import printed_starts
from symreln.document.roots import plain_formula
from symreln.document.symbols import strengths_in_text
from symreln.document.words import Notation
from symreln.errors import visible
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.laws.choice import law_of
from symreln.laws.law import HEAD_START, STRENGTH0, TIME_CONSTANT
from symreln.report.chapters.printed_formulas import first_modes, implicit, other_modes
from symreln.report.derivation_json import derivation_to_json
from symreln.report.mode_table import NULL_FAMILY
from symreln.report.summary import checks_text, numbers_of

#: What is printed of a derivation: head, table, phases and tail; or its JSON.
Summary = dict[str, Any]


def show_derivation(
    derivation: Derivation, folder: Path, written: Sequence[Path], *, as_json: bool
) -> None:
    """Print a derivation's JSON, or its summary and the files written."""
    if (folder / "validation.json").exists():
        say(
            f"symreln: {folder} holds a validation of an earlier run, which the new derivation "
            "does not contain; `symreln run` writes both",
            err=True,
        )
    if as_json:
        put(dumps(derivation.ask(derivation_to_json)))
        return
    show_summary(summary_of(derivation, written))
    show_written(folder, written)


def show_summary(summary: Summary) -> None:
    """Print what :func:`summary_of` says, the table as wide as the terminal."""
    for line in summary["head"]:
        say(strengths_in_text(line))
    put(plain_table(*summary["table"]))
    for line in summary.get("formulas", ()):
        say(wrapped(strengths_in_text(line), columns() or COLUMNS))
    for phase in summary.get("phases", ()):
        show_summary(phase)
    for line in summary["tail"]:
        say(strengths_in_text(line))


def summary_of(derivation: Derivation, written: Sequence[Path] = ()) -> Summary:
    """Return the verdict, the modes, and the checks as text; beside the files written."""
    sizes = ", ".join(f"{size.name} = {size.value}" for size in derivation.spec.sizes)
    until = derivation.until_text
    phases = [_modes_of(phase, f" from step {begin}") for begin, phase in derivation.phases[1:]]
    every = derivation.ask(rule_of("family"))
    first = _modes_of(derivation, until if every is None else f" at {sizes}")
    return {
        **first,
        "head": [derivation.spec.title, *lines_of(derivation, rule_of("family")), *first["head"]],
        "formulas": [*_formulas(derivation, {path.name for path in written})],
        "phases": phases,
        "tail": [
            *printed_of(derivation),
            f"checks: {checks_text(derivation)}",
            constants_text(derivation.ask(printed_constants)),
            *_open_steps(derivation),
        ],
    }


def _open_steps(derivation: Derivation) -> Iterator[str]:
    """Yield what is not proven: a disproved one is an assumption that does not hold on the data."""
    words = {Truth.REFUTED: "does not hold on this data, proven", Truth.UNDECIDED: "undecided"}
    for step in derivation.steps:
        if step.outcome in words:
            yield f"  {words[step.outcome]}: {step.name}: {step.check}"


def _modes_of(derivation: Derivation, when: str) -> Summary:
    """Return the verdict and the modes of one phase, as :func:`show_summary` takes them."""
    reasons = (f"  - {reason}" for reason in derivation.verdict.reasons)
    return {
        "head": [f"verdict{when}: {derivation.level.value}", *reasons],
        "table": (f"modes{when}", _MODE_HEADER, _mode_rows(derivation)),
        "tail": lines_of(derivation, exceptional_sets),
    }


_MODE_HEADER = ["pathway", "s", "d", "d_eff", "multiplicity", "family"]


def _mode_rows(derivation: Derivation) -> list[list[str]]:
    notation = Notation.of(derivation.spec)
    rows = []
    for group in mode_orbits(derivation):  # pathways with equal modes are one
        nulls = sum(mode.multiplicity for mode in group.first.modes if mode.is_null)
        for mode in group.learning:
            numbers = numbers_of(mode, notation).values()
            rows.append([group.short_name, *numbers, str(mode.multiplicity), mode.family])
        if nulls:
            rows.append([group.short_name, "0", "", "", str(nulls), NULL_FAMILY])
    return rows


def show_written(folder: Path, written: Sequence[Path]) -> None:
    """Print the names of the files of a folder."""
    names = list(dict.fromkeys(path.relative_to(folder).as_posix() for path in written))
    say(f"written to {visible(str(folder))}: {', '.join(names)}")


# -- closed forms in plain characters --------------------------------------------------------------

#: Symbols as a terminal shows them.
_PLAIN = {STRENGTH0: "π₀", HEAD_START: "π̃₀", TIME_CONSTANT: "τ"}
#: Files with every closed form.
_WHOLE = ("derivation.html", "derivation.json")


def _formulas(derivation: Derivation, files: Collection[str]) -> Iterator[str]:
    """Yield the closed forms, one a line, or what is integrated; then the loss.

    Of what is left out those of the ``files`` are named that have it.
    """
    loss = derivation.ask(loss_of).lines()
    if not derivation.closed:
        weights = "W(t) = Σyx Σx⁺ (1 − (1 − Σx/τ)^t): of all weights, single modes have none"
        integrated = f"no closed form: the {derivation.level.value} are integrated"
        yield weights if is_linear(derivation) else integrated
        yield from loss
        return
    beside = " and ".join(name for name in _WHOLE if name in files)
    where = f", in {beside}" if beside else ""
    for chosen in first_modes(derivation):
        yield f"{_heading(chosen.group)}:"
        for mode in chosen.modes:
            found = None if implicit(mode) else chosen.group.strength(mode)
            text = f": {law_of(derivation.known).form}{where}"
            text = text if found is None else f" = {plain_formula(found, _PLAIN)}"
            yield f"  {chosen.group.strength_symbol(mode)}(t){text}"
    left = sum(len(chosen.modes) for chosen in other_modes(derivation))
    if left:
        yield f"  … {left} more{where}"
    yield from _letters(derivation)
    yield from loss


def _heading(group: PathwayOrbit) -> str:
    numbers = [str(pathway.number) for pathway in group.pathways]
    if len(numbers) == 1:
        return f"pathway {group.short_name}"
    shown = ", ".join(numbers) if len(numbers) <= 6 else f"{numbers[0]}, …, {numbers[-1]}"
    return f"pathways {group.short_name}, p = {shown}"


def _letters(derivation: Derivation) -> Iterator[str]:
    """Yield what the letters of the formulas are."""
    network = derivation.spec.network
    if network is None or derivation.tau is None:
        yield "  t: time; τ and π₀ stay symbols, because the spec names no network"
        return
    said = [f"t: full-batch steps; τ = {derivation.tau} steps"]
    starts = derivation.ask(printed_starts)
    for each in starts:
        value = AlgebraicNumber.rational(Scalar.of(each.strength0)).scientific({}, 6)
        where = f" of {short_list(each.pathways)}" if len(starts) > 1 else ""
        kappa = "" if each.kappa is None else ", from κ = {} ± {:.2g}".format(*each.kappa)
        said.append(f"π₀{where} = {value}{kappa}")
    if some_driven(derivation):
        said.append("π̃₀: effective start of a later stage's mode")
    yield f"  {'; '.join(said)}"
