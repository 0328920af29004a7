"""A comparison of deep networks into a folder."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from symreln.experiment.depth import DepthComparison
from symreln.experiment.distributions import MOMENTS, spread_moments
from symreln.report import html, jsonio
from symreln.report.chapters.depth import depth_document
from symreln.report.depth_figure import depth_drawing


def write_depth(found: DepthComparison, folder: Path) -> list[str]:
    """Write curves.npz, depth.svg, depth.html and, last, depth.json; return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = depth_drawing(found)
    jsonio.write_bytes(folder / "curves.npz", _curves(found))
    jsonio.write_text(folder / "depth.svg", figure.svg)
    html.save(depth_document(found, figure), folder / "depth.html")
    jsonio.write_text(folder / "depth.json", jsonio.dumps(found.to_json()))
    return ["curves.npz", "depth.svg", "depth.html", "depth.json"]


def _curves(found: DepthComparison) -> bytes:
    """Return all losses at the steps at which whole curves are compared."""
    pooled = np.concatenate([found.relu.losses, found.gdln.losses])
    steps = spread_moments(pooled.mean(axis=0), MOMENTS)
    runs = {"relu": found.relu, "gdln": found.gdln, "one_hidden_layer": found.shallow}
    buffer = io.BytesIO()
    arrays = {name: run.losses[:, steps] for name, run in runs.items()}
    arrays["steps"] = steps
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()
