r"""From the loss to the flow of every matrix, in letters: proofs for all sizes, data and gates.

.. math:: L = \frac{1}{2P} \Bigl\| Y - \sum_q O_q W^{(L)}_q \cdots W^{(1)}_q F_q \Bigr\|^2

with F the gated inputs of a pathway and O the projector on the outputs that it writes. Every term
holds two pathways at the most, so that letters of two, p and j, prove it for any number of them.
"""

from __future__ import annotations

from functools import lru_cache, reduce

import sympy as sp

from symreln.exact.matrix_words import Letter, Rules, Words

_P = sp.Symbol("P", positive=True)
_LAMBDA = sp.Symbol("lambda", positive=True)
_PATHS = ("p", "j")


def _whole(weights: list[Words]) -> Words:
    return Words.product(reversed(weights))


def _projector(path: str) -> Words:
    """Return O: columns of the identity times their transpose, hence symmetric."""
    return Words.letter(f"N{path}") @ Words.letter(f"N{path}").T


def _features(path: str) -> Words:
    return Words.letter(f"F{path}")


def _sigma_yx(path: str) -> Words:
    return (_projector(path) @ Words.letter("Y") @ _features(path).T).scale(1 / _P)


def _sigma_x(source: str, target: str) -> Words:
    return (_features(source) @ _features(target).T).scale(1 / _P)


def _written(source: str, target: str, weights: dict[str, list[Words]]) -> Words:
    """Return O_target O_source W_source."""
    return _projector(target) @ _projector(source) @ _whole(weights[source])


def _error(path: str, weights: dict[str, list[Words]]) -> Words:
    """Return E(p), from the correlations."""
    acting = [_written(q, path, weights) @ _sigma_x(q, path) for q in _PATHS]
    return _sigma_yx(path) - Words.total(acting)


def _loss(weights: dict[str, list[Words]]) -> Words:
    """Return what the loss is the trace of, from the samples."""
    outputs = [_projector(q) @ _whole(weights[q]) @ _features(q) for q in _PATHS]
    left = Words.letter("Y") - Words.total(outputs)
    return (left.T @ left).scale(1 / (2 * _P))


def _of(layers: int) -> dict[str, list[Words]]:
    places = range(1, layers + 1)
    return {path: [Words.letter(f"W{place}{path}") for place in places] for path in _PATHS}


@lru_cache(maxsize=16)
def loss_in_correlations(layers: int) -> bool:
    """Prove that the loss of the samples is that of the correlations, for all weights."""
    weights = _of(layers)
    target = Words.letter("Y")
    linear = Words.total(_whole(weights[q]).T @ _sigma_yx(q) for q in _PATHS)
    power = (target.T @ target).scale(sp.Rational(1, 2) / _P)
    expanded = power - linear + _square(weights)
    return (_loss(weights) - expanded).traced().is_zero


def _square(weights: dict[str, list[Words]]) -> Words:
    """Return what the part of second order in the maps is the trace of."""
    half = sp.Rational(1, 2)
    return Words.total(
        (_whole(weights[q]).T @ _written(r, q, weights) @ _sigma_x(r, q)).scale(half)
        for q in _PATHS
        for r in _PATHS
    )


@lru_cache(maxsize=16)
def flow_is_gradient(layers: int) -> bool:
    """Prove that W_afterᵀ E(p) W_beforeᵀ is the negative gradient, for every layer of p.

    The loss moves along any direction V of one matrix by minus its product with that term.
    """
    weights, direction = _of(layers), Words.letter("V")
    loss, found = _loss(weights), []
    for place in range(layers):
        moved = loss.derivative({f"W{place + 1}p": direction})
        term = _term(place, weights["p"], _error("p", weights))
        found.append((moved + term.T @ direction).traced().is_zero)
    return all(found)


def _term(place: int, weights: list[Words], error: Words) -> Words:
    """Return W_afterᵀ E W_beforeᵀ of a layer."""
    return _whole(weights[place + 1 :]).T @ error @ _whole(weights[:place]).T


def units_follow_layers() -> bool:
    """Prove of two layers that a unit, a row w of W1 and a column b of W2, moves by Eᵀb and Ew.

    A vector k of the hidden layer, whichever it is, makes w = W1ᵀ k and b = W2 k.
    """
    first, last, error, unit = map(Words.letter, ("W1", "W2", "E", "k"))
    moved = _term(0, [first, last], error).T @ unit - error.T @ (last @ unit)
    written = _term(1, [first, last], error) @ unit - error @ (first.T @ unit)
    return moved.is_zero and written.is_zero


@lru_cache(maxsize=1)
def decay_is_gradient() -> bool:
    """Prove that ½λ‖W‖² adds −λW to the flow."""
    weight, direction = Words.letter("W"), Words.letter("V")
    penalty = (weight.T @ weight).scale(_LAMBDA / 2)
    moved = penalty.derivative({"W": direction})
    return (moved - (weight.T @ direction).scale(_LAMBDA)).traced().is_zero


@lru_cache(maxsize=16)
def reduction_holds(layers: int) -> bool:
    r"""Prove the flow of B with W_l = R_l B_l R_{l-1}ᵀ, R_0 = V_p and R_L = U_p.

    :math:`U_p^T E(p) V_p = S_p - \sum_j K_{pj} B_j G_{jp}`, and every layer's term between its
    bases is :math:`B_{after}^T (\ldots) B_{before}^T`.
    """
    bases, small, weights = _reduced(layers)
    rules = _orthonormal(layers)
    last, first = bases["p"][-1], bases["p"][0]
    acting = [
        last.T @ _projector("p") @ _projector(q) @ bases[q][-1] @ _whole(small[q])
        @ bases[q][0].T @ _sigma_x(q, "p") @ first
        for q in _PATHS
    ]  # fmt: skip
    reduced = (last.T @ _sigma_yx("p") @ first - Words.total(acting)).under(rules)
    error = _error("p", weights)
    holds = [((last.T @ error @ first).under(rules) - reduced).is_zero]
    # What of the error lies in the spans, which complete spans make all of it.
    inside = last @ last.T @ error @ first @ first.T
    for place in range(layers):
        term = bases["p"][place + 1].T @ _term(place, weights["p"], inside) @ bases["p"][place]
        expected = _term(place, small["p"], reduced)
        holds.append((term.under(rules) - expected.under(rules)).is_zero)
    return all(holds)


@lru_cache(maxsize=16)
def reduced_loss_holds(layers: int) -> bool:
    r"""Prove the loss in the reduced matrices, for weights R_l B_l R_{l-1}ᵀ.

    .. math:: L = \tfrac12 {\rm tr} \Sigma^y - \sum_p {\rm tr} B_p^T S_p
       + \tfrac12 \sum_{p,j} {\rm tr} B_p^T K_{pj} B_j G_{jp}
    """
    bases, small, weights = _reduced(layers)
    rules = _orthonormal(layers)
    linear, square = [], []
    for q in _PATHS:
        last, first = bases[q][-1], bases[q][0]
        linear.append(_whole(weights[q]).T @ _sigma_yx(q))
        linear.append((_whole(small[q]).T @ last.T @ _sigma_yx(q) @ first).scale(-1))
        for r in _PATHS:
            k = last.T @ _projector(q) @ _projector(r) @ bases[r][-1]
            g = bases[r][0].T @ _sigma_x(r, q) @ first
            square.append((_whole(small[q]).T @ k @ _whole(small[r]) @ g).scale(-sp.Rational(1, 2)))
    total = _square(weights) + Words.total(square) - Words.total(linear)
    return total.under(rules).traced().is_zero


def _reduced(layers: int) -> tuple[dict[str, list[Words]], ...]:
    """Return bases, reduced matrices and weights of both pathways."""
    bases = {q: [Words.letter(f"R{n}{q}") for n in range(layers + 1)] for q in _PATHS}
    small = {q: [Words.letter(f"B{n + 1}{q}") for n in range(layers)] for q in _PATHS}
    weights = {
        q: [bases[q][n + 1] @ small[q][n] @ bases[q][n].T for n in range(layers)] for q in _PATHS
    }
    return bases, small, weights


def _orthonormal(layers: int) -> Rules:
    pairs: list[tuple[Letter, Letter]] = [
        ((f"R{n}{q}", True), (f"R{n}{q}", False)) for n in range(layers + 1) for q in _PATHS
    ]
    return dict.fromkeys(pairs, ())


@lru_cache(maxsize=16)
def place_proofs(layers: int) -> tuple[bool, ...]:
    r"""Prove for every place of a chain of edges that its term stands in its own bases alone.

    With :math:`W_l = R_l B_l R_{l-1}^T`, orthonormal bases, :math:`\Sigma^{yx} = R_L S R_0^T` and
    :math:`\Sigma^x = R_0 D R_0^T`, the term :math:`W_{after}^T E W_{before}^T` of one pathway,
    shortened, begins with R_l, ends with R_{l-1}ᵀ and holds no other basis: it is the same for
    all pathways of an edge, so that the sum over them is n_l times it. Between any bases the
    product is B_L ⋯ B_1: also for untrained pairs of ends, which is proven first.
    """
    (bases, small, weights), rules = (each["p"] for each in _reduced(layers)), _orthonormal(layers)
    first, last = bases[0], bases[-1]
    acting = _whole(weights) @ first @ Words.letter("D") @ first.T
    error = (last @ Words.letter("S") @ first.T - acting).under(rules)
    between = _whole(weights) - last @ _whole(small) @ first.T
    holds = [between.under(rules).is_zero]
    for place in range(layers):
        ends = ((f"R{place + 1}p", False), (f"R{place}p", True))
        words = _term(place, weights, error).under(rules).terms
        inner = any(name.startswith("R") for word in words for name, _ in word[1:-1])
        holds.append(not inner and all((word[0], word[-1]) == ends for word in words))
    return tuple(holds)


@lru_cache(maxsize=16)
def stays_diagonal(layers: int) -> bool:
    """Prove for two modes that diagonal B, S and D leave no off-diagonal entry moving."""
    weights = [sp.diag(*sp.symbols(f"b{place}_:2")) for place in range(layers)]
    s, d = (sp.diag(*sp.symbols(f"{name}_:2")) for name in "sd")
    error = s - _matrix_product(weights) * d
    terms = (
        _matrix_product(weights[place + 1 :]).T * error * _matrix_product(weights[:place]).T
        for place in range(layers)
    )
    return all(term.is_diagonal() for term in terms)


def _matrix_product(factors: list[sp.Matrix]) -> sp.Matrix:
    return reduce(lambda whole, factor: factor * whole, factors, sp.eye(2))
