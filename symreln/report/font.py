"""The mathematics font of a page: STIX Two Math, cut down to the glyphs that the page draws.

The font comes with the ziamath package. It is under the SIL Open Font License 1.1, which allows
embedding and cutting down; its copyright and licence travel in the cut-down font's name table and
in the page beside it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from symreln.errors import NotSupportedError

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

FAMILY = "STIX Two Math"
NOTICE = (
    "STIX Two Math, copyright 2001-2020 The STIX Fonts Project Authors "
    "(https://github.com/stipub/stixfonts), cut down to the characters used here. Licensed under "
    "the SIL Open Font License, Version 1.1: https://scripts.sil.org/OFL"
)
# Brackets, roots and rules grow with what they hold, so they are there whatever the text says.
_ALWAYS = " ()[]{}|√−+=\N{OVERLINE}"

_ROOTS = (740, 880, 1030, 1400, 1620, 2100, 2630)  # heights of root signs, in thousandths of an em


def math_font(characters: Iterable[str]) -> bytes:
    """Return a WOFF font with ``characters``, their stretched variants and the MATH table.

    The bytes depend on the set of characters alone. Characters that STIX lacks are left out: the
    browser takes them from another font.
    """
    from fontTools import subset, ttLib

    # Outlines keep the bounds that they came with: finding them again takes half of the time.
    packed = io.BytesIO(_font_bytes())
    font = ttLib.TTFont(packed, lazy=True, recalcTimestamp=False, recalcBBoxes=False)
    subsetter = subset.Subsetter(
        subset.Options(
            layout_features=[],  # Chromium 156 takes no script-size variants: half of the bytes
            hinting=False,
            glyph_names=False,
            notdef_outline=True,
            recalc_timestamp=False,
            name_IDs=[0, 1, 2, 13, 14],  # copyright, names, licence and its address
            name_languages=[0x409],
            # Positions, substitutions and classes serve other scripts; a signature no longer holds.
            drop_tables=["GPOS", "GDEF", "GSUB", "DSIG"],
        )
    )
    subsetter.populate(unicodes={ord(c) for c in (*characters, *_ALWAYS)})
    subsetter.subset(font)
    _narrow_radicals(font)
    _ladder_of_radicals(font)
    font.flavor = "woff"
    stream = io.BytesIO()
    font.save(stream)
    return stream.getvalue()


def _narrow_radicals(font: TTFont) -> None:
    """Make tall root signs as wide as the ordinary one.

    Chromium 156 reserves for every root the width of the widest sign in the font, which leaves a
    gap after short ones and pushes fractions off their centre. The tall signs are drawn narrower
    instead: the font's licence allows it, and its copyright line reserves no name.
    """
    variants = font["MATH"].table.MathVariants
    radical = (font.getBestCmap() or {})[ord("√")]
    place = variants.VertGlyphCoverage.glyphs.index(radical)
    construction = variants.VertGlyphConstruction[place]
    names = {record.VariantGlyph for record in construction.MathGlyphVariantRecord}
    names |= {part.glyph for part in construction.GlyphAssembly.PartRecords}
    width, _ = font["hmtx"][radical]
    for name in sorted(names):
        advance, bearing = font["hmtx"][name]
        if advance > width:
            glyph = font["glyf"][name]
            glyph.coordinates.scale((width / advance, 1))
            glyph.coordinates.toInt()
            glyph.recalcBounds(font["glyf"])
            font["hmtx"][name] = (width, round(bearing * width / advance))


def _ladder_of_radicals(font: TTFont) -> None:
    """Give the root sign sizes between those that the font has, the least for a single digit.

    Chromium 156 hangs the sign from its bar, as TeX does, but does not share between top and bottom
    what the sign has too much: one much taller than what is under it reaches far below the line.
    Each new size is the next larger sign, less tall.
    """
    variants = font["MATH"].table.MathVariants
    radical = (font.getBestCmap() or {})[ord("√")]
    construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(radical)]
    drawn = [
        (record.AdvanceMeasurement, deepcopy(font["glyf"][record.VariantGlyph]))
        for record in construction.MathGlyphVariantRecord
    ]
    width, _ = font["hmtx"][radical]
    records = []
    for size in sorted({*_ROOTS, *(height for height, _ in drawn)}):
        height, glyph = next((h, deepcopy(glyph)) for h, glyph in drawn if h >= size)
        glyph.coordinates.scale((1, size / height))
        glyph.coordinates.toInt()
        glyph.recalcBounds(font["glyf"])
        record = type(construction.MathGlyphVariantRecord[0])()
        record.VariantGlyph = f"root{size}" if records else radical
        record.AdvanceMeasurement = size
        font["glyf"][record.VariantGlyph] = glyph
        font["hmtx"][record.VariantGlyph] = (width, glyph.xMin)
        records.append(record)
    construction.MathGlyphVariantRecord = records


def _font_bytes() -> bytes:
    # Found, not imported: importing ziamath reads the whole font and warns of its own age.
    spec = find_spec("ziamath")
    if spec is None or not spec.submodule_search_locations:
        msg = "HTML: found no ziamath package, which brings the mathematics font. Install it again."
        raise NotSupportedError(msg)
    (folder,) = spec.submodule_search_locations
    return (Path(folder) / "fonts" / "STIXTwoMath-Regular.ttf").read_bytes()


def data_uri(font: bytes) -> str:
    """Return ``font`` as a data URI."""
    return "data:font/woff;base64," + base64.b64encode(font).decode("ascii")
