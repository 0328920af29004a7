"""Starts of later pathways from units that leave: ``python -m validation.leaving_starts [TASK …]``.

A ReLU network has no units of its own for a later pathway: they come from those that leave the
first one. To first order the law of gates says which unit (w, b) leaves at which step t, and with
which gate g. From there on it is followed as a unit of the later pathway with the gate nearest to
g (in equal parts where several are), in what the first stage's closed forms leave,

    π̃₀ = ½ Σ [(1 + s/τ)^(−T) qᵀ Φ(T, t) (w, b)(t)]²,   q = (v, u)/√2,   T the last step.

No constant is set: this stands in the place of half of the hidden units and their head start.
Printed are, for every task, the start of each later mode over the one that is assumed, and max and
mean |ΔL|/L(0) of the closed forms with both against trained ReLU networks.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import symreln as sr
from symreln.claims.head_start import copy_turns, mode_laws
from symreln.claims.integration import gate_floats, network_of
from symreln.claims.prediction import closed_curves, loss_of_curves, written_and_read
from symreln.claims.probes import mode_bases
from symreln.claims.solve import at_values
from symreln.claims.starts import mode_kappas, start_factors, starts_of
from symreln.experiment.metrics import compare
from symreln.experiment.training import train_networks
from validation.gate_law import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation, PathwayDerivation

#: Units that are drawn, and steps at which it is asked whether they have left.
UNITS, LOOKS = 4000, 400


@dataclass(frozen=True, kw_only=True, eq=False)
class Leavers:
    """Units that leave the first pathway: (w, b), shape (units, n_x + n_y), gates and steps."""

    weights: np.ndarray
    gates: np.ndarray
    steps: np.ndarray


def leavers(numbers: Derivation, factors: Mapping[str, float], rng: int = 0) -> Leavers:
    """Draw units of the network and return those that take the first pathway's gate and leave it.

    Args:
        numbers: Without free parameters, closed, with one pathway in its first stage.
        factors: By how many times modes start stronger than expected, by label.
        rng: Seed.
    """
    (pathway,) = numbers.stages[0].pathways
    inputs, targets = numbers.spec.dataset.arrays
    laws, bases = mode_laws(numbers, factors=factors), mode_bases(pathway)
    copies = [(bases[m.label], c) for m in pathway.modes if not m.is_null for c in laws[m.label]]
    outer, inner = (
        np.hstack([b[side] if c.turn is None else b[side] @ c.turn for b, c in copies])
        for side in (0, 1)
    )
    steps = np.unique(np.geomspace(50, network_of(numbers.spec).steps - 1, LOOKS).round())
    rows = [np.tile(c.law.angles(steps, float(c.start)), (c.count, 1)) for _, c in copies]
    angles = np.concatenate(rows)
    random, (first, last) = np.random.default_rng(rng), numbers.known.scales
    w = first * random.standard_normal((UNITS, len(inputs)))
    b = last * random.standard_normal((UNITS, len(targets)))
    seen, written = w @ inner, b @ outer
    own = gate_floats(pathway.effective.pathway) > 0
    came, left = np.zeros(UNITS, dtype=bool), np.full(UNITS, -1)
    weights, gates = np.empty((UNITS, len(inputs) + len(targets))), np.zeros((UNITS, len(own)))
    for place in range(len(steps)):
        cosh, sinh = np.cosh(angles[:, place]) - 1, np.sinh(angles[:, place])
        now = np.hstack(
            [
                w + (seen * cosh + written * sinh) @ inner.T,
                b + (written * cosh + seen * sinh) @ outer.T,
            ]
        )
        opened = now[:, : len(inputs)] @ inputs > 0
        has = (opened == own).all(axis=1)
        leaves = came & ~has & (left < 0)
        left[leaves], weights[leaves], gates[leaves] = steps[place], now[leaves], opened[leaves]
        came |= has
    gone = left >= 0
    return Leavers(weights=weights[gone], gates=gates[gone], steps=left[gone])


def starts(numbers: Derivation, factors: Mapping[str, float], units: Leavers) -> dict[str, float]:
    """Return the starts of later modes over those that are assumed, by label."""
    later = [p for stage in numbers.stages[1:] for p in stage.pathways]
    opens = np.array([gate_floats(p.effective.pathway) > 0 for p in later])
    apart = (units.gates[:, None, :] != opens).sum(axis=2)
    near = apart == apart.min(axis=1, keepdims=True)
    parts = near / near.sum(axis=1, keepdims=True)
    network = network_of(numbers.spec)
    drawn, scale = UNITS / network.hidden, numbers.known.scales
    assumed = np.repeat(np.square(scale), [numbers.spec.dataset.n_x, numbers.spec.dataset.n_y])
    found = {}
    for place, pathway in enumerate(later):
        labels, rows = _followed(numbers, factors, pathway, {0, *units.steps.tolist()})
        amplitudes = np.array(
            [rows[step] @ unit for step, unit in zip(units.steps, units.weights, strict=True)]
        )
        came = (amplitudes**2 * parts[:, [place]]).sum(axis=0) / drawn
        half = rows[0] ** 2 @ assumed * network.hidden / 2
        for label in dict.fromkeys(labels):
            same = [n for n, each in enumerate(labels) if each == label]
            found[label] = float(came[same].mean() / half[same].mean())
    return found


def _followed(
    numbers: Derivation, factors: Mapping[str, float], pathway: PathwayDerivation, wanted: set[int]
) -> tuple[list[str], dict[int, np.ndarray]]:
    """Return qᵀ Φ(T, t)(1 + s/τ)^(−T) of a pathway's modes, shape (modes, n_x + n_y), at steps."""
    inputs, targets = numbers.spec.dataset.arrays
    steps, tau = network_of(numbers.spec).steps, float(numbers.tau or 1)
    curves = closed_curves(numbers, np.arange(steps, dtype=float), factors=factors)
    first = {m.label for p in numbers.stages[0].pathways for m in p.modes}
    curves = {label: curve * (label in first) for label, curve in curves.items()}
    turns = copy_turns(mode_laws(numbers, factors=factors))
    u, read, strengths = written_and_read(numbers, curves, turns)
    own, masked = pathway.effective.pathway, np.zeros_like(inputs)
    masked[list(own.inputs)] = inputs[list(own.inputs)] * gate_floats(own)
    writes = np.isin(np.arange(len(targets)), own.outputs)[:, None]
    whole = writes * targets @ masked.T / inputs.shape[1]
    u, read = writes * u, read @ masked.T / inputs.shape[1]
    labels, columns, speeds = [], [], []
    for mode in pathway.modes:
        if mode.is_null:
            continue
        outer, inner = mode_bases(pathway)[mode.label]
        wide = np.zeros((len(inputs), inner.shape[1]))
        wide[list(own.inputs)] = inner
        columns.append(np.vstack([wide, outer]) / np.sqrt(2))
        labels += [mode.label] * inner.shape[1]
        speeds += [mode.s.to_float()] * inner.shape[1]
    rows, slow = np.hstack(columns).T, (1 + np.array(speeds) / tau)[:, None]
    sees, gives = rows[:, : len(inputs)], rows[:, len(inputs) :]
    found = {}
    for step in range(steps - 1, -1, -1):
        left = whole - (u * strengths[:, step]) @ read
        sees, gives = (sees + gives @ left / tau) / slow, (gives + sees @ left.T / tau) / slow
        if step in wanted:
            found[step] = np.hstack([sees, gives]) * slow**-step
    return labels, found


def report(name: str, seeds: int, rng: int) -> str:
    """Train, compare and return a row."""
    numbers = sr.derive(spec_of(name)).ask(at_values)
    if not numbers.closed or len(numbers.stages) < 2:
        return f"| {name} | no closed forms of later stages | – | – |"
    kappas = numbers.ask(starts_of).kappas
    factors = start_factors(numbers, mode_kappas(numbers, kappas))
    over = starts(numbers, factors, leavers(numbers, factors))
    trained = train_networks(numbers.spec, seeds=seeds, rng=np.random.SeedSequence(rng)).mean_loss
    grid, cells = np.arange(len(trained), dtype=float), []
    for chosen in (factors, {**factors, **over}):
        curves = closed_curves(numbers, grid, factors=chosen)
        away = compare(loss_of_curves(numbers, curves, grid, factors=chosen), trained)
        most, mean = away.max_abs_over_initial, away.mean_abs_over_initial
        cells.append(f"{100 * most:.2g}, {100 * mean:.2g}")
    least, largest = min(over.values()), max(over.values())
    return f"| {name} | {least:.2g} to {largest:.2g} | {cells[0]} | {cells[1]} |"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Start later pathways from units that leave.")
    names = ["contextual-3", "contextual-4", "contextual-5", "C=6", "one-hot-3", "one-hot-4"]
    parser.add_argument("names", nargs="*", default=names)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rng", type=int, default=0)
    options = parser.parse_args()
    print("| task | start over the assumed one | half of the units | units that leave |")
    print("|---|---|---|---|")
    for name in options.names:
        print(report(name, options.seeds, options.rng), flush=True)


if __name__ == "__main__":
    main()
