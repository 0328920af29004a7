"""Commands that are a Python call, the files of its answer, and what is printed of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np

from symreln.base.console import put, say
from symreln.base.jsonio import dumps
from symreln.base.progress import phase
from symreln.calls.answers import AbstractAnswer
from symreln.cli.options import imported
from symreln.report.results_folder import require_folder, write_together
from symreln.task_library.load import load
from symreln.train.machine import Machine


def answer(
    call: str,
    given: str,
    *,
    out: Path,
    as_json: bool,
    overrides: Sequence[str] = (),
    allow_outside: bool = False,
    machine: Mapping[str, Any] | None = None,
    **asked: Any,
) -> int:
    """Ask a call, write its files, and print the JSON or what the terminal shows.

    Args:
        call: Where it is.
        given: A TOML file or the name of a ready-made spec, or what else the call is about.
        out: Folder for the results.
        as_json: Whether to print the JSON.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.
        machine: What trains, of calls that train on what is asked for.
        **asked: What else the call takes.

    Returns:
        The exit code.
    """
    function = imported(call)
    taken = inspect.signature(function).parameters
    if out != Path(given):  # of a saved folder the call says what is wrong with it
        require_folder(out)
    about: Any = given
    if "directory" in taken:  # it works in the folder, over some time
        asked["directory"] = out
    if "overrides" in taken:
        asked |= {"overrides": overrides, "allow_outside": allow_outside}
    elif "spec" in taken:
        about = load(given, overrides, allow_outside=allow_outside)
    with nullcontext() if machine is None else training_machine(**machine):
        found = function(about, **asked)
    return told(found, out, as_json=as_json)


def told(found: AbstractAnswer | list[Path], out: Path, *, as_json: bool) -> int:
    """Write an answer's files and print it, or which were written; return the exit code."""
    if isinstance(found, list):
        names = [path.relative_to(out).as_posix() for path in found]
        put(dumps(names)) if as_json else say(f"written to {out}: {', '.join(names)}")
        return 0
    with phase("writing the results"):
        files = found.files()
        if files:
            write_together(out, files)
    for text in found.errors():
        say(f"symreln: {text}", err=True)
    if as_json:
        put(dumps(found.to_json()))
    else:
        for text in found.lines():
            say(text)
        if files:
            say(f"written to {out}: {', '.join(files)}")
    return found.exit_code


def training_machine(
    *,
    backend: Literal["numpy", "torch"] = "numpy",
    device: str | None = None,
    float32: bool = False,
) -> AbstractContextManager[None]:
    """Return a context that trains on what is asked for.

    Args:
        backend: Library that trains; all but numpy have to be installed.
        device: Where it trains, such as cuda:1 or cpu; a graphics card by default.
        float32: Whether to train in single precision, which rounds at 1e-7; double precision by
            default.

    Raises:
        InputError: The library is not installed, or the device is not there.
    """
    precision = "float32" if float32 else "float64"
    machine = Machine(backend=backend, device=device, precision=precision)
    machine.arrays(np.ones((1, 1)))  # refused now rather than after the derivation
    return machine.used()
