"""The confrontation of a graph with trained gated deep linear networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.constants import count_free
from symreln.document.model import (
    Block,
    Figure,
    Items,
    Math,
    Section,
    Strong,
    Table,
    Theorem,
    prose,
)
from symreln.document.numerals import scientific_latex
from symreln.document.typeset import typeset
from symreln.experiment.graphs import titles
from symreln.report.chapters.curves_table import ALIGNMENT, HEADER
from symreln.report.chapters.judgement import diagnosis_blocks, verdict_table, verdict_title

if TYPE_CHECKING:
    from symreln.experiment.graphs import GraphValidation

#: Rows of the table of strengths; more are counted.
MOST = 40


def chapter(validation: GraphValidation) -> Section:
    """Return the chapter on theory against training."""
    said = validation.clauses()
    blocks: list[Block] = [
        prose(
            "Gated deep linear networks of this graph were trained by full-batch gradient "
            "descent: one whose edges start aligned, with strength ",
            Math(scientific_latex(validation.aligned_theory.start)),
            f" in every mode that learns, and {validation.seeds} from independent random "
            "weights. The prediction takes the scalar modes through the same steps; free "
            "constants: ",
            Strong(str(count_free(validation.constants))),
            ".",
        ),
        Theorem(
            kind="Verdict",
            title=verdict_title(validation.verdicts),
            label="thm:agreement",
            blocks=(Items(tuple(typeset(f"{each[:1].upper()}{each[1:]}.") for each in said)),),
        ),
        verdict_table(validation.verdicts),
        Table(
            header=HEADER,
            rows=tuple(validation.metric_rows()),
            caption=(
                "Loss curves compared; that of random weights is the mean over networks. The "
                "seed floor compares each of them with the mean of the others."
            ),
            alignment=ALIGNMENT,
        ),
        Figure(
            name="loss",
            caption=(
                "Loss of theory and gated deep linear networks; bands are the 5 % and 95 % "
                "quantiles over seeds, triangles the drop times. A predicted loss under float64's "
                "resolution of the first one is drawn there."
            ),
            alt="Loss against steps on a linear and a logarithmic scale.",
        ),
        *diagnosis_blocks(validation.diagnosis, titles(validation)),
        _start(validation),
        _strengths(validation),
    ]
    return Section(title="Theory against training", label="sec:agreement", blocks=tuple(blocks))


def _start(validation: GraphValidation) -> Block:
    start = validation.start
    if isinstance(start, str):
        return prose(
            Strong("Random weights"),
            f": where their modes start in effect is not derived: {start}. Their losses are "
            "recorded and compared with nothing.",
        )
    scatter = f" ± {start.error:.2g}" if start.error else ""
    how = (
        f"a Monte Carlo estimate over {len(start.amplitudes)} isolated modes of random weights, "
        "followed until they have aligned; the predicted loss is the mean over them"
        if start.error
        else "the length of the combination of all edges that grows fastest"
    )
    return prose(
        Strong("Random weights"),
        f" start in effect as edges that all have strength {start.amplitude:.4g}{scatter}: {how}.",
    )


def _strengths(validation: GraphValidation) -> Table:
    rows = [
        (label, str(number), f"{one:.8g}", f"{other:.8g}")
        for label, number, one, other in validation.strengths
    ]
    left = len(rows) - MOST
    return Table(
        header=("pathways", "mode", "predicted", "trained"),
        rows=tuple(rows if left <= 0 else [*rows[:MOST], (f"… {left} more", "", "", "")]),
        caption="Strengths at the last step of the network that started aligned.",
        alignment="lrrr",
    )
