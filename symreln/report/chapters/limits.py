"""The document of a derivation that a limit cut short: what is proven, enclosed, or unknown.

Written from derivation.json's values, because the derivation itself does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable
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
from symreln.document.symbols import symbol_latex
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
    """Return the document of what :func:`symreln.limits.partial.partial_derivation` returned."""
    pathways = partial["pathways"]
    finished = [p for p in pathways if p["proven"]["spectrum"]]
    enclosed = [p for p in pathways if p.get("enclosures")]
    chapters: list[Block] = [_summary(partial)]
    if finished:
        chapters.append(_proven(finished))
    if enclosed:
        chapters.append(_enclosed(enclosed))
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
    commutes = {p["name"]: p["commutes"] for p in partial["pathways"]}
    rows: list[tuple[Content, ...]] = [
        (p["name"], str(p["stage"]), commutes[p["name"]], _state(p)) for p in partial["pathways"]
    ]
    if not rows:
        rows = [("–", "–", "undecided", "the spec was not read in time")]
    return Table(
        header=("pathway", "stage", "correlations commute", "spectrum"),
        rows=tuple(rows),
        alignment="pclp",
        caption="What is known of every pathway.",
    )


def _state(pathway: dict[str, Any]) -> str:
    if pathway["proven"]["spectrum"]:
        return "proven"
    return "enclosed" if pathway.get("enclosures") else "undecided"


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
    blocks += [_mode_table(names, pathway) for names, pathway in _alike(pathways, _printed)]
    return Section(title="What is proven", label="sec:proven", blocks=tuple(blocks))


def _alike(
    pathways: list[dict[str, Any]], shown: Callable[[dict[str, Any]], object]
) -> list[tuple[str, dict[str, Any]]]:
    """Return (names, first of them) of the pathways of which the same is shown."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for pathway in pathways:
        groups.setdefault(json.dumps(shown(pathway)), []).append(pathway)
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
    caption: list[Inline | str] = [f"Proven modes of {names}, by falling speed."]
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


def _enclosed(pathways: list[dict[str, Any]]) -> Section:
    blocks: list[Block] = [
        prose(
            "The exact form of these numbers was not decided, or not printed, before the limit. "
            "At the declared values every singular value lies within the radius of the decimal "
            "printed for it, each as often as it occurs; where the correlations commute, so does "
            "the matching ",
            Math("d"),
            ". Proof: floats only propose an eigenbasis; its defect is computed in integers, and "
            "the theorem of Hoffman and Wielandt bounds the eigenvalues by it. What an earlier "
            "stage leaves to a later one is a projection, exact or within a proven distance that "
            "the radius includes. Pathways that a checked symmetry of the spec maps to each other "
            "share one list. Two boxes that overlap may hold equal values or different ones: that "
            "is not decided.",
        )
    ]
    blocks += [_box_table(names, pathway) for names, pathway in _alike(pathways, _boxes)]
    return Section(title="What is enclosed", label="sec:enclosed", blocks=tuple(blocks))


def _boxes(pathway: dict[str, Any]) -> object:
    return [pathway["enclosures"], pathway["enclosed_at"]]


def _box_table(names: str, pathway: dict[str, Any]) -> Table:
    boxes = pathway["enclosures"]
    left = len(boxes) - MOST_ROWS
    joint = any(box["d"] is not None for box in boxes)
    caption: list[Inline | str] = [f"Certified enclosures for {names}"]
    for place, (name, value) in enumerate((pathway["enclosed_at"] or {}).items()):
        caption += [", " if place else " at ", Math(f"{symbol_latex(name)} = {_fraction(value)}")]
    caption.append(".")
    if left > 0:
        caption.append(f" {left} smaller ones are in derivation.json.")
    return Table(
        header=("number", Math("s"), "radius", *((Math("d"), "radius") if joint else ())),
        rows=tuple(
            (str(place), *_ball(box["s"]), *(_ball(box["d"]) if joint else ()))
            for place, box in enumerate(boxes[:MOST_ROWS], start=1)
        ),
        alignment="rllll" if joint else "rll",
        caption=tuple(caption),
    )


def _ball(ball: dict[str, str] | None) -> tuple[Content, Content]:
    if ball is None:
        return ("–", "–")
    power = ball["radius"].partition("e")[2]
    return (_short(ball["decimal"]), Math(f"10^{{{power}}}" if power else ball["radius"]))


def _short(decimal: str) -> str:
    """Return at most 24 characters; the whole decimal is in derivation.json."""
    return decimal if len(decimal) <= 24 else decimal[:24] + "…"


def _fraction(value: str) -> str:
    """Return a declared value, such as "-3/2", as LaTeX."""
    top, _, bottom = value.partition("/")
    sign = "-" if top.startswith("-") else ""
    return rf"{sign}\frac{{{top.removeprefix('-')}}}{{{bottom}}}" if bottom else top


def _next(partial: dict[str, Any]) -> Section:
    kind = partial["limits"]["kind"]
    limited = partial["limits"]["limit"] is not None
    higher = (" with a higher ", Code(f"--{kind}-limit")) if limited else ()
    return Section(
        title="How to go on",
        label="sec:next",
        blocks=(
            prose(
                "Finished spectra that took long are in the cache, so that the same command",
                *higher,
                " does not compute them again. ",
                Code("symreln derive SPEC --estimate"),
                " says roughly what the whole may take.",
            ),
        ),
    )
