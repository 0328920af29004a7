"""A derivation confronted with trained networks: everything measured, and what it comes to.

What fails where the prediction disagrees is said by :mod:`symreln.experiment.diagnosis`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from symreln.base.lazy import lazy
from symreln.base.processors import measured
from symreln.base.progress import phase
from symreln.base.records import Immutable, record
from symreln.claims.curves import Judged
from symreln.claims.narrow import own_curves
from symreln.experiment.aligned import (
    NarrowOutcome,
    PathwayAlignment,
    SplitNetwork,
    gdln_alignment,
    narrow_outcomes,
)
from symreln.experiment.comparing import JUDGED, CurvePair, other_pairs, theory_pairs
from symreln.experiment.gates_held import GatesHeld, gates_held
from symreln.experiment.measured_gates import GateLawMeasured
from symreln.experiment.metrics import Distance, GateDrift, Interval, SeedFloor, compare, exactly
from symreln.experiment.predictions import Predictions
from symreln.experiment.rows import FLOOR, PUBLISHED_ROWS, Row, named
from symreln.experiment.strengths import ModeMeasured, measured_strengths
from symreln.experiment.uninformative import Uninformative
from symreln.experiment.units_met import UnitsMet, met_looks
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
    from symreln.experiment.representation import RepresentationComparison

(diagnosis,) = lazy("experiment", "diagnosis")


@record(eq=False)
class Validation(Immutable, Predictions):
    """A derivation confronted with trained networks: all that was predicted, and what came of it.

    Attributes:
        network: The trained ReLU (or linear) networks; None where none was trained.
        gdln: The trained gated deep linear networks.
        aligned: A GDLN that started aligned with the modes, as closed forms assume, or None.
        ends: Name and last step of every stage that ends, as of
            :func:`symreln.experiment.gates_held.stage_ends`.
        rng: Seed of the random streams.
        diagnose: Whether to find out what fails where theory and training disagree.
        representations: What hidden layers hold; None where that was not asked for.
    """

    network: TrainingRun | None = None
    gdln: TrainingRun
    aligned: TrainingRun | None = None
    ends: tuple[tuple[str, int], ...] = ()
    rng: int
    diagnose: bool = False
    representations: RepresentationComparison | None = None

    def having(self, **more: Any) -> Self:
        """Return the same with other fields, which nothing that was measured depends on."""
        made = object.__new__(type(self))
        vars(made).update(vars(self) | more)
        return made

    @property
    def _trained(self) -> dict[str, TrainingRun]:
        return {"gdln": self.gdln} | ({} if self.network is None else {"relu": self.network})

    @measured
    def theory_pairs(self) -> dict[str, CurvePair]:
        """The judged curve beside every kind of trained network: "theory_vs_…"."""
        return theory_pairs(self, self._trained)

    @measured
    def pairs(self) -> dict[str, CurvePair]:
        """Every pair of curves that is compared, by their names in validation.json.

        "closed_vs_…" and "reduced_vs_…" are both of the theory's; "effective_vs_relu" is the
        effective network, "mean_field_vs_relu" all units that are followed for it, "flow_vs_…" the
        reduction by infinitely small steps, "…_vs_aligned" what starts as closed forms assume.
        """
        return self.theory_pairs | other_pairs(self, self._trained, self.aligned)

    @measured
    def gates(self) -> GatesHeld | str:
        """Share of the weight with a gate of the spec, or why gates are not tested."""
        return gates_held(self.numbers, self.network, self.ends)

    @measured
    def met(self) -> UnitsMet | None:
        """Whether units are where the effective network has them; None where gates are given."""
        looks = met_looks(self.numbers)
        return UnitsMet.of(self.numbers, self.network, looks) if looks else None

    @measured
    def gdln_alignment(self) -> tuple[PathwayAlignment, ...]:
        """How far the GDLN's pathways are aligned with their modes: one entry a pathway."""
        return gdln_alignment(self.numbers.last, self.gdln) if "maps" in self.gdln.snapshots else ()

    @measured
    def drift(self) -> GateDrift | None:
        """How far the network's gates move; None where it has none."""
        if (run := self._relu) is None:
            return None
        active, weight = run.snapshots["activity"], run.snapshots["contribution"]
        return GateDrift.of(active, weight, run.snapshot_steps, run.losses)

    @measured
    def split(self) -> SplitNetwork | None:
        """The networks seen as pathways, units given to the nearest gate; None likewise."""
        return None if self._relu is None else SplitNetwork.of(self.numbers.last, self._relu)

    @property
    def _relu(self) -> TrainingRun | None:
        """The trained networks where they have gates, and these were recorded."""
        run = self.network
        return None if run is None or "activity" not in run.snapshots else run

    @measured
    def law(self) -> GateLawMeasured | None:
        """The law of gates beside the networks' gates; None where there is no law or no gates."""
        with phase("law of gates"):
            return GateLawMeasured.of(self.numbers, self.network)

    @measured
    def modes(self) -> tuple[ModeMeasured, ...]:
        """Every mode's measured strength beside its prediction, where maps were recorded."""
        return measured_strengths(self.numbers, self.judged_curves, self.network, self.gdln)

    @measured
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
        return tuple(name for name in judged if name in self.theory_pairs)

    @measured
    def metrics(self) -> dict[str, Distance[Any]]:
        """The distance of every pair of curves."""
        return {name: pair.comparison() for name, pair in self.pairs.items()}

    @measured
    def judged_intervals(self) -> dict[str, Distance[Interval]]:
        """Metrics of the judged pairs with intervals for the mean over all seeds."""
        return {name: self.theory_pairs[name].distance(self.rng) for name in self.judged_pairs}

    @measured
    def intervals(self) -> dict[str, Distance[Interval]]:
        """The same of every pair."""
        known = self.judged_intervals
        return {name: known.get(name) or p.distance(self.rng) for name, p in self.pairs.items()}

    @measured
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
        return self.judged_curves.judged

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Every number that enters the prediction and is not in the spec."""
        return self.judged_curves.constants

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
        return self.loss_verdict.outcome

    @measured
    def loss_verdict(self) -> Verdict:
        """The judgement of the loss."""
        distances = {
            f"against the {self.trained_name(pair)}": found.max_abs_over_initial
            for pair, found in reversed(self.judged_intervals.items())  # the ReLU network first
        }
        return loss_verdict(
            distances, self.tolerance, self.seeds, self.uninformative, self.error[0]
        )

    @measured
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts of loss, modes and gates."""
        return {
            "loss": self.loss_verdict,
            "modes": self.modes_verdict,
            "gates": gates_verdict(self.gates, self.tolerance, self.rng, self.uninformative),
        }

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The judged pairs that disagree: none of their interval is within the tolerance."""
        return tuple(
            name
            for name, found in self.judged_intervals.items()
            if outcome_of(found.max_abs_over_initial, self.tolerance) == "disagrees"
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

    @property
    def no_network(self) -> str:
        """Why only GDLNs were trained, or ""."""
        return "" if self.network is not None else self.numbers.spec.gated_only

    @measured
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

    @measured
    def published(self) -> tuple[Row, ...]:
        """What is published for the same experiment, for a ready-made spec as it is."""
        spec = self.derivation.spec
        if not (rows := PUBLISHED_ROWS.get(spec.source, ())):
            return ()
        original = load(spec.source)  # no override, no file of the same name
        same = replace(spec, title=original.title, validation=original.validation) == original
        return rows if same else ()

    @measured
    def rows(self) -> tuple[Row, ...]:
        """The table: curves compared, what seeds differ by, what is published and replaced."""
        pairs = (Row(pair=name, distance=found) for name, found in self.intervals.items())
        floor = self.floor
        seeds = () if floor is None else (Row(pair=FLOOR, distance=exactly(floor.mean)),)
        return (*pairs, *seeds, *self.published, *self.diagnosis)

    @measured
    def diagnosis(self) -> tuple[Row, ...]:
        """What was replaced where theory and training disagree, and what it left."""
        return tuple(diagnosis.failing_rows(self)) if self.diagnose else ()

    @measured
    def failing(self) -> dict[str, tuple[Row, ...]]:
        """The rows of every pair that disagrees, by its name."""
        pairs = dict.fromkeys(row.pair for row in self.diagnosis)
        return {pair: tuple(r for r in self.diagnosis if r.pair == pair) for pair in pairs}

    @measured
    def failed(self) -> dict[str, tuple[str, ...]]:
        """The assumptions that fail for every such pair; none where it is unexplained."""
        return {
            pair: tuple(dict.fromkeys(row.assumption for row in named(rows)))
            for pair, rows in self.failing.items()
        }
