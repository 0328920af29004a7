"""``symreln gates``, ``symreln race`` and ``symreln replay``: parse, call, write, print.

What each of them needs is imported when it is called: ``symreln --help`` names them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from symreln.cli.options import IntegerRange
from symreln.errors import InputError
from symreln.gates.finders import FINDERS
from symreln.spec.model import Spec

#: Other spellings of methods.
ALIASES = {"k-means": "kmeans"}


def _option(
    name: str, text: str, least: int | None = None, most: int | None = None, **more: Any
) -> Callable:
    """Return an option; one of whole numbers where the least of them is given."""
    if least is not None:
        more["type"] = IntegerRange(min=least, max=most)
    return click.option(*name.split(), help=text, **more)


def _command(*options: Callable) -> Callable[[Callable], click.Command]:
    """Return a decorator: a command with a spec, these options, and those that all have."""
    common = (
        _option("--set overrides", "Override a key.", multiple=True, metavar="KEY=VALUE"),
        _option("--out", "Folder for results.", type=click.Path(file_okay=False, path_type=Path)),
        _option("--json as_json", "Print the JSON on stdout.", is_flag=True),
    )

    def decorate(work: Callable) -> click.Command:
        for option in reversed((*options, *common)):
            work = option(work)
        return click.command()(click.argument("spec", metavar="SPEC")(work))

    return decorate


QUIET = _option("--quiet -q", "No progress on stderr.", is_flag=True)


@_command(
    _option(
        "--method",
        "All gates that the data allow; those that early training selects; or those of networks "
        "that are trained: by K-means (Algorithm 1 of the paper), or in time windows by weight.",
        type=click.Choice([*(each.name for each in FINDERS), *ALIASES]),
        required=True,
    ),
    _option("--samples", "Draw so many directions instead of all gates.", 1, 10_000_000),
    _option("--rng", "Seed of everything random.", 0, default=0),
    _option("--stages", "Stages to follow at most.", 1, default=8),
    _option(
        "--against",
        "Networks to compare self-consistent gates with: a confusion table over the steps.",
        1,
    ),
    _option("--clusters", "K.  [default: the number with the largest mean silhouette]", 1),
    _option("--windows", "Time windows at most, with --method windows.  [default: by replay]", 1),
    _option(
        "--every",
        "Updates between two looks at a network; windows look five times as often.",
        1,
        default=100,
        show_default=True,
    ),
    _option("--trainings", "Networks of one run.", 1, default=1, show_default=True),
    _option("--runs", "Runs from other initial weights.  [default: 20, with windows 5]", 1),
    _option(
        "--replays",
        "Further networks on which the gates are replayed.",
        0,
        default=2,
        show_default=True,
    ),
    QUIET,
    _option("--limit", "Gates above which to stop.", 1),
)
def gates(
    spec: str,
    method: str,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Find the gates of a dataset, at the declared values of its parameters.

    Exactly, from the data; or as trained networks show them. Writes gates.json and gates.toml, a
    spec that `symreln derive` takes.
    """
    from symreln.base.progress import Progress
    from symreln.gates.spec_text import gates_toml
    from symreln.tasks.load import load

    finder = next(each for each in FINDERS if each.name == ALIASES.get(method, method))
    _refuse("gates", f"--method {method}", {*asked} - {*finder.options, "rng"})
    given = load(spec, overrides)
    with Progress(quiet=quiet)("gates"):
        found = finder.find(_at_values("gates", given), finder.name, **asked)
    files = {}
    if found.stages:
        title = f"{given.title}: gates found ({finder.name})"
        files["gates.toml"] = gates_toml(
            given, found.stages, title, found.switches, numbered=found.numbered
        )
    _write(out or _folder(spec, "gates"), found.record, given, files, as_json=as_json)
    return 0


@_command(
    _option("--over", "The parameter.  [default: the only one]", metavar="PARAMETER"),
    _option(
        "--by label",
        "Race gates that are open on subsets of a label's values instead; with --over for all "
        "values of the parameter.",
        metavar="LABEL",
    ),
    _option(
        "--rivals modules",
        "Race one pathway a value of a label against mixed-selective ones, and both together.",
        metavar="LABEL",
    ),
    _option("--stage", "Whose residual is learned.", 1, default=1),
    _option("--limit", "Gates above which to stop.", 1),
    _option("--seeds", "Networks to train at every point.", 0, default=0),
    _option("--points", "Points in every interval.", 1, default=3),
    _option("--rng", "Seed of the networks.", 0, default=0),
)
def race(
    spec: str,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    over: str | None,
    label: str | None,
    modules: str | None,
    **asked: Any,
) -> int:
    """Say which self-consistent gate is fastest, for all values of a parameter at once.

    Writes race.json and race.svg. With --seeds it trains ReLU networks in every interval between
    boundaries, and says which gates they take: finding 1 of the paper as a table, race.md.
    With --by context it says how fast gates open in m of the contexts are, stage by stage, at the
    declared values, and which m trained networks take: subsets.json, subsets.md and subsets.svg.
    With --by context --over c it does so for all c at once, with boundaries: race.json and race.md.
    With --rivals context it derives and trains strictly modular, mixed-selective and both kinds of
    pathways together: findings 2 and 3 as a table, rivals.md.
    """
    from symreln.base.progress import Progress
    from symreln.gates import races
    from symreln.tasks.load import load

    given = load(spec, overrides)
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
        elif label is None:
            found = races.over_parameter(given, over, **asked)
        elif over is not None:
            found = races.by_label_over(given, label, over, **asked)
        else:
            numbers = _at_values("race", given)
            found = races.by_label(numbers, label, asked["seeds"], asked["rng"])
    _write(out or _folder(spec, "race"), found, given, {}, as_json=as_json)
    return 0


@_command(
    _option(
        "--curve",
        "Also cluster the units: error by pathways and time windows.",
        is_flag=True,
    ),
    _option(
        "--seeds",
        "Networks that are replayed, and as many more that are clustered.",
        1,
        default=2,
        show_default=True,
    ),
    _option("--every", "Updates between two looks at a network.", 1),
    _option("--rng", "Seed of the networks.", 0, default=0),
    QUIET,
)
def replay(
    spec: str,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Train ReLU networks, then train them again with the spec's gates in place of their own.

    From the same initial weights; each unit takes the nearest gate. Masks on inputs and outputs
    and stages are not used: a network has none. Writes replay.json, with --curve also replay.svg.
    """
    from symreln.base.progress import Progress
    from symreln.gates.replay import replay_report
    from symreln.report.folder import require_folder
    from symreln.tasks.load import load

    numbers, folder = _at_values("gates", load(spec, overrides)), out or _folder(spec, "replay")
    require_folder(folder)
    with Progress(quiet=quiet)("replay"):
        found = replay_report(numbers, **asked)
    _write(folder, found, numbers, {}, as_json=as_json)
    return 0


def _folder(spec: str, command: str) -> Path:
    return Path("symreln-out") / f"{Path(spec).stem}-{command}"


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
    from symreln.report.encode import Encoder
    from symreln.report.folder import require_folder
    from symreln.report.gate_figures import figure_of
    from symreln.report.jsonio import dumps, write_json, write_text

    found, drawn = Encoder.of(spec)(result), figure_of(result)
    files = {**files, **result.tables} | ({f"{drawn.name}.svg": drawn.svg} if drawn else {})
    require_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / result.file, found)
    for name, text in files.items():
        write_text(folder / name, text)
    if as_json:
        click.echo(dumps(found), nl=False)
        return
    for line in result.lines():
        click.echo(line)
    for text in result.tables.values():
        click.echo(text, nl=False)
    click.echo(f"{folder}: {', '.join([result.file, *files])}", err=True)
