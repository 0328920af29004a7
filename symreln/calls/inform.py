"""What there is: proofs that are checked, ready-made specs, versions, the schema of a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symreln.base.provenance import environment
from symreln.specs.schema import json_schema
from symreln.task_library import list_tasks
from symreln.task_library.registry import TASKS
from symreln.verifier import verify_file


def verify(path: str | Path) -> list[str]:
    """Check a certificate, or the one in a folder with the files beside it, in exact arithmetic.

    Args:
        path: A certificate.json, or a folder that a command or ``save`` has written.

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


def tasks() -> dict[str, str]:
    """Return the ready-made specs: a line on each, by its name, as :func:`symreln.load` takes it.

    Example:
        >>> import symreln as sr
        >>> "contextual-3" in sr.tasks()
        True
    """
    return dict(list_tasks())


def info() -> dict[str, str]:
    """Return versions and the machine, for a bug report.

    Example:
        >>> import symreln as sr
        >>> sr.info()["symreln"] == sr.__version__
        True
    """
    return environment()


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec, for editors.

    Example:
        >>> import symreln as sr
        >>> "pathway" in sr.schema()["properties"]
        True
    """
    return json_schema(TASKS)
