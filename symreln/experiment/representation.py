r"""What hidden layers hold: the predicted similarity of samples beside that of trained networks.

An aligned and balanced pathway has :math:`W_1^T W_1 = \sum_\alpha \pi_\alpha v_\alpha v_\alpha^T`,
and a hidden unit of a gated network belongs to one pathway, so that products of what the layer
holds of two samples add up over pathways:

.. math:: S_{\mu\nu}(t) = \sum_p \sum_\alpha \pi_\alpha(t)\,
          (v_\alpha^T g_p(\mu) I_p x_\mu)\, (v_\alpha^T g_p(\nu) I_p x_\nu).

The strengths are those of the prediction; nothing is fitted, and no network is looked at. Where
pathways are no modes, the matrices of the reduction hold W1ᵀ W1 itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import gate_floats
from symreln.claims.prediction import first_starts, matrices_of
from symreln.claims.probes import mode_bases
from symreln.claims.starts import start_factors
from symreln.errors import NotSupportedError
from symreln.experiment.training import GDLN, RELU, train_pair
from symreln.train.record import Recording
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.experiment.predictions import Predictions

#: Levels at which pathways are modes.
MODES = (Level.CLOSED, Level.CLOSED_BY_SYMMETRY, Level.COUPLED_MODES)
#: Steps at which representations are compared.
MOMENTS = 16
#: Bytes that similarities of all seeds may take.
_MOST_BYTES = 1 << 28


@record(eq=False)
class _Subject:
    """Similarities of one kind of networks beside the predicted ones.

    Attributes:
        name: "relu" for the network (also a linear one), "gdln".
        mean: Mean over seeds of Hᵀ H, shape (K, P, P).
        correlation: Mean over seeds of the correlation with the prediction, shape (K,); NaN where
            one of the two is the same for all pairs of samples.
        distance: Mean over seeds of ‖S − theory‖/‖S‖, shape (K,).
        floor: The same for a seed against the mean of the others, shape (K,); None for one seed.
    """

    name: str
    mean: np.ndarray
    correlation: np.ndarray
    distance: np.ndarray
    floor: np.ndarray | None


@record(eq=False)
class RepresentationComparison:
    """Predicted and trained representations.

    Attributes:
        steps: K steps, from 0 to the last one.
        theory: Predicted similarities, shape (K, P, P).
        subjects: The network, where there is one, and the GDLN.
        seeds: Networks of each kind.
        by_matrices: Whether the prediction is that of the coupled matrices, not of modes.
    """

    steps: tuple[int, ...]
    theory: np.ndarray
    subjects: tuple[_Subject, ...]
    seeds: int
    by_matrices: bool

    @cached_property
    def half_way(self) -> int:
        """The first moment at which the predicted samples have half their final spread."""
        sizes = _spread(self.theory)
        return int(np.argmax(sizes >= 0.5 * sizes[-1]))

    @classmethod
    @phase("recording representations")
    def of(cls, predictions: Predictions, seeds: int, rng: int) -> RepresentationComparison:
        """Train the networks of a confrontation once more, with their similarities recorded.

        They are the same networks: initial weights depend on the seed alone.

        Args:
            predictions: What was predicted.
            seeds: Networks of each kind; fewer where there are many samples.
            rng: Seed of the confrontation.

        Raises:
            NotSupportedError: The derivation does not predict them.
        """
        numbers = predictions.numbers
        check_representations(numbers)
        spec = numbers.spec
        steps = tuple(map(int, spread_moments(predictions.judged_curves.loss, MOMENTS)))
        size = 8 * len(steps) * spec.dataset.samples**2
        seeds = max(1, min(seeds, _MOST_BYTES // size))
        by_matrices = numbers.verdict.level not in MODES
        theory = (_by_matrices if by_matrices else _by_modes)(numbers, predictions, steps)
        record = Recording(quantities=("similarity",), steps=steps)
        runs = train_pair(spec, predictions.kappas, seeds, rng, record=record)
        return cls(
            steps=steps,
            theory=theory,
            subjects=tuple(
                _subject(kind, run.snapshots["similarity"][:, :, 0], theory)
                for kind, run in zip((RELU, GDLN), runs, strict=True)
                if run is not None
            ),
            seeds=seeds,
            by_matrices=by_matrices,
        )


def check_representations(derivation: Derivation) -> None:
    """Refuse derivations whose representations are not predicted.

    Raises:
        NotSupportedError: Nodes and edges, another number of layers than two, gates that switch,
            layers that start apart, nothing but numbers proven, or a ReLU network whose output
            alone is linear.
    """
    if derivation.known.hidden_layer.why:
        reason = derivation.known.hidden_layer.why
    elif derivation.spec.switches:
        reason = "they are predicted of gates that stay, and the spec's switch"
    elif derivation.level not in (*MODES, Level.COUPLED_MATRICES):
        reason = f"the verdict is {derivation.level.value}, which predicts nothing"
    else:
        return
    msg = f"--representations: {reason}. Leave it out"
    raise NotSupportedError(msg)


def _by_matrices(
    derivation: Derivation, predictions: Predictions, steps: tuple[int, ...]
) -> np.ndarray:
    """Return the predicted Hᵀ H at some steps from the coupled matrices, shape (K, P, P).

    Args:
        derivation: Without free parameters.
        predictions: What was predicted of it.
        steps: Which steps of training.
    """
    factors = start_factors(derivation, predictions.kappas)
    starts = first_starts(derivation, factors)
    return derivation.ask(matrices_of).similarities(steps, starts)


def _by_modes(
    derivation: Derivation, predictions: Predictions, steps: tuple[int, ...]
) -> np.ndarray:
    """Return the same from the strengths of modes."""
    inputs = derivation.spec.dataset.inputs.to_numpy()
    strengths = {curve.label: curve.best[list(steps)] for curve in predictions.prediction.modes}
    found = np.zeros((len(steps), inputs.shape[1], inputs.shape[1]))
    for pathway in derivation.pathways:
        own = pathway.effective.pathway
        seen = inputs[list(own.inputs)] * gate_floats(own)
        for label, (_, v) in mode_bases(pathway).items():
            part = v.T @ seen
            found += strengths[label][:, None, None] * (part.T @ part)
    return found


def _subject(name: str, found: np.ndarray, theory: np.ndarray) -> _Subject:
    seeds = len(found)
    floor = None
    if seeds > 1:
        others = (found.sum(axis=0) - found) / (seeds - 1)
        floor = _relative_distance(others, found).mean(axis=0)
    return _Subject(
        name=name,
        mean=found.mean(axis=0),
        correlation=_correlations(found, theory).mean(axis=0),
        distance=_relative_distance(theory, found).mean(axis=0),
        floor=floor,
    )


def _relative_distance(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return ‖found − wanted‖/‖wanted‖ over the last two axes; 0 where both are 0."""
    missed = np.linalg.norm(found - wanted, axis=(-2, -1))
    size = np.linalg.norm(wanted, axis=(-2, -1))
    return np.divide(missed, size, out=np.where(missed > 0, np.inf, 0.0), where=size > 0)


def _correlations(found: np.ndarray, theory: np.ndarray) -> np.ndarray:
    """Return the correlation of the entries on and above the diagonal, over the last two axes."""
    rows, columns = np.triu_indices(found.shape[-1])
    one, other = found[..., rows, columns], theory[..., rows, columns]
    one = one - one.mean(axis=-1, keepdims=True)
    other = other - other.mean(axis=-1, keepdims=True)
    size = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    # What rounding leaves of equal entries is no spread.
    largest = np.abs(found).max(axis=(-2, -1)) * np.abs(theory).max(axis=(-2, -1))
    least = np.finfo(float).eps * largest
    product = (one * other).sum(axis=-1)
    return np.divide(product, size, out=np.full_like(size, np.nan), where=size > least)


def _spread(similarity: np.ndarray) -> np.ndarray:
    """Summed squared distances of the vectors from their mean, over the last two axes."""
    samples = similarity.shape[-1]
    return np.trace(similarity, axis1=-2, axis2=-1) - similarity.sum(axis=(-2, -1)) / samples


def spread_moments(loss: np.ndarray, count: int) -> np.ndarray:
    """Return steps spread over time and over what a loss falls, the first and the last with them.

    Args:
        loss: At every step.
        count: How many steps; fewer where there are fewer.
    """
    fallen = np.maximum.accumulate(loss[0] - loss)
    time = np.linspace(0, 1, len(loss))
    place = time + (fallen / fallen[-1] if fallen[-1] > 0 else time)
    wanted = np.linspace(0, place[-1], min(count, len(loss)))
    return np.unique(np.searchsorted(place, wanted))
