"""Ordinary data: random floats, wide inputs, many symbols: derived in seconds, and printed so."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symreln as sr
from tests.own_specs import own, path

#: Seconds of processor time are a few times those of one machine: before, these took minutes.
SLOWER = 4


def derived(x: Any, y: Any) -> sr.Derivation:
    network = sr.network(
        hidden=100, init_std="1/1000", learning_rate="1/1000", steps=300, activation="linear",
        loss="mean",
    )  # fmt: skip
    return sr.derive(sr.spec(x, y, pathways=[sr.pathway("all")], network=network))


def random(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def wide(samples: int) -> tuple[Any, Any]:
    if samples == 2:
        j = np.arange(784)
        return np.array([(j % 7 == 0) * (j % 251), (j % 5 == 0) * (j % 239)]), np.array([1, -1])
    rng = random()
    return rng.integers(0, 2, (samples, 784)), rng.integers(0, 2, (samples, 10))


@pytest.mark.parametrize(
    ("data", "level", "seconds"),
    [
        ((np.eye(50), random().random((50, 50))), "closed", 1.5),
        ((np.eye(50), random().random((50, 20))), "closed", 0.5),
        (
            (random().normal(size=(100, 30)), random(2).normal(size=(100, 12))),
            "coupled matrices",
            2,
        ),
        ((np.eye(48, dtype=int), random().integers(0, 2, (48, 48))), "closed", 0.8),
        (wide(25), "coupled matrices", 2),
        (wide(2), "coupled matrices", 1.5),
    ],
    ids=["floats", "fewer outputs", "samples", "bits", "wide", "two wide samples"],
)
def test_ordinary_data_are_derived_in_seconds(data: Any, level: str, seconds: float) -> None:
    derived([[1, 0], [0, 1]], [[1, 2], [3, 5]])  # what is imported is imported
    start = time.process_time()
    found = derived(*data)
    assert time.process_time() - start < SLOWER * seconds
    assert found.level.value == level
    (pathway,) = found.pathways
    x, y = (np.asarray(part, float).reshape(len(part), -1) for part in data)
    s = np.linalg.svd(y.T @ x / len(x), compute_uv=False)
    got = [m.s.to_float({}) for m in pathway.modes for _ in range(m.multiplicity)]
    assert len(got) == x.shape[1]
    np.testing.assert_allclose(got[: len(s)], s[: len(got)], rtol=1e-9, atol=1e-12)
    assert not np.any(got[len(s) :])
    null = next((c for c in pathway.spectrum.classes if c.is_rest), None)
    if null is not None:  # vectors that nothing needs are made when they are asked for
        assert (pathway.effective.sigma_yx @ null.generators).is_zero
        assert null.generators.shape == (x.shape[1], null.multiplicity)


def symbolic(x: list, y: list, *pathways: dict) -> dict:
    letters = sorted(set("abcdefg").intersection("".join(map(str, x + y))))
    return own(x, y, *pathways, parameters={key: {"positive": True} for key in letters})


SYMBOLS = symbolic(np.eye(6, dtype=int).tolist(), [*map(list, ("beacad", "ddfdba", "daddea"))])
#: A polynomial identity of thousands of terms: more work a character than numbers need.
GAINS = symbolic(
    [["a + b*g", "1", "g"], ["b - g", "a*b", "2"]],
    [["a", "b - 1", "g**2"], ["1", "a + 1", "b"]],
    path("p", ["g + 1", "b + a", "2*g"]),
)


@pytest.mark.parametrize(
    ("spec", "level"), [(SYMBOLS, "closed"), (GAINS, "coupled matrices")], ids=["rows", "gains"]
)
def test_many_symbols_are_derived_and_certified(spec: dict, level: str) -> None:
    start = time.process_time()
    assert sr.derive(sr.load(spec)).level.value == level
    assert time.process_time() - start < 60


# -- in print --------------------------------------------------------------------------------------


def latex_of(derivation: sr.Derivation, folder: Path) -> str:
    derivation.save(folder, full=True)
    return (folder / "derivation.tex").read_text(encoding="utf-8")


def test_long_fractions_are_decimals_with_their_error(tmp_path: Path) -> None:
    data = random().random((6, 8))
    text = latex_of(derived(np.eye(6), data), tmp_path)
    shown = re.search(r"\\Sigma\^\{yx\}\(1\) &= \\begin\{pmatrix\} (.*?) \\end", text)
    assert shown is not None
    entries = [[float(x) for x in row.split("&")] for row in shown[1].split(r"\\")]
    error = re.search(r"entries to .*5 \\times 10\^\{(-?\d+)\}", text)
    assert error is not None
    np.testing.assert_allclose(entries, data.T / 6, rtol=0, atol=5 * 10.0 ** int(error[1]))
    assert not re.search(r"\d{16}", text.partition("Checks")[0])


def test_large_matrices_of_long_fractions_are_sizes(tmp_path: Path) -> None:
    text = latex_of(derived(np.eye(5), random().random((5, 30))), tmp_path)
    assert r"\Sigma^{yx}(1) &\in \mathbf{Q}^{30 \times 5}, \quad \text{of rank } 5," in text
