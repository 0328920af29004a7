"""Certified strengths: seconds for 50 digits of seven modes at 1000 times, and against mpmath.

``python benchmarks/dynamics.py [--digits 50] [--times 1000]`` prints, for every law with a
closed form, the seconds of this process's work for seven modes at that many times, every ball
correct to the digits asked for; for two balanced layers also how many times longer the textbook
formula takes with mpmath at that precision, which certifies nothing. Then the same through
``Derivation.enclose`` for specs of seven modes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction

from flint import arb
from mpmath import mp

import symreln as sr
from symreln.exact.enclosure import ball, precision
from symreln.laws.choice import solve
from symreln.laws.law import Regime
from symreln.laws.ops import ARB

MODES = tuple((Fraction(1, k + 1), Fraction(k + 2, 9)) for k in range(7))
START, IMBALANCE, PENALTY = Fraction(1, 10**6), Fraction(1, 10**3), Fraction(1, 20)
TARGET = 0.1

Strengths = Callable[[arb, arb, list[arb], arb], tuple[arb, ...]]


def law(**known: object) -> Strengths:
    """Return a law's evaluation of all times at once."""
    regime = Regime(**known)  # pyright: ignore[reportArgumentType]
    more = {"strength0": START, "imbalance": IMBALANCE}

    def strengths(s: arb, d: arb, times: list[arb], tau: arb) -> tuple[arb, ...]:
        return solve(regime, s, d, ops=ARB, tau=tau, **more).strengths(times)

    return strengths


LAWS: dict[str, Strengths] = {
    "one layer": law(layers=1),
    "two-layer balanced": law(),
    "two-layer unbalanced": law(apart=True),
    "weight decay": law(weight_decay=PENALTY),
    **{f"depth {layers}": law(layers=layers) for layers in (3, 4, 8, 30)},
}
#: [network] of the specs that are enclosed, and where modes start where no law says it.
SPECS: dict[str, tuple[dict[str, object], Fraction | None]] = {
    "plain": ({}, None),
    "apart": ({"init_std": ["1/50", "1/200"]}, None),
    "decay": ({"weight_decay": "1/20"}, None),
    "layers 3": ({"layers": 3}, START),
}


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that this process worked, the least of three."""
    found = []
    for _ in range(3):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def evaluate(strengths: Strengths, count: int, digits: int) -> int:
    """Evaluate seven modes and return the least number of correct bits, raising the precision."""
    wanted = int(digits * 3.3220) + 1
    bits = wanted + 40
    while True:
        with precision(bits):
            times = [ball(k) for k in range(count)]
            curves = [strengths(ball(s), ball(d), times, ball(100)) for s, d in MODES]
        least = min(found.rel_accuracy_bits() for curve in curves for found in curve)
        if least >= wanted:
            return least
        bits *= 2


def textbook(count: int, digits: int) -> None:
    """Evaluate the balanced solution with mpmath."""
    with mp.workdps(digits + 10):
        p0 = mp.mpf(START.numerator) / START.denominator
        for s_exact, d_exact in MODES:
            s = mp.mpf(s_exact.numerator) / s_exact.denominator
            d = mp.mpf(d_exact.numerator) / d_exact.denominator
            for t in range(count):
                (s / d) / (1 - (1 - s / (d * p0)) * mp.exp(-2 * s * t / 100))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digits", type=int, default=50)
    parser.add_argument("--times", type=int, default=1000)
    options = parser.parse_args()
    reference = seconds(lambda: textbook(options.times, options.digits))
    print(f"7 modes, {options.times} times, {options.digits} digits; target {TARGET} s")
    for name, strengths in LAWS.items():
        took = seconds(lambda s=strengths: evaluate(s, options.times, options.digits))
        more = f", mpmath takes {reference / took:.1f} times as long" * (
            name == "two-layer balanced"
        )
        print(f"  {name:26} {took:8.3f} s{more}")
    moments = [Fraction(k) for k in range(options.times)]
    for name, (keys, start) in SPECS.items():
        derivation = sr.derive(seven_modes(keys))
        if start is not None:
            derivation = derivation.starting_at(start)
        found = derivation.enclose(moments, options.digits)
        took = seconds(lambda d=derivation: d.enclose(moments, options.digits))
        print(f"  enclose {name}: {len(found)} modes, {took:.3f} s, {TARGET / took:.1f} x target")


def seven_modes(keys: dict[str, object]) -> sr.Spec:
    """Return a spec of a linear network with seven different modes."""
    inputs = [[str(k + 1) if k == j else "0" for k in range(7)] for j in range(7)]
    targets = [["1" if k == j else "0" for k in range(7)] for j in range(7)]
    network = {
        "hidden": 400,
        "init_std": "1/100",
        "learning_rate": "1/100",
        "loss": "mean",
        "steps": 1000,
        "activation": "linear",
        **keys,
    }
    return sr.load(
        {
            "title": "Seven modes",
            "dataset": {"X": inputs, "Y": targets},
            "pathway": [{"name": "whole"}],
            "network": network,
        }
    )


if __name__ == "__main__":
    main()
