"""The document of a derivation that a limit cut short: what is proven, enclosed, or unknown.

Written from derivation.json's values, because the derivation itself does not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.report.document import (
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

if TYPE_CHECKING:
    from symreln.report.inlines import Content

#: Rows of one pathway that are listed; derivation.json has all.
MOST_ROWS = 40


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
                f"{limits['said']} in {limits['reached_in']}, after {limits['seconds']:.3g} "
                "seconds. The verdict is ",
                Strong(partial["verdict"]["level"]),
                ". What follows keeps apart what is proven and what is not:",
            ),
            Items(tuple(_sentence(sentence) for sentence in sentences)),
            _stages(partial),
        ),
    )


def _sentence(sentence: str) -> Content:
    lead, _, rest = sentence.partition(": ")
    return (Strong(f"{lead}: "), rest)


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
    for pathway in pathways:
        modes = [m for m in pathway["modes"] if m["s"]["expr"] != "0"]
        if not pathway["modes"]:
            blocks.append(
                prose(
                    "Pathway ",
                    Strong(pathway["name"]),
                    ": its classes are in derivation.json; the limit left no time to print them.",
                )
            )
            continue
        nulls = sum(m["multiplicity"] for m in pathway["modes"]) - sum(
            m["multiplicity"] for m in modes
        )
        blocks.append(
            Table(
                header=(Math("s"), Math("d"), (Math("s"), " at values"), "multiplicity"),
                rows=tuple(_mode(mode) for mode in modes[:MOST_ROWS]) or (("0", "–", "0", "–"),),
                alignment="pplr",
                caption=f"Proven modes of pathway {pathway['name']}"
                + (f"; null modes: {nulls}." if nulls else "."),
            )
        )
    return Section(title="What is proven", label="sec:proven", blocks=tuple(blocks))


def _mode(mode: dict[str, Any]) -> tuple[Content, ...]:
    return (
        _number(mode["s"]),
        "–" if mode["d"] is None else _number(mode["d"]),
        mode["s"].get("decimal") or "–",
        str(mode["multiplicity"]),
    )


def _number(number: dict[str, Any]) -> Content:
    text = number["expr"]
    return Code(text) if len(text) <= 40 else "a root; its polynomial is in derivation.json"


def _enclosed(pathways: list[dict[str, Any]]) -> Section:
    blocks: list[Block] = [
        prose(
            "The exact form of these numbers was not decided, or not printed, before the limit. "
            "At the declared values every singular value lies within the radius of the decimal "
            "printed for it, each as often as it occurs; where the correlations commute, so does "
            "the matching ",
            Math("d"),
            ". Proof: floats only propose an eigenbasis; its defect is computed in integers, and "
            "the theorem of Hoffman and Wielandt bounds the eigenvalues by it. Two boxes that "
            "overlap may hold equal values or different ones: that is not decided.",
        )
    ]
    for pathway in pathways:
        boxes = pathway["enclosures"]
        left = len(boxes) - MOST_ROWS
        more = f" {left} smaller ones are in derivation.json." if left > 0 else ""
        blocks.append(
            Table(
                header=("number", Math("s"), "radius", Math("d"), "radius"),
                rows=tuple(
                    (str(place), *_ball(box["s"]), *_ball(box["d"]))
                    for place, box in enumerate(boxes[:MOST_ROWS], start=1)
                ),
                alignment="rllll",
                caption=f"Certified enclosures for pathway {pathway['name']}{_values(pathway)}."
                + more,
            )
        )
    return Section(title="What is enclosed", label="sec:enclosed", blocks=tuple(blocks))


def _values(pathway: dict[str, Any]) -> str:
    values = pathway.get("enclosed_at")
    if not values:
        return ""
    return " at " + ", ".join(f"{name} = {value}" for name, value in values.items())


def _ball(ball: dict[str, str] | None) -> tuple[str, str]:
    return ("–", "–") if ball is None else (_short(ball["decimal"]), ball["radius"])


def _short(decimal: str) -> str:
    """Return at most 24 characters; the whole decimal is in derivation.json."""
    return decimal if len(decimal) <= 24 else decimal[:24] + "…"


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
