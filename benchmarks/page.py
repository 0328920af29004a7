"""The page of a derivation in a headless Chromium: its size and first paint.

    python -m benchmarks.page [SPEC …]

Specs are names or files (default: contextual-3, contextual-5, and twenty modes of own data). The
first paint is of a fresh tab, the median of the repeats with the smallest and largest.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import symreln as sr
from tests.report import browser

REPEATS = 5
OWN = "twenty modes"
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def own() -> sr.Spec:
    """Return a spec of twenty modes that all learn at different times."""
    identity = [[int(row == column) for column in range(20)] for row in range(20)]
    targets = [[(20 + row) * entry for entry in line] for row, line in enumerate(identity)]
    network = sr.network(
        hidden=100, init_std="1/10000", learning_rate="1/1000", steps=2000, activation="linear"
    )
    return sr.spec(identity, targets, pathways=[sr.pathway("all")], network=network)


def measure(name: str, chromium: browser.Browser, folder: Path) -> str:
    """Return the line of a spec."""
    derivation = sr.derive(own() if name == OWN else name)
    derivation.save(folder / name, "html")
    page = folder / name / "derivation.html"
    paints = []
    for _ in range(REPEATS):
        tab = browser.Tab(chromium, page.as_uri())
        tab.eval("new Promise((go) => requestAnimationFrame(() => setTimeout(go, 100)))")
        paints.append(tab.eval(_PAINT))
        tab.close()
    return f"{name}: {page.stat().st_size / 1e3:.0f} kB; first paint {spread(paints)} ms"


def spread(values: list[float]) -> str:
    """Return a median with the smallest and largest value."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description="Measure pages in a browser.")
    parser.add_argument("specs", nargs="*", default=["contextual-3", "contextual-5", OWN])
    asked = parser.parse_args()
    if browser.PATH is None:
        sys.exit(f"benchmarks/page.py: found none of {', '.join(browser.NAMES)}; install one")
    with tempfile.TemporaryDirectory() as folder, browser.opened() as chromium:
        for name in asked.specs:
            print(measure(name, chromium, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
