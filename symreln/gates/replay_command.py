"""``symreln replay``: how well given gates imitate the ReLU network they are for."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symreln.cli.options import IntegerRange

if TYPE_CHECKING:
    from symreln.gates.activity import TrainedGates
    from symreln.gates.quality import QualityPoint
    from symreln.spec.model import Spec

REPLAY_FORMAT = "symreln-replay/1"
#: Numbers of gates and of windows of the curve; every unit's own gates also in more windows.
CLUSTERS = (1, 2, 4, 8, 16, 32)
WINDOWS = (1, 4, 16, 64)
OWN_WINDOWS = (1, 4, 16, 64, 256, 1024)
#: Bytes of sampled gates, of which the number of looks follows where --every is not given.
SAMPLED_BYTES = 300_000_000


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--curve", is_flag=True, help="Also cluster the units: error by pathways and time windows."
)
@click.option(
    "--seeds",
    type=IntegerRange(min=1),
    default=2,
    show_default=True,
    help="Networks that are replayed, and as many more that are clustered.",
)
@click.option("--every", type=IntegerRange(min=1), help="Updates between two looks at a network.")
@click.option("--rng", type=IntegerRange(min=0), default=0, help="Seed of the networks.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for results.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on stderr.")
def replay(
    spec: str,
    curve: bool,
    seeds: int,
    every: int | None,
    rng: int,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Train ReLU networks, then train them again with the spec's gates in place of their own.

    From the same initial weights; each unit takes the nearest gate. Masks on inputs and outputs
    and stages are not used: a network has none. Writes replay.json, with --curve also replay.svg.
    """
    from symreln.base.progress import Progress
    from symreln.gates.activity import train_and_sample
    from symreln.gates.command import numbers_of
    from symreln.report.folder import require_folder
    from symreln.spec.reader import load

    numbers = numbers_of(load(spec, overrides))
    folder = out or Path("symreln-out") / f"{Path(spec).stem}-replay"
    require_folder(folder)
    progress = Progress(quiet=quiet)
    networks = 2 * seeds if curve else max(seeds, 2)
    with progress("training") as report:
        trained = train_and_sample(
            numbers,
            seeds=networks,
            steps=_look_steps(numbers, networks, every),
            rng=rng,
            progress=report,
        )
    with progress("replaying"):
        result, points = _result(numbers, trained, seeds, rng, curve=curve)
    _write(folder, result, points, as_json=as_json)
    return 0


def _look_steps(spec: Spec, networks: int, every: int | None) -> tuple[int, ...]:
    """Return the steps at which networks are looked at, the first update's among them."""
    from symreln.claims.integration import network_of
    from symreln.gates.activity import sample_steps

    network = network_of(spec)
    size = network.steps * network.hidden * spec.dataset.samples * networks
    return sample_steps(network.steps, every or max(1, ceil(size / SAMPLED_BYTES)))


def _result(
    spec: Spec, trained: TrainedGates, seeds: int, rng: int, *, curve: bool
) -> tuple[dict[str, Any], list[QualityPoint]]:
    from symreln.experiment.metrics import seed_floor
    from symreln.gates.kmeans import check_alive
    from symreln.gates.quality import own_curve, quality_curve, spec_schedule
    from symreln.gates.windows import schedule_errors

    check_alive(trained)
    held, floor = trained.networks(0, seeds), seed_floor(trained.losses)
    errors = schedule_errors(held, spec_schedule(spec, held))
    points: list[QualityPoint] = []
    if curve:
        clustered = trained.networks(seeds, trained.seeds)
        points = quality_curve(clustered, held, CLUSTERS, WINDOWS, rng=rng)
        points += own_curve(held, (*OWN_WINDOWS, len(held.steps)))
    result = {
        "format": REPLAY_FORMAT,
        "metric": "max |dL|/L(0) against the same network",
        "seeds": seeds,
        "rng": rng,
        "looks": len(trained.steps),
        "seed_floor": None if floor is None else floor.mean.max_abs_over_initial,
        "spec": {
            "pathways": len(spec.pathways),
            "windows": 1 + len(spec.switches),
            "mean": float(errors.mean()),
            "each": errors.tolist(),
        },
        "curve": [
            {
                "gates": "own" if point.clusters is None else "clusters",
                "clusters": point.clusters,
                "windows": point.windows,
                "mean": point.mean,
                "each": list(point.errors),
            }
            for point in points
        ],
    }
    return result, points


def _write(
    folder: Path, result: dict[str, Any], points: list[QualityPoint], *, as_json: bool
) -> None:
    from symreln.report.jsonio import dumps, write_json, write_text

    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "replay.json", result)
    written = ["replay.json"]
    if points:
        from symreln.gates.quality_figure import quality_figure

        drawn = quality_figure(points, result["seed_floor"], result["spec"]["mean"])
        write_text(folder / "replay.svg", drawn.svg)
        written.append("replay.svg")
    if as_json:
        click.echo(dumps(result), nl=False)
        return
    for line in replay_lines(result):
        click.echo(line)
    click.echo(f"{folder}: {', '.join(written)}", err=True)


def replay_lines(result: dict[str, Any]) -> list[str]:
    """Return what the terminal shows: max |ΔL|/L(0), in the mean over networks."""
    given, floor = result["spec"], result["seed_floor"]
    when = "" if given["windows"] == 1 else f" that switch {given['windows'] - 1} times"
    lines = [f"{given['pathways']} gates of the spec{when}: {100 * given['mean']:.2f} % of L(0)"]
    lines.append(f"networks of other seeds: {100 * floor:.2f} %")
    windows = sorted({each["windows"] for each in result["curve"]})
    if not windows:
        return lines
    head = "".join(f"{count:>9}" for count in windows)
    lines.append(f"{'windows':>10}{head}")
    numbers = dict.fromkeys(each["clusters"] for each in result["curve"])
    for count in numbers:
        found = {e["windows"]: e["mean"] for e in result["curve"] if e["clusters"] == count}
        cells = [f"{100 * found[w]:>7.2f} %" if w in found else " " * 9 for w in windows]
        name = "own gates" if count is None else f"K = {count}"
        lines.append(f"{name:>10}{''.join(cells)}".rstrip())
    return lines
