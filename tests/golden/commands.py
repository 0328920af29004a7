"""Which commands the golden set runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.random_specs import toml_of
from tests.golden.specs import OWN, READY
from tests.specs.corpus import cases

#: Of so many wrong specs one is derived: each starts a process.
EVERY = 20
DERIVE = ("--format", "json", "--format", "tex", "--out", "out", "-q")
GATES = ("--out", "out")
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


#: The paper, page by page; it takes minutes.
PAPER = Command("reproduce", ("reproduce", "--out", "out", "-q"))


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
    yield from _gates()
    yield _own("sweep", "decay", "--over", "network.hidden=4,8", *SEEDS)
    for listing in ("tasks", "schema"):
        yield Command(listing, (listing,))
    yield from _refusals()


def _gates() -> Iterator[Command]:
    """Yield gates, races and replays of every method; networks are small."""
    few = ("--set", "network.hidden=40", "--set", "network.steps=601")
    kmeans = ("gates", "xor", "--method", "kmeans")
    yield Command("gates-xor-kmeans", (*kmeans, "--out", "out", "-q"))
    yield Command("gates-xor-kmeans-given", (*kmeans, *few, "--clusters", "3", *GATES, "-q"))
    for name in ("one-parameter", "cubic", "coupled-matrices", "boundary"):
        yield _own("gates", name, "--method", "self-consistent", *GATES, "-q")
    for wrong in (("--stages", "2"), ("--clusters", "900")):
        yield Command(f"gates-refused{wrong[0][1:]}", (*kmeans, *wrong, *few, *GATES, "-q"))
    yield Command("race-xor-speeds", ("race", "xor", *GATES))
    trained = ("--seeds", "2", "--points", "1", *few)
    yield Command("race-xor-trained", ("race", "xor", *trained, *GATES))
    yield _own("race", "one-parameter", *GATES)
    by = ("race", "contextual-3", "--by", "context")
    yield Command("race-by-context", (*by, "--out", "out"))
    yield Command("race-by-context-trained", (*by, "--seeds", "1", *few, *GATES))
    yield Command("race-by-context-over-c", (*by, "--over", "c", *GATES))
    yield Command("race-by-context-stage-2", (*by, "--over", "c", "--stage", "2", *GATES))
    yield Command("race-by-context-over-trained", (*by, "--over", "c", *trained, *GATES))
    yield Command("race-refused-limit", ("race", "contextual-3", "--by", "context", "--limit", "3"))
    replay = ("replay", "xor", *few, "--seeds", "1", *GATES, "-q")
    yield Command("gates-replay", replay)
    yield Command("gates-replay-curve", (*replay, "--curve"))


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
    """Yield derivations of a few wrong specs; all words are in ``tests/specs/messages.txt``."""
    with tempfile.TemporaryDirectory() as folder:
        found = [
            (case.name, case.source.removeprefix(f"{folder}/")) for case in cases(Path(folder))
        ]
    for name, source in found[::EVERY]:
        yield Command(f"refuses-{name}", ("derive", source, *DERIVE), _written(name))


def _written(name: str) -> Callable[[Path], object]:
    """Return what writes the corpus up to a case, which later ones do not concern."""
    return lambda folder: next(case for case in cases(folder) if case.name == name)
