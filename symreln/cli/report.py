"""The command report: documents of a saved folder, and what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symreln.base.console import put, say
from symreln.base.jsonio import dumps
from symreln.base.progress import phase
from symreln.cli.options import imported
from symreln.report.results_folder import require_folder


def report(call: str, folder: str, *, out: Path, as_json: bool, **asked: Any) -> int:
    """Write documents and say which; return the exit code."""
    if out != Path(folder):
        require_folder(out)
    with phase("document"):
        files = imported(call)(folder, directory=out, **asked)
    names = [path.relative_to(out).as_posix() for path in files]
    if as_json:
        put(dumps({"files": names}))
    else:
        say(f"written to {out}: {', '.join(names)}")
    return 0
