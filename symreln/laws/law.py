"""What every law of a mode answers, and what is known of a mode before a law is chosen.

A law is one mode equation with its solution, one file each: the only places that know of depth,
weight decay and layers that start apart. Which law a mode takes is decided in
:mod:`symreln.laws.choice`; everything else asks the law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import MISSING, field, fields, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt, prod, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.laws.half_speed import SLOWER, asked
from symreln.laws.line import Line
from symreln.laws.ops import NUMPY, SYMPY, Ops, power

if TYPE_CHECKING:
    from symreln.networks.shared_edges import Sharing
    from symreln.specs.spec import NetworkSpec, Spec

#: Symbols that every printed trajectory uses: time in steps, its constant, the initial strength,
#: and the strength as the variable of an implicit solution t(pi).
TIME = sp.Symbol("t", nonnegative=True)
TIME_CONSTANT = sp.Symbol("tau", positive=True)
STRENGTH0 = sp.Symbol("pi_0", positive=True)
STRENGTH = sp.Symbol("pi", positive=True)
#: The initial strength in effect of a mode that earlier stages have driven as well.
HEAD_START = sp.Symbol("pitilde_0", positive=True)

#: The exponent of a decay to nothing: e^-100 beside 1 is far below float64's rounding.
_FADED = 100.0

#: What most reductions are written for.
PLAIN = "two layers of equal initial scale, without weight decay"
#: Why no law of single modes solves one that is coupled.
COUPLED = "the mode is coupled to modes of other pathways"


@record
class Match:
    """Whether a law holds, and the reason that is printed."""

    holds: bool
    why: str


#: Of half speed, where no data are given.
UNSEEN = Match(holds=False, why="the data were not looked at")


@record
class Start:
    """Where the modes of a network start, in expectation.

    Attributes:
        strength0: Initial strength; for balanced layers that of the growing combination.
        imbalance: c = |a + b||a − b| of layers that start apart, 0 for the others.
    """

    strength0: Any
    imbalance: Any = Fraction(0)


@record
class Regime:
    """What is known of a mode before it is solved.

    Attributes:
        decoupled: Whether it is proven to evolve on its own.
        layers: Layers of weights of its pathway.
        apart: Whether its two layers are drawn from different distributions.
        weight_decay: λ of the penalty ½ λ Σ ‖W‖² that the mode feels, in units of the mean loss.
        variances: σ² of the entries of the first and of the last layer; None without a network.
        units: Hidden units that take part in a pathway; None without a network, or with one layer.
        half_speed: Whether its ReLU network is linear at half speed, and why or why not: then time
            constant and weight decay count twice.
        linear: Whether its network has linear units.
        unusual: The keys of the network by which it is not that of two layers of equal initial
            scale without weight decay.
        sharing: How pathways share edges; None where each has edges of its own.
        irregular: Why no single equation says what edges of the network do; "" where one does.
    """

    decoupled: bool = True
    layers: int = 2
    apart: bool = False
    weight_decay: Fraction = Fraction(0)
    variances: tuple[Fraction, Fraction] | None = None
    units: Fraction | None = None
    half_speed: Match = UNSEEN
    linear: bool = False
    unusual: tuple[str, ...] = ()
    sharing: Sharing | None = None
    irregular: str = ""

    @classmethod
    def of(cls, spec: Spec, *, decoupled: bool = True) -> Regime:
        """Return what a spec says of its modes; without a network, balanced layers."""
        holds, why = asked(spec)
        half_speed, sharing = Match(holds=holds, why=why), spec.sharing
        found = cls(decoupled=decoupled, half_speed=half_speed)
        if spec.network is not None:
            found = cls.of_network(spec.network, half_speed, decoupled=decoupled)
        if isinstance(sharing, str):
            return replace(found, layers=spec.network_graph.depth, irregular=sharing)
        units = found.units
        if units is not None and sharing.widths != ():
            units = None if sharing.widths is None else Fraction(sharing.widths[0])
        shared = sharing if sharing.is_shared else None
        return replace(found, layers=len(sharing.uses), units=units, sharing=shared)

    @classmethod
    def of_network(
        cls, network: NetworkSpec, half_speed: Match = UNSEEN, *, decoupled: bool = True
    ) -> Regime:
        """Return what a spec's [network] says."""
        first, last = network.stds
        return cls(
            decoupled=decoupled,
            layers=network.layers,
            apart=network.init_std_out is not None,
            weight_decay=network.weight_decay * (SLOWER if half_speed.holds else 1),
            variances=(first**2, last**2),
            units=pathway_units(network) if network.layers > 1 else None,
            half_speed=half_speed,
            linear=network.activation == "linear",
            unusual=network.unusual,
        )

    @property
    def slower(self) -> int:
        """The factor of the time constant: 2 at half speed."""
        return SLOWER if self.half_speed.holds else 1

    @property
    def uses(self) -> int:
        """N, the product of how many pathways use each edge of one: 1 of edges of its own."""
        return 1 if self.sharing is None else prod(self.sharing.uses)

    @property
    def start_share(self) -> Fraction:
        r"""By how many times a mode of two layers starts stronger than with edges of its own.

        Of P pathways that share edges, :math:`n_1` and :math:`n_2` pathways each, the first ones
        with the amplitude :math:`\sqrt{n_1} z` and the last ones with :math:`\sqrt{n_2} z` grow
        together, and no other combination as fast. It has the squared length :math:`2 P z^2`, and
        :math:`\pi = \sqrt{n_1 n_2} z^2`: so π₀ has the factor :math:`\sqrt{n_1 n_2}/P`.
        """
        if self.sharing is None:
            return Fraction(1)
        root = isqrt(self.uses)
        exact = root * root == self.uses
        return Fraction(root if exact else sqrt(self.uses)) / self.sharing.paths

    @property
    def gram_scale(self) -> Fraction:
        r"""The factor g of the expected initial Gram matrix E[Q Qᵀ] = g I of a pathway.

        Q = [W1ᵀ; W2] has one column a hidden unit and independent entries N(0, σ²); over the
        pathway's units the mean of Q Qᵀ is (units · σ²) I, with relative fluctuations of order
        1/sqrt(units). Of layers that start apart, σ₁ and σ₂, g is the mean of both: of a mode's
        amplitudes a and b only |a + b|² and |a − b|² move its strength, each by itself, and their
        means are units · (σ₁² + σ₂²).
        """
        assert self.units is not None  # of a network
        assert self.variances is not None
        return self.units * sum(self.variances) / 2

    @property
    def matrices(self) -> Match:
        """Whether training is that of two layers of weights, whose steps coupled matrices take."""
        found = self.unlike or ("" if self.layers == 2 else f"this one has {self.layers}")
        return Match(holds=not found, why=f"it is for networks of two layers, and {found}")

    @property
    def unlike(self) -> str:
        """How edges are not each pathway's own, or ""."""
        return self.irregular or ("" if self.sharing is None else "pathways share edges")

    @property
    def gates(self) -> Match:
        """Whether units of its network choose among gates, so that some may have a pathway's."""
        why = "a linear network has no gates" if self.linear else ""
        if not why and self.half_speed.holds:
            why = "the ReLU network is linear at half speed: no unit has the pathway's gate"
        return Match(holds=not why, why=why or "each unit of a ReLU network has a gate")

    @property
    def hidden_layer(self) -> Match:
        """Whether what hidden units hold follows from the strengths."""
        why = ""
        if not self.matrices.holds:
            why = "they are predicted of one hidden layer"
        elif self.half_speed.holds:
            why = "a ReLU network that is linear at half speed has an output that is, but no layer"
        elif self.apart:
            why = "they are predicted of layers of equal initial scale"
        return Match(holds=not why, why=why)

    @property
    def plain(self) -> Match:
        """Whether it is that of two layers of equal initial scale, without weight decay."""
        found = self.unlike or (f"network.{self.unusual[0]} is set" if self.unusual else "")
        return Match(holds=not found, why=PLAIN + f", and {found}" * bool(found))

    @property
    def lowers_plateaus(self) -> bool:
        """Whether strengths stay below s/d, and the loss above the least one."""
        return self.weight_decay != 0

    @property
    def scales(self) -> tuple[float, float]:
        """Standard deviations of the two layers over the root of their mean square."""
        assert self.variances is not None  # of a network
        mean = sum(self.variances) / 2
        first, last = (sqrt(variance / mean) for variance in self.variances)
        return first, last

    def unfit_for_two_layers(self, *, wants_balanced: bool) -> str:
        """Say why a mode is not that of two decoupled layers with the start wanted, or ""."""
        if self.layers != 2:
            return f"the family is for two layers of weights, the pathway has {self.layers}"
        if not self.decoupled:
            return COUPLED
        if wants_balanced and self.apart:
            return "the two layers start apart, a² − b² is not 0"
        if not self.apart and not wants_balanced:
            return "the two layers start balanced, a² = b²"
        return ""


def pathway_units(network: NetworkSpec) -> Fraction:
    """Return how many hidden units take part in one pathway.

    A linear network lends all H units to its pathway. In a ReLU network a unit's gate is open on
    an input or on its negative with equal probability, so half of the units are taken to take
    part in a pathway; the unit's later fate is not followed here.
    """
    return Fraction(network.hidden, 1 if network.activation == "linear" else 2)


@record
class Law(ABC):
    """One mode equation, its solution, and all that follows from it.

    Numbers are of one system, that of ``ops``: expressions, float64 arrays that broadcast, or
    balls at Arb's working precision.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Not negative.
        d: Matching eigenvalue of its Sigma^{x}, or d_eff where pathways couple. Not negative.
        strength0: Initial strength.
        t: Time in steps of full-batch gradient descent, as a symbol of what is printed.
        tau: Time constant in steps: 1/learning_rate for a mean loss, 1/(P learning_rate) for a
            sum over samples.
        ops: The number system.
        stepwise: Whether the curve is that of gradient descent's steps, not of infinitely small
            ones.
    """

    #: The law's name in what is printed and in JSON.
    name: ClassVar[str]
    #: Why it solves a mode that does not say otherwise; {} is how many layers there are.
    suits: ClassVar[str]
    #: What a mode has, in print and in JSON.
    form: ClassVar[str] = "a closed form"
    #: Whether modes start at strength 0 in expectation.
    starts_at_zero: ClassVar[bool] = False
    #: Hidden units that a mode takes which starts as the law assumes.
    units_per_mode: ClassVar[int] = 1
    #: Where initial strengths come from, for tables of constants and of provenance.
    start_origin: ClassVar[str]

    s: Any
    d: Any
    strength0: Any = STRENGTH0
    t: sp.Symbol = TIME
    tau: Any = TIME_CONSTANT
    ops: Ops = field(default=SYMPY, repr=False)
    stepwise: bool = False

    @classmethod
    @abstractmethod
    def unfit(cls, regime: Regime) -> str:
        """Say why the law does not solve a mode, or ""."""

    @classmethod
    @abstractmethod
    def start(cls, regime: Regime) -> Start | None:
        """Return where modes of a network start; None where no formula says it."""

    @classmethod
    def weights(
        cls, regime: Regime, u: np.ndarray, v: np.ndarray, units: int, strength0: float
    ) -> list[np.ndarray]:
        """Return weights that start as the law assumes, layer by layer: aligned with the modes.

        Every mode has hidden units of its own and no weight is elsewhere. Balanced layers carry
        amplitudes π₀^{1/L} in the same unit.

        Args:
            regime: What is known of the modes, of a network.
            u: Left singular vectors of the modes, shape (outputs, modes).
            v: Right ones, shape (inputs, modes).
            units: Hidden units of every layer.
            strength0: π₀.
        """
        first, amplitude = np.eye(units, u.shape[1]), strength0 ** (1 / regime.layers)
        middle = [amplitude * first @ first.T for _ in range(regime.layers - 2)]
        return [amplitude * first @ v.T, *middle, amplitude * u @ first.T]

    @classmethod
    def of(cls, regime: Regime, ops: Ops, s: Any, d: Any, **more: Any) -> Self:
        """Return the law of a mode.

        Args:
            regime: What the law was chosen from.
            ops: The number system.
            s: Singular value, of that system.
            d: Input eigenvalue, of that system.
            more: ``strength0``, ``imbalance`` and ``tau``, exact or of the system, and
                ``asymptote``, s/d in a shorter form, where they are not symbols; those that the law
                has not are left out.
        """
        given, own = {"weight_decay": regime.weight_decay, **more}, {f.name for f in fields(cls)}
        numbers = {k: ops.number(v) for k, v in given.items() if k in own and v is not None}
        if "layers" in own:
            numbers["layers"] = sp.Integer(regime.layers)
        if regime.uses > 1:  # see symreln.laws.shared_chain
            tau = numbers.get("tau", TIME_CONSTANT)
            numbers["tau"] = tau / ops.root(regime.uses, regime.layers)
        return cls(s=s, d=d, ops=ops, **numbers)

    @property
    @abstractmethod
    def equation(self) -> str:
        """LaTeX of the equation that the law solves, in general symbols."""

    @property
    @abstractmethod
    def rate(self) -> sp.Expr:
        r"""The right-hand side :math:`\tau \dot\pi` of the equation, of a law in symbols."""

    @abstractmethod
    def strength(self, t: Any) -> Any:
        """Return the strength at a time in steps, >= 0, in the law's own number system."""

    def strengths(self, times: Any) -> Any:
        """Return the strengths at several times: of floats one array, else one number a time."""
        return self.strength(times) if self.ops is NUMPY else tuple(map(self.strength, times))

    @property
    @abstractmethod
    def relaxation(self) -> Any:
        r"""The rate r > 0 at which a mode with s, d > 0 approaches its plateau, in units of 1/τ.

        Near it :math:`\tau \dot\pi = -r (\pi - h)`, and a step of gradient descent multiplies the
        distance by 1 − r/τ: it settles only where r < 2τ.
        """

    @property
    def per_step(self) -> Any:
        """The g by which a step of gradient descent grows an amplitude, by 1 + g/τ.

        While the mode grows from little, or exactly; None where the law takes infinitely small
        steps.
        """
        return None

    @property
    def clock(self) -> Any:
        """The time constant of the curve: τ, or in gradient descent's steps g/ln(1 + g/τ).

        With it the curve keeps step: exactly while the mode grows from little, and within an error
        of the order of 1/τ where it saturates.
        """
        if not self.stepwise or self.per_step is None:
            return self.tau
        return self.tau / self.ops.pace(self.per_step / self.tau)

    def faded(self, rate: Any, share: Any = None) -> Any:
        r"""Return :math:`e^{-rt/\tau}` as it is printed; in steps :math:`(1 + g/\tau)^{-rt/g}`.

        Args:
            rate: r.
            share: r/g in its shortest form.
        """
        g = self.per_step
        if not self.stepwise or g is None or g == 0:
            return sp.exp(-rate * self.t / self.tau)
        return power(1 + g / self.tau, -self.t * (rate / g if share is None else share))

    @property
    def fades(self) -> Any:
        """The rate at which weight decay shrinks all weights, λ/τ; in steps −ln(1 − λ/τ)."""
        share = (self.s - self.growth) / self.tau
        return share * self.ops.pace(-share) if self.stepwise else share

    def in_steps(self) -> Self:
        """Return the law whose curve keeps step with gradient descent."""
        return replace(self, stepwise=True)

    def angle(self, strength: Any, strength0: Any, t: Any) -> Any:
        r"""Return θ: amplitudes turn by (cosh θ, sinh θ) into each other.

        Of every hidden unit that takes part in the mode: it moves as the mode drives it, linearly,
        with :math:`\tau \dot\theta = s - d\pi`. Weight decay, which shrinks all weights of all
        units by one factor, is left out of it.

        Args:
            strength: π at that time.
            strength0: The strength that the units' initial weights make up.
            t: In steps.

        Returns:
            None where no formula says it.
        """
        return None

    def angles(self, times: np.ndarray, strength0: float) -> np.ndarray | None:
        """Return :meth:`angle` at some times, of a law in float64; infinity is the plateau.

        With weight decay as soon as what does not grow has shrunk to nothing, beside what does.
        """
        finite, fades = np.isfinite(times), float(np.max(self.fades))
        until = np.where(finite, times, 0.0)
        strengths = np.where(finite, self.strength(until), self.plateau)
        if not fades > 0:
            return self.angle(strengths, strength0, until)
        with np.errstate(divide="ignore"):  # of a strength that has died out
            found = self.angle(strengths, strength0, np.minimum(times, _FADED / fades))
        return np.maximum(found, 0.0)

    @property
    def growth(self) -> Any:
        """s, less what takes as much off it: a mode with s > 0 is learned where it is positive."""
        return self.s

    @abstractmethod
    def steps(self) -> Iterator[np.ndarray]:
        """Yield the strength after 0, 1, … steps of gradient descent, in float64, without end."""

    @property
    def rests(self) -> bool:
        """Whether nothing moves: s = 0, and the strength starts at 0. By structure."""
        return self.s == 0 and self.strength0 == 0

    @property
    def expr(self) -> sp.Expr | None:
        """The trajectory as it is printed, or None where only the time is in closed form."""
        return sp.S.Zero if self.rests else self._expr

    @cached_property
    @abstractmethod
    def _expr(self) -> sp.Expr | None: ...

    @property
    def solved(self) -> sp.Expr | None:
        """The trajectory as it is evaluated: :attr:`expr`, or a function that no formula writes."""
        return self.expr

    @property
    def printed(self) -> Any:
        """The trajectory, or the equation t = t(pi) where there is none."""
        return self.expr

    @property
    def plateau(self) -> Any:
        """Limit for t to infinity: s/d."""
        return self.ops.over(self.s, self.d)

    @cached_property
    def half_time(self) -> Any:
        """Time at which half the plateau is reached, in steps; None where no formula is given."""
        return None

    @abstractmethod
    def residual(self) -> sp.Expr:
        """Zero exactly when the solution satisfies its equation and starts at ``strength0``.

        Both ways in which it is written are meant: ``expr``, which is printed, and ``strength``,
        which is evaluated.
        """

    def taken(self, strength: Any) -> Any:
        """Return what the mode takes off the loss at a strength, s π − ½ d π²."""
        return self.s * strength - self.d * strength**2 / 2

    def in_symbols(self) -> Self:
        """Return the same law with a free symbol for every number but the count of layers."""
        s, d = sp.symbols("s d", positive=True)
        free = {
            f.name: f.default
            for f in fields(self)
            if f.default is not MISSING and f.name != "stepwise"
        }
        return replace(self, s=s, d=d, **free)

    @abstractmethod
    def lines(self) -> Iterator[Line]:
        """Yield the lines from the amplitudes of a mode to the printed formula, each checked.

        Of a law in symbols (:meth:`in_symbols`).
        """

    def to_latex(self) -> str:
        """Return the LaTeX of the solution, without delimiters."""
        return to_latex(self.printed)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


def strength_symbol(label: str) -> sp.Symbol:
    """Return the symbol of a mode's strength in the loss."""
    return sp.Symbol(label, nonnegative=True)
