"""Networks of nodes and edges against their scalar modes: what is predicted, trained and compared.

From an aligned start the scalar modes are exact, step by step. Random weights start in effect where
:mod:`symreln.experiment.edge_start` says, and are the harder comparison; where that is not derived,
the aligned start is the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.progress import both, phase
from symreln.claims.constants import Constant
from symreln.claims.curves import Prediction
from symreln.claims.integration import network_of
from symreln.claims.network.derivation import NetworkDerivation
from symreln.errors import NotSupportedError
from symreln.experiment.again import Experiment, Trials
from symreln.experiment.comparing import CurvePair, curve_pair, is_aligned
from symreln.experiment.diagnosis import (
    Assumptions,
    Candidate,
    diagnosed,
    finite_steps,
    halved_rate,
    halved_scale,
    instead,
)
from symreln.experiment.edge_start import EdgeStart, edge_start
from symreln.experiment.findings import ALIGNMENT, FORMS, SCALE, Finding
from symreln.experiment.outcome import Validation
from symreln.experiment.predictions import ENDS, Predictions
from symreln.experiment.scalar_modes import ALIGNED, RANDOM, Descent, EdgeModes, ScalarModes
from symreln.experiment.training import SAME, Variation, train_gated
from symreln.train.record import Recording

if TYPE_CHECKING:
    from symreln.experiment.training import ProgressCallback
    from symreln.train.run import TrainingRun


def validate_modes(
    derivation: NetworkDerivation,
    seeds: int,
    rng: int,
    progress: ProgressCallback | None = None,
    *,
    diagnosis: bool = True,
) -> Validation:
    """Train the gated deep linear network of nodes and edges and compare it with its scalar modes.

    Once from an aligned start, in which the modes are exact, and ``seeds`` times from random
    weights; arguments and errors as of :func:`symreln.experiment.confront.validate`.

    Raises:
        NotSupportedError: The data are not proven to diagonalise, a hidden node has fewer units
            than modes, or training is staged.
    """
    modes = ScalarModes.of(derivation.spec.at_values())
    with phase("training") as report:
        aligned = _train_aligned(modes)
        gdln = _train(modes, seeds, rng, both(progress, report))
    with phase("effective starts"):
        start = edge_start(modes.spec, modes.parts)
    descent = modes.descend(_std(modes))
    predictions = _predictions(modes, start, descent)
    found = Validation(
        **vars(predictions),
        derivation=derivation,
        gdln=gdln,
        aligned=aligned,
        pairs=_pairs(predictions, start, descent, aligned, gdln),
        rng=rng,
        gates="the gates of a graph's nodes are given",
        edges=EdgeModes(
            scalar=modes,
            start=start,
            descent=descent,
            strengths=_beside(descent, modes.measured(aligned.snapshots["maps"][0, -1])),
        ),
    )
    if not diagnosis:
        return found
    with phase("diagnosis"):
        return diagnosed(found, EDGES)


# -- what is predicted -----------------------------------------------------------------------------


def _std(modes: ScalarModes) -> float:
    return float(network_of(modes.spec).init_std)


def _predictions(modes: ScalarModes, start: EdgeStart | str, descent: Descent) -> Predictions:
    """Predict random weights, or the aligned start where theirs is not derived."""
    closed, error, constants = _closed(modes, start), 0.0, ()
    if isinstance(start, str):
        loss = descent.loss
    else:
        loss = modes.expected_loss(start.amplitudes)
        theory = loss if closed is None else closed
        if start.error:
            moved = start.scaled(1 + ENDS * start.error / start.amplitude)
            other = _judged(modes, moved)
            error = float(np.abs(other - theory).max() / theory[0])
        constants = (_constant(start),)
    prediction = Prediction(
        times=np.arange(len(loss), dtype=float),
        reduced=loss,
        method="gradient descent on the scalar modes of the graph, step by step",
        closed_loss=closed,
        modes=(),
        judged="reduced" if closed is None else "closed",
        constants=constants,
    )
    return Predictions(prediction=prediction, error=(error, 0.0))


def _closed(modes: ScalarModes, start: EdgeStart | str) -> np.ndarray | None:
    """Return the loss of the closed forms, in steps; None without them."""
    if any(part.form is None for part in modes.parts):
        return None
    return modes.closed_loss(_std(modes) if isinstance(start, str) else start.amplitude)


def _judged(modes: ScalarModes, start: EdgeStart) -> np.ndarray:
    """Return the judged loss from random weights."""
    closed = _closed(modes, start)
    return modes.expected_loss(start.amplitudes) if closed is None else closed


def _constant(start: EdgeStart) -> Constant:
    return Constant(
        name="initial strength of every edge",
        value=start.amplitude,
        error=start.error or None,
        source="estimated" if start.error else "derived",
        origin="Monte Carlo over isolated modes of random weights"
        if start.error
        else "the combination of all edges that grows fastest",
    )


# -- what is trained and compared ------------------------------------------------------------------


def _train(
    modes: ScalarModes, seeds: int, rng: int, progress: ProgressCallback | None = None
) -> TrainingRun:
    """Train networks from random weights."""
    return train_gated(modes.spec, {}, seeds=seeds, rng=rng, progress=progress)


def _train_aligned(modes: ScalarModes) -> TrainingRun:
    """Train the network whose edges start aligned with strength ``network.init_std``."""
    spec = modes.spec
    weights = zip(modes.data.graph.edges, modes.aligned(_std(modes)), strict=True)
    initial = {edge.name: start[None] for edge, start in weights}
    record = Recording(quantities=("maps",), steps=(network_of(spec).steps - 1,))
    return train_gated(spec, {}, initial=initial, record=record)


def _pairs(
    predictions: Predictions,
    start: EdgeStart | str,
    descent: Descent,
    aligned: TrainingRun,
    gdln: TrainingRun,
) -> dict[str, CurvePair]:
    """Return every pair of curves that is compared."""
    pairs = {ALIGNED: CurvePair(first=descent.loss[None], second=aligned.losses, exact=True)}
    if isinstance(start, str):
        return pairs
    found = predictions.prediction
    pairs[RANDOM] = curve_pair(found.loss, gdln, predictions.error[0])
    pairs["reduced_vs_gdln"] = curve_pair(found.reduced, gdln)
    if found.closed_loss is not None:
        pairs["closed_vs_gdln"] = curve_pair(found.closed_loss, gdln)
    return pairs


def _beside(
    theory: Descent, trained: dict[str, tuple[float, ...]]
) -> tuple[tuple[str, int, float, float], ...]:
    return tuple(
        (label, number, one, other)
        for label, values in theory.strengths.items()
        for number, (one, other) in enumerate(zip(values, trained[label], strict=True), start=1)
    )


# -- what fails ------------------------------------------------------------------------------------


class _Trials(Trials):
    """Scalar modes predicted, and networks trained, once more."""

    def __init__(self, case: Validation) -> None:
        super().__init__(case)
        assert case.edges is not None
        self.case = case
        self._error = 0.0  # one start for all that is compared, so its error is common to them
        self._made = {SAME: (case.edges.scalar, case.edges.start)}

    @property
    def few(self) -> int:
        """As many as before: graphs are small."""
        return self.case.seeds

    def predicted(self, made: Experiment, *, aligned: bool) -> np.ndarray:
        """Predict the loss, one row; see :meth:`Trials.predicted`."""
        modes, start = self._modes(made.change)
        if aligned:
            return modes.descend(_std(modes)).loss[None]
        assert not isinstance(start, str)  # else nothing is predicted of random weights
        if made.instead.apart:
            return modes.expected_loss(start.amplitudes)[None]
        if made.instead.stepwise:
            return modes.descend(start.amplitude).loss[None]
        return _judged(modes, start)[None]

    def trained(self, pair: str, change: Variation) -> np.ndarray:
        """Return the losses of networks that are trained again."""
        if change == SAME:
            return self.case.run(pair).losses
        modes, _ = self._modes(change)
        aligned = is_aligned(pair)
        run = _train_aligned(modes) if aligned else _train(modes, self.few, self.case.rng)
        return run.losses

    def _modes(self, change: Variation) -> tuple[ScalarModes, EdgeStart | str]:
        if change not in self._made:
            self._made[change] = self._changed(change)
        return self._made[change]

    def _changed(self, change: Variation) -> tuple[ScalarModes, EdgeStart | str]:
        old, start = self._made[SAME]
        spec = change.of(old.spec)
        if change.width == 1:  # the same draws, in units of the start's
            modes = replace(old, spec=spec)
            start = start if isinstance(start, str) else start.scaled(float(change.std))
        else:
            modes = ScalarModes.of(spec)
            start = edge_start(spec, modes.parts)
        if isinstance(start, str) or change.std * change.std * change.width == 1:
            return modes, start  # as strong a start, so as many steps
        theory = self.case.prediction.reduced
        # Near its end a loss is within rounding of it: one in a thousand of the fall is as far.
        found = modes.step_below(start.amplitude, theory[-1] + (theory[0] - theory[-1]) / 1000)
        if found is None:
            msg = "the changed experiment was not found to get as far"
            raise NotSupportedError(msg)
        steps = max(network_of(old.spec).steps, found + 1)
        return replace(modes, spec=change.of(old.spec, steps)), start


def _given(again: _Trials, pair: str) -> Iterator[Finding]:
    if not is_aligned(pair):
        yield Finding(
            assumption=ALIGNMENT,
            replaced="a start that is aligned with the modes",
            before=again.before(pair, Experiment()),
            after=again.case.distance(ALIGNED),
        )


def _candidates(again: _Trials, pair: str) -> Iterator[Candidate]:
    tolerance, drawn = again.case.tolerance, not is_aligned(pair)
    if drawn and again.case.judged == "closed":
        yield finite_steps()
        own = "scalar modes step by step, every one from its own start"
        yield Candidate(name=FORMS, made=lambda: (instead(apart=True), own))
    yield from halved_rate(again, tolerance, pair)
    if drawn:
        yield Candidate(name=SCALE, made=halved_scale(again, tolerance, pair))


EDGES = Assumptions(
    trials=_Trials, given=_given, candidates=_candidates, many=lambda _: True, settled=False
)
