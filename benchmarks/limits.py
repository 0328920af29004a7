"""How soon a command ends after its limit, and how much the cache saves.

`python benchmarks/limits.py [--quick]` prints two tables. The first: a spec without structure, 150
to 260 inputs, which no limit here lets finish; the command has to end within two seconds of its
time limit, with an enclosure of every spectrum and both documents; a memory limit, too, has to
leave them. The second: the same `derive` twice, with an empty cache
and with a filled one; the second has to be at least ten times faster.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIXTEEN = Path(__file__).parent / "sixteen-contexts.toml"
GRACE = 2.0
GAIN = 10.0


def structureless(folder: Path, size: int) -> Path:
    """Write a spec whose characteristic polynomial is irreducible of degree ``size``."""
    rng = random.Random(size)
    for name in ("x", "y"):
        rows = [[str(rng.randint(-9, 9)) for _ in range(size)] for _ in range(size)]
        (folder / f"{name}{size}.csv").write_text("\n".join(map(",".join, rows)), "utf-8")
    spec = folder / f"structureless-{size}.toml"
    spec.write_text(
        f'title = "Structureless"\n[dataset]\ninputs = "x{size}.csv"\ntargets = "y{size}.csv"\n'
        '[[pathway]]\nname = "few"\ngate = "all"\ninputs = [0, 1, 2]\n'
        '[[pathway]]\nname = "whole"\ngate = "all"\n',
        "utf-8",
    )
    return spec


def derive(spec: str, out: Path, cache: Path, *options: str) -> tuple[int, float]:
    """Return the exit code and the seconds of a command."""
    start = time.perf_counter()
    found = subprocess.run(
        [sys.executable, "-m", "symreln", "derive", spec, "--quiet", "--out", str(out), *options],
        env={**os.environ, "SYMRELN_CACHE": str(cache)},
        capture_output=True,
        check=False,
    )
    return found.returncode, time.perf_counter() - start


def known(out: Path) -> str:
    """Return what a command that was cut left out of what it has to write, "" for nothing."""
    try:
        found = json.loads((out / "derivation.json").read_text("utf-8"))
    except (OSError, ValueError):
        return "no derivation.json"
    missing = [p["name"] for p in found["pathways"] if not p["modes"] and not p["enclosures"]]
    if missing or not found["pathways"]:
        return f"not enclosed: {', '.join(missing) or 'anything'}"
    if found["verdict"]["level"] != "numeric only":
        return "not cut"
    names = ("derivation.html", "derivation.tex")
    return ", ".join(f"no {name}" for name in names if not (out / name).exists())


def limits(folder: Path, quick: bool) -> bool:
    print(f"{'inputs':>8}{'limit':>16}{'code':>6}{'seconds':>9}{'over':>7}")
    within = True
    cases = (
        [(150, 3.0), (260, 2.0), (260, 6.0)]
        if quick
        else [(size, limit) for size in (150, 200, 260) for limit in (1.0, 3.0, 6.0, 12.0)]
    )
    for size, limit in cases:
        spec, out = structureless(folder, size), folder / f"out-{size}-{limit}"
        asked = ("--time-limit", str(limit), "--no-cache")
        code, seconds = derive(str(spec), out, folder / "cache", *asked)
        over = seconds - limit
        wrong = [known(out), "not cut" if code != 4 else "", "late" if over > GRACE else ""]
        within &= not any(wrong)
        said = "; ".join(filter(None, wrong))
        print(f"{size:8}{limit:14.1f} s{code:6}{seconds:9.2f}{over:7.2f}  {said}")
    # When a memory limit is reached nobody can say beforehand; what is written is the claim.
    for size, limit in [(200, 300)] if quick else [(200, 300), (260, 300), (260, 400)]:
        spec, out = structureless(folder, size), folder / f"out-{size}-{limit}MB"
        asked = ("--memory-limit", str(limit), "--no-cache")
        code, seconds = derive(str(spec), out, folder / "cache", *asked)
        wrong = [known(out), "not cut" if code != 4 else ""]
        within &= not any(wrong)
        print(
            f"{size:8}{limit:13} MB{code:6}{seconds:9.2f}{'':7}  {'; '.join(filter(None, wrong))}"
        )
    return within


def cache(folder: Path, quick: bool) -> bool:
    print(f"{'spec':>20}{'first':>9}{'again':>9}{'ratio':>8}")
    within = True
    for spec in ("contextual-3", *(() if quick else ("digits", str(SIXTEEN)))):
        store = folder / f"cache-{Path(spec).stem}"
        _, first = derive(spec, folder / "a", store)
        again = statistics.median(derive(spec, folder / "b", store)[1] for _ in range(5))
        ok = first >= GAIN * again
        within &= ok
        print(f"{Path(spec).stem:>20}{first:9.2f}{again:9.3f}{first / again:8.1f}")
    return within


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        within = [limits(Path(name), options.quick), cache(Path(name), options.quick)]
    print("reached" if all(within) else "NOT reached")
    sys.exit(0 if all(within) else 1)


if __name__ == "__main__":
    main()
