"""What hidden layers hold, predicted and trained."""

from __future__ import annotations

import numpy as np

from symreln.document.document_model import Figure, Math, Paragraph, Section, Table, prose
from symreln.document.typeset import say
from symreln.experiment.representation import RepresentationComparison


def representation_chapter(found: RepresentationComparison, network_name: str) -> Section:
    """Return the chapter on the similarity of samples to the hidden layer."""
    names = {"relu": network_name, "gdln": "GDLN"}
    blocks = (
        _matrices() if found.by_matrices else _modes(),
        _table(found, names),
        Figure(
            name="representations",
            caption=(
                "Representations: similarities of all pairs of samples, on one scale, where the "
                "predicted ones have half their final spread and at the end."
            ),
            alt="Matrices of similarities, predicted and trained.",
        ),
        Figure(
            name="agreement",
            caption=(
                "Correlation with the prediction over time, and dotted the distance relative to "
                "the network's size."
            ),
            alt="Agreement of predicted and trained similarities over time.",
        ),
    )
    return Section(title="Representations", blocks=blocks, label="sec:representations")


def _modes() -> Paragraph:
    return say(
        "How similar two samples are to a hidden layer is the product of what it holds "
        r"of them. A pathway that is aligned and balanced has $W_1^T W_1 = \sum_\alpha "
        r"\pi_\alpha v_\alpha v_\alpha^T$, and a hidden unit belongs to one pathway, so "
        r"that the predicted similarity is $S_{\mu\nu}(t) = \sum_p \sum_\alpha "
        r"\pi_\alpha(t)\, (v_\alpha^T g_p(\mu) x_\mu)\, (v_\alpha^T g_p(\nu) x_\nu)$, "
        "with the strengths of the prediction and nothing fitted."
    )


def _matrices() -> Paragraph:
    return prose(
        "How similar two samples are to a hidden layer is the product of what it holds of them. A "
        "hidden unit belongs to one pathway, so that the predicted similarity is ",
        Math(r"S_{\mu\nu}(t) = \sum_p (g_p(\mu) x_\mu)^T W_{1,p}^T W_{1,p}(t)\, (g_p(\nu) x_\nu)"),
        ", with the coupled matrices of the prediction and nothing fitted.",
    )


def _table(found: RepresentationComparison, names: dict[str, str]) -> Table:
    half, last = found.half_way, len(found.steps) - 1
    return Table(
        header=("networks", "step", "correlation", "distance", "seed floor"),
        rows=tuple(
            (
                names[subject.name],
                str(found.steps[moment]),
                _text(subject.correlation[moment]),
                _text(subject.distance[moment]),
                "–" if subject.floor is None else _text(subject.floor[moment]),
            )
            for subject in found.subjects
            for moment in dict.fromkeys((half, last))
        ),
        caption=(
            f"Predicted similarities against {found.seeds} trained networks of each kind, where "
            "the predicted samples have half their final spread and at the end: correlation over "
            "pairs of samples, which says little where all pairs are about equally similar; ",
            Math(r"\|S_{\text{net}} - S\| / \|S_{\text{net}}\|"),
            ", mean over seeds; and the latter of each network against the mean of the others.",
        ),
        alignment="lrrrr",
    )


def _text(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "–"
