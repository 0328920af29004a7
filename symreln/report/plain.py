"""Closed forms and the loss in plain characters, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.converged import converged_loss
from symreln.claims.head_formulas import some_driven
from symreln.claims.linear_flow import is_linear
from symreln.claims.orbits import short_list
from symreln.claims.starts import printed_starts
from symreln.claims.widths import narrow_pathways
from symreln.document.roots import plain_formula
from symreln.document.words import Notation
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import law_of
from symreln.laws.law import HEAD_START, STRENGTH0, TIME_CONSTANT
from symreln.report.chapters.formulas import first_modes, implicit, other_modes
from symreln.report.chapters.loss import any_coupled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from symreln.claims.derivation import Derivation
    from symreln.claims.orbits import PathwayOrbit

#: Symbols as a terminal shows them.
_PLAIN = {STRENGTH0: "π₀", HEAD_START: "π̃₀", TIME_CONSTANT: "τ"}

#: Files with every closed form.
_WHOLE = ("derivation.html", "derivation.json")


def plain_lines(derivation: Derivation, files: Collection[str] = ()) -> Iterator[str]:
    """Yield the closed forms and the loss, one a line; where there are none, what is integrated.

    Of what is left out those of the ``files`` are named that have it.
    """
    beside = " and ".join(name for name in _WHOLE if name in files)
    where = f", in {beside}" if beside else ""
    start, least = _values(derivation)
    if not derivation.closed:
        weights = "W(t) = Σyx Σx⁺ (1 − (1 − Σx/τ)^t): of all weights, single modes have none"
        integrated = f"no closed form: the {derivation.level.value} are integrated"
        yield weights if is_linear(derivation) else integrated
        yield f"loss: {start} with all outputs zero; least-squares loss of the pathways: {least}"
        return
    for chosen in first_modes(derivation):
        shown = [mode for mode in chosen.modes if mode.strength is not None]
        yield f"{_heading(chosen.group)}:"
        for mode in shown:
            found = None if implicit(mode) else chosen.group.strength(mode)
            text = f": {law_of(derivation.known).form}{where}"
            text = text if found is None else f" = {plain_formula(found, _PLAIN)}"
            yield f"  {_symbol(chosen.group, mode.number)}(t){text}"
    left = sum(len(chosen.modes) for chosen in other_modes(derivation))
    if left:
        yield f"  … {left} more{where}"
    yield from _letters(derivation)
    if derivation.loss is None:
        yield "loss: stages interfere, so that it is no sum over modes; it is integrated"
        return
    d = "d_eff" if any_coupled(derivation) else "d"
    yield (
        f"L(t) = {start} - sum over all modes of multiplicity*(s*π(t) - {d}*π(t)**2/2)"
        f"; {_reached(derivation)} {least}"
    )


def _reached(derivation: Derivation) -> str:
    """Say of the least-squares value who reaches it."""
    if derivation.ask(narrow_pathways):
        return "least-squares loss, with enough units:"
    if converged_loss(derivation) is not None:
        return "least-squares loss, without weight decay:"
    return "least-squares loss of the pathways:"


def _heading(group: PathwayOrbit) -> str:
    numbers = [str(pathway.number) for pathway in group.pathways]
    if len(numbers) == 1:
        return f"pathway {group.short_name}"
    shown = ", ".join(numbers) if len(numbers) <= 6 else f"{numbers[0]}, …, {numbers[-1]}"
    return f"pathways {group.short_name}, p = {shown}"


def _symbol(group: PathwayOrbit, mode: int) -> str:
    """Return a strength as :func:`symreln.document.symbols.strengths_in_text` reads it."""
    return f"pi_{group.first.number if len(group.pathways) == 1 else 'p'}_{mode}"


def _values(derivation: Derivation) -> list[str]:
    """Return the first loss and the least that can be reached, as text."""
    notation = Notation.of(derivation.spec)
    losses = (derivation.initial_loss, derivation.least_loss)
    return [notation.plain(each.to_sympy(notation.symbols)) for each in losses]


def _letters(derivation: Derivation) -> Iterator[str]:
    """Yield what the letters of the formulas are."""
    network = derivation.spec.network
    if network is None or derivation.tau is None:
        yield "  t: time; τ and π₀ stay symbols, because the spec names no network"
        return
    said = [f"t: full-batch steps; τ = {derivation.tau} steps"]
    starts = derivation.ask(printed_starts)
    for each in starts:
        value = AlgebraicNumber.rational(Scalar.of(each.strength0)).scientific({}, 6)
        where = f" of {short_list(each.pathways)}" if len(starts) > 1 else ""
        kappa = "" if each.kappa is None else ", from κ = {} ± {:.2g}".format(*each.kappa)
        said.append(f"π₀{where} = {value}{kappa}")
    if some_driven(derivation):
        said.append("π̃₀: effective start of a later stage's mode")
    yield f"  {'; '.join(said)}"
