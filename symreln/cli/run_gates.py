"""The work of ``symreln gates``, ``race`` and ``replay``: call, write, print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.errors import InputError
from symreln.gating import races
from symreln.gating.finders import ALIASES, FINDERS
from symreln.gating.replay import replay_report
from symreln.gating.serialise import Page
from symreln.gating.spec_text import gates_toml
from symreln.report.encode import Encoder
from symreln.report.folder import require_folder, write_files
from symreln.report.gate_figures import figure_of
from symreln.report.pages import markdown
from symreln.specs.model import Spec
from symreln.tasks.load import load


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
    finder = next(each for each in FINDERS if each.name == ALIASES.get(method, method))
    _refuse("gates", f"--method {method}", {*asked} - {*finder.options, "rng"})
    given = load(spec, overrides, allow_outside=allow_outside)
    with Progress(quiet=quiet)("gates"):
        found = finder.find(_at_values("gates", given), finder.name, **asked)
    files = {}
    if found.pathways:
        title = f"{given.title}: gates found ({finder.name})"
        files["gates.toml"] = gates_toml(given, found.pathways, title)
    _write(out, found, given, files, as_json=as_json)
    return 0


def race_gates(
    *,
    spec: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    over: str | None,
    label: str | None,
    modules: str | None,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Race gates, write and print which wins; takes the options of the command.

    Raises:
        InputError: Options have no meaning together, or a parameter has no value.
    """
    given = load(spec, overrides, allow_outside=allow_outside)
    if modules is not None:
        _refuse("race", "--rivals", {"over", "label", "stage", "limit", "points"})
        _at_values("race", given)
    elif label is not None:
        if over is None:
            _refuse("race", "--by without --over PARAMETER", {"stage", "points"})
        _refuse("race", "--by", {"limit"})
    with Progress(quiet=False)("race"):
        if modules is not None:
            found = races.rivals(given, modules, asked["seeds"], asked["rng"])
        elif label is None or over is not None:
            found = races.over_parameter(given, over, label=label, **asked)
        else:
            numbers = _at_values("race", given)
            found = races.by_label(numbers, label, asked["seeds"], asked["rng"])
    _write(out, found, given, {}, as_json=as_json)
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
    numbers = _at_values("gates", load(spec, overrides, allow_outside=allow_outside))
    require_folder(out)
    with Progress(quiet=quiet)("replay"):
        found = replay_report(numbers, **asked)
    _write(out, found, numbers, {}, as_json=as_json)
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


def _at_values(command: str, spec: Spec) -> Spec:
    """Return a spec at its declared values.

    Raises:
        InputError: A parameter has none.
    """
    left = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if left:
        rather = ", or ask for `symreln race`" if command == "gates" else ""
        msg = (
            f"{command}: {', '.join(left)} has no value. Declare one, e.g. "
            f"--set parameters.{left[0]}.value=1{rather}"
        )
        raise InputError(msg)
    return spec.at_values()


def _write(
    folder: Path, result: Any, spec: Spec, files: Mapping[str, str], *, as_json: bool
) -> None:
    """Write a result's JSON, tables and figure, and print the JSON or what the terminal shows."""
    found, drawn = Encoder.of(spec)(result), figure_of(result)
    tables = {name: markdown(page) for name, page in result.tables.items()}
    files = {**files, **tables} | ({f"{drawn.name}.svg": drawn.svg} if drawn else {})
    require_folder(folder)
    text = dumps(found)
    write_files(folder, {result.file: text, **files})
    if as_json:
        click.echo(text, nl=False)
        return
    for line in result.shown():
        click.echo(markdown(line) if isinstance(line, Page) else f"{line}\n", nl=False)
    for table in tables.values():
        click.echo(table, nl=False)
    click.echo(f"{folder}: {', '.join([result.file, *files])}", err=True)
