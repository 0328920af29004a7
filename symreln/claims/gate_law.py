"""The law of gates of a derivation: how long its pathways' units keep their gates, before training.

First order of :mod:`symreln.laws.gate_law`: from the closed forms of the first stage, or from its
integrated matrices where its modes have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import block_diag

from symreln.base.rounding import percent
from symreln.base.summaries import short_repr
from symreln.claims.claim import Claim
from symreln.claims.early import (
    early_strengths,
    mode_kappas,
    pathway_kappas,
    start_factors,
    unsupported_pathways,
)
from symreln.claims.head_copies import Copies
from symreln.claims.head_start import mode_laws
from symreln.claims.integration import check_range, gate_floats, network_of
from symreln.claims.orbits import short_list
from symreln.claims.prediction import first_starts, matrices_of
from symreln.claims.probes import mode_bases
from symreln.claims.regime import regime_of
from symreln.claims.solve import at_values
from symreln.claims.widths import own_curves
from symreln.document.model import Block, Code, Section, Strong, Table, equation
from symreln.document.typeset import say, typeset
from symreln.errors import InputError
from symreln.laws.gate_classes import LISTED, gate_classes, sample_relations
from symreln.laws.gate_law import GateShares, LinearUnits
from symreln.network.orbits import paired, pathway_orbits

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.network.dataset import Dataset

#: A stream of its own: no network is trained with it.
SEED = 11_235
#: Times at which shares are given, up to the last step; then once more at convergence.
_TIMES = 200
#: Times between two of them at which it is looked when a share is crossed.
_BETWEEN = 20
#: Share of a sample along a pathway's modes below which they do not move units on it.
_UNMOVED = 1e-9
#: Multiplications above which matrices are not integrated for it: seconds of one core.
_MOST_INTEGRATED = 2e10
#: Gates that a table lists.
_MOST_TAKEN = 8
_UNIT = (
    "A hidden unit with weights $w$ from the inputs and $b$ to the outputs moves linearly as long "
    "as it has its pathway's gate, driven"
)


@short_repr
@dataclass(frozen=True, kw_only=True)
class GatesTaken:
    """Gates that units take when they leave their pathway's; symmetries map them onto each other.

    Attributes:
        gate: The heaviest, 0 or 1 a sample.
        where: The samples on which it is not the pathway's: a formula over labels, or places.
        samples: How many these are.
        alike: How many gates of this orbit were drawn.
        share: Of the pathway's weight, when half of it has left.
        last: At the last time.
    """

    gate: tuple[int, ...]
    where: str
    samples: int
    alike: int
    share: float
    last: float

    def values(self) -> dict[str, Any]:
        """Return what derivation.json says of it."""
        return vars(self) | {"gate": "".join(map(str, self.gate))}


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class PathwayGates(Claim):
    """What becomes of the gate of a pathway's units, and of those that symmetries map it onto.

    Attributes:
        pathways: Their names.
        stage: Their stage.
        times: Steps, from where all that drives the pathway is learned; the last one is infinity,
            or the network's last step again where matrices are integrated.
        shares: Shares at these times; None where no unit takes the gate early on.
        until: The step up to which all but the tolerated share of the weight has the gate, once
            units have turned to it; None where nothing ends that, 0 where it never is so.
        half: The step at which half of the weight has left, likewise.
        left: Where the weight goes, the heaviest first; empty where half of it never leaves.
    """

    pathways: tuple[str, ...]
    stage: int
    times: np.ndarray
    shares: GateShares | None
    until: float | None = None
    half: float | None = None
    left: tuple[GatesTaken, ...] = ()

    @property
    def name(self) -> str:
        """The pathways, short enough for a table."""
        return short_list(self.pathways)

    @property
    def begins(self) -> float:
        """The first step by which units have turned to the gate; infinity if not yet."""
        assert self.shares is not None
        weight, error = self.shares.weight[:-1], self.shares.error[:-1]
        most = int(np.argmax(weight))
        turned = int(np.argmax(weight >= weight[most] - error[most]))
        return float(self.times[turned]) if turned < len(weight) - 1 else np.inf

    def values(self) -> dict[str, Any]:
        """Return shares by step, and when the tolerated share and half of the weight have left."""
        found: dict[str, Any] = {"pathways": list(self.pathways), "stage": self.stage}
        if self.shares is None:
            return found | {"why_not": "no hidden unit opens the gate by the pathway's own inputs"}
        steps = [float(time) for time in self.times[:-1]]
        return found | {
            "until": self.until,
            "half": self.half,
            "converged" if np.isinf(self.times[-1]) else "last": float(self.shares.weight[-1]),
            "steps": steps,
            "share": self.shares.weight[:-1].tolist(),
            "error": self.shares.error[:-1].tolist(),
            "units": self.shares.units[:-1].tolist(),
            "units_exact": self.shares.exact,
            "left": [each.values() for each in self.left],
        }


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class LawOfGates(Claim):
    """How long the gates of a spec can be trusted.

    Attributes:
        found: One entry for pathways that symmetries map onto each other, those of the first
            stage first.
        why_not: Why nothing is said, or "".
        tolerance: Share of the weight that may leave.
        last: Last step of the network.
        integrated: Whether matrices are integrated, for modes have no closed forms.
    """

    found: tuple[PathwayGates, ...] = ()
    why_not: str = ""
    tolerance: float
    last: int
    integrated: bool = False

    @property
    def first(self) -> tuple[PathwayGates, ...]:
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

    def lost(self, times: np.ndarray) -> np.ndarray:
        """Return the share of the first stage's weight by how many samples its gates differ on.

        Args:
            times: Steps, shape (T,).

        Returns:
            Shape (T, P + 1); the mean over pathways.
        """
        curves = [
            [np.interp(times, each.times[:-1], column[:-1]) for column in each.shares.closed.T]
            for each in self.first
            if each.shares is not None
            for _ in each.pathways
        ]
        return np.mean(curves, axis=0).T

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

    @property
    def sentence(self) -> str:
        """The verdict of the gates before anything is trained; there are units of the first stage."""
        if self.until is None:
            lost = 1 - min(float(e.shares.weight[-1]) for e in self.first if e.shares is not None)
            kept = f"the first stage's units keep its gates up to step {self.last}"
            if lost < self.tolerance:
                return f"{kept} and beyond"
            return f"{kept}, the last one; {percent(lost)} of the weight has left {self.end}"
        each = min(self.first, key=lambda one: np.inf if one.until is None else one.until)
        assert each.shares is not None  # of those with units
        when = "" if each.half is None else f", half of it by step {each.half:.0f}"
        return (
            f"gates of the spec hold up to step {self.until:.0f}: then {percent(self.tolerance)} "
            f"of the weight of '{each.name}' has another gate{when}, "
            f"{percent(1 - float(each.shares.weight[-1]))} {self.end}"
        )

    def says(self) -> Iterator[Block]:
        """Say the law, in a chapter of its own."""
        if not self.first:
            return
        yield Section(title="The law of gates", blocks=tuple(self._blocks()), label="sec:gatelaw")

    def _blocks(self) -> Iterator[Block]:
        yield from self._moved() if self.integrated else self._turned()
        yield say(
            "The share of units that still has the gate is an orthant probability of $K(t)$, "
            "given that the leading mode opened it; the share of weight is the mean of "
            "$\\|w\\| \\|b\\|$ over that orthant. To first order: units that have left move on as "
            "if they had not, and change no drive. {verdict}",
            verdict=Strong(typeset(f"{self.sentence[:1].upper()}{self.sentence[1:]}.")),
        )
        yield Table(
            header=(
                "pathways",
                f"{percent(self.tolerance)} left",
                "half left",
                f"kept {self.end}",
                "units kept",
            ),
            rows=tuple(_row(each, self.tolerance) for each in self.found),
            caption=(
                "When the weight of a pathway's units leaves its gate, in steps; what its own "
                "learning leaves of it, and how many of its units." + self._later
            ),
            alignment="lrrrr",
        )
        yield from (self._taken(each) for each in self.found if each.left)

    def _taken(self, each: PathwayGates) -> Table:
        """Say where the weight of some pathway's units goes."""
        more = len(each.left) - _MOST_TAKEN
        return Table(
            header=("gate differs where", "orbit", "half left", self.end.removeprefix("at ")),
            rows=tuple(
                (Code(one.where), str(one.alike), percent(one.share), percent(one.last))
                for one in each.left[:_MOST_TAKEN]
            ),
            caption=(
                f"Gates that the units of {each.name} take, and their share of its weight when "
                f"half of it has left, and {self.end}: the heaviest of each orbit, with how many "
                "gates symmetries of the data map onto it, as far as they were drawn."
                + (f" {more} more have at least {percent(LISTED)}." if more > 0 else "")
            ),
            alignment="lrrr",
        )

    @property
    def _later(self) -> str:
        if len({each.stage for each in self.found}) == 1:
            return ""
        return " Pathways of later stages have units of their own here, as a gated network has."

    def _turned(self) -> Iterator[Block]:
        """Say K by the closed forms."""
        yield say(
            f"{_UNIT} as the modes $(s_\\alpha, u_\\alpha, v_\\alpha)$ are. With the closed forms "
            "$\\pi_\\alpha(t)$ of their strengths, from $\\pi_0$ on, which counts the units that "
            "turn to the pathway early on,"
        )
        yield equation(
            r"v_\alpha^{\top} w(t) = v_\alpha^{\top} w(0) \cosh\theta_\alpha + u_\alpha^{\top} "
            r"b(0) \sinh\theta_\alpha, \qquad \theta_\alpha(t) = \tfrac{1}{2} "
            r"\ln\frac{\pi_\alpha(t)}{\pi_0},"
        )
        yield say(
            "and the same with $w$ and $b$ exchanged; what has no mode stands still. Initial "
            "weights are Gaussian, so the pre-activations of the pathway's units are Gaussian at "
            "all times, with the covariance"
        )
        yield equation(
            r"K(t) = \sigma^2 X^{\top} \left(I + 2\, V \sinh^2\theta(t)\, V^{\top}\right) X"
            r" = \sigma^2 X^{\top} \left(V \cosh 2\theta(t)\, V^{\top} + V_{\perp} "
            r"V_{\perp}^{\top}\right) X,"
        )
        yield say(
            r"where the columns of $V$ are the $v_\alpha$, those of $V_{\perp}$ an orthonormal "
            r"basis of the inputs' other directions, and $\theta$ is diagonal."
        )

    def _moved(self) -> Iterator[Block]:
        """Say K by the matrices."""
        yield say(
            f"{_UNIT} by $E(t)$, what all pathways leave of its correlation. Modes of the first "
            "stage have no closed forms: matrices are followed, with gradient descent's steps, for"
        )
        yield equation(
            r"\begin{pmatrix} w(t) \\ b(t) \end{pmatrix} = \Phi(t) \begin{pmatrix} w(0) \\ b(0) "
            r"\end{pmatrix}, \qquad \tau \dot{\Phi} = \begin{pmatrix} 0 & E(t)^{\top} \\ E(t) & 0 "
            r"\end{pmatrix} \Phi, \qquad \Phi(0) = I."
        )
        yield say(
            "Initial weights are Gaussian, so the pre-activations of the pathway's units are "
            r"Gaussian at all times, with the covariance, $\Phi_{ww}$ and $\Phi_{wb}$ being the "
            r"blocks of $\Phi$ that take $w(0)$ and $b(0)$ to $w(t)$,"
        )
        yield equation(
            r"K(t) = \sigma^2 X^{\top} \left(\Phi_{ww} \Phi_{ww}^{\top} + \Phi_{wb} "
            r"\Phi_{wb}^{\top}\right) X."
        )


def _when(each: PathwayGates, step: float | None, share: float) -> str:
    """Return when at most a share of the weight has the gate, also where no step is so late."""
    assert each.shares is not None  # asked before
    if step is not None:
        return f"{step:.0f}"
    return "never" if each.shares.weight[-1] > share else f"after {each.times[-2]:.0f}"


def _row(each: PathwayGates, tolerance: float) -> tuple[str, ...]:
    if each.shares is None:
        return (each.name, "–", "–", "no unit has it", "–")
    shares, place = each.shares, -1
    units = percent(float(shares.units[place]))
    spread = float(shares.units_error[place])
    return (
        each.name,
        _when(each, each.until, 1 - tolerance),
        _when(each, each.half, 0.5),
        f"{percent(float(shares.weight[place]))} ± {percent(float(shares.error[place]))}",
        f"{units} (exact)" if shares.exact else f"{units} ± {percent(spread)}",
    )


def gate_law_of(derivation: Derivation) -> LawOfGates | None:
    """Return the law of gates; None without a ReLU network, or without values of parameters."""
    spec = derivation.spec
    if spec.network is None or spec.network.activation == "linear" or not spec.has_values:
        return None
    numbers = derivation.ask(at_values)
    if numbers is not derivation:
        return numbers.ask(gate_law_of)
    tolerance, found = float(spec.validation.tolerance), ()
    try:
        why = _why_not(derivation)
        if not why:
            data = spec.dataset
            found = tuple(_found(data, alike, c, tolerance) for alike, c in _courses(derivation))
            why = "" if found else "no mode that learns moves a pathway's units"
    except (InputError, OverflowError) as beyond:
        why = str(beyond) or "numbers are beyond float64"
    return LawOfGates(
        found=found,
        why_not=why,
        tolerance=tolerance,
        last=spec.network.steps - 1,
        integrated=not _is_closed(derivation),
    )


def _is_closed(derivation: Derivation) -> bool:
    """Whether modes of the first stage have closed forms."""
    pathways = derivation.stages[0].pathways
    return not any(m.d_eff is None for p in pathways for m in p.modes if not m.is_null)


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
    if _is_closed(derivation):
        return ""
    if derivation.ask(matrices_of).multiplications * network_of(derivation.spec).steps > (
        _MOST_INTEGRATED
    ):
        return "modes of the first stage have no closed forms, and its matrices are large"
    return ""


def _courses(derivation: Derivation) -> Iterator[tuple[list[PathwayDerivation], _Course]]:
    """Yield the units of all pathways that have a law, those that are alike together."""
    check_range(derivation)
    by_mode = mode_kappas(derivation, pathway_kappas(derivation, derivation.ask(early_strengths)))
    closed = _is_closed(derivation)
    laws = mode_laws(derivation, factors=start_factors(derivation, by_mode)) if closed else {}
    specs = [pathway.effective.pathway for pathway in derivation.pathways]
    originals = pathway_orbits(derivation.spec.dataset, specs)
    members: dict[int, list[PathwayDerivation]] = {}
    for original, pathway in zip(originals, derivation.pathways, strict=True):
        members.setdefault(original, []).append(pathway)
    for place, alike in members.items():
        if closed:
            course = _turning(derivation, alike[0], laws)
        else:
            course = _moving(derivation, place, by_mode)
        if course is not None:
            yield alike, course


def _found(
    dataset: Dataset, alike: list[PathwayDerivation], course: _Course, tolerance: float
) -> PathwayGates:
    """Return what becomes of the gate of some pathways that are alike."""
    shares = course.shares(course.times)
    found = PathwayGates(
        pathways=tuple(each.name for each in alike),
        stage=alike[0].stage,
        times=course.times,
        shares=shares,
    )
    if shares is None:
        return found
    half = course.crossing(shares, 0.5)
    return replace(
        found,
        until=course.crossing(shares, 1 - tolerance),
        half=half,
        left=() if half is None else _left(dataset, course, half),
    )


def _left(dataset: Dataset, course: _Course, half: float) -> tuple[GatesTaken, ...]:
    """Return where the weight of a pathway's units goes, from when half of it has left."""
    motions = course.motions(np.array([half, course.times[-1]]))
    history = course.linear.gates(motions, np.random.default_rng(SEED))
    found = []
    gate = course.linear.gate.astype(int)
    # Symmetries that move the pathway's own gate would merge it with those that units leave for.
    relations = paired(sample_relations(*dataset.arrays), 2 * gate[:, None] + gate)
    for each in gate_classes([history], relations):
        differs = np.array(each.gate, dtype=bool) != course.linear.gate
        if differs.any():
            found.append(
                GatesTaken(
                    gate=each.gate,
                    where=dataset.called(differs.tolist()),
                    samples=int(differs.sum()),
                    alike=each.alike,
                    share=float(each.shares[0]),
                    last=float(each.shares[1]),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.share))


def telling_samples(derivation: Derivation, pathway: PathwayDerivation) -> np.ndarray:
    """Return which samples tell a pathway's gate from others, shape (P,).

    None on which no mode moves its units, which keep the sign that they started with there, and
    none on the boundary that they slide along. Without closed modes all inputs move units.

    Args:
        derivation: Without free parameters.
        pathway: One of its pathways.
    """
    own = pathway.effective.pathway
    samples = derivation.spec.dataset.inputs.to_numpy()[list(own.inputs)]
    seen = samples
    if _is_closed(derivation):
        seen = np.hstack([v for _, v in mode_bases(pathway).values()]).T @ samples
    tells = np.linalg.norm(seen, axis=0) > _UNMOVED * np.linalg.norm(samples, axis=0)
    tells[list(own.boundary)] = False
    return tells


@dataclass(frozen=True, kw_only=True, eq=False)
class _Course:
    """The units of one pathway over time.

    Attributes:
        linear: They.
        times: Those of :class:`PathwayGates`.
        motions: Their motions at any times.
    """

    linear: LinearUnits
    times: np.ndarray
    motions: Callable[[np.ndarray], np.ndarray]

    def shares(self, times: np.ndarray) -> GateShares | None:
        """Return the shares at some times, from the same draws whichever they are."""
        return self.linear.shares(self.motions(times), np.random.default_rng(SEED))

    def crossing(self, shares: GateShares, share: float) -> float | None:
        """Return from which step on at most a share of the weight has the gate; None for never.

        Units turn to the leading modes first: what is asked for is when they leave, not when they
        come; 0 where so many never have the gate.
        """
        most = int(np.argmax(shares.weight[:-1]))
        below = shares.weight[most:-1] <= share
        if not below.any():
            return None
        place = most + int(np.argmax(below))
        if place == most:
            return 0.0
        between = np.linspace(self.times[place - 1], self.times[place], _BETWEEN)
        near = self.shares(between)
        assert near is not None  # as shares is not
        return float(between[np.argmax(near.weight <= share)])


def _turning(
    derivation: Derivation, pathway: PathwayDerivation, laws: Mapping[str, tuple[Copies, ...]]
) -> _Course | None:
    """Return the units of a pathway with closed modes; None of one that has no law.

    Args:
        derivation: Without free parameters.
        pathway: Whose units they are.
        laws: Of all modes.
    """
    last = network_of(derivation.spec).steps - 1
    labels = [mode.label for mode in pathway.modes if not mode.is_null]
    if not labels or not all(label in laws for label in labels):
        return None
    copies = [(label, each) for label in labels for each in laws[label]]
    reached = (float(time) for _, each in copies for _, time in each.reached_by)
    begin = max(1.0, max(reached, default=0.0))
    if begin >= last:
        return None
    bases = mode_bases(pathway)
    outputs, inputs = (
        [
            bases[label][side] if each.turn is None else bases[label][side] @ each.turn
            for label, each in copies
        ]
        for side in (0, 1)
    )
    counts = [column.shape[1] for column in inputs]

    def angles(times: np.ndarray) -> np.ndarray:
        rows = [each.law.angles(times, float(each.start)) for _, each in copies]
        return np.repeat(np.array(rows, dtype=float), counts, axis=0)

    return _Course(
        linear=_units(derivation, pathway, np.hstack(outputs), np.hstack(inputs)),
        times=np.append(np.unique(np.geomspace(begin, last, _TIMES)), np.inf),
        motions=angles,
    )


def _moving(derivation: Derivation, place: int, by_mode: Mapping[str, float]) -> _Course | None:
    """Return the units of a pathway of the first stage as its matrices move them; None of others.

    Args:
        derivation: Without free parameters.
        place: Of the pathway.
        by_mode: κ by the label of modes.
    """
    pathway, last = derivation.pathways[place], network_of(derivation.spec).steps - 1
    if pathway.stage != derivation.stages[0].pathways[0].stage or last < 1:
        return None
    matrices = derivation.ask(matrices_of)
    steps = np.unique(np.geomspace(1, last, _TIMES).round())
    found = matrices.propagators(
        place, steps.astype(int).tolist(), first_starts(derivation, by_mode)
    )
    lead, *_ = mode_bases(pathway).values()
    spans = matrices.output_bases[place], matrices.input_bases[place]
    outer, inner = (_led_by(span.T @ part) for span, part in zip(spans, lead, strict=True))
    both = block_diag(inner, outer)
    turned = both.T @ found @ both

    def between(times: np.ndarray) -> np.ndarray:
        low = np.clip(np.searchsorted(steps, times, side="right") - 1, 0, len(steps) - 2)
        share = np.clip((times - steps[low]) / (steps[low + 1] - steps[low]), 0, 1)
        return (
            np.moveaxis(turned[low], 0, -1) * (1 - share)
            + np.moveaxis(turned[low + 1], 0, -1) * share
        )

    return _Course(
        linear=_units(derivation, pathway, spans[0] @ outer, spans[1] @ inner),
        times=np.append(steps, last),
        motions=between,
    )


def _led_by(leading: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the whole space that begins with these columns."""
    basis, _ = np.linalg.qr(np.hstack([leading, np.eye(len(leading))]))
    basis[:, : leading.shape[1]] = leading
    return basis


def _units(
    derivation: Derivation,
    pathway: PathwayDerivation,
    outputs: np.ndarray,
    inputs: np.ndarray,
) -> LinearUnits:
    own = pathway.effective.pathway
    (_, leading), *_ = mode_bases(pathway).values()
    return LinearUnits(
        samples=derivation.spec.dataset.inputs.to_numpy()[list(own.inputs)],
        gate=gate_floats(own) > 0,
        tells=telling_samples(derivation, pathway),
        inputs=inputs,
        outputs=outputs,
        leading=leading.shape[1],
        scales=derivation.known.scales,
    )
