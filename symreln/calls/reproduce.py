"""The paper's results, each derived, confronted with trained networks and put on a page.

Every page is made by a script over the public interface (``validation/paper``). What a page is
made of, it hands to the
:class:`symreln.calls.paper_page.Page` that it is given.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import runpy
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from symreln.base import pool
from symreln.base.jsonio import dumps
from symreln.base.processors import cores
from symreln.base.progress import phase
from symreln.base.provenance import library_versions
from symreln.base.records import record
from symreln.calls.answers import AbstractAnswer
from symreln.calls.paper_page import Page
from symreln.document.escape import in_letters
from symreln.errors import InputError, NotSupportedError, SpecError, SymrelnError
from symreln.report.reproduction import (
    FORMAT,
    RECORD,
    disagreements,
    files_of,
    findings_rows,
    outcome_counts,
)
from symreln.report.results_folder import UNFINISHED, together, write_files
from symreln.specs.arguments import check_counts
from symreln.specs.finding import nearest, shown

_JSON = "page.json"

#: The pages in their order: a script of that name makes each.
NAMES = (
    "linear-hierarchy",
    "xor",
    "different-structures",
    "equal-structures",
    "modular-or-mixed",
    "which-contexts",
    "depth",
    "routing",
    "algorithm-1",
    "representations",
    "assumption",
    "real-data",
    "order-by-design",
    "width",
    "sgd",
    "order-and-singular-values",
    "theory-and-networks",
    "disentangled",
)

#: A package that a page needs beside symreln's own, and the extra that installs it.
_NEEDS = {"real-data": ("sklearn", "data")}

#: Those that take longest, which begin first.
_LONG = ("depth", "equal-structures")


@record(eq=False)
class Reproduction(AbstractAnswer):
    """What :func:`symreln.reproduce` found.

    Attributes:
        pages: JSON of every page, in order.
        full: Whether everything was asked for.
        rng: Seed of the random streams.
        name: The page that was asked for, or "all".
    """

    pages: tuple[Mapping[str, Any], ...]
    full: bool
    rng: int
    name: str = "all"

    def to_json(self) -> dict[str, Any]:
        """Return what reproduction.json says."""
        return {
            "format": FORMAT,
            "full": self.full,
            "rng": self.rng,
            "version": library_versions()["symreln"],
            "pages": list(self.pages),
        }

    def files(self) -> dict[str, str | bytes]:
        """Return index.html and reproduction.json, by file name."""
        return {**files_of(self.pages, _how(self.full, self.rng)), RECORD: dumps(self.to_json())}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows: findings, what does not agree, pages.

        Of one page its statements.
        """
        if self.name != "all":
            yield from self._page_lines()
            return
        for number, name, outcome, text, _ in findings_rows(self.pages):
            yield f"finding {number}, {outcome}: {_plain(text)} ({name})"
        for name, outcome, text in disagreements(self.pages):
            yield f"{outcome}: {_plain(text)} ({name})"
        yield from _left_out()
        for page in self.pages:
            yield f"{page['name']}: {outcome_counts(page)}; {page['seconds']:.0f} s"

    def _page_lines(self) -> Iterator[str]:
        page = next(page for page in self.pages if page["name"] == self.name)
        for each in page["statements"]:
            yield f"{each['outcome'] or each['part']}: {_plain(each['text'])}"


def _plain(text: str) -> str:
    """Return a sentence as a terminal shows it: mathematics in letters, names as they are."""
    parts = text.replace("`", "").split("$")
    return "".join(in_letters(part) if place % 2 else part for place, part in enumerate(parts))


def reproduce(
    name: str = "all",
    directory: str | Path = "symreln-out/paper",
    *,
    full: bool = False,
    rng: int = 0,
) -> Reproduction:
    """Reproduce the paper: derive every result and confront it with trained networks.

    A page a result, with its figures, derivations and distances to trained networks, the published
    ones among them, and index.html: the five findings. They are made side by side, in as many
    processes as there are cores. What was done stays: the same again makes only the pages that are
    missing.

    Args:
        name: A page, such as xor or depth, or all; a name that is none lists them.
        directory: Folder, made if it is not there; a folder a page in it.
        full: Whether to train 20 networks of each kind for a loss curve and ask for everything,
            which takes about an hour; else it is as much as minutes allow.
        rng: Seed of the random streams.

    Raises:
        InputError: There is no such page.

    Example:
        >>> import symreln as sr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = sr.reproduce("linear-hierarchy", folder)
        >>> [page["name"] for page in found.pages]
        ['linear-hierarchy']
    """
    folder = Path(directory)
    for _ in _pages_made(_chosen(name), folder, full=full, rng=rng):
        pass
    return replace(_collected(folder, full=full, rng=rng), name=name)


def _pages_made(
    names: Sequence[str], folder: Path, *, full: bool, rng: int
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the JSON of pages as they are ready, and whether they had to be made.

    Several pages are made at a time, in processes of their own. What fails ends nothing else, and
    what is ready is collected however this ends.

    Raises:
        LimitReachedError: A process was killed.
        SymrelnError: Pages could not be made; of the kind of the first.
    """
    check_counts(1, rng, "reproduce")
    settings = {"full": full, "rng": rng}
    if len(names) == 1:
        yield _made(names[0], folder, **settings)
        return
    failures: dict[str, Exception] = {}
    ordered = sorted(names, key=lambda name: name not in _LONG)
    with pool.processes(cores()) as executor, phase("reproducing") as report:
        started = {executor.submit(_made, each, folder, **settings): each for each in ordered}
        try:
            for count, done in enumerate(as_completed(started), start=1):
                error = done.exception()
                if isinstance(error, Exception) and not isinstance(error, BrokenExecutor):
                    failures[started[done]] = error
                else:
                    yield done.result()
                report(count, len(started))
        finally:
            _collected(folder, **settings)
    if failures:
        raise _together(failures)


def _together(failures: Mapping[str, Exception]) -> Exception:
    """Return one error for all pages that could not be made; a defect of ours as it is."""
    for error in failures.values():
        if not isinstance(error, SymrelnError):
            return error
    told = "; ".join(f"{name}: {error}" for name, error in failures.items())
    kind = type(next(iter(failures.values())))
    kind = InputError if issubclass(kind, SpecError) else kind  # which is a list of problems
    return kind(f"reproduce: pages that could not be made: {told}. The others are ready")


def _chosen(name: str) -> tuple[str, ...]:
    """Return the names of the pages that are asked for: of all, those that can be made.

    Raises:
        InputError: There is no such page.
        NotSupportedError: It needs a package that is not installed.
    """
    if name == "all":
        return tuple(each for each in NAMES if not _install(each))
    if name not in NAMES:
        hint = nearest(str(name), ["all", *NAMES])
        msg = f"reproduce: found {shown(name)}, expected a page. {hint}"
        raise InputError(msg)
    if how := _install(name):
        msg = f"reproduce {name}: a package that it needs is not installed. Install it: {how}"
        raise NotSupportedError(msg)
    return (name,)


def _left_out() -> Iterator[str]:
    """Yield a sentence for every page that "all" leaves out, before any work."""
    for name in NAMES:
        if how := _install(name):
            yield f"{name} is left out: a package that it needs is not installed. Install it: {how}"


def _install(name: str) -> str:
    """Return the command that installs what a page needs; empty where that is there."""
    package, extra = _NEEDS.get(name, ("symreln", ""))
    missing = importlib.util.find_spec(package) is None
    return f"python -m pip install 'symreln[{extra}]'" if missing else ""


def _made(name: str, folder: Path, *, full: bool, rng: int) -> tuple[dict[str, Any], bool]:
    """Return a page's JSON, and whether it had to be made."""
    script, settings = _script(name), _settings(name, full=full, rng=rng)
    place = folder / name
    known = _read(place)
    if known is not None and known.get("settings") == settings:
        return known, False
    for left in place.rglob(UNFINISHED):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    module, began = runpy.run_path(str(script)), time.monotonic()
    title = (module["__doc__"] or name).splitlines()[0].rstrip(".")
    with together(place) as draft:
        page = Page(name, draft, full=full, rng=rng, title=title)
        with phase(name):
            module["reproduce"](page)
        seconds = time.monotonic() - began
        found = {**page.to_json(), "seconds": seconds, "settings": settings}
        files = page.files(_how(full, rng))
        files |= {script.name: script.read_text("utf-8"), _JSON: dumps(found)}
        write_files(draft, files)
    return found, True


def _collected(folder: Path, *, full: bool, rng: int) -> Reproduction:
    """Return what the pages of a folder say together, and write it there."""
    known = ((_settings(name, full=full, rng=rng), _read(folder / name)) for name in NAMES)
    own = tuple(page for settings, page in known if page and page.get("settings") == settings)
    found = Reproduction(pages=own, full=full, rng=rng)
    found.save(folder)
    return found


def _settings(name: str, *, full: bool, rng: int) -> dict[str, Any]:
    """Return what a page depends on; one that was made with all of it is not made again."""
    script = hashlib.sha256(_script(name).read_bytes()).hexdigest()
    return {"full": full, "rng": rng, "versions": library_versions(), "script": script}


def _read(place: Path) -> dict[str, Any] | None:
    """Return the JSON of a page that was made, or None."""
    try:
        return json.loads((place / _JSON).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def _script(name: str) -> Path:
    """Return the script of a page: of the wheel, or of the checkout that is installed from."""
    package = Path(__file__).parent.parent
    file = f"{name.replace('-', '_')}.py"
    places = (package / "paper" / file, package.parent / "validation" / "paper" / file)
    return next(path for path in places if path.exists())


def _how(full: bool, rng: int) -> str:
    asked, version = "full" if full else "quick", library_versions()["symreln"]
    return f"Reproduced by symreln {version}, {asked} run, seed {rng}"
