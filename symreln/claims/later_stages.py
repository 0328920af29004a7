"""What is said of head starts: where the modes of later stages start in effect, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from flint import arb

from symreln.base.records import record
from symreln.base.rounding import percent, positional
from symreln.claims.balls import ball_laws
from symreln.claims.claim import DIGITS, Claim
from symreln.claims.derivation import Derivation
from symreln.claims.head_start import without_form
from symreln.claims.pathway_orbits import mode_orbits
from symreln.document.document_model import Block, Content, Math, Table
from symreln.document.numerals import decimal_latex
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.exact.enclosure import ball, decimal_of

#: Modes that are printed.
_MOST_MODES = 24


@record
class _HeadStarts(Claim):
    """The modes of later stages that earlier ones drive while they learn.

    Attributes:
        modes: By label of those that have a closed form: "driven_by", the earlier "mode" that
            drives it and its "half_time" in steps; "strength0", where it starts in effect;
            "factor", the same over π₀; "learned", the share of its plateau that it has when what
            drives it is learned.
        outrun: Why others have none, in time, by label.
        symbols: LaTeX of the modes that tables show, by label.
    """

    modes: Mapping[str, Mapping[str, Any]]
    outrun: Mapping[str, str]
    symbols: Mapping[str, str] = field(metadata={"prose": True})

    def values(self) -> dict[str, Any]:
        """Return the modes by label; null of those that have no closed form."""
        return {**self.modes, **dict.fromkeys(self.outrun)}

    @property
    def tabled(self) -> list[str]:
        """Labels of those that the document's table shows."""
        return [label for label in self.modes if label in self.symbols]

    def says(self) -> Iterator[Block]:
        """Say where modes start in effect, and which have no closed form."""
        if self.outrun:
            yield say(
                "{none}. The formulas of these modes hold for converged earlier stages only.",
                none=typeset(f"N{without_form(self.outrun)[1:]}"),
            )
        if self.tabled:
            yield Table(
                header=(
                    "strength",
                    Math(r"\tilde{\pi}_0"),
                    Math(r"\tilde{\pi}_0/\pi_0"),
                    "driven by",
                    Math(r"\pi(t_m)/h"),
                ),
                rows=tuple(map(self._row, self.tabled)),
                caption=phrase(
                    "Effective starts of the modes of later stages. $\\pi(t_m)/h$ is the share of "
                    "the plateau that a mode has at the last half-time $t_m$. The formula holds "
                    "for small weights; its relative error is of the order of this share, which "
                    "tends to 0 with the initial strength."
                ),
                alignment="lccrr",
                label="tab:headstarts",
                most=_MOST_MODES,
            )

    def _row(self, label: str) -> tuple[Content, ...]:
        mode = self.modes[label]
        by, until = mode["driven_by"]["mode"], float(mode["driven_by"]["half_time"])
        return (
            Math(self.symbols[label]),
            Math(_decimal(mode["strength0"])),
            Math(_decimal(mode["factor"])),
            phrase(f"${symbol_latex(by)}$, until step {until:.0f}"),
            percent(float(mode["learned"])),
        )

    def lines(self) -> Iterator[str]:
        """Say on the terminal how much stronger later stages start in effect."""
        if self.outrun:
            yield without_form(self.outrun)
        factors = [float(mode["factor"]) for mode in self.modes.values()]
        if factors:
            low, high = (positional(end, 3) for end in (min(factors), max(factors)))
            several = low if low == high else f"{low} to {high}"
            yield f"effective start π̃₀ of later stages: {several} times π₀, derived"


def head_starts_of(derivation: Derivation) -> _HeadStarts | None:
    """Return the modes that have a head start; None where no stage drives a later one.

    None either without a network, without values, or where strengths have no closed form.
    """
    spec = derivation.spec
    if len(derivation.stages) < 2 or derivation.strength0 is None or derivation.later:
        return None
    if not (derivation.closed and spec.has_values):
        return None
    laws, start = derivation.ask(ball_laws), ball(derivation.strength0)
    found = {
        label: {
            "driven_by": dict(zip(("mode", "half_time"), each.driven_by, strict=True)),
            "strength0": each.law.strength0,
            "factor": each.law.strength0 / start,
            "learned": each.learned,
        }
        for label, each in laws.items()
        if each.driven_by is not None
    }
    if not found and not laws.outrun:
        return None
    groups = mode_orbits(derivation)
    symbols = {mode.label: group.symbol(mode) for group in groups for mode in group.learning}
    return _HeadStarts(modes=found, outrun=laws.outrun, symbols=symbols)


def _decimal(value: arb) -> str:
    return decimal_latex(*decimal_of(value, DIGITS), digits=4)
