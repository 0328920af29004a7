"""``symreln race``: which gate is fastest over a parameter, and what networks take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symreln.cli.options import IntegerRange

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.gates.confronted import RacePoint
    from symreln.gates.race import Race
    from symreln.gates.race_report import Unraced
    from symreln.spec.model import Spec


#: Networks of each kind that rivals are measured with unless told otherwise.
DEFAULT_SEEDS = 4


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option("--over", metavar="PARAMETER", help="The parameter.  [default: the only one]")
@click.option(
    "--by",
    "label",
    metavar="LABEL",
    help="Race gates that are open on subsets of a label's values instead; with --over for all "
    "values of the parameter.",
)
@click.option(
    "--rivals",
    "modules",
    metavar="LABEL",
    help="Race one pathway a value of a label against mixed-selective ones, and both together.",
)
@click.option("--stage", type=IntegerRange(min=1), default=1, help="Whose residual is learned.")
@click.option("--limit", type=IntegerRange(min=1), help="Gates above which to stop.")
@click.option(
    "--seeds", type=IntegerRange(min=0), default=0, help="Networks to train at every point."
)
@click.option("--points", type=IntegerRange(min=1), default=3, help="Points in every interval.")
@click.option("--rng", type=IntegerRange(min=0), default=0, help="Seed of the networks.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for results.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def race(
    spec: str,
    over: str | None,
    label: str | None,
    modules: str | None,
    stage: int,
    limit: int | None,
    seeds: int,
    points: int,
    rng: int,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Say which self-consistent gate is fastest, for all values of a parameter at once.

    Writes race.json and race.svg. With --seeds it trains ReLU networks in every interval between
    boundaries, and says which gates they take: finding 1 of the paper as a table, race.md.
    With --by context it says how fast gates open in m of the contexts are, stage by stage, at the
    declared values, and which m trained networks take: subsets.json, subsets.md and subsets.svg.
    With --by context --over c it does so for all c at once, with boundaries: race.json and race.md.
    With --rivals context it derives and trains strictly modular, mixed-selective and both kinds of
    pathways together: findings 2 and 3 as a table, rivals.md.
    """
    from symreln.base.progress import Progress
    from symreln.gates.enumerate import LIMIT
    from symreln.gates.line import parameter_range
    from symreln.gates.race import race as run
    from symreln.gates.race_report import race_drawing, unraced
    from symreln.gates.subset_race import subset_points, subset_race
    from symreln.gates.told import race_json, unraced_json
    from symreln.spec.reader import load

    progress = Progress(quiet=False)
    given = load(spec, overrides)
    folder = out or Path("symreln-out") / f"{Path(spec).stem}-race"
    _check_together(over, label, modules)
    if label is not None and over is None:
        return _by_label(given, label, seeds, rng, folder, as_json=as_json)
    if modules is not None:
        return _rivals(given, modules, seeds or DEFAULT_SEEDS, rng, folder, as_json=as_json)
    name, residuals = _asked(given, over, stage, seeds if label is None else 0)
    others = {key: value for key, value in given.values.items() if key != name}
    inputs = given.dataset.inputs.substitute(others)
    residual = residuals[stage - 1].substitute(others)
    limits = next(parameter_range(p) for p in given.parameters if p.name == name)
    if label is not None:
        data = replace(given.dataset, inputs=inputs)
        course = subset_race(data, residual, label, limits)
        targets = given.dataset.targets.substitute(others)
        asked = replace(given, dataset=replace(data, targets=targets))
        trained = subset_points(course, asked, points, seeds, rng) if seeds else ()
        return _subsets_over(given, course, asked, label, trained, seeds, folder, as_json=as_json)
    found = run(inputs, residual, limits, limit or LIMIT, progress)
    asked = replace(given, dataset=replace(given.dataset, inputs=inputs, targets=residual))
    beside = unraced(found, asked)
    result = race_json(found, given.values, given.symbols)
    result["candidates"] += unraced_json(beside, given.values, given.symbols)
    files = {}
    trained = ()
    if seeds:
        with progress(f"{seeds} networks at every point"):
            trained = _trained(found, asked, points, seeds, rng)
        result["confronted"], files["race.md"] = _confronted(found, asked, beside, trained, seeds)
    files["race.svg"] = race_drawing(found, asked, beside, trained).svg
    _write(folder, "race.json", result, files, as_json=as_json)
    return 0


def _by_label(given: Spec, label: str, seeds: int, rng: int, folder: Path, *, as_json: bool) -> int:
    from symreln.gates.subsets_report import (
        subset_stages,
        subsets_drawing,
        subsets_json,
        subsets_table,
        trained_shares,
    )

    spec = _at_values(given)
    stages = subset_stages(spec, label)
    shares = trained_shares(spec, label, seeds, rng) if seeds else None
    files = {"subsets.md": subsets_table(spec, label, stages, shares)}
    if shares is not None:
        files["subsets.svg"] = subsets_drawing(shares).svg
    result = subsets_json(spec, label, stages, shares)
    _write(folder, "subsets.json", result, files, as_json=as_json)
    return 0


def _subsets_over(
    given: Spec,
    found: Race,
    asked: Spec,
    label: str,
    trained: tuple[RacePoint, ...],
    seeds: int,
    folder: Path,
    *,
    as_json: bool,
) -> int:
    """Write the race of a label's subsets over a parameter."""
    from symreln.gates.race_report import race_drawing
    from symreln.gates.subset_race import subset_names, subset_race_json, subset_race_table
    from symreln.gates.told import race_json

    names = subset_names(asked.dataset, label, found)
    result = subset_race_json(race_json(found, given.values, given.symbols), found, names)
    files = {"race.md": subset_race_table(found, names, trained, seeds)}
    files["race.svg"] = race_drawing(found, asked, (), trained, names=names).svg
    _write(folder, "race.json", result, files, as_json=as_json)
    return 0


def _check_together(over: str | None, label: str | None, modules: str | None) -> None:
    """Refuse options of which one would be left unheard.

    Raises:
        InputError: Two are given, or one that the other does not use.
    """
    from symreln.errors import InputError

    context = click.get_current_context()
    given = click.core.ParameterSource.COMMANDLINE
    mode = "--rivals" if modules is not None else "--by" if label is not None else ""
    unheard = {
        "--rivals": ("over", "label", "stage", "limit", "points"),
        "--by": ("limit",) if over is not None else ("stage", "limit", "points"),
        "": (),
    }[mode]
    for name in unheard:
        if context.get_parameter_source(name) is given:
            option = "--by" if name == "label" else f"--{name}"
            more = " without --over PARAMETER" if mode == "--by" and name != "limit" else ""
            msg = f"race: {option} has no meaning with {mode}{more}. Leave it out"
            raise InputError(msg)


def _rivals(given: Spec, label: str, seeds: int, rng: int, folder: Path, *, as_json: bool) -> int:
    from symreln.gates.rivals import contest, contest_json, contest_table

    _at_values(given)
    found = contest(given, label, seeds, rng)
    values = ", ".join(f"{key} = {value}" for key, value in given.values.items())
    title = given.title + (f", {values}" if values else "")
    files = {"rivals.md": contest_table(found, title)}
    _write(folder, "rivals.json", contest_json(found), files, as_json=as_json)
    return 0


def _at_values(given: Spec) -> Spec:
    """Return a spec at its declared values.

    Raises:
        InputError: A parameter has none.
    """
    from symreln.errors import InputError

    left = [parameter.name for parameter in given.parameters if parameter.value is None]
    if left:
        msg = (
            f"race: {', '.join(left)} has no value, and speeds are compared at values. Declare "
            f"one, e.g. --set parameters.{left[0]}.value=1"
        )
        raise InputError(msg)
    return given.at_values()


def _asked(
    given: Spec, over: str | None, stage: int, seeds: int
) -> tuple[str, tuple[ExactMatrix, ...]]:
    """Return the parameter to race over and what each stage learns.

    Raises:
        InputError: No parameter, or no stage, is meant; or networks are asked for on a residual.
    """
    from symreln.errors import InputError
    from symreln.gates.stages import stage_residuals

    names = [parameter.name for parameter in given.parameters]
    name = over or (names[0] if len(names) == 1 else None)
    if not names:
        msg = (
            "race: found a spec without parameters; a race is over one, declared as "
            "[parameters.NAME]. `symreln gates SPEC --method self-consistent` compares speeds at "
            "one point"
        )
        raise InputError(msg)
    if name not in names:
        found = over or ", ".join(names)
        msg = f"race: found {found}; --over needs one of the spec's parameters: {names}"
        raise InputError(msg)
    residuals = stage_residuals(given)
    if stage > len(residuals):
        msg = f"race: found --stage {stage}; the spec has {len(residuals)} stages"
        raise InputError(msg)
    if seeds and stage > 1:
        msg = (
            f"race: found --seeds {seeds} with --stage {stage}; networks learn the first stage at "
            "once, and what they leave is no data set to train on. Leave --seeds out"
        )
        raise InputError(msg)
    return name, residuals


def _trained(found: Race, asked: Spec, points: int, seeds: int, rng: int) -> tuple[RacePoint, ...]:
    from symreln.gates.confronted import confront, confronted_points

    return tuple(
        confront(found, asked, value, seeds, rng) for value in confronted_points(found, points)
    )


def _confronted(
    found: Race,
    asked: Spec,
    others: tuple[Unraced, ...],
    trained: tuple[RacePoint, ...],
    seeds: int,
) -> tuple[dict[str, Any], str]:
    from symreln.gates.race_report import confrontation_json, finding_table

    result = confrontation_json(found, trained, asked, seeds)
    table = finding_table(found, others, trained, seeds)
    for each in result["crossings"]:
        if each["seen_at"] is not None:
            table += (
                f"\nAt hidden = {result['hidden']} and init_std = {result['init_std']} shares are "
                f"predicted to be equal at {found.parameter} = {each['seen_at']:.4g}, and at "
                f"{each['boundary']['expr']} = {each['seen_at'] - each['error']:.4g} as init_std "
                f"goes to 0: the finite-init error is {each['error']:.2g}.\n"
            )
    return result, table


def _write(
    folder: Path, name: str, result: dict[str, Any], files: dict[str, str], *, as_json: bool
) -> None:
    from symreln.report.folder import require_folder
    from symreln.report.jsonio import dumps, write_json, write_text

    require_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / name, result)
    for other, text in files.items():
        write_text(folder / other, text)
    if as_json:
        click.echo(dumps(result), nl=False)
        return
    for line in _lines(result):
        click.echo(line)
    for other, text in files.items():
        if other.endswith(".md"):
            click.echo(text, nl=False)
    click.echo(f"{folder}: {', '.join([name, *files])}", err=True)


def _lines(result: dict[str, Any]) -> list[str]:
    """Return what the terminal shows before the tables."""
    from symreln.gates.found_lines import candidate_line

    if "parameter" not in result:
        return []
    name = result["parameter"]
    lines = [
        candidate_line(each["name"], each, f" at {name} = {each.get('fractions_at')}")
        for each in result["candidates"]
        if each.get("self_consistent", True)
    ]
    if result.get("why_not"):
        lines.append(f"not proven to be the fastest: {result['why_not']}")
    lines += [
        f"{name} = {each['value']['expr']}: {each['kind']} of {', '.join(each['between'])}"
        + (", the winner changes" if each["changes_winner"] else "")
        for each in result["boundaries"]
    ]
    return lines
