"""Where the generic answer ends, as it is said: sets, and what happens on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import sympy as sp
from flint import fmpz_mpoly

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim
from symreln.claims.exceptional.conditions import Effect
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Content, Details, Items, Math, Section, Table
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import NONE
from symreln.exact.algebraic import AlgebraicNumber, real_roots
from symreln.exact.domain import variables
from symreln.exact.scalar import factored, spelled

#: Rows of a table of sets.
MOST = 24
#: Characters up to which a polynomial is written out in the document and on the terminal.
SHORT = 48
#: Sets named on the terminal.
_NAMED = 4
_PROSE = {"prose": True}


@record
class Consequence(Claim):
    """What happens on one exceptional set.

    Attributes:
        effect: What it is.
        stage: The stage concerned, or None for the data.
        pathways: Names of the pathways concerned, which are alike.
        modes: Labels of the modes concerned of the first of them, a tuple a class.
        count: Of how many modes of a class of conjugates it holds at every point; None where it is
            not counted, or holds of all.
        exact: Whether it is never more than ``count``.
        proven: Whether it happens at every point of the set; otherwise it is only possible there.
        what: The effect in words.
        where: The pathways and modes in words.
    """

    effect: Effect
    stage: int | None
    pathways: tuple[str, ...]
    modes: tuple[tuple[str, ...], ...]
    count: int | None
    exact: bool
    proven: bool
    what: str = field(metadata=_PROSE)
    where: str = field(metadata=_PROSE)

    def values(self) -> dict[str, Any]:
        """Return the fields, and "text": what happens, where, and whether it is proven."""
        return {
            **super().values(),
            "effect": self.effect.name.lower(),
            "text": self.said([self.where]),
        }

    def said(self, places: Sequence[str]) -> str:
        """Return what happens at some places, "possible" where it is not proven."""
        where = ", ".join(filter(None, places))
        return "possible: " * (not self.proven) + self.what + (f" ({where})" if where else "")


@record
class ExceptionalSet(Claim):
    """The zeros of one irreducible polynomial.

    Attributes:
        polynomial: Irreducible over Z, primitive, positive leading coefficient.
        ring: Names of the ring's parameters.
        consequences: What happens on it.
        roots: Its real roots in the domain, where one parameter occurs in it; else empty.
        excluded: Proof that it does not meet the domain, in words, or "".
    """

    polynomial: fmpz_mpoly
    ring: tuple[str, ...]
    consequences: tuple[Consequence, ...]
    roots: tuple[AlgebraicNumber, ...] = ()
    excluded: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that occur in it."""
        return variables(self.polynomial, self.ring)

    @property
    def harmless(self) -> bool:
        """Whether every printed formula stays true on it."""
        return all(consequence.effect.harmless for consequence in self.consequences)

    @property
    def text(self) -> str:
        """The polynomial in full, as formulas of a spec are written."""
        return spelled(self.polynomial)

    @property
    def short_text(self) -> str:
        """The polynomial, or its degree and parameters where it is long."""
        if len(self.text) <= SHORT:
            return self.text
        degree = int(self.polynomial.total_degree())
        return f"a polynomial of degree {degree} in {', '.join(self.names)}"

    @property
    def condition(self) -> str:
        """The set as "c = 2" for a linear polynomial in one parameter, else as "polynomial = 0"."""
        if len(self.roots) == 1 and self.roots[0].scalar is not None:
            return f"{self.names[0]} = {self.roots[0].scalar}"
        return f"{self.short_text} = 0"

    @property
    def happens(self) -> str:
        """All that happens on it, each effect once with everything that it concerns."""
        groups: dict[tuple[bool, str], tuple[Consequence, dict[str, None]]] = {}
        for each in self.consequences:
            _, places = groups.setdefault((each.proven, each.what), (each, {}))
            places[each.where] = None
        return "; ".join(first.said(list(places)) for first, places in groups.values())

    def values(self) -> dict[str, Any]:
        """Return it; "breaking" says whether a printed formula can fail or improve there."""
        return {
            "polynomial": self.text,
            "parameters": self.names,
            "breaking": not self.harmless,
            "values": self.roots,
            "excluded": self.excluded or None,
            "consequences": self.consequences,
        }

    @property
    def row(self) -> tuple[Content, Content, Content]:
        """The set, its points or why it is outside, and what happens."""
        degree = int(self.polynomial.total_degree())
        names = ", ".join(f"${symbol_latex(name)}$" for name in self.names)
        shown: Content = phrase(f"a polynomial of degree {degree} in {names}")
        if len(self.text) <= SHORT:
            shown = Math(f"{to_latex(factored(self.polynomial))} = 0")
        roots = ", ".join(
            f"${to_latex(root.to_sympy())}$"
            if root.is_radical
            else rf"$\approx {root.decimal({}, 8)[0]}$"
            for root in self.roots
        )
        middle = typeset(self.excluded) if self.excluded else phrase(roots or NONE)
        return shown, middle, typeset(self.happens)


@record
class ExceptionalSets(Claim):
    """Where the generic answer does not hold as it stands.

    Outside ``sets``, at every point of the domain, the derivation at that point has the same
    verdict or a stronger one and, pathway by pathway, the same pairs (s, d) with the same
    multiplicities, up to what ``undecided`` names.

    Attributes:
        parameters: Names of the parameters.
        domain: The declared ranges in words, "" where every real value is allowed.
        sets: Those that meet the domain, or may do so.
        outside: Those that are proven not to.
        undecided: What was not followed, in words.
        narrow: Numbers of the pathways with fewer hidden units than modes.
        until: The step at which gates switch, and other sets follow; None where they stay.
    """

    parameters: tuple[str, ...]
    domain: str
    sets: tuple[ExceptionalSet, ...]
    outside: tuple[ExceptionalSet, ...]
    undecided: tuple[str, ...] = ()
    narrow: tuple[int, ...] = field(default=(), metadata=_PROSE)
    until: int | None = field(default=None, metadata=_PROSE)

    @property
    def breaking(self) -> tuple[ExceptionalSet, ...]:
        """The sets on which a printed formula can fail or improve."""
        return tuple(item for item in self.sets if not item.harmless)

    @property
    def harmless(self) -> tuple[ExceptionalSet, ...]:
        """The others: there modes coincide, or null modes lose rank."""
        return tuple(item for item in self.sets if item.harmless)

    def lines(self) -> Iterator[str]:
        """Say in one line where the generic answer ends, and where modes coincide."""
        named = [item.condition for item in self.breaking]
        for item in self.outside:
            if not item.harmless and item.polynomial.total_degree() == 1 and len(item.names) == 1:
                (root,) = real_roots(item.polynomial, item.ring)
                barred = item.excluded.removeprefix("no root with ")
                named.append(f"{item.names[0]} = {root.scalar} (excluded by {barred})")
        # Where only s coincides, modes are unique all the same.
        merging = {Effect.DEGENERATE, Effect.MERGED}
        together = [
            item.condition
            for item in self.harmless
            if any(c.proven and c.effect in merging for c in item.consequences)
        ]
        when = "" if self.until is None else f"up to step {self.until}: "
        where = ", ".join(self.parameters)
        barred = f", except at {few(named, _NAMED)}" if named else ""
        text = f"{when}these formulas hold for all values of {where}{barred}"
        yield f"{text}; modes coincide where {few(together, _NAMED)}" if together else text

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        yield Section(
            title="Exceptional values of the parameters",
            label="sec:exceptional",
            blocks=tuple(self._blocks()),
        )

    def _blocks(self) -> Iterator[Block]:
        yield self._opening()
        if self.narrow:
            numbers, many = ", ".join(map(str, self.narrow)), len(self.narrow) > 1
            yield say(
                f"Which modes pathway{'s' * many} {numbers} with few hidden units "
                f"learn{'s' * (not many)}, and which loss remains, is decided at the declared "
                "values of the parameters."
            )
        header = ("set", "values", "what happens")
        if self.breaking:
            yield _table(header, self.breaking)
        tables = (_table(header, self.harmless),) if self.harmless else ()
        yield Details(
            summary="Where modes coincide: every formula stays true there",
            blocks=(_coinciding(), *tables),
        )
        if self.outside:
            header = ("set", "why it is outside", "what would happen")
            yield Details(
                summary="Sets that the declared ranges exclude",
                blocks=(
                    say("Proven to be outside, one irreducible polynomial each:"),
                    _table(header, self.outside),
                ),
            )
        if self.undecided:
            yield say("Undecided, because it was not followed:")
            yield Items(tuple(typeset(f"{text}.") for text in self.undecided))

    def _opening(self) -> Block:
        names = ", ".join(f"${to_latex(sp.Symbol(name))}$" for name in self.parameters)
        where = f"for all real {names}{' with {domain}' * bool(self.domain)}"
        limit = " up to what is named below as undecided" * bool(self.undecided)
        if self.breaking:
            template = (
                f"The verdict, the modes and the loss hold {where}, outside the sets listed here"
                f"{limit and ' and' + limit}. What the tables state happens everywhere on a set, "
                "except perhaps where it meets another set. What they call possible can happen "
                "only on the set, and need not."
            )
        else:
            wide = ", as one of pathways that are wide enough," * bool(self.narrow)
            template = (
                f"Every formula of this document{wide} holds {where}. No exceptional set on which "
                f"a formula fails meets this range{limit and ',' + limit}."
            )
        return say(template, domain=typeset(self.domain))


def _table(header: tuple[str, str, str], items: Sequence[ExceptionalSet]) -> Table:
    return Table(header=header, rows=tuple(item.row for item in items), alignment="lpp", most=MOST)


def _coinciding() -> Block:
    """Say why formulas stay true where modes coincide."""
    return say(
        r"The characteristic polynomial of $M + t \Sigma^{x}$ is an identity in the parameters, so "
        "the pairs $(s, d)$ hold wherever the data are finite. Where pairs coincide, spectral "
        "projectors are bounded, so that they have limit points on every path to such a point, and "
        "the limit points satisfy every proven equation. The modes are no longer unique there. The "
        "verdict is about their spaces, and may differ. Where couplings vanish or agree at certain "
        "values, a stronger level may hold there, with the same formulas."
    )
