"""The document of a derivation that a limit cut short: what is proven, and what is not known.

Written from derivation.json's values, because the derivation itself does not exist.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from symreln.document.model import (
    Block,
    Code,
    Document,
    Items,
    Math,
    Section,
    Strong,
    Table,
    prose,
)
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import typeset
from symreln.document.widths import latex_width

if TYPE_CHECKING:
    from symreln.document.inlines import Content, Inline

#: Rows of one pathway, and names of pathways that are alike, that are listed; derivation.json has
#: all.
MOST_ROWS = 40
MOST_NAMES = 6
#: Printed letters of the longest formula in a table.
LONGEST = 40.0


def limited_document(partial: dict[str, Any]) -> Document:
    """Return the document of a partial derivation, given as :mod:`symreln.report.partial_json`."""
    pathways = partial["pathways"]
    finished = [p for p in pathways if p["proven"]["spectrum"]]
    chapters: list[Block] = [_summary(partial)]
    if finished:
        chapters.append(_proven(finished))
    chapters.append(_next(partial))
    return Document(
        title=partial.get("title") or "A derivation cut short",
        subtitle="Learning dynamics, derived by symreln as far as a limit allowed",
        blocks=tuple(chapters),
    )


def _summary(partial: dict[str, Any]) -> Section:
    limits = partial["limits"]
    sentences = [*limits["proven"], *limits["undecided"]]
    return Section(
        title="Summary",
        label="sec:summary",
        blocks=(
            prose(
                Strong("This derivation is not complete: "),
                *typeset(f"{limits['said']} in {limits['reached_in']}"),
                f", after {limits['seconds']:.3g} seconds. The verdict is ",
                Strong(partial["verdict"]["level"]),
                ". What follows keeps apart what is proven and what is not:",
            ),
            Items(tuple(_sentence(sentence) for sentence in sentences)),
            _stages(partial),
        ),
    )


def _sentence(sentence: str) -> Content:
    lead, _, rest = sentence.partition(": ")
    return (Strong(f"{lead}: "), *typeset(rest))


def _stages(partial: dict[str, Any]) -> Table:
    rows: list[tuple[Content, ...]] = [
        (
            p["name"],
            str(p["stage"]),
            p["commutes"],
            "proven" if p["proven"]["spectrum"] else "undecided",
        )
        for p in partial["pathways"]
    ]
    if not rows:
        rows = [("–", "–", "undecided", "the spec was not read in time")]
    return Table(
        header=("pathway", "stage", "correlations commute", "spectrum"),
        rows=tuple(rows),
        alignment="pclp",
        caption="What is known of every pathway.",
    )


def _proven(pathways: list[dict[str, Any]]) -> Section:
    blocks: list[Block] = [
        prose(
            "These joint spectra were finished: each space was proven invariant in exact "
            "arithmetic, and the multiplicities add up to the number of inputs. No certificate of "
            "the whole derivation exists; the exact classes are in derivation.json under ",
            Code("proven"),
            ".",
        )
    ]
    blocks += [_mode_table(names, pathway) for names, pathway in _alike(pathways)]
    return Section(title="What is proven", label="sec:proven", blocks=tuple(blocks))


def _alike(pathways: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return (names, first of them) of the pathways that have the same modes."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for pathway in pathways:
        groups.setdefault(json.dumps(_printed(pathway)), []).append(pathway)
    return [
        ("pathway " + names if len(group) == 1 else "pathways " + names, group[0])
        for group in groups.values()
        for names in [_names(group)]
    ]


def _names(pathways: list[dict[str, Any]]) -> str:
    shown = ", ".join(f"‘{pathway['name']}’" for pathway in pathways[:MOST_NAMES])
    more = len(pathways) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _printed(pathway: dict[str, Any]) -> object:
    keys = ("s", "d", "multiplicity")
    return [[mode[key] for key in keys] for mode in pathway["modes"]]


def _mode_table(names: str, pathway: dict[str, Any]) -> Block:
    if not pathway["modes"]:
        return prose(
            f"The classes of {names} are in derivation.json; the limit left no time to print them."
        )
    latex = pathway["proven"]["latex"]
    modes = [
        (mode, printed)
        for mode, printed in zip(pathway["modes"], latex, strict=True)
        if mode["s"]["expr"] != "0"
    ]
    nulls = sum(m["multiplicity"] for m in pathway["modes"]) - sum(
        m["multiplicity"] for m, _ in modes
    )
    left = len(modes) - MOST_ROWS
    caption: list[Inline | str] = [f"Proven modes of {names}, by decreasing speed."]
    if left > 0:
        caption.append(f" {left} slower modes are in derivation.json.")
    if nulls:
        caption += [" Null modes (", Math("s = 0"), f", nothing to learn): {nulls}."]
    return Table(
        header=(Math("s"), Math("d"), (Math("s"), " at values"), "multiplicity"),
        rows=tuple(_mode(*mode) for mode in modes[:MOST_ROWS]) or ((Math("0"), "–", "–", "–"),),
        alignment="cccr",
        caption=tuple(caption),
    )


def _mode(mode: dict[str, Any], latex: dict[str, str | None]) -> tuple[Content, ...]:
    s = mode["s"]
    return (
        _number(s, latex["s"]),
        "–" if mode["d"] is None else _number(mode["d"], latex["d"]),
        Math(decimal_latex(s["decimal"], s["radius"], 6)) if "decimal" in s else "–",
        str(mode["multiplicity"]),
    )


def _number(number: dict[str, Any], latex: str | None) -> Content:
    """Return a number's formula; one without square roots, or a long one, is elsewhere."""
    if latex is not None and latex_width(latex) <= LONGEST:
        return Math(latex)
    if "decimal" in number:
        return Math(decimal_latex(number["decimal"], number["radius"]))
    return "in derivation.json"


def _next(partial: dict[str, Any]) -> Section:
    kind = partial["limits"]["kind"]
    limited = partial["limits"]["limit"] is not None
    higher = (" with a higher ", Code(f"--{kind}-limit")) if limited else ()
    return Section(
        title="How to go on",
        label="sec:next",
        blocks=(
            prose(
                "The same command",
                *higher,
                " begins anew. ",
                Code("symreln derive SPEC --estimate"),
                " says roughly what the whole may take.",
            ),
        ),
    )
