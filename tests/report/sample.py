"""A document with every kind of block, as the tests of all renderers use it."""

import numpy as np

from symreln.document.document_model import (
    Citation,
    Code,
    Details,
    Document,
    Drawing,
    Equation,
    Figure,
    Items,
    Link,
    Math,
    Paragraph,
    Reference,
    Section,
    Source,
    Strong,
    Table,
    Theorem,
    contents,
    equation,
    plain_text,
    prose,
    walk,
)
from symreln.document.escape import text_in_math
from symreln.report.looks import line_style
from symreln.report.sketch import Cells, Curve, Panel, Sketch
from tests.report.corpus import HOSTILE


def drawings() -> tuple[Drawing, ...]:
    times = np.linspace(0.0, 8.0, 50)
    modes = Curve(x=times, y=np.tanh(times), style=line_style(0), label="common")
    gates = np.array([[1.0, 1, 1, 1], [0, 0, 1, 1]])
    rows, columns = ("common", "off_1"), (("a", 2), ("b", 2))
    cells = Cells(values=gates, rows=rows, columns=columns, gates=True)
    curves = Sketch.of("modes", Panel(x="time", curves=(modes,)), height=2.2)
    sketches = curves, Sketch.of("gates", Panel(cells=cells), height=1.2)
    return tuple(sketch.draw() for sketch in sketches)


SOLUTION = r"\pi_{\alpha}(t) = \frac{s/d}{1 + \left(\frac{s}{d \pi_{0}} - 1\right) e^{-2 s t/\tau}}"
BLOCKS = r"\begin{pmatrix} \tfrac{1}{8} I_8 & \tfrac{c}{24}\mathbf{1} \\ 0 & I_3 \end{pmatrix}"


def body(*blocks, **fields) -> Document:
    """A document of some blocks."""
    return Document(title="t", blocks=blocks, **fields)


def document() -> Document:
    """Return a small derivation; numbered things come in more than one order."""
    return Document(
        title=("Three contexts, ", Strong("equal structures")),
        subtitle=("Derived for ", Code("contextual-3")),
        figures=drawings(),
        bibliography=(
            Source(key="Saxe2014", content="A. Saxe et al.", url="https://arxiv.org/abs/1312.6120"),
            Source(key="Saxe2022", content=("The neural race, ", Strong("ICML"), ".")),
        ),
        blocks=(
            Section(title="Setting", label="sec:setting", blocks=_setting()),
            Section(
                title=("Spectrum of ", Math(r"\Sigma^{yx}")),
                blocks=(_lemma(), _proof(), _remark(), _table()),
            ),
            Section(title="Solutions", blocks=(*_solutions(), _provenance())),
        ),
    )


def _setting() -> tuple[Paragraph | Equation | Section | Items, ...]:
    return (
        prose("See ", Citation("Saxe2022"), ", ", Reference("eq:solution"), "."),
        equation("a = b"),
        equation(r"\Sigma^{x} = " + BLOCKS, label="eq:blocks"),
        Section(
            title="Gates",
            label="sec:gates",
            blocks=(
                Figure(name="gates", alt="Which samples are seen", caption="Gates", label="fig:g"),
                Items(("first", ("second, ", Math("x^2")))),
            ),
        ),
    )


def _lemma() -> Theorem:
    return Theorem(
        kind="Lemma",
        title="mutual diagonalisability",
        label="lem:mutual",
        blocks=(prose("It ", Strong("holds"), " for ", Math(text_in_math("off_1")), "."),),
    )


def _proof() -> Theorem:
    return Theorem(kind="Proof", blocks=(prose("By ", Reference("eq:blocks"), "."),))


def _remark() -> Theorem:
    return Theorem(kind="Remark", label="rem", blocks=(prose("After ", Reference("lem:mutual")),))


def _table() -> Table:
    rows = tuple((Math(rf"\alpha = {i}"), f"{i}.5", Code(f"pathway[{i}]")) for i in range(8))
    return Table(
        header=("mode", Math("s"), "pathway"),
        rows=rows,
        alignment="lrl",
        caption=("Modes, see ", Reference("sec:gates")),
        label="tab:modes",
    )


def _solutions() -> tuple[Equation | Details | Figure, ...]:
    return (
        equation(SOLUTION, label="eq:solution"),
        equation(r"L ={}& a + b", r"& {} - c", label="eq:loss"),
        Details(
            summary=("Proof of ", Reference("eq:solution")),
            blocks=(
                equation(r"L ={}& a + b", r"& {} - c"),
                prose(Code("return 0  # <zero> & nothing else")),
            ),
        ),
        Figure(name="modes", alt="Strengths", caption=("Over ", Math("t")), label="fig:modes"),
    )


def _provenance() -> Table:
    rows = tuple((str(index), text) for index, text in enumerate(HOSTILE))
    rows += (("link", Link("preprint", "https://arxiv.org/abs/1312.6120?a=%20b#c")),)
    return Table(header=("key", "value"), rows=rows, alignment="lp", caption="Provenance")


def words_of(*blocks) -> str:
    """Return what blocks say, their formulas in LaTeX."""
    said = []
    for block, _ in walk(blocks):
        said += [plain_text(content) for content in contents(block)]
        said += getattr(block, "lines", ())
    return "\n".join(said)
