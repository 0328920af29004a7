r"""Which regime the initial weights put training in: rich, lazy, or between the two.

A mode starts at :math:`\pi_0` and is learned at its plateau :math:`h = s/d_{\rm eff}`, from two
amplitudes a unit that start as Gaussians of variance sigma². The *relative scale* of Chizat,
Oyallon and Bach, :math:`\kappa_h = \|h(w_0) - y\|\,\|D^2h\|/\|Dh(w_0)\|^2`, says how far a model is
from its linearisation at the start: training is lazy where it is small. For a mode, a sum over
units of products of two amplitudes, :math:`\|D^2h\| = 1`, :math:`\|Dh(w_0)\|^2` has the mean
:math:`4\pi_0`, and outputs start at 0 in the mean, so it is

.. math:: \frac{h}{4\pi_0}.

Of layers that start apart π0 is the strength that the growing combination of amplitudes makes up,
a quarter of :math:`\|Dh(w_0)\|^2` as well, though strengths start at 0.

A mode is *lazy* where that is at most 1/2, that is where :math:`\pi_0 \ge h/2`: it starts at half
of its plateau or beyond, has no half-time, and no growth from small weights selects its gates. The
comparison is one of exact numbers, at the declared values.

Source: Chizat, Oyallon and Bach 2019, On Lazy Training in Differentiable Programming; Woodworth et
al. 2020, Kernel and Rich Regimes in Overparametrized Models, for the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

from flint import arb

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.probes import learning_modes
from symreln.claims.solve import at_values
from symreln.document.document_model import Block
from symreln.document.typeset import say
from symreln.errors import InputError
from symreln.exact.enclosure import ball, precision, rounded_text
from symreln.exact.numeric import numpy_modes
from symreln.laws.choice import solve
from symreln.laws.ops import ARB

#: Working precision of comparisons, in bits.
_BITS = 128
#: What it comes to, by name.
_MEANS = {
    "lazy": "Weights change by less than their size, most gates stay as they were drawn, and "
    "formulas of growth from small weights do not describe the network.",
    "mixed": "Formulas of growth from small weights do not describe the network for these modes.",
}


@record
class TrainingRegime(Claim):
    """What the initial weights do to the modes that learn.

    Attributes:
        lazy: Labels of the modes that start at half of their plateau or beyond: formulas of growth
            from small weights do not hold for them.
        modes: How many modes learn.
        scales: Smallest and largest relative scale s/(4 d_eff π0) of them: balls, for data may lie
            beyond float64.
        strength0: π0, exact.
        apart: Whether layers start apart.
    """

    lazy: tuple[str, ...]
    modes: int
    scales: tuple[arb, arb]
    strength0: Fraction
    apart: bool = False

    @property
    def name(self) -> Literal["rich", "mixed", "lazy"]:
        """Rich where no mode is lazy, lazy where all are, mixed else."""
        if not self.lazy:
            return "rich"
        return "lazy" if len(self.lazy) == self.modes else "mixed"

    @property
    def called(self) -> str:
        """The regime in words."""
        return "partly lazy" if self.name == "mixed" else self.name

    @property
    def reason(self) -> str:
        """Why, in a clause; "" in the rich regime."""
        if not self.lazy:
            return ""
        which = "every mode" if self.name == "lazy" else few(self.lazy)
        whose = "combined initial strength of both layers" if self.apart else "initial strength"
        start = f"the {whose} {rounded_text(ball(self.strength0), 3)}"
        return f"{start} is at least half of the plateau of {which} ({self._scale(2)})"

    def _scale(self, digits: int) -> str:
        low, high = (rounded_text(scale, digits) for scale in self.scales)
        return f"relative scale s/(4 d_eff pi_0) {low}{f' to {high}' * (high != low)}"

    def _summary(self) -> Iterator[str]:
        yield self.sentence or f"{self.called} regime, {self._scale(2)}"

    def values(self) -> dict[str, Any]:
        """Return "name" (rich, mixed or lazy), the lazy modes and the range of relative scales."""
        low, high = (rounded_text(scale, 6) for scale in self.scales)
        return {
            "name": self.name,
            "lazy_modes": self.lazy,
            "modes": self.modes,
            "relative_scale": {"smallest": low, "largest": high},
            "reason": self.reason,
        }

    @property
    def sentence(self) -> str:
        """What large initial weights mean; "" in the rich regime."""
        if not self.lazy:
            return ""
        return f"{self.called} regime: {self.reason}. {_MEANS[self.name]}"

    def says(self) -> Iterator[Block]:
        """Say it, and when a mode is lazy."""
        yield from super().says()
        if self.lazy:
            half_time = "it has no half-time, and " * (not self.apart)
            yield say(
                "A mode is lazy where its initial strength is at least half of its plateau, "
                rf"$\pi_0 \ge s/(2 d_{{\mathrm{{eff}}}})$: {half_time}the relative scale of "
                r"[@Chizat2019], for a mode $s/(4 d_{\mathrm{eff}} \pi_0)$, is at most one half."
            )


def regime_of(derivation: Derivation) -> TrainingRegime | None:
    """Say which regime a spec's initial weights put training in.

    None where no initial strength is derived (no network, or more than two layers), for a single
    layer, where a parameter has no value, and where nothing learns.
    """
    if derivation.known.units is None or not derivation.spec.has_values:
        return None
    exact = derivation.ask(at_values)
    start = exact.strength0
    if start is None:
        return None
    start = start or exact.known.gram_scale / 2
    asked = (
        (mode.label, _relative(exact, path, mode, start)) for path, mode in learning_modes(exact)
    )
    found = {label: one for label, one in asked if one is not None}
    if not found:
        return None
    scales = sorted((scale for _, scale in found.values()), key=lambda scale: scale.mid())
    lazy = tuple(label for label, (lazy, _) in found.items() if lazy)
    return TrainingRegime(
        lazy=lazy,
        modes=len(found),
        scales=(scales[0], scales[-1]),
        strength0=start,
        apart=exact.known.apart,
    )


def _relative(
    exact: Derivation, pathway: PathwayDerivation, mode: ModeDerivation, start: Fraction
) -> tuple[bool, arb] | None:
    """Return (whether a mode is lazy, its relative scale); None where weight decay ends it.

    Of a mode that does not close the plateau is s over its own quotient vᵀ Σ^x v, in float64; None
    too where the data are beyond that, and where the quotient is 0.
    """
    d = mode.d if mode.d_eff is None else mode.d_eff
    quotient = _quotient(pathway, mode.number - 1) if d is None else d.ball({}, _BITS)
    if quotient is None or not quotient > 0:
        return None
    with precision(_BITS):
        law = solve(exact.known, mode.s.ball({}, _BITS), arb(quotient), ops=ARB)
        if not law.growth > 0:
            return None
        # Not certainly below half: an equality, which no ball decides, counts as at half.
        return not ball(start) < law.plateau / 2, (law.plateau / (4 * ball(start))).mid()


def _quotient(pathway: PathwayDerivation, place: int) -> float | None:
    """Return vᵀ Σ^x v, mean over equal modes; None for data beyond float64."""
    try:
        v = numpy_modes(pathway.spectrum)[place][1]
        seen = pathway.effective.sigma_x.to_numpy() @ v
    except InputError:
        return None
    return float((v * seen).sum() / v.shape[1])
