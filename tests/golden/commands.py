"""Which commands the golden set runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.random_specs import toml_of
from tests.golden.specs import OWN, READY
from tests.spec.corpus import cases

DERIVE = ("--format", "json", "--format", "tex", "--out", "out", "-q")
SEEDS = ("--seeds", "2", "--out", "out", "-q")


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes:
        name: Unique, fit for a folder's name.
        arguments: What is typed after ``symreln``.
        prepare: Writes the files that it needs into its working folder.
    """

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path], object] = lambda _: None


def all_commands() -> Iterator[Command]:
    """Yield every command, in a fixed order."""
    for name in READY:
        yield Command(f"derive-{name}", ("derive", name, *DERIVE))
    for name in OWN:
        yield _own("derive", name, *DERIVE)
        yield _own("validate", name, *SEEDS)
    yield Command("validate-xor", ("validate", "xor", *SEEDS))
    few = ("--set", "network.hidden=60", "--set", "network.steps=2001")
    yield Command("validate-contextual-3", ("validate", "contextual-3", *few, *SEEDS))
    for method in ("enumerate", "self-consistent"):
        yield Command(f"gates-xor-{method}", ("gates", "xor", "--method", method, "--out", "out"))
        yield _own("gates", "closed-by-symmetry", "--method", method, "--out", "out")
    yield Command("gates-xor-kmeans", ("gates", "xor", "--method", "kmeans", "--out", "out", "-q"))
    yield Command("race-xor", ("race", "xor", "--out", "out", "-q"))
    yield Command("race-by-context", ("race", "contextual-3", "--by", "context", "--out", "out"))
    yield _own("sweep", "decay", "--over", "network.hidden=4,8", *SEEDS)
    for listing in ("tasks", "schema"):
        yield Command(listing, (listing,))
    yield from _refusals()


def _own(command: str, name: str, *options: str) -> Command:
    text = toml_of(OWN[name])
    label = "-".join(
        (command, name, *(o for o in options if o in ("enumerate", "self-consistent")))
    )
    return Command(
        label,
        (command, "spec.toml", *options),
        lambda folder: (folder / "spec.toml").write_text(text, "utf-8"),
    )


def _refusals() -> Iterator[Command]:
    """Yield a derivation of every wrong spec of the corpus."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = [(case.name, Path(case.source).name) for case in cases(Path(folder))]
    for name, source in found:
        if "\0" in source:
            continue  # nobody can type it: Python alone hands it in
        label = re.sub(r"[^a-z0-9]+", "-", name.lower())
        yield Command(f"refused-{label}", ("derive", source, *DERIVE), _corpus)


def _corpus(folder: Path) -> None:
    for _ in cases(folder):
        pass
