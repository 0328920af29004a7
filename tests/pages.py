"""The page of a confrontation, as its reader has it."""

from __future__ import annotations

import symreln as sr
from symreln.report import html
from symreln.report.content import derivation_document


def page_of(found: sr.Validation) -> str:
    """Return the whole page, folds too."""
    return html.render(derivation_document(found.derivation, found))
