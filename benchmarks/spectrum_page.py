"""The page and the plot of :mod:`benchmarks/spectrum.py`."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        work: What was done.
        measured: Times and sizes.
        found: What is compared with the demand.
        wanted: The demand; empty where there is none.
        met: Whether it is met.
    """

    work: str
    measured: str
    found: str = ""
    wanted: str = ""
    met: bool = True

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of the table."""
        return (self.work, self.measured, self.found, self.wanted, "" if self.met else "NOT MET")


def exponent(sizes: list[float], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def versions() -> dict[str, str]:
    names = ("sympy", "python-flint", "numpy")
    found = {name: importlib.metadata.version(name) for name in names}
    return {**found, "python": platform.python_version(), "machine": platform.machine()}


def write_page(rows: list[Row], curves: dict[str, list[float]]) -> None:
    """Write the table and the plot of this run."""
    DOCS.mkdir(exist_ok=True)
    draw(curves, DOCS / "spectrum.svg")
    table = "\n".join("| " + " | ".join(row.cells[:4]) + " |" for row in rows)
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    missed = [row.work for row in rows if not row.met]
    closing = "Everything is reached." if not missed else f"Not reached: {'; '.join(missed)}."
    (DOCS / "spectrum.md").write_text(
        PAGE.format(table=table, used=used, day=date.today().isoformat(), closing=closing),
        encoding="utf-8",
    )


PAGE = """# Speed of the exact spectrum

Measured on {day} by `python benchmarks/spectrum.py --write` ({used}; one thread, seconds of that
thread, medians; ratios are medians of ratios within one run).

| work | measured | found | to reach |
|---|---|---|---|
{table}

{closing}

Exact work starts from the exact correlations and ends with the joint eigenspaces of
(Σ^yx)ᵀΣ^yx and Σ^x, proven, for all values of c where c is a symbol, and with the certificate's
entries for the pathway. numpy's SVD gives singular vectors of Σ^yx in float64 and knows nothing
of Σ^x. SymPy's figure is measured once (`--sympy`) and cited from `benchmarks/spectrum-sympy.json`.

![Seconds of the exact decomposition and of numpy's SVD over the number of items](spectrum.svg)

*Seconds over the number of items n, 16 contexts, both axes logarithmic.*
"""


def draw(curves: dict[str, list[float]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "symreln"
    import matplotlib.pyplot as plt

    names = {
        "c": "exact, c symbolic",
        "exact": "exact",
        "svd": "numpy SVD, float64",
    }
    marks = {"c": ("s", "#c0504d"), "exact": ("o", "#1f4e79"), "svd": ("^", "#7f7f7f")}
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, label in names.items():
        mark, colour = marks[name]
        power = exponent(curves["n"], curves[name])
        axes.loglog(
            curves["n"],
            curves[name],
            marker=mark,
            color=colour,
            label=f"{label}: $n^{{{power:.2f}}}$",
        )
    axes.set_xticks(curves["n"], [f"{int(n)}" for n in curves["n"]])
    axes.minorticks_off()
    axes.set_xlabel("items n (16 contexts)")
    axes.set_ylabel("seconds of one thread")
    axes.legend(frameon=False)
    axes.grid(visible=True, alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
