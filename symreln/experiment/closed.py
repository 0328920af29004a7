"""Networks of other depths, with weight decay, or with two layers that start apart.

What is confronted with networks drawn from the law of the spec is gradient descent on their
modes, in its own finite steps (:meth:`symreln.laws.law.Law.steps`). Their closed forms, which
are of the flow, are predictions of their own. Both are confronted with a gated deep linear network
too that starts aligned with the modes: gradient descent on the modes is that network to rounding,
and closed forms differ from it by the finite steps alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np

from symreln.claims.curves import Prediction
from symreln.claims.derivation import Derivation
from symreln.claims.integration import LARGEST, check_range, network_of
from symreln.claims.prediction import closed_forms, loss_of_modes
from symreln.claims.probes import learning_modes, probe_bases
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.training import gated_pathways, train_gated
from symreln.laws.chain_start import ChainStart
from symreln.laws.choice import expected_start, law_of, started
from symreln.laws.law import Law, Regime, Start
from symreln.laws.ops import NUMPY
from symreln.networks.gdln import Network
from symreln.train.network import GatedPathway, pathway_network
from symreln.train.run import TrainingRun
from symreln.train.weights import LayerWeights


def predict_chain(numbers: Derivation, start: ChainStart | None) -> Prediction:
    """Predict gradient descent of one layer, or of three and more, step by step.

    With three or more layers the loss is the mean over where modes start. The closed forms come
    with it, and the same mean over the flow.

    Args:
        numbers: A derivation without free parameters, with a network of other than two layers.
        start: :func:`symreln.claims.starts.chain_of`.

    Raises:
        NotSupportedError: The closed forms are not the whole dynamics.
    """
    check_covered(numbers)
    std = float(network_of(numbers.spec).init_std)
    flow = closed_forms(numbers, np.arange(network_of(numbers.spec).steps, dtype=float))
    assert flow is not None  # check_covered has seen to it
    steps = "gradient descent on all modes, step by step"
    if start is None:
        curves = strengths = _followed(numbers, None)
    else:
        starts = start.strengths(std)
        flow = replace(flow, flow_loss=_flow_loss(numbers, starts, flow.times))
        curves = _followed(numbers, starts)
        strengths = _followed(numbers, np.array([start.strength(std)]))
        steps += (
            ", from where single modes of as many random layers were followed to start: the mean "
            f"over {len(start.times)} of them"
        )
    return replace(
        flow,
        reduced=_mean_of(numbers, curves, flow.times),
        method=steps,
        modes=tuple(replace(mode, integrated=strengths[mode.label][0]) for mode in flow.modes),
    )


def predict_aligned(numbers: Derivation, start: ChainStart | None) -> np.ndarray:
    """Return the loss of gradient descent from the start that the closed forms assume.

    That of :func:`train_aligned`, to rounding, at every step of the network.
    """
    network = network_of(numbers.spec)
    times = np.arange(network.steps, dtype=float)
    first = None if start is None else np.array([start.strength(float(network.init_std))])
    curves = {label: curve[0] for label, curve in _followed(numbers, first).items()}
    found = loss_of_modes(numbers, curves, times)
    assert found is not None  # check_covered has seen to it
    return found


def _followed(numbers: Derivation, starts: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the strengths of every mode through gradient descent's steps.

    Args:
        numbers: Whose modes.
        starts: Initial strengths, or None for where they are expected to start.

    Returns:
        Label of a mode -> shape (starts, steps).

    Raises:
        InputError: They diverge.
    """
    network, found = network_of(numbers.spec), {}
    for label, law in _laws(numbers, starts):
        steps = law.steps()
        # Modes may diverge with too large a rate: whoever compares then finds no finite loss.
        with np.errstate(over="ignore", invalid="ignore"):
            rows = [next(steps) for _ in range(network.steps)]
        found[label] = np.stack(rows, axis=-1)
    # Written so that NaN is larger too.
    if not all(float(np.abs(curve).max(initial=0.0)) < LARGEST for curve in found.values()):
        msg = (
            f"network.learning_rate = {float(network.learning_rate):g}: gradient descent on the "
            "modes diverged. Lower it"
        )
        raise InputError(msg)
    return found


def _laws(numbers: Derivation, starts: np.ndarray | None) -> Iterator[tuple[str, Law]]:
    """Yield every mode's label and law in floats; starts as above."""
    start = expected_start(numbers.known) if starts is None else Start(strength0=Fraction(0))
    for _, mode in learning_modes(numbers):
        assert mode.d_eff is not None  # of closed modes every one has it
        s, d = np.array([mode.s.to_float()]), np.array([mode.d_eff.to_float()])
        law = started(numbers.known, s, d, numbers.tau or 1, ops=NUMPY, start=start)
        yield mode.label, law if starts is None else replace(law, strength0=starts)


def check_covered(numbers: Derivation) -> None:
    """Refuse what the modes of such a network do not predict.

    Raises:
        NotSupportedError: Its loss is no sum over modes of one stage, or units are too few.
    """
    check_range(numbers)
    known = numbers.known
    if len(numbers.stages) > 1 or not numbers.loss_separates:
        # Of closed modes: the pipeline refuses other levels for such networks.
        msg = (
            f"{_unlike(known)}: the closed forms are confronted where they are the "
            "whole loss, in one stage whose loss is a sum over modes"
        )
        raise NotSupportedError(msg)
    needed = law_of(known).units_per_mode
    for pathway, trained in zip(numbers.pathways, gated_pathways(numbers.spec), strict=True):
        rank = pathway.rank
        if trained.hidden < needed * rank:
            each = "one each" if needed == 1 else "two each, for amplitudes that start apart"
            msg = (
                f"network.hidden: pathway '{pathway.name}' has {trained.hidden} hidden units for "
                f"{rank} modes ({each}), and with {_unlike(known)} it is not derived "
                f"which of them it learns. Give the pathway at least {needed * rank}"
            )
            raise NotSupportedError(msg)


def _unlike(known: Regime) -> str:
    """Return by what a network is not that of two layers of each pathway's own."""
    return known.unlike or f"network.{known.unusual[0]}"


def _flow_loss(numbers: Derivation, starts: np.ndarray, times: np.ndarray) -> np.ndarray:
    laws = _laws(numbers, starts[:, None])
    curves = {label: law.strengths(times) for label, law in laws}
    return _mean_of(numbers, curves, times)


def _mean_of(
    numbers: Derivation, curves: Mapping[str, np.ndarray], times: np.ndarray
) -> np.ndarray:
    """Return the mean loss over the starts of curves of shape (starts, times)."""
    rows = list(zip(*curves.values(), strict=True)) or [()]  # no mode learns: one loss, that stays
    losses = [loss_of_modes(numbers, dict(zip(curves, row, strict=True)), times) for row in rows]
    return np.mean([loss for loss in losses if loss is not None], axis=0)


def _strength(numbers: Derivation, start: ChainStart | None) -> float:
    """Return the strength that aligned modes start from."""
    if start is None:
        return float(numbers.strength0 or 0)
    return start.strength(float(network_of(numbers.spec).init_std))


def _aligned_weights(
    numbers: Derivation, gated: Sequence[GatedPathway], start: ChainStart | None
) -> dict[str, list[np.ndarray]]:
    """Return weights that start as the closed forms assume, layer by layer, by pathway.

    Args:
        numbers: A derivation without free parameters, with a network.
        gated: The pathways that are trained.
        start: :func:`symreln.claims.starts.chain_of`.
    """
    known, strength, found = numbers.known, _strength(numbers, start), {}
    for pathway, one in zip(numbers.pathways, gated, strict=True):
        u, v, _ = probe_bases(pathway)
        own = u[list(one.outputs)]
        found[one.name] = law_of(known).weights(known, own, v, one.hidden, strength)
    return found


def _edge_weights(
    numbers: Derivation, graph: Network, start: ChainStart | None
) -> dict[str, np.ndarray]:
    """Return weights of edges that start balanced and aligned, by their name.

    Edges of the place l, used by n_l pathways, have the amplitude √n_l (π₀/√N)^(1/L) in the unit of
    each mode; pathways that share edges have equal modes.

    Args:
        numbers: A derivation without free parameters, with a network.
        graph: Nodes and edges.
        start: :func:`symreln.claims.starts.chain_of`.
    """
    strength, uses, found = _strength(numbers, start), numbers.spec.edges.uses, {}
    layers, total = numbers.known.layers, numbers.known.uses
    for pathway, path in zip(numbers.pathways, numbers.spec.edges.paths, strict=True):
        u, v, _ = probe_bases(pathway)
        bases = {name: np.eye(graph.node(name).size, u.shape[1]) for name in path.nodes}
        bases |= {path.source: v, path.target: u[list(pathway.effective.pathway.outputs)]}
        for place in path.edges:
            edge = graph.edges[place]
            amplitude = sqrt(uses[place]) * (strength / sqrt(total)) ** (1 / layers)
            weights = amplitude * bases[edge.target] @ bases[edge.source].T
            found.setdefault(edge.name, weights)
    return found


def train_aligned(numbers: Derivation, start: ChainStart | None) -> TrainingRun:
    """Train the GDLN of a spec from :func:`_aligned_weights`, one network."""
    spec = numbers.spec
    if spec.graph is not None:
        weights = _edge_weights(numbers, spec.graph, start)
        return train_gated(spec, {}, initial={name: w[None] for name, w in weights.items()})
    gated = gated_pathways(spec)
    weights = _aligned_weights(numbers, gated, start)
    if numbers.known.matrices.holds:
        initial = {n: LayerWeights(w1=w1[None], w2=w2[None]) for n, (w1, w2) in weights.items()}
        return train_gated(spec, {}, initial=initial)
    edges = pathway_network(gated, numbers.known.layers).edges
    layers = [layer[None] for one in gated for layer in weights[one.name]]
    initial = {edge.name: layer for edge, layer in zip(edges, layers, strict=True)}
    return train_gated(spec, {}, initial=initial)
