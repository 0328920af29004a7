"""The mathematics font of a page: STIX Two Math, cut down to the glyphs that the page draws.

The font comes with the ziamath package. It is under the SIL Open Font License 1.1, which allows
embedding and cutting down; its copyright and licence travel in the cut-down font's name table and
in the page beside it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from importlib.resources import files

FAMILY = "STIX Two Math"
NOTICE = (
    "STIX Two Math, copyright 2001-2020 The STIX Fonts Project Authors "
    "(https://github.com/stipub/stixfonts), cut down to the characters used here. Licensed under "
    "the SIL Open Font License, Version 1.1: https://scripts.sil.org/OFL"
)
# Brackets, roots and rules grow with what they hold, so they are there whatever the text says.
_ALWAYS = " ()[]{}|√−+=\N{MACRON}"


def math_font(characters: Iterable[str]) -> bytes:
    """Return a WOFF font with ``characters``, their stretched variants and the MATH table.

    The bytes depend on the set of characters alone. Characters that STIX lacks are left out: the
    browser takes them from another font.
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(_font_bytes()), lazy=True, recalcTimestamp=False)
    subsetter = Subsetter(
        Options(
            layout_features=["ssty"],  # script-size variants, primes above all
            hinting=False,
            glyph_names=False,
            notdef_outline=True,
            recalc_timestamp=False,
            name_IDs=[0, 1, 2, 13, 14],  # copyright, names, licence and its address
            name_languages=[0x409],
            # Positioning and class tables serve other scripts; a signature no longer holds.
            drop_tables=["GPOS", "GDEF", "DSIG"],
        )
    )
    subsetter.populate(unicodes=sorted({ord(c) for c in (*characters, *_ALWAYS)}))
    subsetter.subset(font)
    font.flavor = "woff"
    stream = io.BytesIO()
    font.save(stream)
    return stream.getvalue()


def _font_bytes() -> bytes:
    return (files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf").read_bytes()


def data_uri(font: bytes) -> str:
    """Return ``font`` as a data URI."""
    return "data:font/woff;base64," + base64.b64encode(font).decode("ascii")
