"""The work of the commands that derive nothing: verify, tasks, info, schema. Quick to import."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls import inform
from symreln.errors import InputError, visible
from symreln.task_library.registry import spec_path
from symreln.verifier.folder import CERTIFICATE, NOT_COVERED


def verify(certificate: Path, *, as_json: bool) -> int:
    """Check a certificate, or the one in a folder, and print what it proves."""
    with Progress(quiet=False)("verifying"):
        checks = inform.verify(certificate)
    path = certificate / CERTIFICATE if certificate.is_dir() else certificate
    if as_json:
        put(dumps({"certificate": str(path), "checks": checks}))
        return 0
    for check in checks:
        say(f"  {'' if check.startswith(NOT_COVERED) else 'ok  '}{check}")
    say(f"{visible(str(path))}: every identity holds")
    return 0


def show_tasks(name: str | None, *, as_json: bool) -> int:
    """Print the ready-made specs, or one of them in full."""
    found = inform.tasks()
    if name is not None:
        said = _spec_text(name, found)
    elif as_json:
        said = dumps([{"name": name, "summary": summary} for name, summary in found.items()])
    else:
        said = _columns(found)
    put(said)
    return 0


def _columns(pairs: Mapping[str, str]) -> str:
    width = max(map(len, pairs))
    return "".join(f"{name:<{width}}  {value}\n" for name, value in pairs.items())


def _spec_text(name: str, names: Collection[str]) -> str:
    if name not in names:
        msg = f"tasks: found no ready-made spec '{name}'. There are: {', '.join(names)}"
        raise InputError(msg)
    return spec_path(name).read_text(encoding="utf-8")


def show_info(*, as_json: bool) -> int:
    """Print versions and the machine."""
    found = inform.info()
    put(dumps(found) if as_json else _columns(found))
    return 0


def show_schema() -> int:
    """Print the JSON Schema of a spec."""
    put(dumps(inform.schema()))
    return 0
