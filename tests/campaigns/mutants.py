"""Break the program at random places and see whether a test goes red.

``python -m tests.campaigns.mutants [--count 91] [--seed 0] [--only PART ...]``

A mutant is a copy of the package with one comparison, operator, condition or number changed. Places
are drawn evenly over the lines of ``symreln/``. The tests of the place's room run first, then,
where they stay green, all others. A mutant that no test notices is printed: a hole, or a change
that makes no difference. Takes about half a minute a place, and five more for each that survives.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Tests beside those in a folder of a room's own name.
BESIDE = {
    "base": ["tests/app"],
    "claims": ["tests/exceptional", "tests/families", "tests/report", "tests/test_prediction.py"],
    "cli": ["tests/app", "tests/test_refusals.py"],
    "document": ["tests/report"],
    "experiment": ["tests/validation"],
    "networks": ["tests/pathways", "tests/networks"],
    "pipeline": ["tests/test_pipeline.py", "tests/verifier"],
    "verdict": ["tests/pathways", "tests/test_verdict.py"],
}
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


def places(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that can be changed; annotations, names and messages stay."""
    for node in ast.walk(tree):
        operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
        number = isinstance(node, ast.Constant) and type(node.value) in (int, bool)
        negatable = isinstance(node, ast.If | ast.IfExp | ast.While)
        text = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitOr)
        if (type(operator) in SWAPPED or number or negatable) and not text:
            yield node


def changed(node: ast.AST) -> str:
    """Change a node in place; return what was done."""
    before = ast.unparse(getattr(node, "test", node))
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPPED[type(node.ops[0])]()  # pyright: ignore[reportArgumentType]
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else int(node.value) + 1  # pyright: ignore
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    else:
        node.op = SWAPPED[type(node.op)]()  # pyright: ignore[reportAttributeAccessIssue]
    return f"{before}  became  {ast.unparse(getattr(node, 'test', node))}"


def drawn(count: int, seed: int, only: list[str]) -> list[tuple[Path, int]]:
    """Return modules and which of their places are changed."""
    files = [p.relative_to(ROOT) for p in sorted((ROOT / "symreln").rglob("*.py"))]
    every = [
        (path, index)
        for path in files
        if not only or any(part in str(path) for part in only)
        for index, _ in enumerate(places(ast.parse((ROOT / path).read_text())))
    ]
    return random.Random(seed).sample(every, min(count, len(every)))


def survives(path: Path, source: str, folder: Path) -> bool:
    """Return whether all tests pass with a module's source replaced."""
    (folder / path).write_text(source)
    room = path.parts[1] if len(path.parts) > 2 else ""
    near = [p for p in [f"tests/{room}", *BESIDE.get(room, [])] if (folder / p).exists()]
    env = {**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "2"]
    try:
        for chosen in (near, ["tests"]):
            done = subprocess.run(
                [*command, *chosen], cwd=folder, env=env, capture_output=True, timeout=1500
            )
            if chosen and done.returncode:
                return False
    except subprocess.TimeoutExpired:
        return False  # a loop without an end is noticed, too
    finally:
        shutil.copy(ROOT / path, folder / path)
    return True


def main() -> int:
    """Try the mutants; return 1 where one survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=91)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    chosen = drawn(asked.count, asked.seed, asked.only)
    alive = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", ".*_cache", "*.pyc"))
        for path, index in chosen:
            tree = ast.parse((ROOT / path).read_text())
            node = list(places(tree))[index]
            what = changed(node)
            lives = survives(path, ast.unparse(tree), folder)
            alive += lives
            said = "SURVIVES" if lives else "killed"
            print(f"{said}  {path}:{getattr(node, 'lineno', '?')}  {what[:160]}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants killed")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main())
