"""Gradient descent on the reduced blocks of many networks at once.

The blocks of :mod:`symreln.laws.reduced_flow` are the same for every network of a spec: only
the strengths that its modes start from differ. So they are found once, and all networks take each
step together. A step is :meth:`symreln.laws.block_flow.BlockFlow.descent`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.laws.block_flow import symmetric_root
from symreln.laws.plain_module import PlainModule
from symreln.laws.reduced_flow import ModeStart, start_grams
from symreln.laws.ternary import tie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.laws.gated_data import GatedModule
    from symreln.laws.reduced_flow import ModeProbe, ReducedFlow
    from symreln.laws.ternary import ReducedModule


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class ManyDescents:
    """The systems of a reduced flow, ready to be descended from many starts.

    Attributes:
        flow: What is descended.
        modules: Its modules.
        shares: What every mode is of each module.
        systems: Each module in its blocks.
        probes: The modes whose start differs between networks.
        floor: Loss of no module.
    """

    flow: ReducedFlow
    modules: Sequence[GatedModule]
    shares: Sequence[list[np.ndarray]]
    systems: Sequence[ReducedModule | PlainModule]
    probes: Sequence[ModeProbe]
    floor: float

    @classmethod
    def of(cls, flow: ReducedFlow, starts: Sequence[ModeStart]) -> ManyDescents:
        """Find the blocks that networks need whose modes start with different strengths.

        Args:
            flow: What is descended.
            starts: Every mode that is to differ, with factors that are all different: blocks in
                which such modes stay apart serve any factors.
        """
        probes = [start.probe for start in starts]
        found, shares = flow.modules_of(probes)
        _, tuples = start_grams(found.modules, starts, shares)
        systems = [
            tie(module, more) or PlainModule(module)
            for module, more in zip(found.modules, tuples, strict=True)
        ]
        return cls(
            flow=flow,
            modules=found.modules,
            shares=shares,
            systems=systems,
            probes=probes,
            floor=found.floor,
        )

    @property
    def multiplications(self) -> int:
        """How many multiplications a step of one network takes, about."""
        total = 0
        for system in self.systems:
            shapes = system.coupling.shapes
            total += sum(4 * a * b * (a + b) for a, b in shapes)
            if isinstance(system, PlainModule):
                total += 2 * system.module.sigma_yx.shape[0] * system.module.sigma_x.size
            else:
                total += 2 * sum(a * b for a, b in shapes) ** 2
        return total

    def losses(self, factors: np.ndarray, steps: int) -> np.ndarray:
        """Return the losses of networks at steps 0, 1, …, shape (networks, steps).

        Args:
            factors: How many times its expected strength every mode starts from, shape
                (networks, modes).
            steps: How many steps are recorded, the start among them.
        """
        total = np.full((len(factors), steps), self.floor)
        begin = [self._starts(row) for row in factors]
        for place, system in enumerate(self.systems):
            blocks = [np.stack(each) for each in zip(*(one[place] for one in begin), strict=True)]
            if blocks:
                total += self._descended(system, blocks, steps)
            else:
                total += float(system.coupling.losses(np.zeros((0, 1)))[0])
        return total

    def _starts(self, factors: np.ndarray) -> list[list[np.ndarray]]:
        """Return Q of every block of every system for one network."""
        starts = [
            ModeStart(probe=probe, factor=float(factor))
            for probe, factor in zip(self.probes, factors, strict=True)
        ]
        grams, _ = start_grams(self.modules, starts, self.shares)
        scale = np.sqrt(self.flow.gram_scale)
        return [
            [scale * symmetric_root(gram) for gram in system.starts(own)]
            for system, own in zip(self.systems, grams, strict=True)
        ]

    def _descended(
        self, system: ReducedModule | PlainModule, blocks: list[np.ndarray], steps: int
    ) -> np.ndarray:
        """Descend one system from Q of every block, each of shape (networks, size, size)."""
        coupling, keep = system.coupling, 1 - self.flow.weight_decay / self.flow.tau
        batch = _Batch(coupling.shapes, blocks, keep)
        losses = np.empty((len(blocks[0]), steps))
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(steps):
                maps = batch.maps()
                losses[:, step] = coupling.losses(maps)
                batch.move(_errors(system, maps) / self.flow.tau)
        return losses


def _errors(system: ReducedModule | PlainModule, maps: np.ndarray) -> np.ndarray:
    """Return E of every block for maps of shape (entries, networks)."""
    if isinstance(system, PlainModule):
        return system.many_errors(maps)
    coupling = system.coupling
    return coupling.offsets[:, None] - coupling.matrix @ maps


class _Batch:
    """Weights of all blocks of all networks: blocks of one shape are moved together.

    Args:
        shapes: (outputs, inputs) of every block.
        blocks: Q of every block, each of shape (networks, inputs + outputs, inputs + outputs).
        keep: What weight decay leaves of a weight in a step.
    """

    def __init__(
        self, shapes: Sequence[tuple[int, int]], blocks: Sequence[np.ndarray], keep: float
    ) -> None:
        self._keep, self._networks = keep, len(blocks[0])
        ends = np.cumsum([0, *(a * b for a, b in shapes)])
        self._size = int(ends[-1])
        self._groups: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for shape in dict.fromkeys(shapes):
            own = [place for place, other in enumerate(shapes) if other == shape]
            index = np.concatenate([np.arange(ends[p], ends[p + 1]) for p in own])
            q = np.stack([blocks[p] for p in own], axis=1)
            first, second = q[:, :, : shape[1]], q[:, :, shape[1] :]
            if index.size:
                self._groups.append((index, first, second))

    def maps(self) -> np.ndarray:
        """Return W, entry by entry, shape (entries, networks)."""
        found = np.empty((self._size, self._networks))
        for index, first, second in self._groups:
            product = second @ first.swapaxes(-1, -2)
            found[index] = product.reshape(self._networks, -1).T
        return found

    def move(self, errors: np.ndarray) -> None:
        """Take a step; ``errors`` in units of the step, shape (entries, networks)."""
        moved = []
        for index, first, second in self._groups:
            shape = (*second.shape[:-1], first.shape[-2])
            pull = errors[index].T.reshape(shape)
            moved.append(
                (
                    index,
                    self._keep * first + pull.swapaxes(-1, -2) @ second,
                    self._keep * second + pull @ first,
                )
            )
        self._groups = moved
