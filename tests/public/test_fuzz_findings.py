"""Specs that a campaign of random ones found to crash or to take minutes."""

from __future__ import annotations

import warnings

import pytest

from symreln.cli import main
from tests.campaigns.random_specs import random_tables, toml_of, varied_tables
from tests.campaigns.work_on_spec import work_on


@pytest.mark.parametrize("seed", [
    2306, 101427, 100019, 100591, 253, 402048, 402702, 402577, 602831, 701921, 800027, 2100018,
    2200283,
])  # fmt: skip
def test_a_random_spec_is_derived(seed: int) -> None:
    assert not work_on(random_tables(seed)).startswith("refused")


@pytest.mark.parametrize("seed", [1200364, 1200425, 1201227, 1201468, 2300057])
def test_numbers_beyond_float64_are_derived(seed: int) -> None:
    """Half-times of later modes say why they are not known; a narrow pathway's programs run."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert not work_on(varied_tables(seed)).startswith("refused")


def test_a_graph_whose_flow_is_stiff_by_66_orders_of_magnitude() -> None:
    assert work_on(varied_tables(911147)) == "coupled modes"


def test_a_page_of_data_beyond_float64_is_written() -> None:
    assert work_on(varied_tables(910420), write=True) == "closed"


def test_training_that_diverges_says_so_alone(tmp_path, capsys) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(toml_of(varied_tables(1400041)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert (
            main._guarded(["run", str(spec), "--out", str(tmp_path / "out"), "--seeds", "2"]) == 2
        )
    assert "training diverged at step 6" in capsys.readouterr().err


def test_vectors_over_a_field_of_long_numbers_are_in_float64_at_once() -> None:
    """Their lengths are inverted as balls: exactly it took over a minute."""
    assert work_on(varied_tables(900308)) == "closed"


def test_modes_that_are_infinite_at_the_declared_values_are_refused_there() -> None:
    said = work_on(random_tables(801416))
    assert said.startswith("refused: pathway 'path_2', stage 2: found a = 0, b = 0, g = 1.28571")


def test_a_commutator_that_is_too_long_is_refused_by_its_pathway() -> None:
    said = work_on(random_tables(601885))
    assert said.startswith("refused: pathway 'path_2': Sigma^yx^T Sigma^yx Sigma^x has entries of")
