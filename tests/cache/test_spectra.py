"""Spectra from the cache: equal to computed ones, and proven anew, whatever the entry says."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from flint import fmpz_mat

import symreln as sr
from symreln.cache import spectra
from symreln.cache.spectra import cached_spectrum
from symreln.cache.store import Store
from symreln.claims.derivation import Derivation
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import JointSpectrum, joint_spectrum
from symreln.exact.spectrum_json import classes_to_json, spectrum_from_json
from symreln.network.effective import effective_dataset


def of_spec(name: str, pathway: int = 0) -> JointSpectrum:
    spec = sr.load(name)
    effective = effective_dataset(spec.dataset, spec.pathways[pathway], spec.dataset.targets)
    return joint_spectrum(effective.sigma_yx, effective.sigma_x, spec.values)


def structureless() -> JointSpectrum:
    rng = random.Random(5)
    rows = [[rng.randint(-9, 9) for _ in range(6)] for _ in range(7)]
    return joint_spectrum(ExactMatrix.from_integers(fmpz_mat(rows), 3), ExactMatrix.identity(6))


SPECTRA = {
    "parameter": lambda: of_spec("contextual-3"),
    "square root of a parameter": lambda: of_spec("xor"),
    "no joint eigenbasis": lambda: of_spec("iris"),
    "degree six": structureless,
}


def written(spectrum: JointSpectrum) -> Any:
    return json.loads(json.dumps(classes_to_json(spectrum)))


def read(content: Any, spectrum: JointSpectrum) -> JointSpectrum:
    return spectrum_from_json(content, spectrum.sigma_yx, spectrum.sigma_x, spectrum.values)


def printed(spectrum: JointSpectrum) -> list[tuple]:
    return [
        (str(m.s.to_sympy()), None if m.d_is_average else str(m.d.to_sympy()), m.multiplicity)
        for m in spectrum.modes
    ]


@pytest.mark.parametrize("name", SPECTRA)
def test_a_spectrum_comes_back_as_it_was(name):
    spectrum = SPECTRA[name]()
    again = read(written(spectrum), spectrum)
    assert printed(again) == printed(spectrum)
    assert again.commutator == spectrum.commutator
    assert written(again) == written(spectrum)


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the paths of all leaves, and of all lists, which may lose an entry."""
    if isinstance(value, dict):
        return [p for key, inner in value.items() for p in places(inner, (*path, key))]
    if isinstance(value, list):
        inner = [p for i, item in enumerate(value) for p in places(item, (*path, i))]
        return [*inner, path] if value else inner
    return [path]


def mutated(content: Any, path: tuple, rng: random.Random) -> Any:
    changed = copy.deepcopy(content)
    here = changed
    for step in path[:-1]:
        here = here[step]
    old = here[path[-1]]
    if isinstance(old, list):
        old.pop(rng.randrange(len(old)))
    elif isinstance(old, int):
        here[path[-1]] = old + rng.choice([-1, 1, 7])
    elif isinstance(old, str) and old.lstrip("-").startswith("0x"):
        here[path[-1]] = hex(int(old, 16) + rng.choice([-1, 1, 1 << 70]))
    elif old is None:
        here[path[-1]] = [[[[[], "0x1"]], [[[], "0x1"]]]]
    else:
        here[path[-1]] = rng.choice([None, "", "0x", 3, "q"])
    return changed


@pytest.mark.parametrize("name", SPECTRA)
def test_a_forged_entry_is_refused_or_says_the_same(name):
    spectrum = SPECTRA[name]()
    content, truth = written(spectrum), printed(spectrum)
    rng = random.Random(1)
    found = places(content)
    refused = 0
    for path in rng.sample(found, min(len(found), 250)):
        try:
            again = read(mutated(content, path, rng), spectrum)
        except ValueError:
            refused += 1
            continue
        assert printed(again) == truth, path
    assert refused > 0.8 * min(len(found), 250)


def test_a_class_that_is_given_twice_or_left_out_is_refused():
    spectrum = of_spec("contextual-3")
    content = written(spectrum)
    for classes in (content["classes"][1:], [*content["classes"], content["classes"][0]]):
        with pytest.raises(ValueError, match="fill the space"):
            read({**content, "classes": classes}, spectrum)


def test_a_reducible_polynomial_is_refused():
    """The union of two classes has true equations, and would print wrong roots."""
    sigma = ExactMatrix.diagonal([1, 2])
    spectrum = joint_spectrum(sigma, ExactMatrix.identity(2))
    one = [[[[], "0x1"]], [[[], "0x1"]]]
    number = {n: [[[[], hex(n)]] if n else [], [[[], "0x1"]]] for n in (0, 1, 2, 4, -5)}
    union = {
        "minpoly": [number[4], number[-5], number[1]],  # (x - 1)(x - 4)
        "eigenvalue": [number[0], number[1]],
        "d": [number[1], number[0]],
        "generators": {
            "shape": [2, 1],
            "terms": [[[], [0, 1], ["0x1", "0x1"]]],
            "denominator": [[[], "0x1"]],
        },
        "operator": {"weight_m": one, "weight_x": number[0], "at": []},
    }
    with pytest.raises(ValueError, match="irreducible"):
        read({"parameters": [], "classes": [union]}, spectrum)


def test_a_second_derivation_finds_its_spectra_and_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(spectra, "WORTH_KEEPING", 0.0)
    spec = sr.load("contextual-3")

    def refuse(*_: object) -> JointSpectrum:
        raise AssertionError

    def derive(store: Store, compute=joint_spectrum) -> Derivation:
        return sr.derive(spec, spectrum=cached_spectrum(store, compute))

    first = derive(Store(folder=tmp_path / "c"))
    store = Store(folder=tmp_path / "c")
    second = derive(store, refuse)
    assert store.notes == []
    assert second.certificate == first.certificate
    # The sum of an entry is right and its content is not: computed again, and said.
    assert store.folder is not None
    for entry in store.folder.iterdir():
        kind, _, key = entry.stem.rpartition("-")
        content = store.get(kind, key)
        content["classes"][0]["eigenvalue"][0][0][0][1] = "0x3"
        store.put(kind, key, content)
    third = derive(store)
    assert third.certificate == first.certificate
    assert any("does not hold" in note for note in store.notes)


def test_other_correlations_have_other_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(spectra, "WORTH_KEEPING", 0.0)
    store = Store(folder=tmp_path / "c")
    find = cached_spectrum(store)
    identity = ExactMatrix.identity(2)
    for entries, denominator in (([1, 2], 1), ([1, 3], 1), ([1, 2], 3)):
        sigma = ExactMatrix((2, 2), (), ExactMatrix.diagonal(entries).terms, denominator)
        assert printed(find(sigma, identity)) == printed(joint_spectrum(sigma, identity))
    assert store.info()["entries"] == 3
    assert store.notes == []
