"""The work of ``symreln gates``, ``race`` and ``replay``: call, write, print."""

from __future__ import annotations

from typing import Any

import click

from symreln.calls import gates as calls
from symreln.cli.answered import answered
from symreln.errors import InputError
from symreln.gating.finders import FINDERS


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
            _refuse("race", "--by without --over PARAMETER", {"stage", "points"})
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
