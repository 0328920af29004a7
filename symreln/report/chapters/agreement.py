"""The confrontation with trained networks: three verdicts, one table, what fails; then details."""

from __future__ import annotations

from collections.abc import Iterator

from symreln.base.rounding import percent, positional
from symreln.claims.integration import network_of
from symreln.claims.narrow import narrow_pathways
from symreln.document.document_model import (
    Block,
    Details,
    Figure,
    Items,
    Math,
    Paragraph,
    Reference,
    Section,
    Strong,
    Table,
    prose,
)
from symreln.document.mathtext import to_latex
from symreln.document.numerals import scientific_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.effective.network import EffectiveNetwork
from symreln.experiment.metrics import METRICS, bound_text, interval_text, share_text
from symreln.experiment.outcome import Validation
from symreln.experiment.rows import HAND_SET
from symreln.experiment.strengths import ModeMeasured
from symreln.laws.law import strength_symbol
from symreln.report.chapters.representations import representation_chapter
from symreln.report.sentences import beside_clauses, metric_rows, outcome_words

#: Modes whose strengths are listed; more are counted.
_MOST_MODES = 16
_VERDICTS = Reference("tab:agreement")
_FOLD = "Modes one by one, gates, effective network, alignment"


def agreement_chapters(validation: Validation) -> list[Block]:
    """Return what training showed: the chapter on it, and that on hidden layers."""
    found = validation.representations
    hidden = [] if found is None else [representation_chapter(found, validation.network_name)]
    return [_agreement_chapter(validation), *hidden]


def _agreement_chapter(validation: Validation) -> Section:
    """Return the chapter on theory against training."""
    beside = [f"{each[:1].upper()}{each[1:]}." for each in beside_clauses(validation)]
    more = (*_modes(validation), *_gates(validation), *_effective(validation))
    blocks = (
        _agreement_table(validation),
        _trained(validation),
        *([Items(tuple(map(typeset, beside)))] if beside else []),
        _comparison(validation),
        Details(summary=_FOLD, blocks=(*more, _alignment(validation))),
    )
    return Section(title="Theory against training", blocks=blocks, label="sec:agreement")


# -- the verdicts ----------------------------------------------------------------------------------


def outcomes_block(validation: Validation) -> Block:
    """Return what became of loss, modes and gates, in a sentence."""
    listed = [
        part
        for name, word in outcome_words(validation).items()
        for part in (", ", f"{name} ", Strong(word))
    ]
    return prose(f"Against {_networks(validation)}: ", *listed[1:], " (", _VERDICTS, ").")


def _agreement_table(validation: Validation) -> Table:
    """Return the verdicts of loss, modes and gates: what was measured, its interval, why."""
    return Table(
        header=("quantity", "outcome", "measured [95 % interval]"),
        rows=tuple(
            (name, Strong(found.outcome), typeset(found.reason))
            for name, found in validation.verdicts.items()
        ),
        caption=(
            "A quantity agrees where its whole confidence interval over seeds is within the "
            "tolerance, and disagrees where none of it is. Tolerance: "
            f"{bound_text(validation.tolerance)} of the initial loss, of a plateau, of the weight "
            f"({validation.derivation.spec.validation.reason})."
        ),
        alignment="llp",
        label=_VERDICTS.label,
    )


def loss_figure(validation: Validation) -> Figure:
    """Return the figure of the losses."""
    descends_sum = network_of(validation.derivation.spec).loss == "sum"
    return Figure(
        name="loss",
        caption=(
            "Loss: theory, gated deep linear network",
            "" if validation.network is None else f" and {validation.network_name}",
            ". Area and thin lines beside a curve: 5 % and 95 % quantiles over seeds, visible "
            "where they are wider than the curve. Triangles: drop times, one above the other "
            "where they coincide.",
            " The effective network knows the data alone, not the gates of the spec."
            * (_beside(validation) is not None),
            " Losses are means over samples; training descends their sum." if descends_sum else "",
        ),
        alt="Loss against steps on a linear and a logarithmic scale.",
    )


def _beside(validation: Validation) -> EffectiveNetwork | None:
    """Return the effective network where it stands beside what is judged."""
    return None if validation.judged == "effective" else validation.effective


def _networks(validation: Validation) -> str:
    gated = "gated deep linear networks (GDLN)"
    more = "" if validation.network is None else f"{validation.network_name}s and as many "
    return f"{validation.seeds} {more}{gated}"


# -- the chapter -----------------------------------------------------------------------------------


def _trained(validation: Validation) -> Paragraph:
    """Say what was trained, and how the prediction was made."""
    size = validation.gdln.settings.batch_size
    rule = f"batches of {size} samples, which the theory does not have" if size else "full batches"
    return say(
        f"{_networks(validation)} were trained from independent random weights by {rule}, "
        "with the gates of this derivation. The prediction was made without them: {computed}.",
        computed=typeset(validation.prediction.computed),
    )


#: Metrics that a document has; validation.json has one of the tail beside them.
_PRINTED = 3


def _comparison(validation: Validation) -> Table:
    published = (
        f" Published [@Jarvis2025] with hand-set constants ({HAND_SET}), measured elsewhere."
    )
    return Table(
        header=("curves", *(metric.latex for metric in METRICS[:_PRINTED])),
        rows=tuple(row[: 1 + _PRINTED] for row in metric_rows(validation)),
        caption=phrase(
            "Losses compared: means over seeds, with 95 % confidence intervals. "
            + "One approximation is replaced at a time, and → leads to what is left: it fails "
            "where the whole interval is below half of the distance before. "
            * bool(validation.diagnosis)
            + r"Drop time: first step with $L < 0.9\, L(0)$. Seed floor: the distance of one "
            "network to the mean of the others, whose mean can be nearer to a prediction."
            + published
            * bool(validation.published)
        ),
        alignment="l" + "r" * _PRINTED,
        label="tab:confronted",
    )


# -- details ---------------------------------------------------------------------------------------


def _modes(validation: Validation) -> Iterator[Block]:
    """Yield the modes' measured strengths beside their formulas, the strongest first."""
    by_label: dict[str, dict[str, ModeMeasured]] = {}
    for mode in sorted(validation.modes, key=lambda mode: -mode.plateau):
        by_label.setdefault(mode.label, {})[mode.subject] = mode
    shown, late = list(by_label.items())[:_MOST_MODES], "half-time error"
    more = len(by_label) - len(shown)
    if not shown:
        return
    yield Table(
        header=("strength", "GDLN", late, validation.network_name, late),
        rows=tuple(_mode_row(label, found, validation.tolerance) for label, found in shown),
        caption=phrase(
            r"Strengths $u^{\top} W v$ of trained pathways against their judged formulas, by "
            "decreasing plateau: the largest error over the looked-at steps as a share of the "
            "plateau, and the predicted minus the measured half-time in steps, with intervals of "
            "single modes. A unit of the ReLU network counts for the pathway whose gate is nearest "
            "to its outputs.{left}",
            left=f" {more} more are in validation.json." if more else "",
        ),
        alignment="lrrrr",
    )


def _mode_row(label: str, found: dict[str, ModeMeasured], tolerance: float) -> tuple:
    cells: list = [Math(to_latex(strength_symbol(label)))]
    for subject in ("gdln", "relu"):
        mode = found.get(subject)
        if mode is None:
            cells += ["–", "–"]
        else:
            late = interval_text(mode.half_time_error, lambda steps: positional(steps, 3))
            cells += [mode.why_not(tolerance) or share_text(mode.largest), late]
    return tuple(cells)


def _gates(validation: Validation) -> Iterator[Block]:
    """Say how far the network's gates are from the theory's, and what the law of gates says."""
    drift, split = validation.drift, validation.split
    if drift is not None and split is not None:
        derivation, text = validation.derivation, ""
        if drift.max_after_drop is not None:
            text = (
                f": up to {percent(drift.max_after_drop)} of them, weighted by what their units "
                "contribute, still change after the loss has dropped"
            )
        shares = list(zip(derivation.pathways, split.shares, strict=True))[:12]
        shown = ", ".join(f"{p.name} {percent(share)}" for p, share in shares)
        yield say(
            "**Gates** are fixed in the theory and move in the network{text}. At the end {exact} "
            "of the contribution comes from hidden units whose activity is exactly the gate of a "
            "pathway; with every unit given to the nearest gate, the pathways have these shares of "
            "it: {shown}.",
            text=text,
            exact=percent(split.exact),
            shown=shown,
        )
    if validation.law is not None:
        yield Figure(
            name="gate_law",
            caption=(
                "Share of the weight whose gate is one of the first stage's: by the law of gates "
                "(line) and in the trained networks (dots: mean, bars: range). No trained network "
                "enters the law. It is of first order: it leaves out what units that have left "
                "the gates do to the others."
            ),
            alt="Predicted and measured shares of gates against steps.",
        )


def _effective(validation: Validation) -> Iterator[Block]:
    """Yield what the data alone predict beside given gates, or why they predict nothing."""
    found = _beside(validation)
    if found is not None:
        yield say(
            f"**Effective network**: {found.count} units, predicted from the data alone, without "
            f"the gates of the spec. It starts at step {found.horizon} from hidden units that have "
            "grown alone until then. Its units move between gates as those of the network do. It "
            f"is not judged, as gates are given. Its Monte Carlo error is {percent(found.error)} "
            "of $L(0)$."
        )
    elif validation.drift is not None and validation.effective is None:
        yield say("**Effective network**: none, {why}.", why=validation.no_effective)


def _alignment(validation: Validation) -> Table:
    """Return how far trained maps are aligned with the modes."""
    derivation = validation.derivation
    found = {"GDLN": validation.gdln_alignment}
    if validation.split is not None:
        found[validation.network_name] = validation.split.alignment
    caption = (
        "Silent alignment, an assumption of the theory, at the last step: smallest cosine of the "
        "principal angles between trained and predicted directions (1 is aligned), over a "
        "pathway's modes, mean over seeds; and the share of the squared map outside the predicted "
        "span."
    )
    begin, _ = derivation.phases[-1]
    if begin:
        caption += f" Gates, modes and directions are those from step {begin} on."
    if derivation.known.lowers_plateaus or derivation.ask(narrow_pathways):
        caption += (
            " With weight decay, or fewer hidden units than modes, over the modes that the network "
            "has learned to half of their plateau."
        )
    rows = tuple(
        (
            name,
            a.pathway,
            *(f"{min(side):.3f}" if side else "–" for side in (a.left, a.right)),
            Math(scientific_latex(a.outside)),
        )
        for name, alignments in found.items()
        for a in alignments
    )
    header = ("networks", "pathway", "outputs", "inputs", "outside")
    return Table(header=header, rows=rows, caption=caption, alignment="llrrr")
