"""What a page computes over sliders, as values: sliders, and modes with their loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import sympy as sp

from symreln.base.records import record

if TYPE_CHECKING:
    from symreln.laws.law import Law

#: What sliders of the network move; no parameter's name begins so.
HIDDEN, RATE = sp.symbols("_hidden _learning_rate", positive=True)
SCALE, SCALE_OUT = sp.symbols("_init_std _init_std_out", positive=True)
#: Where a mode starts, and when it is half learned.
START, HALF = sp.symbols("_start _half_time", positive=True)

Step = Literal["linear", "log", "whole", "doubling"]


@record
class Slider:
    """A number that a reader may change.

    Attributes:
        name: Its symbol in formulas.
        symbol: The same as text.
        says: What it is, for the label.
        value: Declared.
        low: Least value.
        high: Greatest.
        step: How it moves.
    """

    name: str
    symbol: str
    says: str
    value: float
    low: float
    high: float
    step: Step


@record
class LiveMode:
    """A mode over sliders; expressions in their symbols.

    Attributes:
        title: Symbol in LaTeX, or words.
        pathway: Whose it is.
        law: As it is evaluated; it starts at the letter :data:`START`, or at 0.
        start: Where it starts in effect.
        count: How many equal modes it is.
        holds: What must be positive for the formulas to hold, :data:`HALF` its half-time.
        names: Labels of modes in the derivation that it stands for.
    """

    title: str
    pathway: str
    law: Law
    start: sp.Expr
    count: sp.Expr
    holds: tuple[sp.Expr, ...] = ()
    names: tuple[str, ...] = ()


@record
class Group:
    """Modes with what they leave of the loss; of a family one copy number at a time.

    Attributes:
        modes: The modes.
        rest: Loss that is left of this group at the end.
        over: Symbol that runs over 1, 2, 4, … below ``below``; "" where there is none.
        below: Symbol or number.
    """

    modes: tuple[LiveMode, ...]
    rest: sp.Expr
    over: str = ""
    below: str = ""


@record
class Live:
    """All that a page computes.

    Attributes:
        sliders: What is moved.
        groups: What is computed.
        steps: Times are 0 to this.
    """

    sliders: tuple[Slider, ...]
    groups: tuple[Group, ...]
    steps: int
