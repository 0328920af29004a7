"""Commands that are a call and what is printed of its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls import gates as calls
from symreln.calls.answers import AbstractAnswer
from symreln.calls.depth import depth
from symreln.cli.hardware import training_machine
from symreln.errors import InputError
from symreln.gating.finders import FINDERS
from symreln.report.folder import require_folder, write_together
from symreln.task_library.load import load
from symreln.train.machine import Library


def answered(
    doing: str,
    call: Callable[..., AbstractAnswer],
    *,
    spec: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Ask a call about a spec, write its files, and print the JSON or what the terminal shows.

    Args:
        doing: What is said while it works.
        call: The call of the command's name.
        spec: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        out: Folder for the results.
        as_json: Whether to print the JSON.
        quiet: Whether to show no progress.
        allow_outside: Whether data files may lie outside the spec's folder.
        **asked: What the call takes beside the spec.

    Returns:
        The exit code.
    """
    given = load(spec, overrides, allow_outside=allow_outside)
    require_folder(out)
    with Progress(quiet=quiet)(doing):
        found = call(given, **asked)
    show_answer(found, out, as_json=as_json, quiet=quiet)
    return 0


def show_answer(found: AbstractAnswer, out: Path, *, as_json: bool, quiet: bool) -> None:
    """Write an answer's files, and print its JSON or what the terminal shows."""
    with Progress(quiet=quiet)("writing the results"):
        files = found.files()
        if files:
            write_together(out, files)
    if as_json:
        put(dumps(found.to_json()))
        return
    for text in found.lines():
        say(text)
    if files:
        say(f"written to {out}: {', '.join(files)}")


def depth_for_user(*, backend: Library, device: str | None, float32: bool, **asked: Any) -> int:
    """Do what the command is asked for; takes its options, returns the exit code."""
    with training_machine(backend, device, float32=float32):
        return answered("training", depth, **asked)


def find_gates(*, method: str, **asked: Any) -> int:
    """Find gates, write and print them; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, or a parameter has no value.
    """
    known = {each.name: {*each.options} for each in FINDERS}
    _refuse("gates", f"--method {method}", set().union(*known.values()) - known[method])
    return answered("finding gates", calls.gates, method=method, **asked)


def race_gates(*, over: str | None, label: str | None, **asked: Any) -> int:
    """Race gates, write and print which wins; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, a parameter has no value, or networks are
            asked for and the spec has none.
    """
    if label is not None:
        if over is None:
            _refuse("race", "--by without --over PARAMETER", {"points"})
        _refuse("race", "--by", {"limit"})
    return answered("racing gates", calls.race, over=over, by=label, **asked)


def replay_gates(**asked: Any) -> int:
    """Replay gates, write and print the distances; takes the options of the command.

    Raises:
        InputError: A parameter has no value.
    """
    return answered("replaying", calls.replay, **asked)


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
