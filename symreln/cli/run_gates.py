"""The work of ``symreln gates``, ``race`` and ``replay``: call, write, print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls import gates as calls
from symreln.errors import InputError
from symreln.gating.finders import FINDERS
from symreln.report.folder import require_folder, write_together
from symreln.task_library.load import load


def find_gates(*, method: str, **asked: Any) -> int:
    """Find gates, write and print them; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, or a parameter has no value.
    """
    known = {each.name: {*each.options} for each in FINDERS}
    _refuse("gates", f"--method {method}", set().union(*known.values()) - known[method])
    return _answered("finding gates", calls.gates, method=method, **asked)


def race_gates(*, over: str | None, label: str | None, **asked: Any) -> int:
    """Race gates, write and print which wins; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, a parameter has no value, or networks are
            asked for and the spec has none.
    """
    if label is not None:
        if over is None:
            _refuse("race", "--by without --over PARAMETER", {"stage", "points"})
        _refuse("race", "--by", {"limit"})
    return _answered("racing gates", calls.race, over=over, by=label, **asked)


def replay_gates(**asked: Any) -> int:
    """Replay gates, write and print the distances; takes the options of the command.

    Raises:
        InputError: A parameter has no value.
    """
    return _answered("replaying", calls.replay, **asked)


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


def _answered(
    doing: str,
    call: Callable[..., calls.GateAnswer],
    *,
    spec: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Ask a call about a spec, write its files, and print the JSON or what the terminal shows."""
    given = load(spec, overrides, allow_outside=allow_outside)
    require_folder(out)
    with Progress(quiet=quiet)(doing):
        found = call(given, **asked)
    with Progress(quiet=quiet)("writing the results"):
        files = found.files()
        write_together(out, files)
    if as_json:
        put(files[found.found.file])
        return 0
    for text in found.lines():
        say(text)
    say(f"{out}: {', '.join(files)}", err=True)
    return 0
