"""Matplotlib's SVG made fit to stand inside a page beside others, in the page's own colours."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symreln.document.escape import escape_html
from symreln.document.model import Drawing
from symreln.errors import InputError
from symreln.report.looks import INK_SHARES, LIT

_ROOT = re.compile(r"<svg\b[^>]*>")
# Comments repeat the labels; the style sheet would apply to the whole page, so it becomes two
# attributes of the drawing.
_LEFT_OUT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style\b.*?</style>", re.DOTALL)
_STYLE = 'fill="currentColor" stroke-linejoin="round" stroke-linecap="butt"'
_IDENTIFIER = re.compile(r'(\bid="|\bxlink:href="#|\bhref="#|url\(#)')
_SIZE = re.compile(r'\b(width|height|viewBox)="([^"]*)"')
# Figures are drawn for 8.5 pt words on paper; beside a page's larger words they are larger too.
_SCALE = 1.2
# A drawing is words, paths and data: images. Whatever else an SVG can hold, it is not ours.
_FOREIGN = re.compile(
    r"<\s*(?:script|foreignObject|iframe)|\bon[a-z]+\s*=|(?:xlink:)?href=\"(?!#|data:image/)",
    re.IGNORECASE,
)


def inline_svg(drawing: Drawing, description: str) -> str:
    """Return the ``svg`` element of ``drawing``: identifiers its own, described, nothing fetched.

    Raises:
        InputError: The drawing holds a script or loads something.
    """
    svg = _LEFT_OUT.sub("", drawing.svg)
    found = _FOREIGN.search(svg)
    root = _ROOT.search(svg)
    if found or not root:
        what = repr(found[0]) if found else "no svg element"
        msg = f"figure {drawing.name!r}: found {what}. Draw it with symreln.report."
        raise InputError(msg)
    body = _IDENTIFIER.sub(rf"\g<1>{drawing.name}-", svg[root.end() :])
    body = _COLOUR.sub(lambda found: f"{found[1]}{_followed(found[2])}", body)
    size = " ".join(_sized(root[0]))
    return (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" {size} {_STYLE} role="img" '
        f'aria-label="{escape_html(description)}">{body.strip()}'
    )


def _sized(root: str) -> Iterator[str]:
    """Yield the size attributes of the root element, scaled to the page's words."""
    for name, value in _SIZE.findall(root):
        scaled = value if name == "viewBox" else f"{float(value.removesuffix('pt')) * _SCALE:.1f}pt"
        yield f'{name}="{scaled}"'


_COLOUR = re.compile(r"\b((?:fill|stroke|stop-color): )(#[0-9a-f]{6})\b")


def _followed(colour: str) -> str:
    """Return a colour of a drawing on white so that it follows the page from light to dark."""
    if colour in INK_SHARES:
        return f"color-mix(in srgb, var(--ink) {INK_SHARES[colour]}%, var(--paper))"
    return f"light-dark({colour}, {LIT[colour]})" if colour in LIT else colour
