"""The trainers: gradient descent on a network, whatever form it is handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from symreln.train.arrays import Array
from symreln.train.chunk import Chunk, train_chunk
from symreln.train.machine import machine
from symreln.train.network import GatedNetwork, GatedPathway, dense_network, pathway_network
from symreln.train.record import Recording
from symreln.train.run import TrainingRun, run_training
from symreln.train.settings import TrainingSettings
from symreln.train.trained_model import Model
from symreln.train.weights import LayerWeights, given_weights

Training = Literal["joint", "staged"]


class _Running(TypedDict, total=False):
    """How a training is run; what every trainer takes besides its network and its data.

    Attributes:
        seeds: How many networks to train, 1 by default; not used where initial weights are given.
        rng: Seed, SeedSequence or Generator; network i depends on ``rng`` and i alone.
            Where initial weights are given it is used for mini-batches only.
        record: What to keep besides the losses; default nothing.
        workers: Processes; default one a processor for long trainings, else this one alone.
            Results do not depend on it.
    """

    seeds: int
    rng: Any
    record: Recording | None
    workers: int | None


def train_network(
    inputs: Any,
    targets: Any,
    settings: TrainingSettings,
    *,
    initial: LayerWeights | None = None,
    **running: Unpack[_Running],
) -> TrainingRun:
    """Train a network ŷ = W2 σ(W1 x), σ being ReLU or the identity.

    Each step goes down the gradient of the ``settings.loss``:
    ``sum`` L = 1/2 Σ_μ ‖y_μ − ŷ_μ‖², ``mean`` the same over P. Recorded losses are always the mean
    loss L = 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each update. Weight decay and
    mini-batches: :class:`symreln.train.settings.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        settings: Hyper-parameters.
        initial: Exact initial weights, w1 (seeds, H, n_x) and w2 (seeds, n_y, H).
        **running: Seeds, random streams, what is recorded, processes.

    Raises:
        InputError: The training diverged.
        LimitReachedError: A worker process was killed.

    Example:
        >>> settings = TrainingSettings(hidden=1, init_std=1.0, learning_rate=0.5, loss="mean",
        ...                             steps=2)
        >>> start = LayerWeights(w1=np.array([[[1.0]]]), w2=np.array([[[0.5]]]))
        >>> run = train_network([[1.0]], [[1.0]], settings, initial=start)
        >>> run.losses  # 1/2 (1 - 0.5)^2, then w1 = 1 + 0.5*0.5*0.5, w2 = 0.5 + 0.5*0.5*1
        array([[0.125     , 0.01220703]])
    """
    inputs, targets, settings = _prepared(inputs, targets, settings)
    model = network_model(inputs, targets, settings)
    given = _halves(None if initial is None else (initial,))
    return _paired(run_training(model, given, settings.layer_stds(2), (0, 0), **running))


def _prepared(
    inputs: Any, targets: Any, settings: TrainingSettings
) -> tuple[Array, Array, TrainingSettings]:
    """Data where they are trained, and settings in that precision.

    Arrays of another library than numpy stay where the caller has put them.

    Raises:
        InputError: The machine does not take the data.
    """
    inputs, targets = (
        each if hasattr(each, "shape") else np.asarray(each, dtype=float)
        for each in (inputs, targets)
    )
    here = machine()
    if isinstance(inputs, np.ndarray) and isinstance(targets, np.ndarray):
        inputs, targets = here.arrays(inputs, targets)
    asked = here.precision if settings.precision == "float64" else settings.precision
    return inputs, targets, replace(settings, precision=asked)


def network_model(inputs: Array, targets: Array, settings: TrainingSettings) -> Model:
    """What :func:`train_network` trains, in the order of products that is fastest for it."""
    relu = settings.activation == "relu"
    network = dense_network(inputs.shape[0], (settings.hidden,), targets.shape[0], relu=relu)
    return Model(inputs, targets, network, settings, order="rows" if relu else "maps")


def train_deep_network(
    inputs: Any,
    targets: Any,
    widths: Sequence[int],
    settings: TrainingSettings,
    *,
    initial: Sequence[np.ndarray] | None = None,
    **running: Unpack[_Running],
) -> TrainingRun:
    """Train ŷ = W_L σ(W_{L−1} … σ(W_1 x)), σ being ReLU or the identity.

    Losses, weight decay and mini-batches are those of :func:`train_network`; with one width it is
    that network, from the same random weights.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        widths: Units of each hidden layer; empty for a single layer of weights.
        settings: Hyper-parameters; ``hidden`` is not used, ``init_std`` is one number or one for
            every layer.
        initial: Exact initial weights, one array a layer, each of shape (seeds, units, units of
            the layer before).
        **running: Seeds, random streams, what is recorded, processes.

    Returns:
        The run; its ``matrices`` are the final weights of the layers.

    Raises:
        InputError: The training diverged.
        LimitReachedError: A worker process was killed.
    """
    inputs, targets, settings = _prepared(inputs, targets, settings)
    relu = settings.activation == "relu"
    network = dense_network(inputs.shape[0], widths, targets.shape[0], relu=relu)
    model = Model(inputs, targets, network, settings)
    # One stream for all layers, as a pathway has: one hidden layer draws what train_network does.
    layers = len(network.edges)
    return run_training(model, initial, settings.layer_stds(layers), (0,) * layers, **running)


def replay_gates(
    inputs: Any,
    targets: Any,
    gates: np.ndarray,
    settings: TrainingSettings,
    initial: Sequence[np.ndarray],
    *,
    record: Recording | None = None,
) -> Chunk:
    """Train the gated deep linear network whose gates at every step are given.

    No unit looks at its own sign: layer l holds g_l(step) ∘ (W_l h_{l−1}). With the gates that a
    ReLU network had at its steps this is that network's *rectified linear network*.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        gates: Shape (seeds, steps, ΣH, P), hidden layers one after the other: what
            ``Recording(quantities=("activity",), steps=all)`` keeps.
        settings: Those of the network, of full batches; ``activation`` is not used.
        initial: Its initial weights, one array a layer.
        record: What to keep besides the losses.

    Raises:
        InputError: The training diverged.
    """
    inputs, targets, settings = _prepared(inputs, targets, settings)
    widths = [np.shape(matrix)[1] for matrix in initial[:-1]]
    network = dense_network(inputs.shape[0], widths, targets.shape[0], relu=False)
    weights = given_weights(initial)
    given = np.asarray(gates, dtype=float)
    model = Model(inputs, targets, network, settings, gates=given)
    return train_chunk(model, weights, record or Recording(), 0, lambda done: None, ())


def train_gdln(
    inputs: Any,
    targets: Any,
    pathways: Sequence[GatedPathway],
    settings: TrainingSettings,
    *,
    training: Training = "joint",
    initial: Mapping[str, LayerWeights] | None = None,
    **running: Unpack[_Running],
) -> TrainingRun:
    """Train the GDLN ŷ_μ = Σ_p g_p(μ) O_p W2_p W1_p I_p x_μ.

    ``joint``: all pathways go down the gradient of one loss. ``staged``: all pathways start at
    step 0 and train side by side, but those of stage k go down the gradient of the residual that
    stages ≤ k leave, with the outputs of earlier stages as constants in it; they do not see later
    stages. Recorded losses are those of the whole sum over pathways, always the mean loss
    1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each update. Weight decay and
    mini-batches: :class:`symreln.train.settings.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        pathways: In any order; each draws its initial weights from a stream of its own place here.
        settings: Hyper-parameters; ``hidden`` and ``activation`` are not used.
        training: ``"joint"`` or ``"staged"``.
        initial: Exact initial weights by pathway name, w1 (seeds, H_p, inputs of p) and
            w2 (seeds, outputs of p, H_p).
        **running: Seeds, random streams, what is recorded, processes.

    Raises:
        InputError: The training diverged.
        LimitReachedError: A worker process was killed.
    """
    inputs, targets, settings = _prepared(inputs, targets, settings)
    model = pathway_model(inputs, targets, pathways, settings, training=training)
    given = _halves(_in_order(initial, [pathway.name for pathway in pathways]))
    stds = [each.spread * std for each in pathways for std in settings.layer_stds(2)]
    streams = [place for place in range(len(pathways)) for _ in range(2)]
    return _paired(run_training(model, given, stds, streams, **running))


def pathway_model(
    inputs: Array,
    targets: Array,
    pathways: Sequence[GatedPathway],
    settings: TrainingSettings,
    *,
    training: Training = "joint",
) -> Model:
    """What :func:`train_gdln` trains, in the order of products that is fastest for it."""
    network, staged = pathway_network(pathways), training == "staged"
    return Model(inputs, targets, network, settings, staged=staged, order="maps")


def train_gated_network(
    inputs: Any,
    targets: Any,
    network: GatedNetwork,
    settings: TrainingSettings,
    *,
    training: Training = "joint",
    initial: Mapping[str, np.ndarray] | None = None,
    **running: Unpack[_Running],
) -> TrainingRun:
    """Train any network of nodes, edges and gates.

    ``joint``: all edges go down the gradient of one loss. ``staged``: all train side by side, and
    what reaches an output node of stage k is the residual that output nodes of stages ≤ k leave,
    with the outputs of earlier stages as constants in it; an edge that several stages use adds up
    what it hears from each.

    Recorded losses are the mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each
    update. Weight decay and mini-batches: :class:`symreln.train.settings.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        network: Nodes, edges and gates; each edge draws its weights from a stream of its own place.
        settings: Hyper-parameters; ``hidden`` and ``activation`` are not used, ``init_std`` is
            one number or one for every edge.
        training: ``"joint"`` or ``"staged"``.
        initial: Exact initial weights by edge name, each of shape (seeds, target, source).
        **running: Seeds, random streams, what is recorded, processes.

    Returns:
        The run; its ``matrices`` are the final weights of the edges, in the network's order.

    Raises:
        InputError: The training diverged.
        LimitReachedError: A worker process was killed.
    """
    inputs, targets, settings = _prepared(inputs, targets, settings)
    model = Model(inputs, targets, network, settings, staged=training == "staged")
    names = [edge.name for edge in network.edges]
    given, stds = _in_order(initial, names), settings.layer_stds(len(names))
    return run_training(model, given, stds, range(len(names)), **running)


def _in_order(initial: Mapping[str, Any] | None, names: Sequence[str]) -> list[Any] | None:
    """Initial weights in the order of ``names``."""
    return None if initial is None else [initial[name] for name in names]


def _halves(layers: Sequence[LayerWeights] | None) -> list[np.ndarray] | None:
    """Both layers of every pathway, one after the other."""
    return None if layers is None else [half for one in layers for half in (one.w1, one.w2)]


def _paired(run: TrainingRun) -> TrainingRun:
    """Final weights as the two layers of every pathway."""
    pairs = zip(run.matrices[::2], run.matrices[1::2], strict=True)
    layers = tuple(LayerWeights(w1=w1, w2=w2) for w1, w2 in pairs)
    return replace(run, weights=layers, matrices=())
