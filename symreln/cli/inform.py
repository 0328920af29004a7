"""The work of the commands that derive nothing: verify, tasks, info, schema. Quick to import."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.calls import inform
from symreln.errors import InputError
from symreln.report.inform import checks_said, machine_said, tasks_said
from symreln.task_library.registry import spec_path
from symreln.verifier.folder import CERTIFICATE


def verify(certificate: Path, *, as_json: bool) -> int:
    """Check a certificate, or the one in a folder, and print what it proves."""
    with Progress(quiet=False)("verifying"):
        checks = inform.verify(certificate)
    path = certificate / CERTIFICATE if certificate.is_dir() else certificate
    click.echo(checks_said(path, checks, as_json=as_json), nl=False)
    return 0


def show_tasks(name: str | None, *, as_json: bool) -> int:
    """Print the ready-made specs, or one of them in full."""
    found = inform.tasks()
    said = tasks_said(found, as_json=as_json) if name is None else _spec_text(name, found)
    click.echo(said, nl=False)
    return 0


def _spec_text(name: str, names: Collection[str]) -> str:
    if name not in names:
        msg = f"tasks: found no ready-made spec '{name}'. There are: {', '.join(names)}"
        raise InputError(msg)
    return spec_path(name).read_text(encoding="utf-8")


def show_info(*, as_json: bool) -> int:
    """Print versions and the machine."""
    click.echo(machine_said(inform.info(), as_json=as_json), nl=False)
    return 0


def show_schema() -> int:
    """Print the JSON Schema of a spec."""
    click.echo(dumps(inform.schema()), nl=False)
    return 0
