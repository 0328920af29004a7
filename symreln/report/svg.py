"""Matplotlib's SVG made fit to stand inside a page beside others, in the page's own colours."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from symreln.document.escape import escape_html
from symreln.document.model import Drawing
from symreln.errors import InputError

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
_INK, _GROUND = 0x1B, 0x18  # the light page's ink and the dark page's ground: page.css
_NEAR_GREY = 0x10  # most that the channels of a grey differ by
_READABLE = 4.5  # WCAG AA: contrast of words against their ground


def _followed(colour: str) -> str:
    """Return a colour of a drawing on white so that it follows the page from light to dark.

    Greys are mixed from the page's ink and ground; colours too dark for a dark ground are lightened
    there until words in them can be read.
    """
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    if max(channels) - min(channels) <= _NEAR_GREY:
        ink = min(1.0, (0xFF - max(channels)) / (0xFF - _INK))
        return f"color-mix(in srgb, var(--ink) {ink:.0%}, var(--paper))"
    lit = channels
    while _contrast(lit, [_GROUND] * 3) < _READABLE:
        lit = [value + math.ceil((0xFF - value) / 16) for value in lit]
    return colour if lit == channels else f"light-dark({colour}, #{bytes(lit).hex()})"


def _contrast(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2, relative luminance)."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(channels: Sequence[int]) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (v / 255 for v in channels)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
