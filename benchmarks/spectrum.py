"""Speed of the exact joint spectrum, as ratios measured within one run.

    python benchmarks/spectrum.py [--quick] [--sympy] [--write]

The work is the contextual task's pathway 'common' with context inputs: 128 items in 16 contexts,
Sigma^yx of shape 4335 × 144. Exact work starts from the exact correlations in memory, numpy's float
SVD from the same matrix in float64; both in one thread, taken in turn; medians of seconds of that
thread. ``--sympy`` measures SymPy's SVD with flint ground types once (minutes), and keeps the
figure in benchmarks/spectrum-sympy.json, which every later run cites. ``--write`` puts the table
and the plot of exact against float time into docs/.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from spectrum_page import Row, exponent, versions, write_page
from spectrum_work import CONTEXTS, ITEMS, Problem, contextual

import symreln as sr
from symreln.claims.solve import derive_unchecked
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import joint_spectrum
from symreln.pipeline.certificate import certificate as certificate_of
from symreln.sizes.every_size import every_size
from symreln.verifier import verify

HERE = Path(__file__).resolve().parent
SYMPY_RECORD = HERE / "spectrum-sympy.json"
WHOLE_SPEC = HERE / "sixteen-contexts.toml"
GROWTH = (16, 32, 64, 128, 256)


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that this process worked; a busy machine adds nothing to them."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turn(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Time several works in turn, so that whatever slows the machine slows all of them."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(seconds(work))
    return times


def svd(matrix: np.ndarray) -> Callable[[], object]:
    return lambda: np.linalg.svd(matrix, full_matrices=False)


def shown(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def ratio_of(one: list[float], other: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


# -- rows -----------------------------------------------------------------------------------------


def decomposition(repeats: int) -> list[Row]:
    numeric = Problem.of(contextual(ITEMS, CONTEXTS, "1"))
    symbolic = Problem.of(contextual(ITEMS, CONTEXTS, "c"))
    numeric.exact()  # numpy and FLINT load what they need
    every = sr.derive(contextual(ITEMS, "C", "c"))
    works = {
        "svd": svd(numeric.floats()),
        "exact": numeric.certified,
        "c": symbolic.certified,
        "C": lambda: json.dumps(every_size(every).certificate()),
    }
    times = in_turn(works, repeats)
    middle = {name: statistics.median(found) for name, found in times.items()}
    against = ratio_of(times["exact"], times["svd"])
    with_c = ratio_of(times["c"], times["exact"])
    with_both = ratio_of(times["C"], times["exact"])
    name = f"hierarchy n = {ITEMS}, C = {CONTEXTS}"
    rows = [
        Row(
            f"{name}: joint exact decomposition with certificate entries",
            f"{shown(middle['exact'])}; numpy SVD {shown(middle['svd'])}",
            f"{against:.1f} × numpy",
            "≤ 6 ×",
            against <= 6,
        ),
        Row(
            f"{name}, c symbolic",
            shown(middle["c"]),
            f"{with_c:.1f} × numeric",
            "≤ 10 ×",
            with_c <= 10,
        ),
        Row(
            f"hierarchy n = {ITEMS}, c and C symbolic, with certificate",
            shown(middle["C"]),
            f"{with_both:.1f} × numeric",
            "≤ 6 ×",
            with_both <= 6,
        ),
        verified(numeric),
    ]
    if SYMPY_RECORD.exists():
        record = json.loads(SYMPY_RECORD.read_text())
        # Compared through numpy's SVD, which was timed in the same run as SymPy's.
        faster = record["sympy_over_numpy"] / against
        rows.append(
            Row(
                f"the same by sympy {record['sympy']} (flint {record['python-flint']})",
                f"{record['seconds']:.0f} s, {record['sympy_over_numpy']:.0f} × numpy, "
                f"measured on {record['date']}",
                f"{faster:.0f} × slower",
                "≥ 100 ×",
                faster >= 100,
            )
        )
    return rows


def verified(problem: Problem) -> Row:
    """Verify the certificate of the whole derivation with this one pathway."""
    certificate = derive_unchecked(problem.spec).ask(certificate_of)
    text = json.dumps(certificate)
    took = seconds(lambda: verify(json.loads(text)))
    return Row(
        "the certificate of the whole derivation with this pathway, verified",
        f"{shown(took)}, {len(text) / 1e6:.2f} MB",
    )


def growth(repeats: int, quick: bool) -> tuple[list[Row], dict[str, list[float]]]:
    """Fit exponents over n; every size runs in a process of its own, for its peak memory."""
    sizes = GROWTH[:-1] if quick else GROWTH
    curves: dict[str, list[float]] = {"n": list(map(float, sizes)), "exact": [], "c": [], "svd": []}
    peak = 0.0
    for items in sizes:
        found = child(["--size", str(items), "--repeats", str(repeats)])
        for name in ("exact", "c", "svd"):
            curves[name].append(found[name])
        peak = found["peak_mb"]
    powers = {name: exponent(curves["n"], curves[name]) for name in ("exact", "c", "svd")}
    last = {name: exponent(curves["n"][-2:], curves[name][-2:]) for name in powers}
    rows = [
        Row(
            f"growth in n, {sizes[0]} … {sizes[-1]}, C = {CONTEXTS}"
            + (", c symbolic" if name == "c" else ""),
            " / ".join(map(shown, curves[name])),
            f"exponent {powers[name]:.2f}, last doubling {last[name]:.2f} "
            f"(numpy {powers['svd']:.2f}, {last['svd']:.2f})",
            "≤ 2.3",
            powers[name] <= 2.3,
        )
        for name in ("exact", "c")
    ]
    rows.append(Row(f"peak memory at n = {sizes[-1]}", f"{peak:.0f} MB", "", "< 1 GB", peak < 1000))
    return rows, curves


def one_size(items: int, repeats: int) -> dict[str, float]:
    works: dict[str, Callable[[], object]] = {}
    problems = {"exact": Problem.of(contextual(items, CONTEXTS, "1"))}
    problems["c"] = Problem.of(contextual(items, CONTEXTS, "c"))
    for name, problem in problems.items():
        problem.exact()
        works[name] = problem.certified
    works["svd"] = svd(problems["exact"].floats())
    times = in_turn(works, repeats)
    return {name: statistics.median(found) for name, found in times.items()}


def structureless(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """Random integers: one irreducible factor of degree N, every s and d to 50 digits."""
    rows = []
    limits = {32: 0.05, 64: 1.0}
    for kind in ("symmetric", "rectangular"):
        for size in sizes:
            matrix = random_integers(size, kind)
            identity = ExactMatrix.identity(size)

            def work(matrix: ExactMatrix = matrix, identity: ExactMatrix = identity) -> None:
                spectrum = joint_spectrum(matrix, identity)
                assert [c.degree for c in spectrum.classes] == [matrix.shape[1]]
                for mode in spectrum.modes:
                    mode.s.enclose(digits=50)
                    mode.d.enclose(digits=50)

            median = statistics.median(in_turn({"it": work}, repeats)["it"])
            limit = limits.get(size)
            rows.append(
                Row(
                    f"structureless {kind} N = {size}, 50 digits",
                    shown(median),
                    "",
                    "" if limit is None else f"< {shown(limit)}",
                    limit is None or median < limit,
                )
            )
    return rows


def random_integers(size: int, kind: str) -> ExactMatrix:
    draw = random.Random(size)
    height = size if kind == "symmetric" else 2 * size
    rows = [[draw.randint(-3, 3) for _ in range(size)] for _ in range(height)]
    if kind == "symmetric":
        rows = [[rows[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]
    return ExactMatrix.from_rows(rows)


def real_data() -> Row:
    found = child(["--digits"])
    return Row(
        "digits (64 inputs, 1797 images), exact verdict from loading on",
        f"{shown(found['seconds'])}, {found['peak_mb']:.0f} MB",
        f"{found['level']}; {found['work']:.1f} s of work",
        "< 30 s, < 2 GB",
        found["seconds"] < 30 and found["peak_mb"] < 2000,
    )


def digits() -> dict[str, Any]:
    start, before = time.perf_counter(), time.process_time()
    level = sr.derive(sr.load("digits")).verdict.level.value
    return {
        "seconds": time.perf_counter() - start,
        "work": time.process_time() - before,
        "level": level,
    }


def whole(runs: int = 3) -> Row:
    """Run `symreln derive` as a user does, on the clock; the median run."""
    times, works, size = [], [], 0.0
    for _ in range(runs):
        before = _work_of_children()
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "symreln", "derive", str(WHOLE_SPEC), "--out", folder]
            # An installed package is compiled.
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            start = time.perf_counter()
            subprocess.run(
                [*command, "--format", "html", "--format", "json"],
                check=True,
                capture_output=True,
                env=environment,
            )
            times.append(time.perf_counter() - start)
            pages = [path for path in Path(folder).rglob("derivation.html")]
            size = pages[0].stat().st_size / 1e6
        works.append(_work_of_children() - before)
    took = statistics.median(times)
    return Row(
        f"whole derive, n = {ITEMS}, C = {CONTEXTS}, c symbolic, 17 pathways, JSON and HTML",
        f"{took:.1f} s on the clock, HTML {size:.2f} MB",
        f"{statistics.median(works):.1f} s of work; {min(times):.1f} to {max(times):.1f} s",
        "< 6 s, < 3 MB",
        took < 6 and size < 3,
    )


def _work_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def child(arguments: list[str]) -> dict[str, Any]:
    """Run a part in a process of its own and add that process's peak memory."""
    command = [sys.executable, __file__, *arguments]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(found)


# -- what others do -------------------------------------------------------------------------------


def sympy_once() -> dict[str, Any]:
    """Time SymPy's decomposition once, and numpy's in the same process."""
    import sympy
    from sympy.external.gmpy import GROUND_TYPES

    assert GROUND_TYPES == "flint"
    problem = Problem.of(contextual(ITEMS, CONTEXTS, "1"))
    numerators, denominator = problem.sigma_yx.integers()
    matrix = sympy.Matrix(numerators.tolist()) / denominator
    floats = problem.floats()
    fast = statistics.median(in_turn({"svd": svd(floats)}, 5)["svd"])
    took = seconds(matrix.singular_value_decomposition)
    return {
        "seconds": round(took, 2),
        "numpy_seconds": round(fast, 4),
        "sympy_over_numpy": round(took / fast, 1),
        "date": date.today().isoformat(),
        **versions(),
    }


# -- output ---------------------------------------------------------------------------------------


def printed(rows: list[Row]) -> list[Row]:
    """Print rows as soon as they are measured."""
    for row in rows:
        print("  ".join(cell for cell in row.cells if cell), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, n up to 128")
    parser.add_argument("--sympy", action="store_true", help="measure and record SymPy's SVD")
    parser.add_argument("--write", action="store_true", help="write docs/spectrum.md and .svg")
    parser.add_argument("--repeats", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--digits", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--sympy-here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.size or given.digits or given.sympy_here:
        found = (
            one_size(given.size, given.repeats)
            if given.size
            else digits()
            if given.digits
            else sympy_once()
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(json.dumps({**found, "peak_mb": round(peak)}))
        return
    if given.sympy:
        os.environ["SYMPY_GROUND_TYPES"] = "flint"
        SYMPY_RECORD.write_text(json.dumps(child(["--sympy-here"]), indent=2) + "\n")
        return
    repeats = 3 if given.quick else 9
    sizes = (8, 16, 32) if given.quick else (8, 16, 32, 64)
    rows = printed(decomposition(repeats))
    rows += printed(structureless(sizes, repeats))
    more, curves = growth(max(3, repeats // 3), given.quick)
    rows += printed(more)
    rows += printed([real_data()])
    rows += printed([whole()])
    if given.write:
        write_page(rows, curves)


if __name__ == "__main__":
    main()
