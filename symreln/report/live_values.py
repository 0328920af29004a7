"""What a page computes over sliders, as values: sliders, modes with their loss, speeds, gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import sympy as sp

if TYPE_CHECKING:
    from symreln.laws.law import Law

#: What sliders of the network move; no parameter's name begins so.
HIDDEN, RATE = sp.symbols("_hidden _learning_rate", positive=True)
SCALE, SCALE_OUT = sp.symbols("_init_std _init_std_out", positive=True)
#: Where a mode starts, and when it is half learned.
START, HALF = sp.symbols("_start _half_time", positive=True)

Step = Literal["linear", "log", "whole", "doubling"]


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Speed:
    """The growth rate of a gate's units, in units of 1/τ, where the gate runs.

    Attributes:
        name: The gate, one of its class.
        rate: In the parameter; None where radicals do not say it.
        points: Then (value of the parameter, rate) at some values.
        low: From where on; None without an end.
        high: Up to where; likewise.
    """

    name: str
    rate: sp.Expr | None
    low: float | None
    high: float | None
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Values of the parameter, or one, with one order of gates.

    Attributes:
        low: From where on; None without an end.
        high: Up to where; likewise.
        closed: Whether the upper end belongs to it.
        where: The values as exact text.
        winners: The fastest gates; none where nothing is decided.
        says: The order, or why there is none.
    """

    low: float | None
    high: float | None
    closed: bool
    where: str
    winners: tuple[str, ...]
    says: str


@dataclass(frozen=True, kw_only=True)
class LiveRace:
    """The phase diagram of gates.

    Attributes:
        over: The parameter.
        speeds: How fast units grow while weights are small, by gate.
        phases: Who wins where, ascending.
        marks: (value of the parameter, its exact text, what changes there).
    """

    over: str
    speeds: tuple[Speed, ...]
    phases: tuple[Phase, ...]
    marks: tuple[tuple[float, str, str], ...]


@dataclass(frozen=True, kw_only=True)
class GateCurve:
    """Which share of a pathway's hidden units has its gate, by the law of gates.

    Samples are turned so that the gate is open where w·x > 0; those that do not tell gates apart
    are left out. x_i·x_j and x_i·P_α x_j are rows of matrices, one after the other, P_α being the
    projector on the inputs of a mode.

    Attributes:
        pathway: Its name, or those of pathways that symmetries map onto each other.
        laws: Of its modes, as they are evaluated.
        counts: How many equal modes each is.
        still: x_i·x_j.
        seen: x_i·P_α x_j, of every mode.
    """

    pathway: str
    laws: tuple[Law, ...]
    counts: tuple[int, ...]
    still: tuple[sp.Expr, ...]
    seen: tuple[tuple[sp.Expr, ...], ...]


@dataclass(frozen=True, kw_only=True)
class LiveGates:
    """The law of gates over sliders.

    Attributes:
        curves: Of pathways of the first stage.
        scales: Variances of initial weights of the first and of the last layer.
        tolerance: Share that may leave.
        why: Why there is no curve, or what the curves are not of; a sentence, or "".
    """

    curves: tuple[GateCurve, ...] = ()
    scales: tuple[sp.Expr, sp.Expr] = (sp.S.One, sp.S.One)
    tolerance: float = 0.05
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Live:
    """All that a page computes.

    Attributes:
        sliders: What is moved.
        groups: What is computed.
        steps: Times are 0 to this.
        race: Which gates are fastest over a parameter; None where there is no race.
        gates: How long units keep their gates.
    """

    sliders: tuple[Slider, ...]
    groups: tuple[Group, ...] = ()
    steps: int = 0
    race: LiveRace | None = None
    gates: LiveGates = LiveGates()
