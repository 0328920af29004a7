r"""Head start: where modes of a later stage start in effect, because earlier ones still learn.

While its weights are small a pathway p of a later stage grows linearly in what it sees,

.. math:: E_p(t) = \Sigma^{yx}(p) + \sum_\alpha D_\alpha (1 - \pi_\alpha(t)/h_\alpha), \qquad
          D_\alpha = h_\alpha\, O_p u_\alpha v_\alpha^T \Sigma^x(j, p),

the sum over the modes of pathways j of earlier stages, h their plateaus. Where one earlier mode
drives a later one in a plane (:mod:`symreln.claims.head_formulas`), from its half-time on this is
the strength of one that started from :math:`\tilde\pi_0`, of which
:mod:`symreln.laws.sigmoid_drive` has the formula, exact as initial weights tend to 0. Where several
drive it, or out of a plane, no formula that we know has that limit: the reduction is integrated.

All this is of weights that are small until then: a mode whose own half-time would come before has
learned what earlier ones are yet to learn, and no formula says what becomes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from symreln.base.records import record
from symreln.base.summaries import ByName, few
from symreln.claims.derivation import Derivation, Driver, ModeDerivation, StageDerivation
from symreln.claims.starts import start_of, starts_of
from symreln.errors import LimitReachedError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.laws.choice import started
from symreln.laws.law import Law, Start
from symreln.laws.ops import ARB, NUMPY, Ops
from symreln.laws.sigmoid_drive import evaluated_factor, letters, sigmoid_factor

#: Share of the plateau from which on weights are not small: a mode is learned at its half-time, as
#: an earlier one counts until its own.
_LATE = 0.5
#: Why a mode of a later stage has no closed form in time.
ABOVE = "the mode starts above half of its plateau"
_OUTRUN = "the mode is learned before what drives it meanwhile"
_AFTER = "a mode of an earlier stage has no closed form"


@record(eq=False)
class ModeLaw:
    """The closed form of a mode in numbers.

    Attributes:
        law: Its law, from where it starts in effect, in gradient descent's steps.
        start: The strength that initial weights make up.
        driven_by: (label of the earlier mode that drives it, its half-time); None where none does.
        learned: The share of the plateau that it has when that is learned; None likewise.
    """

    law: Law
    start: Any
    driven_by: tuple[str, Any] | None = None
    learned: Any = None


@record(eq=False)
class ModeLaws(ByName[ModeLaw]):
    """The closed forms of modes that learn, by label.

    Attributes:
        found: The closed forms.
        outrun: Why modes of later stages have none although their verdict says that they close.
    """

    found: Mapping[str, ModeLaw]
    outrun: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        derivation: Derivation,
        bits: int | None = None,
        start: Start | None = None,
        *,
        flow: bool = False,
        factors: Mapping[str, Fraction] | None = None,
    ) -> ModeLaws:
        """Return the closed forms of all modes that learn, by label: as they are predicted.

        Of those that do not close, lack a value of a parameter, or are learned before what drives
        them, there is none, nor of later stages then.

        Args:
            derivation: Whose modes are closed.
            bits: Working precision of balls, which holds while they are used; None for float64.
            start: Where modes start; by default where they are expected to.
            flow: Whether steps are taken as infinitely small.
            factors: By how many times modes start stronger, by label, where they do; by default
                those of the early phase, from a given start none.

        Raises:
            NotSupportedError: There is no expected start, and none is given.
            LimitReachedError: Balls of this precision do not tell which mode is learned first, or
                gradient descent diverges.
        """
        ops, begin = NUMPY if bits is None else ARB, start or start_of(derivation)
        if factors is None:
            factors = {} if start is not None else derivation.ask(starts_of).factors
        begin = replace(
            begin, strength0=ops.number(begin.strength0), imbalance=ops.number(begin.imbalance)
        )
        modes = _Modes(
            derivation=derivation, bits=bits, ops=ops, start=begin, flow=flow, factors=factors
        )
        found: dict[str, ModeLaw | str] = {}
        for stage in derivation.stages:
            open_ones = any(isinstance(each, str) for each in found.values())
            for mode in modes.known(stage):
                found[mode.label] = _AFTER if open_ones else modes.law_of(mode, found)
        return cls(
            found={label: each for label, each in found.items() if not isinstance(each, str)},
            outrun={label: each for label, each in found.items() if isinstance(each, str)},
        )


def without_form(outrun: Mapping[str, str]) -> str:
    """Say which modes have no closed form in time, and why.

    Args:
        outrun: Why, by label; not empty.
    """
    labels: dict[str, list[str]] = {}
    for label, why in outrun.items():
        labels.setdefault(why, []).append(label)
    which = "; of ".join(f"{few(names)}: {why}" for why, names in labels.items())
    return f"no closed form in time of {which}. The reduction is integrated from t = 0"


def are_followed(derivation: Derivation, laws: Mapping[str, Any]) -> bool:
    """Whether the closed forms are those of all modes that learn."""
    return all(m.is_null or m.label in laws for p in derivation.pathways for m in p.modes)


@record(eq=False)
class _Modes:
    """The modes of a derivation in numbers.

    Attributes:
        derivation: Whose they are.
        bits: Working precision; None for float64.
        ops: The number system.
        start: Where they start while nothing earlier drives them.
        flow: Whether steps are infinitely small.
        factors: By how many times modes start stronger, by label.
    """

    derivation: Derivation
    bits: int | None
    ops: Ops
    start: Start
    flow: bool
    factors: Mapping[str, Fraction]

    def known(self, stage: StageDerivation) -> list[ModeDerivation]:
        """Return the modes that learn and close, and whose parameters have values."""
        values = self.derivation.spec.values.keys()
        return [
            m
            for pathway in stage.pathways
            for m in pathway.learning
            if m.d_eff is not None and {*m.s.parameters, *m.d_eff.parameters} <= values
        ]

    def law_of(self, mode: ModeDerivation, earlier: Mapping[str, ModeLaw | str]) -> ModeLaw | str:
        """Return the closed form of a mode, or why it has none.

        Args:
            mode: One that closes.
            earlier: The closed forms of earlier stages.
        """
        driver, begin = self.derivation.drivers.get(mode.label), self._begin(mode)
        plain = ModeLaw(law=self._law(mode, begin), start=begin.strength0)
        if driver is None or not plain.law.s > 0:  # or it vanishes at the declared values
            return plain
        if isinstance(driver, str):
            return driver
        source = earlier[driver.mode.label]
        assert not isinstance(source, str)  # of a stage whose modes all have closed forms
        return self._driven(mode, plain, driver, source.law)

    def _driven(self, mode: ModeDerivation, plain: ModeLaw, driver: Driver, by: Law) -> Any:
        """Return the closed form of a mode that one earlier mode drives in a plane."""
        law, tau = plain.law, self.derivation.tau or 1
        last = by.half_time if by.strength0 < by.plateau / 2 else 0
        assert mode.s.scalar is not None  # else it were conjugate
        squared, across, own = (
            each.substitute(self.derivation.spec.values).to_fraction()
            for each in (driver.squared, driver.across, mode.s.scalar)
        )
        if squared == across == own:
            return plain  # what drives it is 0 at the declared values
        if squared == 0 or not (self.flow or squared < tau**2):
            return "what drives it takes it out of its plane at the declared values"
        if not law.strength0 < law.plateau * _LATE:
            return ABOVE
        if not last > 0:
            return plain
        # Weights grow in a step by the logarithm of 1 + x; by x where steps are small.
        ops = replace(self.ops, log1p=lambda growth: growth) if self.flow else self.ops
        r = ops.sqrt(ops.number(squared))
        overlap, begin = ops.number(across) / (r * law.s), self._begin(mode)
        chi = sigmoid_factor(
            ops, *letters(r, law.s, overlap, by.s, lambda x: ops.sqrt(ops.positive(x)))
        )
        factor = evaluated_factor(ops, law.s, r, overlap, last, ops.number(tau), chi)
        law = self._law(mode, replace(begin, strength0=begin.strength0 * factor))
        learned = ops.over(law.strength(last), law.plateau)
        if learned < _LATE:  # small while it is driven
            return replace(plain, law=law, driven_by=(driver.mode.label, last), learned=learned)
        if isinstance(learned, arb) and not learned >= _LATE:
            msg = "head start: balls of this precision do not tell which mode is learned first"
            raise LimitReachedError(msg)
        return _OUTRUN

    def _begin(self, mode: ModeDerivation) -> Start:
        """Return where a mode starts while nothing earlier drives it."""
        if mode.label not in self.factors:
            return self.start
        factor = self.ops.number(self.factors[mode.label])
        return replace(
            self.start,
            strength0=self.start.strength0 * factor,
            imbalance=self.start.imbalance * factor,
        )

    def _law(self, mode: ModeDerivation, start: Start) -> Law:
        """Return the law of a mode from some start."""
        assert mode.d_eff is not None  # of a mode that closes
        values = self.derivation.spec.values
        s, d = (_in_numbers(each, values, self.bits) for each in (mode.s, mode.d_eff))
        tau = self.ops.number(self.derivation.tau or 1)
        law = started(self.derivation.known, s, d, tau, ops=self.ops, start=start)
        return law if self.flow else law.in_steps()


def _in_numbers(number: AlgebraicNumber, values: Mapping[str, Fraction], bits: int | None) -> Any:
    """Return a number at some values of parameters: as a ball of some bits, or in float64."""
    if bits is None:
        return np.float64(number.to_float(values))
    # What vanishes must be exactly 0 to select its case: no ball gets sharp enough.
    return arb(0) if number.sign(values) == 0 else number.ball(values, bits)
