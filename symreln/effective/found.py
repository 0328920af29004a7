"""What the data alone say of a ReLU network: its gates, its effective units, and their timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.base.summaries import few
from symreln.claims.balls import half_time
from symreln.claims.claim import Claim
from symreln.claims.constants import Constant
from symreln.claims.curves import Prediction
from symreln.claims.derivation import Derivation
from symreln.claims.integration import gate_floats
from symreln.claims.lines import DerivationLines
from symreln.claims.prediction import closed_forms
from symreln.document.document_model import Block, Details, Figure, Strong, Table
from symreln.document.typeset import say
from symreln.effective.gate_flows import state_lines
from symreln.effective.network import (
    COMPARED,
    EPSILON,
    REDUCED,
    EffectiveNetwork,
    descent_of,
    effective_network,
    effective_of,
)
from symreln.effective.timeline import Drop, timeline_of_units
from symreln.errors import InputError
from symreln.laws.line import checked
from symreln.networks.dataset import Dataset
from symreln.networks.nearest_gates import nearest_gates
from symreln.networks.pathway import PathwaySpec
from symreln.specs.finding import counted
from symreln.specs.spec import Spec
from symreln.verdict.faces import held_on

#: Samples, inputs and boundary samples above which a gate is not certified.
_MOST_CERTIFIED = (200, 16, 8)
#: Samples above which JSON has no patterns.
_MOST_PATTERN = 2000
#: Steps at which the loss is given in JSON and figures.
_SHOWN = 400


@record
class _FoundUnit(Claim):
    """A pathway whose gate comes from the data.

    Attributes:
        name: Of the pathway.
        stage: Its stage.
        kind: A neuron where one unit stands for those of the gate, else a pathway with modes.
        gate: 1 open, 0 closed, / on the boundary, one a sample; None of many samples.
        opened: On how many samples it is open.
        share: Of the strength at the horizon; None of a later stage.
        speed: Largest singular value of its correlation, in units of 1/τ.
        certified: Whether a direction with this gate is proven to grow and to keep it; None where
            that was not asked.
        half_time: Steps to half of its first mode's plateau by the closed form; None without one.
    """

    name: str
    stage: int
    kind: Literal["neuron", "pathway"]
    gate: str | None
    opened: int
    share: float | None
    speed: float | None
    certified: bool | None
    half_time: float | None


@record(eq=False)
class FromData(Claim):
    """The effective network of a derivation whose gates come from the data.

    Attributes:
        network: The effective network.
        spec: Without free parameters.
        half_times: Steps to half of the plateau of each pathway's first mode, by name.
    """

    network: EffectiveNetwork
    spec: Spec
    half_times: Mapping[str, float]

    @cached_property
    def halved(self) -> float:
        """By how much halving ε changes the loss, over L(0)."""
        other = effective_network(
            *self.spec.dataset.arrays,
            descent_of(self.spec),
            epsilon=EPSILON / 2,
            way=self.network.way,
            draws=COMPARED,
        )
        same = self.network.drawn[:COMPARED].mean(axis=0)
        return 1.0 if other is None else float(np.abs(other.losses - same).max() / same[0])

    @cached_property
    def within(self) -> float:
        """The largest one of that, the change by the reduction, and the Monte Carlo error."""
        changed = 0.0 if self.is_whole else self.network.tried[-1][-1]
        return max(self.halved, changed, self.network.error)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is reduced."""
        return self.network.way.name == "whole"

    @property
    def turned(self) -> float:
        """Share of the strength along leading directions of gates at the horizon."""
        return sum(group.share * group.leading for group in self.network.groups)

    @cached_property
    def units(self) -> tuple[_FoundUnit, ...]:
        """The pathways."""
        return tuple(map(self._unit, self.spec.pathways))

    @property
    def constants(self) -> tuple[Constant, ...]:
        """What enters the predicted loss beside the spec."""
        draws, name = self.network.drawn, "loss of the effective network, over L(0)"
        origin = f"{len(draws)} draws of its units"
        return (Constant.estimated(name, None, self.network.error, origin),)

    def values(self) -> dict[str, Any]:
        """Return what derivation.json says of it; the timeline is a key of its own."""
        return {
            "by": "data",
            "epsilon": EPSILON,
            "epsilon_halved": self.halved,
            "horizon_steps": self.network.horizon,
            "count": self.network.count,
            "reduced": not self.is_whole,
            "turned": self.turned,
            "within": self.within,
            "tried": [
                {"way": way, "count": count, "within": apart}
                for way, count, apart in self.network.tried
            ],
            "units": [each.values() for each in self.units],
            "loss": {
                "steps": self.shown_steps.tolist(),
                "mean": self.network.losses[self.shown_steps].tolist(),
            },
        }

    @property
    def shown_steps(self) -> np.ndarray:
        """Steps at which the loss is given in JSON and figures."""
        last = len(self.network.losses) - 1
        return np.unique(np.linspace(0, last, _SHOWN).round().astype(int))

    @property
    def sentence(self) -> str:
        """Which gates, which effective network, and what is known of its error."""
        network, hidden = self.network, descent_of(self.spec).hidden
        names = few([each.name for each in self.units], 6)
        size = counted(network.count, "neuron" if network.way.name == "neurons" else "unit")
        what = f"an effective network of {size} in place of {hidden} units"
        if self.is_whole:
            what = (
                f"the {counted(network.count, 'unit')} that were followed, for no fewer that "
                f"were tried keep it within {percent(REDUCED)}"
            )
        felt = f"from step {network.horizon} on"
        if not network.horizon:
            felt = "from the start on, for initial weights are large and gates are those drawn"
        drops = "" if self.timeline else "; it does not drop within the training"
        return (
            f"gates from the data: {names}. The loss is predicted by {what}, {felt}; ε, the "
            f"reduction and the draws change it by at most {percent(self.within)} of L(0) each"
            f"{drops}"
        )

    def lines(self) -> Iterator[str]:
        """Say it on the terminal, with the timeline."""
        yield self.sentence
        yield from (f"  {drop.sentence}" for drop in self.timeline[:10])

    def says(self) -> Iterator[Block]:
        """Say it on the first page: the sentence, the timeline, and the units in a fold."""
        yield say("{said}", said=Strong(f"{self.sentence[:1].upper()}{self.sentence[1:]}."))
        if self.timeline:
            yield Table(
                header=("fastest at step", "units that grow have the gate of", "before", "after"),
                rows=tuple(
                    (str(d.step), few(d.units, 4), _share(d.loss_before), _share(d.loss_after))
                    for d in self.timeline
                ),
                caption="The timeline, from the data alone: drops of the loss, and losses over "
                "L(0) before and after.",
                alignment="rlrr",
            )
            yield Figure(
                name="timeline",
                alt="Share of the units' strength that has each gate, over training.",
                caption="Gates over time, from the data alone: each row is the share of the units' "
                "strength that is nearest to a gate, from none (light) to all (dark).",
            )
        yield Figure(
            name="predicted",
            alt="Predicted loss over training.",
            caption="The loss predicted by the effective network.",
        )
        yield Details(summary="Gates from the data, and how many units", blocks=self._folded())

    def table(self, caption: str) -> Table:
        """Return the table of its gates."""
        certified = {True: "proven", False: "no", None: "not asked"}
        rows = tuple(
            (
                each.name,
                str(each.stage),
                str(each.opened),
                "–" if each.share is None else percent(each.share),
                "–" if each.speed is None else f"{each.speed:.4g}",
                certified[each.certified],
                "–" if each.half_time is None else f"{each.half_time:.5g}",
            )
            for each in self.units
        )
        return Table(
            header=("gate", "stage", "open", "share", "speed", "keeps it", "half-time"),
            rows=rows,
            caption=caption,
            alignment="llrrrlr",
        )

    def _folded(self) -> tuple[Block, ...]:
        tried = tuple((way, str(n), percent(apart)) for way, n, apart in self.network.tried)
        closed = any(way == "closed form" for way, *_ in tried)
        state = checked(state_lines(), "state at the horizon") if closed else ()
        title = "The state at the horizon, in closed form"
        derived = DerivationLines(derived=state, title=title, elsewhere=True)
        return (
            say(
                "Until outputs reach $\\epsilon$ of the targets each hidden unit grows alone. What "
                "the network does then is predicted from the second moment of what units carry in "
                "each gate: gradient descent on a few units with these moments. No network is "
                "trained for it, and no constant is set by hand; halving $\\epsilon$ changes the "
                "loss by {halved} of $L(0)$.",
                halved=percent(self.halved),
            ),
            self.table(
                "Gates: samples on which they are open, share of the strength at the "
                "horizon, growth rate in 1/τ, whether a direction is proven to keep it, and "
                "half-time in steps of its first mode by the closed form."
            ),
            Table(
                header=("way", "units", "change of the loss"),
                rows=tried,
                caption="How many units it takes: gates of nearly one direction taken together, "
                "with their leading directions alone (neurons), with the moment in closed form, or "
                "with those of units that were followed (moments); and by how much that changes "
                "the loss of all these units, over L(0).",
                alignment="lrr",
            ),
            *(derived.says() if state else ()),
        )

    def prediction(
        self, derivation: Derivation, grid: np.ndarray, factors: Mapping[str, Fraction]
    ) -> Prediction:
        """Return its loss at some steps, with the closed forms of its gates beside it.

        Args:
            derivation: Of the spec with these gates, without free parameters.
            grid: Steps, shape (times,).
            factors: As of :func:`symreln.claims.prediction.predict`.

        Raises:
            InputError: A step is later than the last one of training.
        """
        last = len(self.network.losses) - 1
        if grid[-1] > last:
            msg = (
                f"times: found {grid[-1]:g}; the effective network of gates from the data is "
                f"followed for network.steps, to step {last}. Raise network.steps"
            )
            raise InputError(msg)
        forms, network = closed_forms(derivation, grid, factors=factors), self.network
        steps = np.arange(len(network.losses))
        return Prediction(
            times=grid,
            reduced=np.interp(grid, steps, network.losses),
            method=f"effective network of {network.count} units from the data, step by step",
            closed_loss=None if forms is None else forms.closed_loss,
            modes=() if forms is None else forms.modes,
            judged="effective",
            constants=self.constants,
            drawn=np.array([np.interp(grid, steps, each) for each in network.drawn]),
        )

    def _unit(self, pathway: PathwaySpec) -> _FoundUnit:
        gate = _signs_of(pathway)
        first = pathway.stage == self.spec.pathways[0].stage
        data = self.spec.dataset
        share, count = self._held.get(pathway.name, (None, np.inf))
        certified, speed = None, None
        if first:
            inputs, targets = data.arrays
            speed = float(np.linalg.norm(targets @ (inputs * (gate > 0)).T / data.samples, 2))
            if may_certify(data, gate):
                found = held_on(data.inputs, data.targets, tuple(gate.tolist()))
                certified = found is not None
                speed = speed if found is None else found.pair.s.to_float()
        return _FoundUnit(
            name=pathway.name,
            stage=pathway.stage,
            kind="neuron" if self.network.way.name == "neurons" or count <= 1 else "pathway",
            gate="".join("/10"[sign] for sign in gate) if len(gate) <= _MOST_PATTERN else None,
            opened=int((gate > 0).sum()),
            share=share,
            speed=speed,
            certified=certified,
            half_time=self.half_times.get(pathway.name),
        )

    @cached_property
    def _held(self) -> dict[str, tuple[float, float]]:
        """Of each gate of the first stage its share, and how many units of a draw are nearest."""
        stage = self.spec.pathways[0].stage
        first = [pathway for pathway in self.spec.pathways if pathway.stage == stage]
        inputs, look = self.spec.dataset.arrays[0], self.network.looks[0]
        nearest = nearest_gates(look.seen(inputs), np.array([gate_floats(p) for p in first]))
        sizes = look.sizes(inputs)
        strength = np.bincount(nearest, sizes, len(first)) / sizes.sum()
        count = np.bincount(nearest, sizes > 0, len(first)) / len(look.units)
        pairs = zip(strength.tolist(), count.tolist(), strict=True)
        return dict(zip([p.name for p in first], pairs, strict=True))

    @cached_property
    def strengths(self) -> np.ndarray:
        """Strength of the units nearest to each pathway's gate, a draw, shape (looks, pathways)."""
        gates = np.array([gate_floats(pathway) for pathway in self.spec.pathways])
        inputs = self.spec.dataset.arrays[0]
        found = np.zeros((len(self.network.looks), len(gates)))
        for row, look in zip(found, self.network.looks, strict=True):
            nearest = nearest_gates(look.seen(inputs), gates)
            np.add.at(row, nearest, look.sizes(inputs) / len(look.units))
        return found

    @cached_property
    def timeline(self) -> tuple[Drop, ...]:
        """The drops of the loss, each with the gate whose units grow most meanwhile."""
        looks = [look.step for look in self.network.looks]
        named = [(each.name, each.gate) for each in self.units]
        return timeline_of_units(self.network.losses, looks, self.strengths, named)

    @classmethod
    def of_units(cls, network: EffectiveNetwork, numbers: Derivation) -> FromData:
        """Return what an effective network says of a derivation with its gates.

        Args:
            network: The effective network.
            numbers: Without free parameters.
        """
        return cls(network=network, spec=numbers.spec, half_times=_half_times(numbers))


def _share(loss: float) -> str:
    """Return a loss over L(0) in percent; what is below a thousandth of one is 0."""
    return percent(round(loss, 5))


def may_certify(data: Dataset, gate: np.ndarray) -> bool:
    """Whether it is asked exactly if units keep a gate of so many samples.

    Args:
        data: Without free parameters.
        gate: 1 open, 0 on the boundary, -1 closed, shape (P,).
    """
    sizes = (data.samples, data.n_x, int((gate == 0).sum()))
    return all(size <= most for size, most in zip(sizes, _MOST_CERTIFIED, strict=True))


def _signs_of(pathway: PathwaySpec) -> np.ndarray:
    """Return a gate's signs: 1 open, 0 on the boundary, -1 closed, shape (P,)."""
    signs = np.array([1 if gain else -1 for gain in pathway.gate])
    signs[list(pathway.boundary)] = 0
    return signs


def from_data(numbers: Derivation) -> FromData:
    """Return the effective network of a derivation whose gates come from the data.

    Args:
        numbers: Without free parameters.

    Raises:
        InputError: No unit grows in the steps of the network.
    """
    network = effective_of(numbers.spec)
    if network is None:
        msg = (
            "effective network: no hidden unit grows within network.steps. Raise network.steps or "
            "network.init_std"
        )
        raise InputError(msg)
    return FromData.of_units(network, numbers)


def _half_times(derivation: Derivation) -> dict[str, float]:
    """Return when the first mode of each pathway has half risen, where a closed form says it."""
    first = {pathway.name: pathway.modes[0] for pathway in derivation.pathways}
    found = {
        name: half_time(derivation, mode, 6).decimal
        for name, mode in first.items()
        if mode.strength is not None and not mode.is_null
    }
    return {name: float(decimal[0]) for name, decimal in found.items() if decimal is not None}
