"""How soon a command ends after its limit.

`python benchmarks/limits.py [--quick]` prints a table: specs without structure, 150 to 260 inputs,
in one stage and in two, which no limit here lets finish, and sixteen contexts and digits, which may
be finished before a limit of a few seconds; the command has to end within two seconds of its time
limit, with what is proven and both documents; a memory limit, too, has to leave them. Commands find
their bytecode, as those of an installed package do. Other work on the machine counts against them;
the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIXTEEN = Path(__file__).parent / "sixteen-contexts.toml"
GRACE = 2.0


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


def two_stages(folder: Path, size: int) -> Path:
    """Write a spec whose second stage learns what a projection without structure leaves."""
    rng = random.Random(-size)
    for name in ("u", "v"):
        rows = [[str(rng.randint(-9, 9)) for _ in range(size)] for _ in range(2 * size)]
        (folder / f"{name}{size}.csv").write_text("\n".join(map(",".join, rows)), "utf-8")
    spec = folder / f"two-stages-{size}.toml"
    gates = {"whole": [1] * 2 * size, "half": [1] * size + [0] * size}
    pathways = [
        f'[[pathway]]\nname = "{name}"\ngate = {gate}\nstage = {stage}\n'
        for stage, (name, gate) in enumerate(gates.items(), start=1)
    ]
    data = f'[dataset]\ninputs = "u{size}.csv"\ntargets = "v{size}.csv"\n'
    spec.write_text('title = "Two stages"\n' + data + "".join(pathways), "utf-8")
    return spec


def derive(spec: str, out: Path, *options: str) -> tuple[int, float]:
    """Return the exit code and the seconds of a command."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    own = {"PYTHONPYCACHEPREFIX": str(out.parent / "bytecode")}
    start = time.perf_counter()
    found = subprocess.run(
        [sys.executable, "-m", "symreln", "derive", spec, "--quiet", "--out", str(out), *options],
        env={**inherited, **own},
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
    if found["verdict"]["level"] != "numeric only":
        return "not cut"
    names = ("derivation.html", "derivation.tex")
    return ", ".join(f"no {name}" for name in names if not (out / name).exists())


def limits(folder: Path, quick: bool) -> bool:
    print(f"{'spec':>20}{'limit':>10}{'code':>6}{'seconds':>9}{'over':>7}")
    within = True
    for spec, limit in cases(folder, quick):
        out = folder / f"out-{Path(spec).stem}-{limit}"
        asked = ("--time-limit", str(limit))
        code, seconds = derive(spec, out, *asked)
        over = seconds - limit
        finished = code == 0 and over <= 0
        wrong = ["late" if over > GRACE else ""]
        if not finished:
            wrong += [known(out), "not cut" if code != 4 else ""]
        within &= not any(wrong)
        said = "; ".join(filter(None, wrong)) or ("finished" if finished else "")
        print(f"{Path(spec).stem:>20}{limit:8.1f} s{code:6}{seconds:9.2f}{over:7.2f}  {said}")
    for size, limit in [(100, 100)] if quick else [(100, 90), (100, 100), (150, 105)]:
        spec, out = structureless(folder, size), folder / f"out-{size}-{limit}MB"
        asked = ("--memory-limit", str(limit))
        code, seconds = derive(str(spec), out, *asked)
        # When a memory limit is reached nobody can say beforehand; what is written is the claim.
        wrong = [] if code == 0 else [known(out), "not cut" if code != 4 else ""]
        within &= not any(wrong)
        said = "; ".join(filter(None, wrong)) or ("finished" if code == 0 else "")
        print(f"{spec.stem:>20}{limit:7} MB{code:6}{seconds:9.2f}{'':7}  {said}")
    return within


def cases(folder: Path, quick: bool) -> list[tuple[str, float]]:
    """Return (spec, time limit)."""
    if quick:
        own = [(150, 1, 3.0), (150, 2, 3.0), (260, 1, 2.0), (260, 1, 6.0)]
        ready = [(str(SIXTEEN), 1.0), ("digits", 1.0)]
    else:
        own = [(n, 1, limit) for n in (150, 200, 260) for limit in (1.0, 3.0, 6.0, 12.0)]
        own += [(n, 2, limit) for n in (60, 100, 150) for limit in (2.0, 6.0)]
        ready = [(s, t) for s in (str(SIXTEEN), "digits") for t in (0.5, 1.0, 2.0, 3.0, 5.0)]
    made = {1: structureless, 2: two_stages}
    return [(str(made[stages](folder, size)), limit) for size, stages, limit in own] + ready


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f}, processors: {os.cpu_count()}")
    with tempfile.TemporaryDirectory() as name:
        derive("xor", Path(name, "warm"), "--time-limit", "60")
        derive("digits", Path(name, "cut"), "--time-limit", "2")
        within = limits(Path(name), options.quick)
    print(f"load after: {os.getloadavg()[0]:.1f}")
    print("reached" if within else "NOT reached")
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
