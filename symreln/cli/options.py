"""The options of the command line; those that several commands share stand here once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from symreln.base import units
from symreln.errors import InputError


class _Quantity(click.ParamType):
    """A number with a unit."""

    def __init__(self, name: str, parse: Callable[[str], float]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number in the base unit."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class _IntegerRange(click.IntRange):
    """Integers from one to another."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer."""
        try:
            int(value)
        except ValueError:
            self.fail(f"'{value}' is not an integer; give one, such as {self.min or 0}", param, ctx)
        return super().convert(value, param, ctx)


class _Share(click.ParamType):
    """A positive number as the spec takes it, kept as text: it is read exactly there."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text of a number such as 0.05, 1/20 or 5%."""
        try:
            positive = Fraction(str(value).strip().removesuffix("%")) > 0
        except (ValueError, ZeroDivisionError):
            positive = False
        if not positive:
            msg = f"'{value}' is no positive number. Give one such as 0.05, 1/20 or 5%"
            self.fail(msg, param, ctx)
        return str(value)


class _LatexSetting(click.ParamType):
    """One thing about how LaTeX is written, kept as text: a process can be handed it."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, once it is known to be a setting."""
        from symreln.report.latex_style import Style

        try:
            Style.of([value])
        except InputError as error:
            self.fail(str(error).rstrip("."), param, ctx)
        return value


def option(
    names: str, text: str, least: int | None = None, most: int | None = None, **more: Any
) -> click.Option:
    """Return an option; its default is said where it has one.

    Args:
        names: How it is written, and behind that how the work calls it where that is another name.
        text: What it does.
        least: Of a whole number, the least.
        most: Of a whole number, the greatest.
        more: What click takes.
    """
    if least is not None:
        more["type"] = _IntegerRange(min=least, max=most)
    return click.Option(names.split(), help=text, show_default="default" in more, **more)


def flag(names: str, text: str) -> click.Option:
    """Return an option without a value."""
    return click.Option(names.split(), help=text, is_flag=True)


def out(default: str, more: str = "") -> click.Option:
    """Return the option for the folder: ``default`` otherwise, NAME standing for the spec's."""
    text = f"Folder for the results{more}.  [default: {default}]"

    def filled(context: click.Context, _: click.Parameter, given: Path | None) -> Path:
        return given or Path(default.replace("NAME", Path(context.params["spec"]).stem))

    kind = click.Path(file_okay=False, path_type=Path)
    return option("--out", text, type=kind, callback=filled)


def seeds(default: int, least: int = 1) -> click.Option:
    """Return the option for the number of networks."""
    return option("--seeds", "Networks to train, of each kind.", least, 100_000, default=default)


SPEC = click.Argument(["spec"], metavar="SPEC")
OVERRIDES = option(
    "--set overrides",
    "Override a key of the spec, e.g. network.hidden=100. May be repeated.",
    multiple=True,
    metavar="KEY=VALUE",
)
LATEX = option(
    "--latex",
    "How LaTeX is written: prefix=ctx: of labels, level=2 for subsections, numbering=all, or =S "
    "for starred equations with tags (S1), figures=FOLDER, letters such as pi=a. May be repeated.",
    type=_LatexSetting(),
    multiple=True,
    metavar="KEY=VALUE",
)
QUIET = flag("--quiet -q", "No progress on stderr.")
JSON = flag("--json as_json", "Print the JSON on stdout.")
OUTSIDE = flag(
    "--allow-outside-data allow_outside",
    "Let the spec name data files outside its own folder.",
)
RNG = option("--rng", "Seed of the random streams.", 0, default=0)
MACHINE = (
    option(
        "--backend",
        "Library that trains; those beside numpy have to be installed.",
        type=click.Choice(["numpy", "torch", "cupy", "jax"]),
        default="numpy",
    ),
    option(
        "--device",
        "Where the back-end trains, such as cuda:1 or cpu.  [default: a graphics card]",
        metavar="NAME",
    ),
    flag(
        "--float32",
        "Train in single precision, which rounds at 1e-7; double precision otherwise.",
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
    option(
        "--time-limit",
        "End after this time (90, 90s, 5min, 2h) with what is proven so far; exit code 4.",
        type=_Quantity("time", units.seconds),
        metavar="TIME",
    ),
    option(
        "--memory-limit",
        "End beyond this memory (500MB, 2GB) with what is proven so far; exit code 4.",
        type=_Quantity("size", units.megabytes),
        metavar="SIZE",
    ),
)
#: Of those of them that train.
TRAINING = (
    seeds(8),
    RNG,
    flag("--terms", "Say what the distance to the network is made of; may take minutes."),
    flag(
        "--rules",
        "Compare mini-batches, rates, weight decay, biases; trains ten times as much.",
    ),
    flag(
        "--study",
        "Halve the learning rate and the initial scale twice and measure the orders of "
        "what changes; trains ten times as much.",
    ),
    flag(
        "--representations",
        "Compare what hidden layers hold of the samples; trains once more.",
    ),
    *MACHINE,
    option(
        "--tolerance",
        "Largest allowed max |ΔL|/L(0); overrides the spec's.",
        type=_Share(),
        metavar="NUMBER",
    ),
)
