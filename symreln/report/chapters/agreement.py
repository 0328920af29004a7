"""The confrontation with trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.report.document import (
    Block,
    Citation,
    Figure,
    Math,
    Section,
    Strong,
    Table,
    Theorem,
    prose,
)
from symreln.report.numerals import scientific_latex
from symreln.report.typeset import typeset
from symreln.validation.confront import percent

if TYPE_CHECKING:
    from symreln.validation.confront import PathwayAlignment, Validation
    from symreln.validation.metrics import GateDrift


def agreement_chapter(validation: Validation, *, figures: bool) -> Section:
    """Return the chapter on theory against training."""
    spec = validation.derivation.spec
    head = "Agreement" if validation.agrees else "Disagreement"
    blocks: list[Block] = [
        prose(
            _trained(validation),
            " with the gates of this derivation were trained from independent random "
            "weights by full-batch gradient descent. The prediction (",
            *typeset(validation.prediction.method),
            ") was made without looking at them: free constants: ",
            Strong(str(validation.prediction.free_constants)),
            ".",
        ),
        Theorem(
            kind="Verdict",
            title=head,
            label="thm:agreement",
            blocks=(
                prose(_capital(validation.sentence()) + "."),
                prose("Reason for the tolerance: ", spec.validation.reason, "."),
            ),
        ),
        Table(
            header=(
                "curves",
                Math(r"\max |\Delta L| / L(0)"),
                Math(r"\overline{|\Delta L|} / L(0)"),
                "drop time error",
                "tail",
            ),
            rows=tuple(validation.metric_rows()),
            caption=(
                "Loss curves compared; a network's curve is the mean over seeds. Drop time: "
                "first step with ",
                Math(r"L < 0.9\, L(0)"),
                "; tail: root mean square of the difference of ",
                Math(r"\log_{10} L"),
                " over the last quarter of the steps. The seed floor compares each network with "
                "the mean of the others: no prediction of the mean can be asked to do better.",
            ),
            alignment="lrrrr",
        ),
    ]
    if validation.published is not None:
        blocks.append(
            prose(
                "The published prediction ",
                Citation("Jarvis2025"),
                f" carries hand-set constants ({validation.published.hand_set_constants}); "
                "its figures were measured elsewhere with the same metric.",
            )
        )
    if figures:
        blocks.append(
            Figure(
                name="loss",
                caption=(
                    "Loss: theory, gated deep linear network",
                    "" if validation.network is None else f" and {validation.network_name}",
                    "; bands are the 5 % and 95 % quantiles over seeds, triangles the drop times.",
                ),
                alt="Loss against steps on a linear and a logarithmic scale.",
            )
        )
    blocks += _assumptions(validation)
    return Section(title="Theory against training", blocks=tuple(blocks), label="sec:agreement")


def _trained(validation: Validation) -> str:
    if validation.network is None:
        return f"{validation.seeds} gated deep linear networks"
    return f"{validation.seeds} {validation.network_name}s and as many gated deep linear networks"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _assumptions(validation: Validation) -> list[Block]:
    blocks: list[Block] = [
        prose(
            Strong("Silent alignment"),
            " is assumed by the theory and measured here on the last step: the smallest cosine "
            "of the principal angles between trained and predicted directions (1 is aligned), and "
            "the share of ",
            Math(r"\|W^{(2)} W^{(1)}\|^2"),
            " outside the predicted span.",
        ),
        _alignment_table("GDLN", validation.gdln_alignment),
    ]
    if validation.network_alignment is not None:
        blocks.append(_alignment_table(validation.network_name, validation.network_alignment))
    if validation.drift is not None:
        blocks += _gates(validation, validation.drift)
    return blocks


def _gates(validation: Validation, drift: GateDrift) -> list[Block]:
    """Say how far the network's gates are from the theory's."""
    content: list = [Strong("Gates"), " are fixed in the theory and move in the network"]
    if drift.max_after_drop is not None:
        content.append(
            f": up to {percent(drift.max_after_drop)} of them, weighted by what their neurons "
            "contribute, still change after the loss has dropped"
        )
    if validation.assignment_exact is not None:
        content.append(
            f". At the end {percent(validation.assignment_exact)} of the contribution comes from "
            "neurons whose activity is exactly the gate of a pathway"
        )
    blocks: list[Block] = [prose(*content, ".")]
    if validation.network_shares is not None:
        pathways = validation.derivation.pathways
        shares = zip(pathways, validation.network_shares, strict=True)
        shown = ", ".join(f"{p.name} {percent(share)}" for p, share in list(shares)[:12])
        blocks.append(
            prose(
                Strong("Initial strengths"),
                " in the theory count half of the neurons for every pathway. With every neuron "
                f"given to the nearest gate, the pathways end with these shares of the "
                f"contribution: {shown}. Fewer neurons in a pathway mean a smaller effective "
                "start, and learning later than predicted.",
            )
        )
    return blocks


def _alignment_table(name: str, found: tuple[PathwayAlignment, ...]) -> Table:
    return Table(
        header=("pathway", "outputs", "inputs", "outside"),
        rows=tuple(
            (
                a.pathway,
                f"{min(a.left):.3f}",
                f"{min(a.right):.3f}",
                Math(scientific_latex(a.outside)),
            )
            for a in found
        ),
        caption=f"Alignment of the {name}: smallest cosine over a pathway's modes, seed mean.",
        alignment="lrrr",
    )
