"""``symreln depth``: deep ReLU networks and their gated network, as distributions over seeds."""

from __future__ import annotations

from typing import Any

import click

from symreln.cli.options import (
    json_option,
    machine_options,
    out_option,
    outside_option,
    overrides_option,
    quiet_option,
    rng_option,
    seeds_option,
)


@click.command()
@click.argument("spec", metavar="SPEC", default="depth")
@overrides_option
@seeds_option(50, least=2)
@rng_option
@out_option("symreln-out/NAME-depth")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Part of a layer's units that a gated node has; counts as a constant set by hand.  "
    "[default: half for ReLU]",
)
@json_option
@quiet_option
@machine_options
@outside_option
def depth(**asked: Any) -> int:
    """Train deep ReLU networks and a gated network of the same depth, and compare distributions.

    SPEC is a network of nodes and edges, by default the paper's two hidden layers; the ReLU
    network has as many hidden layers of network.hidden units. Writes depth.json, depth.html,
    depth.svg and curves.npz. That they differ is a result, not a failure.
    """
    from symreln.cli.run_depth import depth_for_user  # this takes a second to import

    return depth_for_user(**asked)
