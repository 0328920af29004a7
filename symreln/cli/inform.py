"""The work of the commands that derive nothing: verify, tasks, info, schema. Quick to import."""

from __future__ import annotations

from pathlib import Path

import click

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.base.provenance import environment
from symreln.errors import InputError
from symreln.spec.schema import json_schema
from symreln.tasks import list_tasks
from symreln.tasks.registry import TASKS, spec_path
from symreln.verify import verify_file
from symreln.verify.folder import CERTIFICATE


def verify(certificate: Path, *, as_json: bool) -> int:
    """Check a certificate, or the one in a folder, and print what it proves."""
    with Progress(quiet=False)("verifying"):
        checks = verify_file(certificate)
    path = certificate / CERTIFICATE if certificate.is_dir() else certificate
    if as_json:
        click.echo(dumps({"certificate": str(path), "checks": list(checks)}), nl=False)
        return 0
    for check in checks:
        click.echo(f"  ok  {check}")
    click.echo(f"{path}: every identity holds")
    return 0


def show_tasks(name: str | None, *, as_json: bool) -> int:
    """Print the ready-made specs, or one of them in full."""
    found = list_tasks()
    if name is not None:
        click.echo(_spec_text(name, [known for known, _ in found]), nl=False)
    elif as_json:
        click.echo(dumps([{"name": n, "summary": s} for n, s in found]), nl=False)
    else:
        _show_pairs(dict(found))
    return 0


def _spec_text(name: str, names: list[str]) -> str:
    if name not in names:
        msg = f"tasks: found no ready-made spec '{name}'. There are: {', '.join(names)}"
        raise InputError(msg)
    return spec_path(name).read_text(encoding="utf-8")


def show_info(*, as_json: bool) -> int:
    """Print versions and the machine."""
    found = environment()
    if as_json:
        click.echo(dumps(found), nl=False)
    else:
        _show_pairs(found)
    return 0


def show_schema() -> int:
    """Print the JSON Schema of a spec."""
    click.echo(dumps(json_schema(TASKS)), nl=False)
    return 0


def _show_pairs(pairs: dict[str, str]) -> None:
    width = max(map(len, pairs))
    for name, value in pairs.items():
        click.echo(f"{name:<{width}}  {value}")
