"""What gradient descent's finite steps make of the flow, where that is bounded."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING

from symreln.claims.alike import alike
from symreln.claims.descending import flow_error
from symreln.document.model import Block, Details, Math, Table, equation, prose

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

#: Modes whose bounds are printed; the rest is in derivation.json.
MOST_BOUNDS = 24


def finite_steps(derivation: Derivation) -> list[Block]:
    """Return the bounds on the flow's error; nothing where none is proven."""
    rows = [
        (Math(group.symbol(mode)), _percent(bound))
        for group in alike(derivation)
        for mode in group.learning
        for bound in [flow_error(derivation, mode)]
        if bound is not None
    ]
    if not rows:
        return []
    more = "" if len(rows) <= MOST_BOUNDS else f" {len(rows) - MOST_BOUNDS} more: derivation.json."
    return [
        prose(
            "The solutions are those of the flow, that is of infinitely small steps. With steps of "
            "this learning rate, from the same aligned weights, strengths are at no time further "
            "from them than, as a share of the plateau:",
        ),
        Table(
            header=("strength", "flow against gradient descent, at most"),
            rows=tuple(rows[:MOST_BOUNDS]),
            caption=f"Proven bounds on the error of the flow.{more}",
            alignment="lr",
        ),
        _proof(),
    ]


def _percent(share: float) -> str:
    """Return a bound in per cent with two significant digits, rounded up."""
    rounded = Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(100 * share)
    return f"{float(rounded):g} %"


def _proof() -> Block:
    return Details(
        summary="Why this bounds them",
        blocks=(
            prose(
                "A step of gradient descent takes ",
                Math(r"x = d\pi/s"),
                " to ",
                Math(r"x (1 + h (1 - x))^2"),
                " with ",
                Math(r"h = s/\tau"),
                ", and so its logit ",
                Math(r"\ln(x/(1 - x))"),
                " forward by ",
                Math(r"\Delta(x) = 2 \ln(1 + h(1 - x)) - \ln(1 - 2hx - h^2 x (1 - x))"),
                ". The program checks this identity, and that ",
                Math(r"\Delta"),
                " rises with ",
                Math("x"),
                ", with exact algebra. Hence for ",
                Math(r"0 < h < \tfrac{1}{2}"),
            ),
            equation(r"2 \ln(1 + h) \le \Delta(x) \le -\ln(1 - 2h),"),
            prose(
                "while the flow moves it by ",
                Math("2h"),
                ", which lies between: both are between two sigmoids of these rates ",
                Math(r"r_- < r_+"),
                ". After ",
                Math("n"),
                " steps these are apart by less than ",
                Math(r"(r_+ - r_-) n/4"),
                ", and by less than what the slower one has still to go, ",
                Math(r"e^{-r_- (n - n_{1/2})}"),
                "; the first rises and the second falls with ",
                Math("n"),
                ".",
            ),
        ),
    )
