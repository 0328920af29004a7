"""What a Python user calls beside deriving and validating: one call a command of the same name.

The commands print what these calls return.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.base.jsonio import dumps
from symreln.base.processors import cores
from symreln.base.progress import phase
from symreln.base.summaries import short_repr
from symreln.base.tables import plain_table
from symreln.errors import InputError
from symreln.experiment import depth as depths
from symreln.gating import races
from symreln.gating.finders import ALIASES, FINDERS
from symreln.gating.serialise import Page
from symreln.gating.spec_text import gates_toml
from symreln.report.chapters.depth import HEADER, depth_rows, depth_sentence, scatter_text
from symreln.report.encode import Encoder
from symreln.report.folder import write_files
from symreln.report.pages import markdown
from symreln.report.sweep import sweep_table, sweep_to_json
from symreln.specs.arguments import instance_of
from symreln.specs.arrays import plain
from symreln.specs.finding import nearest, shown
from symreln.specs.model import Spec
from symreln.specs.reader import read_spec
from symreln.specs.tomlfile import parse_toml
from symreln.sweeps import executors
from symreln.sweeps.plan import Plan, read_axes
from symreln.sweeps.run import Missing, Shard
from symreln.sweeps.run import sweep as do_missing
from symreln.sweeps.summary import Summary, SummaryRow, summarise

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from symreln.experiment.training import ProgressCallback
    from symreln.gating.serialise import Result
    from symreln.sweeps.run import Failure

#: Lines of a notebook's view that are not folded.
_OPEN = 12


class _Answer:
    """What all answers can do: files, JSON, and a view of a few lines."""

    def files(self) -> dict[str, str | bytes]:
        """Return what the command of the same name writes, by file name; JSON is among it."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return what its JSON file says."""
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        raise NotImplementedError

    def save(self, directory: str | Path) -> list[Path]:
        """Write the files of the command into a folder, made if it is not there."""
        return write_files(Path(directory), self.files())

    def _summary(self) -> list[str]:
        return list(self.lines())

    def _repr_html_(self) -> str:
        """Return the first lines, the others folded, and the figure, for a notebook."""
        lines = [escape(line) for text in self.lines() for line in text.splitlines()]
        first, more = "\n".join(lines[:_OPEN]), "\n".join(lines[_OPEN:])
        folded = f"<details><summary>more</summary><pre>{more}</pre></details>" if more else ""
        return f"<pre>{first}</pre>{folded}{''.join(self._figures())}"

    def _figures(self) -> Iterator[str]:
        for name, content in self.files().items():
            if name.endswith(".svg"):
                yield content if isinstance(content, str) else content.decode()


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GateAnswer(_Answer):
    """What :func:`symreln.gating`, :func:`symreln.race` and :func:`symreln.replay` found.

    Attributes:
        found: The result with its exact values.
        spec: What was asked about.
    """

    found: Result
    spec: Spec

    def to_json(self) -> dict[str, Any]:
        """Return what gates.json, race.json, subsets.json, rivals.json or replay.json says."""
        return Encoder.of(self.spec)(self.found)

    def files(self) -> dict[str, str | bytes]:
        """Return the JSON, its tables as Markdown and its figure, by file name."""
        # Here, because Matplotlib takes time to import.
        from symreln.report.gate_figures import figure_of

        drawn = figure_of(self.found)
        tables = {name: markdown(page) for name, page in self.found.tables.items()}
        figures = {f"{drawn.name}.svg": drawn.svg} if drawn else {}
        return {self.found.file: dumps(self.to_json()), **self._more(), **tables, **figures}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows: lines, then tables."""
        for line in self.found.shown():
            yield markdown(line).rstrip("\n") if isinstance(line, Page) else line
        for page in self.found.tables.values():
            yield markdown(page).rstrip("\n")

    def _more(self) -> dict[str, str | bytes]:
        return {}


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FoundGates(GateAnswer):
    """Gates that were found, and a spec with them.

    Attributes:
        method: How.
    """

    method: str

    def to_toml(self) -> str:
        """Return a spec with these gates as the text of a file; "" where none is so small."""
        pathways = getattr(self.found, "pathways", ())
        title = f"{self.spec.title}: gates found ({self.method})"
        return gates_toml(self.spec, pathways, title) if pathways else ""

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

    def _more(self) -> dict[str, str | bytes]:
        text = self.to_toml()
        return {"gates.toml": text} if text else {}


def gates(
    spec: Spec,
    method: str = "self-consistent",
    *,
    rng: int = 0,
    samples: int | None = None,
    stages: int = 8,
    limit: int | None = None,
    seeds: int | None = None,
    clusters: int | None = None,
    windows: int | None = None,
    every: int = 100,
) -> FoundGates:
    """Find the gates of a dataset, at the declared values of its parameters.

    Args:
        spec: Whose data; networks are trained as it says.
        method: "enumerate": all that the data allow; "self-consistent": those that early training
            selects; "kmeans" and "windows": those of networks that are trained.
        rng: Seed of everything random.
        samples: Draw so many directions instead of all gates.
        stages: Stages to follow at most.
        limit: Gates above which to stop.
        seeds: Networks to train: those that are clustered (20 by default, 5 in windows), or those
            that self-consistent gates are compared with (none by default).
        clusters: K; by default the number with the largest mean silhouette.
        windows: Time windows at most.
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
    instance_of(spec, Spec, "gates", 'sr.gates(sr.load("xor"), "self-consistent")')
    finder = next((each for each in FINDERS if each.name == ALIASES.get(method, method)), None)
    if finder is None:
        known = nearest(str(method), [each.name for each in FINDERS])
        msg = f"gates: found {shown(method)}, expected a method. {known}"
        raise InputError(msg)
    for name, parameter in inspect.signature(gates).parameters.items():
        unheard = name in given and name not in ("rng", *finder.options)
        if unheard and given[name] != parameter.default:
            msg = f'gates: {name} has no meaning with method="{finder.name}". Leave it out'
            raise InputError(msg)
    with phase("gates"):
        found = finder.find(at_values("gates", spec), finder.name, **given)
    return FoundGates(found=found, spec=spec, method=finder.name)


def race(
    spec: Spec,
    over: str | None = None,
    *,
    by: str | None = None,
    rivals: str | None = None,
    stage: int = 1,
    limit: int | None = None,
    seeds: int = 0,
    points: int = 3,
    rng: int = 0,
) -> GateAnswer:
    """Say which gate is fastest, for all values of a parameter at once.

    Args:
        spec: With parameters.
        over: The parameter; the only one by default.
        by: A label: race gates that are open on subsets of its values instead; with ``over`` for
            all values of the parameter, else at the declared values.
        rivals: A label: race one pathway a value of it against mixed-selective ones, and both.
        stage: Whose residual is learned.
        limit: Gates above which to stop.
        seeds: Networks to train at every point.
        points: Points in every interval.
        rng: Seed of the networks.

    Raises:
        InputError: No parameter, or no stage, is meant.

    Example:
        >>> import symreln as sr
        >>> found = sr.race(sr.load("xor"), over="Delta")
        >>> found.to_json()["winner_proven"]
        True
    """
    instance_of(spec, Spec, "race", 'sr.race(sr.load("xor"), over="Delta")')
    with phase("race"):
        if rivals is not None:
            at_values("race", spec)
            found = races.rivals(spec, rivals, seeds, rng)
        elif by is not None and over is None:
            found = races.by_label(at_values("race", spec), by, seeds, rng)
        else:
            asked: dict[str, Any] = {"stage": stage, "limit": limit, "seeds": seeds}
            found = races.over_parameter(spec, over, label=by, points=points, rng=rng, **asked)
    return GateAnswer(found=found, spec=spec)


def replay(
    spec: Spec, *, curve: bool = False, seeds: int = 2, every: int | None = None, rng: int = 0
) -> GateAnswer:
    """Train ReLU networks, then train them again with the spec's gates in place of their own.

    Args:
        spec: With a network; its parameters take their declared values.
        curve: Whether to cluster the units too: error by pathways and time windows.
        seeds: Networks that are replayed, and as many more that are clustered.
        every: Updates between two looks at a network.
        rng: Seed of the networks.

    Raises:
        InputError: A parameter has no value, or the network or a gate does not fit.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("xor", {"network.hidden": 40, "network.steps": 200})
        >>> sr.replay(small).to_json()["seeds"]
        2
    """
    from symreln.gating.replay import replay_report

    instance_of(spec, Spec, "replay", 'sr.replay(sr.load("xor"))')
    numbers = at_values("replay", spec)
    with phase("replay"):
        found = replay_report(numbers, curve=curve, seeds=seeds, every=every, rng=rng)
    return GateAnswer(found=found, spec=numbers)


def at_values(command: str, spec: Spec) -> Spec:
    """Return a spec at its declared values.

    Raises:
        InputError: A parameter has none.
    """
    left = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if left:
        rather = ", or ask for `symreln race`" if command == "gates" else ""
        msg = (
            f"{command}: {', '.join(left)} has no value. Declare one, e.g. "
            f"--set parameters.{left[0]}.value=1{rather}"
        )
        raise InputError(msg)
    return spec.at_values()


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class DepthAnswer(_Answer):
    """What :func:`symreln.depth` found.

    Attributes:
        found: The distributions over seeds.
    """

    found: depths.DepthComparison

    def to_json(self) -> dict[str, Any]:
        """Return what depth.json says."""
        from symreln.report.depth_figure import depth_to_json

        return depth_to_json(self.found)

    def files(self) -> dict[str, str | bytes]:
        """Return curves.npz, depth.svg, depth.html and depth.json, by file name."""
        from symreln.report.depth_figure import depth_files

        return depth_files(self.found)

    def table(self) -> tuple[str, list[str], list[list[str]]]:
        """Return title, header and rows: when losses fall."""
        many = f"{self.found.seeds} seeds"
        title = f"first step with a loss below a share of the first, {many}: quartiles"
        return title, list(HEADER), [list(row) for row in depth_rows(self.found)]

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield from plain_table(*self.table()).rstrip("\n").splitlines()
        yield from self.remarks()

    def remarks(self) -> Iterator[str]:
        """Yield what is said below the table."""
        yield scatter_text(self.found)
        yield depth_sentence(self.found)


def depth(
    spec: Spec,
    seeds: int = 50,
    rng: int = 0,
    progress: ProgressCallback | None = None,
    *,
    share: float | None = None,
    ready: Any = None,
) -> DepthAnswer:
    """Train deep ReLU networks and a gated network of the same depth, and compare distributions.

    Args:
        spec: Of nodes and edges with at least two hidden nodes on a path, with a network.
        seeds: Networks of each kind; at least 2.
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.
        share: Part of a layer's units that a gated node has; by default half for ReLU.
        ready: Called before the training with the widths and the units of the gated network.

    Raises:
        InputError: Fewer than two seeds, a parameter without a value, or training diverged.
        NotSupportedError: No graph, or one that no deep ReLU network is like.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("depth", {"network.hidden": 20, "network.steps": 100})
        >>> sr.depth(small, seeds=2).found.seeds
        2
    """
    instance_of(spec, Spec, "depth", 'sr.depth(sr.load("depth"))')
    return DepthAnswer(
        found=depths.compare_depth(spec, seeds, rng, progress, share=share, ready=ready)
    )


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SweepAnswer(_Answer):
    """What :func:`symreln.sweeps` found.

    Attributes:
        found: One row a combination.
        failures: What could not be done.
    """

    found: Summary
    failures: tuple[Failure, ...] = ()

    @property
    def rows(self) -> tuple[SummaryRow, ...]:
        """One a combination."""
        return self.found.rows

    def to_json(self) -> dict[str, Any]:
        """Return what sweep.json says."""
        return sweep_to_json(self.found)

    def files(self) -> dict[str, str | bytes]:
        """Return the figures and sweep.json, by file name."""
        from symreln.report.sweep_figure import sweep_figures

        figures = {f"{each.name}.svg": each.svg for each in sweep_figures(self.found)}
        return {**figures, "sweep.json": dumps(self.to_json())}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield from plain_table(*sweep_table(self.found)).rstrip("\n").splitlines()


def sweep(
    source: str | os.PathLike[str],
    over: Mapping[str, Sequence[object]] | Sequence[str],
    *,
    directory: str | Path,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    seeds: int = 8,
    rng: int = 0,
    workers: int | None = None,
    allow_outside: bool = False,
) -> SweepAnswer:
    """Validate a spec for all combinations of some keys' values, one file a network.

    What is done is kept in the folder: the same call again does only what is missing.

    Args:
        source: A spec file or the name of a ready-made spec, which other processes can read.
        over: Keys of the spec and their values: ``{"network.hidden": [50, 100]}``.
        directory: For the results; a sweep that is there goes on.
        overrides: ``key=value`` texts or a mapping, for all of it.
        seeds: Networks of each kind, a combination.
        rng: Seed of the random streams.
        workers: Processes; one a core by default.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        InputError: The folder holds another sweep, or a key or value is wrong.

    Example:
        >>> import symreln as sr, tempfile
        >>> small = {"network.hidden": 20, "network.steps": 50}
        >>> asked = {"over": {"network.init_std": ["1/100", "1/200"]}, "seeds": 1, "workers": 1}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(sr.sweep("xor", directory=folder, overrides=small, **asked).rows)
        2
    """
    if isinstance(source, Spec):
        msg = "sweep: found a Spec; give a spec file or the name of a ready-made one, which "
        raise InputError(msg + "other processes can read")
    told, texts = _texts(overrides), _texts(over)
    plan = Plan(
        source=str(source),
        overrides=told,
        axes=read_axes(texts, told),
        seeds=seeds,
        rng=rng,
        allow_outside=allow_outside,
        folder=Path(directory),
    )
    plan.settle()
    count = workers or cores()
    left = Missing.of(plan, Shard().seeds(plan))
    return summary_of(plan, fill(plan, left, partial(executors.processes, count), count))


def fill(
    plan: Plan, left: Missing, start: Callable[[], AbstractContextManager[Executor]], workers: int
) -> list[Failure]:
    """Do what is missing of a sweep; return what could not be done.

    Args:
        plan: The sweep, settled in its folder.
        left: What is to be done.
        start: Starts what does the tasks.
        workers: How many at a time.
    """
    if not left.count:
        return []
    with phase("sweeping") as report:
        return do_missing(plan, left, start, workers, report)


def summary_of(plan: Plan, failures: Sequence[Failure]) -> SweepAnswer:
    """Return what is in the folder of a sweep."""
    with phase("summary"):
        return SweepAnswer(found=summarise(plan, failures), failures=tuple(failures))


def _texts(given: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """Return key=value texts, values as TOML writes them."""
    if not isinstance(given, Mapping):
        return tuple(given)
    return tuple(f"{key}={json.dumps(plain(value), default=str)}" for key, value in given.items())
