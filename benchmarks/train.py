"""Speed of the trainers, as ratios measured within one run.

    python benchmarks/train.py [--quick]

Each line gives the time of a training step, bookkeeping included, over the time of the bare matrix
products of the same shapes (contiguous operands, preallocated results), both in one thread and
taken in turn; the median of the repeats stands, with the smallest and largest. Then: what a batch
of small networks gains over one at a time, and the throughput of whole trainings over all
processors. Shapes: the contextual task with three contexts (n_x = 11, n_y = 60, P = 24).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from symreln.base.processors import cores
from symreln.train.network import GatedPathway, dense_network, pathway_network
from symreln.train.program import State
from symreln.train.run import TrainingRun
from symreln.train.settings import TrainingSettings
from symreln.train.steps import program_of
from symreln.train.trained_model import Model
from symreln.train.trainers import network_model, pathway_model, train_gdln, train_network

N_X, N_Y, ITEMS, CONTEXTS = 11, 60, 8, 3
SAMPLES = ITEMS * CONTEXTS


def settings(hidden: int, steps: int) -> TrainingSettings:
    return TrainingSettings(
        hidden=hidden, init_std=0.005 / hidden, learning_rate=1e-3, loss="sum", steps=steps
    )


def data() -> tuple[np.ndarray, np.ndarray]:
    """Inputs of the task; targets of its shape (their values do not change the time)."""
    inputs = np.zeros((N_X, SAMPLES))
    samples = np.arange(SAMPLES)
    inputs[samples % ITEMS, samples] = 1
    inputs[ITEMS + samples // ITEMS, samples] = 1
    return inputs, np.random.default_rng(0).integers(0, 2, (N_Y, SAMPLES)).astype(float)


def pathways(hidden: int) -> tuple[GatedPathway, ...]:
    context = np.arange(SAMPLES) // ITEMS
    everything = range(N_Y)
    common = GatedPathway(
        name="common",
        gate=np.ones(SAMPLES).tolist(),
        inputs=range(N_X),
        outputs=everything,
        hidden=hidden,
    )
    off = [
        GatedPathway(
            name=f"off_{k}",
            gate=(context != k).astype(float).tolist(),
            inputs=range(ITEMS),
            outputs=everything,
            hidden=hidden,
            stage=2,
        )
        for k in range(CONTEXTS)
    ]
    return (common, *off)


def relu_products(hidden: int) -> list[tuple[int, int, int]]:
    """Shapes (rows, inner, columns) of one step's products."""
    return [
        (hidden, N_X, SAMPLES),
        (N_Y, hidden, SAMPLES),
        (hidden, N_Y, SAMPLES),
        (N_Y, SAMPLES, hidden),
        (hidden, SAMPLES, N_X),
    ]


def gdln_products(hidden: int) -> list[tuple[int, int, int]]:
    shapes = []
    for pathway in pathways(hidden):
        n_x, open_samples = len(pathway.inputs), np.count_nonzero(pathway.gate)
        shapes += [(N_Y, hidden, n_x), (N_Y, n_x, open_samples), (N_Y, open_samples, n_x)]
        shapes += [(hidden, N_Y, n_x), (N_Y, n_x, hidden)]
    return shapes


def deep_products(widths: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Shapes of one step's products of a network with these hidden layers, samples in rows."""
    sizes, shapes = (N_X, *widths, N_Y), []
    for place, (before, after) in enumerate(pairwise(sizes)):
        shapes += [(SAMPLES, before, after), (before, SAMPLES, after)]
        shapes += [(SAMPLES, after, before)] if place else []
    return shapes


def graph_products(hidden: int) -> list[tuple[int, int, int]]:
    """Shapes of one step's products of the pathways as a graph: every sample runs through."""
    shapes = []
    for pathway in pathways(hidden):
        n_x, rows = len(pathway.inputs), np.count_nonzero(pathway.gate)
        shapes += [(rows, n_x, hidden), (rows, hidden, N_Y), (rows, N_Y, hidden)]
        shapes += [(hidden, rows, N_Y), (n_x, rows, hidden)]
    return shapes


def stepper(model: Model, seeds: int, init_std: float) -> Callable[[], None]:
    rng = np.random.default_rng(0)
    weights = [init_std * rng.standard_normal((seeds, *shape)) for shape in model.network.shapes]
    state = State(program_of(model), tuple(weights))

    def step() -> None:
        state.evaluate()
        state.update()

    return step


def bare(shapes: list[tuple[int, int, int]], seeds: int) -> Callable[[], None]:
    rng = np.random.default_rng(0)
    operands = [
        (
            rng.standard_normal((seeds, rows, inner)),
            rng.standard_normal((seeds, inner, columns)),
            np.empty((seeds, rows, columns)),
        )
        for rows, inner, columns in shapes
    ]

    def step() -> None:
        for left, right, out in operands:
            np.matmul(left, right, out=out)

    return step


def seconds(step: Callable[[], None], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - start) / count


def compare(
    name: str, first: Callable[[], None], second: Callable[[], None], count: int, repeats: int
) -> None:
    """Print the ratio of two steps, timed in turn so that a busy machine slows both."""
    seconds(first, 3)
    seconds(second, 3)
    pairs = [(seconds(first, count), seconds(second, count)) for _ in range(repeats)]
    ratios = sorted(one / other for one, other in pairs)
    medians = [1e6 * statistics.median(times) for times in zip(*pairs, strict=True)]
    print(
        f"{name:<44} {medians[0]:9.1f} µs / {medians[1]:9.1f} µs = "
        f"{statistics.median(ratios):5.2f}   ({ratios[0]:.2f} … {ratios[-1]:.2f})"
    )


def one_at_a_time(steps: list[Callable[[], None]]) -> Callable[[], None]:
    def step() -> None:
        for each in steps:
            each()

    return step


def rate(run: TrainingRun) -> float:
    """Steps of one seed in a second."""
    return run.losses.size / run.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats and steps")
    scale = 10 if parser.parse_args().quick else 1
    inputs, targets = data()
    std = 0.005 / 700
    repeats = max(3, 21 // scale)
    with threadpool_limits(limits=1, user_api="blas"):
        print("training step / bare products of the same shapes, median (smallest … largest)")
        for width, seeds, count in ((700, 1, 200), (50, 64, 100), (50, 8, 400)):
            model = network_model(inputs, targets, settings(width, 1))
            compare(
                f"ReLU, width {width}, {seeds} seed(s) a batch",
                stepper(model, seeds, std),
                bare(relu_products(width), seeds),
                count // scale,
                repeats,
            )
        paths = pathways(350)
        gated = pathway_model(inputs, targets, paths, settings(350, 1), training="staged")
        compare(
            "GDLN, 4 pathways of 350, staged, 1 seed",
            stepper(gated, 1, std),
            bare(gdln_products(350), 1),
            200 // scale,
            repeats,
        )
        for width, seeds, count in ((700, 1, 40), (50, 64, 60)):
            widths = (width, width)
            deep = dense_network(N_X, widths, N_Y, relu=True)
            compare(
                f"ReLU, two layers of {width}, {seeds} seed(s) a batch",
                stepper(Model(inputs, targets, deep, settings(width, 1)), seeds, std),
                bare(deep_products(widths), seeds),
                max(4, count // scale),
                repeats,
            )
        whole = pathway_network(paths, 2)
        compare(
            "the same pathways as a graph, joint, 1 seed",
            stepper(Model(inputs, targets, whole, settings(350, 1)), 1, std),
            bare(graph_products(350), 1),
            200 // scale,
            repeats,
        )
        small = network_model(inputs, targets, settings(10, 1))
        compare(
            "64 networks of width 10: singly / in a batch",
            one_at_a_time([stepper(small, 1, std) for _ in range(64)]),
            stepper(small, 64, std),
            40 // scale,
            repeats,
        )
    print(f"\nwhole trainings of 8 seeds on {cores()} processors, seed-steps a second")
    steps = 2001 // scale
    for _ in range(3):
        relu = train_network(inputs, targets, settings(700, steps), seeds=8, rng=0)
        gdln = train_gdln(
            inputs, targets, pathways(350), settings(350, steps), training="staged", seeds=8, rng=0
        )
        print(f"ReLU {rate(relu):8.0f}   GDLN {rate(gdln):8.0f}")


if __name__ == "__main__":
    main()
