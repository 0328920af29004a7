"""Deriving within limits from Python."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.errors import LimitReachedError, SymrelnError
from symreln.limits.partial import Reached, partial_derivation
from symreln.limits.supervise import Watch, ended_by_signals
from symreln.limits.units import megabytes, seconds
from symreln.verdict import Level

if TYPE_CHECKING:
    from symreln.derivation import Derivation


@dataclass(frozen=True, kw_only=True)
class PartialDerivation:
    """What is known of a derivation that a limit cut short.

    Attributes:
        content: The values of its derivation.json: what is proven, what is enclosed, what is not
            known, and the limit.
    """

    content: Mapping[str, Any]

    @property
    def level(self) -> Level:
        """NUMERIC_ONLY, unless all was decided before the limit."""
        return Level(self.content["verdict"]["level"])

    @property
    def pathways(self) -> Sequence[Mapping[str, Any]]:
        """The pathways, as in derivation.json; an unfinished one has ``enclosures``, no modes."""
        return self.content["pathways"]

    def __repr__(self) -> str:
        limits = self.content["limits"]
        return f"PartialDerivation({limits['kind']} limit reached in {limits['reached_in']})"


def derive_within(
    source: str | os.PathLike[str],
    *,
    time_limit: float | str | None = None,
    memory_limit: int | str | None = None,
    overrides: Sequence[str] = (),
    allow_outside: bool = False,
) -> Derivation | PartialDerivation:
    """Derive a spec in a child process that ends at a limit.

    What the child finished is handed over as spectra, which are put into their equations again
    here before the rest, which is quick, is derived from them.

    Args:
        source: A spec file or the name of a ready-made spec. A :class:`Spec` cannot travel to
            another process.
        time_limit: Seconds, or a text such as "5min".
        memory_limit: Bytes, or a text such as "2GB".
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.

    Returns:
        The derivation, or what is known of it where a limit was reached.

    Raises:
        SymrelnError: The spec is wrong, or the child failed; what it says is on stderr.
    """
    from symreln.cache.spectra import cached_spectrum
    from symreln.cache.store import Store
    from symreln.commands import Request, load_spec, spectra_folder
    from symreln.pipeline import derive

    request = Request(
        command="steps",
        spec=os.fspath(source),
        overrides=tuple(overrides),
        quiet=True,
        allow_outside=allow_outside,
        time_limit=seconds(time_limit) if isinstance(time_limit, str) else time_limit,
        memory_limit=megabytes(memory_limit) if isinstance(memory_limit, str) else memory_limit,
    )
    with tempfile.TemporaryDirectory(prefix="symreln-") as folder, ended_by_signals():
        watch = Watch(request, Path(folder))
        try:
            outcome = watch.wait()
            if isinstance(outcome, Reached):
                content = partial_derivation(watch.enclose(), outcome, watch.bare)
                return PartialDerivation(content=content)
            spec = load_spec(request)  # says what is wrong, where the spec is
            if outcome:
                kind = LimitReachedError if outcome == 4 else SymrelnError
                msg = f"derive_within: the child process ended with exit code {outcome}"
                raise kind(msg)
            store = Store(folder=spectra_folder(watch.steps))
            return derive(spec, spectrum=cached_spectrum(store, keep_from=0.0))
        finally:
            watch.end()
