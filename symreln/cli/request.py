"""What a user asked a command for, as values that another process can be handed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.limits.limits import Limits

if TYPE_CHECKING:
    from symreln.train.machine import Library


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asked for; JSON values only, so that it can be handed to a child process.

    Attributes:
        command: "derive", "run" or "validate".
        spec: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        out: Folder for the results, or None for the default.
        as_json: Whether to print JSON.
        quiet: Whether to show no progress.
        allow_outside: Whether data files may lie outside the spec's folder.
        time_limit: Seconds, or None.
        memory_limit: Bytes, or None.
        formats: What to write beside the certificate; the usual ones where empty.
        latex: How LaTeX is written, ``key=value`` texts.
        seeds: Networks to train, of each kind.
        rng: Seed of the random streams.
        rules: Whether to train by other learning rules too.
        representations: Whether to compare what hidden layers hold.
        backend: Library that trains.
        device: Where it does, or None for its own choice.
        float32: Whether to train in single precision.
    """

    command: str
    spec: str
    overrides: tuple[str, ...] = ()
    out: str | None = None
    as_json: bool = False
    quiet: bool = False
    allow_outside: bool = False
    time_limit: float | None = None
    memory_limit: int | None = None
    formats: tuple[str, ...] = ()
    latex: tuple[str, ...] = ()
    seeds: int = 8
    rng: int = 0
    rules: bool = False
    representations: bool = False
    backend: Library = "numpy"
    device: str | None = None
    float32: bool = False

    @property
    def folder(self) -> Path:
        """The results' folder."""
        return Path(self.out) if self.out else Path("symreln-out") / Path(self.spec).stem

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.limits != Limits()

    @property
    def limits(self) -> Limits:
        """The limits, each perhaps None."""
        return Limits(time=self.time_limit, memory=self.memory_limit)

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of the experiments beyond the confrontation itself."""
        return tuple(name for name in ("rules", "representations") if getattr(self, name))

    @classmethod
    def of(cls, values: dict[str, Any]) -> Request:
        """Return the request whose fields have travelled as JSON values."""
        lists = {name: tuple(values[name]) for name in ("overrides", "formats", "latex")}
        return cls(**{**values, **lists})
