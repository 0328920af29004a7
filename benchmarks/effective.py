"""The effective network: what its error depends on, and when the loss drops.

``python -m benchmarks.effective [--seeds 20]`` prints max |ΔL|/L(0) from trained ReLU networks on a
random ReLU teacher (30 samples, 5 inputs, 2 outputs) over two decades of ε, σ, H, of the units that
are followed, and of the number of draws; then the drops of tasks of the kind of alternating
gradient flows (Kunin et al. 2025): steps and losses, predicted and trained.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from symreln.effective import network as effective
from symreln.effective.descent import Descent
from symreln.effective.network import effective_network
from symreln.effective.timeline import drops_of
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network

Data = tuple[np.ndarray, np.ndarray]


def teacher() -> Data:
    """Return the targets of four random ReLU units."""
    random = np.random.default_rng(30)
    x, w, a = (random.standard_normal(shape) for shape in ((5, 30), (4, 5), (2, 4)))
    return x, a @ np.maximum(w @ x, 0)


def trained(data: Data, how: Descent, seeds: int) -> np.ndarray:
    """Return the losses of trained networks, shape (seeds, steps)."""
    settings = TrainingSettings(
        hidden=how.hidden,
        init_std=how.init_std,
        learning_rate=how.step,
        loss="mean",
        steps=how.steps,
        activation="relu",
        weight_decay=0.0,
        batch_size=None,
    )
    seed = np.random.SeedSequence(7)
    return train_network(*data, settings, seeds=seeds, rng=seed, record=Recording()).losses


def error(losses: np.ndarray, data: Data, how: Descent, **changed: object) -> str:
    """Return the distance of a prediction, its own error and its units, as text."""
    found = effective_network(*data, how, **changed)  # type: ignore[arg-type]
    if found is None:
        return "no unit grows"
    mean = losses.mean(axis=0)
    apart = np.abs(found.losses - mean).max() / mean[0]
    return f"{100 * apart:5.2f} %  (own error {100 * found.error:.2f} %, {found.count} units)"


def sensitivity(seeds: int) -> None:
    """Print how the error depends on everything that could be chosen."""
    data, base = teacher(), Descent(hidden=200, init_std=(1e-4, 1e-4), step=0.01, steps=4000)
    losses = trained(data, base, seeds)
    half = [losses[part::2].mean(axis=0) for part in (0, 1)]
    floor = 100 * np.abs(half[0] - half[1]).max() / losses[0, 0]
    print(f"halves of {seeds} networks apart: {floor:.2f} %")
    for epsilon in (2e-4, 6e-4, 2e-3, 6e-3, 2e-2):
        print(f"epsilon = {epsilon:g}: {error(losses, data, base, epsilon=epsilon)}")
    for draws in (2, 4, 8, 20, 60, 200):
        print(f"{draws} draws and rotations: {error(losses, data, base, draws=draws)}")
    usual = effective._FOLLOWED
    for followed in (10, 20, 50, 100, 200):
        effective._FOLLOWED = followed
        print(f"{followed} units followed: {error(losses, data, base)}")
    effective._FOLLOWED = usual
    for std in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
        how = replace(base, init_std=(std, std))
        print(f"sigma = {std:g}: {error(trained(data, how, seeds), data, how)}")
    for hidden in (20, 60, 200, 600, 2000):
        how = replace(base, hidden=hidden, init_std=(1.4e-3 / hidden**0.5,) * 2)
        print(f"H = {hidden}: {error(trained(data, how, seeds), data, how)}")


def drops(seeds: int) -> None:
    """Print predicted and trained drops."""
    size = np.array([4.0, 2, 1, 0.5])
    eye, mirrored = np.eye(4), np.hstack([np.eye(4), -np.eye(4)])
    random = np.random.default_rng(2)
    map_ = np.linalg.qr(random.standard_normal((4, 4)))[0] @ np.diag(size)
    rows = random.standard_normal((4, 12))
    tasks: dict[str, Data] = {
        "orthogonal data, ReLU": (2 * eye, 2 * np.diag(size)),
        "mirrored orthogonal data (diagonal linear)": (2 * mirrored, 2 * np.diag(size) @ mirrored),
        "mirrored data (linear)": (np.hstack([rows, -rows]), map_ @ np.hstack([rows, -rows])),
    }
    for name, data in tasks.items():
        how = Descent(hidden=200, init_std=(1e-5, 1e-5), step=0.02, steps=8000)
        found, mean = effective_network(*data, how), trained(data, how, seeds).mean(axis=0)
        apart = 100 * np.abs(found.losses - mean).max() / mean[0] if found else np.nan
        print(f"{name}: max |dL|/L(0) {apart:.2f} %, {found.count if found else 0} units")
        for who, losses in (("predicted", found.losses if found else mean), ("trained", mean)):
            told = drops_of(losses, 20)
            shown = [f"step {s}: {100 * a:.1f} to {100 * b:.1f} %" for s, _, (a, b) in told]
            print(f"  {who}: {'; '.join(shown)}")


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    sensitivity(seeds)
    drops(seeds)


if __name__ == "__main__":
    main()
