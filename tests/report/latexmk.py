"""What compiles LaTeX in tests, where it is there."""

import shutil
import subprocess

import pytest

from symreln.report.results_folder import write_files

needs_latexmk = pytest.mark.skipif(
    shutil.which("latexmk") is None, reason="compiling needs latexmk, which is not a Python package"
)


def compiled(source, text, folder):
    """Compile a document's LaTeX with its figures; return the log."""
    path = folder / "document.tex"
    files = {f"figures/{drawn.name}.pdf": drawn.pdf for drawn in source.figures}
    write_files(folder, {path.name: text, **files})
    command = ["latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error", path.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    # One line a message, as TeX breaks them at 79 characters.
    log = (folder / "document.log").read_text(encoding="utf-8", errors="replace")
    errors = [line for line in log.splitlines() if line.startswith("!")]
    assert (done.returncode, errors) == (0, [])
    return log
