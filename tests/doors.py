"""Count the tests that go through doors: ``python -m tests.doors [--inner N]``.

A door is a name of ``symreln`` itself or of the command line, one that the README's examples
import, or one that another room of the package imports: what only its own room uses is inner, and
so is what only tests import. A test that holds on to inner names breaks when a room is rearranged,
although it does what it did.
``--inner N`` lists the N inner names that most tests use.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "symreln", ROOT / "tests"
#: Modules of the root, and the commands.
PUBLIC = ("", "calls", "errors", "cli")
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {"calls", "cli"}

Name = tuple[str, str]


def imported(tree: ast.AST) -> Iterator[tuple[str, Name]]:
    """Yield every name imported from the package: (as what, (module, name))."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "symreln":
            yield from ((a.asname or a.name, (str(node.module), a.name)) for a in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "symreln":
                    yield alias.asname or "symreln", (alias.name, "")


def room(module: str) -> str:
    """The room of a module, "" for the package itself."""
    return f"{module}.".split(".")[1]


def is_public(name: Name) -> bool:
    """Whether a name is one of the package itself, or of the command line."""
    return room(name[0]) in PUBLIC and room(".".join(name)) not in ROOMS


def doors() -> set[Name]:
    """Names that a room gives to others, and to readers of the README."""
    text = (ROOT / "README.md").read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = {name for code in examples for _, name in imported(ast.parse(code))}
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        names = (name for _, name in imported(ast.parse(path.read_text("utf-8"))))
        found |= {name for name in names if room(".".join(name)) != own}
    return found


def tests_of(tree: ast.Module) -> Iterator[tuple[str, set[Name]]]:
    """Yield every test function with the names that it uses, by way of the file's own ones."""
    known = dict(imported(tree))
    own: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own[node.name] = node
        elif isinstance(node, ast.Assign):
            targets = [n for target in node.targets for n in ast.walk(target)]
            own |= {n.id: node for n in targets if isinstance(n, ast.Name)}

    def used(node: ast.AST, seen: set[str]) -> set[Name]:
        found = set()
        for part in ast.walk(node):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "arg", None)
            if name in known:
                found.add(known[name])
            if name in own and name not in seen:
                seen.add(name)
                found |= used(own[name], seen)
        return found

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node.name, used(node, {node.name})


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inner", type=int, default=0)
    asked = parser.parse_args()
    given, counts, inner_names = doors(), Counter[str](), Counter[Name]()
    for path in sorted(TESTS.rglob("test_*.py")):
        for _, names in tests_of(ast.parse(path.read_text("utf-8"))):
            inner = {name for name in names - given if not is_public(name)}
            inner_names.update(inner)
            kind = "inner names too" if inner != names else "inner names alone"
            counts[kind if inner else "doors alone"] += 1
    total = sum(counts.values())
    for kind, count in counts.most_common():
        print(f"{count:6}  {100 * count / total:4.0f} %  {kind}")
    for (module, name), count in inner_names.most_common(asked.inner):
        print(f"{count:6}  {module} {name}")


if __name__ == "__main__":
    main()
