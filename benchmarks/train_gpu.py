"""Training on a graphics card: seed-steps a second, beside what the card could do at most.

    python -m benchmarks.train_gpu [--seeds 1024] [--width 700] [--device cuda] [--float32]

The contextual task with three contexts (n_x = 11, n_y = 60, P = 24), full batch, bookkeeping of
losses included. A seed-step is one step of one network. Seeds are trained in chunks of several
sizes, step by step from Python and, on a CUDA device, as one recorded graph of kernels a step:
small chunks keep activations in the cache of the card and pay more launches. Beside it stand two
limits, both measured here on the same device:

* arithmetic: 2 · P · H · (2 n_x + 3 n_y) operations a seed-step over the rate of batched products
  of the same shapes;
* memory: the bytes a seed-step moves, over the rate of a copy. Least of all: weights read and
  written once, 16 · H · (n_x + n_y) bytes in float64, which takes a single kernel for the whole
  step. As the operations are: weights of the second layer are read three times and written once,
  of the first twice and once, and P · H numbers pass ten times: forth a product writes them, ReLU
  reads and writes, two products read; back a product writes, the mask reads two arrays and writes
  one, a product reads.

Measured with torch 2.11.0 (CUDA 13.0), width 700, on an NVIDIA H100 80GB HBM3 (2026-11-26) and an
NVIDIA H200 (2026-11-29):

                                            H100                    H200
                                            float64      float32    float64      float32
    best chunks, seed-steps a second        883 766    1 363 280  1 104 813    1 504 733
    64 seeds, from Python                   202 221                 382 142      259 350
    64 seeds, recorded                      691 107                 789 877      947 408
    operations a second, batched products   7.64e12      1.05e13    8.98e12      1.14e13
    arithmetic allows, seed-steps         1 125 249    1 550 043  1 322 817    1 679 591
    bytes a second, copy                    2.98e12                 4.19e12      4.15e12
    memory allows, as the operations are  1 039 027    2 072 911  1 459 465    2 887 897
    memory allows, weights moved once     3 753 666               5 272 575   10 433 038
    share of the nearest limit                 0.85         0.88       0.84         0.90

Products of so few samples (24) reach a ninth of the 67e12 operations a second that the data sheet
gives for double precision, so arithmetic and memory bind alike; what is left above is a step as a
single kernel, which moves weights once.

Without the library or the device it says so and ends with exit code 2. `--device cpu --width 20
--seeds 8` is a dry run.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.train import N_X, N_Y, SAMPLES, data, relu_products, settings
from symreln.errors import InputError
from symreln.train.machine import Machine
from symreln.train.program import State
from symreln.train.steps import program_of
from symreln.train.trainers import network_model

CHUNKS = (64, 128, 256, 512, 1024)
#: Passes over the P · H numbers of a seed in one step, see above.
PASSES = 10


def seconds(torch: Any, device: str, work: Callable[[], object], least: float = 0.5) -> float:
    """Time of one call, over as many as take ``least`` seconds, after a warm-up."""

    def wait() -> None:
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)

    for _ in range(3):
        work()
    wait()
    count, taken = 1, 0.0
    while taken < least:
        count *= 2
        begun = time.perf_counter()
        for _ in range(count):
            work()
        wait()
        taken = time.perf_counter() - begun
    return taken / count


def stepper(torch: Any, machine: Machine, width: int, seeds: int, recorded: bool) -> Callable:
    """A step of a chunk of networks, loss included; as one graph of kernels where ``recorded``."""
    chosen = dataclasses.replace(settings(width, 1), precision=machine.precision)
    model = network_model(*machine.arrays(*data()), chosen)
    rng = np.random.default_rng(0)
    weights = [0.005 / width * rng.standard_normal((seeds, *s)) for s in model.network.shapes]
    state = State(program_of(model), tuple(weights))

    def step() -> Any:
        loss = state.evaluate()
        state.update()
        return loss

    if not recorded:
        return step
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # a graph is recorded after a warm-up on a stream of its own
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay() -> Any:
        graph.replay()
        return loss.clone()

    return replay


def rates(torch: Any, device: str, dtype: Any, width: int, seeds: int) -> tuple[float, float]:
    """Operations a second of batched products of a step's shapes, and bytes a second of a copy."""
    operands = [
        (
            torch.randn(seeds, rows, inner, dtype=dtype, device=device),
            torch.randn(seeds, inner, columns, dtype=dtype, device=device),
        )
        for rows, inner, columns in relu_products(width)
    ]
    work = sum(2 * seeds * r * i * c for r, i, c in relu_products(width))

    def products() -> None:
        for left, right in operands:
            torch.bmm(left, right)

    arithmetic = work / seconds(torch, device, products)
    large = torch.zeros(1 << 26, dtype=dtype, device=device)
    other = torch.empty_like(large)
    moved = 2 * large.numel() * large.element_size()
    memory = moved / seconds(torch, device, lambda: other.copy_(large))
    return arithmetic, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1024)
    parser.add_argument("--width", type=int, default=700)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--float32", action="store_true")
    asked = parser.parse_args()
    precision = "float32" if asked.float32 else "float64"
    machine = Machine(backend="torch", device=asked.device, precision=precision)
    try:
        machine.arrays(np.ones((1, 1)))
    except InputError as error:
        print(f"no measurement: {error}", file=sys.stderr)
        sys.exit(2)
    import torch

    cuda = asked.device.startswith("cuda")
    name = torch.cuda.get_device_name(asked.device) if cuda else "this processor"
    print(f"{name}, torch {torch.__version__}, {precision}, width {asked.width}")
    best = 0.0
    for chunk in sorted({min(size, asked.seeds) for size in CHUNKS}):
        for recorded in (False, True) if cuda else (False,):
            work = stepper(torch, machine, asked.width, chunk, recorded)
            rate = chunk / seconds(torch, asked.device, work)
            best = max(best, rate)
            how = "recorded" if recorded else "from Python"
            print(f"{chunk:5d} seeds a chunk, {how:<11} {rate:12.0f} seed-steps a second")
    dtype = getattr(torch, precision)
    arithmetic, memory = rates(torch, asked.device, dtype, asked.width, min(256, asked.seeds))
    item, units = (4 if asked.float32 else 8), asked.width
    operations = 2 * SAMPLES * units * (2 * N_X + 3 * N_Y)
    least = 2 * item * units * (N_X + N_Y)
    taken = item * units * (4 * N_Y + 3 * N_X + PASSES * SAMPLES)
    print(f"{asked.seeds} seeds train at {best:.0f} seed-steps a second in the best chunks")
    print(
        f"arithmetic: {operations} operations at {arithmetic:.3g}/s: {arithmetic / operations:.0f}"
    )
    print(f"memory, as the operations are: {taken} bytes at {memory:.3g}/s: {memory / taken:.0f}")
    print(f"memory, weights once: {least} bytes: {memory / least:.0f}")
    nearest = min(arithmetic / operations, memory / taken)
    print(f"{best / nearest:.2f} of the nearest limit of these operations")


if __name__ == "__main__":
    main()
