"""What a user asked a command for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symreln.base.records import record

if TYPE_CHECKING:
    from symreln.train.machine import Library


@record
class Request:
    """What a user asked for.

    Attributes:
        command: "derive", "run" or "validate".
        spec: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        folder: Where the results go.
        as_json: Whether to print JSON.
        quiet: Whether to show no progress.
        allow_outside: Whether data files may lie outside the spec's folder.
        formats: What to write beside the certificate; the usual ones where empty.
        latex: How LaTeX is written, ``key=value`` texts.
        full: Whether documents on paper have everything that the page folds.
        seeds: Networks to train, of each kind.
        rng: Seed of the random streams.
        representations: Whether to compare what hidden layers hold.
        backend: Library that trains.
        device: Where it does, or None for its own choice.
        float32: Whether to train in single precision.
    """

    command: str
    spec: str
    overrides: tuple[str, ...] = ()
    folder: Path = Path()
    as_json: bool = False
    quiet: bool = False
    allow_outside: bool = False
    formats: tuple[str, ...] = ()
    latex: tuple[str, ...] = ()
    full: bool = False
    seeds: int = 8
    rng: int = 0
    representations: bool = False
    backend: Library = "numpy"
    device: str | None = None
    float32: bool = False
