"""The options of commands: those of a Python call, as its source has them, and the program's own.

The source is read, not run: `symreln --help` must not pay for what calls import.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

#: The headings of a command's help, in the order in which they stand there.
INPUT, WORK, OUTPUT, MACHINE = (
    "What it works on",
    "What it does",
    "Output",
    "Machine and limits",
)
#: What calls take and commands have in their own way: --out and what they read.
_OWN = ("directory", "overrides", "allow_outside")
#: No option counts further; seeds of random streams are numbers up to here, too.
_MOST = 2**64


class Argument(click.Argument):
    """An argument that the help explains."""

    def __init__(self, name: str, text: str, **more: Any) -> None:
        super().__init__([name], **more)
        self.text = text

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return how it is written and what it is."""
        return self.make_metavar(ctx), self.text


class _Integer(click.IntRange):
    """Integers from one on."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return one that there may be so many of."""
        found = super().convert(value, param, ctx)
        return self.fail(f"{value} is too large", param, ctx) if found > _MOST else found


class _Quantity(click.ParamType):
    """A number above 0 with a unit."""

    def __init__(self, name: str, units: dict[str, float], example: str) -> None:
        self.name, self._units, self._example = name, units, example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return how many of the smallest unit they are."""
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{0,9})?)\s*([a-z]*)\s*", value.lower(), re.ASCII)
        number = 0.0 if found is None else float(found[1]) * self._units.get(found[2], 0)
        if not number:
            expected = f"expected a {self.name} above 0, such as {self._example}"
            self.fail(f"found {value[:40]!r}; {expected}", param, ctx)
        return number


def imported(home: str) -> Callable[..., Any]:
    """Return what is at a place in the package: ``calls.gates:race``."""
    module, _, name = home.partition(":")
    return getattr(import_module(f"symreln.{module}"), name)


def read_call(home: str) -> tuple[str, list[click.Parameter]]:
    """Return what a call does, and its parameters as those of a command.

    Args:
        home: As of :func:`imported`.
    """
    module, _, names = home.partition(":")
    found = find_spec(f"symreln.{module}")
    assert found is not None
    assert found.origin is not None
    node: Any = ast.parse(Path(found.origin).read_text("utf-8"))
    for name in names.split("."):
        node = next(each for each in node.body if getattr(each, "name", "") == name)
    head, *sections = re.split(r"^(\w+):\n", _plain(ast.get_docstring(node) or ""), flags=re.M)
    texts = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", "".join(sections[1:2]), re.MULTILINE)
    says = {name: " ".join(text.split()) for name, text in texts}
    return head, [_parameter(says, *each) for each in _arguments(node.args)]


def _arguments(given: ast.arguments) -> Iterator[tuple[bool, str, str, list[Any]]]:
    """Yield whether it is the first, name, type, and the default where there is one."""
    ends = [[]] * (len(given.args) - len(given.defaults)) + [[each] for each in given.defaults]
    ends += [[] if each is None else [each] for each in given.kw_defaults]
    for each, end in zip([*given.args, *given.kwonlyargs], ends, strict=True):
        if each.arg not in ("self", *_OWN) and each.annotation is not None:
            default = [ast.literal_eval(value) for value in end]
            first = each in given.args[:1] or (each.arg == "spec" and not end)
            yield first, each.arg, ast.unparse(each.annotation), default


def _plain(text: str) -> str:
    """Return a docstring's text without its marks."""
    return re.sub(r":\w+:`~?([^`]*)`|``([^`]*)``", lambda found: f"`{found[1] or found[2]}`", text)


def _parameter(
    says: dict[str, str], first: bool, name: str, kind: str, default: list[Any]
) -> click.Parameter:
    """Return the argument or option that a parameter of a call is on the command line."""
    more: dict[str, Any] = {"default": default[0]} if default and default[0] is not None else {}
    if first:
        text = SPEC if kind.startswith(("Spec", "Derivation")) else says[name]
        shown = "SPEC" if text is SPEC else name.upper()
        shown = f"[{shown}]" if default else shown
        return Argument(name, text, required=not default, metavar=shown, **more)
    text = says[name].removeprefix("Whether to ")
    text, written = text[0].upper() + text[1:], name.replace("_", "-")
    kind = kind.removesuffix(" | None")
    if kind == "bool":
        written = f"--{written}/--no-{written}" if more["default"] else f"--{written}"
        return _option(f"{written} {name}", text, is_flag=True, **more)
    if kind == "int":
        more |= {"type": _Integer(0 if default == [0] else 1), "metavar": "N"}
    elif kind.startswith("Literal"):
        more["type"] = click.Choice(ast.literal_eval(kind.removeprefix("Literal")))
    elif "Sequence" in kind:
        written, more = written.removesuffix("s"), {"multiple": True}
        text += " May be repeated."
    return _option(f"--{written} {name}", text, **more)


def _option(names: str, text: str, **more: Any) -> click.Option:
    return click.Option(names.split(), help=text, show_default="default" in more, **more)


#: What a spec is, in the help.
SPEC = "A TOML file, or the name of a ready-made spec (`symreln tasks` lists them)."
#: Of commands that take a spec.
SPEC_OPTIONS = (
    _option(
        "--set overrides",
        "Override a key of the spec, e.g. network.hidden=100. May be repeated.",
        multiple=True,
        metavar="KEY=VALUE",
    ),
    _option(
        "--allow-outside-data allow_outside",
        "Let the spec name data files outside its own folder.",
        is_flag=True,
    ),
)
#: Of all commands.
PRINTING = (
    _option("--json as_json", "Print the JSON on stdout.", is_flag=True),
    _option("--quiet -q", "No progress on stderr.", is_flag=True),
)
_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "ms": 1e-3}
_MEGABYTES = {"kb": 2.0**-10, "tb": 2.0**20}
_MEGABYTES |= dict.fromkeys(("", "m", "mb", "mib"), 1.0) | dict.fromkeys(
    ("g", "gb", "gib"), 2.0**10
)
#: Of all commands, too.
LIMITS = (
    _option(
        "--time-limit",
        "End after this time (90, 90s, 5min, 2h); exit code 4.",
        type=_Quantity("time", _SECONDS, "90, 90s, 5min or 2h"),
    ),
    _option(
        "--memory-limit",
        "End beyond this memory (500, 500MB, 2GB) of all processes together; exit code 4.",
        type=_Quantity("size", _MEGABYTES, "500 (MB), 500MB or 2GB"),
    ),
)
