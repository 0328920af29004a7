"""What is said of head starts: where the modes of later stages start in effect, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.base.rounding import percent, positional
from symreln.claims.balls import ball_laws
from symreln.claims.claim import DIGITS, Claim
from symreln.claims.head_start import without_form
from symreln.claims.orbits import symbols_of
from symreln.document.model import Block, Math, Table
from symreln.document.numerals import decimal_latex
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.exact.enclosure import ball, decimal_of

if TYPE_CHECKING:
    from flint import arb

    from symreln.claims.derivation import Derivation
    from symreln.document.model import Content

#: Modes that are printed.
_MOST_MODES = 24


@record
class _Ahead(Claim):
    """One mode that an earlier stage drives.

    Attributes:
        label: Symbol of its strength.
        driven_by: The earlier mode that drives it, with its half-time in steps.
        strength0: Where it starts in effect.
        factor: The same over π₀.
        learned: The share of its plateau that it has when what drives it is learned.
        sigmoid_factor: Its start over what it were if what drives it were learned at once.
    """

    label: str
    driven_by: Mapping[str, Any]
    strength0: arb
    factor: arb
    learned: arb
    sigmoid_factor: arb

    def row(self, symbol: str) -> tuple[Content, ...]:
        """Return its row of a table; ``symbol``: LaTeX of the strength."""
        by, until = self.driven_by["mode"], float(self.driven_by["half_time"])
        return (
            Math(symbol),
            Math(_decimal(self.strength0)),
            Math(_decimal(self.factor)),
            phrase(f"${symbol_latex(by)}$, until step {until:.0f}"),
            percent(float(self.learned)),
            Math(_decimal(self.sigmoid_factor)),
        )


@record
class _HeadStarts(Claim):
    """The modes of later stages that earlier ones drive while they learn.

    Attributes:
        modes: All of them that have a closed form.
        outrun: Why others have none, in time, by label.
        strength0: π₀.
        symbols: LaTeX of the modes that tables show, by label.
    """

    modes: tuple[_Ahead, ...]
    outrun: Mapping[str, str]
    strength0: arb
    symbols: Mapping[str, str] = field(metadata={"prose": True})

    def values(self) -> dict[str, Any]:
        """Return the modes by label; null of those that have no closed form."""
        return {each.label: each for each in self.modes} | dict.fromkeys(self.outrun)

    def says(self) -> Iterator[Block]:
        """Say what drives later stages, the formula, and where their modes start in effect."""
        if self.outrun:
            yield say(
                "{none}. The formulas of these modes hold for converged earlier stages only.",
                none=typeset(f"N{without_form(self.outrun)[1:]}"),
            )
        yield from self._table()

    @property
    def tabled(self) -> list[tuple[str, _Ahead]]:
        """(LaTeX of the strength, mode) of those that the document's table shows."""
        return [(s, each) for each in self.modes if (s := self.symbols.get(each.label))]

    def _table(self) -> Iterator[Block]:
        """Yield where modes start in effect."""
        shown = self.tabled
        if not shown:
            return
        yield Table(
            header=(
                "strength",
                Math(r"\tilde{\pi}_0"),
                Math(r"\tilde{\pi}_0/\pi_0"),
                "driven by",
                Math(r"\pi(t_m)/h"),
                "sigmoid",
            ),
            rows=tuple(each.row(symbol) for symbol, each in shown),
            caption=phrase(
                "Effective starts of the modes of later stages. $\\pi(t_m)/h$ is the share of the "
                "plateau that a mode has at the last half-time $t_m$. The formula holds for small "
                "weights; its relative error is of the order of this share, which tends to 0 with "
                "the initial strength. The last column is the start divided by the one for earlier "
                "modes that are learned at once."
            ),
            alignment="lccrrr",
            label="tab:headstarts",
            most=_MOST_MODES,
        )

    def lines(self) -> Iterator[str]:
        """Say on the terminal how much stronger later stages start in effect."""
        if self.outrun:
            yield without_form(self.outrun)
        factors = [float(each.factor) for each in self.modes]
        if not factors:
            return
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
    found = [
        _Ahead(
            label=label,
            driven_by=dict(zip(("mode", "half_time"), each.driven_by, strict=True)),
            strength0=each.law.strength0,
            factor=each.law.strength0 / start,
            learned=each.learned,
            sigmoid_factor=each.law.strength0 / each.at_once,
        )
        for label, each in laws.items()
        if each.driven_by is not None
    ]
    if not found and not laws.outrun:
        return None
    return _HeadStarts(
        modes=tuple(found), outrun=laws.outrun, strength0=start, symbols=symbols_of(derivation)
    )


def _decimal(value: arb) -> str:
    return decimal_latex(*decimal_of(value, DIGITS), digits=4)
