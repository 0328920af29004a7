r"""One mode along a chain of shared edges: every edge used by its own number of pathways.

Edges at place l of every pathway have strength :math:`w_l` and are used by :math:`n_l` pathways,
all alike:

.. math:: \tau\dot w_l = n_l \prod_{m\ne l} w_m\,(s - d\pi),\qquad \pi = \prod_m w_m

An edge that more pathways use collects more terms: the bias to reuse. Balanced, the strength
follows :math:`\tau\dot\pi = L N^{1/L} \pi^{2-2/L}(s - d\pi)` with :math:`N = \prod_l n_l`: the
equation of one pathway of L layers, with :math:`\tau/N^{1/L}` for τ, so that the laws of single
modes solve it. Source: [Saxe2022].
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp
from flint import acb, arb

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_latex
from symreln.exact.enclosure import decimal_of, precision
from symreln.exact.words import Letter, Rules, Words
from symreln.laws.choice import law_of, solve
from symreln.laws.finite_steps import delay
from symreln.laws.law import STRENGTH, STRENGTH0, TIME_CONSTANT, Regime
from symreln.laws.line import CANCELS, Line, moves, vanish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.laws.law import Law

S, D = sp.symbols("s d", positive=True)
#: The strength of all edges where they start alike, and the variable that their squares follow.
_ALIKE, _SHARED = sp.symbols("w_0 I", positive=True)
_BITS = 128


@record
class SharedChain:
    """The reduced equations of one mode, and their solution.

    Attributes:
        counts: n_l, numbers or symbols, how many pathways use the edge, from the input on.
        strengths: Symbols w_l, one an edge.
    """

    counts: tuple[sp.Expr, ...]
    strengths: tuple[sp.Symbol, ...] = ()

    def __post_init__(self) -> None:
        if not self.strengths:
            names = (f"w_{place}" for place in range(1, self.layers + 1))
            letters = tuple(sp.Symbol(name, positive=True) for name in names)
            object.__setattr__(self, "strengths", letters)

    @property
    def layers(self) -> int:
        """L, the number of edges of a pathway."""
        return len(self.counts)

    @property
    def total(self) -> sp.Expr:
        """N, the product of the counts."""
        return sp.Mul(*self.counts)

    @property
    def gain(self) -> sp.Expr:
        """N^(1/L): the speed of a balanced start against the same strength on unshared edges."""
        return sp.root(self.total, self.layers)

    @cached_property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """τ dw_l/dt of every edge."""
        error = S - D * sp.Mul(*self.strengths)
        return tuple(
            n * sp.Mul(*(v for v in self.strengths if v != w)) * error
            for n, w in zip(self.counts, self.strengths, strict=True)
        )

    def along(self, expr: sp.Expr) -> sp.Expr:
        """Return τ times the time derivative of an expression in the strengths."""
        pairs = zip(self.strengths, self.velocities, strict=True)
        return sp.cancel(sum((sp.diff(expr, w) * v for w, v in pairs), sp.S.Zero))

    @cached_property
    def conserved(self) -> tuple[sp.Expr, ...]:
        """w_l² - (n_l/n_1) w_1² for every later edge: L - 1 independent ones."""
        first, count = self.strengths[0], self.counts[0]
        pairs = zip(self.strengths[1:], self.counts[1:], strict=True)
        return tuple(w**2 - sp.cancel(n / count) * first**2 for w, n in pairs)

    @cached_property
    def rate(self) -> sp.Expr:
        r"""τ dπ/dt of a balanced start, L gain π^(2 - 2/L) (s - dπ), in the symbol π.

        Balanced is w_l² = n_l u for all l: all conserved numbers vanish.
        """
        power = STRENGTH ** (2 - sp.Rational(2, self.layers))
        return self.layers * self.gain * power * (S - D * STRENGTH)

    def balanced_residuals(self) -> tuple[sp.Expr, ...]:
        """Return what must vanish for the balanced form; all are 0 where it is proven.

        With w_l = √n_l z: every edge gives the same dz/dt (L - 1 differences), and π = √N z^L
        then moves as :attr:`rate` says (one more).
        """
        z = sp.Symbol("z", positive=True)
        roots = [sp.sqrt(n) for n in self.counts]
        values: dict[sp.Basic, sp.Basic] = {
            w: r * z for w, r in zip(self.strengths, roots, strict=True)
        }
        rates = [v.xreplace(values) / r for v, r in zip(self.velocities, roots, strict=True)]
        strength = sp.Mul(*self.strengths).xreplace(values)
        found = [sp.cancel(sp.powsimp(rate - rates[0])) for rate in rates[1:]]
        moved = sp.diff(strength, z) * rates[0]
        claimed = self.rate.xreplace({STRENGTH: strength})
        found.append(sp.cancel(sp.powsimp(sp.expand(moved) - sp.expand(claimed))))
        return tuple(found)

    @property
    def family(self) -> str:
        """Name of the family of solutions."""
        return law_of(Regime(layers=self.layers)).name

    @cached_property
    def mode(self) -> Law:
        """The trajectory of a mode from a balanced start, in symbols."""
        return solve(Regime(layers=self.layers), S, D, tau=TIME_CONSTANT / self.gain)

    def lines(self) -> Iterator[Line]:
        """Yield the lines from the strengths of the edges to the printed formula."""
        used = ", ".join(map(to_latex, self.counts))
        yield Line(
            says=rf"Edges at the {self.layers} places are used by ${used}$ pathways. Started equal "
            r"at each place they stay equal, and of a mode, $\pi$ being the product of its "
            "strengths, every term is counted as often as its edge is used:",
            equation=tuple(
                moves(to_latex(w), rate)
                for w, rate in zip(self.strengths, self.velocities, strict=True)
            ),
            because="one pathway's term stands in the bases of its edge alone, so that it is the "
            "same for all pathways of the edge",
            check="the term of every place in letters, shortened by orthonormality",
            holds=all(place_proofs(self.layers)) and other_ends_follow(self.layers),
        )
        if self.layers > 1:
            yield Line(
                says="Differences of squares are conserved:",
                equation=tuple(rf"{to_latex(c)} &= \mathrm{{const}}" for c in self.conserved),
                because="product rule",
                check=f"derivatives along the flow; {CANCELS}",
                holds=vanish(*map(self.along, self.conserved)),
            )
            yield Line(
                says="From a balanced start, where these are 0, one closed equation is left:",
                equation=(moves(r"\pi", self.rate) + r", \qquad \pi(0) = \pi_0",),
                because=r"$w_l = \sqrt{n_l}\, z$ for all edges, and the product rule",
                check=f"every edge gives the same rate of $z$; {CANCELS}",
                holds=all(part == 0 for part in self.balanced_residuals()),
                main=True,
            )
        if self.gain != 1:
            yield Line(
                says="It is that of one pathway with edges of its own, of the law "
                f"“{self.family}”, with another time constant, which is meant below:",
                equation=(rf"\tau \to {to_latex(self.mode.tau)}",),
                because="both sides divided by the gain",
                check="the quotient of both right-hand sides is that of the time constants; the "
                "solution is substituted into the equation",
                holds=self.is_solved,
                main=True,
            )
        yield from self.mode.in_symbols().lines()
        if self.layers > 1:
            yield from self._start_lines()

    @property
    def _is_counted(self) -> bool:
        """Whether the counts are numbers."""
        return all(n.is_number for n in self.counts)

    def _start_lines(self) -> Iterator[Line]:
        """Yield from which balanced start a mode goes on whose edges start alike."""
        drive = 2 * sp.Mul(*self.strengths) * (S - D * sp.Mul(*self.strengths))
        pairs = list(zip(self.strengths, self.counts, strict=True))
        yield Line(
            says="Aligned edges that start equal, from $w_0$ each, are not balanced where they are "
            "used by different numbers of pathways. Their squares follow one variable $I$:",
            equation=(
                rf"w_l^2 &= w_0^2 + n_l I, \qquad n = ({', '.join(map(to_latex, self.counts))}),",
                r"\tau \dot{I} &= 2 \pi \left(s - d \pi\right), \qquad I(0) = 0",
            ),
            because="the product rule: every square moves by $2 n_l$ times the same drive",
            check=f"derivatives of all squares along the flow; {CANCELS}",
            holds=vanish(*(self.along(w**2) - n * drive for w, n in pairs)),
        )
        if self.layers > 2 and not self._is_counted:
            return
        yield Line(
            says=r"While $d \pi$ is small beside $s$, a mode takes the time $\tau/(2 s) "
            r"\int dI/\pi$ to grow, and a balanced start has $\pi = \sqrt{N} I^{L/2}$, "
            r"$N = \prod_l n_l$. The one that arrives together with edges that started equal is "
            "their **effective start**:",
            equation=(*self._in_step_rows(), rf"\pi_0 &= {self._start_latex()}"),
            because="both times are equal; what is left out vanishes with $w_0$",
            check="the primitive differentiated, and its limit"
            if self.layers == 2
            else "the integral over $0 < x < 1$ with $I = w_0^2 (1 - x^2)/x^2$, substituted "
            "exactly and enclosed; of the balanced start by differentiation",
            holds=self._start_is_in_step(),
            main=True,
        )

    def _in_step_rows(self) -> tuple[str, ...]:
        """Return the equality of both times."""
        grown = r"\frac{dI}{\prod_l \sqrt{w_0^2 + n_l I}}"
        if self.layers == 2:
            return (
                rf"\int_0^X {grown} &= \frac{{1}}{{\sqrt{{N}}}} \ln \frac{{X}}{{I_0}} "
                r"\quad (X \to \infty),",
            )
        exponent = sp.Rational(self.layers, 2) - 1
        balanced = to_latex(sp.Symbol("I_0", positive=True) ** -exponent / exponent)
        return (rf"\int_0^\infty {grown} &= \frac{{1}}{{\sqrt{{N}}}} \cdot {balanced},",)

    @cached_property
    def start_factor(self) -> Any:
        r"""π₀/w₀ᴸ of edges that start alike: an expression of two, an enclosure of more.

        With :math:`J = \int_0^\infty dy / \prod_l \sqrt{1 + n_l y}` it is
        :math:`\sqrt N ((L - 2) \sqrt N J / 2)^{-L/(L-2)}`; where all counts are equal, 1.
        """
        if len(set(self.counts)) == 1:
            return sp.S.One
        if self.layers == 2:
            first, last = self.counts
            return (sp.sqrt(first) + sp.sqrt(last)) ** 2 / (4 * sp.sqrt(first * last))
        with precision(_BITS):
            counts = [arb(int(n)) for n in self.counts]
            power = self.layers - 3

            def integrand(x: acb, analytic: bool) -> acb:
                found = 2 * x**power
                for n in counts:
                    found = found / acb(x * x + n * (1 - x * x)).sqrt(analytic=analytic)
                return found

            integral = acb.integral(integrand, 0, 1).real
            root = arb(int(self.total)).sqrt()
            depth = arb(self.layers)
            return root * ((depth - 2) * root * integral / 2) ** (-depth / (depth - 2))

    def _start_latex(self) -> str:
        factor, power = self.start_factor, rf"w_0^{{{self.layers}}}"
        if factor == 1:
            return power
        if isinstance(factor, sp.Basic):
            return to_latex(factor) + r"\, " + power
        return decimal_latex(*decimal_of(factor, 21), digits=8) + r"\, " + power

    def _start_is_in_step(self) -> bool:
        """Whether the integrals of both starts are as they are written."""
        exponent, place = 1 - sp.Rational(self.layers, 2), sp.Symbol("x", positive=True)
        if self.layers == 2:
            first, last = self.counts
            below = [_ALIKE**2 + n * _SHARED for n in self.counts]
            primitive = (
                2 * sp.log(sp.sqrt(first * below[1]) + sp.sqrt(last * below[0]))
            ) / sp.sqrt(first * last)
            slope = primitive.diff(_SHARED) ** 2 - 1 / sp.Mul(*below)
            begin = self.start_factor * _ALIKE**2 / sp.sqrt(first * last)
            late = sp.exp(sp.sqrt(first * last) * (primitive - primitive.subs(_SHARED, 0)))
            ratio = sp.limit(sp.simplify(late) * begin / _SHARED, _SHARED, sp.oo)
            return sp.simplify(slope) == 0 and sp.simplify(ratio - 1) == 0
        grown = _ALIKE**2 * (1 - place**2) / place**2
        squares = grown.diff(place) ** 2 / sp.Mul(*(_ALIKE**2 + n * grown for n in self.counts))
        smooth = (
            4
            * place ** (2 * self.layers - 6)
            / sp.Mul(*(place**2 + n * (1 - place**2) for n in self.counts))
        )
        balanced = _SHARED**exponent / exponent
        return vanish(squares * _ALIKE ** (2 * self.layers - 4) - smooth) and (
            sp.simplify(balanced.diff(_SHARED) - _SHARED ** (-sp.Rational(self.layers, 2))) == 0
        )

    @property
    def delay(self) -> sp.Expr:
        """By how many steps gradient descent comes later to π than the flow, to leading order."""
        return delay(self.layers, S, D, STRENGTH, STRENGTH0)

    @property
    def is_solved(self) -> bool:
        """Whether the mode solves its family's equation, which over its time constant is ours."""
        layers = sp.Integer(self.layers)
        family = layers * STRENGTH ** (2 - 2 / layers) * (S - D * STRENGTH)
        same = sp.simplify(sp.powsimp(family * TIME_CONSTANT / self.mode.tau / self.rate)) == 1
        return same and self.mode.residual() == 0


def _orthonormal(depth: int) -> Rules:
    """Return that the bases R0, …, R{depth} have orthonormal columns."""
    return {((f"R{place}", True), (f"R{place}", False)): () for place in range(depth + 1)}


def _aligned(depth: int) -> list[Words]:
    """Return the matrices :math:`W_l = R_l B_l R_{l-1}^T` of all places in letters."""
    base = [Words.letter(f"R{place}") for place in range(depth + 1)]
    return [base[e + 1] @ Words.letter(f"B{e + 1}") @ base[e].T for e in range(depth)]


def place_proofs(depth: int) -> tuple[bool, ...]:
    r"""Prove for every place of a chain of edges that its term stands in its own bases alone.

    With :math:`W_l = R_l B_l R_{l-1}^T`, orthonormal bases, :math:`\Sigma^{yx} = R_L S R_0^T` and
    :math:`\Sigma^x = R_0 D R_0^T`, the term :math:`W_{after}^T E W_{before}^T` of one pathway,
    shortened, begins with R_l, ends with R_{l-1}ᵀ and holds no other basis: it is the same for
    all pathways of an edge, so that the sum over them is n_l times it.
    """
    rules, weights = _orthonormal(depth), _aligned(depth)
    first, last = Words.letter("R0"), Words.letter(f"R{depth}")
    sigma_x = first @ Words.letter("D") @ first.T
    whole = Words.product(reversed(weights))
    error = (last @ Words.letter("S") @ first.T - whole @ sigma_x).under(rules)
    found = []
    for place in range(depth):
        after = Words.product(reversed(weights[place + 1 :]))
        before = Words.product(reversed(weights[:place]))
        term = (after.T @ error @ before.T).under(rules)
        ends: tuple[Letter, Letter] = ((f"R{place + 1}", False), (f"R{place}", True))
        found.append(
            all(
                (word[0], word[-1]) == ends and not any(n.startswith("R") for n, _ in word[1:-1])
                for word in term.terms
            )
        )
    return tuple(found)


def other_ends_follow(depth: int) -> bool:
    """Prove that between any bases the product is B_L ⋯ B_1: also for untrained pairs of ends."""
    whole = Words.product(reversed(_aligned(depth))).under(_orthonormal(depth))
    letters = [f"R{depth}", *(f"B{place}" for place in range(depth, 0, -1))]
    expected = Words.product(map(Words.letter, letters)) @ Words.letter("R0").T
    return (whole - expected).is_zero
