"""The command derive: what documents need is begun before the checks, and done beside them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from symreln.base.beside import helper
from symreln.base.lazy import lazy
from symreln.errors import InputError
from symreln.report.formats import document_formats, require_formats
from symreln.report.latex_style import Style
from symreln.report.results_folder import require_folder

(load,) = lazy("task_library", "load")
(pipeline,) = lazy("pipeline", "derive")
early, lines = lazy("claims", "early lines")
drawings, terminal, write = lazy("report", "drawings terminal write")
#: What figures are drawn with: half a second of imports.
DRAWS = ("symreln.report.figures", "matplotlib.backends.backend_pdf")


def derive(
    _: str,
    spec: str,
    *,
    overrides: Sequence[str],
    allow_outside: bool,
    out: Path,
    formats: Sequence[str],
    latex: Sequence[str],
    full: bool,
    as_json: bool,
) -> int:
    """Derive, write the derivation and print what it says; return the exit code.

    Each part of it is imported when it is needed, while others work beside it.
    """
    require_folder(out)
    require_formats(formats)
    style, drawing = Style.of(latex), DRAWS if document_formats(formats) else ()
    with helper(*drawing, first="symreln.report.flat"):
        asked = load.load(spec, overrides, allow_outside=allow_outside)
        derivation = pipeline.derive(asked, lambda found: _begin(found, formats))
        files = write.write_derivation(derivation, out, formats=formats, style=style, full=full)
        terminal.show_derivation(derivation, out, files, as_json=as_json)
    return 0


def _begin(derivation: Any, formats: Sequence[str]) -> None:
    """Have done beside the checks what a derivation's outputs need, and no check changes."""
    derivation.ask(lines.derivation_lines)
    documents = document_formats(formats)
    if documents:
        with suppress(InputError, OverflowError):  # which those say who ask for it
            early.begin_early_strengths(derivation)
            derivation.ask(drawings.STILL[any(each.latex for each in documents)])
