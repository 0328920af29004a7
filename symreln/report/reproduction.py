"""What is reproduced of a paper: a page each, and what stands over all of them.

A page is a document and a JSON file; what stands over all pages is made of their JSON files, so
that pages that were made before count as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from symreln.document.document_model import (
    Block,
    Code,
    Content,
    Document,
    Inline,
    Items,
    Link,
    Math,
    Section,
    Strong,
    Table,
    prose,
)
from symreln.report import html

FORMAT = "symreln-reproduction/1"
_ALL = "symreln reproduce"
PAGE, _INDEX, RECORD = "page.html", "index.html", "reproduction.json"

Part = Literal["assumed", "derived", "confirmed", "beyond"]
#: The parts of a page, in their order.
PARTS: dict[Part, str] = {
    "assumed": "What is assumed",
    "derived": "What is derived",
    "confirmed": "What trained networks do",
    "beyond": "What the paper does not say",
}
FINDINGS = {
    1: "ReLU networks sometimes choose a nonlinear solution where a linear one exists, and always "
    "the fastest learner",
    2: "They prefer structured mixed selectivity because it learns faster",
    3: "They still do as the number of contexts grows",
    4: "More hidden layers make trajectories vary between seeds; a gated network can fit their "
    "distribution",
    5: "An algorithm finds the gates from trained networks",
}


def marked(text: str) -> tuple[Inline, ...]:
    """Return a sentence with what stands between dollar signs and backticks as such."""
    found: list[Inline] = []
    for place, part in enumerate(re.split(r"(\$[^$]+\$|`[^`]+`)", text)):
        if place % 2:  # what the split is at
            found.append(Math(part[1:-1]) if part[0] == "$" else Code(part[1:-1]))
        elif part:
            found.append(part)
    return tuple(found)


# What stands over all pages.


def findings_rows(pages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield (number, page, outcome, sentence, figure) of every statement about a finding."""
    for number in FINDINGS:
        for page in pages:
            for each in page["statements"]:
                if each["finding"] == number:
                    figure = f"{page['name']}/{each['figure']}.svg" if each["figure"] else "–"
                    yield number, page["name"], each["outcome"] or "–", each["text"], figure


def disagreements(pages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield (page, outcome, sentence) of every statement that does not hold."""
    for page in pages:
        for each in page["statements"]:
            if each["outcome"] in ("disproved", "not confirmed"):
                yield page["name"], each["outcome"], each["text"]


def _index_document(pages: Sequence[Mapping[str, Any]], how: str) -> Document:
    """Return the page over all pages: findings, and where everything is.

    Args:
        pages: JSON of the pages, in order.
        how: How they were made, in a sentence.
    """
    found = list(findings_rows(pages))
    blocks: list[Block] = []
    for number, says in FINDINGS.items():
        items = tuple(_finding_line(*row[1:]) for row in found if row[0] == number)
        if items:
            blocks += [prose(Strong(f"Finding {number}. "), f"{says}."), Items(items=items)]
    told = {row[0] for row in found}
    if left := ", ".join(str(number) for number in FINDINGS if number not in told):
        blocks.append(prose(f"Pages about finding {left} are not made yet: ", Code(_ALL), "."))
    sections = [Section(title="The five findings", blocks=tuple(blocks), label="sec:findings")]
    against = tuple(_finding_line(*row, "–") for row in disagreements(pages))
    if against:
        section = Section(
            title="What does not agree", blocks=(Items(items=against),), label="sec:against"
        )
        sections.append(section)
    everything = Table(
        header=("page", "what it is about", "statements", "seconds"),
        rows=tuple(_page_row(page) for page in pages),
        alignment="lppr",
    )
    sections.append(Section(title="Pages", blocks=(everything,), label="sec:pages"))
    return Document(title="Make Haste Slowly, reproduced", subtitle=how, blocks=tuple(sections))


def _finding_line(page: str, outcome: str, text: str, figure: str) -> Content:
    shown = ("; figure ", Link(figure, figure)) if figure != "–" else ()
    word = Strong(f"{outcome[0].upper()}{outcome[1:]}. ")
    return (word, *marked(text), " (", Link(page, f"{page}/{PAGE}"), *shown, ")")


def _page_row(page: Mapping[str, Any]) -> tuple[Content, ...]:
    name = page["name"]
    link, seconds = Link(name, f"{name}/{PAGE}"), f"{page['seconds']:.0f}"
    return (link, marked(page["title"]), outcome_counts(page), seconds)


def outcome_counts(page: Mapping[str, Any]) -> str:
    """Return how many statements of a page came out how: "3 proven, 2 confirmed"."""
    words = ("proven", "computed", "confirmed", "disproved", "not confirmed", "undecided")
    told = [each["outcome"] for each in page["statements"]]
    return ", ".join(f"{told.count(word)} {word}" for word in words if word in told) or "–"


def files_of(pages: Sequence[Mapping[str, Any]], how: str) -> dict[str, str]:
    """Return what stands over all pages, by file name, but its JSON."""
    return {_INDEX: html.render(_index_document(pages, how))}
