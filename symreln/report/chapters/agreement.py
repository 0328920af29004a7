"""The confrontation with trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.claims.claim import said_of
from symreln.claims.integration import network_of
from symreln.claims.regime import regime_of
from symreln.claims.unsupported import unsupported_early
from symreln.claims.widths import narrow_pathways
from symreln.document.model import (
    Block,
    Citation,
    Figure,
    Items,
    Math,
    Reference,
    Section,
    Strong,
    Table,
    prose,
)
from symreln.document.numerals import scientific_latex
from symreln.document.typeset import say, typeset
from symreln.experiment.metrics import METRICS
from symreln.experiment.outcome import Validation
from symreln.report.chapters.gate_law import gate_law_blocks
from symreln.report.chapters.judgement import judgement_blocks
from symreln.report.chapters.mean_field import mean_field_blocks
from symreln.report.chapters.representations import representation_chapter
from symreln.report.sentences import beside_clauses, metric_rows

if TYPE_CHECKING:
    from symreln.experiment.aligned import PathwayAlignment
    from symreln.experiment.metrics import GateDrift

#: Rows of the table of edges' strengths; more are counted.
MOST = 40


def agreement_chapters(validation: Validation) -> list[Block]:
    """Return what training showed: the chapter on it, and that on hidden layers."""
    found = validation.representations
    hidden = [] if found is None else [representation_chapter(found, validation.network_name)]
    return [agreement_chapter(validation), *hidden]


def agreement_chapter(validation: Validation) -> Section:
    """Return the chapter on theory against training."""
    blocks: list[Block] = [
        *_beside(validation),
        _comparison(validation),
    ]
    blocks += [
        *said_of(validation.derivation, regime_of),
        *_published(validation),
        *judgement_blocks(validation),
        *_closed_forms(validation),
        *_strengths(validation),
        *gate_law_blocks(validation),
        *mean_field_blocks(validation),
        *_assumptions(validation),
    ]
    return Section(title="Theory against training", blocks=tuple(blocks), label="sec:agreement")


def _beside(validation: Validation) -> list[Block]:
    """Say what was trained, and what stands beside the verdicts of the first page."""
    size = validation.gdln.settings.batch_size
    rule = "full-batch gradient descent"
    if size is not None:
        rule = f"gradient descent on batches of {size} samples, which the theory does not have"
    return [
        prose(
            _trained(validation),
            f" were trained from independent random weights by {rule}, with "
            "the gates of this derivation. The prediction was made without them: ",
            *typeset(validation.prediction.computed),
            ". The verdicts are in ",
            Reference("tab:agreement"),
            "; beside them:",
        ),
        Items(tuple(typeset(f"{_capital(each)}.") for each in beside_clauses(validation))),
    ]


def _comparison(validation: Validation) -> Table:
    return Table(
        header=("curves", *(metric.latex for metric in METRICS)),
        rows=tuple(metric_rows(validation)),
        caption=(
            "Loss curves compared; a network's curve is the mean over seeds. Drop time: "
            "first step with ",
            Math(r"L < 0.9\, L(0)"),
            "; tail: root mean square of the difference of ",
            Math(r"\log_{10} L"),
            " over the last quarter of the steps. Losses below ",
            Math(r"2^{-52} L(0)"),
            ", the rounding error of float64, are taken as that value; a dash says that both "
            "curves are below it. The seed floor is the "
            "distance of one network to the mean of the others, averaged over networks. A single "
            "network is about as far from the best prediction of the mean; the mean over networks "
            "can be nearer to a prediction.",
        ),
        alignment="l" + "r" * len(METRICS),
    )


def _published(validation: Validation) -> list[Block]:
    if validation.published is None:
        return []
    return [
        prose(
            "The published prediction ",
            Citation("Jarvis2025"),
            f" carries hand-set constants ({validation.published.hand_set_constants}); "
            "its figures were measured elsewhere with the same metric.",
        )
    ]


def loss_figure(validation: Validation) -> Figure:
    """Return the figure of the losses, which the first page shows."""
    descends_sum = network_of(validation.derivation.spec).loss == "sum"
    return Figure(
        name="loss",
        caption=(
            "Loss: theory, gated deep linear network",
            "" if validation.network is None else f" and {validation.network_name}",
            ". Area and thin lines beside a curve: 5 % and 95 % quantiles over seeds, visible "
            "where they are wider than the curve. Triangles: drop times, one above the other "
            "where they coincide.",
            " Losses are means over samples; training descends their sum." if descends_sum else "",
        ),
        alt="Loss against steps on a linear and a logarithmic scale.",
    )


def _closed_forms(validation: Validation) -> list[Block]:
    """Say what the closed forms were confronted with where they are the whole prediction."""
    if validation.aligned is None:
        return []
    blocks: list[Block] = [
        prose(
            Strong("Aligned start"),
            ". The closed forms assume that every mode starts aligned, in hidden units of its "
            "own. One GDLN was started so. Gradient descent on the modes with finite steps equals "
            "that GDLN. The closed forms differ from it by the finite steps alone. Networks with "
            "random weights measure what the assumption costs.",
        )
    ]
    if validation.chain is not None:
        found = validation.chain
        blocks.append(
            prose(
                Strong("Initial strengths"),
                f" of {found.layers} layers with {found.units} units each are ",
                Math(r"\pi_0 = (\kappa \sigma \sqrt{H})^L"),
                ". ",
                Math(r"\kappa"),
                f" = {found.kappa:.4f} ± {found.error:.4f} is a Monte Carlo estimate over "
                f"{len(found.times)} isolated modes of random layers, followed until they have "
                "aligned: aligned layers that start at this strength diverge at the same time.",
            )
        )
    return blocks


def _strengths(validation: Validation) -> list[Block]:
    """Say where the units are that count for no pathway, and what tests where modes start."""
    early = validation.derivation.ask(unsupported_early)
    if not validation.kappas:
        return list(early.says())
    places = f" {early.counted}" if early.counted else ""
    return [
        prose(
            Strong("Initial strengths"),
            " are those of ",
            Reference("sec:lines"),
            f".{places} A pathway of the GDLN has the units that give it this strength, so that "
            "the GDLN tests the reduction, and a ReLU network the initial strengths too.",
        ),
        *early.says(),
    ]


def _trained(validation: Validation) -> str:
    gated = "gated deep linear networks"
    if validation.network is None:
        return f"{validation.seeds} {gated}"
    return f"{validation.seeds} {validation.network_name}s and as many {gated}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _assumptions(validation: Validation) -> list[Block]:
    derivation = validation.derivation
    limited = derivation.known.lowers_plateaus or bool(derivation.ask(narrow_pathways))
    blocks: list[Block] = [
        say(
            "**Silent alignment** is an assumption of the theory. It is measured at the last "
            "step: by the smallest cosine of the principal angles between trained and predicted "
            r"directions (1 is aligned), and by the share of $\|W^{(2)} W^{(1)}\|^2$ outside the "
            "predicted span."
            "{which_phase}",
            which_phase=_which_phase(validation),
        ),
        _alignment_table("GDLN", validation.gdln_alignment, limited=limited),
    ]
    if validation.split is not None:
        name, found = validation.network_name, validation.split.alignment
        blocks.append(_alignment_table(name, found, limited=limited))
    if validation.drift is not None:
        blocks += _gates(validation, validation.drift)
    return blocks


def _which_phase(validation: Validation) -> str:
    """Say which gates the last step belongs to, where they switch."""
    begin, _ = validation.derivation.phases[-1]
    if not begin:
        return ""
    return (
        " Gates, modes and directions, here and in what follows, are the last ones, those from "
        f"step {begin} on."
    )


def _gates(validation: Validation, drift: GateDrift) -> list[Block]:
    """Say how far the network's gates are from the theory's."""
    content: list = [Strong("Gates"), " are fixed in the theory and move in the network"]
    if drift.max_after_drop is not None:
        content.append(
            f": up to {percent(drift.max_after_drop)} of them, weighted by what their units "
            "contribute, still change after the loss has dropped"
        )
    split = validation.split
    if split is not None:
        content.append(
            f". At the end {percent(split.exact)} of the contribution comes from "
            "hidden units whose activity is exactly the gate of a pathway"
        )
    blocks: list[Block] = [prose(*content, ".")]
    if split is not None:
        pathways = validation.derivation.pathways
        shares = zip(pathways, split.shares, strict=True)
        shown = ", ".join(f"{p.name} {percent(share)}" for p, share in list(shares)[:12])
        blocks.append(
            prose(
                Strong("Shares of the pathways"),
                ". With every hidden unit given to the nearest gate, the pathways end with these "
                f"shares of the contribution: {shown}.",
            )
        )
    return blocks


_HELD = (
    " With weight decay, or fewer hidden units than modes, over the modes that the network has "
    "learned to half of their plateau."
)


def _alignment_table(name: str, found: tuple[PathwayAlignment, ...], *, limited: bool) -> Table:
    return Table(
        header=("pathway", "outputs", "inputs", "outside"),
        rows=tuple(
            (
                a.pathway,
                f"{min(a.left):.3f}" if a.left else "–",
                f"{min(a.right):.3f}" if a.right else "–",
                Math(scientific_latex(a.outside)),
            )
            for a in found
        ),
        caption=f"Alignment of the {name}: smallest cosine over a pathway's modes, mean over seeds."
        + _HELD * limited,
        alignment="lrrr",
    )
