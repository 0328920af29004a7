"""A derivation confronted with trained networks: everything measured, and what it comes to.

What fails where the prediction disagrees is said by :mod:`symreln.experiment.diagnosis`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symreln.base.records import Immutable, record
from symreln.claims.curves import Judged
from symreln.claims.narrow import own_curves
from symreln.claims.solve import at_values
from symreln.experiment.aligned import (
    NarrowOutcome,
    PathwayAlignment,
    SplitNetwork,
    narrow_outcomes,
)
from symreln.experiment.comparing import JUDGED, CurvePair
from symreln.experiment.gates_held import GatesHeld
from symreln.experiment.measured_gates import GateLawMeasured
from symreln.experiment.metrics import Distance, GateDrift, Interval, SeedFloor, compare, exactly
from symreln.experiment.predictions import Predictions
from symreln.experiment.rows import FLOOR, PUBLISHED_ROWS, Row, named
from symreln.experiment.strengths import ModeMeasured
from symreln.experiment.uninformative import Uninformative
from symreln.experiment.units_met import UnitsMet
from symreln.experiment.verdicts import (
    Verdict,
    gates_verdict,
    loss_verdict,
    modes_verdict,
    not_tested,
    outcome_of,
)
from symreln.task_library.load import load
from symreln.train.run import TrainingRun

if TYPE_CHECKING:
    import numpy as np

    from symreln.claims.constants import Constant
    from symreln.claims.derivation import Derivation
    from symreln.experiment.representation import RepresentationComparison
    from symreln.specs.spec import Spec


@record(eq=False)
class Validation(Immutable, Predictions):
    """A derivation confronted with trained networks: all that was predicted, and what came of it.

    Attributes:
        derivation: What was predicted.
        network: The trained ReLU (or linear) networks; None where none was trained.
        gdln: The trained gated deep linear networks.
        aligned: A GDLN that started aligned with the modes, as closed forms assume, or None.
        pairs: Every pair of curves that is compared, by their names in validation.json:
            "theory_vs_…" is the judged curve, "closed_vs_…" and "reduced_vs_…" are both;
            "effective_vs_relu" is the effective network, "mean_field_vs_relu" all units that are
            followed for it, "flow_vs_…" the reduction by infinitely small steps, "…_vs_aligned"
            what starts as closed forms assume.
        rng: Seed of the random streams.
        gates: Share of the weight with a gate of the spec, or why gates are not tested.
        met: Whether units are where the effective network has them; None where gates are given.
        diagnosis: What was replaced where theory and training disagree, and what it left.
        gdln_alignment: One entry a pathway.
        drift: How far the network's gates move; None for a linear network.
        law: The law of gates beside the networks' gates; None where there is no law or no gates.
        split: The networks seen as pathways, units given to the nearest gate; None likewise.
        modes: Every mode's measured strength beside its prediction, where maps were recorded.
        representations: What hidden layers hold; None where that was not asked for.
    """

    derivation: Derivation
    network: TrainingRun | None = None
    gdln: TrainingRun
    aligned: TrainingRun | None = None
    pairs: Mapping[str, CurvePair]
    rng: int
    gates: GatesHeld | str = "the gates of the units were not recorded"
    met: UnitsMet | None = None
    diagnosis: tuple[Row, ...] = ()
    gdln_alignment: tuple[PathwayAlignment, ...] = ()
    drift: GateDrift | None = None
    law: GateLawMeasured | None = None
    split: SplitNetwork | None = None
    modes: tuple[ModeMeasured, ...] = ()
    representations: RepresentationComparison | None = None

    @cached_property
    def uninformative(self) -> Uninformative | None:
        """Why training does not test the prediction; None where it does."""
        runs = [run.mean_loss for run in (self.network, self.gdln) if run is not None]
        return Uninformative.of(self.numbers, runs, self.tolerance)

    @property
    def judged_pairs(self) -> tuple[str, ...]:
        """The pairs of curves that the loss's verdict is about, those that are there.

        An effective network has no gates that a GDLN would share.
        """
        judged = JUDGED[1:] if self.judged == "effective" else JUDGED
        return tuple(name for name in judged if name in self.pairs)

    @cached_property
    def metrics(self) -> dict[str, Distance[Any]]:
        """The distance of every pair of curves."""
        return {name: pair.comparison() for name, pair in self.pairs.items()}

    @cached_property
    def intervals(self) -> dict[str, Distance[Interval]]:
        """Metrics of every pair with intervals for the mean over all seeds."""
        return {name: pair.distance(self.rng) for name, pair in self.pairs.items()}

    @cached_property
    def floor(self) -> SeedFloor | None:
        """Metrics between seeds of the network, or of the GDLN where there is no other."""
        return SeedFloor.of((self.gdln if self.network is None else self.network).losses)

    @property
    def seeds(self) -> int:
        """Networks of each kind."""
        return self.gdln.seeds

    @property
    def tolerance(self) -> float:
        """Largest allowed max |ΔL|/L(0)."""
        return float(self.derivation.spec.validation.tolerance)

    @property
    def judged(self) -> Judged:
        """Which curve the loss's verdict is about: "closed", "reduced" or "effective"."""
        return self.prediction.judged

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Every number that enters the prediction and is not in the spec."""
        return self.prediction.constants

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """Every curve by its name in curves.npz: one row, or one a seed."""
        prediction, runs = self.prediction, {"network": self.network, "gdln_aligned": self.aligned}
        found = {
            "theory": prediction.loss,
            "reduced": prediction.reduced,
            "gdln": self.gdln.losses,
            **{name: run.losses for name, run in runs.items() if run is not None},
        }
        if self.effective is not None:
            found["effective"] = self.effective.losses
            found["mean_field"] = self.effective.followed.mean(axis=0)
        if prediction.closed_loss is not None:
            found["closed_forms"] = prediction.closed_loss
        return found

    @property
    def agrees(self) -> bool:
        """Whether the loss agrees: then a command ends with exit code 0."""
        return self.verdict == "agrees"

    @property
    def verdict(self) -> str:
        """The outcome of the loss: "agrees", "disagrees", "undecided" or "not tested"."""
        return self.verdicts["loss"].outcome

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts of loss, modes and gates."""
        distances = {
            f"against the {self.trained_name(pair)}": self.intervals[pair].max_abs_over_initial
            for pair in reversed(self.judged_pairs)  # the network without given gates first
        }
        tolerance = self.tolerance
        return {
            "loss": loss_verdict(
                distances, tolerance, self.seeds, self.uninformative, self.error[0]
            ),
            "modes": self.modes_verdict,
            "gates": gates_verdict(self.gates, tolerance, self.rng, self.uninformative),
        }

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The judged pairs that disagree: none of their interval is within the tolerance."""
        return tuple(
            name
            for name in self.judged_pairs
            if outcome_of(self.intervals[name].max_abs_over_initial, self.tolerance) == "disagrees"
        )

    @property
    def network_name(self) -> str:
        """What the network is called."""
        return "ReLU network" if self.gdln.settings.activation == "relu" else "linear network"

    @property
    def judged_by(self) -> str:
        """The trained networks that seeds are compared of."""
        return "GDLN" if self.network is None else self.network_name

    def trained_name(self, pair: str) -> str:
        """Return what the trained side of a pair is called."""
        aligned = "GDLN that started aligned"
        names = {"relu": self.network_name, "gdln": "GDLN", "aligned": aligned}
        return names[pair.split("_vs_")[1]]

    def run(self, pair: str) -> TrainingRun:
        """Return the trained side of a pair."""
        run = {"relu": self.network, "aligned": self.aligned}.get(pair.split("_vs_")[1], self.gdln)
        assert run is not None  # a pair that was not trained has no distance
        return run

    def distance(self, pair: str) -> float | None:
        """Return max |ΔL|/L(0) of a pair, or None where it was not measured."""
        found = self.metrics.get(pair)
        return None if found is None else found.max_abs_over_initial

    @cached_property
    def numbers(self) -> Derivation:
        """The derivation at its parameters' values."""
        return self.derivation.ask(at_values)

    @property
    def no_network(self) -> str:
        """Why only GDLNs were trained, or ""."""
        return "" if self.network is not None else self.numbers.spec.gated_only

    @cached_property
    def narrow(self) -> tuple[NarrowOutcome, ...]:
        """Which modes the GDLN's narrow pathways hold at the last step."""
        return narrow_outcomes(self.numbers, self.gdln)

    @property
    def modes_verdict(self) -> Verdict:
        """The judgement of measured strengths by their formulas."""
        own = own_curves(self.derivation)
        if not own.holds:
            return not_tested(own.why, self.tolerance)
        names = {"gdln": "GDLN", "relu": self.network_name}
        return modes_verdict(
            self.modes, self.tolerance, names, self.rng, self.uninformative, self.error[1]
        )

    @property
    def gdln_bears_out(self) -> bool:
        """Whether the GDLN, which has the spec's gates and starts, is where its reduction is."""
        found = compare(self.prediction.reduced, self.gdln.mean_loss).max_abs_over_initial
        return found <= self.tolerance

    @cached_property
    def published(self) -> tuple[Row, ...]:
        """What is published for the same experiment, for a ready-made spec as it is."""
        spec = self.derivation.spec
        rows = PUBLISHED_ROWS.get(spec.source, ())
        return rows if rows and _is_ready_made(spec) else ()

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The table: curves compared, what seeds differ by, what is published and replaced."""
        pairs = (Row(pair=name, distance=found) for name, found in self.intervals.items())
        floor = self.floor
        seeds = () if floor is None else (Row(pair=FLOOR, distance=exactly(floor.mean)),)
        return (*pairs, *seeds, *self.published, *self.diagnosis)

    @cached_property
    def failing(self) -> dict[str, tuple[Row, ...]]:
        """The rows of every pair that disagrees, by its name."""
        pairs = dict.fromkeys(row.pair for row in self.diagnosis)
        return {pair: tuple(r for r in self.diagnosis if r.pair == pair) for pair in pairs}

    @cached_property
    def failed(self) -> dict[str, tuple[str, ...]]:
        """The assumptions that fail for every such pair; none where it is unexplained."""
        return {
            pair: tuple(dict.fromkeys(row.assumption for row in named(rows)))
            for pair, rows in self.failing.items()
        }


def _is_ready_made(spec: Spec) -> bool:
    """Whether the experiment is the ready-made one: no override, no file of the same name."""
    original = load(spec.source)
    return replace(spec, title=original.title, validation=original.validation) == original
