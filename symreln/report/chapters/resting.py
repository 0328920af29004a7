"""Coupled modes whose end the start picks: lines of equilibria, and modes that share a sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.resting_points import PRODUCT, resting_points
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Content, Details, Inline, Math, equation, prose
from symreln.document.numerals import decimal_latex
from symreln.document.symbols import symbol_latex
from symreln.exact.enclosure import decimal_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from symreln.claims.equilibria import Race
    from symreln.claims.resting_points import RestingPoints

#: Modes that are named one by one.
MOST_NAMED = 12


def on_a_line(race: Race, start: Fraction | None) -> list[Block]:
    """Return where a race with singular couplings ends, as a function of the start.

    Args:
        race: With a line of equilibria.
        start: Where the prediction starts every mode; None where that is not known.
    """
    points = resting_points(race, start)
    line = race.line
    assert line is not None
    shape = "a line" if len(points.unknowns) == 1 else f"a set of dimension {len(points.unknowns)}"
    lines = [
        f"{to_latex(pi)} &= {to_latex(formula)}"
        for pi, formula in zip(points.strengths, points.formulas, strict=True)
        if pi not in points.unknowns
    ]
    blocks: list[Block] = [
        prose(
            "The couplings of ",
            *_named(mode.label for part in race.modes for mode in part),
            " are singular at the declared values (checked exactly), and equilibria of least loss "
            f"are {shape}:",
        ),
        equation(*lines),
        prose(*_range(points), *_absent(race), *_conserved(points)),
    ]
    return [*blocks, *_solved(points)]


def why_a_point() -> Block:
    """Return the proof that every positive start comes to rest, and where."""
    return Details(
        summary="Why the start picks one equilibrium",
        blocks=(
            prose(
                Math(r"A_{ab} = m_a \kappa_{ab}"),
                " is symmetric and positive semidefinite, so the minima of ",
                Math("L"),
                " over ",
                Math(r"\pi \geq 0"),
                " are convex, with one drive ",
                Math(r"\delta_a = s_a - \sum_b \kappa_{ab} \pi_b \leq 0"),
                " a mode. For every minimum ",
                Math(r"\pi^*"),
                ", ",
                Math(r"V = \sum_a (m_a/2)(\pi_a - \pi^*_a - \pi^*_a \ln \pi_a)"),
                " has ",
                Math(
                    r"\tau \dot{V} = -(\pi - \pi^*)^{\top} A (\pi - \pi^*) "
                    r"+ \sum_a m_a \pi_a \delta_a \leq 0"
                ),
                ": strengths stay bounded, limit points are minima, and, ",
                Math("V"),
                " being finite there, have every mode that any minimum has. With a limit point in "
                "place of ",
                Math(r"\pi^*"),
                ", ",
                Math("V"),
                " is least there alone and falls, so there is one limit point. Where ",
                Math(r"\kappa \nu = 0"),
                ", symmetry gives ",
                Math(r"\sum_a m_a \nu_a \kappa_{ab} = 0"),
                ", and ",
                Math(r"\sum_a m_a \nu_a s_a = 0"),
                " as the loss is bounded below (checked exactly): ",
                Math(r"\sum_a m_a \nu_a \ln \pi_a"),
                " never changes. These sums are, along the minima, the gradient of the strictly "
                "convex ",
                Math(r"\sum_a m_a (\pi_a \ln \pi_a - \pi_a)"),
                ", so they have the values of the start at one minimum only.",
            ),
        ),
    )


def sharing(races: Sequence[Race]) -> list[Block]:
    """Say how modes that are alike share the end of their sum."""
    groups = [modes for race in races for modes in race.shared]
    if not groups:
        return []
    named: list[str | Inline] = []
    for modes in groups[:MOST_NAMED]:
        named += [", " if named else "", Math(" : ".join(symbol_latex(m.label) for m in modes))]
    more = len(groups) - MOST_NAMED
    return [
        prose(
            "Modes that act, and are acted on, alike keep their ratios for ever: ",
            *named,
            f" and {more} more. " if more > 0 else ". ",
            "Their sum obeys the equation of one of them, and is what is given for them; each has "
            "the share of it that it started with,",
        ),
        equation(r"\pi_a(t) = \frac{\pi_a(0)}{\sum_{b \sim a} \pi_b(0)} \sum_{b \sim a} \pi_b(t)."),
    ]


def _named(labels: Iterable[str]) -> list[str | Inline]:
    known = list(labels)
    found: list[str | Inline] = []
    for label in known[:MOST_NAMED]:
        found += [", " if found else "", Math(symbol_latex(label))]
    more = len(known) - MOST_NAMED
    return [*found, f" and {more} more"] if more > 0 else found


def _range(points: RestingPoints) -> list[str | Inline]:
    if points.low is None or points.high is None:
        return ["wherever all are positive. "]
    unknown = points.unknowns[0]
    low, high = to_latex(points.low), to_latex(points.high)
    return ["for ", Math(rf"{low} < {to_latex(unknown)} < {high}"), ". "]


def _absent(race: Race) -> list[str | Inline]:
    assert race.line is not None
    gone = [
        mode.label
        for g, there in enumerate(race.line.support)
        if not there
        for modes in race.alike(g)
        for mode in modes
    ]
    return [*_named(gone), " die out. "] if gone else []


def _conserved(points: RestingPoints) -> list[str | Inline]:
    content: list[str | Inline] = ["From every positive start the aligned modes come to rest at "]
    content += ["the one of them at which "]
    for index, total in enumerate(points.sums):
        content += [" and " if index else "", Math(to_latex(total))]
    many = len(points.sums) > 1
    return [*content, " have" if many else " has", " the value of the start: the flow keeps it."]


def _solved(points: RestingPoints) -> list[Block]:
    if len(points.unknowns) != 1:
        return []
    unknown = points.unknowns[0]
    blocks: list[Block] = []
    if points.powers is not None and points.polynomial is not None:
        product = sp.Mul(*(pi**e for pi, e in zip(points.strengths, points.powers, strict=True)))
        given: Content = (
            "With ",
            Math(rf"{to_latex(PRODUCT)} = {to_latex(product)}"),
            " at the start it is the only root in this range of",
        )
        blocks += [prose(*given), equation(f"{to_latex(points.polynomial.as_expr())} = 0,")]
        if points.root is not None:
            blocks += [
                prose("that is"),
                equation(f"{to_latex(unknown)} = {to_latex(points.root)}."),
            ]
    if points.balls is not None:
        shown: list[str | Inline] = []
        for pi, value in zip(points.strengths, points.balls, strict=True):
            decimal = decimal_latex(*decimal_of(value, 21), digits=8)
            shown += [", " if shown else "", Math(rf"{to_latex(pi)} = {decimal}")]
        blocks.append(
            prose("From equal starts, at the expected ", Math(r"\pi_0"), ": ", *shown, ".")
        )
    return blocks
