"""The printed formulas by name, with the values of all their letters: what is evaluated elsewhere.

Closed forms are printed with letters that say where a mode starts; a later stage's modes share one
there, while each has a head start of its own. Here every letter has one value, so that a formula
can be evaluated, plotted or exported without the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from operator import attrgetter
from typing import Any

import sympy as sp

from symreln.base.records import record
from symreln.base.summaries import ByName, few
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.head_start import ModeLaw, ModeLaws
from symreln.claims.integration import check_range
from symreln.claims.narrow import check_decided, learned_counts, narrow_pathways
from symreln.claims.probes import learning_modes
from symreln.claims.solve import at_values
from symreln.claims.starts import printed_starts, start_of
from symreln.document.mathtext import to_latex
from symreln.document.symbols import symbol_latex
from symreln.errors import InputError, NoClosedFormError
from symreln.laws.choice import expected_start, law_of
from symreln.laws.law import HEAD_START, STRENGTH0, TIME, TIME_CONSTANT, Law
from symreln.laws.one_layer import OneLayer
from symreln.laws.ops import ARB, EVALUATED
from symreln.laws.unbalanced import IMBALANCE
from symreln.specs.finding import nearest, shown

#: How many of a mode's equal ones are learned, and their law.
Alike = tuple[int, "Law"]
LOSS = "loss"
_START = "initial strength"
_SOLVED = attrgetter("solved")
#: Why there is no formula of the loss.
NO_LOSS = "the loss is no sum over modes: stages interfere"


@record
class Letter:
    """A symbol of the formulas that is not time.

    Attributes:
        symbol: The symbol.
        value: At the declared values: exact where it is rational, else float64; None without one.
        says: What it is.
        follows: Whether its value follows from other letters: a head start, a root.
        begins: Whether modes start at it.
    """

    symbol: sp.Symbol
    value: Fraction | float | None
    says: str
    follows: bool = False
    begins: bool = False


@record
class Formula:
    r"""One closed form.

    Attributes:
        name: "pi_1_2" for the strength of a mode, or "loss".
        says: What it is.
        expr: The formula in t (full-batch steps) and letters; 0 of a mode that nothing is
            learned of.
        learned: Of a strength, (how many equal modes are learned, law); of the loss None.
        half_time: Steps at which half of the plateau is reached; None where no formula says it.
        evaluated: The formula in a form that neither overflows nor cancels.
    """

    name: str
    says: str
    expr: sp.Expr
    learned: Alike | None = None
    half_time: sp.Expr | None = None
    evaluated: sp.Expr = field(default=sp.S.Zero, repr=False)

    @property
    def symbol(self) -> str:
        """LaTeX of what it is the formula of."""
        return "L" if self.name == LOSS else symbol_latex(self.name)

    def to_latex(self) -> str:
        """Return the LaTeX of the whole equation, without delimiters."""
        return rf"{self.symbol}(t) = {to_latex(self.expr)}"

    def _repr_latex_(self) -> str:
        """Return the equation for a notebook."""
        return rf"$\displaystyle {self.to_latex()}$"


@record(eq=False)
class Formulas(ByName[Formula]):
    """The closed forms of a derivation by name: of every mode that learns, and of the loss.

    Attributes:
        found: The formulas.
        letters: Every letter that one of them has, by name: parameters first.
        no_loss: Why there is none of the loss; empty where there is.
        null: Labels of the null modes, whose strengths are 0.
    """

    found: Mapping[str, Formula]
    letters: Mapping[str, Letter]
    no_loss: str = ""
    null: tuple[str, ...] = ()

    def named(self, name: str) -> Formula:
        """Return a formula.

        Raises:
            InputError: There is none of that name; the nearest is named.
            NoClosedFormError: The loss, and it is no sum over modes.
        """
        if name in self.found:
            return self.found[name]
        if name == LOSS and self.no_loss:
            raise NoClosedFormError(self.no_loss)
        what = "a null mode: its strength stays 0" if name in self.null else "no mode"
        msg = f"formula: found {shown(name)}, which is {what}. {nearest(str(name), self.found)}"
        raise InputError(msg)

    def of(self, name: str) -> list[Letter]:
        """Return the letters that a formula has, in the order of all of them."""
        free = self.found[name].expr.free_symbols
        return [letter for letter in self.letters.values() if letter.symbol in free]


def formulas_of(derivation: Derivation) -> Formulas:
    """Return the printed closed forms with the values of their letters.

    At the declared values they are what :func:`symreln.claims.prediction.closed_forms` evaluates.

    Raises:
        NoClosedFormError: Not every mode that learns has one; the message says why.
    """
    check_closed(derivation, "expr")
    return derivation.ask(_formulas)


def evaluated_formulas(derivation: Derivation) -> Formulas:
    """Return what :func:`formulas_of` does, with the inverse of t(π) where no formula writes it.

    Raises:
        NoClosedFormError: A mode that learns has neither; the message says why.
        NotSupportedError: Which modes few units learn is not decided.
    """
    if derivation.known.layers < 3:
        return derivation.ask(formulas_of)
    check_decided(derivation)
    check_closed(derivation, "solved")
    found = derivation.ask(_formulas)
    letters = dict(found.letters)
    if _has_numbers(derivation) and STRENGTH0.name in letters:
        start = start_of(derivation).strength0
        letters[STRENGTH0.name] = replace(letters[STRENGTH0.name], value=start, begins=True)
    return replace(found, letters=letters)


def _formulas(derivation: Derivation) -> Formulas:
    starts = _starts(derivation)
    named, begun = _named_starts(derivation)
    counts = learned_counts(derivation) if _has_numbers(derivation) else {}
    found, letters = dict[str, Formula](), [*_given(derivation), *begun]
    learned: list[Alike] = []
    for pathway, mode in learning_modes(derivation):
        law = _named(mode.strength, named.get(pathway.name, {}))
        if isinstance(law, OneLayer) and _has_numbers(derivation) and mode.d_eff is not None:
            d = mode.d_eff.ball(derivation.spec.values, 64)
            law = replace(law, jumps=not d < ARB.number(derivation.tau))
        letters += _numbers(derivation, mode)
        if law.strength0 == HEAD_START:
            letters.append(_head_start(mode.label, starts.get(mode.label)))
            law = replace(law, strength0=letters[-1].symbol)
        learned.append((counts.get(mode.label, mode.multiplicity), law))
        found[mode.label] = _strength(pathway, mode, learned[-1])
    null = [m.label for pathway in derivation.pathways for m in pathway.modes if m.is_null]
    if derivation.loss_separates:
        initial = derivation.initial_loss.to_sympy(derivation.spec.symbols)
        found[LOSS] = Formula(
            name=LOSS,
            says="mean loss over samples",
            expr=initial - _taken(learned, _SOLVED),
            evaluated=initial - _taken(learned, evaluated_strength),
        )
    known = {letter.symbol.name: letter for letter in letters}
    free = {str(symbol) for each in found.values() for symbol in each.expr.free_symbols}
    return Formulas(
        found=found,
        letters={name: each for name, each in known.items() if name in free},
        no_loss="" if derivation.loss_separates else NO_LOSS,
        null=tuple(null),
    )


def evaluated_strength(law: Law) -> sp.Expr:
    """Return a strength in a form that neither overflows nor cancels, where there is one."""
    safe: Any = replace(law, ops=EVALUATED).strength(TIME) if law.expr is not None else law.solved
    return safe


def _taken(learned: Sequence[Alike], form: Callable[[Law], sp.Expr]) -> sp.Expr:
    """Return what modes take off the loss."""
    return sp.Add(*(n * law.taken(form(law)) for n, law in learned))


def check_closed(derivation: Derivation, form: str = "solved") -> None:
    """Raise unless every mode that learns has a closed form in time: this attribute of its law."""
    for one in derivation.ask(narrow_pathways):
        if one.found is not None and one.found.escapes:
            msg = f"{one.lacks}: modes replace each other"
            raise NoClosedFormError(msg)
    if derivation.later:
        msg = "gates switch: strengths are carried over from phase to phase, and are integrated"
        raise NoClosedFormError(msg)
    if not derivation.closed:
        reasons = "; ".join(derivation.verdict.reasons)
        error = NoClosedFormError(
            f"no closed form of modes ({derivation.verdict.level.value}): {reasons}"
        )
        # A note: pages say the reason, too.
        followed = "The solution, of matrices," if derivation.known.layers == 1 else "The reduction"
        error.add_note(f"{followed} is followed by evaluate() and plot() of the derivation.")
        raise error
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            if pathway.effective.image is not None or mode.is_null:
                continue  # an image's laws are those of its original
            if getattr(mode.strength, form, None) is None:
                msg = f"{mode.label} of '{pathway.name}' has no closed form in time: {mode.why}"
                if getattr(mode.strength, "solved", None) is not None:
                    msg += ". t(π) is printed, and to_numpy() and evaluate() invert it"
                raise NoClosedFormError(msg)


def _has_numbers(derivation: Derivation) -> bool:
    return derivation.spec.network is not None and derivation.spec.has_values


def _starts(derivation: Derivation) -> dict[str, ModeLaw]:
    """Return the modes in numbers, with where they start; nothing where that is no number.

    Raises:
        InputError: Later stages start from numbers that float64 has no room for.
    """
    staged = len(derivation.stages) > 1
    if not staged or not _has_numbers(derivation) or derivation.strength0 is None:
        return {}
    check_range(derivation.ask(at_values))
    laws = derivation.ask(ModeLaws.of)
    if laws.outrun:
        label, why = next(iter(laws.outrun.items()))
        msg = f"{label} has no closed form in time: {why}"
        raise NoClosedFormError(msg)
    return dict(laws)


def _head_start(label: str, found: ModeLaw | None) -> Letter:
    """Return the letter of a mode's head start; of one in numbers, with its value."""
    return Letter(
        symbol=sp.Symbol(f"pitilde_{label.removeprefix('pi_')}", positive=True),
        value=None if found is None else float(found.law.strength0),
        says=f"head start of {label}",
        follows=True,
    )


def _strength(pathway: PathwayDerivation, mode: ModeDerivation, learned: Alike) -> Formula:
    """Return a mode's formula."""
    count, law = learned
    return Formula(
        name=mode.label,
        says=f"strength of mode {mode.number} of pathway '{pathway.name}'",
        expr=_SOLVED(law) if count else sp.S.Zero,
        evaluated=evaluated_strength(law) if count else sp.S.Zero,
        learned=learned,
        half_time=law.half_time,
    )


def _numbers(derivation: Derivation, mode: ModeDerivation) -> Iterator[Letter]:
    """Yield the letters of s and d where these have no radicals."""
    place, values = mode.label.removeprefix("pi_"), derivation.spec.values
    assert mode.strength is not None
    free = {str(each): each for each in mode.strength.s.free_symbols | mode.strength.d.free_symbols}
    for letter, number in (("s", mode.s), ("d", mode.d_eff)):
        symbol = free.get(f"{letter}_{place}")
        if number is not None and isinstance(symbol, sp.Symbol):
            known = set(number.parameters) <= values.keys()
            value = number.to_float(values) if known else None
            says = f"{letter} of {mode.label}"
            follows = bool(number.parameters)
            yield Letter(symbol=symbol, value=value, says=says, follows=follows)


def _named(law: Law | None, names: Mapping[sp.Symbol, sp.Symbol]) -> Law:
    """Return the law of a mode that has one, with the letters of where its pathway starts."""
    assert law is not None
    if law.strength0 in names:
        return replace(law, strength0=names[law.strength0])
    # Layers that start apart begin at 0, with an imbalance.
    own: Any = getattr(law, "imbalance", None)
    return law if own not in names else replace(law, imbalance=names[own])


def _named_starts(
    derivation: Derivation,
) -> tuple[dict[str, dict[sp.Symbol, sp.Symbol]], list[Letter]]:
    """Return how the letters of starts are named by pathway, and these letters.

    Where pathways start apart each has one with its number.
    """
    starts = derivation.ask(printed_starts)
    zero = derivation.spec.network is not None and law_of(derivation.known).starts_at_zero
    symbol, says = (IMBALANCE, "conserved imbalance of the layers") if zero else (STRENGTH0, "")
    names: dict[str, dict[sp.Symbol, sp.Symbol]] = {}
    letters = [] if starts else [Letter(symbol=symbol, value=None, says=says or _START)]
    for each in starts:
        own, value = symbol, each.strength0
        if zero:
            value = expected_start(derivation.known).imbalance * each.factor
        if len(starts) > 1:
            number = next(p.number for p in derivation.pathways if p.name == each.pathways[0])
            own = sp.Symbol(f"{symbol.name}_{number}", positive=True)
        where = f" of {few([f'{name!r}' for name in each.pathways])}" if len(starts) > 1 else ""
        origin = "" if each.kappa is None else ", a Monte Carlo estimate"
        # κ is that of the data at the declared values.
        follows = each.kappa is not None and bool(derivation.spec.parameters)
        said = f"{says or _START}{where}{origin}"
        letters.append(Letter(symbol=own, value=value, says=said, follows=follows, begins=not zero))
        names |= {pathway: {symbol: own} for pathway in each.pathways}
    return names, letters


def _given(derivation: Derivation) -> Iterator[Letter]:
    """Yield the letters that all modes share: parameters, then what the network gives."""
    symbols = derivation.spec.symbols
    for parameter in derivation.spec.parameters:
        yield Letter(
            symbol=symbols[parameter.name], value=parameter.value, says="parameter of the spec"
        )
    yield Letter(
        symbol=TIME_CONSTANT, value=derivation.tau, says="time constant in full-batch steps"
    )
