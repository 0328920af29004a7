"""Deriving within limits from Python."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.base.progress import phase
from symreln.base.signals import ended_by_signals
from symreln.base.units import megabytes, seconds
from symreln.errors import InputError, SymrelnError
from symreln.limits.partial import Reached, partial_derivation
from symreln.limits.supervise import Watch, require_measurable
from symreln.spec.finding import shown
from symreln.spec.overrides import override_texts
from symreln.verdict.judge import Level

#: Seconds or bytes that nobody waits for or has.
LARGEST = 1e18

if TYPE_CHECKING:
    from symreln.api import Derivation, NetworkDerivation
    from symreln.cli.request import Request


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
        return f"PartialDerivation({limits['said']} in {limits['reached_in']})"


@phase("deriving")
def derive_within(
    source: str | os.PathLike[str],
    *,
    time_limit: float | str | None = None,
    memory_limit: int | str | None = None,
    overrides: Sequence[str] = (),
    allow_outside: bool = False,
) -> Derivation | NetworkDerivation | PartialDerivation:
    """Derive a spec in a child process that ends at a limit.

    The limits are those of the child. When it is finished within them, the derivation is put
    together here from the spectra that it found: they come as JSON, never as pickles, and are
    proven again. That is beyond the limit: the child's work without those spectra, but with the
    second derivation at declared values. At a limit the answer comes within two seconds.

    Args:
        source: A spec file or the name of a ready-made spec. A :class:`Spec` cannot travel to
            another process.
        time_limit: Seconds, or a text such as "5min".
        memory_limit: Bytes, or a text such as "2GB".
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.

    Returns:
        The derivation, or what is known of it where a limit was reached or the child was ended.

    Raises:
        InputError: The spec or a limit is wrong.
        NotSupportedError: The memory of processes cannot be read here.
        SymrelnError: The child failed; what it says is on stderr.
    """
    from symreln.cli.commands import load_spec, spectra_folder
    from symreln.cli.request import Request

    request = Request(
        command="steps",
        spec=_source(source),
        overrides=override_texts(overrides),
        quiet=True,
        allow_outside=allow_outside,
        time_limit=_limit("time_limit", time_limit, seconds),
        memory_limit=_bytes(memory_limit),
    )
    require_measurable(request)
    with tempfile.TemporaryDirectory(prefix="symreln-") as folder, ended_by_signals():
        watch = Watch(request, Path(folder))
        try:
            outcome = watch.wait()
            if isinstance(outcome, Reached):
                content = partial_derivation(watch.enclose(), outcome, watch.bare)
                return PartialDerivation(content=content)
            if outcome == 0:
                return _put_together(request, spectra_folder(watch.steps))
            if outcome == InputError.exit_code:
                load_spec(request)  # says what is wrong, where the spec is
            msg = f"derive_within: the child process ended with exit code {outcome}"
            raise SymrelnError(msg)
        finally:
            watch.end()


def _put_together(request: Request, spectra: Path) -> Derivation | NetworkDerivation:
    """Derive from the spectra that a child has found and kept."""
    from symreln.api import derive
    from symreln.cache.spectra import cached_spectrum
    from symreln.cache.store import Store
    from symreln.cli.commands import load_spec

    spec = load_spec(request)
    return derive(spec, spectrum=cached_spectrum(Store(folder=spectra), keep_from=0.0))


def _bytes(value: int | str | None) -> int | None:
    found = _limit("memory_limit", value, megabytes)
    return None if found is None else math.ceil(found)


def _limit(name: str, value: float | str | None, parse: Callable[[str], float]) -> float | None:
    """Return a limit as a number above 0, None where there is none."""
    if isinstance(value, str):
        return parse(value)
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < LARGEST:
        msg = f"{name}: found {value!r}; expected a number above 0 or a text such as '5min', '2GB'"
        raise InputError(msg)
    return value


def _source(source: object) -> str:
    """Return the name of a spec file or of a ready-made spec."""
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        if isinstance(name, str):
            return name
    msg = (
        f"derive_within: found {shown(source)}; give a spec file or the name of a ready-made spec, "
        "which a child process can read"
    )
    raise InputError(msg)
