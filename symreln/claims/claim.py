"""A claim: a finding with exact values, said once; document, JSON and terminal are folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, fields
from importlib import import_module
from typing import Any, Literal, Self, TypeVar

from flint import arb

from symreln.base.records import Immutable, record
from symreln.document.document_model import Block, Paragraph
from symreln.document.typeset import typeset
from symreln.exact.enclosure import decimal_of
from symreln.exact.truth import Truth

Found = TypeVar("Found")
#: Digits of decimals.
DIGITS = 21


@record(eq=False)
class Asked(Immutable):
    """What rules are asked of: a derivation, which keeps what they find."""

    _known: dict[Callable, Any] = field(default_factory=dict, init=False, repr=False)

    def ask(self, rule: Callable[[Self], Found]) -> Found:
        """Return what a rule finds in this derivation; it is found once and kept.

        Args:
            rule: A function of a derivation, which is what its findings are kept under.
        """
        if rule not in self._known:
            self._known[rule] = rule(self)
        return self._known[rule]


#: What is asked of a derivation: a claim, several, or None; of couplings, entries of JSON.
Rule = Callable[[Any], "Claim | Iterable[Any] | None"]


@record
class Step:
    """One step of the derivation and the check that was made of it.

    Attributes:
        name: What was derived.
        statement: The claim, in words.
        check: How the program checked it.
        outcome: UNDECIDED where there was nothing that could be checked.
    """

    name: str
    statement: str
    check: str
    outcome: Truth = Truth.PROVEN


class Claim:
    """What a rule finds: a frozen dataclass of the rule's own, with its exact values as fields.

    None of its methods knows of LaTeX, HTML, JSON or a terminal: values go out as they are, and
    whoever folds them decides how many digits are printed (:mod:`symreln.report.encode`).
    """

    def values(self) -> Any:
        """Return what JSON and Python give out: exact values, claims, lists and dicts of them.

        The fields of the dataclass, but for those that only prose needs.
        """
        shown = (f.name for f in fields(self) if not f.metadata.get("prose"))  # pyright: ignore
        return {name: getattr(self, name) for name in shown}

    @property
    def sentence(self) -> str:
        """What is found, in plain characters: what document, terminal and ``print`` say; or ""."""
        return ""

    def says(self) -> Iterable[Block]:
        """Yield what the document says, in its order."""
        if self.sentence:
            yield Paragraph(typeset(f"{self.sentence[:1].upper()}{self.sentence[1:]}"))

    def lines(self) -> Iterable[str]:
        """Yield what the terminal says, in plain characters."""
        if self.sentence:
            yield self.sentence

    def steps(self) -> Iterable[Step]:
        """Check the claim by another route than it was found, and yield how.

        Raises:
            ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
        """
        return ()


def decimals(ball: arb) -> dict[str, str]:
    """Return a ball as "decimal" and "radius", text."""
    return numbered(decimal_of(ball, DIGITS))


def numbered(decimal: tuple[str, str] | None) -> dict[str, str]:
    """Return (decimal, radius) as "decimal" and "radius"; nothing where there is no number."""
    return {} if decimal is None else {"decimal": decimal[0], "radius": decimal[1]}


#: Where the document says a claim: with the reduction of coupled modes, where the dynamics end,
#: with the initial strengths, in a chapter of its own, on the first page, or nowhere.
Place = Literal["reduction", "end", "start", "chapter", "found", ""]


@record(kw_only=False)
class Shown:
    """A rule and where its claims are shown.

    Attributes:
        name: Module and function of the rule, below ``symreln``.
        place: Where the document says it; "" for nowhere.
        key: Its key in derivation.json; "" for none.
        always: Whether the key is there, null, where nothing is claimed.
        printed: Whether the terminal prints its lines.
        warns: Whether ``print(derivation)`` does, which has ten lines for everything else.
        checked: Whether its steps are among the derivation's checks.
    """

    name: str
    place: Place = ""
    key: str = ""
    always: bool = True
    printed: bool = False
    warns: bool = False
    checked: bool = False

    @property
    def rule(self) -> Rule:
        """The rule, imported when it is first asked for."""
        module, _, function = self.name.rpartition(".")
        return getattr(import_module(f"symreln.{module}"), function)
