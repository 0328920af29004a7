"""What there is: proofs that are checked, ready-made specs, versions, the schema of a spec."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from symreln.base.provenance import library_versions
from symreln.errors import InputError
from symreln.specs.files import read_toml
from symreln.specs.finding import shown
from symreln.specs.schema import json_schema
from symreln.task_library.registry import SPECS, TASKS, spec_path
from symreln.verifier import verify_file


def verify(path: str | Path) -> list[str]:
    """Check a certificate, or the one in a folder, with rational arithmetic alone.

    Of a folder the files beside it are checked, too.

    Args:
        path: A certificate.json, or a folder that holds one.

    Returns:
        What it proves, a sentence a check.

    Raises:
        CertificateError: An identity does not hold, or a file is not what was written.

    Example:
        >>> import symreln as sr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = sr.derive(sr.load("xor")).save(folder, ["json"])
        ...     sr.verify(folder)[0]
        'stages[0]: sample_1, sample_2, sample_3, sample_4: closed'
    """
    return list(verify_file(Path(path)))


def tasks(name: str | None = None) -> dict[str, str]:
    """List the ready-made specs, or show the TOML of one, to start your own from.

    Args:
        name: A ready-made spec; all by default.

    Returns:
        A line on each by its name, which :func:`symreln.load` takes; or of the one its TOML.

    Raises:
        InputError: There is none of that name.

    Example:
        >>> import symreln as sr
        >>> "contextual-3" in sr.tasks()
        True
    """
    known = {each: str(read_toml(spec_path(each))[0]["title"]) for each in SPECS}
    if name is None:
        return known
    if name not in known:
        msg = f"tasks: found no ready-made spec {shown(name)}. There are: {', '.join(known)}"
        raise InputError(msg)
    return {name: spec_path(name).read_text("utf-8")}


def info() -> dict[str, str]:
    """Show versions and the machine, for a bug report.

    Example:
        >>> import symreln as sr
        >>> sr.info()["symreln"] == sr.__version__
        True
    """
    return {
        **library_versions("scikit-learn"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


def schema() -> dict[str, Any]:
    """Show the JSON Schema of a spec, for editors.

    Example:
        >>> import symreln as sr
        >>> "pathway" in sr.schema()["properties"]
        True
    """
    return json_schema(TASKS)
