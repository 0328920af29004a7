"""Derived constants on symmetry orbits, over random small symmetric datasets.

Every dataset is closed under a random group of signed permutations of inputs and outputs: orbits of
random rational samples, with a set of gates that the group maps onto itself (single samples, gates
on which single units end, and random ones). Checked are, on every orbit:

* κ, its error, spread, share of units, whether and why a pathway is unsupported, s and d: on the
  orbits of all permutations of the samples that keep XᵀX and YᵀY, found here by plain recursion;
* d_eff, hidden units, initial strengths and the curves of every mode: on the orbits of the group
  itself, which maps the pathways onto themselves.

``python -m tests.campaigns.orbits --datasets 500`` prints the figures; it ends with 1 where a
constant differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np

from symreln.calls.derive import derive
from symreln.claims.prediction import predict_training
from symreln.claims.starts import pathway_kappas, mode_kappas, start_factors
from symreln.experiment.training import gated_pathways
from symreln.networks.orbits import pathway_orbits
from symreln.task_library.load import load

#: Largest relative difference of constants, and of curves after all steps.
SAME, CURVES = 1e-12, 1e-9
MOST_SAMPLES, MOST_PATHWAYS, STEPS = 10, 6, 120

Vector = tuple[Fraction, ...]
Gate = tuple[int, ...]
Permutation = tuple[int, ...]
#: Images and signs of the coordinates of inputs and of outputs.
Signed = tuple[tuple[Permutation, Gate], tuple[Permutation, Gate]]


@dataclass
class Symmetric:
    """A dataset with its group.

    Attributes:
        inputs, targets: One vector a sample.
        generators: Images of all samples, one a generator of the group.
        gates: Closed under the generators.
    """

    inputs: list[Vector]
    targets: list[Vector]
    generators: list[Permutation]
    gates: list[Gate]


@dataclass
class Figures:
    """What the campaign counts.

    Attributes:
        counts: By name.
        worst: Largest relative difference seen on an orbit, by constant.
        failures: (dataset, constant, values) beyond what is the same.
    """

    counts: Counter[str] = field(default_factory=Counter)
    worst: dict[str, float] = field(default_factory=dict)
    failures: list[tuple[int, str, str]] = field(default_factory=list)

    def compare(self, seed: int, name: str, values: list, most: float = SAME) -> None:
        """Note how far values of one orbit are apart; texts and counts must be equal."""
        if isinstance(values[0], float):
            apart = (max(values) - min(values)) / (max(map(abs, values)) or 1.0)
        else:
            apart = float(any(a != b for a, b in pairwise(values)))
        self.worst[name] = max(self.worst.get(name, 0.0), apart)
        if not apart <= most:
            self.failures.append((seed, name, str(values)))


def symmetric_dataset(random: Random) -> Symmetric | None:
    """Return a random dataset, or None where its orbits are too large or nothing is learned."""
    n_x, n_y = random.randint(2, 4), random.randint(1, 2)
    group = [(_signed(random, n_x), _signed(random, n_y)) for _ in range(random.randint(1, 2))]
    samples: list[tuple[Vector, Vector]] = []
    for _ in range(random.randint(1, 2)):
        queue = [(_vector(random, n_x), _vector(random, n_y))]
        while queue:
            one = queue.pop()
            if one not in samples:
                samples.append(one)
                queue += [(_moved(one[0], a), _moved(one[1], b)) for a, b in group]
            if len(samples) > MOST_SAMPLES:
                return None
    random.shuffle(samples)
    generators = [
        tuple(samples.index((_moved(x, a), _moved(y, b))) for x, y in samples) for a, b in group
    ]
    inputs, targets = [x for x, _ in samples], [y for _, y in samples]
    gates: list[Gate] = []
    for _ in range(random.randint(1, 2)):
        queue = [_gate(random, inputs, targets)]
        while queue:
            gate = queue.pop()
            if gate not in gates:
                gates.append(gate)
                queue += [image(gate, permutation) for permutation in generators]
    if len(gates) > MOST_PATHWAYS or not all(map(any, gates)):
        return None
    random.shuffle(gates)
    return Symmetric(inputs, targets, generators, gates)


def _signed(random: Random, size: int) -> tuple[Permutation, Gate]:
    return (
        tuple(random.sample(range(size), size)),
        tuple(random.choice((1, -1)) for _ in range(size)),
    )


def _vector(random: Random, size: int) -> Vector:
    return tuple(Fraction(random.randint(-3, 3), random.choice((1, 1, 2))) for _ in range(size))


def _moved(vector: Vector, signed: tuple[Permutation, Gate]) -> Vector:
    places, signs = signed
    return tuple(
        sign * vector[place] if vector[place] else Fraction(0)
        for place, sign in zip(places, signs, strict=True)
    )


def _gate(random: Random, inputs: list[Vector], targets: list[Vector]) -> Gate:
    """Return the gate of one sample, of a single unit after its early phase, or a random one."""
    kind = random.choice(("one", "unit", "unit", "unit", "random"))
    if kind == "one":
        only = random.randrange(len(inputs))
        return tuple(int(i == only) for i in range(len(inputs)))
    if kind == "random":
        return tuple(random.randint(0, 1) for _ in inputs)
    x, y = np.array(inputs, dtype=float).T, np.array(targets, dtype=float).T
    own = np.random.default_rng(random.getrandbits(32))
    w, b = own.standard_normal(len(x)), own.standard_normal(len(y))
    step = 0.05 / (np.linalg.norm(x) * np.linalg.norm(y) + 1e-9)
    for _ in range(3000):
        seen = w @ x
        w, b = w + step * x @ ((b @ y) * (seen > 0)), b + step * y @ np.maximum(seen, 0)
        size = np.sqrt(w @ w + b @ b)
        w, b = w / size, b / size
    return tuple(int(value > 1e-6) for value in w @ x)


def image(gate: Gate, permutation: Permutation) -> Gate:
    """Return the gate whose value at every image is the gate's own."""
    found = [0] * len(gate)
    for place, value in zip(permutation, gate, strict=True):
        found[place] = value
    return tuple(found)


def orbits(data: Symmetric, *, whole: bool) -> list[list[int]]:
    """Return the orbits of the gates, by place, by brute force.

    Args:
        data: The dataset.
        whole: Of all permutations of the samples that keep the Gram matrices, else of the group
            that the dataset was made with.
    """
    found: list[list[int]] = []
    for place, gate in enumerate(data.gates):
        for known in found:
            other = data.gates[known[0]]
            if _reaches(data, other, gate) if whole else gate in _images(data, other):
                known.append(place)
                break
        else:
            found.append([place])
    return found


def _images(data: Symmetric, gate: Gate) -> set[Gate]:
    found, queue = {gate}, [gate]
    while queue:
        one = queue.pop()
        new = {image(one, permutation) for permutation in data.generators} - found
        found |= new
        queue += new
    return found


def _reaches(data: Symmetric, before: Gate, after: Gate) -> bool:
    """Whether some permutation that keeps all scalar products takes one gate to the other."""
    count = len(before)
    products = [
        [
            (
                sum(a * b for a, b in zip(data.inputs[i], data.inputs[j], strict=True)),
                sum(a * b for a, b in zip(data.targets[i], data.targets[j], strict=True)),
            )
            for j in range(count)
        ]
        for i in range(count)
    ]

    def placed(images: list[int]) -> bool:
        i = len(images)
        if i == count:
            return True
        return any(
            candidate not in images
            and before[i] == after[candidate]
            and products[i][i] == products[candidate][candidate]
            and all(products[i][j] == products[candidate][images[j]] for j in range(i))
            and placed([*images, candidate])
            for candidate in range(count)
        )

    return sorted(before) == sorted(after) and placed([])


def check(seed: int, data: Symmetric, figures: Figures) -> None:
    """Derive everything of one dataset and compare on its orbits."""
    tables = {
        "dataset": {
            "X": [[str(x[i]) for x in data.inputs] for i in range(len(data.inputs[0]))],
            "Y": [[str(y[i]) for y in data.targets] for i in range(len(data.targets[0]))],
        },
        "pathway": [{"name": f"p{k}", "gate": list(gate)} for k, gate in enumerate(data.gates)],
        "network": {
            "hidden": 60,
            "init_std": "1/1000",
            "learning_rate": str(_rate(data)),
            "loss": "mean",
            "steps": STEPS,
        },
    }
    derivation = derive(load(tables))
    early = derivation.early
    kappas = pathway_kappas(derivation, early)
    supported = [p for p in derivation.pathways if p.name not in early.unsupported]
    figures.counts.update(
        {
            "datasets": 1,
            "pathways": len(data.gates),
            "supported pathways": len(supported),
            "pathways whose gate is not self-consistent": len(derivation.unsupported),
            "self-consistent, and no unit keeps it": len(early.unsupported)
            - len(derivation.unsupported),
        }
    )
    originals = pathway_orbits(
        derivation.spec.dataset, [p.effective.pathway for p in derivation.pathways]
    )
    found = [
        [p for p, o in enumerate(originals) if o == first] for first in dict.fromkeys(originals)
    ]
    figures.compare(seed, "orbits by brute force", [found, orbits(data, whole=True)])
    for orbit in orbits(data, whole=True):
        members = [derivation.pathways[place] for place in orbit]
        figures.counts.update(
            {"orbits": 1, "pathways in orbits of several": len(orbit) * (len(orbit) > 1)}
        )
        figures.compare(seed, "supported", [m.name not in early.unsupported for m in members])
        figures.compare(seed, "modes", [len(m.modes) for m in members])
        figures.compare(seed, "kappa of pathways", [kappas.get(m.name, 0.0) for m in members])
        for number in range(len(members[0].modes)):
            _modes(seed, [m.modes[number] for m in members], early, figures)
    if any(not mode.is_null for pathway in derivation.pathways for mode in pathway.modes):
        _together(seed, data, derivation, kappas, figures)


def _rate(data: Symmetric) -> Fraction:
    """Return a learning rate with steps of at most about 0.02 growth times."""
    x = sum(float(value) ** 2 for x in data.inputs for value in x)
    y = sum(float(value) ** 2 for y in data.targets for value in y)
    return Fraction(0.02 * len(data.inputs) / ((x * y) ** 0.5 or 1.0)).limit_denominator(10**6)


def _modes(seed: int, modes: list, early, figures: Figures) -> None:
    """Compare modes that a permutation of the samples maps onto each other."""
    figures.compare(seed, "s", [mode.s.to_float() for mode in modes])
    figures.compare(seed, "d", [-1.0 if m.d is None else m.d.to_float() for m in modes])
    found = [early.get(mode.label) for mode in modes]
    figures.compare(seed, "has kappa", [each is not None for each in found])
    if any(each is None for each in found):
        return
    figures.counts["modes with kappa"] += len(found)
    for name in ("kappa", "error", "spread", "share", "moved"):
        figures.compare(seed, name, [getattr(each, name) for each in found])
    labels = {mode.label for mode in modes}
    figures.compare(seed, "orbit", [labels <= set(each.orbit) for each in found] + [True])


def _together(
    seed: int, data: Symmetric, derivation, kappas: dict[str, float], figures: Figures
) -> None:
    """Compare what depends on all pathways, on the orbits of the group that maps them."""
    by_mode = mode_kappas(derivation, kappas)
    prediction = predict_training(derivation, start_factors(derivation, by_mode))
    curves = {curve.label: curve.best for curve in prediction.modes}
    units = gated_pathways(derivation.spec, kappas)
    figures.compare(seed, "loss finite", [bool(np.isfinite(prediction.reduced).all()), True])
    for orbit in orbits(data, whole=False):
        members = [derivation.pathways[place] for place in orbit]
        figures.compare(seed, "hidden units of the GDLN", [units[p].hidden for p in orbit])
        for number in range(len(members[0].modes)):
            modes = [member.modes[number] for member in members]
            if modes[0].is_null:
                continue
            d = [-1.0 if m.d_eff is None else m.d_eff.to_float() for m in modes]
            figures.compare(seed, "d_eff", d)
            figures.compare(seed, "start", [by_mode.get(m.label, 0.5) for m in modes])
            last = [float(curves[m.label][-1]) for m in modes]
            figures.compare(seed, "curves of modes", last, CURVES)


def campaign(datasets: int, seed: int = 0, progress: bool = False) -> Figures:
    """Check so many datasets, from consecutive seeds."""
    figures, begun = Figures(), time.monotonic()
    while figures.counts["datasets"] < datasets:
        data = symmetric_dataset(Random(seed))
        if data is not None:
            check(seed, data, figures)
            done = figures.counts["datasets"]
            if progress and done % 20 == 0:
                took = time.monotonic() - begun
                print(f"{done} of {datasets} datasets, {took:.0f} s", file=sys.stderr, flush=True)
        seed += 1
    return figures


def main() -> int:
    """Run the campaign and print its figures."""
    parser = argparse.ArgumentParser(description="Derived constants on symmetry orbits.")
    parser.add_argument("--datasets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    figures = campaign(asked.datasets, asked.seed, progress=True)
    for name, count in figures.counts.items():
        print(f"{count:8d} {name}")
    for name, apart in figures.worst.items():
        print(f"{apart:8.1e} largest difference on an orbit: {name}")
    for found in figures.failures[:20]:
        print("differs:", *found)
    print(f"{len(figures.failures)} differences")
    return bool(figures.failures)


if __name__ == "__main__":
    sys.exit(main())
