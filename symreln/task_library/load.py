"""The door: a TOML file, the name of a ready-made spec or Python tables in, a checked Spec out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from symreln.errors import InputError, visible
from symreln.specs.files import Folder, read_toml
from symreln.specs.finding import nearest, need, quoted, shown
from symreln.specs.problems import Origin
from symreln.specs.reader import read_spec
from symreln.specs.spec import Spec
from symreln.task_library.registry import SPECS, TASKS, spec_path


def load(
    source: str | os.PathLike[str] | Mapping[str, Any],
    overrides: Sequence[str] | Mapping[str, Any] = (),
    *,
    allow_outside: bool = False,
    data_alone: bool = False,
) -> Spec:
    """Return the checked spec.

    Args:
        source: Path of a TOML file, name of a ready-made spec, or the same tables as a mapping.
        overrides: ``key=value`` texts (or a mapping), applied before checking.
        allow_outside: Whether data files may lie outside the spec's folder.
        data_alone: Whether neither gates nor ``[network]`` are needed, as for
            :func:`symreln.explain`.

    Raises:
        SpecError: Something is wrong; every problem found is listed.

    Example:
        >>> load("xor", ["parameters.Delta.value=1/2"]).values
        {'Delta': Fraction(1, 2)}
    """
    if isinstance(source, Mapping):
        folder = Folder(allow_outside=allow_outside)
        more = {"overrides": overrides, "data_alone": data_alone}
        return read_spec(source, tasks=TASKS, folder=folder, **more)
    if not isinstance(source, str | os.PathLike) or isinstance(os.fspath(source), bytes):
        raise _refused(source, "load")
    name = os.fspath(source)
    ready_made = isinstance(source, str) and name in SPECS
    path = spec_path(name) if ready_made else Path(name)
    if not ready_made:
        _check_source(name, path)
    tables, text = read_toml(path)
    return read_spec(
        tables,
        tasks=TASKS,
        source=name if ready_made else path.name,
        origin=Origin(file=f"{name} (ready-made)" if ready_made else visible(name), text=text),
        folder=Folder(path=path.parent, allow_outside=allow_outside),
        overrides=overrides,
        data_alone=data_alone,
    )


def spec_of(asked: Spec | str | os.PathLike[str], where: str) -> Spec:
    """Return a spec, which may be given by its file or its name.

    Args:
        asked: A checked spec, or what :func:`load` takes.
        where: The function that was called.

    Raises:
        InputError: It is something else.
        SpecError: Something is wrong with what was loaded.
    """
    if isinstance(asked, Spec):
        return asked
    if isinstance(asked, str | os.PathLike | Mapping):
        return load(asked)
    raise _refused(asked, where)


def _refused(found: object, where: str) -> InputError:
    plain = found is None or isinstance(found, int | float)
    named = shown(found) if plain else f"a {type(found).__name__}"
    made = "a Spec (of sr.spec or sr.load), " * (where != "load")
    return InputError(
        f"{where}: found {named}; give {made}a spec file, its tables as a mapping, or the name of "
        f'a ready-made spec: sr.{where}("xor")'
    )


def _check_source(name: str, path: Path) -> None:
    """Check that a name that is no file was not meant as a ready-made spec.

    Raises:
        SpecError: It looks like a name rather than a path.
    """
    hint = nearest(name, SPECS)
    if name in (task.name for task in TASKS):
        near = [spec for spec in SPECS if spec.startswith(name)]
        hint = f"{name} is a task for [dataset]; ready-made specs of it: {', '.join(near)}."
    expected = "a spec file or the name of a ready-made spec"
    found = f"{quoted(name)}, which is no file and no ready-made spec"
    is_path = path.suffix or len(path.parts) > 1 or os.path.exists(name)
    need(is_path, found, expected, hint, "spec")
