"""Commands that print what a Python call returns, and write nothing. Quick to import."""

from __future__ import annotations

from pathlib import Path

from symreln.base.console import put, say
from symreln.base.jsonio import dumps
from symreln.cli.options import imported
from symreln.errors import visible
from symreln.verifier.folder import CERTIFICATE, NOT_COVERED


def tell(call: str, given: str | None = None, *, as_json: bool) -> int:
    """Print what a call returns, as JSON or as lines; return the exit code."""
    found = imported(call)(*(() if given is None else (given,)))
    if as_json or call.endswith(":schema"):
        put(dumps(found))
    elif isinstance(found, list):
        _show_checks(Path(str(given)), found)
    elif given is not None:
        put(found[given])
    else:
        width = max(map(len, found))
        put("".join(f"{name:<{width}}  {value}\n" for name, value in found.items()))
    return 0


def _show_checks(path: Path, checks: list[str]) -> None:
    for check in checks:
        say(f"  {'' if check.startswith(NOT_COVERED) else 'ok  '}{check}")
    path = path / CERTIFICATE if path.is_dir() else path
    say(f"{visible(str(path))}: every identity holds")
