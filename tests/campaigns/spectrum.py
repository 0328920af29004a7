"""The exact joint spectrum against numpy's: ``python -m tests.campaigns.spectrum [--pairs 10080]``.

Random rational pairs of correlations; the tests run the first tenth of them. The exit code is 1
where the two routes differ.
"""

from __future__ import annotations

import argparse
import sys

from tests.exact.test_spectrum_random import check


def main() -> int:
    """Check every pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_080)
    wrong = []
    pairs = parser.parse_args().pairs
    for seed in range(pairs):
        try:
            check(seed)
        except AssertionError as error:
            wrong.append(seed)
            print(f"seed {seed}: {error}")
    print(f"{pairs} pairs, {len(wrong)} of which the exact spectrum and numpy's differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
