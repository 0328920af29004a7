"""From the loss of the network to its reduced flow: the lines that hold whatever the modes do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from symreln.exact.linear import complement_projector
from symreln.laws.flow_letters import (
    decay_is_gradient,
    flow_is_gradient,
    loss_in_correlations,
    reduction_holds,
    stays_diagonal,
)
from symreln.laws.half_speed import half_speed_lines
from symreln.laws.line import Line, proven_once
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
    from symreln.networks.effective import EffectiveDataset

#: How lines are checked, in words.
IN_LETTERS = "in letters, for matrices of every size; two pathways stand for any number of them"


def whole_map(layers: int, path: str = "p") -> str:
    """Return the LaTeX of the product of a pathway's weights."""
    if layers == 1:
        return f"W_{path}"
    if layers == 2:
        return f"W^{{(2)}}_{path} W^{{(1)}}_{path}"
    return rf"W^{{({layers})}}_{path} \cdots W^{{(1)}}_{path}"


def flow_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield the loss, what a pathway sees, and the flow of its layers."""
    layers, until = derivation.known.layers, derivation.until_text
    seen = r"\Pi_p I_p" if any(p.boundary for p in derivation.spec.pathways) else "I_p"
    yield Line(
        says=f"The loss of the gated network, over $P$ samples with gates $g_p(\\mu)${until}:",
        equation=(
            r"L = \frac{1}{2P} \sum_{\mu=1}^{P} \Bigl\| y_\mu - \sum_p g_p(\mu)\, O_p "
            rf"{whole_map(layers)} {seen} x_\mu \Bigr\|^2",
        ),
        because="definition; $I_p$ and $O_p$ choose the inputs and outputs of a pathway"
        + (r", and $\Pi_p$ makes inputs orthogonal to its boundary" if seen != "I_p" else ""),
        check="summed over the samples with all outputs zero: the initial loss that is printed, of "
        "every stage, on this dataset, in exact arithmetic",
        holds=all(map(_starts_at_its_loss, derivation.stages)),
        main=True,
    )
    yield Line(
        says="Given its gates a pathway is a linear network on an **effective dataset**:",
        equation=(
            rf"g_p(\mu)\, O_p {whole_map(layers)} {seen} x_\mu = O_p {whole_map(layers)}\, "
            rf"(X_p)_\mu, \qquad X_p = {seen} X \operatorname{{diag}}(g_p)",
        ),
        because="a gate is a number for each sample, which the linear map passes through",
        check="its inputs times its gates less $X_p$, entry by entry, on this dataset, in exact "
        "arithmetic: that holds for every $W$",
        holds=all(
            _sees_gated_inputs(pathway.effective)
            for pathway in derivation.pathways
            if pathway.effective.image is None
        ),
        main=True,
    )
    square = r"\tfrac{1}{2} \sum_{p, j} \operatorname{tr} W_p^{\top} O_p O_j W_j "
    yield Line(
        says="So the loss knows the data by their correlations alone"
        + (f"; with $W_p = {whole_map(layers)}$," if layers > 1 else ":"),
        equation=(
            r"L &= \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_p \operatorname{tr} "
            rf"W_p^{{\top}} \Sigma^{{yx}}(p) + {square} \Sigma^{{x}}(j, p),",
            r"\Sigma^{yx}(p) &= \tfrac{1}{P}\, O_p Y X_p^{\top}, \qquad "
            r"\Sigma^{x}(j, p) = \tfrac{1}{P}\, X_j X_p^{\top}",
        ),
        because="the square is multiplied out under the trace",
        check=f"both sides subtracted {IN_LETTERS}",
        holds=loss_in_correlations(layers),
    )
    yield from _layers_flow(derivation)
    yield from _residuals(derivation)


def _layers_flow(derivation: Derivation) -> Iterator[Line]:
    """Yield the gradient flow of every layer."""
    known = derivation.known
    decay = known.weight_decay != 0
    yield Line(
        says=r"Gradient flow $\tau \dot{W} = -\partial L/\partial W$ of every layer; $E_p$ is what "
        "the pathways leave of what $p$ is to learn:",
        equation=(
            *_layer_rows(known.layers, decay),
            r"E_p &= \Sigma^{yx}(p) - \sum_j O_p O_j "
            rf"{whole_map(known.layers, 'j')} \Sigma^{{x}}(j, p)",
        ),
        because="the trace is differentiated by each matrix"
        + (r"; the penalty $\tfrac{1}{2} \lambda \|W\|^2$ adds $-\lambda W$" if decay else ""),
        check=f"the derivative along any direction of each matrix, {IN_LETTERS}",
        holds=flow_is_gradient(known.layers) and (not decay or decay_is_gradient()),
        main=True,
    )
    if known.half_speed.holds:
        yield from proven_once(half_speed_lines)


def _layer_rows(layers: int, decay: bool) -> tuple[str, ...]:
    def less(weight: str) -> str:
        return rf" - \lambda {weight}" * decay

    if layers == 1:
        return (rf"\tau \dot{{W}}_p &= E_p{less('W_p')},",)
    if layers == 2:
        first, second = "W^{(1)}_p", "W^{(2)}_p"
        return (
            rf"\tau \dot{{W}}^{{(1)}}_p &= W^{{(2)\top}}_p E_p{less(first)}, \qquad "
            rf"\tau \dot{{W}}^{{(2)}}_p = E_p W^{{(1)\top}}_p{less(second)},",
        )
    return (
        rf"\tau \dot{{W}}^{{(l)}}_p &= \bigl(W^{{({layers})}}_p \cdots W^{{(l+1)}}_p"
        r"\bigr)^{\top} E_p \bigl(W^{(l-1)}_p \cdots W^{(1)}_p\bigr)^{\top}"
        rf"{less('W^{(l)}_p')},",
    )


def _residuals(derivation: Derivation) -> Iterator[Line]:
    """Yield what a later stage learns, where there is one."""
    if len(derivation.stages) < 2:
        return
    yield Line(
        says="A pathway of a later stage sees what earlier ones leave of the targets, and these "
        "do not see it. With $Y^{(1)} = Y$, and $W_p^{*}$ the maps that pathways $p$ of stage $k$ "
        "have once it has converged, that is",
        equation=(
            r"Y^{(k+1)} = Y^{(k)} - \sum_{p \in k} O_p W_p^{*} X_p, \qquad "
            r"\tfrac{1}{P}\, O_p Y^{(k+1)} X_p^{\top} = 0",
        ),
        because="the normal equations of least squares: a flow that rests has no error",
        check="the correlation of what is left with every gated input of the stage before, exact, "
        "entry by entry",
        holds=all(_is_learned(*pair) for pair in pairwise(derivation.stages)),
    )


def basis_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield the change of basis, and where mutual diagonalisability is used."""
    layers, pathways = derivation.known.layers, derivation.pathways
    used = (
        "is used here, and proven: orthonormal bases make both correlations diagonal, because $M = "
        r"(\Sigma^{yx})^{\top} \Sigma^{yx}$ and $\Sigma^{x}$ commute:"
    )
    equal, follows, inner, others = "=", r" \iff", "D_p", ""
    if broken := sum(p.spectrum.commutator is not None for p in pathways):
        used = (
            f"would be used here, and is disproved for {broken} of {len(pathways)} pathways: their "
            "correlations do not commute. Bases of the spans of inputs and targets serve them:"
        )
        equal, follows, inner = r"\neq", r", \qquad", "G_{pp}"
        others = ", and of the others any orthonormal bases of these spans"
    yield Line(
        says=f"**Assumption 2.1.1** (mutually diagonalisable correlations) {used}",
        equation=(
            rf"M \Sigma^{{x}} {equal} \Sigma^{{x}} M{follows} "
            rf"\Sigma^{{yx}}(p) = U_p S_p V_p^{{\top}}, \quad \Sigma^{{x}}(p) = V_p {inner} "
            r"V_p^{\top}, \quad U_p^{\top} U_p = V_p^{\top} V_p = I",
        ),
        because=r"joint eigenvectors $v$ of $M$ and $\Sigma^{x}$, and $u = \Sigma^{yx} v/s$"
        + others,
        check="commutators of all pathways, and $M v = s^2 v$ and $\\Sigma^{x} v = d v$ for all "
        "modes of rational $s^2$ and $d$, entry by entry; the others in the certificate",
        holds=all(_commutes_as_said(p) for p in pathways if p.effective.image is None),
        main=True,
    )
    # Which bases of hidden units are free to choose.
    free = f" with any orthonormal ${'R_p' if layers == 2 else 'R_l'}$" * (layers > 1)
    error = rf"E_p &= S_p - \sum_j K_{{pj}}\, {whole_map(layers, 'j')}\, G_{{jp}}"
    rows = (*_layer_rows(layers, derivation.known.weight_decay != 0), error)
    reduced = (row.replace("W", "B").replace("E_p", r"\hat{E}_p") for row in rows)
    yield Line(
        says=f"Weights in these bases, a **change of basis**{free}, and $S_p = "
        r"U_p^{\top} \Sigma^{yx}(p) V_p$, $K_{pj} = U_p^{\top} O_p O_j U_j$, $G_{jp} = V_j^{\top} "
        r"\Sigma^{x}(j, p) V_p$:",
        equation=(*_aligned_rows(layers), *reduced),
        because=r"$\hat{E}_p = U_p^{\top} E_p V_p$; it is exact where $V_p$ spans the inputs and "
        "$U_p$ all that errors point to",
        check=f"bases shortened by orthonormality, {IN_LETTERS}",
        holds=reduction_holds(layers),
        main=True,
    )


def alignment_lines(derivation: Derivation) -> Iterator[Line]:
    """Yield where silent alignment is used: of the gates at the start, where modes close."""
    layers = derivation.known.layers
    if all(stage.verdict.level is Level.COUPLED_MATRICES for stage in derivation.stages):
        return
    start = r"B^{(l)}_p(0) \ \text{diagonal} \implies B^{(l)}_p(t) \ \text{diagonal}"
    yield Line(
        says="**Assumption 2.1.2** (silent alignment) is used here: weights start aligned with the "
        "data, with diagonal $B$ in every layer $l$, and stay so.",
        equation=(start,),
        because="with diagonal $S$, $D$, $K$ and $G$ the right-hand sides are diagonal. Dropped "
        "are the off-diagonal entries of $B$ and the weights outside the bases, which random "
        "weights have. That they stay small when initial weights are small is the assumption: it "
        "is not proven here, and the confrontation with training measures it",
        check="the flow of diagonal matrices of two modes, multiplied out: no off-diagonal entry",
        holds=stays_diagonal(layers),
        main=True,
    )


def _aligned_rows(layers: int) -> tuple[str, ...]:
    if layers == 1:
        return (r"W_p &= U_p B_p V_p^{\top},",)
    if layers == 2:
        return (
            r"W^{(1)}_p &= R_p B^{(1)}_p V_p^{\top}, \qquad W^{(2)}_p = U_p B^{(2)}_p R_p^{\top},",
        )
    return (
        rf"W^{{(l)}}_p &= R_l B^{{(l)}}_p R_{{l-1}}^{{\top}}, \quad R_0 = V_p, \; "
        rf"R_{{{layers}}} = U_p,",
    )


def _starts_at_its_loss(stage: StageDerivation) -> bool:
    """Whether the loss with all outputs zero, over the samples, is the one that is printed."""
    targets = stage.pathways[0].effective.goal
    return targets.square / (2 * targets.shape[1]) == stage.initial_loss


def _sees_gated_inputs(seen: EffectiveDataset) -> bool:
    """Whether the features of a pathway are its inputs times its gates, at every sample."""
    inputs = seen.dataset.inputs.select(rows=seen.pathway.inputs)
    if seen.pathway.boundary:
        on = inputs.select(columns=seen.pathway.boundary)
        inputs = complement_projector(on) @ inputs
    return (inputs.scaled_columns(seen.pathway.gate) - seen.features).is_zero


def _is_learned(stage: StageDerivation, later: StageDerivation) -> bool:
    """Whether what a later stage is left has no correlation with a stage's gated inputs."""
    goal = later.pathways[0].effective.goal
    seen = (p.effective for p in stage.pathways if p.effective.image is None)
    return stage.final_loss == later.initial_loss and all(
        each.masked(goal.correlated(each.features)).is_zero for each in seen
    )


def _commutes_as_said(pathway: PathwayDerivation) -> bool:
    """Whether Sigma^x and M commute where the derivation says so, and only there.

    Where they do every mode of rational s² and d is one of both.
    """
    sigma_yx, sigma_x = pathway.effective.sigma_yx, pathway.effective.sigma_x
    m, known = sigma_yx.T @ sigma_yx, pathway.spectrum.commutator
    found = next((m @ sigma_x - sigma_x @ m).nonzero(), None)
    if known is not None or found is not None:
        return known is not None and found == (known.row, known.column, known.value)
    for each in pathway.spectrum.classes:
        if each.degree > 1 or each.d is None:
            continue
        vectors = each.generators
        pairs = ((m, each.eigenvalue[0]), (sigma_x, each.d[0]))
        if any(not (a @ vectors - vectors.scale(n)).is_zero for a, n in pairs):
            return False
    return True
