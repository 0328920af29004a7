"""What stands around a page's content: head, policy, style, script and font, all in one file.

The content-security policy forbids every request. It lets the script run whose hash it names,
which this module puts into the page; the page can be read without it.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from symreln.document.escape import escape_html

# Of math.woff, which tests/cut_font.py cuts.
_NOTICE = (
    "STIX Two Math, copyright 2001-2020 The STIX Fonts Project Authors "
    "(https://github.com/stipub/stixfonts), cut down to the characters of pages. Licensed under "
    "the SIL Open Font License, Version 1.1: https://scripts.sil.org/OFL"
)
# Styles stand in the page and on figures' elements, so they are allowed inline; they can fetch
# nothing, because images and fonts may come from data: addresses only.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; script-src "
)


def whole_page(title: str, body: str) -> str:
    """Return an HTML file.

    Args:
        title: Plain text.
        body: Markup: what stands in the ``body`` element.
    """
    mathematics = "<math" in body
    script = asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"{_POLICY}'sha256-{digest}'"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape_html(title)}</title>",
        f"<script>{script}</script>",
        f"<style>\n{_font() if mathematics else ''}{asset('page.css')}</style>",
        "</head>",
        "<body>",
        body,
        *([f"<footer>{escape_html(_NOTICE)}</footer>"] if mathematics else []),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def asset(name: str) -> str:
    """Return the text of a file that the package carries for its pages."""
    return (files("symreln.report") / name).read_text(encoding="utf-8")


def _font() -> str:
    """Return the style of the font of mathematics, which it holds."""
    held = base64.b64encode((files("symreln.report") / "math.woff").read_bytes()).decode("ascii")
    source = f'url(data:font/woff;base64,{held}) format("woff")'
    return f'/* {_NOTICE} */\n@font-face {{ font-family: "STIX Two Math"; src: {source}; }}\n'
