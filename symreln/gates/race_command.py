"""``symreln race``: which gate is fastest, for all values of a parameter, and what networks take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option("--over", metavar="PARAMETER", help="The parameter.  [default: the only one]")
@click.option("--stage", type=click.IntRange(min=1), default=1, help="Whose residual is learned.")
@click.option("--limit", type=click.IntRange(min=1), help="Gates above which to stop.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for results.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def race(
    spec: str,
    over: str | None,
    stage: int,
    limit: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Say which self-consistent gate is fastest, for all values of a parameter at once."""
    from symreln.errors import InputError
    from symreln.gates.enumerate import LIMIT
    from symreln.gates.line import parameter_range
    from symreln.gates.race import race as run
    from symreln.gates.stages import stage_residuals
    from symreln.gates.told import race_json
    from symreln.spec.reader import load

    given = load(spec, overrides)
    names = [parameter.name for parameter in given.parameters]
    name = over or (names[0] if len(names) == 1 else None)
    if name not in names:
        found = over or ("no parameter" if not names else ", ".join(names))
        msg = f"race: found {found}; --over needs one of the spec's parameters: {names}"
        raise InputError(msg)
    residuals = stage_residuals(given)
    if stage > len(residuals):
        msg = f"race: found --stage {stage}; the spec has {len(residuals)} stages"
        raise InputError(msg)
    others = {key: value for key, value in given.values.items() if key != name}
    inputs = given.dataset.inputs.substitute(others)
    residual = residuals[stage - 1].substitute(others)
    limits = next(parameter_range(p) for p in given.parameters if p.name == name)
    result = race_json(run(inputs, residual, limits, limit or LIMIT), given.values, given.symbols)
    folder = out or Path("symreln-out") / f"{Path(spec).stem}-race"
    _write(folder, result, as_json=as_json)
    return 0


def _write(folder: Path, result: dict[str, Any], *, as_json: bool) -> None:
    from symreln.report.folder import require_folder
    from symreln.report.jsonio import dumps, write_json

    require_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "race.json", result)
    if as_json:
        click.echo(dumps(result), nl=False)
        return
    for line in _lines(result):
        click.echo(line)
    click.echo(f"{folder}: race.json", err=True)


def _lines(result: dict[str, Any]) -> list[str]:
    """Return what the terminal shows."""
    name = result["parameter"]
    lines = [
        f"{each['pattern']}  {each['size']} alike  speed {each['speed']['expr']}"
        for each in result["candidates"]
    ]
    lines += [
        f"{name} = {each['value']['expr']}: {each['kind']} of {', '.join(each['between'])}"
        + (", the winner changes" if each["changes_winner"] else "")
        for each in result["boundaries"]
    ]
    return lines
