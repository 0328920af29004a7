"""Documents of a saved folder in other formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from symreln.calls.open import folder_of, open
from symreln.errors import InputError
from symreln.report.formats import FORMATS, document_formats, require_formats
from symreln.report.latex_style import Style
from symreln.report.results_folder import write_together
from symreln.report.saved_documents import SAVED, document_files, read_document
from symreln.report.write import begin_document
from symreln.specs.finding import nearest, shown
from symreln.verifier.folder import DOCUMENT, JSON_FILES

if TYPE_CHECKING:
    import os

_DERIVATION, _VALIDATION, _ = JSON_FILES


def report(
    folder: str | os.PathLike[str],
    formats: Sequence[str] = (),
    directory: str | os.PathLike[str] | None = None,
    *,
    latex: Sequence[str] = (),
    full: bool = False,
) -> list[Path]:
    """Write documents of a saved run in other formats, without training again.

    What run, validate and explain have saved is rendered as it is; a derivation alone is derived
    again and compared with its certificate. A folder with a changed file is refused.

    Args:
        folder: Folder of run, derive, validate or explain.
        formats: Some of tex, html, fragment (LaTeX to include) and pdf (which needs the extra
            ``symreln[pdf]``); the first two by default.
        directory: Where they are written, made if it is not there; by default into the folder.
        latex: How LaTeX is written, as of derive: prefix=ctx:, level=2, numbering=all, or
            figures=FOLDER.
        full: Whether to put all that the page folds into documents on paper, too.

    Raises:
        CertificateError: A file was changed or is of another derivation.
        InputError: It is no such folder, or is of another version; or there is no such format.
        NotSupportedError: A format needs a package that is not installed.

    Example:
        >>> import symreln as sr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = sr.derive("xor").save(folder, "json")
        ...     [path.name for path in sr.report(folder, "html")]
        ['derivation.html']
    """
    names = {formats} if isinstance(formats, str) else {*formats}
    style = Style.of(latex)
    _require_documents(names)
    wanted, place = document_formats(names), folder_of(folder, "report")
    stems = [stem for stem, name in SAVED.items() if (place / name).exists()]
    found = {stem: read_document(place / SAVED[stem]) for stem in stems}
    if not found:
        _require_derivation(place)
        derivation = open(place)
        pdf = any(each.latex for each in wanted)
        found["derivation"] = begin_document(derivation, pdf=pdf)(), derivation.certificate
    files: dict[str, str | bytes] = {}
    for stem, (document, proof) in found.items():
        files |= document_files(document, wanted, proof, stem=stem, style=style, full=full)
    out = place if directory is None else Path(directory)
    own = out.exists() and out.samefile(place)
    return write_together(out, files, own=own)


def _require_derivation(folder: Path) -> None:
    """Refuse a folder without a saved document that is not of a derivation alone."""
    if (folder / _VALIDATION).exists():
        msg = (
            f"report: {folder} has {_VALIDATION} and no {DOCUMENT}: it is of an earlier version, "
            "or was derived again. Write it again with `symreln run` or `symreln validate`"
        )
        raise InputError(msg)
    if not (folder / _DERIVATION).exists():
        msg = (
            f"report: found none of {', '.join((*SAVED.values(), _DERIVATION))} in {folder}. "
            "`symreln run`, `validate`, `explain` and, with --format json, `derive` write one"
        )
        raise InputError(msg)


def _require_documents(names: set[str]) -> None:
    documents = [each.name for each in FORMATS]
    for name in sorted(names.difference(documents)):
        msg = (
            f"report: format: found {shown(name)}, which is no document. {nearest(name, documents)}"
        )
        raise InputError(msg)
    require_formats(names)
