"""The law of gates of a derivation: how long its units keep their gates, before training.

First order of :mod:`symreln.laws.gate_shares`, of the pathways that learn first: from their closed
forms, or from their integrated matrices where modes have none. Later stages' units come from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.random import default_rng

from symreln.base.beside import offer
from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.base.summaries import short_list
from symreln.claims.claim import Claim
from symreln.claims.derivation import Derivation, PathwayDerivation
from symreln.claims.early import unsupported_pathways
from symreln.claims.head_start import ModeLaw, ModeLaws
from symreln.claims.integration import check_range, gate_floats, network_of
from symreln.claims.lines import DerivationLines
from symreln.claims.narrow import own_curves
from symreln.claims.prediction import first_starts, matrices_of
from symreln.claims.probes import mode_bases, symbolic_laws
from symreln.claims.regime import regime_of
from symreln.claims.solve import at_values
from symreln.claims.starts import starts_of
from symreln.document.document_model import Block, Section, Strong
from symreln.document.typeset import say, typeset
from symreln.errors import InputError
from symreln.exact.enclosure import ball
from symreln.laws.gate_shares import LinearUnits, crossings, moving_lines, turning_lines
from symreln.laws.line import checked, proven_once
from symreln.networks.gate_orbits import pathway_orbits

#: A stream of its own: no network is trained with it.
_SEED = 11_235
#: Multiplications above which matrices are not integrated for it: seconds of one core.
_MOST_INTEGRATED = 2e10
#: Times at which shares are given, up to the last step; then once more at convergence.
_TIMES = 200
#: Share of a sample along a pathway's modes below which they do not move units on it.
_UNMOVED = 1e-9


@record(eq=False)
class _PathwayGates(Claim):
    """What becomes of the gate of a pathway's units, and of those that symmetries map it onto.

    Attributes:
        pathways: Their names.
        times: Steps; the last one is infinity, or the network's last step again where matrices are
            integrated.
        shares: Shares of the weight ‖w‖‖b‖ at these times.
        errors: Their standard errors.
        until: The step up to which all but the tolerated share of the weight has the gate, once
            units have turned to it; None where nothing ends that, 0 where it never is so.
        half: The step at which half of the weight has left, likewise.
    """

    pathways: tuple[str, ...]
    times: np.ndarray
    shares: np.ndarray
    errors: np.ndarray
    until: float | None
    half: float | None

    @property
    def quoted(self) -> str:
        """The pathways in a sentence."""
        name = short_list(self.pathways)
        return f"'{name}'" if len(self.pathways) == 1 else f"pathways {name}"

    @property
    def begins(self) -> float:
        """The first step by which units have turned to the gate; infinity if not yet."""
        weight, error = self.shares[:-1], self.errors[:-1]
        most = int(np.argmax(weight))
        turned = int(np.argmax(weight >= weight[most] - error[most]))
        return float(self.times[turned]) if turned < len(weight) - 1 else np.inf

    def values(self) -> dict[str, Any]:
        """Return shares by step, and when the tolerated share and half of the weight have left."""
        return {
            "pathways": list(self.pathways),
            "until": self.until,
            "half": self.half,
            "converged" if np.isinf(self.times[-1]) else "last": float(self.shares[-1]),
            "steps": [float(time) for time in self.times[:-1]],
            "share": self.shares[:-1].tolist(),
            "error": self.errors[:-1].tolist(),
        }


@record(eq=False)
class _LawOfGates(Claim):
    """How long the gates of a spec can be trusted.

    Attributes:
        found: One entry for pathways that symmetries map onto each other.
        why_not: Why nothing is said, or "".
        tolerance: Share of the weight that may leave.
        last: Last step of the network.
        integrated: Whether matrices are integrated, for modes have no closed forms.
        derived: The lines that lead to it, said at length in a fold; None where there is none.
    """

    found: tuple[_PathwayGates, ...] = ()
    why_not: str = ""
    tolerance: float
    last: int
    integrated: bool = False
    derived: DerivationLines | None = None

    @property
    def begins(self) -> float:
        """The first step by which units have turned; infinity if not yet."""
        return min((each.begins for each in self.found), default=np.inf)

    @property
    def until(self) -> float | None:
        """The step up to which gates can be trusted; None for all."""
        return min((e.until for e in self.found if e.until is not None), default=None)

    def share(self, times: np.ndarray) -> np.ndarray:
        """Return the share of the weight with its gates, the mean over pathways.

        Args:
            times: Steps, shape (T,).
        """
        curves = [
            np.interp(times, each.times[:-1], each.shares[:-1])
            for each in self.found
            for _ in each.pathways
        ]
        return np.mean(curves, axis=0)

    def values(self) -> dict[str, Any]:
        """Return the pathways, and up to which step their gates can be trusted."""
        if self.why_not:
            return {"why_not": self.why_not}
        return {
            "tolerance": self.tolerance,
            "until": self.until,
            "pathways": self.found,
        }

    def lines(self) -> Iterator[str]:
        """Say on the terminal how long gates can be trusted."""
        if self.found:
            yield f"law of gates: {self.sentence}"

    @property
    def sentence(self) -> str:
        """The verdict of the gates before anything is trained."""
        end = "at the last step" if self.integrated else "at convergence"
        if self.until is None:
            lost = 1 - min(float(e.shares[-1]) for e in self.found)
            kept = f"the first stage's units keep its gates up to step {self.last}"
            if lost < self.tolerance:
                return f"{kept} and beyond"
            return f"{kept}, the last one; {percent(lost)} of the weight has left {end}"
        each = min(self.found, key=lambda one: np.inf if one.until is None else one.until)
        when = "" if each.half is None else f", half of it by step {each.half:.0f}"
        lost = 1 - float(each.shares[-1])
        if not self.until:
            most = percent(float(each.shares[:-1].max()))
            return (
                f"gates of the spec do not hold: up to step {self.last} at most {most} of the "
                f"weight of {each.quoted} has its gate, {percent(1 - lost)} {end}"
            )
        but = ", but" if lost < self.tolerance else ","
        return (
            f"gates of the spec hold up to step {self.until:.0f}: then {percent(self.tolerance)} "
            f"of the weight of {each.quoted} has another gate{when}{but} {percent(lost)} {end}"
        )

    def says(self) -> Iterator[Block]:
        """Say the law, in a chapter of its own."""
        if self.derived is None:
            return
        verdict = say(
            "Hidden units start as Gaussians and move linearly while they keep their gate; the "
            "share of weight $\\|w\\| \\|b\\|$ that keeps it follows before anything is trained, "
            "from orthants of their Gaussian pre-activations. At first order, units that have left "
            "keep moving as if they had not. {verdict}",
            verdict=Strong(typeset(f"{self.sentence[:1].upper()}{self.sentence[1:]}.")),
        )
        blocks = (verdict, *self.derived.says())
        yield Section(title="The law of gates", blocks=blocks, label="sec:gatelaw")


def _begun(
    derivation: Derivation,
) -> tuple[str, list[tuple[list[PathwayDerivation], np.ndarray, Callable[[], Any]]]]:
    """Return why there is no law, or "", and what returns the shares of every pathway."""
    try:
        why = _why_not(derivation)
        courses = () if why else _courses(derivation)
        return why, [
            (alike, times, offer(LinearUnits.shares, linear, motions, default_rng(_SEED)))
            for alike, (linear, times, motions) in courses
        ]
    except (InputError, OverflowError) as beyond:
        return str(beyond) or "numbers are beyond float64", []


def begin_gate_law(derivation: Derivation) -> None:
    """Have the shares found that :func:`gate_law_of` asks for."""
    if _has_law(derivation):
        derivation.ask(at_values).ask(_begun)


def _has_law(derivation: Derivation) -> bool:
    network = derivation.spec.network
    return network is not None and network.activation != "linear" and derivation.spec.has_values


def gate_law_of(derivation: Derivation) -> _LawOfGates | None:
    """Return the law of gates; None without a ReLU network, or without values of parameters."""
    spec = derivation.spec
    if spec.network is None or not _has_law(derivation):
        return None
    numbers = derivation.ask(at_values)
    if numbers is not derivation:
        return numbers.ask(gate_law_of)
    tolerance, (why, begun) = float(spec.validation.tolerance), derivation.ask(_begun)
    made = (_found(*each, tolerance) for each in begun)
    found = tuple(each for each in made if each is not None)
    if not found:
        why = why or "no mode that learns moves units with a pathway's gate"
    return _LawOfGates(
        found=found,
        derived=None if why else _lines(derivation),
        why_not=why,
        tolerance=tolerance,
        last=spec.network.steps - 1,
        integrated=not _is_closed(derivation),
    )


def gate_lines_of(derivation: Derivation) -> DerivationLines | None:
    """Return the lines that lead to the law of gates; None where there is none."""
    law = derivation.ask(gate_law_of)
    return None if law is None else law.derived


def _lines(derivation: Derivation) -> DerivationLines:
    """Return the lines that lead to the law."""
    decays, about = derivation.known.weight_decay != 0, "law of gates"
    if _is_closed(derivation):
        found = proven_once(turning_lines, tuple(symbolic_laws(derivation)), decays=decays)
    else:
        found = proven_once(moving_lines, decays=decays)
    title = "The law of gates, line by line"
    return DerivationLines(derived=checked(found, about), title=title, about=about, elsewhere=True)


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
    if regime is not None and regime.lazy:
        return f"{regime.called} regime: units do not grow from small weights"
    missing = derivation.ask(unsupported_pathways)
    if len(missing) == len(derivation.stages[0].pathways):
        return "no hidden unit keeps a gate of the first stage"
    steps = 0 if _is_closed(derivation) else network_of(derivation.spec).steps
    if steps and derivation.ask(matrices_of).multiplications * steps > _MOST_INTEGRATED:
        return "modes of the first stage have no closed forms, and its matrices are large"
    return ""


def _found(
    alike: list[PathwayDerivation], times: np.ndarray, found: Callable[[], Any], tolerance: float
) -> _PathwayGates | None:
    """Return what becomes of the gate of some pathways that are alike; None if no unit has it."""
    given = found()
    if given is None:
        return None
    shares, errors = given
    until, half = crossings(times, shares, (1 - tolerance, 0.5))
    names = tuple(each.name for each in alike)
    return _PathwayGates(
        pathways=names, times=times, shares=shares, errors=errors, until=until, half=half
    )


def _is_closed(derivation: Derivation) -> bool:
    """Whether modes of the first stage evolve on their own."""
    pathways = derivation.stages[0].pathways
    return all(m.d_eff is not None for p in pathways for m in p.learning)


#: Hidden units of a pathway, the times of their gates, and the motions at these, as of
#: :meth:`symreln.laws.gate_shares.LinearUnits.shares`.
_Course = tuple[LinearUnits, np.ndarray, np.ndarray]


def _courses(derivation: Derivation) -> Iterator[tuple[list[PathwayDerivation], _Course]]:
    """Yield the units of all pathways of the first stage, those that are alike together."""
    check_range(derivation)
    laws = derivation.ask(ModeLaws.of) if _is_closed(derivation) else None
    pathways = derivation.stages[0].pathways
    specs = [pathway.effective.pathway for pathway in pathways]
    places = {id(p.effective): place for place, p in enumerate(pathways)}
    known = [places[id(getattr(p.effective.image, "original", p.effective))] for p in pathways]
    members: dict[int, list[PathwayDerivation]] = {}
    originals = pathway_orbits(derivation.spec.dataset, specs, known)
    for original, pathway in zip(originals, pathways, strict=True):
        members.setdefault(original, []).append(pathway)
    for alike in members.values():
        moved = _moving if laws is None else partial(_turning, laws=laws)
        course = moved(derivation, alike[0])
        if course is not None:
            yield alike, course


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


def _turning(
    derivation: Derivation, pathway: PathwayDerivation, *, laws: Mapping[str, ModeLaw]
) -> _Course | None:
    """Return the units of a pathway with closed modes; None of one that weight decay takes to 0."""
    last, decay = network_of(derivation.spec).steps - 1, ball(derivation.known.weight_decay)
    if last <= 1 or not any(mode.s.ball({}, 64) > decay for mode in pathway.learning):
        return None
    bases = mode_bases(pathway)
    own = [laws[label] for label in bases]
    outputs, inputs = zip(*bases.values(), strict=True)
    times = np.append(np.geomspace(1, last, _TIMES), np.inf)
    angles = [each.law.angles(times, float(each.start)) for each in own]
    motions = np.repeat(np.array(angles, float), [each.shape[1] for each in inputs], axis=0)
    return _units(derivation, pathway, np.hstack(outputs), np.hstack(inputs)), times, motions


def _moving(derivation: Derivation, pathway: PathwayDerivation) -> _Course | None:
    """Return the units of a pathway as its matrices move them; None of one that learns nothing."""
    from scipy.linalg import block_diag

    place, last = pathway.number - 1, network_of(derivation.spec).steps - 1
    bases = [*mode_bases(pathway).values()]
    if last < 1 or not bases:
        return None
    matrices = derivation.ask(matrices_of)
    steps = np.unique(np.geomspace(1, last, _TIMES).round())
    starts = first_starts(derivation, derivation.ask(starts_of).factors)
    found = matrices.propagators(place, steps.astype(int).tolist(), starts)
    spans = matrices.output_bases[place], matrices.input_bases[place]
    outer, inner = (_led_by(span.T @ part) for span, part in zip(spans, bases[0], strict=True))
    both = block_diag(inner, outer)
    turned = np.moveaxis(both.T @ found @ both, 0, -1)
    motions = np.concatenate([turned, turned[..., -1:]], axis=-1)
    linear = _units(derivation, pathway, spans[0] @ outer, spans[1] @ inner)
    return linear, np.append(steps, last), motions


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


def _led_by(leading: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the whole space that begins with these columns."""
    basis, _ = np.linalg.qr(np.hstack([leading, np.eye(len(leading))]))
    basis[:, : leading.shape[1]] = leading
    return basis
