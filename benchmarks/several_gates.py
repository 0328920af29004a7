"""The state at the horizon in closed form: by how much it changes the loss.

``python -m benchmarks.several_gates [--draws 8] [NAME …]`` prints, of data sets of
``benchmarks.from_data``, the units that stand for gates with their flows and shares, and by how
much these change the loss of all units that are followed: the largest |ΔL|/L(0) in percent, in two
draws, as ``found.tried`` has it, and in all. κ is of these draws. Two minutes of a core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.from_data import SPECS
from symreln.effective import network as effective
from symreln.effective.network import Way, descent_of, effective_network
from symreln.errors import SymrelnError

_NAMES = [name for name in SPECS if name not in ("parity of 3", "digits", "breast cancer")]


def _row(name: str, draws: int) -> Iterator[str]:
    data = SPECS[name]().at_values()
    how = descent_of(data)
    every = effective_network(*data.dataset.arrays, how, way=effective.WHOLE, draws=draws)
    closed = effective_network(*data.dataset.arrays, how, way=Way("closed form"), draws=draws)
    if every is None or closed is None:
        yield "no unit grows"
        return
    yield f"{closed.count} of {how.hidden}"
    for part in (slice(effective.COMPARED), slice(None)):
        one, other = (each.drawn[part].mean(axis=0) for each in (closed, every))
        yield f"{100 * np.abs(one - other).max() / other[0]:.2f}"


def main() -> None:
    """Print a row a data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=_NAMES, metavar="NAME")
    parser.add_argument("--draws", type=int, default=8)
    options = parser.parse_args()
    print("data | units | change of two draws % | of all draws %")
    for name in options.names:
        try:
            cells = [*_row(name, options.draws)]
        except SymrelnError as error:
            cells = [str(error)]
        print(" | ".join([name, *cells]), flush=True)


if __name__ == "__main__":
    main()
