"""Deriving within limits from Python."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symreln.api import Derivation, NetworkDerivation, derive
from symreln.base.progress import phase
from symreln.base.units import megabytes, seconds
from symreln.errors import InputError, SymrelnError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.exact.spectrum_json import spectrum_from_json
from symreln.limits.limits import Limits
from symreln.limits.supervise import watched
from symreln.report.partial_json import Json, Reached, partial_derivation
from symreln.specs.finding import shown
from symreln.specs.model import Spec
from symreln.specs.overrides import override_texts
from symreln.task_library.load import load
from symreln.verdict.judge import Level

WORKER = "symreln.limits.worker"
#: Seconds or bytes that nobody waits for or has.
LARGEST = 1e18


@dataclass(frozen=True, kw_only=True)
class PartialDerivation:
    """What is known of a derivation that a limit cut short.

    Attributes:
        content: The values of its derivation.json: what is proven, what is not known, and the
            limit.

    Example:
        >>> import symreln as sr
        >>> found = sr.derive_within("contextual-3", time_limit=0.01)
        >>> found.level.value
        'numeric only'
    """

    content: Mapping[str, Any]

    @property
    def level(self) -> Level:
        """NUMERIC_ONLY, unless all was decided before the limit."""
        return Level(self.content["verdict"]["level"])

    @property
    def pathways(self) -> Sequence[Mapping[str, Any]]:
        """The pathways, as in derivation.json; an unfinished one has no modes."""
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
    second derivation at declared values. At a limit the answer comes at once.

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

    Example:
        >>> import symreln as sr
        >>> sr.derive_within("linear-hierarchy", time_limit="5min").level.value
        'closed'
    """
    asked = {
        "source": _source(source),
        "overrides": override_texts(overrides),
        "allow_outside": allow_outside,
    }
    limits = Limits(time=_limit("time_limit", time_limit, seconds), memory=_bytes(memory_limit))
    with watched(WORKER, asked, limits) as watch:
        outcome, finished = watch.wait(), watch.finished
    if isinstance(outcome, Reached):
        return PartialDerivation(content=partial_derivation(finished, outcome))
    if outcome == 0:
        return _put_together(load(**asked), finished.steps)
    if outcome == InputError.exit_code:
        load(**asked)  # says what is wrong, where the spec is
    msg = f"derive_within: the child process ended with exit code {outcome}"
    raise SymrelnError(msg)


def _put_together(spec: Spec, steps: Sequence[Json]) -> Derivation | NetworkDerivation:
    """Derive from the spectra that a child has told, in the order in which it found them."""
    told = iter([line["classes"] for line in steps if line["step"] == "joint spectrum"])

    def proven(
        sigma_yx: ExactMatrix, sigma_x: ExactMatrix, values: Mapping[str, Fraction] | None = None
    ) -> JointSpectrum:
        content = next(told, None)
        yx, x = sigma_yx.aligned(sigma_x)
        with suppress(ValueError):  # the spec has been changed since
            if content is not None:
                return spectrum_from_json(content, yx.reduced(), x.reduced(), values or {})
        return joint_spectrum(sigma_yx, sigma_x, values)

    return derive(spec, spectrum=proven)


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
