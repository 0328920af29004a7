"""What is said of head starts: where the modes of later stages start in effect, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.base.rounding import percent, positional
from symreln.claims.claim import DIGITS, Claim
from symreln.claims.halving import ball_laws
from symreln.claims.head_start import without_form
from symreln.claims.orbits import symbols_of
from symreln.document.model import Block, Math, Table
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.exact.enclosure import ball, decimal_of
from symreln.specs.finding import counted

if TYPE_CHECKING:
    from flint import arb

    from symreln.claims.derivation import Derivation
    from symreln.claims.head_copies import Copies
    from symreln.document.inlines import Content

#: Modes that are printed.
_MOST_MODES = 24
#: What the table shows of a mode whose drive is taken to be learned at its half-time.
_UNSTATED = "not stated"


@record
class _Ahead(Claim):
    """One mode that earlier stages drive.

    Attributes:
        label: Symbol of its strength.
        copies: Its copies, those that start alike together.
        factor: The mean over copies of where they start in effect, over π₀.
        strength0: The same, as a strength.
    """

    label: str
    copies: tuple[Copies, ...] = field(metadata={"prose": True})
    factor: arb
    strength0: arb

    @property
    def learned(self) -> Any:
        """The share of its plateau that it has when the last of them is learned.

        What its growth from small weights leaves out is small with it.
        """
        return max((each.learned for each in self.copies), key=float)

    @property
    def sigmoid_factor(self) -> arb | None:
        """Its start over what it were if what drives it were learned at once.

        None where no formula says it, as of copies that start apart.
        """
        return _sigmoid_factor(self.copies[0])

    @property
    def shared(self) -> bool:
        """Whether modes of the pathway that are learned before take units of it."""
        return any(each.shared for each in self.copies)

    @property
    def reached_by(self) -> list[dict[str, Any]]:
        """The earlier modes that drive it, with their half-times in steps."""
        return [{"mode": label, "half_time": time} for label, time in self.copies[0].reached_by]

    def values(self) -> dict[str, Any]:
        """Return the mode, its start, and what drives it; where copies start apart, each start.

        The strength is then the mean of the formula over copies.
        """
        found = {
            **super().values(),
            "learned": self.learned,
            "sigmoid_factor": self.sigmoid_factor,
            "reached_by": self.reached_by,
        }
        if len(self.copies) > 1:
            found["copies"] = [
                {
                    "count": each.count,
                    "strength0": each.law.strength0,
                    "sigmoid_factor": _sigmoid_factor(each),
                }
                for each in self.copies
            ]
        return found

    def rows(self, symbol: str, start: arb) -> Iterator[tuple[Content, ...]]:
        """Yield the rows of a table, one for copies that start alike.

        Args:
            symbol: LaTeX of the strength.
            start: π₀.
        """
        whole = sum(each.count for each in self.copies)
        for each in self.copies:
            factor = _sigmoid_factor(each)
            own = "" if each.count == whole else rf"\;({each.count} \text{{ of }} {whole})"
            yield (
                Math(symbol + own),
                Math(_decimal(each.law.strength0)),
                Math(_decimal(each.law.strength0 / start)),
                f"{counted(len(each.reached_by), 'mode')}, "
                f"until step {float(each.reached_by[-1][1]):.0f}",
                percent(float(each.learned)),
                _UNSTATED if factor is None else Math(_decimal(factor)),
            )


@record
class HeadStarts(Claim):
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
        if any(each.at_once is None for mode in self.modes for each in mode.copies):
            yield say(
                "An earlier mode counts as learned at its half-time where several earlier modes "
                "drive a mode, where the plane is left, where hidden units are shared, or where "
                "conjugate modes have no formula of their own. The "
                "relative error of $\\tilde{\\pi}_0$ is then of the order $r s/s_\\alpha^2$ where "
                "drives do not commute; it does not tend to 0 with $\\pi_0$."
            )
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
        """Yield where modes start in effect, one row for copies that start alike."""
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
            rows=tuple(row for symbol, each in shown for row in each.rows(symbol, self.strength0)),
            caption=phrase(
                "Effective starts of the modes of later stages. $\\pi(t_m)/h$ is the share of the "
                "plateau that a mode has at the last half-time $t_m$. The formula holds for small "
                "weights; its relative error is of the order of this share, which tends to 0 with "
                "the initial strength. The last column is the start divided by the one for earlier "
                "modes that are learned at once. Which earlier modes drive a mode, and which "
                "half-times and starts are equal, is decided in float64 to a relative $10^{-9}$."
                + (
                    " Copies of a mode with different starts have rows of their own; the strength "
                    "is their mean."
                    if any(len(each.copies) > 1 for _, each in shown)
                    else ""
                )
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


def head_starts_of(derivation: Derivation) -> HeadStarts | None:
    """Return the modes that have a head start; None where no stage drives a later one.

    None either without a network, without values, or where strengths have no closed form.
    """
    spec = derivation.spec
    if len(derivation.stages) < 2 or derivation.strength0 is None or derivation.later:
        return None
    if not (derivation.closed and spec.has_values):
        return None
    laws, start = derivation.ask(ball_laws), ball(derivation.strength0)
    found = []
    for label, copies in laws.items():
        if not copies[0].reached_by:
            continue
        whole = sum(each.count for each in copies)
        strength0 = sum((each.count * each.law.strength0 for each in copies), start=ball(0)) / whole
        found.append(
            _Ahead(label=label, copies=copies, factor=strength0 / start, strength0=strength0)
        )
    if not found and not laws.outrun:
        return None
    return HeadStarts(
        modes=tuple(found),
        outrun=laws.outrun,
        strength0=start,
        symbols=symbols_of(derivation),
    )


def _sigmoid_factor(copies: Copies) -> arb | None:
    """Return the start of copies over what it were if what drives them were learned at once."""
    return None if copies.at_once is None else copies.law.strength0 / copies.at_once


def _decimal(value: arb) -> str:
    return decimal_latex(*decimal_of(value, DIGITS), digits=4)
