"""``symreln gates``: which gates there are, early training selects, and networks have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symreln.cli.options import IntegerRange

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.base.progress import Progress
    from symreln.gates.enumerate import RealisableGates
    from symreln.spec.model import Spec

#: Gates up to which a spec with one pathway a gate is written for an enumeration.
MOST_PATHWAYS = 64
#: Kinds of gates that the terminal lists; gates.json has all.
SHOWN = 20
#: Methods that train nothing, and the options that belong to one of the two kinds of methods.
EXACT_METHODS = ("enumerate", "self-consistent")
EXACT_OPTIONS = ("samples", "stages", "limit", "layer", "against")
TRAINING_OPTIONS = ("clusters", "windows", "every", "trainings", "runs", "replays")


def network_options(command: Callable) -> Callable:
    """Add the options of the methods that train networks."""
    options = [
        click.option(
            "--clusters",
            type=IntegerRange(min=1),
            help="K.  [default: the number with the largest mean silhouette]",
        ),
        click.option(
            "--windows",
            type=IntegerRange(min=1),
            help="Time windows at most, with --method windows.  [default: by replay]",
        ),
        click.option(
            "--every",
            type=IntegerRange(min=1),
            default=100,
            show_default=True,
            help="Updates between two looks at a network; windows look five times as often.",
        ),
        click.option(
            "--trainings",
            type=IntegerRange(min=1),
            default=1,
            show_default=True,
            help="Networks of one run.",
        ),
        click.option(
            "--runs",
            type=IntegerRange(min=1),
            help="Runs from other initial weights.  [default: 20, with windows 5]",
        ),
        click.option(
            "--replays",
            type=IntegerRange(min=0),
            default=2,
            show_default=True,
            help="Further networks on which the gates are replayed.",
        ),
        click.option("--quiet", "-q", is_flag=True, help="No progress on stderr."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--method",
    type=click.Choice(["enumerate", "self-consistent", "kmeans", "k-means", "windows"]),
    required=True,
    help="All gates that the data allow; those that early training selects; or those of networks "
    "that are trained: by K-means (Algorithm 1 of the paper), or in time windows by weight.",
)
@click.option(
    "--samples",
    type=IntegerRange(min=1, max=10_000_000),
    help="Draw so many directions instead of all gates.",
)
@click.option("--rng", type=IntegerRange(min=0), default=0, help="Seed of everything random.")
@click.option("--stages", type=IntegerRange(min=1), default=8, help="Stages to follow at most.")
@click.option(
    "--layer",
    type=IntegerRange(min=1, max=2),
    default=1,
    help="2: gates of a second hidden layer, once the first has settled on its fastest gates.",
)
@click.option(
    "--against",
    type=IntegerRange(min=1),
    help="Networks to compare self-consistent gates with: a confusion table over the steps.",
)
@network_options
@click.option("--limit", type=IntegerRange(min=1), help="Gates above which to stop.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for results.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def gates(
    spec: str,
    method: str,
    samples: int | None,
    rng: int,
    stages: int,
    layer: int,
    against: int | None,
    limit: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Find the gates of a dataset, at the declared values of its parameters.

    Exactly, from the data; or as trained networks show them. Writes gates.json and gates.toml, a
    spec that `symreln derive` takes.
    """
    from symreln.base.progress import Progress
    from symreln.gates.enumerate import LIMIT, enumerate_gates, sample_gates
    from symreln.spec.reader import load

    _check_options(method)
    given = load(spec, overrides)
    original = numbers = numbers_of(given)
    folder = out or Path("symreln-out") / f"{Path(spec).stem}-gates"
    if method not in EXACT_METHODS:
        found, text = _trained(given, numbers, method.replace("-", ""), {"rng": rng, **asked})
        _write(folder, "gates.json", found, as_json=as_json, toml=text)
        return 0
    if layer == 2:
        from symreln.gates.second_layer import settled_representation

        given = numbers = replace(numbers, dataset=settled_representation(numbers.dataset))
    inputs = numbers.dataset.inputs
    progress = Progress(quiet=asked["quiet"])
    if samples is None:
        with progress("all gates") as callback:
            found = enumerate_gates(inputs, limit=limit or LIMIT, progress=callback)
    else:
        found = sample_gates(inputs, samples, rng)
    if method == "enumerate":
        result, chosen = _enumerated(numbers, found, progress)
    else:
        networks = (against, rng) if layer == 1 else None
        result, chosen = _selected(numbers, found, stages, networks, progress)
    if layer == 2:
        result["layer"] = layer
        if against is not None:
            result["second_layer"] = _deep(original, against, rng)
    text = None
    if chosen:
        from symreln.gates.spec_text import gates_toml

        text = gates_toml(given, chosen, f"{given.title}: gates found ({method})")
    _write(folder, "gates.json", result, as_json=as_json, toml=text)
    return 0


def _check_options(method: str) -> None:
    """Refuse options that the method does not use.

    Raises:
        InputError: One is given.
    """
    from symreln.errors import InputError

    context, trains = click.get_current_context(), method not in EXACT_METHODS
    foreign = EXACT_OPTIONS if trains else TRAINING_OPTIONS
    if trains and method != "windows":
        foreign = (*foreign, "windows")
    for name in foreign:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            msg = f"gates: --{name} has no meaning with --method {method}. Leave it out"
            raise InputError(msg)


def _trained(
    given: Spec, numbers: Spec, method: str, asked: dict[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """Return the gates of trained networks, and a spec with them."""
    from symreln.gates.spec_text import gates_toml
    from symreln.gates.trained_command import Asked, find

    found = find(numbers, Asked(method=method, **asked))
    if not found.pathways:
        return found.result, None
    title = f"{given.title}: gates found ({method})"
    text = gates_toml(given, [found.pathways], title, found.switches, numbered=True)
    return found.result, text


def numbers_of(spec: Spec) -> Spec:
    """Return a spec at its declared values.

    Raises:
        InputError: A parameter has none.
    """
    from symreln.errors import InputError

    left = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if left:
        msg = (
            f"gates: {', '.join(left)} has no value. Declare one, e.g. "
            f"--set parameters.{left[0]}.value=1, or ask for `symreln race`"
        )
        raise InputError(msg)
    return spec.at_values()


def _deep(spec: Spec, seeds: int, rng: int) -> dict[str, Any]:
    """Return which gates the second hidden layer of trained networks shows."""
    from symreln.gates.second_layer import (
        second_layer_json,
        second_layer_table,
        trained_second_layer,
    )

    shown = trained_second_layer(spec, seeds, rng)
    return {**second_layer_json(shown), "markdown": second_layer_table(shown)}


def _enumerated(
    spec: Spec, found: RealisableGates, progress: Progress
) -> tuple[dict[str, Any], list]:
    from symreln.gates.orbits import gate_orbits, sample_group
    from symreln.gates.remarks import remarks
    from symreln.gates.told import GATES_FORMAT, realisable_json

    with progress("symmetries of the gates"):
        group = sample_group(spec.dataset.inputs)
        listed = realisable_json(found, gate_orbits(found, group), group)
    chosen = [gate for gate in found.gates.tolist() if any(gate)]
    result = {"format": GATES_FORMAT, "method": "enumerate", **listed}
    result["remarks"] = list(remarks(spec.dataset))
    if len(chosen) > MOST_PATHWAYS:
        result["remarks"].append(
            f"no gates.toml: {len(chosen)} gates that open are more than {MOST_PATHWAYS} pathways"
        )
    return result, [chosen] if 0 < len(chosen) <= MOST_PATHWAYS else []


def _selected(
    spec: Spec,
    found: RealisableGates,
    most: int,
    networks: tuple[int | None, int] | None,
    progress: Progress,
) -> tuple[dict[str, Any], list]:
    from symreln.gates.confusion import (
        confusion,
        confusion_json,
        confusion_table,
        predicted_classes,
    )
    from symreln.gates.remarks import remarks
    from symreln.gates.stages import predicted_stages
    from symreln.gates.told import GATES_FORMAT, stage_json

    dataset = spec.dataset
    stages = list(predicted_stages(dataset, most=most, found=found, progress=progress))
    result = {
        "format": GATES_FORMAT,
        "method": "self-consistent",
        "count": found.count,
        "sampled": found.sampled,
        "draws": found.draws,
        "stages": [stage_json(number, stage) for number, stage in enumerate(stages, start=1)],
        "remarks": list(remarks(spec.dataset)),
    }
    seeds, rng = networks or (None, 0)
    if seeds is not None:
        with progress(f"{seeds} networks"):
            shown = confusion(spec, predicted_classes(spec, stages), seeds, rng)
        result["confusion"] = {**confusion_json(shown), "markdown": confusion_table(shown)}
    chosen = [
        [[{1: 1, -1: 0, 0: "/"}[sign] for sign in signs] for signs in stage.winners]
        for stage in stages
        if stage.winners
    ]
    return result, chosen


def _write(
    folder: Path, name: str, result: dict[str, Any], *, as_json: bool, toml: str | None = None
) -> None:
    from symreln.report.folder import require_folder
    from symreln.report.jsonio import dumps, write_json, write_text

    require_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / name, result)
    written = [name]
    if toml is not None:
        write_text(folder / "gates.toml", toml)
        written.append("gates.toml")
    if as_json:
        click.echo(dumps(result), nl=False)
        return
    for line in _lines(result):
        click.echo(line)
    click.echo(f"{folder}: {', '.join(written)}", err=True)


def _lines(result: dict[str, Any]) -> list[str]:
    """Return what the terminal shows."""
    from symreln.gates.found_lines import candidate_line, found_lines, orbit_text

    if "networks" in result:
        return found_lines(result)
    how = f"{result['draws']} directions drawn, more gates may exist" if result["sampled"] else ""
    lines = [f"{result['count']} gates" + (f" ({how})" if how else "")]
    for stage in result.get("stages", []):
        lines.append(f"stage {stage['stage']}: {len(stage['winners'])} fastest; {stage['told']}")
        candidates = stage["candidates"]
        lines += [f"  {candidate_line(each['pattern'], each)}" for each in candidates[:SHOWN]]
        lines += _left_out(candidates)
    kinds = result.get("kinds", [])
    lines += [f"  {each['pattern']}  {orbit_text(each['size'])}" for each in kinds[:SHOWN]]
    lines += _left_out(kinds)
    if "layer" in result:
        lines.insert(
            0, "second hidden layer; speeds up to one factor, the size of the first's units"
        )
    for name in ("confusion", "second_layer"):
        lines += result.get(name, {}).get("markdown", "").splitlines()
    return lines + [f"note: {text}" for text in result.get("remarks", [])]


def _left_out(listed: list) -> list[str]:
    """Return a line on what is not shown, if anything is."""
    more = len(listed) - SHOWN
    return [f"  … and {more} more kinds in gates.json"] if more > 0 else []
