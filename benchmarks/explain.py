"""Time and memory of ``symreln explain``, on histories that are made here.

``python -m benchmarks.explain [contextual-3] [large]``: contextual-3 as it is ready-made, with 100
checkpoints; and 60 000 samples of 784 inputs, 1 000 units and 200 checkpoints, trained by
mini-batches, read from a file of 635 MB. Each is explained in a process of its own.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import symreln as sr
from symreln.experiment.training import training_settings
from symreln.train.record import Recording
from symreln.train.trainers import train_network


def contextual(folder: Path) -> None:
    """Write the history and the data of a network on contextual-3."""
    spec = sr.load("contextual-3").at_values()
    settings = training_settings(spec)
    steps = np.unique(np.linspace(0, settings.steps - 1, 100).round().astype(int))
    observers = {"W1": lambda _, w: w[0], "W2": lambda _, w: w[1]}
    record = Recording(observers=observers, steps=tuple(steps.tolist()))
    x, y = spec.dataset.arrays
    run = train_network(x, y, settings, seeds=1, rng=0, record=record)
    weights = {name: run.snapshots[name][0] for name in observers}
    np.savez(folder / "history.npz", steps=steps, **weights)
    np.savez(folder / "data.npz", X=x.T, Y=y.T)


def large(folder: Path) -> None:
    """Write those of a network on ten clusters of many inputs."""
    samples, inputs, hidden, looks, every = 60_000, 784, 1000, 200, 20
    random = np.random.default_rng(0)
    labels = random.integers(10, size=samples)
    centres = random.standard_normal((10, inputs))
    x = ((centres[labels] + random.standard_normal((samples, inputs))) / 28).astype(np.float32)
    y = np.eye(10, dtype=np.float32)[labels]
    w, b = (1e-3 * random.standard_normal(size) for size in ((hidden, inputs), (10, hidden)))
    w, b = w.astype(np.float32), b.astype(np.float32)
    first, second = np.empty((looks, hidden, inputs), np.float32), np.empty((looks, 10, hidden))
    for step in range(looks * every):
        if step % every == 0:
            first[step // every], second[step // every] = w, b
        part = random.integers(samples, size=256)
        held = np.maximum(w @ x[part].T, 0)
        error = (y[part].T - b @ held) * (0.3 / 256)
        b, w = b + error @ held.T, w + ((b.T @ error) * (held > 0)) @ x[part]
    np.savez(folder / "history.npz", steps=np.arange(looks) * every, W1=first, W2=second)
    np.savez(folder / "data.npz", X=x, Y=y)


MAKE = {"contextual-3": contextual, "large": large}


def explain(folder: Path) -> None:
    """Explain what is in a folder, and print how long and how much memory that took."""
    data, begin = np.load(folder / "data.npz"), time.perf_counter()
    found = sr.explain(folder / "history.npz", data["X"], data["Y"])
    explained = time.perf_counter() - begin
    found.save(folder / "out")
    saved, most = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(*found.lines(), sep="\n")
    print(f"explained in {explained:.1f} s, with documents {saved:.1f} s, {most / 1024:.0f} MB")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*MAKE], metavar="NAME")
    for name in parser.parse_args().names:
        with TemporaryDirectory() as folder:
            for work in (MAKE[name], explain):
                process = get_context("spawn").Process(target=work, args=(Path(folder),))
                process.start()
                process.join()
                if process.exitcode:
                    sys.exit(process.exitcode)


if __name__ == "__main__":
    main()
