"""Findings 2 and 3: strictly modular against mixed-selective pathways, and both together.

Three gated deep linear networks learn the same data: *modular*, one pathway a value of a label
(context); *mixed*, one pathway that is always open and, for each value, one that is closed there
and sees the item inputs only (stage 2); *both*, all of these. Which one is first is a question of
how far: the time to lose a tenth of the loss, a half, nine tenths, 99 hundredths. Theory takes the
coupled reduction through gradient descent's own steps, from half of the hidden units a pathway, and
nothing is fitted; measured are gated deep linear networks from random weights, and ReLU networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Any

import numpy as np
import sympy as sp

from symreln.base.summaries import short_repr
from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.prediction import predict_training
from symreln.claims.solve import at_values
from symreln.experiment.training import gated_pathways, train_gated
from symreln.gating.label_race import count_observer, label_values
from symreln.gating.observed import observe
from symreln.gating.serialise import Page, Result, table
from symreln.pipeline.derive import derive
from symreln.specs.model import Dataset, PathwaySpec, Spec
from symreln.train.record import Recording

#: Loss over the initial one at which times are compared: the last two say who is done first.
LEVELS = (0.9, 0.5, 0.1, 0.01)
#: Input group that pathways closed on one value see; all inputs where there is none.
ITEMS = "items"
#: Standard errors, and steps, within which two measured times are not told apart.
WITHIN = 2.0
#: Stands for a step that is never reached.
LATE = 1 << 60


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rival(Result):
    """One architecture.

    Attributes:
        name: "modular", "mixed" or "both".
        pathways: How many pathways it has.
        fastest: Largest singular value of its pathways, each on its own stage; over the spec's
            parameters.
        slowest: The smallest one that learns.
        theory: First step at which the predicted loss is at each of the levels, or None.
        measured: The same for the mean over trained gated deep linear networks.
        errors: Standard errors of these times over seeds.
        distance_to_network: max |ΔL|/L(0) between their mean and that of the ReLU networks.
        shares: Share of the weight ‖w1‖‖w2‖ at the end by kind of pathway.
    """

    name: str
    pathways: int
    fastest: sp.Expr
    slowest: sp.Expr
    theory: tuple[int | None, ...]
    measured: tuple[int | None, ...]
    errors: tuple[float, ...] = field(metadata={"prose": True})
    distance_to_network: float
    shares: dict[str, float]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Contest(Result):
    """The three architectures on one spec.

    Attributes:
        rivals: Modular, mixed, both.
        network: First step at which the mean loss of the ReLU networks is at each of the levels.
        taken: Share of the ReLU networks' weight at the end by number of values that a unit is
            open on, m = 0, 1, …
        seeds: Networks of each kind.
        title: What it is about.
    """

    JSON = ("*", "levels")
    file, levels = "rivals.json", LEVELS
    rivals: tuple[_Rival, ...]
    network: tuple[int | None, ...]
    taken: tuple[float, ...]
    seeds: int
    title: str = field(metadata={"prose": True})

    @property
    def tables(self) -> dict[str, Page]:
        """Theory's order, the measured order and the differences."""
        return {"rivals.md": _contest_table(self)}


def _rival_pathways(dataset: Dataset, label: str) -> dict[str, tuple[PathwaySpec, ...]]:
    """Return the pathways of the three architectures.

    Args:
        dataset: With the label.
        label: Whose values are the modules.
    """
    everything = tuple(range(dataset.n_x))
    items = dataset.input_groups.get(ITEMS, everything)
    outputs = tuple(range(dataset.n_y))
    held = dataset.labels[label]

    def pathway(name: str, opened: Callable[[object], bool], **more: Any) -> PathwaySpec:
        given = {"inputs": everything, "outputs": outputs, **more}
        return PathwaySpec(name=name, gate=tuple(int(opened(value)) for value in held), **given)

    values = label_values(dataset, label)
    modular = [pathway(f"only_{v}", lambda held_by, v=v: held_by == v) for v in values]
    mixed = [pathway("common", lambda _: True)]
    mixed += [
        pathway(f"off_{v}", lambda held_by, v=v: held_by != v, inputs=items, stage=2)
        for v in values
    ]
    return {"modular": tuple(modular), "mixed": tuple(mixed), "both": (*mixed, *modular)}


def contest(spec: Spec, label: str, seeds: int, rng: int, title: str = "") -> Contest:
    """Derive and train the three architectures and the ReLU network of a spec.

    Args:
        spec: With a network; its parameters have values. Its own pathways are not used.
        label: Whose values are the modules.
        seeds: Networks of each kind.
        rng: Seed of their weights.
        title: What it is about; the spec's title and values if empty.
    """
    if not title:
        title = ", ".join([spec.title, *(f"{key} = {value}" for key, value in spec.values.items())])
    at = spec.at_values()
    values = label_values(at.dataset, label)
    last = network_of(at).steps - 1
    looked = observe(
        at,
        seeds=seeds,
        rng=rng,
        observers={"m": count_observer(at.dataset, label)},
        steps=[last],
    )
    taken = looked.class_shares("m", len(values) + 1).mean(axis=0)[0]
    rivals = tuple(
        _rival(name, replace(spec, pathways=pathways), looked.curve, seeds, rng)
        for name, pathways in _rival_pathways(at.dataset, label).items()
    )
    return Contest(
        rivals=rivals,
        network=_times_to(looked.curve),
        taken=tuple(taken.tolist()),
        seeds=seeds,
        title=title,
    )


def _rival(name: str, spec: Spec, curve: np.ndarray, seeds: int, rng: int) -> _Rival:
    # The spec's own number of contexts: its pathways for every number are not these.
    derivation = derive(replace(spec, families=(), sizes=()))
    assert isinstance(derivation, Derivation)
    theory = predict_training(derivation.ask(at_values)).reduced
    at = spec.at_values()
    run = train_gated(
        at,
        {},
        seeds=seeds,
        rng=rng,
        record=Recording(quantities=("contribution",), steps=(network_of(at).steps - 1,)),
    )
    mean = run.mean_loss / run.mean_loss[0]
    fastest, slowest = _extremes(derivation)
    return _Rival(
        name=name,
        pathways=len(spec.pathways),
        fastest=fastest,
        slowest=slowest,
        theory=_times_to(theory / theory[0]),
        measured=_times_to(mean),
        errors=_errors(run.losses),
        distance_to_network=float(np.abs(mean - curve).max()),
        shares=_kinds(at, run.snapshots["contribution"][:, 0]),
    )


def _extremes(derivation: Derivation) -> tuple[sp.Expr, sp.Expr]:
    """Return the largest and the smallest s of modes that learn, by their value here."""
    values = derivation.spec.values
    found = [
        mode.s for pathway in derivation.pathways for mode in pathway.modes if not mode.is_null
    ]
    ordered = sorted(found, key=lambda s: s.to_float(values))
    return ordered[-1].to_sympy(), ordered[0].to_sympy()


def _kinds(spec: Spec, weights: np.ndarray) -> dict[str, float]:
    """Return the share of the weight by kind: the name of a pathway before its value."""
    shares: dict[str, float] = {}
    place = 0
    for pathway in gated_pathways(spec):
        own = weights[:, place : place + pathway.hidden].sum()
        kind = pathway.name.partition("_")[0]
        shares[kind] = shares.get(kind, 0.0) + float(own / weights.sum())
        place += pathway.hidden
    return shares


def _times_to(curve: np.ndarray) -> tuple[int | None, ...]:
    """Return the first step at which a loss over its start is at each of the levels, or None."""
    below = [curve <= level for level in LEVELS]
    return tuple(int(found.argmax()) if found.any() else None for found in below)


def _errors(losses: np.ndarray) -> tuple[float, ...]:
    """Return standard errors of the times over seeds; where one network never gets there, inf."""
    # A time that is None becomes nan, and so does its spread.
    times = np.array([_times_to(curve / curve[0]) for curve in losses], dtype=float)
    spread = times.std(axis=0, ddof=int(len(times) > 1)) / np.sqrt(len(times))
    return tuple(np.where(np.isnan(spread), np.inf, spread).tolist())


def _differ(found: Contest, place: int) -> str:
    """Return whether training puts two rivals in another order than theory: "yes", "no" or why not.

    Args:
        found: The contest.
        place: Of the level.
    """
    worst = "no"
    for one, two in combinations(found.rivals, 2):
        theory = _late(one.theory[place]) - _late(two.theory[place])
        apart = _late(one.measured[place]) - _late(two.measured[place])
        if theory * apart >= 0:
            continue
        error = float(np.hypot(one.errors[place], two.errors[place]))
        if abs(apart) > max(WITHIN * error, 1):
            return "**yes**"
        worst = f"not beyond errors ({one.name}, {two.name}: {abs(apart)} steps)"
    return worst


def _late(time: int | None) -> int:
    return LATE if time is None else time


def _order_text(times: Mapping[str, int | None]) -> str:
    """Return names by time as text, those at the same step with = between them.

    Those that never get there come last, in given order.
    """
    ranks = groupby(sorted(times, key=lambda name: _late(times[name])), key=times.get)
    return ", ".join(" = ".join(names) for _, names in ranks)


def _contest_table(found: Contest) -> Page:
    """Return theory's order, the measured order and the differences."""
    architectures = [
        ("architecture", lambda each: each.name),
        ("pathways", lambda each: each.pathways),
        ("fastest mode", lambda each: each.fastest),
        ("slowest mode", lambda each: each.slowest),
        (
            f"steps to {', '.join(map(str, LEVELS))} of L(0): theory",
            lambda each: _steps(each.theory),
        ),
        ("GDLN", lambda each: _steps(each.measured)),
        ("to the ReLU network", lambda each: f"{each.distance_to_network:.1%}"),
    ]

    def order(place: int, kind: str) -> str:
        return _order_text({each.name: getattr(each, kind)[place] for each in found.rivals})

    levels = [
        ("loss/L(0)", lambda place: LEVELS[place]),
        ("theory, earliest first", lambda place: order(place, "theory")),
        ("measured", lambda place: order(place, "measured")),
        ("differ", lambda place: _differ(found, place)),
    ]
    raced = table(found.rivals, architectures)
    relu = ("ReLU network", *["–"] * 4, _steps(found.network), "0")
    both = next(each for each in found.rivals if each.name == "both")
    shares = ", ".join(f"{kind} {share:.2f}" for kind, share in both.shares.items())
    taken = ", ".join(f"m = {m}: {share:.2f}" for m, share in enumerate(found.taken))
    return Page(
        [
            f"{found.title}, {found.seeds} networks of each kind:",
            "",
            replace(raced, cells=(*raced.cells, relu)),
            "",
            table(range(len(LEVELS)), levels),
            "",
            f"With both together the weight ends as {shares}. ReLU networks end with {taken}; "
            "m = 1 is strictly modular.",
        ]
    )


def _steps(times: tuple[int | None, ...]) -> str:
    return ", ".join("never" if time is None else str(time) for time in times)
