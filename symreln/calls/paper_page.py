"""What a script of :mod:`symreln.calls.reproduce` fills: one page about a result of the paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import sympy as sp

from symreln.base.rounding import percent
from symreln.calls.answers import AbstractAnswer
from symreln.calls.deep_networks import DepthAnswer, depth
from symreln.calls.derive import Derivation, derive
from symreln.calls.explain import explain
from symreln.calls.validate import Validation, validate
from symreln.document.document_model import (
    Block,
    Document,
    Drawing,
    Figure,
    Items,
    Link,
    Paragraph,
    Section,
    Strong,
    Table,
)
from symreln.document.mathtext import slashed_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.truth import Truth
from symreln.experiment.metrics import METRICS, share_text
from symreln.experiment.rows import HAND_SET
from symreln.report import html
from symreln.report.drawing import drawing, dress, legend_below, log_scale, new_axes, styled
from symreln.report.looks import line_style
from symreln.report.reproduction import FORMAT, PAGE, PARTS, Part, marked

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from symreln.specs.spec import Spec

_Kept = TypeVar("_Kept", bound="AbstractAnswer | Derivation | Validation")
_HEIGHT = 3.0  # of figures, in inches


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
        self._blocks: dict[Part, list[Block]] = {part: [] for part in PARTS}
        self._said: dict[str, list[dict[str, Any]]] = {
            key: [] for key in ("statements", "tables", "figures")
        }
        self._drawings: list[Drawing] = []
        self._kept: list[str] = []
        self._part: Part = "derived"  # the one that was spoken of last

    @property
    def seeds(self) -> int:
        """Networks of each kind that loss curves are compared with."""
        return 20 if self.full else 4

    def assume(self, text: str) -> None:
        """Say what is assumed."""
        self._say("assumed", text)

    def derive(self, text: str, holds: Truth | bool | None = None) -> None:
        """Say what is derived exactly; with ``holds``, whether it is proven."""
        self._say("derived", text, _word(holds, "proven"))

    def compute(self, text: str, holds: bool) -> None:
        """Say what is derived in floating-point numbers, and whether it holds."""
        self._say("derived", text, _word(holds, "computed"))

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
        self._say("confirmed", text, _word(holds, "confirmed"), finding=finding, figure=figure)

    def beyond(
        self,
        text: str,
        holds: Truth | bool | None = None,
        *,
        by: Literal["proven", "computed", "confirmed"] = "confirmed",
    ) -> None:
        """Say what the paper does not.

        Args:
            text: With the numbers that were found.
            holds: Whether it holds; None where nothing is judged.
            by: How that is known: by exact algebra, by floating-point numbers, by networks.
        """
        self._say("beyond", text, _word(holds, by))

    def _say(self, part: Part, text: str, outcome: str | None = None, **more: Any) -> None:
        text, self._part = _spaced(text), part
        word = (Strong(f"{outcome[0].upper()}{outcome[1:]}. "),) if outcome else ()
        self._put(Paragraph((*word, *marked(text))))
        known = {"outcome": outcome, "finding": None, "figure": None, **more}
        self._said["statements"].append({"part": part, "text": text, **known})

    def _put(self, block: Block) -> None:
        self._blocks[self._part].append(block)

    @staticmethod
    def math(value: sp.Basic | AlgebraicNumber) -> str:
        """Return an exact value as mathematics for a text or a cell of a table."""
        exact = value.to_sympy() if isinstance(value, AlgebraicNumber) else value
        return f"${slashed_latex(exact)}$"

    def table(self, caption: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Put a table below what was said last; numbers have four digits, exact ones all."""
        cells = [list(map(_cell, row)) for row in rows]
        shown = tuple(tuple(map(marked, row)) for row in (header, *cells))
        self._put(Table(header=shown[0], rows=shown[1:], caption=marked(caption)))
        told = {"caption": caption, "header": list(header), "rows": cells}
        self._said["tables"].append({"part": self._part, **told})

    def figure(
        self, name: str, drawn: AbstractAnswer | Derivation | Validation | Path, caption: str
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
            drawing = _plotted(name, drawn.plot)
        self._draw(drawing, caption)

    @styled
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
        (ax,) = new_axes(_HEIGHT)
        for place, (label, (across, up)) in enumerate(curves.items()):
            style = line_style(place)
            if label in dots:
                style = {"color": style["color"], "linewidth": 0, "marker": "o", "markersize": 3.5}
            ax.plot(across, up, label=label, **{"linewidth": 1.4, **style})
        for axis in log:
            log_scale(ax, of="x" if axis == "x" else "y")
        dress(ax, x=x, y=y)
        legend_below(ax)
        self._draw(drawing(name, ax, pdf=False), caption)

    def _draw(self, drawing: Drawing, caption: str) -> None:
        self._put(Figure(name=drawing.name, caption=marked(caption), alt=caption))
        self._drawings.append(drawing)
        told = {"part": self._part, "name": drawing.name, "caption": caption}
        self._said["figures"].append(told)

    def keep(self, name: str, answer: _Kept) -> _Kept:
        """Save an answer in a folder beside the page, link its documents, and return it."""
        written = answer.save(self.folder / name)
        paths = [path.relative_to(self.folder).as_posix() for path in written]
        self._kept += [path for path in paths if path.endswith((".html", ".toml", ".json"))]
        return answer

    def validate(
        self,
        spec: Derivation | Spec | str | os.PathLike[str],
        name: str = "",
        **more: bool,
    ) -> Validation:
        """Confront a spec with trained networks: kept, drawn, judged, and as a table of distances.

        Args:
            spec: A derivation, or a spec, its file or its name.
            name: What the page calls the task; by default the spec's own name.
            more: As of :func:`symreln.validate`; without the diagnosis in the quick run.
        """
        derived = isinstance(spec, Derivation)
        derivation = spec if derived else derive(spec)
        name = name or derivation.spec.source
        self.keep(name, derivation)
        asked = {"diagnosis": self.full, **more}
        found = self.keep(name, validate(derivation, self.seeds, self.rng, **asked))
        verdict = found.verdicts["loss"]
        holds = {"agrees": True, "disagrees": False}.get(verdict.outcome, Truth.UNDECIDED)
        self.confirm(f"Loss of `{name}`: {verdict.reason}.", holds, figure=f"loss-{name}")
        self.figure(f"loss-{name}", found, f"Loss of {name}: theory and {found.seeds} networks.")
        header = ["curves", *(metric.title for metric in METRICS)]
        self.table(f"Distances of losses of `{name}`.", header, found.metric_rows())
        return found

    def depth(self, spec: Spec, seeds: int) -> DepthAnswer:
        """Compare deep networks with gated ones, and keep the answer.

        Args:
            spec: As of :func:`symreln.depth`.
            seeds: Networks of each kind.
        """
        return self.keep("depth", depth(spec, seeds=seeds, rng=self.rng))

    def explain(self, history: Mapping[str, Any], x: Any, y: Any, name: str) -> None:
        """Explain a trained network: kept, judged, and drawn by the units that it needs.

        Args:
            history: Its weights over training, as of :func:`symreln.explain`.
            x: Inputs, one row a sample.
            y: Targets, likewise.
            name: What the page calls its data.
        """
        told = self.keep(f"{name}-explained", explain(history, x, y)).to_json()
        few = ", ".join(f"{n} within {float(share):.0%}" for share, n in told["needed"].items())
        counts = [point["count"] for point in told["replay"]]
        errors = [max(point["max_abs_over_initial"], 1e-6) for point in told["replay"]]
        whole, off = counts[-1], told["theory"]["max_abs_over_initial"]
        self.confirm(
            f"Fewer than all {whole} units of a network on `{name}`, replayed from its own "
            f"weights, have its loss within 5 % of $L(0)$: needed are {few}.",
            (told["needed"]["0.05"] or whole) < whole,
        )
        dots, line = "replay of so many units", "theory of its gates"
        drawn = {dots: (counts, errors)}
        if off is not None:
            drawn[line] = (counts, [off] * len(counts))
        title = f"Replays of a network on {name} from its own weights, against their units."
        axes = {"x": "units", "y": "max |ΔL|/L(0)", "log": "xy"}
        self.plot(f"needed-{name}", title, drawn, dots=[dots], **axes)
        self.confirm(
            f"The theory of its {len(told['units'])} gates alone is within 5 %: "
            f"{'none' if off is None else f'{percent(off)} of $L(0)$ off'}.",
            off is not None and off <= 0.05,
        )

    def beside_published(self, found: Validation) -> None:
        """Say which predictions of a task are closer to its networks than the published one.

        Args:
            found: The confrontation of a ready-made task that something is published for.
        """
        theirs, *others = found.published
        name, least = found.derivation.spec.source, theirs.after.value or 0.0
        more = "".join(f"; {row.replaced}: {share_text(row.after)}" for row in others)
        judge = "gdln" if found.network is None else "relu"
        for curve, title in (("closed", "closed forms"), ("reduced", "integrated reduction")):
            if (apart := found.intervals.get(f"{curve}_vs_{judge}")) is None:
                continue
            distance, assumed = apart.max_abs_over_initial, found.prediction.free_constants
            if distance.value is None:
                continue
            error = None if distance.high is None else distance.high - distance.value
            self.beyond(
                f"Closer to the networks than what is published ({theirs.replaced}: "
                f"{percent(least)}{more}; numbers set by hand: {HAND_SET}): `{name}`, {title}, "
                f"{share_text(distance)} from {found.seeds} networks, numbers assumed or fitted: "
                f"{assumed}.",
                self.less(distance.value, least, error),
            )

    @staticmethod
    def less(one: float, two: float, error: float | None) -> Truth | bool:
        """Return whether a measured number is the smaller one, where its error leaves no doubt."""
        if error is None or abs(one - two) <= error:
            return Truth.UNDECIDED
        return bool(one < two)

    def files(self, how: str) -> dict[str, str | bytes]:
        """Return the page and its figures, by file name."""
        kept = [*self._kept, f"{self.name.replace('-', '_')}.py"]
        inside = [(PARTS[part], part, blocks) for part, blocks in self._blocks.items() if blocks]
        links = Items(items=tuple(Link(path, path) for path in kept))
        document = Document(
            title=marked(self.title),
            subtitle=how,
            blocks=tuple(
                Section(title=title, blocks=tuple(blocks), label=f"sec:{place}")
                for title, place, blocks in [*inside, ("Files", "files", [links])]
            ),
            figures=tuple(self._drawings),
        )
        figures = {f"{each.name}.svg": each.svg for each in self._drawings}
        return {**figures, PAGE: html.render(document)}

    def to_json(self) -> dict[str, Any]:
        """Return what the page says."""
        return {"format": FORMAT, "name": self.name, "title": self.title, **self._said}


@styled
def _plotted(name: str, plot: Callable[[Axes], Axes]) -> Drawing:
    """Return as a figure what something plots into axes."""
    (ax,) = new_axes(_HEIGHT)
    plot(ax)
    return drawing(name, ax, pdf=False)


def _word(holds: Truth | bool | None, yes: str) -> str | None:
    """Return what is said of a statement: that it holds, that it does not, that it is open."""
    if holds is None or holds is Truth.UNDECIDED:
        return None if holds is None else "undecided"
    proven = holds is Truth.PROVEN if isinstance(holds, Truth) else holds
    return yes if proven else "disproved" if yes == "proven" else "not confirmed"


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
