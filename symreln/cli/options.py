"""Options that several commands of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from symreln.base.units import megabytes, seconds
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


class IntegerRange(click.IntRange):
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


def _add(options: list[Callable]) -> Callable[[Callable], Callable]:
    def decorate(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


spec_options = _add(
    [
        click.argument("spec", metavar="SPEC"),
        click.option(
            "--set",
            "overrides",
            multiple=True,
            metavar="KEY=VALUE",
            help="Override a key of the spec, e.g. network.hidden=100. May be repeated.",
        ),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            help="Folder for the results.  [default: symreln-out/NAME]",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout."),
        click.option("--quiet", "-q", is_flag=True, help="No progress on stderr."),
        click.option(
            "--allow-outside-data",
            "allow_outside",
            is_flag=True,
            help="Let the spec name data files outside its own folder.",
        ),
        click.option(
            "--time-limit",
            type=_Quantity("time", seconds),
            metavar="TIME",
            help="End after this time (90, 90s, 5min, 2h) with what is proven so far; exit code 4.",
        ),
        click.option(
            "--memory-limit",
            type=_Quantity("size", megabytes),
            metavar="SIZE",
            help="End beyond this memory (500MB, 2GB) with what is proven so far; exit code 4.",
        ),
    ]
)

training_options = _add(
    [
        click.option(
            "--seeds",
            type=IntegerRange(min=1, max=100_000),
            default=8,
            show_default=True,
            help="Networks to train, of each kind.",
        ),
        click.option(
            "--rng",
            type=IntegerRange(min=0),
            default=0,
            show_default=True,
            help="Seed of the random streams.",
        ),
        click.option(
            "--terms",
            is_flag=True,
            help="Say what the distance to the network is made of; may take minutes.",
        ),
        click.option(
            "--rules",
            is_flag=True,
            help="Compare mini-batches, rates, weight decay, biases; trains ten times as much.",
        ),
        click.option(
            "--study",
            is_flag=True,
            help="Halve the learning rate and the initial scale twice and measure the orders of "
            "what changes; trains ten times as much.",
        ),
        click.option(
            "--representations",
            is_flag=True,
            help="Compare what hidden layers hold of the samples; trains once more.",
        ),
        click.option(
            "--backend",
            type=click.Choice(["numpy", "torch", "cupy", "jax"]),
            default="numpy",
            show_default=True,
            help="Library that trains; those beside numpy have to be installed.",
        ),
        click.option(
            "--device",
            metavar="NAME",
            help="Where the back-end trains, such as cuda:1 or cpu.  [default: a graphics card]",
        ),
        click.option(
            "--float32",
            is_flag=True,
            help="Train in single precision, which rounds at 1e-7; double precision otherwise.",
        ),
        click.option(
            "--tolerance",
            type=_Share(),
            metavar="NUMBER",
            help="Largest allowed max |ΔL|/L(0); overrides the spec's.",
        ),
    ]
)
