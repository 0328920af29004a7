r"""Derivations with few hidden units: gradient descent averaged over the initialisation.

With many units the initial Gram matrix of a pathway is its mean, and one start stands for all. With
few it scatters by as much as its size, some modes of one network share a unit that others do not,
and the mean of the loss over networks is not the loss of the mean. So many networks are drawn, in
the mode coordinates of the pathway,

.. math:: A = W_1 V, \quad B = U^T W_2, \quad M = B A, \quad
   A' = A + \eta B^T (S - M D), \quad B' = B + \eta (S - M D) A^T,

with S and D the diagonal matrices of s and d: gradient descent itself, by finite steps, of a
pathway that no other couples to. Inputs with s = 0 and d > 0 and outputs without a mode are in it,
since noise moves through them too. Float64, seeded; no network is looked at.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.claims.probes import probe_bases
from symreln.errors import InputError

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation

#: A stream of its own: no network is trained with it.
SEED = 27_183
#: Networks that are drawn, and the fewest: then the mean is known to a seventh of their scatter.
DRAWS, FEWEST = 400, 50
#: Multiplications above which fewer are drawn: a few seconds of one core.
BUDGET = 5e9
#: Steps between two looks at whether weights have come to rest.
_OFTEN = 1000
#: Eigenvalue of the inputs' correlation, relative to the largest, that counts as none.
_NOTHING = 1e-12


@short_repr(eq=False)
class NarrowLaw:
    """Networks with few units that were drawn and descended in mode coordinates.

    Attributes:
        losses: One row a network, shape (draws, looks).
        strengths: Mean strength of every mode by label, over networks and equal modes.
    """

    losses: np.ndarray
    strengths: dict[str, np.ndarray]

    @property
    def error(self) -> float:
        """Largest standard error of the mean loss, over L(0)."""
        found = self.losses.std(axis=0, ddof=1).max() / sqrt(len(self.losses))
        return float(found / self.losses[:, 0].mean())


def narrow_law(derivation: Derivation, looks: np.ndarray) -> NarrowLaw:
    """Draw networks and descend them.

    Pathways do not couple where this is asked, so each is drawn by itself; what is left of their
    weights outside the modes is taken not to couple either.

    Args:
        derivation: Without free parameters, with a network of two layers; closed, in one stage.
        looks: Ascending steps at which they are looked at.

    Raises:
        InputError: They diverge.
    """
    network, random = network_of(derivation.spec), np.random.default_rng(SEED)
    drawn = [_Pathway.of(derivation, pathway) for pathway in derivation.pathways]
    sizes = (len(p.d) * p.units * p.outputs for p in drawn)
    steps = max(network.steps, int(looks[-1]) + 1)
    draws = int(min(DRAWS, max(FEWEST, BUDGET // (3 * sum(sizes) * steps))))
    rate, losses = 1 / float(derivation.tau or 1), np.zeros((draws, len(looks)))
    strengths = {}
    for pathway in drawn:
        own, curves = pathway.descend(draws, looks, rate, random)
        losses += own
        labels = np.array(pathway.labels)
        strengths |= {str(label): curves[labels == label].mean(axis=0) for label in labels}
    losses += float(derivation.initial_loss.to_fraction())
    if not np.isfinite(losses).all():
        msg = (
            f"network.learning_rate = {float(network.learning_rate):g}: gradient descent of drawn "
            "networks diverged. Lower it"
        )
        raise InputError(msg)
    return NarrowLaw(losses=losses, strengths=strengths)


@record(eq=False)
class _Pathway:
    """A pathway in its mode coordinates.

    Attributes:
        labels: Of its modes, equal ones one by one.
        s: Their singular values.
        d: Eigenvalues of its inputs, those of the modes first, then those with s = 0.
        outputs: How many it writes to.
        units: H.
        init_std: Standard deviation of the initial weights.
    """

    labels: list[str]
    s: np.ndarray
    d: np.ndarray
    outputs: int
    units: int
    init_std: float

    @classmethod
    def of(cls, derivation: Derivation, pathway: PathwayDerivation) -> _Pathway:
        network, spec = network_of(derivation.spec), pathway.effective.pathway
        law = float(derivation.known.units or 1)
        units = spec.hidden or max(1, round(law))
        u, v, labels = probe_bases(pathway)
        sigma_x = pathway.effective.sigma_x.to_numpy()
        rest = sigma_x - (sigma_x @ v) @ v.T
        rest = rest - v @ (v.T @ rest)
        others = np.linalg.eigvalsh((rest + rest.T) / 2)
        own = np.einsum("ia,ij,ja->a", v, sigma_x, v)
        largest = max(own.max(initial=0.0), others.max(initial=0.0))
        return cls(
            labels=labels,
            s=np.einsum("ia,ij,ja->a", u, pathway.effective.sigma_yx.to_numpy(), v),
            d=np.concatenate([own, others[others > _NOTHING * largest]]),
            outputs=len(spec.outputs),
            units=units,
            init_std=float(network.init_std) * (sqrt(law / units) if spec.hidden else 1.0),
        )

    def descend(
        self, draws: int, looks: np.ndarray, rate: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what networks add to the loss of outputs that are zero, and uᵀ W v of modes.

        Shapes (draws, looks) and, the mean over the networks, (modes, looks).
        """
        first = self.init_std * random.standard_normal((draws, self.units, len(self.d)))
        second = self.init_std * random.standard_normal((draws, self.outputs, self.units))
        modes = np.arange(len(self.s))
        target = np.zeros((self.outputs, len(self.d)))
        target[modes, modes] = self.s
        losses, strengths = np.empty((draws, len(looks))), np.empty((len(modes), len(looks)))
        step, rests = 0, False
        with np.errstate(over="ignore", invalid="ignore"):
            for place, look in enumerate(looks):
                while step < look and not rests:
                    pull = rate * (target - (second @ first) * self.d)
                    moves = second.swapaxes(1, 2) @ pull, pull @ first.swapaxes(1, 2)
                    rests = (
                        step % _OFTEN == 0 and _rest(first, moves[0]) and _rest(second, moves[1])
                    )
                    first, second = first + moves[0], second + moves[1]
                    step += 1
                maps = second @ first
                losses[:, place] = ((0.5 * maps * self.d - target) * maps).sum(axis=(1, 2))
                strengths[:, place] = maps[:, modes, modes].mean(axis=0)
        return losses, strengths


def _rest(weights: np.ndarray, moves: np.ndarray) -> bool:
    """Whether no weight grows any more, to rounding: at a saddle one does."""
    return bool((moves * weights <= np.finfo(float).eps * weights**2).all())
