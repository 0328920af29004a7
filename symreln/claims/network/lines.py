"""The derivation of nodes and edges, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.flow_lines import IN_LETTERS
from symreln.claims.lines import DerivationLines, derivation_lines
from symreln.claims.network.on_data import chain, follows_its_gradient, runs_along_paths
from symreln.exact.truth import Truth
from symreln.laws.flow_letters import loss_in_correlations, stays_diagonal
from symreln.laws.line import CANCELS, Line, checked, proven_once, vanish
from symreln.laws.loss import mode_space_loss
from symreln.laws.routing import RoutingNetwork
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
    if not isinstance(derivation.routing_sizes, str):
        written = {line.equation for line in found}
        more = proven_once(RoutingNetwork.lines, RoutingNetwork())
        found += (line for line in more if line.equation not in written)
    return DerivationLines(derived=checked(found, "line by line"))


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
        holds=runs_along_paths(data),
        main=True,
    )
    yield Line(
        says=r"Gradient flow $\tau \dot{W}_e = -\partial L/\partial W_e$ of every edge: the terms "
        "of all paths that use it, whose weights after and before $e$ have the products "
        r"$W_{\mathrm{after}(e,p)}$ and $W_{\mathrm{before}(e,p)}$. Paths with the same input "
        "node, output node and gate see the same data and are a bundle $b$; the products of their "
        "weights add up to $T_b$. Of its **effective dataset** $X_b$ has the rows of $X$ at the "
        "input node and $Y_b$ those of $Y$ at the output node, each column times the gate; "
        "$O_{bb'}$ is 1 where an output of bundle $b'$ is one of $b$'s, and 0 elsewhere "
        "[@Saxe2022]:",
        equation=(
            r"\tau \dot{W}_e &= \sum_{p \ni e} W_{\mathrm{after}(e,p)}^{\top} E_{b(p)} "
            r"W_{\mathrm{before}(e,p)}^{\top},",
            r"E_b &= \Sigma^{yx}(b) - \sum_{b'} O_{bb'} T_{b'} \Sigma^{x}(b', b),",
            r"\Sigma^{yx}(b) &= \tfrac{1}{P}\, Y_b X_b^{\top}, \qquad "
            r"\Sigma^{x}(b', b) = \tfrac{1}{P}\, X_{b'} X_b^{\top}",
        ),
        because="product rule: no path holds an edge twice",
        check="the loss summed over the samples, its central difference along a direction of every "
        "edge (of the first ones of many), which is exact, on this dataset, at integer weights "
        "drawn once",
        holds=follows_its_gradient(data),
        main=True,
    )
    depths = {len(path.edges) for path in data.paths}
    yield Line(
        says="**Change of basis** at every node $n$, with an orthonormal $R_n$, and the "
        r"correlations in the bases of the input and output nodes of bundles, "
        r"$S_b = R_{\mathrm{out}(b)}^{\top} \Sigma^{yx}(b) R_{\mathrm{in}(b)}$, "
        r"$K_{bb'} = R_{\mathrm{out}(b)}^{\top} O_{bb'} R_{\mathrm{out}(b')}$ and "
        r"$D_{b'b} = R_{\mathrm{in}(b')}^{\top} \Sigma^{x}(b', b) R_{\mathrm{in}(b)}$:",
        equation=(
            r"W_e &= R_{\mathrm{to}(e)} B_e R_{\mathrm{from}(e)}^{\top},",
            r"\tau \dot{B}_e &= \sum_{p \ni e} B_{\mathrm{after}(e,p)}^{\top} "
            r"\Bigl[ S_b - \sum_{b'} K_{bb'} B_{b'} D_{b'b} \Bigr] B_{\mathrm{before}(e,p)}^{\top}",
        ),
        because="the spaces of input and output nodes contain the images of the correlations, and "
        "weights that start between such spaces stay there",
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
        yield from proven_once(type(component.form).lines, component.form)
        yield _loss(component)
    elif component.ordinary is not None:
        yield from component.ordinary.ask(derivation_lines).derived
    else:
        yield from _open(component)
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


def _open(component: Component) -> Iterator[Line]:
    """Yield what becomes of both assumptions where modes do not close by themselves."""
    decision = component.decision
    if decision.outcome is Truth.PROVEN:
        depths = {len(path.edges) for path in component.data.paths}
        yield Line(
            says=f"**Assumption 2.1.1** is used here for {component.name}, and proven at all its "
            "nodes at once, and **Assumption 2.1.2** (silent alignment): every edge has one "
            "strength $w_e$ in each mode and no other entries. Dropped is what random weights "
            "have beside them. Edges are used by different numbers of pathways, so that modes stay "
            "coupled along them:",
            equation=(
                r"\tau \dot{w}_e = \sum_{p \ni e} \Bigl( \prod_{f \in p,\, f \neq e} w_f \Bigr) "
                r"\Bigl[ s_b - \sum_{b'} o_{bb'}\, T_{b'}\, d_{b'b} \Bigr], \qquad "
                r"T_b = \sum_{p \in b} \prod_{f \in p} w_f",
            ),
            because=r"one orthonormal basis a node makes every $\Sigma^{yx}(b)$, "
            r"$\Sigma^{x}(b', b)$ and $O_{bb'}$ diagonal; the reduction, entry by entry",
            check="every product of one or two correlations that returns to its node is symmetric, "
            "entry by entry, longer ones where the verdict was decided; the flow of diagonal "
            "matrices of two modes, multiplied out: no off-diagonal entry",
            holds=_pairs_return_symmetric(component)
            and all(stays_diagonal(depth) for depth in depths),
            main=True,
        )
    elif decision.outcome is Truth.REFUTED:
        yield Line(
            says=f"**Assumption 2.1.1** would be used here for {component.name}, and is disproved: "
            "no bases make all its correlations diagonal. So **Assumption 2.1.2** is not used:",
            equation=(
                rf"{_witness(component)} \neq \Bigl( {_witness(component)} \Bigr)^{{\top}}"
                if decision.word
                else r"M \Sigma^{x} \neq \Sigma^{x} M, \qquad M = (\Sigma^{yx})^{\top} \Sigma^{yx}",
            ),
            because="in such bases every product that returns to its node would be symmetric",
            check=f"entry by entry: {decision.reason}",
            holds=_is_refuted(component),
            main=True,
        )


def _pairs_return_symmetric(component: Component) -> bool:
    """Whether Fᵀ G is, for all data maps F and G between two nodes, and F that returns at once."""
    data, maps = component.data, {}
    for b, bundle in enumerate(data.bundles):
        maps.setdefault((bundle.source, bundle.target), []).append(data.sigma_yx[b])
    for (c, b), sigma in data.sigma_x.items():
        into, out = data.bundles[b], data.bundles[c]
        maps.setdefault((into.source, out.source), []).append(sigma)
        maps.setdefault((out.target, into.target), []).append(data.overlaps[c, b])
    products = [f.T @ g for alike in maps.values() for f, g in combinations(alike, 2)]
    products += [f for (source, target), alike in maps.items() if source == target for f in alike]
    return all((product - product.T).is_zero for product in products)


def _witness(component: Component) -> str:
    """Return the LaTeX of the product that is not symmetric."""
    names = {"yx": r"\Sigma^{{yx}}({})", "x": r"\Sigma^{{x}}({}, {})", "o": "O_{{{1} {0}}}"}
    return r"\, ".join(
        names[str(one.of[0])].format(*one.of[1:]) + r"^{\top}" * one.is_turned
        for one in component.decision.word
    )


def _is_refuted(component: Component) -> bool:
    """Whether the product differs from its transpose at the entry said, from the correlations."""
    decision, data = component.decision, component.data
    if not decision.word:
        return not _commutes(component, 0)
    assert decision.entry is not None
    maps = []
    for one in decision.word:
        kind, *of = one.of
        if kind == "yx":
            matrix = data.sigma_yx[int(of[0])]
        else:
            matrix = (data.sigma_x if kind == "x" else data.overlaps)[int(of[0]), int(of[1])]
        maps.append(matrix.T if one.is_turned else matrix)
    whole, (row, column) = chain(maps[::-1]), decision.entry
    return whole.entry(row, column) != whole.entry(column, row)


def _integrated(component: Component) -> Line:
    return Line(
        says=f"**Nothing closes further** for {component.name}: the reduction above is integrated "
        "as it stands, and its loss is",
        equation=(
            r"L = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_b \operatorname{tr} "
            r"T_b^{\top} \Sigma^{yx}(b) + \tfrac{1}{2} \sum_{b, b'} \operatorname{tr} T_b^{\top} "
            r"O_{bb'} T_{b'} \Sigma^{x}(b', b)",
        ),
        because="the square multiplied out under the trace",
        check=f"both sides subtracted {IN_LETTERS}",
        holds=all(loss_in_correlations(len(path.edges)) for path in component.data.paths),
        main=True,
    )
