"""``symreln gates``: which gates there are, and which of them early training selects."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from symreln.gates.enumerate import RealisableGates
    from symreln.spec.model import Spec

#: Gates up to which a spec with one pathway a gate is written for an enumeration.
MOST_PATHWAYS = 64


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--method",
    type=click.Choice(["enumerate", "self-consistent"]),
    required=True,
    help="All gates that the data allow, or those that early training selects.",
)
@click.option(
    "--samples", type=click.IntRange(min=1), help="Draw so many directions instead of all gates."
)
@click.option("--rng", type=click.IntRange(min=0), default=0, help="Seed of the draws.")
@click.option("--stages", type=click.IntRange(min=1), default=8, help="Stages to follow at most.")
@click.option("--limit", type=click.IntRange(min=1), help="Gates above which to stop.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for results.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def gates(
    spec: str,
    method: str,
    samples: int | None,
    rng: int,
    stages: int,
    limit: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Find the gates of a dataset, at the declared values of its parameters, exactly.

    Writes gates.json and gates.toml, a spec that `symreln derive` takes.
    """
    from symreln.gates.enumerate import LIMIT, enumerate_gates, sample_gates
    from symreln.spec.reader import load

    given = load(spec, overrides)
    numbers = _numbers(given)
    inputs = numbers.dataset.inputs
    if samples is None:
        found = enumerate_gates(inputs, limit=limit or LIMIT)
    else:
        found = sample_gates(inputs, samples, rng)
    if method == "enumerate":
        result, chosen = _enumerated(numbers, found)
    else:
        result, chosen = _selected(numbers, found, stages)
    folder = out or Path("symreln-out") / f"{Path(spec).stem}-gates"
    text = None
    if chosen:
        from symreln.gates.spec_text import gates_toml

        text = gates_toml(given, chosen, f"{given.title}: gates found ({method})")
    _write(folder, "gates.json", result, as_json=as_json, toml=text)
    return 0


def _numbers(spec: Spec) -> Spec:
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


def _enumerated(spec: Spec, found: RealisableGates) -> tuple[dict[str, Any], list]:
    from symreln.gates.orbits import gate_orbits, sample_group
    from symreln.gates.told import GATES_FORMAT, realisable_json

    group = sample_group(spec.dataset.inputs)
    listed = realisable_json(found, gate_orbits(found, group), group)
    chosen = [gate for gate in found.gates.tolist() if any(gate)]
    result = {"format": GATES_FORMAT, "method": "enumerate", **listed}
    return result, [chosen] if len(chosen) <= MOST_PATHWAYS else []


def _selected(spec: Spec, found: RealisableGates, most: int) -> tuple[dict[str, Any], list]:
    from symreln.gates.stages import predicted_stages
    from symreln.gates.told import GATES_FORMAT, stage_json

    stages = list(islice(predicted_stages(spec.dataset, most=most, found=found), most))
    result = {
        "format": GATES_FORMAT,
        "method": "self-consistent",
        "count": found.count,
        "sampled": found.sampled,
        "draws": found.draws,
        "stages": [stage_json(number, stage) for number, stage in enumerate(stages, start=1)],
    }
    return result, [list(stage.winners) for stage in stages if stage.winners]


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
    how = f"{result['draws']} directions drawn, more gates may exist" if result["sampled"] else ""
    lines = [f"{result['count']} gates" + (f" ({how})" if how else "")]
    for stage in result.get("stages", []):
        won = (
            f"{len(stage['winners'])} fastest" if stage["winners"] else "no gate is self-consistent"
        )
        lines.append(f"stage {stage['stage']}: {won}")
        lines += [
            f"  {each['pattern']}  {each['size']} alike  speed {each['speed']['expr']}"
            for each in stage["candidates"][:20]
        ]
    lines += [f"  {each['pattern']}  {each['size']} alike" for each in result.get("kinds", [])[:20]]
    return lines
