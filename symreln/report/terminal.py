"""What the command line prints of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.base.jsonio import dumps
from symreln.base.tables import show_table
from symreln.base.terminal import COLUMNS, columns, put, say, wrapped
from symreln.claims.claim import lines_of
from symreln.claims.constants import constants_text, printed_constants
from symreln.claims.derivation import Derivation
from symreln.claims.exceptional import exceptional_sets
from symreln.claims.families.claim import every_size
from symreln.claims.orbits import mode_orbits
from symreln.claims.phases import until_text
from symreln.claims.rules import printed_of
from symreln.document.symbols import strengths_in_text
from symreln.document.words import Notation, short_number
from symreln.errors import visible
from symreln.exact.truth import Truth
from symreln.report.derivation_json import derivation_to_json
from symreln.report.mode_table import NULL_FAMILY
from symreln.report.plain import plain_lines
from symreln.report.summary import checks_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: What is printed of a derivation: head, table, phases and tail; or its JSON.
Summary = dict[str, Any]
_Said = Summary | str


def derivation_said(derivation: Derivation, written: Sequence[Path], *, as_json: bool) -> _Said:
    """Return what is printed of a derivation: its JSON, or its summary."""
    return dumps(derivation.ask(derivation_to_json)) if as_json else summary_of(derivation, written)


def show_derivation(said: _Said, folder: Path, written: Sequence[Path]) -> None:
    """Print what :func:`derivation_said` returns; beside a summary, the files written."""
    if isinstance(said, str):
        put(said)
        return
    show_summary(said)
    show_written(folder, written)


def show_summary(summary: Summary) -> None:
    """Print what :func:`summary_of` says, the table as wide as the terminal."""
    for line in summary["head"]:
        say(strengths_in_text(line))
    show_table(*summary["table"])
    for line in summary.get("formulas", ()):
        say(wrapped(strengths_in_text(line), columns() or COLUMNS))
    for phase in summary.get("phases", ()):
        show_summary(phase)
    for line in summary["tail"]:
        say(strengths_in_text(line))


def summary_of(derivation: Derivation, written: Sequence[Path] = ()) -> Summary:
    """Return the verdict, the modes, and the checks as text; beside the files written."""
    sizes = ", ".join(f"{size.name} = {size.value}" for size in derivation.spec.sizes)
    until = until_text(derivation.spec)
    phases = [_modes_of(phase, f" from step {begin}") for begin, phase in derivation.phases[1:]]
    at = f" at {sizes}" if derivation.family is not None else until
    first = _modes_of(derivation, at)
    return {
        **first,
        "head": [
            derivation.spec.title,
            *lines_of(derivation, every_size),
            f"verdict{at}: {derivation.verdict.level.value}",
            *first["head"][1:],
        ],
        "formulas": [*plain_lines(derivation, {path.name for path in written})],
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
    return {
        "head": [
            f"verdict{when}: {derivation.verdict.level.value}",
            *(f"  - {reason}" for reason in derivation.verdict.reasons),
        ],
        "table": (f"modes{when}", _MODE_HEADER, _mode_rows(derivation)),
        "tail": lines_of(derivation, exceptional_sets),
    }


_MODE_HEADER = ["pathway", "s", "d", "d_eff", "multiplicity", "family"]


def _mode_rows(derivation: Derivation) -> list[list[str]]:
    notation = Notation.of(derivation.spec)
    rows = []
    for group in mode_orbits(derivation):  # pathways with equal modes are one
        nulls = sum(mode.multiplicity for mode in group.first.modes if mode.is_null)
        rows += [
            [
                group.short_name,
                short_number(mode.s, notation),
                short_number(mode.d, notation),
                short_number(mode.d_eff, notation),
                str(mode.multiplicity),
                mode.family,
            ]
            for mode in group.learning
        ]
        if nulls:
            rows.append([group.short_name, "0", "", "", str(nulls), NULL_FAMILY])
    return rows


def show_written(folder: Path, written: Sequence[Path]) -> None:
    """Print the names of the files of a folder."""
    names = list(dict.fromkeys(path.relative_to(folder).as_posix() for path in written))
    say(f"written to {visible(str(folder))}: {', '.join(names)}")


def note_earlier_run(folder: Path) -> None:
    """Say on stderr that a confrontation of an earlier run lies beside a new derivation."""
    if (folder / "validation.json").exists():
        say(
            f"symreln: {folder} holds a validation of an earlier run, which the new derivation "
            "does not contain; `symreln run` writes both",
            err=True,
        )
