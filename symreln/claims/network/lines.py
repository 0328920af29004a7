"""The derivation of nodes and edges, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.lines import DerivationLines, EveryLine, derivation_lines
from symreln.claims.network.described import described
from symreln.claims.on_data import (
    graph_follows_its_gradient,
    graph_loss_is_of_correlations,
    graph_runs_along_paths,
)
from symreln.laws.line import CANCELS, Line, checked, vanish
from symreln.laws.loss import mode_space_loss
from symreln.laws.shared_chain import place_proofs

if TYPE_CHECKING:
    from symreln.claims.network.components import Component
    from symreln.claims.network.derivation import NetworkDerivation


def network_lines(derivation: NetworkDerivation) -> DerivationLines:
    """Return the derivation of nodes and edges line by line.

    Raises:
        ArithmeticError: A line's check failed: a bug of symreln, and nothing is printed.
    """
    found = [*_flow(derivation), *_parts(derivation)]
    return DerivationLines(derived=checked(found, "line by line"))


def every_network_line(derivation: NetworkDerivation) -> EveryLine:
    """Return the same lines, to be said in full."""
    return EveryLine(of=derivation.ask(network_lines))


def _flow(derivation: NetworkDerivation) -> Iterator[Line]:
    """Yield the loss, the flow of every edge, and the reduction."""
    data = derivation.data
    yield Line(
        says="The loss of the gated network, over $P$ samples and all gated paths $p$ from an "
        "input to an output node, $W_p$ being the product of the weights along one:",
        equation=(
            r"L = \frac{1}{2P} \sum_{\mu=1}^{P} \Bigl\| y_\mu - \sum_p g_p(\mu)\, O_p W_p I_p "
            r"x_\mu \Bigr\|^2, \qquad W_p = \prod_{e \in p} W_e",
        ),
        because="a gate is a number for each sample, which linear maps pass through: nodes and "
        "edges are the sum over their paths",
        check="what the network gives out, run node by node with all gates, against the sum over "
        "paths, on this dataset, at integer weights drawn once, in exact arithmetic",
        holds=graph_runs_along_paths(data),
        main=True,
    )
    yield Line(
        says=r"Gradient flow $\tau \dot{W}_e = -\partial L/\partial W_e$ of every edge: the terms "
        "of all paths that use it; paths that see the same **effective dataset** are a bundle $b$, "
        "whose products of weights add up to $T_b$:",
        equation=(
            r"\tau \dot{W}_e &= \sum_{p \ni e} W_{\mathrm{after}(e,p)}^{\top} E_{b(p)} "
            r"W_{\mathrm{before}(e,p)}^{\top},",
            r"E_b &= \Sigma^{yx}(b) - \sum_c O_{bc} T_c \Sigma^{x}(c, b)",
        ),
        because="product rule: no path holds an edge twice",
        check="the loss summed over the samples, its central difference along a direction of every "
        "edge (of the first ones of many), which is exact, on this dataset, at integer weights "
        "drawn once",
        holds=graph_follows_its_gradient(data),
        main=True,
    )
    depths = {len(path.edges) for path in data.paths}
    yield Line(
        says="**Change of basis** at every node, from $s$ to $t$ of an edge, with orthonormal $R$ "
        r"and the correlations in these bases, $S_b = R_t^{\top} \Sigma^{yx}(b) R_s$, $K_{bc} = "
        r"R_t^{\top} O_{bc} R_t$ and $D_{cb} = R_s^{\top} \Sigma^{x}(c, b) R_s$, each in those of "
        "its own nodes:",
        equation=(
            r"W_e &= R_t B_e R_s^{\top},",
            r"\tau \dot{B}_e &= \sum_{p \ni e} B_{\mathrm{after}(e,p)}^{\top} "
            r"\Bigl[ S_b - \sum_c K_{bc} B_c D_{cb} \Bigr] B_{\mathrm{before}(e,p)}^{\top}",
        ),
        because="the spaces of input and output nodes hold all that correlations map into them, "
        f"of dimension {sum(size for _, size in derivation.ask(described)._outer)} in all",
        check="the term of every place in letters, shortened by orthonormality: it stands between "
        "the bases of its edge",
        holds=all(all(place_proofs(depth)) for depth in depths),
        main=True,
    )


def _parts(derivation: NetworkDerivation) -> Iterator[Line]:
    """Yield how the modes of every part close, those of equal parts once."""
    known: set[tuple[str, ...]] = set()
    for component in derivation.components:
        for line in _of_part(component):
            if line.equation not in known:
                known.add(line.equation)
                yield line


def _of_part(component: Component) -> Iterator[Line]:
    """Yield the lines of one part."""
    if component.form is not None:
        yield _diagonal(component)
        yield from component.form.lines()
        yield _loss(component)
    elif component.ordinary is not None:
        yield from component.ordinary.ask(derivation_lines).derived
    else:
        yield _integrated(component)


def _diagonal(component: Component) -> Line:
    spectra = {id(spectrum): spectrum for spectrum in component.spectra}.values()
    return Line(
        says="**Assumption 2.1.1** of [@Jarvis2025] (mutually diagonalisable correlations) is used "
        "here, and proven, and **Assumption 2.1.2** (silent alignment): all $B_e$ start diagonal, "
        "and stay so. Dropped are their off-diagonal entries and the weights outside the bases, "
        "which random weights have; that these stay small is assumed, and measured by training:",
        equation=(
            r"M \Sigma^{x} = \Sigma^{x} M \iff \Sigma^{yx}(b) = U_b S V_b^{\top}, \quad "
            r"\Sigma^{x}(b) = V_b D V_b^{\top}",
        ),
        because="joint eigenvectors of $M = (\\Sigma^{yx})^{\\top} \\Sigma^{yx}$ and $\\Sigma^{x}$",
        check="commutators, entry by entry",
        holds=all(
            _commutes(component, place)
            for place, first in enumerate(component.equal_data)
            if first == place
        )
        and all(spectrum.commutes for spectrum in spectra),
        main=True,
    )


def _commutes(component: Component, place: int) -> bool:
    sigma_x = component.data.bundles[place].effective.sigma_x
    sigma_yx = component.data.sigma_yx[place]
    m = sigma_yx.T @ sigma_yx
    return (m @ sigma_x - sigma_x @ m).is_zero


def _loss(component: Component) -> Line:
    s, d, strengths = (sp.symbols(f"{name}_1:3", positive=True) for name in ("s", "d", "pi"))
    maps, drives, inputs = (sp.diag(*each) for each in (strengths, s, d))
    traced = (-maps.T * drives + maps.T * maps * inputs / 2).trace()
    terms = [(p, 1, a, b) for p, a, b in zip(strengths, s, d, strict=True)]
    paths = len(component.paths)
    return Line(
        says=f"The loss in the strengths, over {paths} paths that do not couple, with $m_\\alpha$ "
        "equal modes each:"
        if paths > 1
        else "The loss in the strengths, with $m_\\alpha$ equal modes each:",
        equation=(
            r"L(t) = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - "
            + (rf"{paths} " if paths > 1 else "")
            + r"\sum_\alpha m_\alpha \left( s_\alpha \pi_\alpha(t) - \tfrac{1}{2} d_\alpha\, "
            r"\pi_\alpha(t)^2 \right)",
        ),
        because="the square multiplied out under the trace, with diagonal matrices",
        check=f"two modes, as matrices and as a sum; {CANCELS}; no two bundles couple",
        holds=vanish(sp.expand(traced - mode_space_loss(sp.S.Zero, terms)))
        and all(c == b for c, b in component.data.sigma_x),
        main=True,
    )


def _integrated(component: Component) -> Line:
    return Line(
        says=f"**Nothing closes further** for {component.name}: the reduction above is integrated "
        "as it stands, and its loss is",
        equation=(
            r"L = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_b \operatorname{tr} "
            r"T_b^{\top} \Sigma^{yx}(b) + \tfrac{1}{2} \sum_{b, c} \operatorname{tr} T_b^{\top} "
            r"O_{bc} T_c \Sigma^{x}(c, b)",
        ),
        because="the square multiplied out under the trace",
        check="the loss of the samples against that of the correlations, at integer weights drawn "
        "once, exact",
        holds=graph_loss_is_of_correlations(component.data),
        main=True,
    )
