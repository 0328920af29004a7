"""Which gates: found, raced and replayed."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from symreln.base.jsonio import dumps
from symreln.base.progress import phase
from symreln.base.records import record
from symreln.calls.answers import AbstractAnswer
from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.explanation.spec_replay import spec_replay
from symreln.gating.algorithm_one import network_gates
from symreln.gating.exact_finders import all_gates, selected
from symreln.gating.gate_figures import race_figure
from symreln.gating.race_report import RaceReport
from symreln.gating.serialise import Result
from symreln.pipeline.derive import with_pathways
from symreln.report.encode import Encoder
from symreln.report.written_spec import spec_toml
from symreln.specs.files import parse_toml
from symreln.specs.finding import nearest, shown
from symreln.specs.reader import read_spec
from symreln.specs.spec import Spec, ValidationSpec
from symreln.task_library.load import spec_of

#: The ways to find gates: functions of a spec without free parameters, whose parameters are the
#: options that a method hears. What they return has ``pathways``, of a spec with these gates.
_FINDERS = {"enumerate": all_gates, "self-consistent": selected, "kmeans": network_gates}


@record(eq=False)
class GateAnswer(AbstractAnswer):
    """What :func:`symreln.gates`, :func:`symreln.race` and :func:`symreln.replay` found.

    Attributes:
        found: The result with its exact values.
        spec: What was asked about.
    """

    found: Result
    spec: Spec

    def to_json(self) -> dict[str, Any]:
        """Return what gates.json, race.json or replay.json says."""
        return Encoder(self.spec)(self.found)

    def files(self) -> dict[str, str | bytes]:
        """Return the JSON, a spec of gates that were found, and the figure, by file name."""
        found: dict[str, str | bytes] = {self.found.file: dumps(self.to_json())}
        drawn = race_figure(self.found) if isinstance(self.found, RaceReport) else None
        if drawn:
            found[f"{drawn.name}.svg"] = drawn.svg
        return found

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield from self.found.lines()


@record(eq=False)
class FoundGates(GateAnswer):
    """Gates that were found, and a spec with them.

    Attributes:
        method: How.
    """

    method: str

    def to_toml(self) -> str:
        """Return a spec with these gates as the text of a file; "" where none is so small."""
        pathways, network = getattr(self.found, "pathways", ()), self.spec.network
        if network is not None and any(each.stage > 1 for each in pathways):
            network = replace(network, training="staged")
        said = replace(
            self.spec,
            title=f"{self.spec.title}: gates found ({self.method})",
            pathways=tuple(pathways),
            network=network,
            validation=ValidationSpec(),
            graph=None,
            sizes=(),
            find="",
        )
        return spec_toml(said) if pathways else ""

    def to_spec(self) -> Spec:
        """Return a spec with these gates.

        Raises:
            InputError: There is none: no gate was found, or there are too many.
        """
        text = self.to_toml()
        if not text:
            msg = "gates: there is no spec of these gates: none was found, or there are too many"
            raise InputError(msg)
        return read_spec(parse_toml(text.encode(), "gates.toml")[0], tasks=())

    def files(self) -> dict[str, str | bytes]:
        """Return gates.json and, of gates that are so few, gates.toml."""
        text = self.to_toml()
        return super().files() | ({"gates.toml": text} if text else {})


def gates(
    spec: Spec | str | os.PathLike[str],
    method: str = "self-consistent",
    *,
    rng: int = 0,
    stages: int = 8,
    limit: int | None = None,
    seeds: int = 20,
    clusters: int | None = None,
    every: int = 100,
) -> FoundGates:
    """Find the gates of a dataset, at the declared values of its parameters.

    Exactly, from the data; or as trained networks show them. The files are gates.json and
    gates.toml, a spec that `symreln derive` takes.

    Args:
        spec: A spec, its file or its name. Whose data; networks are trained as it says.
        method: enumerate: all that the data allow; self-consistent: those that early training
            selects; kmeans: those of trained networks (Algorithm 1 of the paper).
        rng: Seed of everything random.
        stages: Stages to follow at most.
        limit: Gates above which to stop.
        seeds: Networks to train and cluster.
        clusters: Number of clusters; by default the number with the largest mean silhouette.
        every: Updates between two looks at a network.

    Raises:
        InputError: An unknown method, an option that it does not hear, or a parameter without a
            value.

    Example:
        >>> import symreln as sr
        >>> found = sr.gates(sr.load("xor"), "enumerate")
        >>> print(next(found.lines()))
        9 gates
        >>> len(found.to_spec().pathways)
        8
    """
    given = {key: value for key, value in locals().items() if key not in ("spec", "method")}
    spec = spec_of(spec, "gates")
    finder = _FINDERS.get(str(method))
    if finder is None:
        known = nearest(str(method), [*_FINDERS])
        msg = f"gates: found {shown(method)}, expected a method. {known}"
        raise InputError(msg)
    heard, known = (inspect.signature(each).parameters for each in (finder, gates))
    for name, value in given.items():
        if name not in ("rng", *heard) and value != known[name].default:
            msg = f'gates: {name} has no meaning with method="{method}". Leave it out'
            raise InputError(msg)
    asked: dict[str, Any] = {name: value for name, value in given.items() if name in heard}
    with phase("finding gates"):
        found = finder(_at_values("gates", spec), **asked)
    return FoundGates(found=found, spec=spec, method=method)


def race(
    spec: Spec | str | os.PathLike[str],
    over: str | None = None,
    *,
    by: str | None = None,
    stage: int = 1,
    limit: int | None = None,
    seeds: int = 0,
    points: int = 3,
    rng: int = 0,
) -> GateAnswer:
    """Say which self-consistent gate is fastest, for all values of a parameter at once.

    The files are race.json and race.svg. With seeds ReLU networks are trained in every interval
    between boundaries, and the terminal and race.json say which gates they take: finding 1 of the
    paper. With a label gates race that are open in m of its values.

    Args:
        spec: A spec with parameters, its file or its name.
        over: The parameter; the only one by default.
        by: A label: race gates that are open on subsets of its values instead; with ``over`` for
            all values of the parameter, else at the declared values.
        stage: Whose residual is learned.
        limit: Gates above which to stop.
        seeds: Networks to train at every point.
        points: Values of the parameter in each interval, where networks are trained.
        rng: Seed of the networks.

    Raises:
        InputError: No parameter, or no stage, is meant; or networks are asked for and the spec has
            none.

    Example:
        >>> import symreln as sr
        >>> found = sr.race(sr.load("xor"), over="Delta")
        >>> found.to_json()["winner_proven"]
        True
    """
    spec = spec_of(spec, "race")
    for name, unheard in (("limit", limit is not None), ("points", not over and points != 3)):
        if by is not None and unheard:
            alone = " without over" if name == "points" else ""
            msg = f"race: {name} has no meaning with by{alone}. Leave it out"
            raise InputError(msg)
    if seeds:
        network_of(spec)
    with phase("racing gates"):
        asked: dict[str, Any] = {"stage": stage, "limit": limit, "seeds": seeds}
        if by is not None and over is None:
            spec = _at_values("race", spec)
        found = RaceReport.of(spec, over, label=by, points=points, rng=rng, **asked)
    return GateAnswer(found=found, spec=spec)


def replay(
    spec: Spec | str | os.PathLike[str],
    *,
    curve: bool = False,
    seeds: int = 2,
    every: int | None = None,
    rng: int = 0,
) -> GateAnswer:
    """Train ReLU networks, then train them again with the spec's gates in place of their own.

    From the same initial weights; each unit takes the gate that it ends nearest to. Masks on inputs
    and outputs and stages are not used: a network has none. The file is replay.json.

    Args:
        spec: A spec with a network, its file or its name; its parameters take their declared
            values.
        curve: Whether to replay every unit's own gates too, by time windows, and few units for all.
        seeds: Networks that are replayed.
        every: Updates between two looks at a network, with the curve.
        rng: Seed of the networks.

    Raises:
        InputError: A parameter has no value, or the network or a gate does not fit.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("xor", {"network.hidden": 40, "network.steps": 200})
        >>> sr.replay(small).to_json()["seeds"]
        2
    """
    spec = spec_of(spec, "replay")
    numbers = with_pathways(_at_values("replay", spec))
    with phase("replaying"):
        found = spec_replay(numbers, curve=curve, seeds=seeds, every=every, rng=rng)
    return GateAnswer(found=found, spec=numbers)


def _at_values(command: str, spec: Spec) -> Spec:
    """Return a spec at its declared values.

    Raises:
        InputError: A parameter has none.
    """
    left = [parameter.given for parameter in spec.parameters if parameter.value is None]
    if left:
        rather = ", or ask for `symreln race`" if command == "gates" else ""
        msg = (
            f"{command}: {', '.join(left)} has no value. Declare one, e.g. "
            f"--set parameters.{left[0]}.value=1{rather}"
        )
        raise InputError(msg)
    return spec.at_values()
