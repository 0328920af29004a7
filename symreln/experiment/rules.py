"""Other rules beside full-batch gradient descent: mini-batches, rates, weight decay, biases.

The theory is that of full-batch gradient descent with one learning rate, without weight decay and
without biases; here is measured what each of the four changes. All networks of a comparison start
from the same weights as those of :func:`symreln.experiment.confront.validate` with the same seed,
so that what differs is the rule alone.

Weight decay: trained gated deep linear networks beside gradient descent on their modes.

The closed forms with s − λ, in steps to leading order, are beside it. Only where they are the whole
prediction, one stage of closed modes. The values of λ come from the data: half of the weakest s,
under which every mode is learned, and one between two values of s, under which the weaker modes die
out; with a single s, one above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import check_two_layers, network_of, reduced_flow
from symreln.claims.prediction import mode_starts, predict_training
from symreln.claims.probes import learning_modes, probe_bases
from symreln.claims.solve import at_values
from symreln.claims.starts import starts_of
from symreln.claims.widths import own_curves
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.changed import changed
from symreln.experiment.metrics import CurveComparison, compare
from symreln.experiment.training import GDLN, ProgressCallback, Variation, kinds, train
from symreln.specs.arguments import check_counts
from symreln.train.record import Recording

if TYPE_CHECKING:
    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun

#: Learning rates η/1, η/2, η/4, with as many times the steps: the same time.
_DIVISORS = (1, 2, 4)

#: Change of a loss, in units of the first, under which it is rounding.
ROUNDING = 1e-12


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class VariedTraining:
    """Training that differs from that of the spec in one thing.

    Attributes:
        subject: "relu" for the network (also a linear one), "gdln".
        batch_size: Samples a batch, without replacement in every epoch; all of them is full-batch
            gradient descent.
        mean_loss: Mean over seeds, shape (steps,); None where a training diverged.
        theory: Distance of the integrated reduction, which knows of no such thing, to that mean.
        shift: max |ΔL|/L(0) between that mean and the spec's own training, from the same initial
            weights.
        noise: Largest standard deviation over seeds of the difference to that training, over L(0):
            what the draw of the batches alone does.
        band: Largest width of the 5 % to 95 % band over seeds, over L(0).
        diverged: What training said, or "".
    """

    subject: str
    batch_size: int
    mean_loss: np.ndarray | None = None
    theory: CurveComparison | None = None
    shift: float | None = None
    noise: float | None = None
    band: float | None = None
    diverged: str = ""


@short_repr
@dataclass(frozen=True, kw_only=True)
class RateRule:
    """The learning rates η, η/2, η/4, over the same time.

    Attributes:
        subject: "theory" for the integrated reduction, "relu" or "gdln".
        flow: max |ΔL|/L(0) to the predicted flow at each rate. For the theory this is the error
            of infinitely small steps and goes to zero with η; for trained networks also whatever
            else the theory leaves out.
        changes: max |ΔL|/L(0) between a rate and half of it, from the same initial weights.
    """

    subject: str
    flow: tuple[float, ...]
    changes: tuple[float, ...]

    @property
    def ratio(self) -> float | None:
        """How many times smaller the change is at half the rate: 2 where the error halves.

        None where the changes are rounding.
        """
        first, second = self.changes
        return first / second if second > ROUNDING else None


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class RuleComparison:
    """What other learning rules change.

    Attributes:
        batches: By subject and falling batch size, full batch first.
        rates: Theory first.
        biased: By subject; with biases, which start at 0, in every layer of the network or of each
            pathway.
        decays: By weight decay, 0 first; empty where no closed form covers it.
        no_decay: Why ``decays`` is empty, or "".
        seeds: Networks of each kind and rule.
        rng: Seed of the random streams.
        samples: P.
        learning_rate: η.
    """

    batches: tuple[VariedTraining, ...]
    rates: tuple[RateRule, ...]
    biased: tuple[VariedTraining, ...]
    decays: tuple[DecayRule, ...]
    no_decay: str
    seeds: int
    rng: int
    samples: int
    learning_rate: float

    @property
    def learning_rates(self) -> tuple[float, ...]:
        """The rates that were compared, falling."""
        return tuple(self.learning_rate / divisor for divisor in _DIVISORS)


def check_rules(derivation: Derivation) -> None:
    """Refuse derivations whose learning rules are not compared.

    Raises:
        NotSupportedError: Gates switch, or a pathway has fewer hidden units than modes.
    """
    check_two_layers(network_of(derivation.spec), "--rules: the comparison of learning rules")
    own = own_curves(derivation)
    if not own.holds:
        msg = f"--rules: {own.why}. Leave --rules out, or change the spec"
        raise NotSupportedError(msg)


def compare_rules(
    derivation: Derivation,
    seeds: int = 4,
    rng: int = 0,
    progress: ProgressCallback | None = None,
) -> RuleComparison:
    """Train by other rules and compare.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
        seeds: Networks of each kind and rule.
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.

    Raises:
        InputError: No network, a parameter without a value, or full-batch training diverged.
        NotSupportedError: A network that is not compared: other than two layers, a weight decay of
            its own, gates that switch, or pathways with fewer hidden units than modes.
    """
    seeds, rng = check_counts(seeds, rng, "compare_rules")
    numbers = derivation.ask(at_values)
    check_rules(numbers)
    samples, steps = numbers.spec.dataset.samples, network_of(numbers.spec).steps
    subjects = kinds(numbers.spec)
    sizes = sorted({-(-samples // 2), -(-samples // 4), 1} - {samples}, reverse=True)
    starts = numbers.ask(starts_of)
    trainings = len(subjects) * (sum(_DIVISORS) + len(sizes) + 1) + len(decay_values(numbers))
    count = _Count(progress, trainings * steps * seeds)
    prediction = predict_training(numbers).reduced
    flow, theory = _theory_of_rates(numbers, starts.factors)
    batches, rates, biased = [], [theory], []

    def trained(subject: str, by: Variation) -> TrainingRun:
        return train(subject, numbers.spec, starts.kappas, seeds, rng, by, progress=count.part())

    for subject in subjects:
        runs = [trained(subject, Variation(rate=Fraction(1, divisor))) for divisor in _DIVISORS]
        curves = [run.mean_loss[::k] for run, k in zip(runs, _DIVISORS, strict=True)]
        rates.append(_rate_rule(subject, curves, flow))
        varied = partial(_varied, partial(trained, subject), subject, runs[0], prediction)
        full = _compared(subject, samples, runs[0], runs[0], prediction)
        batches += [full, *(varied(size, Variation(batch_size=size)) for size in sizes)]
        biased.append(varied(samples, Variation(biases=True)))
    return RuleComparison(
        batches=tuple(batches),
        rates=tuple(rates),
        biased=tuple(biased),
        decays=compare_decay(numbers, seeds, rng, count.part),
        no_decay=why_no_decay(numbers),
        seeds=seeds,
        rng=rng,
        samples=samples,
        learning_rate=float(network_of(numbers.spec).learning_rate),
    )


class _Count:
    """Progress of many trainings as of one."""

    def __init__(self, progress: ProgressCallback | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def part(self) -> ProgressCallback | None:
        """Return the callback of the next training."""
        if self._progress is None:
            return None
        call, before = self._progress, self._done

        def report(done: int, _: int) -> None:
            self._done = before + done
            call(self._done, self._total)

        return report


def _theory_of_rates(
    derivation: Derivation, factors: Mapping[str, Fraction]
) -> tuple[np.ndarray, RateRule]:
    """Return the loss of the flow, and how far gradient descent of the theory is from it."""
    reduced, starts = reduced_flow(derivation), mode_starts(derivation, factors)
    steps = network_of(derivation.spec).steps
    flow = reduced.trajectory(np.arange(steps, dtype=float), starts=starts or None).losses
    curves = [
        replace(reduced, tau=k * reduced.tau)
        .descent((steps - 1) * k + 1, starts=starts)
        .losses[::k]
        for k in _DIVISORS
    ]
    return flow, _rate_rule("theory", curves, flow)


def _rate_rule(subject: str, curves: Sequence[np.ndarray], flow: np.ndarray) -> RateRule:
    return RateRule(
        subject=subject,
        flow=tuple(compare(flow, curve).max_abs_over_initial for curve in curves),
        changes=tuple(compare(slow, fast).max_abs_over_initial for fast, slow in pairwise(curves)),
    )


def _varied(
    trained: Callable[[Variation], TrainingRun],
    subject: str,
    full: TrainingRun,
    prediction: np.ndarray,
    size: int,
    by: Variation,
) -> VariedTraining:
    try:
        run = trained(by)
    except InputError as error:  # settings and data are those of the spec: it diverged
        return VariedTraining(subject=subject, batch_size=size, diverged=str(error))
    return _compared(subject, size, run, full, prediction)


def _compared(
    subject: str, size: int, run: TrainingRun, full: TrainingRun, prediction: np.ndarray
) -> VariedTraining:
    """Compare a training with the spec's own, ``full``, and with the prediction."""
    initial, noise, band = full.mean_loss[0], None, None
    if run.seeds > 1:
        low, high = np.quantile(run.losses, (0.05, 0.95), axis=0)
        noise = float((run.losses - full.losses).std(axis=0, ddof=1).max() / initial)
        band = float((high - low).max() / initial)
    return VariedTraining(
        subject=subject,
        batch_size=size,
        mean_loss=run.mean_loss,
        theory=compare(prediction, run.mean_loss),
        shift=compare(run.mean_loss, full.mean_loss).max_abs_over_initial,
        noise=noise,
        band=band,
    )


#: Relative difference from which two values of s are two: they are exact numbers, rounded once.
_DISTINCT = 1e-9


@dataclass(frozen=True, kw_only=True)
class DecayedMode:
    """One mode at the last step of training with weight decay.

    Attributes:
        label: Symbol of its strength.
        s: Singular value of its pathway's Sigma^yx.
        plateau: s/d, where it ends without weight decay.
        predicted: Strength by gradient descent on the modes.
        trained: Mean over seeds and over equal modes of uᵀ W v.
    """

    label: str
    s: float
    plateau: float
    predicted: float
    trained: float


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class DecayRule:
    """Training with one weight decay.

    Attributes:
        weight_decay: λ.
        theory: Distance of gradient descent on the modes, step by step, to the mean of the GDLNs.
        closed: The same of the closed forms.
        modes: At the last step, strongest first.
    """

    weight_decay: float
    theory: CurveComparison
    closed: CurveComparison
    modes: tuple[DecayedMode, ...]

    @property
    def dying(self) -> tuple[str, ...]:
        """Labels of the modes with s ≤ λ, which are not learned."""
        return tuple(mode.label for mode in self.modes if mode.s <= self.weight_decay)


def why_no_decay(derivation: Derivation) -> str:
    """Return why no closed form covers weight decay, or ""."""
    if not derivation.closed:
        level = derivation.verdict.level.value
        return f"the verdict is {level!r}, and the closed form with s − λ is for closed modes"
    if not (own := own_curves(derivation)).holds:
        return own.why
    if len(derivation.stages) > 1:
        return "later stages learn what weight decay keeps the earlier ones from learning"
    if not derivation.loss_separates:
        return "the loss is no sum over modes"
    return "" if learning_modes(derivation) else "no mode learns anything"


def decay_values(derivation: Derivation) -> tuple[float, ...]:
    """Return the values of λ that are compared, 0 first; none where no closed form covers them."""
    if why_no_decay(derivation):
        return ()
    found: list[float] = []
    for s in sorted(mode.s.to_float() for _, mode in learning_modes(derivation)):
        if not found or s > found[-1] * (1 + _DISTINCT):
            found.append(s)
    middle = len(found) // 2
    between = 1.5 * found[0] if len(found) == 1 else (found[middle - 1] + found[middle]) / 2
    return 0.0, found[0] / 2, between


def compare_decay(
    derivation: Derivation, seeds: int, rng: int, part: Callable[[], ProgressCallback | None]
) -> tuple[DecayRule, ...]:
    """Train GDLNs with every λ of :func:`decay_values` and compare them with the theory.

    Their pathways have the units that the closed forms' initial strength counts.

    Args:
        derivation: Without free parameters, with a network.
        seeds: Networks for each λ, all from the same initial weights.
        rng: Seed; the stream is that of the confrontation's GDLNs.
        part: Gives the callback of progress for the next training.
    """
    return tuple(
        _decayed(derivation, value, seeds, rng, part()) for value in decay_values(derivation)
    )


def _decayed(
    derivation: Derivation, value: float, seeds: int, rng: int, progress: ProgressCallback | None
) -> DecayRule:
    spec = derivation.spec
    prediction = predict_training(decayed(derivation, value), factors={})
    closed = prediction.closed_loss
    assert closed is not None  # why_no_decay has told
    last = Recording(quantities=("maps",), steps=(network_of(spec).steps - 1,))
    by = Variation(weight_decay=Fraction(value))
    run = train(GDLN, spec, {}, seeds, rng, by, record=last, progress=progress)
    return DecayRule(
        weight_decay=value,
        theory=compare(prediction.reduced, run.mean_loss),
        closed=compare(closed, run.mean_loss),
        modes=_modes(derivation, prediction, run),
    )


def decayed(derivation: Derivation, value: float) -> Derivation:
    """Return the derivation of the same network with weight decay ``value``."""
    return changed(derivation, Variation(weight_decay=Fraction(value)))


def _modes(
    derivation: Derivation, prediction: Prediction, run: TrainingRun
) -> tuple[DecayedMode, ...]:
    curves = {curve.label: curve.best for curve in prediction.modes}
    trained = trained_strengths(derivation, run.snapshots["maps"][:, -1].mean(axis=0))
    found = [
        DecayedMode(
            label=mode.label,
            s=mode.s.to_float(),
            plateau=mode.s.to_float() / mode.d_eff.to_float(),
            predicted=float(curves[mode.label][-1]),
            trained=trained[mode.label],
        )
        for _, mode in learning_modes(derivation)
        if mode.d_eff is not None  # of closed modes every one has it
    ]
    return tuple(sorted(found, key=lambda mode: -mode.s))


def trained_strengths(derivation: Derivation, maps: np.ndarray) -> dict[str, float]:
    """Return uᵀ W_p v by the mode's label, the mean over equal modes.

    Args:
        derivation: With modes.
        maps: W_p of every pathway at the size of the data, shape (pathways, n_y, n_x).
    """
    found: dict[str, list[float]] = {}
    for place, pathway in enumerate(derivation.pathways):
        u, v, labels = probe_bases(pathway)
        own = maps[place][:, list(pathway.effective.pathway.inputs)]
        for column, label in enumerate(labels):
            found.setdefault(label, []).append(float(u[:, column] @ own @ v[:, column]))
    return {label: float(np.mean(values)) for label, values in found.items()}
