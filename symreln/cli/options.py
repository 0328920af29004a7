"""The options of the command line; those that several commands share stand here once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from symreln.base import units
from symreln.errors import InputError


class _Read(click.ParamType):
    """What a function reads from a text."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what is read."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except InputError as error:
            self.fail(str(error).rstrip("."), param, ctx)


class _IntegerRange(click.IntRange):
    """Integers from one to another."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer."""
        try:
            int(value)
        except ValueError:
            self.fail(f"'{value}' is not an integer; give one, such as {self.min or 0}", param, ctx)
        return super().convert(value, param, ctx)


def _latex_setting(text: str) -> str:
    """Return a thing about how LaTeX is written, once it is known to be a setting."""
    from symreln.report.latex_style import Style

    Style.of([text])
    return text


#: The headings of a command's help, in the order in which they stand there.
INPUT, WORK, OUTPUT, MACHINE_PART = (
    "What it works on",
    "What it does",
    "Output",
    "Machine and limits",
)


class _Option(click.Option):
    """An option that knows under which heading of the help it stands."""

    def __init__(self, names: list[str], *, part: str, **more: Any) -> None:
        super().__init__(names, **more)
        self.part = part


class Argument(click.Argument):
    """An argument that the help explains."""

    def __init__(self, name: str, text: str, **more: Any) -> None:
        super().__init__([name], **more)
        self.part = INPUT
        self.text = text

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return how it is written and what it is."""
        return self.make_metavar(ctx), self.text


class Command(click.Command):
    """A command whose help has its options under headings and an example at the end."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, heading by heading."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (row := parameter.get_help_record(ctx)) is not None:
                rows.setdefault(getattr(parameter, "part", OUTPUT), []).append(row)
        for part in (INPUT, WORK, OUTPUT, MACHINE_PART):
            if part in rows:
                with formatter.section(part):
                    formatter.write_dl(rows[part])


def option(
    names: str,
    text: str,
    least: int | None = None,
    most: int | None = None,
    *,
    part: str = WORK,
    **more: Any,
) -> click.Option:
    """Return an option; its default is said where it has one.

    Args:
        names: How it is written, and behind that how the work calls it where that is another name.
        text: What it does.
        part: The heading of the help under which it stands.
        least: Of a whole number, the least.
        most: Of a whole number, the greatest.
        more: What click takes.
    """
    if least is not None:
        more |= {"type": _IntegerRange(min=least, max=most), "metavar": "N"}
    return _Option(names.split(), part=part, help=text, show_default="default" in more, **more)


def flag(names: str, text: str, *, part: str = WORK) -> click.Option:
    """Return an option without a value."""
    return _Option(names.split(), part=part, help=text, is_flag=True)


def out(default: str, more: str = "") -> click.Option:
    """Return the option for the folder: ``default`` otherwise, NAME standing for the spec's."""
    text = f"Folder for the results{more}.  [default: {default}]"

    def filled(context: click.Context, _: click.Parameter, given: Path | None) -> Path:
        if given is not None or "NAME" not in default:
            return given or Path(default)
        return Path(default.replace("NAME", Path(context.params["spec"]).stem))

    kind = click.Path(file_okay=False, path_type=Path)
    return option("--out", text, part=OUTPUT, type=kind, callback=filled)


def seeds(default: int, least: int = 1) -> click.Option:
    """Return the option for the number of networks."""
    return option("--seeds", "Networks to train, of each kind.", least, 100_000, default=default)


#: What a spec is, in the help.
SPEC_TEXT = "A TOML file, or the name of a ready-made spec (`symreln tasks` lists them)."
SPEC = Argument("spec", SPEC_TEXT, metavar="SPEC")
OVERRIDES = option(
    "--set overrides",
    "Override a key of the spec, e.g. network.hidden=100. May be repeated.",
    part=INPUT,
    multiple=True,
    metavar="KEY=VALUE",
)
LATEX = option(
    "--latex",
    "How LaTeX is written: prefix=ctx: of labels, level=2 for subsections, numbering=all, or =S "
    "for starred equations with tags (S1), figures=FOLDER. May be repeated.",
    type=_Read("setting", _latex_setting),
    multiple=True,
    metavar="KEY=VALUE",
    part=OUTPUT,
)
FULL = flag("--full", "Documents on paper with everything that the page folds.", part=OUTPUT)
QUIET = flag("--quiet -q", "No progress on stderr.", part=OUTPUT)
JSON = flag("--json as_json", "Print the JSON on stdout.", part=OUTPUT)
OUTSIDE = flag(
    "--allow-outside-data allow_outside",
    "Let the spec name data files outside its own folder.",
    part=INPUT,
)
RNG = option("--rng", "Seed of the random streams.", 0, default=0)
MACHINE = (
    option(
        "--backend",
        "Library that trains: numpy, torch, cupy or jax; all but numpy have to be installed.",
        metavar="LIBRARY",
        part=MACHINE_PART,
        type=click.Choice(["numpy", "torch", "cupy", "jax"]),
        default="numpy",
    ),
    option(
        "--device",
        "Where the back-end trains, such as cuda:1 or cpu.  [default: a graphics card]",
        part=MACHINE_PART,
        metavar="NAME",
    ),
    flag(
        "--float32",
        "Train in single precision, which rounds at 1e-7; double precision otherwise.",
        part=MACHINE_PART,
    ),
)
#: Of the commands that derive.
DERIVING = (
    SPEC,
    OVERRIDES,
    out("symreln-out/NAME"),
    JSON,
    QUIET,
    OUTSIDE,
)
#: Of all that may take long.
LIMITS = (
    option(
        "--time-limit",
        "End after this time (90, 90s, 5min, 2h); exit code 4.",
        part=MACHINE_PART,
        type=_Read("time", units.seconds),
        metavar="TIME",
    ),
    option(
        "--memory-limit",
        "End beyond this memory (500, 500MB, 2GB) of all processes together; exit code 4.",
        part=MACHINE_PART,
        type=_Read("size", units.megabytes),
        metavar="SIZE",
    ),
)
#: Of those of them that train.
TRAINING = (
    seeds(8),
    RNG,
    flag(
        "--representations",
        "Compare what hidden layers hold of the samples; trains once more.",
    ),
    *MACHINE,
)
