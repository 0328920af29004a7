"""``symreln depth``: deep ReLU networks and their gated network, as distributions over seeds."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symreln.cli.options import IntegerRange

if TYPE_CHECKING:
    from symreln.experiment.depth import DepthComparison

RESULT = "depth.json"


@click.command()
@click.argument("spec", metavar="SPEC", default="depth")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a key of the spec, e.g. network.hidden=100. May be repeated.",
)
@click.option(
    "--seeds",
    type=IntegerRange(min=2, max=100_000),
    default=50,
    show_default=True,
    help="Networks to train, of each kind.",
)
@click.option(
    "--rng", type=IntegerRange(min=0), default=0, show_default=True, help="Random streams."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results.  [default: symreln-out/NAME-depth]",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Part of a layer's units that a gated node has; counts as a constant set by hand.  "
    "[default: half for ReLU]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on stderr.")
@click.option(
    "--backend",
    type=click.Choice(["numpy", "torch", "cupy", "jax"]),
    default="numpy",
    show_default=True,
    help="Library that trains.",
)
@click.option("--device", metavar="NAME", help="Where the back-end trains, such as cuda:1.")
@click.option("--float32", is_flag=True, help="Train in single precision.")
@click.option(
    "--allow-outside-data",
    "allow_outside",
    is_flag=True,
    help="Let the spec name data files outside its own folder.",
)
def depth(
    spec: str,
    overrides: tuple[str, ...],
    seeds: int,
    rng: int,
    out: Path | None,
    share: float | None,
    as_json: bool,
    quiet: bool,
    backend: str,
    device: str | None,
    float32: bool,
    allow_outside: bool,
) -> int:
    """Train deep ReLU networks and a gated network of the same depth, and compare distributions.

    SPEC is a network of nodes and edges, by default the paper's two hidden layers; the ReLU
    network has as many hidden layers of network.hidden units. Writes depth.json, depth.html,
    depth.svg and curves.npz. That they differ is a result, not a failure.
    """
    from symreln.base.progress import Progress
    from symreln.cli.hardware import training_machine
    from symreln.cli.request import Request
    from symreln.experiment.depth import compare_depth
    from symreln.report.folder import require_folder
    from symreln.report.jsonio import dumps
    from symreln.tasks.load import load

    folder = out or Path("symreln-out") / f"{Path(spec).stem}-depth"
    require_folder(folder)
    given = load(spec, overrides, allow_outside=allow_outside)
    asked = Request.from_json(
        {
            **Request(command="validate", spec=spec).to_json(),
            "quiet": quiet,
            "backend": backend,
            "device": device,
            "float32": float32,
        }
    )

    def tell(widths: tuple[int, ...], units: dict[str, int]) -> None:
        if not quiet:
            hidden = ", ".join(f"{name} {size}" for name, size in units.items())
            layers = " and ".join(map(str, widths))
            text = f"hidden layers of {layers} units; gated network: {hidden}"
            click.echo(f"symreln: {text}", err=True)

    with training_machine(asked), Progress(quiet=quiet)("training") as report:
        found = compare_depth(given, seeds, rng, report, share=share, ready=tell)
    with Progress(quiet=quiet)("writing the results"):
        written = _write(found, folder)
    if as_json:
        click.echo(dumps(found.to_json()), nl=False)
        return 0
    _show(found)
    click.echo(f"written to {folder}: {', '.join(written)}")
    return 0


def _write(found: DepthComparison, folder: Path) -> list[str]:
    from symreln.report import html, jsonio
    from symreln.report.chapters.depth import depth_document
    from symreln.report.depth_figure import depth_drawing

    folder.mkdir(parents=True, exist_ok=True)
    figure = depth_drawing(found)
    jsonio.write_bytes(folder / "curves.npz", _curves(found))
    jsonio.write_text(folder / "depth.svg", figure.svg)
    html.save(depth_document(found, figure), folder / "depth.html")
    jsonio.write_text(folder / RESULT, jsonio.dumps(found.to_json()))
    return ["curves.npz", "depth.svg", "depth.html", RESULT]


def _curves(found: DepthComparison) -> bytes:
    """Return all losses at the steps at which whole curves are compared."""
    import numpy as np

    from symreln.experiment.distributions import MOMENTS, spread_moments

    pooled = np.concatenate([found.relu.losses, found.gdln.losses])
    steps = spread_moments(pooled.mean(axis=0), MOMENTS)
    runs = {"relu": found.relu, "gdln": found.gdln, "one_hidden_layer": found.shallow}
    buffer = io.BytesIO()
    arrays = {name: run.losses[:, steps] for name, run in runs.items()}
    arrays["steps"] = steps
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def _show(found: DepthComparison) -> None:
    import sys

    from symreln.base.tables import plain_table, render_table
    from symreln.report.chapters.depth import HEADER, depth_rows, scatter_text

    title = f"first step with a loss below a share of the first, {found.seeds} seeds: quartiles"
    rows = [list(row) for row in depth_rows(found)]
    if sys.stdout.isatty():
        render_table(title, list(HEADER), rows)
    else:
        click.echo(plain_table(title, list(HEADER), rows), nl=False)
    click.echo(scatter_text(found))
    click.echo(found.sentence())
