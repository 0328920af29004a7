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
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.solve import at_values
from symreln.experiment.trained import gated_pathways, training_settings
from symreln.gates.subsets import count_observer, count_shares, label_values
from symreln.gates.trained import train_and_look
from symreln.spec.model import PathwaySpec
from symreln.train.gdln import train_gdln
from symreln.train.record import Recording

if TYPE_CHECKING:
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.spec.model import Dataset, Spec

#: Loss over the initial one at which times are compared: the last two say who is done first.
LEVELS = (0.9, 0.5, 0.1, 0.01)
#: Input group that pathways closed on one value see; all inputs where there is none.
ITEMS = "items"
#: Standard errors, and steps, within which two measured times are not told apart.
WITHIN = 2.0
#: Stands for a step that is never reached.
LATE = 1 << 60

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rival:
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
        distance: max |ΔL|/L(0) between their mean and that of the ReLU networks.
        shares: Share of the weight ‖w1‖‖w2‖ at the end by kind of pathway.
    """

    name: str
    pathways: int
    fastest: AlgebraicNumber
    slowest: AlgebraicNumber
    theory: tuple[int | None, ...]
    measured: tuple[int | None, ...]
    errors: tuple[float, ...]
    distance: float
    shares: dict[str, float]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Contest:
    """The three architectures on one spec.

    Attributes:
        rivals: Modular, mixed, both.
        network: First step at which the mean loss of the ReLU networks is at each of the levels.
        taken: Share of the ReLU networks' weight at the end by number of values that a unit is
            open on, m = 0, 1, …
        seeds: Networks of each kind.
        values: The values of the label.
    """

    rivals: tuple[Rival, ...]
    network: tuple[int | None, ...]
    taken: tuple[float, ...]
    seeds: int
    values: tuple[object, ...]


def rival_pathways(dataset: Dataset, label: str) -> dict[str, tuple[PathwaySpec, ...]]:
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


def contest(spec: Spec, label: str, seeds: int, rng: int) -> Contest:
    """Derive and train the three architectures and the ReLU network of a spec.

    Args:
        spec: With a network; its parameters have values. Its own pathways are not used.
        label: Whose values are the modules.
        seeds: Networks of each kind.
        rng: Seed of their weights.
    """
    at = spec.at_values()
    values = label_values(at.dataset, label)
    last = network_of(at).steps - 1
    looked = train_and_look(
        at,
        seeds,
        rng,
        observers={"m": count_observer(at.dataset, label)},
        steps=np.array([last]),
    )
    taken = count_shares(looked.seen["m"], looked.weights, len(values)).mean(axis=0)[0]
    rivals = tuple(
        _rival(name, replace(spec, pathways=pathways), looked.curve, seeds, rng)
        for name, pathways in rival_pathways(at.dataset, label).items()
    )
    return Contest(
        rivals=rivals,
        network=times_to(looked.curve),
        taken=tuple(taken.tolist()),
        seeds=seeds,
        values=values,
    )


def _rival(name: str, spec: Spec, curve: np.ndarray, seeds: int, rng: int) -> Rival:
    import symreln
    from symreln.claims.prediction import predict_training

    # The spec's own number of contexts: its pathways for every number are not these.
    derivation = symreln.derive(replace(spec, families=(), sizes=()))
    assert isinstance(derivation, symreln.Derivation)
    theory = predict_training(derivation.ask(at_values)).loss
    at = spec.at_values()
    run = train_gdln(
        at.dataset.inputs.to_numpy(),
        at.dataset.targets.to_numpy(),
        gated_pathways(at),
        training_settings(at),
        training=network_of(at).training,
        seeds=seeds,
        rng=rng,
        record=Recording(quantities=("contribution",), steps=(network_of(at).steps - 1,)),
    )
    mean = run.mean_loss / run.mean_loss[0]
    fastest, slowest = _extremes(derivation)
    return Rival(
        name=name,
        pathways=len(spec.pathways),
        fastest=fastest,
        slowest=slowest,
        theory=times_to(theory / theory[0]),
        measured=times_to(mean),
        errors=_errors(run.losses),
        distance=float(np.abs(mean - curve).max()),
        shares=_kinds(at, run.snapshots["contribution"][:, 0]),
    )


def _extremes(derivation: Derivation) -> tuple[AlgebraicNumber, AlgebraicNumber]:
    """Return the largest and the smallest s of modes that learn, by their value here."""
    values = derivation.spec.values
    found = [
        mode.s for pathway in derivation.pathways for mode in pathway.modes if not mode.is_null
    ]
    ordered = sorted(found, key=lambda s: s.to_float(values))
    return ordered[-1], ordered[0]


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


def times_to(curve: np.ndarray) -> tuple[int | None, ...]:
    """Return the first step at which a loss over its start is at each of the levels, or None."""
    below = [curve <= level for level in LEVELS]
    return tuple(int(found.argmax()) if found.any() else None for found in below)


def _errors(losses: np.ndarray) -> tuple[float, ...]:
    """Return standard errors of the times over seeds; where one network never gets there, inf."""
    times = [times_to(curve / curve[0]) for curve in losses]
    found = []
    for at in zip(*times, strict=True):
        known = np.array([time for time in at if time is not None], dtype=float)
        spread = known.std(ddof=int(len(at) > 1)) if len(known) == len(at) else np.inf
        found.append(float(spread / np.sqrt(len(at))))
    return tuple(found)


def differ(found: Contest, place: int) -> str:
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


def order_of(times: Mapping[str, int | None]) -> tuple[str, ...]:
    """Return names by time, the first first; those that never get there last, in given order."""
    return tuple(sorted(times, key=lambda name: (times[name] is None, times[name] or 0)))


def order_text(times: Mapping[str, int | None]) -> str:
    """Return names by time as text, those at the same step with = between them."""
    names = order_of(times)
    text = names[0]
    for before, name in pairwise(names):
        text += (" = " if times[before] == times[name] else ", ") + name
    return text


def contest_table(found: Contest, title: str) -> str:
    """Return theory's order, the measured order and the differences, as Markdown.

    Args:
        found: The contest.
        title: What it is about.
    """
    lines = [
        f"{title}, {found.seeds} networks of each kind:",
        "",
        "| architecture | pathways | fastest mode | slowest mode | steps to 0.9, 0.5, 0.1, 0.01 of"
        " L(0): theory | GDLN | to the ReLU network |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in found.rivals:
        lines.append(
            f"| {each.name} | {each.pathways} | {each.fastest.to_sympy()} | "
            f"{each.slowest.to_sympy()} | {_steps(each.theory)} | {_steps(each.measured)} | "
            f"{each.distance:.1%} |"
        )
    lines.append(f"| ReLU network | – | – | – | – | {_steps(found.network)} | 0 |")
    lines += ["", "| loss/L(0) | theory, first first | measured | differ |", "|---|---|---|---|"]
    for place, level in enumerate(LEVELS):
        theory, measured = (
            order_text({each.name: getattr(each, kind)[place] for each in found.rivals})
            for kind in ("theory", "measured")
        )
        lines.append(f"| {level} | {theory} | {measured} | {differ(found, place)} |")
    both = next(each for each in found.rivals if each.name == "both")
    shares = ", ".join(f"{kind} {share:.2f}" for kind, share in both.shares.items())
    taken = ", ".join(f"m = {m}: {share:.2f}" for m, share in enumerate(found.taken))
    lines += [
        "",
        f"With both together the weight ends as {shares}. ReLU networks end with {taken}; m = 1 is "
        "strictly modular.",
        "",
    ]
    return "\n".join(lines)


def _steps(times: tuple[int | None, ...]) -> str:
    return ", ".join("never" if time is None else str(time) for time in times)


def contest_json(found: Contest) -> Json:
    """Return a contest as JSON."""
    return {
        "seeds": found.seeds,
        "levels": list(LEVELS),
        "network": list(found.network),
        "taken": list(found.taken),
        "rivals": [
            {
                "name": each.name,
                "pathways": each.pathways,
                "fastest": str(each.fastest.to_sympy()),
                "slowest": str(each.slowest.to_sympy()),
                "theory": list(each.theory),
                "measured": list(each.measured),
                "distance_to_network": each.distance,
                "shares": each.shares,
            }
            for each in found.rivals
        ],
    }
