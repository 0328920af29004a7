"""The paper's results, each derived, confronted with trained networks and put on a page.

Every page is made by a script over the public interface (``validation/paper``). What a page is
made of, it hands to the :class:`Page` that it is given.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import sympy as sp

from symreln.api import Answer, Derivation, NetworkDerivation, derive
from symreln.base.jsonio import dumps, write_json, write_text
from symreln.base.processors import cores
from symreln.base.progress import phase
from symreln.base.provenance import library_versions
from symreln.base.rounding import percent
from symreln.base.summaries import short_repr
from symreln.calls.answers import AbstractAnswer
from symreln.calls.depth import DepthAnswer, depth
from symreln.confrontation import Validation, validate
from symreln.document.mathtext import slashed_latex
from symreln.document.model import Drawing
from symreln.errors import InputError, LimitReachedError, SymrelnError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.truth import Truth
from symreln.experiment.words import share_text
from symreln.gating import serialise as gating
from symreln.report import html
from symreln.report.folder import write_files
from symreln.report.pages import markdown
from symreln.report.reproduction import (
    FORMAT,
    PAGE,
    RECORD,
    WORDS,
    Entry,
    PageFigure,
    PageTable,
    Part,
    Statement,
    comparison_rows,
    comparison_table,
    depth_comparison_rows,
    files_of,
    findings_rows,
    interval_of,
    lines_drawing,
    outcome_counts,
    page_document,
    page_json,
    plotted,
)
from symreln.specs.arguments import check_counts
from symreln.specs.finding import nearest, shown
from symreln.sweeps.executors import processes

if TYPE_CHECKING:
    import os
    from types import ModuleType

    from symreln.specs.model import Spec

_JSON, _MAX = "page.json", "max_abs_over_initial"
_Kept = TypeVar("_Kept", bound="AbstractAnswer | Answer | Validation")

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

#: Those that take longest, which begin first.
_LONG = ("depth", "equal-structures")


class Page:
    """What a script fills: what is assumed, derived, confirmed, and not said by the paper.

    Text has mathematics between dollar signs and names between backticks.

    Attributes:
        name: Of the script and of the folder.
        title: What the page is about.
        folder: Where the page lies, and what it keeps.
        full: Whether everything is asked for, or only what takes seconds.
        rng: Seed of the random streams.
    """

    def __init__(self, name: str, folder: Path, *, full: bool, rng: int, title: str = "") -> None:
        self.name, self.folder, self.full, self.rng = name, folder, full, rng
        self.title = title or name
        self._entries: list[Entry] = []
        self._rows: list[dict[str, Any]] = []
        self._kept: list[str] = []

    @property
    def seeds(self) -> int:
        """Networks of each kind that loss curves are compared with."""
        return 20 if self.full else 4

    def assume(self, text: str) -> None:
        """Say what is assumed."""
        self._say("assumed", text)

    def derive(self, text: str, holds: Truth | bool | None = None) -> None:
        """Say what is derived; with ``holds``, whether it is proven."""
        self._say("derived", text, holds)

    def confirm(
        self,
        text: str,
        holds: Truth | bool | None = None,
        *,
        finding: int | None = None,
        figure: str | None = None,
    ) -> None:
        """Say what trained networks do.

        Args:
            text: With the numbers that were measured.
            holds: Whether they do what was derived; None where nothing is judged.
            finding: Number of the paper's finding that it is about.
            figure: Name of the figure of this page that shows it.
        """
        self._say("confirmed", text, holds, finding, figure)

    def beyond(self, text: str, holds: Truth | bool | None = None) -> None:
        """Say what the paper does not."""
        self._say("beyond", text, holds)

    def _say(
        self,
        part: Part,
        text: str,
        holds: Truth | bool | None = None,
        finding: int | None = None,
        figure: str | None = None,
    ) -> None:
        word = None if holds is None else WORDS[part][_place(holds)]
        said = Statement(
            part=part, text=_spaced(text), outcome=word, finding=finding, figure=figure
        )
        self._entries.append(said)

    @property
    def _part(self) -> Part:
        """The part that was spoken of last."""
        return self._entries[-1].part if self._entries else "derived"

    @staticmethod
    def math(value: sp.Basic | AlgebraicNumber) -> str:
        """Return an exact value as mathematics for a text or a cell of a table."""
        exact = value.to_sympy() if isinstance(value, AlgebraicNumber) else value
        return f"${slashed_latex(exact)}$"

    def table(self, caption: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Put a table below what was said last; numbers have four digits, exact ones all."""
        cells = tuple(tuple(map(_cell, row)) for row in rows)
        found = PageTable(part=self._part, caption=caption, header=tuple(header), rows=cells)
        self._entries.append(found)

    def figure(
        self, name: str, drawn: AbstractAnswer | Answer | Validation | Path, caption: str
    ) -> None:
        """Put a figure below what was said last.

        Args:
            name: Letters, digits and hyphens; of no other figure of the page.
            drawn: An answer with a figure of its own, what can plot itself, or an SVG that
                :meth:`keep` has written.
            caption: What it shows.
        """
        if isinstance(drawn, Path):
            drawing = Drawing(name=name, svg=drawn.read_text("utf-8"))
        elif isinstance(drawn, AbstractAnswer):
            svg = next(text for file, text in drawn.files().items() if file.endswith(".svg"))
            drawing = Drawing(name=name, svg=svg if isinstance(svg, str) else svg.decode())
        else:
            drawing = plotted(name, drawn.plot)
        self._entries.append(PageFigure(part=self._part, caption=caption, drawing=drawing))

    def plot(
        self,
        name: str,
        caption: str,
        curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
        *,
        x: str,
        y: str,
        dots: Sequence[str] = (),
        log: str = "",
    ) -> None:
        """Put a figure of curves below what was said last.

        Args:
            name: As of :meth:`figure`.
            caption: Likewise.
            curves: Horizontal and vertical values, by what the legend calls them.
            x: Name of the horizontal axis.
            y: Name of the vertical axis.
            dots: Curves that are drawn as dots, as measured values are.
            log: Axes that are logarithmic: "x", "y" or "xy".
        """
        drawing = lines_drawing(name, curves, x=x, y=y, dots=dots, log=log)
        self._entries.append(PageFigure(part=self._part, caption=caption, drawing=drawing))

    def keep(self, name: str, answer: _Kept) -> _Kept:
        """Save an answer in a folder beside the page, link its documents, and return it."""
        written = answer.save(self.folder / name)
        paths = [path.relative_to(self.folder).as_posix() for path in written]
        self._kept += [path for path in paths if path.endswith((".html", ".toml"))]
        return answer

    def validate(
        self,
        spec: Derivation | NetworkDerivation | Spec | str | os.PathLike[str],
        name: str = "",
        **more: bool,
    ) -> Validation:
        """Confront a spec with trained networks: kept, drawn, judged, and in the table of all.

        Args:
            spec: A derivation, or a spec, its file or its name.
            name: What the table calls the task; by default the spec's own name.
            more: As of :func:`symreln.validate`: ``rules=True``; without the diagnosis in the quick
                run.
        """
        derived = isinstance(spec, Derivation | NetworkDerivation)
        derivation = spec if derived else derive(spec)
        name = name or derivation.spec.source
        self.keep(name, derivation)
        asked = {"diagnosis": self.full, **more}
        found = self.keep(name, validate(derivation, self.seeds, self.rng, None, **asked))
        self._rows += comparison_rows(name, found)
        verdict = found.verdicts["loss"]
        holds = {"agrees": True, "disagrees": False}.get(verdict.outcome, Truth.UNDECIDED)
        self.confirm(f"Loss of `{name}`: {verdict.reason}.", holds, figure=f"loss-{name}")
        self.figure(f"loss-{name}", found, f"Loss of {name}: theory and {found.seeds} networks.")
        return found

    def depth(self, spec: Spec, seeds: int) -> DepthAnswer:
        """Compare deep networks with gated ones: kept, and in the table of all.

        Args:
            spec: As of :func:`symreln.depth`.
            seeds: Networks of each kind.
        """
        answer = self.keep("depth", depth(spec, seeds=seeds, rng=self.rng))
        self._rows += depth_comparison_rows("depth", answer.found)
        return answer

    def beside_published(self, found: Validation) -> None:
        """Say which predictions of a task are closer to its networks than the published one.

        Args:
            found: The confrontation of a ready-made task that something is published for.
        """
        theirs, name = found.published, found.derivation.spec.source
        assert theirs is not None
        others = "".join(f"; {w}: {percent(a)} to {percent(b)}" for w, a, b in theirs.others)
        for row in (each for each in self._rows if each["task"] == name and "low" in each[_MAX]):
            distance, assumed = interval_of(row, _MAX), row.get("assumed_constants")
            if assumed is None or distance.value is None:
                continue  # the networks themselves, or a simulation of them
            error = None if distance.high is None else distance.high - distance.value
            self.beyond(
                f"`{name}`, {row['prediction']}: {share_text(distance)} from {found.seeds} "
                f"networks, numbers assumed or fitted: {assumed}. That is closer than what is "
                f"published ({theirs.source}: {percent(theirs.max_abs_over_initial)}{others}), "
                f"where numbers are set by hand ({theirs.hand_set_constants}).",
                self.less(distance.value, theirs.max_abs_over_initial, error),
            )

    @staticmethod
    def less(one: float, two: float, error: float | None) -> Truth | bool:
        """Return whether a measured number is the smaller one, where its error leaves no doubt."""
        if error is None or abs(one - two) <= error:
            return Truth.UNDECIDED
        return bool(one < two)

    def files(self, how: str) -> dict[str, str | bytes]:
        """Return the page and its figures, by file name."""
        document = page_document(self.title, self._entries, self._kept, how)
        figures = {f"{each.name}.svg": each.svg for each in document.figures}
        return {**figures, PAGE: html.render(document)}

    def to_json(self) -> dict[str, Any]:
        """Return what the page says."""
        return page_json(self.name, self.title, self._entries, self._rows)


def _place(holds: Truth | bool) -> int:
    if isinstance(holds, Truth):
        return {Truth.PROVEN: 0, Truth.REFUTED: 1, Truth.UNDECIDED: 2}[holds]
    return 0 if holds else 1


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, sp.Basic | AlgebraicNumber):
        return Page.math(value)
    return f"{value:.4g}" if isinstance(value, float) else _spaced(str(value))


def _spaced(text: str) -> str:
    """Return a text with the space before per cent signs that all other documents have."""
    return re.sub(r"(?<=\d)%", " %", text)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Reproduction(AbstractAnswer):
    """What :func:`symreln.reproduce` found.

    Attributes:
        pages: JSON of every page, in order.
        full: Whether everything was asked for.
        rng: Seed of the random streams.
    """

    pages: tuple[Mapping[str, Any], ...]
    full: bool
    rng: int

    def to_json(self) -> dict[str, Any]:
        """Return what reproduction.json says."""
        return {
            "format": FORMAT,
            "full": self.full,
            "rng": self.rng,
            "version": _version(),
            "pages": list(self.pages),
        }

    def files(self) -> dict[str, str | bytes]:
        """Return index.html, table.md and reproduction.json, by file name."""
        return {**files_of(self.pages, _how(self.full, self.rng)), RECORD: dumps(self.to_json())}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows: findings, the table, pages."""
        for number, name, outcome, text, _ in findings_rows(self.pages):
            yield f"finding {number}, {outcome}: {text} ({name})"
        if comparison_table(self.pages).cells:
            yield self.table().rstrip("\n")
        for page in self.pages:
            yield f"{page['name']}: {outcome_counts(page)}; {page['seconds']:.0f} s"

    def table(self) -> str:
        """Return the table of all predictions as Markdown."""
        return markdown(gating.Page((comparison_table(self.pages),)))


def reproduce(
    name: str = "all",
    directory: str | Path = "symreln-out/paper",
    *,
    full: bool = False,
    rng: int = 0,
) -> Reproduction:
    """Reproduce the paper: derive every result and confront it with trained networks.

    Pages are made side by side, in as many processes as there are cores. Pages that are in the
    folder with the same settings are not made again.

    Args:
        name: Of a page, or "all".
        directory: Folder, made if it is not there; a folder a page in it.
        full: Whether as many networks are trained as the paper's figures need (20 of each kind and
            more, which takes hours), or as few as minutes allow.
        rng: Seed of the random streams.

    Raises:
        InputError: There is no such page.

    Example:
        >>> import symreln as sr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = sr.reproduce("routing", folder)
        >>> [page["name"] for page in found.pages]
        ['routing']
    """
    folder = Path(directory)
    for _ in pages_made(chosen(name), folder, full=full, rng=rng):
        pass
    return collected(folder, full=full, rng=rng)


def pages_made(
    names: Sequence[str], folder: Path, *, full: bool, rng: int
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the JSON of pages as they are ready, and whether they had to be made.

    Several pages are made at a time, in processes of their own. What fails ends nothing else.

    Raises:
        LimitReachedError: A process was killed.
        SymrelnError: What a page says that cannot be made, once all others are.
    """
    check_counts(1, rng, "reproduce")
    if len(names) == 1:
        yield made(names[0], folder, full=full, rng=rng)
        return
    failures: list[Exception] = []
    ordered = sorted(names, key=lambda name: name not in _LONG)
    with processes(cores()) as pool, phase("reproducing") as report:
        started = [pool.submit(made, each, folder, full=full, rng=rng) for each in ordered]
        for count, done in enumerate(as_completed(started), start=1):
            try:
                yield done.result()
            except SymrelnError as error:
                failures.append(error)
            except BrokenExecutor as error:
                msg = (
                    "reproduce: a process was killed, as systems do that are short of memory. "
                    "Pages that are ready stay; the same command goes on"
                )
                raise LimitReachedError(msg) from error
            report(count, len(started))
    if failures:
        collected(folder, full=full, rng=rng)  # of what is ready nothing is lost
        raise failures[0]


def chosen(name: str) -> tuple[str, ...]:
    """Return the names of the pages that are asked for.

    Raises:
        InputError: There is no such page.
    """
    if name == "all":
        return NAMES
    if name not in NAMES:
        msg = f"reproduce: found {shown(name)}, expected a page. {nearest(name, [*NAMES, 'all'])}"
        raise InputError(msg)
    return (name,)


def made(name: str, folder: Path, *, full: bool, rng: int) -> tuple[dict[str, Any], bool]:
    """Return a page's JSON, and whether it had to be made."""
    script = _script(name)
    settings = {
        "full": full,
        "rng": rng,
        "version": _version(),
        "script": hashlib.sha256(script.read_bytes()).hexdigest(),
    }
    place = folder / name
    known = _read(place)
    if known is not None and known["settings"] == settings:
        return known, False
    (place / _JSON).unlink(missing_ok=True)  # of other settings
    module, began = _loaded(script), time.monotonic()
    title = (module.__doc__ or name).splitlines()[0].rstrip(".")
    page = Page(name, place, full=full, rng=rng, title=title)
    with phase(name):
        module.reproduce(page)
    write_files(place, page.files(_how(full, rng)))
    seconds = time.monotonic() - began
    found = {**page.to_json(), "seconds": seconds, "settings": settings}
    write_json(place / _JSON, found)  # last
    write_text(place / script.name, script.read_text("utf-8"))
    return found, True


def collected(folder: Path, *, full: bool, rng: int) -> Reproduction:
    """Return what the pages of a folder say together, and write it there."""
    pages = (_read(folder / name) for name in NAMES)
    own = [page for page in pages if page and _same(page["settings"], full, rng)]
    found = Reproduction(pages=tuple(own), full=full, rng=rng)
    found.save(folder)
    return found


def _same(settings: Mapping[str, Any], full: bool, rng: int) -> bool:
    return settings["full"] == full and settings["rng"] == rng


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


def _loaded(script: Path) -> ModuleType:
    found = importlib.util.spec_from_file_location(f"symreln_paper_{script.stem}", script)
    assert found is not None  # it ends in .py
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _version() -> str:
    return library_versions()["symreln"]


def _how(full: bool, rng: int) -> str:
    asked = "full" if full else "quick"
    return f"Reproduced by symreln {_version()}, {asked} run, seed {rng}"
