"""The work of ``symreln gates``, ``race`` and ``replay``: call, write, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls import gates as calls
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.gating.finders import FINDERS
from symreln.report.folder import require_folder, write_together
from symreln.task_library.load import load


def find_gates(
    *,
    spec: str,
    method: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Find gates, write and print them; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, or a parameter has no value.
    """
    finder = next(each for each in FINDERS if each.name == method)
    _refuse("gates", f"--method {method}", {*asked} - {*finder.options, "rng"})
    given = load(spec, overrides, allow_outside=allow_outside)
    with Progress(quiet=quiet)("finding gates"):
        found = calls.gates(given, finder.name, **asked)
    _write(out, found, as_json=as_json, quiet=quiet)
    return 0


def race_gates(
    *,
    spec: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    over: str | None,
    label: str | None,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Race gates, write and print which wins; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, a parameter has no value, or networks are
            asked for and the spec has none.
    """
    given = load(spec, overrides, allow_outside=allow_outside)
    if label is not None:
        if over is None:
            _refuse("race", "--by without --over PARAMETER", {"stage", "points"})
        _refuse("race", "--by", {"limit"})
    if asked["seeds"]:
        network_of(given)
    with Progress(quiet=quiet)("racing gates"):
        found = calls.race(given, over, by=label, **asked)
    _write(out, found, as_json=as_json, quiet=quiet)
    return 0


def replay_gates(
    *,
    spec: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Replay gates, write and print the distances; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, or a parameter has no value.
    """
    given = load(spec, overrides, allow_outside=allow_outside)
    require_folder(out)
    with Progress(quiet=quiet)("replaying"):
        found = calls.replay(given, **asked)
    _write(out, found, as_json=as_json, quiet=quiet)
    return 0


def _refuse(command: str, where: str, names: set[str]) -> None:
    """Refuse options that would be left unheard.

    Raises:
        InputError: One is given on the command line.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and given is click.core.ParameterSource.COMMANDLINE:
            msg = f"{command}: {parameter.opts[0]} has no meaning with {where}. Leave it out"
            raise InputError(msg)


def _write(folder: Path, found: calls.GateAnswer, *, as_json: bool, quiet: bool) -> None:
    """Write a result's JSON, tables and figure, and print the JSON or what the terminal shows."""
    require_folder(folder)
    with Progress(quiet=quiet)("writing the results"):
        files = found.files()
        write_together(folder, files)
    if as_json:
        put(files[found.found.file])
        return
    for text in found.lines():
        say(text)
    say(f"{folder}: {', '.join(files)}", err=True)
