"""The loss: from which value it falls, how, and where it comes to rest."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from symreln.base.records import record
from symreln.claims.claim import DIGITS, Claim, numbered
from symreln.claims.derivation import Derivation
from symreln.claims.narrow import learned_counts, narrow_pathways
from symreln.claims.probes import learning_modes
from symreln.claims.solve import at_values
from symreln.document.document_model import Block, Math, equation, prose
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say
from symreln.document.words import Notation, scalar_latex, scalar_text
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.exact.scalar import Scalar
from symreln.laws.choice import solve
from symreln.laws.law import strength_symbol
from symreln.laws.ops import ARB

_BITS = 160
#: Whatever the training descends, losses are shown as means.
_DEFINITION = Math(r"L = \tfrac{1}{2P} \sum_\mu \|y_\mu - \hat{y}_\mu\|^2")


@record(eq=False)
class _Loss(Claim):
    """The loss of a derivation.

    Attributes:
        derivation: Whose loss it is.
    """

    derivation: Derivation

    @cached_property
    def settled(self) -> sp.Expr | None:
        """Where it ends; None where that is the least-squares value, or it is no sum over modes.

        Every strength is put at its plateau, (s − λ)/d or 0; modes without a unit leave s²/(2d).
        """
        derivation = self.derivation
        counts = learned_counts(derivation, least=True)
        if derivation.loss is None or not (counts or derivation.known.lowers_plateaus):
            return None
        laws = [(mode, mode.strength) for _, mode in learning_modes(derivation) if mode.strength]
        plateaus = {strength_symbol(mode.label): law.plateau for mode, law in laws}
        found: Any = derivation.loss.xreplace(plateaus)
        for mode, law in laws:
            lost = mode.multiplicity - counts.get(mode.label, mode.multiplicity)
            found += lost * law.s**2 / (2 * law.d)
        return found

    @cached_property
    def rational(self) -> Fraction | None:
        """That limit at the declared values where it is rational; None otherwise."""
        if not self.derivation.spec.has_values:
            return None
        limit: Any = self.derivation.ask(at_values).ask(loss_of).settled
        if limit is None:
            return None
        limit = sp.expand(limit)  # roots of modes cancel
        return Fraction(int(limit.p), int(limit.q)) if limit.is_Rational else None

    @cached_property
    def decimal(self) -> tuple[str, str] | None:
        """(decimal, radius) of that limit at the declared values, or None without them.

        A mode that stays below its plateau s/d by g adds m d g²/2 to the least-squares value. A
        limit that is rational has a radius of 0 where its decimal ends.
        """
        known, spec = self.derivation.known, self.derivation.spec
        if spec.network is None or not spec.has_values:
            return None
        if self.rational is not None:
            return AlgebraicNumber.rational(Scalar.of(self.rational)).decimal({}, DIGITS)
        exact = self.derivation.ask(at_values)
        counts = learned_counts(exact, least=True)
        with precision(_BITS):
            total = ball(exact.least_loss.to_fraction())
            for _, mode in learning_modes(exact):
                if mode.d_eff is None:
                    continue
                s, d = mode.s.ball({}, _BITS), mode.d_eff.ball({}, _BITS)
                gap = s - ARB.positive(solve(known, s, d, ops=ARB).growth)
                lost = mode.multiplicity - counts.get(mode.label, mode.multiplicity)
                total += ((mode.multiplicity - lost) * gap * gap + lost * s * s) / (2 * d)
            return decimal_of(total, DIGITS)

    @property
    def d(self) -> str:
        """What stands beside half of a squared strength: "d", or "d_eff" where modes couple."""
        return "d_eff" if any(s.verdict.d_eff for s in self.derivation.stages) else "d"

    def values(self) -> dict[str, Any]:
        """Return "initial", "final" and "expr"; the final value is that of decay and few units."""
        final: Any = self.derivation.least_loss
        if self.settled is not None:
            final = {"expr": self.settled, **numbered(self.decimal)}
        loss = self.derivation.loss
        return {"initial": self.derivation.initial_loss, "final": final, "expr": loss}

    def lines(self) -> Iterator[str]:
        """Say it in plain characters."""
        derivation, notation = self.derivation, Notation.of(self.derivation.spec)
        start, least = (
            scalar_text(each, notation) for each in (derivation.initial_loss, derivation.least_loss)
        )
        reached = " of the pathways"
        if not derivation.closed:
            yield f"loss: {start} with all outputs zero; least-squares loss{reached}: {least}"
        elif derivation.loss is None:
            yield "loss: stages interfere, so that it is no sum over modes; it is integrated"
        else:
            if derivation.ask(narrow_pathways):
                reached = ", with enough units"
            elif self.settled is not None:
                reached = ", without weight decay"
            yield (
                f"L(t) = {start} - sum over all modes of multiplicity*(s*π(t) - {self.d}*π(t)**2/2)"
                f"; least-squares loss{reached}: {least}"
            )

    def says(self) -> Iterator[Block]:
        """Say it in mode space and where it goes, or why it is no sum over modes."""
        derivation, notation = self.derivation, Notation.of(self.derivation.spec)
        final = Math(scalar_latex(derivation.least_loss, notation))
        initial = scalar_latex(derivation.initial_loss, notation)
        if derivation.loss is None:
            yield say(
                "The mean loss {definition} has cross terms between stages that were not shown to "
                "vanish. The predicted loss is that of the integrated flow. Its least value is "
                "{final}.",
                definition=_DEFINITION,
                final=final,
            )
            return
        d = r"d_\alpha" if self.d == "d" else r"d_{\mathrm{eff},\alpha}"
        yield say(
            r"The mean loss {definition} is a sum over modes $\alpha$ of multiplicity $m_\alpha$:",
            definition=_DEFINITION,
        )
        yield equation(
            rf"L(t) = {initial} - \sum_\alpha m_\alpha \left( s_\alpha \pi_\alpha(t) "
            rf"- \tfrac{{1}}{{2}} {d}\, \pi_\alpha(t)^2 \right).",
        )
        start = Math(rf"\tfrac{{1}}{{2P}} \sum_\mu \|y_\mu\|^2 = {initial}")
        yield prose("It falls from ", start, " (all outputs zero)", *self._end(final))

    def _end(self, final: Math) -> list[Any]:
        """Say where the loss goes from its first value."""
        if self.derivation.ask(narrow_pathways):
            wide = "; pathways that are wide enough would bring it to the least-squares value "
            return [wide, final, "."]
        if self.settled is None:
            return [" to ", final, ", the least-squares loss of the pathways."]
        return [
            " to what it is with every strength at its plateau",
            *([] if self.decimal is None else self._limit(*self.decimal)),
            " and not to the least-squares value ",
            final,
            ": weight decay holds the strengths below.",
        ]

    def _limit(self, decimal: str, radius: str) -> list[Any]:
        """Return that value between commas: exact where it is rational, else as a decimal."""
        spec = self.derivation.spec
        where = " at the declared values" if spec.parameters else ""
        if self.rational is None:
            shown = decimal_latex(decimal, radius, digits=8)
        else:
            shown = scalar_latex(Scalar.of(self.rational), Notation.of(spec))
        return [", ", Math(shown), f"{where},"]


def loss_of(derivation: Derivation) -> _Loss:
    """Return what is found of the loss."""
    return _Loss(derivation=derivation)
