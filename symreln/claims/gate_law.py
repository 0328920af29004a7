"""The law of gates of a derivation: how long its pathways' units keep their gates, before training.

First order of :mod:`symreln.laws.gate_law`: from the closed forms of the first stage, or from its
integrated matrices where its modes have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import default_rng

from symreln.base.beside import offer
from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.claims.claim import Claim
from symreln.claims.early import unsupported_pathways
from symreln.claims.integration import network_of
from symreln.claims.lines import DerivationLines
from symreln.claims.orbits import short_list
from symreln.claims.prediction import matrices_of
from symreln.claims.regime import regime_of
from symreln.claims.solve import at_values
from symreln.claims.unit_courses import courses, dies_out, is_closed
from symreln.claims.widths import own_curves
from symreln.document.model import Block, Details, Section, Strong, Table
from symreln.document.typeset import say, typeset
from symreln.errors import InputError
from symreln.laws.gate_law import LinearUnits, moving_lines, turning_lines
from symreln.laws.line import Line, checked, proven_once

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation

#: A stream of its own: no network is trained with it.
_SEED = 11_235
#: Multiplications above which matrices are not integrated for it: seconds of one core.
_MOST_INTEGRATED = 2e10


@record(eq=False)
class _PathwayGates(Claim):
    """What becomes of the gate of a pathway's units, and of those that symmetries map it onto.

    Attributes:
        pathways: Their names.
        stage: Their stage.
        times: Steps, from where all that drives the pathway is learned; the last one is infinity,
            or the network's last step again where matrices are integrated.
        shares: Shares of the weight ‖w‖‖b‖ at these times; None where no unit takes the gate early
            on.
        errors: Their standard errors.
        until: The step up to which all but the tolerated share of the weight has the gate, once
            units have turned to it; None where nothing ends that, 0 where it never is so.
        half: The step at which half of the weight has left, likewise.
    """

    pathways: tuple[str, ...]
    stage: int
    times: np.ndarray
    shares: np.ndarray | None
    errors: np.ndarray | None
    until: float | None = None
    half: float | None = None

    @property
    def name(self) -> str:
        """The pathways, short enough for a table."""
        return short_list(self.pathways)

    @property
    def quoted(self) -> str:
        """The pathways in a sentence."""
        return f"'{self.name}'" if len(self.pathways) == 1 else f"pathways {self.name}"

    @property
    def begins(self) -> float:
        """The first step by which units have turned to the gate; infinity if not yet."""
        assert self.shares is not None
        assert self.errors is not None
        weight, error = self.shares[:-1], self.errors[:-1]
        most = int(np.argmax(weight))
        turned = int(np.argmax(weight >= weight[most] - error[most]))
        return float(self.times[turned]) if turned < len(weight) - 1 else np.inf

    def values(self) -> dict[str, Any]:
        """Return shares by step, and when the tolerated share and half of the weight have left."""
        found: dict[str, Any] = {"pathways": list(self.pathways), "stage": self.stage}
        if self.shares is None or self.errors is None:
            return found | {"why_not": "no hidden unit opens the gate by the pathway's own inputs"}
        steps = [float(time) for time in self.times[:-1]]
        return found | {
            "until": self.until,
            "half": self.half,
            "converged" if np.isinf(self.times[-1]) else "last": float(self.shares[-1]),
            "steps": steps,
            "share": self.shares[:-1].tolist(),
            "error": self.errors[:-1].tolist(),
        }


@record(eq=False)
class LawOfGates(Claim):
    """How long the gates of a spec can be trusted.

    Attributes:
        found: One entry for pathways that symmetries map onto each other, those of the first
            stage first.
        why_not: Why nothing is said, or "".
        tolerance: Share of the weight that may leave.
        last: Last step of the network.
        integrated: Whether matrices are integrated, for modes have no closed forms.
        derived: The lines that lead to it; the main ones are said with it.
        dead: Pathways whose weights weight decay takes to 0.
    """

    found: tuple[_PathwayGates, ...] = ()
    why_not: str = ""
    tolerance: float
    last: int
    integrated: bool = False
    derived: tuple[Line, ...] = ()
    dead: tuple[str, ...] = ()

    @property
    def first(self) -> tuple[_PathwayGates, ...]:
        """Those of the first stage with units: what a network's units start with."""
        stage = min((each.stage for each in self.found), default=1)
        return tuple(e for e in self.found if e.stage == stage and e.shares is not None)

    @property
    def begins(self) -> float:
        """The first step by which units of the first stage have turned; infinity if not yet."""
        return min((each.begins for each in self.first), default=np.inf)

    @property
    def end(self) -> str:
        """When the last share is."""
        return "at the last step" if self.integrated else "at convergence"

    @property
    def until(self) -> float | None:
        """The step up to which gates of the first stage can be trusted; None for all."""
        return min((e.until for e in self.first if e.until is not None), default=None)

    def share(self, times: np.ndarray) -> np.ndarray:
        """Return the share of the first stage's weight with its gates, the mean over pathways.

        Args:
            times: Steps, shape (T,).
        """
        curves = [
            np.interp(times, each.times[:-1], each.shares[:-1])
            for each in self.first
            if each.shares is not None
            for _ in each.pathways
        ]
        return np.mean(curves, axis=0)

    def values(self) -> dict[str, Any]:
        """Return the pathways, and up to which step gates of the first stage can be trusted."""
        if self.why_not:
            return {"why_not": self.why_not}
        return {
            "tolerance": self.tolerance,
            "until": self.until,
            "pathways": [each.values() for each in self.found],
        }

    def lines(self) -> Iterator[str]:
        """Say on the terminal how long gates can be trusted."""
        if self.first:
            yield f"law of gates: {self.sentence}"
        if self.dead:
            yield f"law of gates: {self.dying}"

    @property
    def dying(self) -> str:
        """What becomes of the pathways that learn nothing under weight decay."""
        return (
            f"weight decay is at least every s of {short_list(self.dead)}: the weights shrink to "
            "0, and no unit leaves its gate"
        )

    @property
    def sentence(self) -> str:
        """The verdict of the gates before anything is trained, of units of the first stage."""
        if self.until is None:
            lost = 1 - min(float(e.shares[-1]) for e in self.first if e.shares is not None)
            kept = f"the first stage's units keep its gates up to step {self.last}"
            if lost < self.tolerance:
                return f"{kept} and beyond"
            return f"{kept}, the last one; {percent(lost)} of the weight has left {self.end}"
        each = min(self.first, key=lambda one: np.inf if one.until is None else one.until)
        assert each.shares is not None  # of those with units
        when = "" if each.half is None else f", half of it by step {each.half:.0f}"
        lost = 1 - float(each.shares[-1])
        if not self.until:
            most = percent(float(each.shares[:-1].max()))
            return (
                f"gates of the spec do not hold: up to step {self.last} at most {most} of the "
                f"weight of {each.quoted} has its gate, {percent(1 - lost)} {self.end}"
            )
        but = ", but" if lost < self.tolerance else ","
        return (
            f"gates of the spec hold up to step {self.until:.0f}: then {percent(self.tolerance)} "
            f"of the weight of {each.quoted} has another gate{when}{but} {percent(lost)} "
            f"{self.end}"
        )

    def says(self) -> Iterator[Block]:
        """Say the law, in a chapter of its own."""
        blocks = [*self._blocks()] if self.first else []
        if self.dead:
            blocks.append(say("Here {dying}.", dying=typeset(self.dying)))
        if blocks:
            yield Section(title="The law of gates", blocks=tuple(blocks), label="sec:gatelaw")

    def _blocks(self) -> Iterator[Block]:
        yield say(
            "Hidden units start as Gaussians and move linearly while they keep their gate; the "
            "share of weight $\\|w\\| \\|b\\|$ that keeps it follows before anything is trained, "
            "from orthants of their Gaussian pre-activations. At first order, units that have left "
            "keep moving as if they had not. {verdict}",
            verdict=Strong(typeset(f"{self.sentence[:1].upper()}{self.sentence[1:]}.")),
        )
        table = Table(
            header=(
                "pathways",
                f"{percent(self.tolerance)} left",
                "half left",
                f"kept {self.end}",
            ),
            rows=tuple(_row(each, self.tolerance) for each in self.found),
            caption=(
                "Steps at which shares of the weight of a pathway's units have left its gate, and "
                "the share that keeps it." + self._later + self._closed
            ),
            alignment="lrrr",
        )
        yield Details(summary="Shares of weight, pathway by pathway", blocks=(table,))
        yield from _folded_lines(self.derived).says()

    @property
    def _closed(self) -> str:
        if all(each.shares is not None for each in self.found):
            return ""
        return " –: the pathway's own inputs do not open its gate early on, so no unit has it."

    @property
    def _later(self) -> str:
        if len({each.stage for each in self.found}) == 1:
            return ""
        return " Pathways of later stages have units of their own here, as in a gated network."


def _when(each: _PathwayGates, step: float | None, share: float) -> str:
    """Return when at most a share of the weight has the gate, also where no step is so late."""
    assert each.shares is not None  # asked before
    if step is not None:
        return f"{step:.0f}"
    return "never" if each.shares[-1] > share else f"after {each.times[-2]:.0f}"


def _row(each: _PathwayGates, tolerance: float) -> tuple[str, ...]:
    if each.shares is None or each.errors is None:
        return (each.name, "–", "–", "no unit has it")
    return (
        each.name,
        _when(each, each.until, 1 - tolerance),
        _when(each, each.half, 0.5),
        f"{percent(float(each.shares[-1]))} ± {percent(float(each.errors[-1]))}",
    )


def _begun(
    derivation: Derivation,
) -> tuple[tuple[list[PathwayDerivation], np.ndarray, Callable[[], Any]], ...]:
    return tuple(
        (alike, times, offer(LinearUnits.shares, linear, motions, default_rng(_SEED)))
        for alike, (linear, times, motions) in courses(derivation)
    )


def begin_gate_law(derivation: Derivation) -> None:
    """Have the shares found that :func:`gate_law_of` asks for."""
    if _has_law(derivation):
        numbers = derivation.ask(at_values)
        with suppress(InputError, OverflowError):  # which the law says
            if not _why_not(numbers):
                numbers.ask(_begun)


def _has_law(derivation: Derivation) -> bool:
    network = derivation.spec.network
    return network is not None and network.activation != "linear" and derivation.spec.has_values


def gate_law_of(derivation: Derivation) -> LawOfGates | None:
    """Return the law of gates; None without a ReLU network, or without values of parameters."""
    spec = derivation.spec
    if spec.network is None or not _has_law(derivation):
        return None
    numbers = derivation.ask(at_values)
    if numbers is not derivation:
        return numbers.ask(gate_law_of)
    tolerance, found = float(spec.validation.tolerance), ()
    try:
        why = _why_not(derivation)
        if not why:
            found = tuple(_found(*each, tolerance) for each in derivation.ask(_begun))
            why = "" if found else "no mode that learns moves a pathway's units"
    except (InputError, OverflowError) as beyond:
        why = str(beyond) or "numbers are beyond float64"
    return LawOfGates(
        found=found,
        derived=() if why else checked(_lines(derivation), "law of gates"),
        why_not=why,
        tolerance=tolerance,
        last=spec.network.steps - 1,
        integrated=not is_closed(derivation),
        dead=tuple(p.name for p in derivation.pathways if dies_out(derivation, p)),
    )


def gate_lines_of(derivation: Derivation) -> DerivationLines | None:
    """Return the lines that lead to the law of gates; None where there is none."""
    law = derivation.ask(gate_law_of)
    if law is None or not law.derived:
        return None
    return _folded_lines(law.derived)


def _folded_lines(derived: tuple[Line, ...]) -> DerivationLines:
    """Return the lines that lead to the law, said at length in a fold."""
    return DerivationLines(
        derived=derived,
        title="The law of gates, line by line",
        about="law of gates",
        elsewhere=True,
    )


def _lines(derivation: Derivation) -> Iterable[Line]:
    """Return the lines that lead to the law."""
    decays = derivation.known.weight_decay != 0
    if not is_closed(derivation):
        return proven_once(moving_lines, decays=decays)
    modes = [m.strength for p in derivation.pathways for m in p.modes if not m.is_null]
    kinds = {type(law): law.in_symbols() for law in modes if law is not None}
    return proven_once(turning_lines, tuple(kinds.values()), decays=decays)


def _why_not(derivation: Derivation) -> str:
    known = derivation.known
    for asked in (known.gates, known.matrices, own_curves(derivation)):
        if not asked.holds:
            return asked.why
    if any(pathway.effective.pathway.has_gains for pathway in derivation.pathways):
        return "gates have gains, which no ReLU unit has"
    if derivation.strength0 is None:
        return "no initial strength is derived"
    regime = derivation.ask(regime_of)
    if regime is not None and regime.is_lazy:
        return f"{regime.called} regime: units do not grow from small weights"
    missing = derivation.ask(unsupported_pathways)
    if len(missing) == len(derivation.stages[0].pathways):
        return "no hidden unit keeps a gate of the first stage"
    if is_closed(derivation):
        return ""
    if derivation.ask(matrices_of).multiplications * network_of(derivation.spec).steps > (
        _MOST_INTEGRATED
    ):
        return "modes of the first stage have no closed forms, and its matrices are large"
    return ""


def _found(
    alike: list[PathwayDerivation], times: np.ndarray, found: Callable[[], Any], tolerance: float
) -> _PathwayGates:
    """Return what becomes of the gate of some pathways that are alike."""
    shares, errors = found() or (None, None)
    until, half = (None, None)
    if shares is not None:
        until, half = _crossings(times, shares, (1 - tolerance, 0.5))
    return _PathwayGates(
        pathways=tuple(each.name for each in alike),
        stage=alike[0].stage,
        times=times,
        shares=shares,
        errors=errors,
        until=until,
        half=half,
    )


def _crossings(
    times: np.ndarray, shares: np.ndarray, levels: tuple[float, ...]
) -> list[float | None]:
    """Return from which step on at most such shares of the weight have the gate; None for never.

    Units turn to the leading modes first: what is asked for is when they leave, not when they
    come; 0 where so many never have the gate.
    """
    most, found = int(np.argmax(shares[:-1])), []
    for share in levels:
        below = shares[most:-1] <= share
        place = most + int(np.argmax(below))
        if place == most:
            found.append(0.0 if below.any() else None)
            continue
        between = [place, place - 1]  # np.interp wants the shares to increase
        found.append(float(np.interp(share, shares[between], times[between])))
    return found
