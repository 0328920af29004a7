"""Cut the mathematics font of pages out of STIX Two Math: ``python -m tests.cut_font``.

The font comes with the ziamath package. It is under the SIL Open Font License 1.1, which allows
embedding and cutting down; its copyright and licence travel in the cut-down font's name table and
in the pages beside it.
"""

from __future__ import annotations

import io
from copy import deepcopy
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

#: The font that the package ships.
SHIPPED = Path(__file__).parents[1] / "symreln" / "report" / "math.woff"
_LETTERS = (
    (0x20, 0x7E),  # ASCII
    (0xA0, 0x17F),  # Latin with accents, for names
    (0x391, 0x3C9),  # Greek
    (0x1D400, 0x1D467),  # bold, mathematical italic
    (0x1D49C, 0x1D4B5),  # script capitals
    (0x1D538, 0x1D550),  # double-struck capitals
    (0x1D6E2, 0x1D71B),  # mathematical italic Greek
    (0x1D7CE, 0x1D7D7),  # bold digits
)
_SIGNS = (
    "\N{OVERLINE}ˆˇ˘˙˜ϕϵ‖†…′″\N{FUNCTION APPLICATION}\N{INVISIBLE TIMES}"
    "ℂℍℎℕℙℚℝℤℬℰℱℋℐℒℳℛℓℏℵϑ←↑→↓↔↦⇐⇒⇔∀∂∃∅∇∈∉∋∏∑−∓∖∘√∝∞∠∣∤∥∧∨∩∪∫∼≃≅≈≔≠≡≤≥≪≫⊂⊆⊊⊕⊗⊙⊤⊥⋅⋮⋯⋱⌈⌉⌊⌋⟂⟨⟩⟶⟹⟺⧵⨁⪯⪰≺≻―‴"
)
_ROOTS = (740, 880, 1030, 1400, 1620, 2100, 2630)  # heights of root signs, in thousandths of an em


def cut() -> bytes:
    """Return a WOFF font with what pages draw, its stretched variants and the MATH table."""
    font = TTFont(_original(), recalcTimestamp=False, recalcBBoxes=False)
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
    letters = (range(first, last + 1) for first, last in _LETTERS)
    subsetter.populate(unicodes={*chain(*letters), *map(ord, _SIGNS)})
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


def _original() -> Path:
    # Found, not imported: importing ziamath reads the whole font and warns of its own age.
    spec = find_spec("ziamath")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (folder,) = spec.submodule_search_locations
    return Path(folder) / "fonts" / "STIXTwoMath-Regular.ttf"


if __name__ == "__main__":
    SHIPPED.write_bytes(cut())
