"""Two hidden layers: whether the two steps of the effective network carry over.

``python -m benchmarks.two_hidden [--seeds 40] [NAME …]`` prints a row a data set. No unit is alone,
as W2 is between them: all weights of random draws follow the flow in the frozen residual Y until
outputs reach ε of the targets; gradient descent from there on is the prediction, a distribution.
No network is seen: trained ones have weights of their own. Printed are

* quartiles of the step at which trained networks have lost 10 %;
* Kolmogorov-Smirnov distances of predicted and trained steps of L/L(0) below .9, .5 and .1 (* where
  exchanged labels reach it in less than 5 % of draws) of all units, of *neurons*, and, with half as
  many draws, of gates that switch (``symreln depth``);
* max |ΔL|/L(0) of mean losses (of halves of the trained networks), and of any network where all
  units go on from its own weights, percent; the largest singular value of W2 there over the next;
* what reductions there change, median of max |ΔL|/L(0), percent, and units. *Felt*: all, but of W2
  what meets directions of first-layer activities or of signals from the outputs. *Moments*,
  *neurons*: few units in every gate of every layer.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from sklearn import datasets

import symreln as sr
from symreln.base.processors import one_blas_thread
from symreln.effective.network import _of_moment
from symreln.lab.distributions import CrossingComparison, crossing_times
from symreln.lab.switching import FrozenPhase, SwitchingRun
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_deep_network

Weights = list[np.ndarray]
#: Outputs over targets at the horizon; more than for one hidden layer, as units turn late.
EPSILON = 0.01
LEVELS = (0.9, 0.5, 0.1)
#: Share of squared activities and signals whose directions are felt.
FELT = 0.99
#: Cosine of activities from which units of a layer are one gate; share of its moment that is kept.
WAYS = {"moments": (0.9, 0.9), "neurons": (0.97, 0.0)}


@dataclass(frozen=True)
class Task:
    """Data, and how a network of two equal hidden layers is trained on them."""

    x: np.ndarray
    y: np.ndarray
    settings: TrainingSettings

    def drawn(self, seeds: int, seed: int) -> Weights:
        """Return initial weights, shape (seeds, units, units before) each."""
        random, h = np.random.default_rng(seed), self.settings.hidden
        shapes = (seeds, h, len(self.x)), (seeds, h, h), (seeds, len(self.y), h)
        return [self.settings.init_std * random.standard_normal(shape) for shape in shapes]

    def trained(self, weights: Weights, steps: int) -> np.ndarray:
        """Return L/L(0) at so many steps of gradient descent, shape (seeds, steps)."""
        widths = [matrix.shape[1] for matrix in weights[:-1]]
        how = replace(self.settings, steps=steps)
        losses = train_deep_network(self.x, self.y, widths, how, initial=weights).losses
        return losses * 2 * self.y.shape[1] / np.vdot(self.y, self.y)


def tasks() -> dict[str, Task]:
    """Return the data sets."""
    signs = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, 1, 1, 1]], dtype=float)
    rows, w, a = map(np.random.default_rng(30).standard_normal, ((5, 30), (4, 5), (2, 4)))
    flowers, classes = datasets.load_iris(return_X_y=True)
    scaled = np.c_[(flowers - flowers.mean(axis=0)) / flowers.std(axis=0), np.ones(150)]
    contexts = sr.load("depth").at_values().dataset.arrays

    def task(x: np.ndarray, y: np.ndarray, h: int, std: float, rate: float, steps: int) -> Task:
        how = TrainingSettings(hidden=h, init_std=std, learning_rate=rate, steps=steps, loss="mean")
        return Task(x, y, how)

    return {
        "xor, bias": task(signs, signs[:1] * signs[1:2], 100, 0.015, 0.05, 1000),
        "teacher 30 x 5 -> 2": task(rows, a @ np.maximum(w @ rows, 0), 50, 0.01, 0.02, 1200),
        "iris": task(scaled.T, np.eye(3)[classes].T, 50, 0.02, 0.08, 800),
        "contextual-3": task(*contexts, 50, 0.02, 0.06, 1800),
        "contextual-3, small": task(*contexts, 50, 0.006, 0.08, 2500),
    }


def forward(weights: Weights, x: np.ndarray) -> Weights:
    """Return activities of both layers and outputs."""
    second = np.maximum(weights[1] @ (first := np.maximum(weights[0] @ x, 0)), 0)
    return [first, second, weights[2] @ second]


@one_blas_thread()
def to_horizon(task: Task, weights: Weights) -> tuple[list[Weights], np.ndarray, np.ndarray]:
    """Return networks followed in the residual Y to their horizons; the steps; L/L(0) till then."""
    y, last = task.y, task.settings.steps - 1
    rate = task.settings.learning_rate / y.shape[1]
    at, left = [w.copy() for w in weights], np.arange(len(weights[0]))
    starts, losses = np.full(len(left), last), np.ones((len(left), last + 1))
    for step in range(last + 1):
        seen = forward(weights, task.x)
        losses[left, step] = np.square(y - seen[2]).sum(axis=(1, 2)) / np.vdot(y, y)
        for kept, now in zip(at, weights, strict=True):
            kept[left] = now
        on = np.linalg.norm(seen[2], axis=(1, 2)) < EPSILON * np.linalg.norm(y)
        starts[left[~on]] = step
        if not len(left := left[on]):
            break
        (w1, w2, w3), (first, second, _) = ([m[on] for m in part] for part in (weights, seen))
        above = (w3.swapaxes(1, 2) @ y) * (second > 0)
        below = (w2.swapaxes(1, 2) @ above) * (first > 0)
        w1, w2 = w1 + rate * below @ task.x.T, w2 + rate * above @ first.swapaxes(1, 2)
        weights = [w1, w2, w3 + rate * y @ second.swapaxes(1, 2)]
    return [list(one) for one in zip(*at, strict=True)], starts, losses


def felt(weights: Weights, x: np.ndarray) -> Weights:
    """Return one network without what neither activities nor signals meet of W2."""
    w1, w2, w3 = weights
    first, second, _ = forward(weights, x)
    signals = np.hstack([row[:, None] * (second > 0) for row in w3])
    factors = (np.linalg.svd(each, full_matrices=False)[:2] for each in (first, signals))
    right, left = (u[:, : np.searchsorted(np.cumsum(d**2), FELT * d @ d) + 1] for u, d in factors)
    part = left @ (left.T @ w2)
    return [w1, part + (w2 - part) @ right @ right.T, w3]


def reduced(weights: Weights, x: np.ndarray, way: str, seed: int) -> Weights:
    """Return one network with few units in every gate, of the second layer, then of the first."""
    rng, (w1, w2, w3) = np.random.default_rng(seed), felt(weights, x)
    first, second, _ = forward([w1, w2, w3], x)
    upper = _few(np.hstack([w2, w3.T]), second, way, rng)
    lower = _few(np.hstack([w1, upper[:, : len(w1)].T]), first, way, rng)
    return [lower[:, : len(x)], lower[:, len(x) :].T, upper[:, len(w1) :].T]


def _few(units: np.ndarray, seen: np.ndarray, way: str, rng: np.random.Generator) -> np.ndarray:
    """Return few units with the moments of a layer's (incoming, outgoing), gate by gate."""
    alike, share = WAYS[way]
    gates = list[tuple[np.ndarray, list[int]]]()
    for place in np.argsort(-np.square(units).sum(axis=1)):
        direction = seen[place] / (np.linalg.norm(seen[place]) or 1)
        near = max(gates, key=lambda gate: gate[0] @ direction, default=None)
        if near is not None and near[0] @ direction >= alike:
            near[1].append(place)
        elif direction.any():
            gates.append((direction, [place]))
    return np.concatenate([_reduced(units[members], share, rng) for _, members in gates])


def _reduced(units: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return units with a share of the moment of some, or these where they are no more."""
    values, vectors = np.linalg.eigh(moment := units.T @ units)
    falling = np.append(values[::-1], 0.0)
    count = int(np.searchsorted(np.cumsum(falling) / falling.sum(), share))
    if 0 < len(units) <= 2 * count:
        return units
    leading = vectors[:, -1] * np.sign(vectors[:, -1] @ units.sum(axis=0))
    return _of_moment(moment, leading, max(0.0, falling[count + 1]), rng)


def descend(task: Task, nets: list[Weights], starts: np.ndarray, until: np.ndarray) -> np.ndarray:
    """Return L/L(0) with gradient descent from the horizons on, shape (draws, steps)."""
    sizes = [np.max([each.shape for each in layer], axis=0) for layer in zip(*nets, strict=True)]
    padded, losses = [np.zeros((len(nets), *size)) for size in sizes], until.copy()
    for draw, layer in np.ndindex(len(nets), len(sizes)):
        part = nets[draw][layer]
        padded[layer][draw, : part.shape[0], : part.shape[1]] = part
    later = task.trained(padded, task.settings.steps - int(starts.min()))
    for draw, start in enumerate(starts):
        losses[draw, start:] = later[draw, : losses.shape[1] - start]
    return losses


def row(task: Task, seeds: int) -> Iterator[str]:
    """Yield the cells of one data set."""
    networks = task.trained(task.drawn(seeds, 7), task.settings.steps)

    def distances(losses: np.ndarray) -> str:
        found = (CrossingComparison.of(losses, networks, level) for level in LEVELS)
        told = " ".join(f"{each.distance:.2f}{'*' * (each.p < 0.05)}" for each in found)
        return told.replace("0.00", "–")  # no curve of either kind falls so low

    nets, *until = to_horizon(task, task.drawn(seeds, 43))
    ways = {"felt": [felt(net, task.x) for net in nets]}
    ways |= {way: [reduced(net, task.x, way, k) for k, net in enumerate(nets)] for way in WAYS}
    whole = descend(task, nets, *until)
    losses = {way: descend(task, units, *until) for way, units in ways.items()}
    data, how, stream = (task.x, task.y), task.settings, np.random.SeedSequence(43)
    early = FrozenPhase.of(data, (how.hidden,) * 2, how, seeds=seeds // 2, rng=stream)
    drops = np.quantile(crossing_times(networks, LEVELS[0]), (0.25, 0.5, 0.75))
    yield "{:.0f} / {:.0f} / {:.0f}".format(*drops)
    for each in (whole, losses["neurons"], SwitchingRun.of(data, how, early).losses):
        yield distances(each)
    halves = (whole.mean(0), networks.mean(0)), (networks[::2].mean(0), networks[1::2].mean(0))
    yield "{:.1f} ({:.1f})".format(*(100 * np.abs(a - b).max() for a, b in halves))
    same = descend(task, *to_horizon(task, task.drawn(seeds, 7)))
    yield f"{100 * np.abs(same - networks).max():.1f}"
    yield f"{np.median([np.divide(*np.linalg.svd(net[1])[1][:2]) for net in nets]):.1f}"
    for way, units in ways.items():
        cost = np.median(np.abs(losses[way] - whole).max(axis=1))
        few = "+".join(f"{np.mean([len(net[layer]) for net in units]):.0f}" for layer in (0, 1))
        yield f"{100 * cost:.1f}" + f", {few}" * (way in WAYS)


def main() -> None:
    """Print a row a data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*tasks()], metavar="NAME")
    parser.add_argument("--seeds", type=int, default=40)
    options = parser.parse_args()
    print("data | drop | all | neurons | depth | max | same | W2 | felt | moments | neurons")
    for name in options.names:
        print(" | ".join([name, *row(tasks()[name], options.seeds)]), flush=True)


if __name__ == "__main__":
    main()
