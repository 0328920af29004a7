"""LaTeX compiled by latexmk where it is installed, kept from running or reading anything else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from symreln.errors import LimitReachedError, NotSupportedError, SymrelnError
from symreln.report.jsonio import write_bytes
from symreln.report.latex import FIGURES

TIMEOUT = 120.0  # seconds; a derivation takes about one


class LatexError(SymrelnError):
    """LaTeX refused a document of ours: a bug, with the line of its log that says why."""

    exit_code = 1


def compile_pdf(tex: Path, *, timeout: float = TIMEOUT) -> Path:
    """Compile ``tex`` and put the PDF beside it; the same source gives the same bytes.

    Args:
        tex: A file written by :func:`symreln.report.latex.save`.
        timeout: Seconds.

    Returns:
        The path of the PDF.

    Raises:
        NotSupportedError: latexmk is not installed.
        LatexError: LaTeX ended with an error.
        LimitReachedError: It took longer than ``timeout``.
    """
    latexmk = shutil.which("latexmk")
    if latexmk is None:
        msg = f"{tex.name}: no latexmk to compile it. Install TeX Live, or read the HTML."
        raise NotSupportedError(msg)
    with tempfile.TemporaryDirectory(prefix="symreln-") as name:
        folder = Path(name)
        shutil.copyfile(tex, folder / "document.tex")
        if (tex.parent / FIGURES).is_dir():
            shutil.copytree(tex.parent / FIGURES, folder / FIGURES)
        _run(latexmk, folder, tex.name, timeout)
        pdf = tex.with_suffix(".pdf")
        write_bytes(pdf, (folder / "document.pdf").read_bytes())
    return pdf


def _run(latexmk: str, folder: Path, name: str, timeout: float) -> None:
    # -norc: a latexmkrc is Perl that latexmk would run.
    command = [latexmk, "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error"]
    command += ["-pdflatex=pdflatex -no-shell-escape %O %S", "document.tex"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired as error:
        _stop(process)
        msg = f"{name}: LaTeX was stopped after {timeout:g} s. Compile the .tex file by hand."
        raise LimitReachedError(msg) from error
    if code:
        msg = f"{name}: LaTeX ended with an error: {_reason(folder / 'document.log')}"
        raise LatexError(msg)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop latexmk together with the pdflatex that it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _environment() -> dict[str, str]:
    """Return the environment with TeX's own locks closed and its clock stopped."""
    locks = {"openin_any": "p", "openout_any": "p", "shell_escape": "f"}
    clock = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    return os.environ | locks | clock


def _reason(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return next((line for line in lines if line.startswith("!")), "no log was written")
