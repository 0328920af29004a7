"""Deep ReLU networks beside a gated network of the same depth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.base.tables import plain_table
from symreln.calls.answers import AbstractAnswer
from symreln.lab import depth as depths
from symreln.lab.depth_report import (
    HEADER,
    depth_files,
    depth_rows,
    depth_sentences,
    depth_to_json,
)
from symreln.specs.spec import Spec
from symreln.task_library.load import spec_of


@record(eq=False)
class DepthAnswer(AbstractAnswer):
    """What :func:`symreln.depth` found.

    Attributes:
        found: The distributions over seeds.
    """

    found: depths.DepthComparison

    def to_json(self) -> dict[str, Any]:
        """Return what depth.json says."""
        return depth_to_json(self.found)

    def files(self) -> dict[str, str | bytes]:
        """Return curves.npz, depth.svg and depth.json, by file name."""
        return depth_files(self.found)

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows: when losses fall, beside each kind of gated networks."""
        title = f"first step with a loss below a share of the first, {self.found.seeds} seeds"
        rows = [list(row) for row in depth_rows(self.found)]
        if rows:
            yield plain_table(f"{title}: quartiles", list(HEADER), rows).rstrip("\n")
        yield from depth_sentences(self.found)


def depth(
    spec: Spec | str | os.PathLike[str] = "depth",
    seeds: int = 50,
    rng: int = 0,
) -> DepthAnswer:
    """Train deep ReLU networks and a gated network of the same depth, and compare distributions.

    A network of nodes and edges, by default the paper's two hidden layers; the ReLU network has as
    many hidden layers of network.hidden units. That they differ is a result, not a failure. The
    files are depth.json, depth.svg and curves.npz.

    Args:
        spec: A spec, its file or its name; of nodes and edges with at least two hidden nodes on a
            path, with a network.
        seeds: Networks to train of each kind; at least 2.
        rng: Seed of the random streams.

    Raises:
        InputError: Fewer than two seeds, a parameter without a value, or training diverged.
        NotSupportedError: No graph, or one that no deep ReLU network is like.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("depth", {"network.hidden": 20, "network.steps": 100})
        >>> sr.depth(small, seeds=2).found.seeds
        2
    """
    with phase("comparing depths"):
        return DepthAnswer(found=depths.compare_depth(spec_of(spec, "depth"), seeds, rng))
