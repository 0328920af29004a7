"""Mutations of certificates, in full: ``python -m tests.campaigns.mutations [PART ...]``.

Every mutation has a renewed digest and must be refused, or say the same in other words; the daily
tests make about a tenth. PART is a part of a certificate's name; all by default. Takes an hour.
"""

from __future__ import annotations

import sys
import tomllib

import symreln as sr
from benchmarks.certificate import spec_text
from symreln.claims.solve import derive_unchecked
from symreln.pipeline.certificate import certificate
from tests.verifier import test_mutations, test_routing

TASKS = (*test_mutations.TASKS, "contextual-4", "contextual-5", "contextual-different")


def main() -> int:
    """Run the campaigns whose names hold one of the arguments; return how many were broken."""
    asked = sys.argv[1:]
    failures = 0

    def wanted(name: str) -> bool:
        return not asked or any(part in name for part in asked)

    def told(name: str, tried: int, passed: int, most: int) -> None:
        nonlocal failures
        failures += passed >= most
        print(f"{name}: {tried} mutations, {passed} accepted as other words", flush=True)

    for name in filter(wanted, test_mutations.SMALL):
        found = test_mutations.certificates()[name]
        told(name, 1300, test_mutations.campaign(found, name, 1300), 163)
    for name in filter(wanted, TASKS):
        found = test_mutations.of_task(name)
        told(name, 4000, test_mutations.campaign(found, f"long {name}", 4000), 500)
    for everything in (False, True):
        name = f"32 items, {'everything' if everything else 'items'}"
        if wanted(name):
            spec = tomllib.loads(spec_text(32, 6, everything=everything))
            found = certificate(derive_unchecked(sr.load(spec)))
            told(name, 1000, test_mutations.campaign(found, name, 1000), 125)
    if wanted("routing"):
        told("routing", 4000, test_routing.campaign(4000), 900)
    return failures


if __name__ == "__main__":
    sys.exit(main())
