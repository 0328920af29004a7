"""The integrated flow of gated data, by its irreducible modules.

Data fall into modules with copies (:mod:`symreln.laws.modules`), a module into the few blocks
that its pathways share (:mod:`symreln.laws.shared_blocks`), and the blocks are integrated in
coordinates of order one (:mod:`symreln.laws.block_flow`). Each step is exact on exact data;
its tolerances are stated there. The route without any of them is
:class:`symreln.laws.coupled_matrices.CoupledMatrices`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.errors import NotSupportedError
from symreln.laws.block_flow import BlockFlow, Trajectory
from symreln.laws.integrate import PRECISE
from symreln.laws.matrix_coupling import MatrixCoupling
from symreln.laws.modules import Split, split, whole
from symreln.laws.shared_blocks import ReducedModule, tie

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symreln.laws.gated_data import GatedData, GatedModule

#: How well the modes must fill the modules: relative error of their number and of their s².
#: Measured at most 5e-14; a mode that is no sum of whole copies misses by its share of one.
_MODE_TOLERANCE = 1e-8


@record(eq=False)
class ModeProbe:
    """Equal modes of a pathway, whose mean strength is asked for.

    Attributes:
        pathway: The pathway.
        s: Singular value of its input-output correlation, of the residual that earlier stages
            leave; positive.
        v: Right singular vectors, orthonormal, shape (inputs of the pathway, multiplicity).
    """

    pathway: int
    s: float
    v: np.ndarray


@record(eq=False)
class ModeStart:
    """Equal modes of a pathway that start with other strengths than the expected ones.

    Attributes:
        probe: The modes.
        factor: Q Qᵀ/g along their growing directions (v, u)/√2 at the start; 1 is expected.
    """

    probe: ModeProbe
    factor: float


@record(eq=False)
class ReducedFlow:
    """The flow of a gated deep linear network with one hidden layer, from the expected start.

    Attributes:
        data: Gated data.
        tau: Time constant in steps.
        gram_scale: g in E[Q Qᵀ] = g I for the initial weights of a pathway.
        weight_decay: λ of λ/2 times all squared weights, added to the mean loss; for
            :meth:`descent` alone.
    """

    data: GatedData
    tau: float
    gram_scale: float
    weight_decay: float = 0.0

    @cached_property
    def _split(self) -> Split:
        return split(self.data)

    @property
    def rate(self) -> float:
        """Largest rate with which a mode relaxes to its plateau, 2 s/tau, in 1/steps."""
        return max((module.rate for module in self._split.modules), default=0.0) / self.tau

    def trajectory(
        self,
        times: np.ndarray,
        probes: Sequence[ModeProbe] = (),
        accuracy: float = PRECISE,
        starts: Sequence[ModeStart] | None = None,
    ) -> Trajectory:
        """Integrate the flow.

        Args:
            times: Ascending times in steps; times[0] is the start.
            probes: Modes; the mean of uᵀ W_p v over the equal ones is returned, one row a probe.
            accuracy: How the flow is integrated.
            starts: Modes that do not start as expected, each once; None where all do.

        Raises:
            NotSupportedError: There is weight decay, and the flow is written without.
        """
        if self.weight_decay:
            msg = "the flow of coupled matrices is written without weight decay; use descent"
            raise NotSupportedError(msg)
        return self._followed(
            lambda flow, functionals: flow.trajectory(times, functionals, accuracy),
            len(times),
            probes,
            starts,
            None,
        )

    def descent(
        self,
        steps: int,
        probes: Sequence[ModeProbe] = (),
        starts: Sequence[ModeStart] = (),
        factors: Mapping[int, float] | None = None,
    ) -> Trajectory:
        """Return what :meth:`trajectory` does for gradient descent with its finite steps.

        The blocks are those of the flow: a step of gradient descent is made of the same two
        operations that they are closed under, products A Bᵀ C and the linear coupling. Weight
        decay multiplies all weights alike, which leads out of no block.

        Args:
            steps: How many steps are recorded, the start among them.
            probes: As for the flow.
            starts: Modes that do not start as expected, each once.
            factors: What Q Qᵀ of whole pathways is multiplied by, where it is not 1.
        """
        keep = 1 - self.weight_decay / self.tau
        return self._followed(
            lambda flow, functionals: flow.descent(steps, functionals, keep),
            steps,
            probes,
            starts,
            factors,
        )

    def _followed(
        self,
        follow: Callable[[BlockFlow, np.ndarray], Trajectory],
        count: int,
        probes: Sequence[ModeProbe],
        starts: Sequence[ModeStart] | None,
        factors: Mapping[int, float] | None,
    ) -> Trajectory:
        """Sum what ``follow`` finds for the blocks, ``count`` times, over all modules.

        With ``starts``, were it empty, the state is Q.
        """
        given = starts or ()
        found, shares = self.modules_of([*probes, *(start.probe for start in given)])
        asked, begun = shares[: len(probes)], shares[len(probes) :]
        grams, tuples = _start_grams(found.modules, given, begun, factors)
        systems = [
            tie(module, more) or MatrixCoupling(module)
            for module, more in zip(found.modules, tuples, strict=True)
        ]
        begin = [system.starts(own) for system, own in zip(systems, grams, strict=True)]
        losses, values = np.full(count, found.floor), np.zeros((len(probes), count))
        # Systems of vectors alone have better coordinates, so they are integrated by themselves.
        for thin in (True, False):
            chosen = [i for i, each in enumerate(systems) if _is_thin(each) is thin]
            flow = BlockFlow(
                [systems[i].coupling for i in chosen],
                self.gram_scale,
                self.tau,
                None if starts is None else [gram for i in chosen for gram in begin[i]],
            )
            functionals = np.zeros((len(probes), flow.size))
            for row, (probe, each) in enumerate(zip(probes, asked, strict=True)):
                parts = [systems[i].functional(probe.pathway, each[i]) for i in chosen]
                functionals[row] = np.concatenate([np.zeros(0), *parts])
            done = follow(flow, functionals)
            losses += done.losses
            values += done.strengths
        return Trajectory(losses=losses, strengths=values)

    def modules_of(self, probes: Sequence[ModeProbe]) -> tuple[Split, list[list[np.ndarray]]]:
        """Return the modules that the flow falls into, and what every probe is of each of them."""
        found = self._split
        weights = [_weights(found.modules, probe) for probe in probes]
        if any(each is None for each in weights):
            found = whole(self.data)
            weights = [_weights(found.modules, probe, trusted=True) for probe in probes]
        return found, [each for each in weights if each is not None]


def _start_grams(
    modules: Sequence[GatedModule],
    starts: Sequence[ModeStart],
    shares: Sequence[list[np.ndarray]],
    factors: Mapping[int, float] | None = None,
) -> tuple[list[list[np.ndarray]], list[np.ndarray | None]]:
    """Return Q Qᵀ/g of every module's pathways, and the tuples U Vᵀ that they are made of."""
    grams, tuples, times = [], [], factors or {}
    for place, module in enumerate(modules):
        height = len(module.targets)
        own = [np.eye(column.stop - column.start + height) for column in module.columns]
        # Pathways with equal factors may stay tied to each other, but to no others.
        found = [
            np.hstack(
                [
                    module.sigma_yx[:, column] * (times.get(pathway, 1.0) == factor)
                    for pathway, column in enumerate(module.columns)
                ]
            )
            for factor in sorted({*times.values()} - {1.0})
        ]
        for start, weights in zip(starts, shares, strict=True):
            probe = start.probe
            turn = weights[place] * (probe.v.shape[1] / module.copies)  # U Vᵀ of one copy
            along = np.block([[turn.T @ turn, turn.T], [turn, turn @ turn.T]])
            own[probe.pathway] = own[probe.pathway] + 0.5 * (start.factor - 1) * along
            if np.any(turn):
                found.append(np.zeros(module.sigma_yx.shape))
                found[-1][:, module.columns[probe.pathway]] = (start.factor - 1) * turn
        grams.append([times.get(pathway, 1.0) * gram for pathway, gram in enumerate(own)])
        tuples.append(np.array(found) if found else None)
    return grams, tuples


def _is_thin(reduced: ReducedModule | MatrixCoupling) -> bool:
    return all(min(shape) <= 1 for shape in reduced.coupling.shapes)


def _weights(
    modules: Sequence[GatedModule], probe: ModeProbe, trusted: bool = False
) -> list[np.ndarray] | None:
    """Return L with mean strength = Σ over modules of tr(Lᵀ W_p), or None.

    The equal modes' projection V Vᵀ is a product of correlations, so it is the same in every
    copy, and u = Sigma^yx v/s with the correlation of the residual. Their number and s² come
    out as copies times the module's, or the copies are none.
    """
    count = probe.v.shape[1]
    found, dimension, square = [], 0.0, 0.0
    for module in modules:
        inside = module.inputs[probe.pathway].T @ probe.v
        projection = inside @ inside.T
        left = module.learned(probe.pathway)
        image = left @ projection
        dimension += module.copies * float(np.trace(projection))
        square += module.copies * float(np.vdot(image, left))
        found.append(image * (module.copies / (count * probe.s)))
    wrong = abs(dimension - count) > _MODE_TOLERANCE * count or (
        abs(square - count * probe.s**2) > _MODE_TOLERANCE * count * probe.s**2
    )
    return None if wrong and not trusted else found
